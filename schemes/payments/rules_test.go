package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func moto() *payments.CreateRequest {
	return &payments.CreateRequest{Type: payments.Moto, Amount: 100, CurrencyCode: "EUR",
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2030, ExpiryMonth: 1}}
}

func TestGoodBodies(t *testing.T) {
	with := func(d payments.PaymentMethodDetails) func(*payments.CreateRequest) {
		return func(r *payments.CreateRequest) { r.CardDetails, r.PaymentMethodDetails = nil, &d }
	}
	for name, change := range map[string]func(*payments.CreateRequest){
		"as little as there can be": func(*payments.CreateRequest) {},
		"largest amount":            func(r *payments.CreateRequest) { r.Amount = 1<<31 - 1 },
		"zero to verify":            func(r *payments.CreateRequest) { r.Amount, r.Processing = 0, payments.ProcessVerify },
		"token":                     with(payments.PaymentMethodDetails{Type: payments.WithToken, Token: "t", IsRecurring: true, RecurringType: payments.CardOnFile}),
		"token without a secret":    with(payments.PaymentMethodDetails{Type: payments.MerchantInitiated, Token: "t", MerchantInitiatedTransactionType: "UnscheduledCardOnFile"}),
		"sepa a":                    with(payments.PaymentMethodDetails{Type: payments.SepaA, IBAN: "NO9386011117947", CustomerEmail: "a@b.example"}),
		"sepa c":                    with(payments.PaymentMethodDetails{Type: payments.SepaC, IBAN: "MT84MALT011000012345MTLCAST001S", MandateURL: "https://a.example/m"}),
		"company": func(r *payments.CreateRequest) {
			r.Customer = &payments.Customer{Type: payments.Company, CompanyName: "Å"}
		},
		"paymentNumber": func(r *payments.CreateRequest) { r.PaymentNumber = strings.Repeat("aZ09", 32) },
		"text":          func(r *payments.CreateRequest) { r.Description = "\u202eÅ <script> %s {{7*7}} =cmd" },
		"hook": func(r *payments.CreateRequest) {
			r.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: "payment.created", URL: "http://127.0.0.1:1/x", Headers: []map[string]string{{"X-A": "b"}, {}}}}}
		},
	} {
		for typ, req := range map[string]*payments.CreateRequest{"hosted": good(), "moto": moto()} {
			change(req)
			require.NoError(t, valid(*req), "%s %s", typ, name)
			data, err := wire.Encode(*req)
			require.NoError(t, err)
			again, err := decode(data, "")
			require.NoError(t, err, "%s %s", typ, name)
			require.Equal(t, *req, again, "%s %s", typ, name)
		}
	}
	for _, cur := range money.All() {
		req := good()
		req.CurrencyCode = cur.Alpha
		require.Equal(t, money.Nameable(cur.Alpha), valid(*req) == nil, cur.Alpha)
	}
}

func TestOperatorSpelling(t *testing.T) {
	body := func(typ string) []byte { return []byte(`{"type":"` + typ + `","amount":1,"currencyCode":"EUR"}`) }
	for _, c := range []struct {
		operator, typ string
		ok            bool
	}{
		{"", "NetsHostedEcom", true}, {"", "ProviderHostedEcom", true}, {"nets", "NetsHostedEcom", true}, {"provider", "NetsHostedEcom", true},
		{"Acme", "AcmeHostedEcom", true}, {"Acme", "ProviderHostedEcom", true}, {"Acme", "NetsHostedEcom", false},
		{"", "netsHostedEcom", false}, {"", "AcmeHostedEcom", false},
	} {
		req, err := decode(body(c.typ), c.operator)
		require.NoError(t, err)
		err = valid(req)
		require.Equal(t, c.ok, err == nil, "%s %s", c.operator, c.typ)
		if c.ok {
			require.Equal(t, payments.ProviderHosted, req.Type)
		}
	}
	for operator, want := range map[string]string{"": "ProviderHostedEcom", "nets": "NetsHostedEcom", "Acme": "AcmeHostedEcom", "provider": "ProviderHostedEcom"} {
		require.Equal(t, want, sent(t, operator, *good()))
		require.Equal(t, "Moto", sent(t, operator, *moto()))
	}
}

