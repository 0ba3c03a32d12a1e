package owned_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/owned"
	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

func claims(t *testing.T) owned.Claims {
	return owned.New(storetest.Open(t, append(inbox.BuildSchema(), owned.Schema()...)...), []byte("caller secret"))
}

func as(t *testing.T, name string) context.Context {
	return wire.WithCaller(t.Context(), wire.Caller{Name: name, Words: []string{"read", "pay", "refund", "hosted", "onboarding"}, Own: true})
}

// acquirer answers for the backend; reply and err are what a start of a transaction gets.
type acquirer struct {
	aapay.Service
	reply  aapay.Reply
	err    error
	during func()
	keys   []wire.Key
}

func (a *acquirer) InitializeWithIdempotency(_ context.Context, key wire.Key, _ aapay.Type, _ aapay.Request) (aapay.Reply, error) {
	a.keys = append(a.keys, key)
	if a.during != nil {
		a.during()
	}
	return a.reply, a.err
}

func (a *acquirer) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{TransactionID: 10000001}, nil
}

// A reference that the backend refuses, since somebody else has used it, does not become the client's: it could read that sale and
// take it back.
func TestField_P1ARefusedNameIsNotClaimed(t *testing.T) {
	alpha, next := as(t, "alpha"), &acquirer{}
	svc := owned.Schemes(claims(t), nil, next)
	undo := aapay.Request{TerminalReference: "alpha-undo", OriginalReference: "till-2"}
	start := func() {
		_, _ = svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, aapay.Request{TerminalReference: "till-2"})
	}
	unreached := func(want wire.Code, why string) {
		t.Helper()
		_, err := svc.Status(alpha, "till-2", "")
		require.Equal(t, want, wire.CodeOf(err), why)
		_, err = svc.InitializeWithIdempotency(alpha, "u", aapay.Reversal, undo)
		require.Equal(t, want, wire.CodeOf(err), why)
	}
	next.reply = aapay.Reply{HTTPStatus: http.StatusCreated, Response: &aapay.Response{ResponseCode: aapay.CodeReject, NAA2ECR: &aapay.NAA2ECR{PPRef: "THEIRS"}}}
	next.during = func() {
		next.during = nil
		unreached(wire.Unavailable, "while nobody knows whose it is")
	}
	start()
	unreached(wire.NotFound, "refused in a reply")
	_, err := svc.Status(alpha, "THEIRS", "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "what a refusal names")
	next.reply, next.err = aapay.Reply{}, wire.Errorf(wire.Conflict, "x", "already used")
	start()
	unreached(wire.NotFound, "refused")
	next.err = wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	start()
	_, err = svc.Status(alpha, "till-2", "")
	require.NoError(t, err, "it may have been done")
	next.err = wire.Errorf(wire.Conflict, "x", "already used")
	start()
	_, err = svc.Status(alpha, "till-2", "")
	require.NoError(t, err, "and stays the client's")
	_, err = svc.Status(as(t, "beta"), "till-2", "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
}

// builder is hosted build's half of a backend.
type builder struct {
	hosted.Sessions
	err error
}

type ordered struct{ hosted.Orders }

func (ordered) Refund(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error) {
	return hosted.Posted{}, nil
}

func (b *builder) Build(context.Context, wire.Key, hosted.BuildRequest) (hosted.Built, error) {
	return hosted.Built{SessionID: "s"}, b.err
}

func (ordered) Order(context.Context, string) (hosted.Report, error) {
	return hosted.Report{Operations: []hosted.Operation{{OperationID: "own"}}}, nil
}

// A client holds the token that proves its order's notifications. One that it sends itself, with an operation of another order in
// it, does not make the operation its own.
func TestField_P1ANoticeGivesNoForeignOperation(t *testing.T) {
	alpha, c, next := as(t, "alpha"), claims(t), &builder{}
	sessions, orders := owned.Sessions(c, next), owned.Orders(c, ordered{})
	_, err := sessions.Build(alpha, "", hosted.BuildRequest{Order: hosted.Order{OrderID: "order"}})
	require.NoError(t, err)
	told := c.Told(ordered{})
	for id, want := range map[string]wire.Code{"theirs": wire.NotFound, "own": ""} {
		require.NoError(t, told(t.Context(), id, "order"))
		_, err := orders.Refund(alpha, "", id, hosted.PostRequest{})
		require.Equal(t, want, wire.CodeOf(err), id)
	}
}

// The same of an order and a contract.
func TestField_P1ARefusedOrderIsNotClaimed(t *testing.T) {
	alpha, c, next := as(t, "alpha"), claims(t), &builder{err: wire.Errorf(wire.Conflict, "x", "it is paid")}
	sessions, orders := owned.Sessions(c, next), owned.Orders(c, ordered{})
	req := hosted.BuildRequest{Order: hosted.Order{OrderID: "theirs"}}
	req.PaymentSession.Recurrence = &hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "contract"}
	_, err := sessions.Build(alpha, "", req)
	require.Equal(t, wire.Conflict, wire.CodeOf(err))
	_, err = orders.Order(alpha, "theirs")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	next.err = nil
	req.PaymentSession.Recurrence.Action = "PAYMENT"
	_, err = sessions.Build(alpha, "", req)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "the contract")
	req.PaymentSession.Recurrence = nil
	_, err = sessions.Build(alpha, "", req)
	require.NoError(t, err)
	_, err = orders.Order(alpha, "theirs")
	require.NoError(t, err)
}

type office struct {
	onboarding.Service
	keys []wire.Key
}

func (o *office) Create(_ context.Context, key wire.Key, _ onboarding.Application) (onboarding.State, error) {
	o.keys = append(o.keys, key)
	return onboarding.State{OnboardingID: int64(len(o.keys))}, nil
}

// One client's Idempotency-Key does not meet another's at the backend, nor the terminal's own; the same client's is the same again.
func TestField_P1KeysOfClientsAreApart(t *testing.T) {
	db := storetest.Open(t, append(inbox.BuildSchema(), owned.Schema()...)...)
	var all [2][]wire.Key
	for i := range all { // the second time after a start
		c, desk, next := owned.New(db, []byte("caller secret")), &office{}, &acquirer{}
		for _, ctx := range []context.Context{as(t, "alpha"), as(t, "beta"), wire.WithCaller(t.Context(), wire.Caller{})} {
			_, err := owned.Onboarding(c, desk).Create(ctx, "order-1", onboarding.Application{})
			require.NoError(t, err)
			_, err = owned.Schemes(c, nil, next).InitializeWithIdempotency(ctx, "order-1", aapay.Payment, aapay.Request{})
			require.NoError(t, err)
		}
		require.Equal(t, next.keys, desk.keys)
		all[i] = desk.keys
	}
	require.Equal(t, all[0], all[1])
	alpha, beta, own := all[0][0], all[0][1], all[0][2]
	require.Equal(t, wire.Key("order-1"), own)
	require.NotEqual(t, alpha, beta)
	require.NotEqual(t, own, alpha)
	require.True(t, alpha.Ours())
}
