package payments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of a Service.
type call struct {
	Op        string                     `json:"op"`
	Key       wire.Key                   `json:"key"`
	ID        string                     `json:"id"`
	Create    *payments.CreateRequest    `json:"create"`
	Authorize *payments.AuthorizeRequest `json:"authorize"`
	Cancel    *payments.CancelRequest    `json:"cancel"`
	Capture   *payments.CaptureRequest   `json:"capture"`
	Refund    *payments.RefundRequest    `json:"refund"`
}

// result is what it comes to.
type result struct {
	Created *payments.Created `json:"created"`
	Done    *payments.Done    `json:"done"`
	Payment *payments.Payment `json:"payment"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, svc payments.Service) (result, error) {
	var done payments.Done
	var err error
	switch c.Op {
	case "create":
		out, err := svc.Create(ctx, c.Key, *c.Create)
		return result{Created: &out}, err
	case "read":
		out, err := svc.Read(ctx, c.ID)
		return result{Payment: &out}, err
	case "authorize":
		done, err = svc.Authorize(ctx, c.Key, c.ID, *c.Authorize)
	case "cancel":
		done, err = svc.Cancel(ctx, c.Key, c.ID, *c.Cancel)
	case "capture":
		done, err = svc.Capture(ctx, c.Key, c.ID, *c.Capture)
	case "refund":
		done, err = svc.Refund(ctx, c.Key, c.ID, *c.Refund)
	}
	return result{Done: &done}, err
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
				got, err := c.on(t.Context(), &payments.Client{BaseURL: wiretest.BaseURL, Doer: srv})
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want, got)
					return
				}
				want.Check(t, err)
				for _, secret := range append(paymentstest.Secrets(), paymentstest.FakeApproved, "code 123") {
					require.NotContains(t, err.Error(), secret)
				}
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
	if s.give.Code != "" {
		return result{Created: &payments.Created{}, Done: &payments.Done{}, Payment: &payments.Payment{}}, s.give.Err()
	}
	return s.give, nil
}

func (s *scripted) done(got call) (payments.Done, error) {
	res, err := s.answer(got)
	return *res.Done, err
}

func (s *scripted) Create(_ context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	res, err := s.answer(call{Op: "create", Key: key, Create: &req})
	return *res.Created, err
}

func (s *scripted) Authorize(_ context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return s.done(call{Op: "authorize", Key: key, ID: id, Authorize: &req})
}

func (s *scripted) Cancel(_ context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return s.done(call{Op: "cancel", Key: key, ID: id, Cancel: &req})
}

func (s *scripted) Capture(_ context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return s.done(call{Op: "capture", Key: key, ID: id, Capture: &req})
}

func (s *scripted) Refund(_ context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return s.done(call{Op: "refund", Key: key, ID: id, Refund: &req})
}

func (s *scripted) Read(_ context.Context, id string) (payments.Payment, error) {
	res, err := s.answer(call{Op: "read", ID: id})
	return *res.Payment, err
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, payments.Handler(svc, payments.HandlerOptions{
				OperationURL: func(k wire.Key) string { return "/agent/v1/operations/" + string(k) },
			}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

// failing is a Service that always fails.
type failing struct{ err error }

func (f failing) Create(context.Context, wire.Key, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{}, f.err
}

func (f failing) Authorize(context.Context, wire.Key, string, payments.AuthorizeRequest) (payments.Done, error) {
	return payments.Done{}, f.err
}

func (f failing) Cancel(context.Context, wire.Key, string, payments.CancelRequest) (payments.Done, error) {
	return payments.Done{}, f.err
}

func (f failing) Capture(context.Context, wire.Key, string, payments.CaptureRequest) (payments.Done, error) {
	return payments.Done{}, f.err
}

func (f failing) Refund(context.Context, wire.Key, string, payments.RefundRequest) (payments.Done, error) {
	return payments.Done{}, f.err
}

func (f failing) Read(context.Context, string) (payments.Payment, error) {
	return payments.Payment{}, f.err
}

// each makes every call of a Service.
func each(t *testing.T, svc payments.Service, key wire.Key, check func(op string, err error)) {
	for _, c := range []call{
		{Op: "create", Create: good()}, {Op: "authorize", Authorize: &payments.AuthorizeRequest{}}, {Op: "cancel", Cancel: &payments.CancelRequest{}},
		{Op: "capture", Capture: &payments.CaptureRequest{}}, {Op: "refund", Refund: &payments.RefundRequest{}}, {Op: "read"},
	} {
		c.Key, c.ID = key, "P1001"
		_, err := c.on(t.Context(), svc)
		check(c.Op, err)
	}
}

func good() *payments.CreateRequest {
	return &payments.CreateRequest{Type: payments.ProviderHosted, Amount: 100, CurrencyCode: "EUR"}
}

func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	var rows []wire.Error
	for _, code := range wire.Codes() {
		rows = append(rows, wire.Error{Code: code})
	}
	for _, p := range payments.Problems() {
		rows = append(rows, wire.Error{Code: p.Code, Reason: p.Reason})
	}
	for _, row := range rows {
		row.Msg, row.RetryAfter = "because", 3*time.Second
		client := &payments.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(payments.Handler(failing{&row}, payments.HandlerOptions{}))}
		for _, key := range []wire.Key{"", wire.NewKey()} {
			each(t, client, key, func(op string, err error) {
				var e *wire.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, row.Code, e.Code, op)
				require.Equal(t, row.Reason, e.Reason, op)
				require.Equal(t, "payments."+op, e.Op)
				require.Equal(t, 3*time.Second, e.RetryAfter)
				require.ErrorIs(t, err, &wire.Error{Code: row.Code, Reason: row.Reason})
			})
		}
	}
	// An error without a code is Internal and keeps its words to itself; a reason of somebody else's is left out.
	client := &payments.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(payments.Handler(failing{errors.New("dsn=secret")}, payments.HandlerOptions{}))}
	each(t, client, "", func(_ string, err error) {
		require.Equal(t, wire.Internal, wire.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
	})
	client.Doer = wiretest.Direct(payments.Handler(failing{&wire.Error{Code: wire.Conflict, Reason: "BadWeather"}}, payments.HandlerOptions{}))
	each(t, client, "", func(_ string, err error) {
		require.Equal(t, wire.Conflict, wire.CodeOf(err))
		require.Empty(t, wire.ReasonOf(err))
	})
}