func TestDecodeBringsToOneForm(t *testing.T) {
	req, err := decode([]byte(`{"type":"MerchantHostedEcom","amount":1,"currencyCode":"EUR","description":"4111 1111 1111 1111",
		"checkoutText":"x4111111111111111x","basket":[{"title":"4111111111111111","quantity":1,"unitPrice":1}],
		"payPageConfiguration":{"pageType":"cUSTOM"},"paymentMethodDetails":{"type":"PaymentWithToken","token":"t","secret":"ts-91bc"}}`), "")
	require.NoError(t, err)
	require.NoError(t, valid(req))
	require.Equal(t, payments.CustomPage, req.PayPageConfiguration.PageType)
	require.Equal(t, "ts-91bc", req.PaymentMethodDetails.TokenSecret.Reveal())
	require.Equal(t, "4111 11** **** 1111", req.Description)
	require.Equal(t, "x411111******1111x", req.CheckoutText)
	require.Equal(t, "411111******1111", req.Basket[0].Title)
	for _, secret := range []string{`"ts-91bc"`, `null`, `""`} {
		_, err = decode([]byte(`{"type":"M","currencyCode":"EUR","paymentMethodDetails":{"type":"x","tokenSecret":"ts-91bc","secret":`+secret+`}}`), "")
		require.NoError(t, err, secret)
	}
}

// The prices of a basket make the amount only where each includes its VAT (S0 2.3).
func TestField_B6BasketRuleOnlyWhereTheVATIsKnown(t *testing.T) {
	vat := func(percentages ...string) (list []payments.BasketItem) {
		for _, p := range percentages {
			item := payments.BasketItem{Quantity: 1, UnitPrice: 50}
			if p != "" {
				item.VatPercentage = percent(p)
			}
			list = append(list, item)
		}
		return list
	}
	for _, c := range []struct {
		basket []payments.BasketItem
		amount int32
		good   bool
	}{
		{vat("25", "25"), 100, true}, {vat("25", "25"), 125, false}, {vat("25", "6"), 99, false}, {vat("0.1", "0.1"), 99, false},
		{vat("", ""), 125, true}, {vat("25", ""), 125, true}, {vat("0", "0"), 125, true}, {vat("25", "0"), 125, true}, {vat("", ""), 100, true},
	} {
		req := moto()
		req.Amount, req.Basket = c.amount, c.basket
		amount := c.amount
		for _, err := range []error{valid(*req), valid(payments.CaptureRequest{Amount: &amount, Basket: c.basket}),
			valid(payments.RefundRequest{Amount: &amount, Basket: c.basket})} {
			require.Equal(t, c.good, err == nil, "%+v %v", c, err)
			require.True(t, c.good || wire.ReasonOf(err) == payments.AmountDiffersFromOrderItems)
		}
	}
}

func TestField_B6FundCodesAreCurrencies(t *testing.T) {
	for code, ok := range map[string]bool{"BOV": true, "USN": true, "UYW": true, "UYI": true, "XXX": false, "XAU": false, "DEM": false} {
		req := moto()
		req.CurrencyCode = code
		require.Equal(t, ok, valid(*req) == nil, code)
	}
}

func TestEveryBrokenFieldIsNamed(t *testing.T) {
	req := moto()
	req.Amount, req.CurrencyCode, req.PaymentNumber, req.Description = -1, "eur", "a b", "\x00"
	req.CardDetails.ExpiryMonth = 13
	err := valid(*req)
	for _, name := range []string{"amount", "currencyCode", "paymentNumber", "description", "cardDetails.expiryMonth"} {
		require.ErrorContains(t, err, name)
	}
	require.Empty(t, wire.ReasonOf(err), "a reason speaks of one broken rule")
	req = good()
	req.Basket = []payments.BasketItem{{Quantity: 1, UnitPrice: 99, VatPercentage: percent("25")}}
	require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(valid(*req)))
	req.Amount, req.Basket = 0, nil
	require.Equal(t, payments.ZeroCharge, wire.ReasonOf(valid(*req)))
}

