package paylinks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks for.
type call struct {
	Op     string                  `json:"op"` // create read delete txn charge capture refund cancel list
	Key    wire.Key                `json:"key"`
	ID     int64                   `json:"id"`
	Create *paylinks.CreateRequest `json:"create"`
	Charge *paylinks.ChargeRequest `json:"charge"`
	Refund *paylinks.RefundRequest `json:"refund"`
	Filter *paylinks.Filter        `json:"filter"`
}

// result is what it comes to.
type result struct {
	Created *paylinks.Created      `json:"created"`
	Link    *paylinks.Link         `json:"link"`
	Deleted *paylinks.Deleted      `json:"deleted"`
	Done    *paylinks.Done         `json:"done"`
	Txn     *paylinks.Transaction  `json:"txn"`
	List    []paylinks.Transaction `json:"list"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, links paylinks.Links, txns paylinks.Transactions) (res result, err error) {
	switch c.Op {
	case "create":
		res.Created, err = ptr(links.Create(ctx, c.Key, *c.Create))
	case "read":
		res.Link, err = ptr(links.Read(ctx, c.ID))
	case "delete":
		res.Deleted, err = ptr(links.Delete(ctx, c.Key, c.ID))
	case "txn":
		res.Txn, err = ptr(txns.Read(ctx, c.ID))
	case "charge":
		res.Done, err = ptr(txns.Charge(ctx, c.Key, c.ID, *c.Charge))
	case "capture":
		res.Done, err = ptr(txns.Capture(ctx, c.Key, c.ID))
	case "refund":
		res.Done, err = ptr(txns.Refund(ctx, c.Key, c.ID, *c.Refund))
	case "cancel":
		res.Deleted, err = ptr(txns.Delete(ctx, c.Key, c.ID))
	case "list":
		res.List, err = txns.List(ctx, *c.Filter)
	}
	return res, err
}

func ptr[T any](v T, err error) (*T, error) { return &v, err }

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				srv := tr.Server(t)
				client := &paylinks.Client{BaseURL: wiretest.BaseURL, Instance: "demo", Secret: "demo-secret", Doer: srv}
				got, err := c.on(t.Context(), client.Links(), client.Transactions())
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code != "" {
					want.Check(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, want, got)
			})
		}
	}
}

// scripted is both halves of the service: it expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

type scriptedLinks struct{ *scripted }

type scriptedTxns struct{ *scripted }

func (s *scripted) answer(got call) error {
	s.hits++
	require.Equal(s.t, s.want, got)
	return s.give.Err()
}

// given is what a script has, or nothing.
func given[T any](v *T, err error) (T, error) {
	if v == nil || err != nil {
		var none T
		return none, err
	}
	return *v, nil
}

func (s scriptedLinks) Create(_ context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	return given(s.give.Created, s.answer(call{Op: "create", Key: key, Create: &req}))
}

func (s scriptedLinks) Read(_ context.Context, id int64) (paylinks.Link, error) {
	return given(s.give.Link, s.answer(call{Op: "read", ID: id}))
}

func (s scriptedLinks) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return given(s.give.Deleted, s.answer(call{Op: "delete", Key: key, ID: id}))
}

func (s scriptedTxns) Read(_ context.Context, id int64) (paylinks.Transaction, error) {
	return given(s.give.Txn, s.answer(call{Op: "txn", ID: id}))
}

func (s scriptedTxns) Charge(_ context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	return given(s.give.Done, s.answer(call{Op: "charge", Key: key, ID: id, Charge: &req}))
}

func (s scriptedTxns) Capture(_ context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	return given(s.give.Done, s.answer(call{Op: "capture", Key: key, ID: id}))
}

func (s scriptedTxns) Refund(_ context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	return given(s.give.Done, s.answer(call{Op: "refund", Key: key, ID: id, Refund: &req}))
}

func (s scriptedTxns) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return given(s.give.Deleted, s.answer(call{Op: "cancel", Key: key, ID: id}))
}

func (s scriptedTxns) List(_ context.Context, f paylinks.Filter) ([]paylinks.Transaction, error) {
	return s.give.List, s.answer(call{Op: "list", Filter: &f})
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, paylinks.Handler(scriptedLinks{svc}, scriptedTxns{svc}, paylinks.HandlerOptions{
				Secret: demo, OperationURL: func(k wire.Key) string { return "/agent/v1/operations/" + string(k) },
			}))
			require.Equal(t, 1, svc.hits)
		})
	}
}
