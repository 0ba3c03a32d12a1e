package aapay_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: aapay.API(),
		Client: func(base string, d wire.Doer) []rest.Bound {
			return aapay.Table().Bind(&aapay.Client{BaseURL: base, Doer: d})
		},
		Adapt: func(call, _ map[string]json.RawMessage) {
			switch key := string(call["key"]); {
			case call["id"] != nil:
				call["op"] = json.RawMessage(`"status"`)
			case key == "" || key == `""`:
				call["op"] = json.RawMessage(`"initialize"`)
			default:
				call["op"] = json.RawMessage(`"initializeWithIdempotency"`)
			}
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatNeverLeft(t *testing.T) { transcripts().NeverSent(t) }

func good() aapay.Request {
	return aapay.Request{MerchantID: "M", Method: "E", TerminalReference: "r", Consumer: &aapay.Consumer{ConsumerID: "r"},
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 1, TotalAmount: 1}}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"valid":true,"error":null,"response":null,"transactionId":1,"state":"FINALIZED","accountState":"COMMIT","receipt":{"amount":1},"naa2Ecr":{"ppref":"p","loyaltyIds":["x"]}}`))
	f.Add([]byte(`{"valid":false,"error":{"compositeFault":{"faults":[{"explanationText":"x","params":{"a":1}}]},"message":"m"},"state":"X","nextLink":{"uriBuilder":{"a":[]},"params":{}}}`))
	f.Add([]byte(`{"valid":true,"state":"","receipt":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var st aapay.Status
		if wire.Decode(data, &st) != nil {
			return
		}
		st.Is("1")
		wiretest.Stable(t, st, json.Marshal, wire.Decode)
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"merchantId":"M","method":"E","purchaseAmount":{"currencyCode":"EUR","vatAmount":0,"nominalAmount":1,"totalAmount":1},"consumer":{"consumerId":"c","name":""},"params":[{"key":"k","value":"v"}],"ecr2Naa":{"order":{"items":[{"quantity":1}]}}}`))
	f.Add([]byte(`{"originalReference":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := wire.Parse[aapay.Request]("op", data)
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		require.NotNil(t, req.PurchaseAmount)
		require.NotNil(t, req.Consumer)
		_ = aapay.Validate(aapay.Payment, req)
		wiretest.Stable(t, req, json.Marshal, wiretest.Parse[aapay.Request])
	})
}
