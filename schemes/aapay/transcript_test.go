package aapay_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of a Service.
type call struct {
	Type    aapay.Type     `json:"type"`
	Key     wire.Key       `json:"key"`
	Request *aapay.Request `json:"request"`
	ID      string         `json:"id"`
	Method  string         `json:"method"`
}

// result is what it comes to.
type result struct {
	Status int           `json:"status"`
	Reply  *aapay.Reply  `json:"reply"`
	St     *aapay.Status `json:"st"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, svc aapay.Service) (res result, err error) {
	if c.ID != "" {
		st, err := svc.Status(ctx, c.ID, c.Method)
		return result{St: &st}, err
	}
	var reply aapay.Reply
	if c.Key == "" {
		reply, err = svc.Initialize(ctx, c.Type, *c.Request)
	} else {
		reply, err = svc.InitializeWithIdempotency(ctx, c.Key, c.Type, *c.Request)
	}
	return result{Status: reply.HTTPStatus, Reply: &reply}, err
}

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				srv := tr.Server(t)
				got, err := c.on(t.Context(), &aapay.Client{BaseURL: wiretest.BaseURL, Doer: srv})
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code != "" {
					want.Check(t, err)
					return
				}
				require.NoError(t, err)
				if want.Reply != nil {
					want.Reply.HTTPStatus = want.Status
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// scripted is a Service that expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

func (s *scripted) answer(got call) (result, error) {
	s.hits++
	require.Equal(s.t, s.want, got)
	if err := s.give.Err(); err != nil {
		return result{}, err
	}
	if s.give.Reply != nil {
		s.give.Reply.HTTPStatus = s.give.Status
	}
	return s.give, nil
}

func (s *scripted) Initialize(_ context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.InitializeWithIdempotency(context.Background(), "", typ, req)
}

func (s *scripted) InitializeWithIdempotency(_ context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	res, err := s.answer(call{Type: typ, Key: key, Request: &req})
	if err != nil {
		return aapay.Reply{}, err
	}
	return *res.Reply, nil
}

func (s *scripted) Status(_ context.Context, id, method string) (aapay.Status, error) {
	res, err := s.answer(call{ID: id, Method: method})
	if err != nil {
		return aapay.Status{}, err
	}
	return *res.St, nil
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, aapay.Handler(svc, aapay.HandlerOptions{
				OperationURL: func(k wire.Key) string { return "/agent/v1/operations/" + string(k) },
			}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

func TestCodesSurviveTheWire(t *testing.T) {
	for _, code := range wire.Codes() {
		for _, keyed := range []bool{true, false} {
			fake := failing{&wire.Error{Code: code, Msg: "because", RetryAfter: 3 * time.Second}}
			client := &aapay.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(aapay.Handler(fake, aapay.HandlerOptions{}))}
			var err error
			if keyed {
				_, err = client.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, good())
			} else {
				_, err = client.Initialize(t.Context(), aapay.Payment, good())
			}
			require.Equal(t, code, wire.CodeOf(err), "%v", err)
			require.ErrorIs(t, err, &wire.Error{Code: code})
			_, err = client.Status(t.Context(), "ref", "")
			require.Equal(t, code, wire.CodeOf(err), "%v", err)
			var e *wire.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, 3*time.Second, e.RetryAfter)
		}
	}
	// An error without a code is Internal and keeps its words to itself.
	client := &aapay.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(aapay.Handler(failing{errors.New("dsn=secret")}, aapay.HandlerOptions{}))}
	_, err := client.Status(t.Context(), "ref", "")
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.NotContains(t, err.Error(), "secret")
}

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
		text, err := json.Marshal(st)
		require.NoError(t, err)
		var again aapay.Status
		require.NoError(t, wire.Decode(text, &again))
		text2, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(text2))
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"merchantId":"M","method":"E","purchaseAmount":{"currencyCode":"EUR","vatAmount":0,"nominalAmount":1,"totalAmount":1},"consumer":{"consumerId":"c","name":""},"params":[{"key":"k","value":"v"}],"ecr2Naa":{"order":{"items":[{"quantity":1}]}}}`))
	f.Add([]byte(`{"originalReference":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := aapay.DecodeRequest(data)
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		require.NotNil(t, req.PurchaseAmount)
		require.NotNil(t, req.Consumer)
		_ = aapay.Validate(aapay.Payment, req)
		text, err := json.Marshal(req)
		require.NoError(t, err)
		again, err := aapay.DecodeRequest(text)
		require.NoError(t, err)
		text2, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(text2))
	})
}