// TestSecretsLeaveOneWayOnly: whatever prints, logs or marshals a body shows none of its secrets; the wire body has them all.
func TestSecretsLeaveOneWayOnly(t *testing.T) {
	req := moto()
	req.CardDetails.ValidationCode = "9173"
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.WithToken, Token: "tok-7f3a", TokenSecret: "ts-91bc", IBAN: "DE89370400440532013000"}
	req.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: "e", URL: "https://a", Authorization: "hook-5d20"}}}
	secrets := append(paymentstest.Secrets(), visa, "9173")
	_, err := json.Marshal(req)
	require.Error(t, err, "a card number cannot be marshalled by accident")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "req", req, "card", req.CardDetails, "pan", req.CardDetails.PAN, "hooks", *req.Notifications)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "req", *req, "card", *req.CardDetails, "details", *req.PaymentMethodDetails)
	shown := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		shown += fmt.Sprintf(verb, *req) + fmt.Sprintf(verb, *req.CardDetails) + fmt.Sprintf(verb, *req.PaymentMethodDetails) + fmt.Sprintf(verb, *req.Notifications)
	}
	shown += fmt.Sprintf("%v %+v %#v", req.CardDetails, req.PaymentMethodDetails, req.Notifications) + err.Error()
	data, err := wire.Encode(*req)
	require.NoError(t, err)
	for _, s := range secrets {
		require.NotContains(t, shown, s)
		require.NotContains(t, shown, fmt.Sprintf("%x", s))
		require.Contains(t, string(data), s)
	}

	p := payments.Payment{PaymentDetails: &payments.PaymentDetails{CardDetails: &payments.CardInfo{Token: "tok-7f3a"}}}
	plain, err := json.Marshal(p)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		require.NotContains(t, string(plain)+fmt.Sprintf(verb, p)+fmt.Sprintf(verb, &p)+fmt.Sprintf(verb, p.PaymentDetails), "tok-7f3a")
	}
	sent, err := wire.Encode(p)
	require.NoError(t, err)
	require.Contains(t, string(sent), "tok-7f3a")
}

// TestErrorsTellNothing: no refusal of a body, however it is spoilt, repeats a secret of it.
func TestErrorsTellNothing(t *testing.T) {
	h := around("", func(*rest.Asked) (any, error) { return payments.Created{PaymentID: "P1"}, nil })
	secrets := append(paymentstest.Secrets(), visa, "9173")
	whole := `{"type":"Moto","amount":100,"currencyCode":"EUR","cardDetails":{"pan":"` + visa + `","expiryYear":2030,"expiryMonth":1,"validationCode":"9173"},` +
		`"paymentMethodDetails":{"type":"PaymentWithToken","token":"tok-7f3a","tokenSecret":"ts-91bc","iban":"DE89370400440532013000"},` +
		`"notifications":{"webHooks":[{"eventName":"e","url":"https://a.example","authorization":"hook-5d20"}]}}`
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(whole)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				body[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				body = append(body[:at:at], body[at+1:]...)
			default:
				to := rapid.IntRange(at, len(body)).Draw(t, "to")
				body = append(body[:to:to], append([]byte(string(body[at:to])), body[to:]...)...)
			}
		}
		req, err := http.NewRequest(http.MethodPost, wiretest.BaseURL+"/api/v1/payments", bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := wiretest.Direct(h).Do(req)
		require.NoError(t, err)
		var out bytes.Buffer
		_, err = out.ReadFrom(resp.Body)
		require.NoError(t, err)
		if resp.StatusCode != http.StatusCreated {
			require.Equal(t, http.StatusBadRequest, resp.StatusCode)
			for _, s := range secrets {
				require.NotContains(t, out.String(), s)
			}
		}
	})
}

// TestHandlerAsksOnlyWithGoodRequests: a service behind the handler never sees what the rules refuse.
func TestHandlerAsksOnlyWithGoodRequests(t *testing.T) {
	hits := 0
	c := &payments.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(around("", func(*rest.Asked) (any, error) {
		hits++
		return nil, context.Canceled
	}))}
	for _, b := range paymentstest.Broken() {
		req := good()
		if b.Type == payments.Moto {
			req = moto()
		}
		b.Break(req)
		_, err := c.Create(t.Context(), "", *req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), b.Name)
	}
	minus := int32(-1)
	_, err := c.Capture(t.Context(), "", "P1", payments.CaptureRequest{Amount: &minus})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	require.Zero(t, hits)
}

func FuzzCreate(f *testing.F) {
	f.Add([]byte(`{"type":"NetsHostedEcom","amount":1190,"currencyCode":"EUR","processing":"None","redirectUrls":{"returnUrl":"https://shop.example/back"},"customer":{"type":"Individual","firstName":"Max","address":{"city":"Köln","countryCode":"DE"}},"basket":[{"itemNumber":"a1","title":"Tee 4111 1111 1111 1111","quantity":2,"unitPrice":595,"vatPercentage":19.0,"discountPercentage":1e-3,"unitCode":"0"}]}`))
	f.Add([]byte(`{"type":"Moto","amount":100,"currencyCode":"JPY","cardDetails":{"pan":"4111111111111111","expiryYear":2030,"expiryMonth":1,"validationCode":"123"},"paymentNumber":"A1"}`))
	f.Add([]byte(`{"type":"MerchantHostedEcom","amount":1,"currencyCode":"KWD","paymentMethodDetails":{"type":"PaymentWithToken","token":"t","secret":"s","isRecurring":true,"recurringType":"CardOnFile"},"notifications":{"webHooks":[{"eventName":"e","url":"https://a","authorization":"x","headers":[{"a":"b"}]}]}}`))
	f.Add([]byte(`{"type":"ProviderHostedEcom","amount":1,"currencyCode":"SEK","paymentMethodDetails":{"type":"SepaDirectDepositTypeC","iban":"DE89370400440532013000","mandateUrl":"https://m"},"payPageConfiguration":{"pageType":"custom","paymentMethodActionInfoList":[{"bin":4,"action":"Reject"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := decode(data, "")
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		broken := valid(req)
		if broken == nil {
			require.GreaterOrEqual(t, req.Amount, int32(0))
			total, err := payments.BasketTotal(req.Basket)
			require.NoError(t, err)
			open := slices.ContainsFunc(req.Basket, func(i payments.BasketItem) bool {
				if i.VatPercentage == nil {
					return true
				}
				vat, _, err := big.ParseFloat(string(*i.VatPercentage), 10, 100, big.ToNearestEven)
				return err != nil || vat.Cmp(big.NewFloat(1e-15)) < 0
			})
			require.True(t, len(req.Basket) == 0 || open || total.Fits(money.Minor(req.Amount)))
			_, err = payments.Lines(req.Basket, money.Minor(req.Amount))
			require.NoError(t, err)
		}
		text, err := wire.Encode(req)
		require.NoError(t, err)
		again, err := decode(text, "")
		require.NoError(t, err)
		require.Equal(t, broken == nil, valid(again) == nil)
		text2, err := wire.Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(text2))
	})
}

func FuzzPayment(f *testing.F) {
	f.Add([]byte(`{"currencyCode":"EUR","paymentNumber":null,"summary":{"paymentAmount":1,"fee":null},"paymentDetails":{"cardDetails":{"maskedPan":"4","token":"t","expiryYear":"2030","expiryMonth":1}},"customer":null,"authorizations":[{"amount":1,"dateTime":null,"description":"d"}],"refunds":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p payments.Payment
		if wire.Decode(data, &p) != nil {
			return
		}
		wiretest.Stable(t, p, wire.Encode, wire.Decode)
	})
}
