package ownership_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

func claims(t *testing.T) ownership.Claims {
	return ownership.New(storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...), []byte("caller secret"))
}

func as(t *testing.T, name string) context.Context {
	return wire.WithCaller(t.Context(), wire.Caller{Name: name, Words: []string{"read", "pay", "refund", "hosted", "onboarding"}, Own: true})
}

// acquirer answers for the backend; reply and err are what a start of a transaction gets, shown what is read by a reference.
type acquirer struct {
	aapay.Service
	reply aapay.Reply
	err   error
	shown map[string]aapay.Status
	asked []string
	keys  []wire.Key
	made  map[string]aapay.Status // what starts have made, by the id that they were answered with
}

func (a *acquirer) InitializeWithIdempotency(_ context.Context, key wire.Key, _ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	a.keys = append(a.keys, key)
	if r := a.reply.Response; r != nil && r.NAA2ECR != nil && req.PurchaseAmount != nil {
		if a.made == nil {
			a.made = map[string]aapay.Status{}
		}
		a.made[r.NAA2ECR.PPRef] = shown(r.NAA2ECR.PPRef, req.PurchaseAmount.TotalAmount, time.Now())
	}
	return a.reply, a.err
}

func (a *acquirer) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	a.asked = append(a.asked, id)
	if st, ok := a.shown[id]; ok {
		return st, nil
	}
	if st, ok := a.made[id]; ok {
		return st, nil
	}
	return aapay.Status{}, wire.Errorf(wire.NotFound, "x", "no")
}

// accepted is the answer to a start that gives the transaction an id.
func accepted(ppref string) aapay.Reply {
	return aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true, Response: &aapay.Response{NAA2ECR: &aapay.NAA2ECR{PPRef: ppref}}}
}

// A reference that the backend refuses, since somebody else has used it, does not become the client's: it could read that sale and
// take it back.
func TestField_P1ARefusedNameIsNotClaimed(t *testing.T) {
	alpha, next := as(t, "alpha"), &acquirer{shown: map[string]aapay.Status{"till-2": shown("THEIRS", 900, time.Now().Add(-time.Hour))}}
	svc := ownership.Schemes(claims(t), nil, next)
	undo := aapay.Request{TerminalReference: "alpha-undo", OriginalReference: "till-2"}
	for name, refuse := range map[string]func(){
		"in a reply": func() {
			next.reply, next.err = aapay.Reply{HTTPStatus: http.StatusCreated, Response: &aapay.Response{ResponseCode: aapay.CodeReject, NAA2ECR: &aapay.NAA2ECR{PPRef: "THEIRS"}}}, nil
		},
		"at once":                    func() { next.reply, next.err = aapay.Reply{}, wire.Errorf(wire.Conflict, "x", "already used") },
		"after a call of no outcome": func() { next.reply, next.err = aapay.Reply{}, wire.Errorf(wire.Conflict, "x", "already used") },
	} {
		if name == "after a call of no outcome" {
			next.err = wire.Errorf(wire.UnknownOutcome, "x", "no answer")
			_, _ = svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("till-2", 900))
		}
		refuse()
		_, _ = svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("till-2", 900))
		next.reply, next.err, next.asked = accepted("UNDO"), nil, nil
		for _, id := range []string{"till-2", "THEIRS"} {
			_, err := svc.Status(alpha, id, "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err), name+" "+id)
		}
		_, err := svc.InitializeWithIdempotency(alpha, "u", aapay.Reversal, undo)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), name)
		require.Empty(t, next.asked, "the backend is not asked for what is not the client's")
	}
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
	db := storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...)
	var all [2][]wire.Key
	for i := range all { // the second time after a start
		c, desk, next := ownership.New(db, []byte("caller secret")), &office{}, &acquirer{}
		for _, ctx := range []context.Context{as(t, "alpha"), as(t, "beta"), wire.WithCaller(t.Context(), wire.Caller{})} {
			_, err := ownership.Onboarding(c, desk).Create(ctx, "order-1", onboarding.Application{})
			require.NoError(t, err)
			_, err = ownership.Schemes(c, nil, next).InitializeWithIdempotency(ctx, "order-1", aapay.Payment, aapay.Request{})
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

// In a journal that took a lost one's place nobody hears a final no of what only that one knew to be a client's own: a transaction that
// is read, refunded, reversed, an order, a contract that is paid from.
func TestField_C8NoFinalNoOfWhatALostJournalKnew(t *testing.T) {
	db := storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...)
	s, c := &shop{made: map[string]*hosted.Operation{}}, ownership.New(db, []byte("caller secret"))
	pays, builds, orders := ownership.Schemes(c, nil, &acquirer{}), ownership.Sessions(c, inbox.Builds(db, s, time.Now)), ownership.Orders(c, s, ledger{s: s})
	alpha := as(t, "alpha")
	asks := map[string]func() error{
		"status": func() error { _, err := pays.Status(alpha, "123", ""); return err },
		"refund": func() error {
			_, err := pays.InitializeWithIdempotency(alpha, "k", aapay.Refund, aapay.Request{TerminalReference: "r", OriginalReference: "123"})
			return err
		},
		"reversal": func() error {
			_, err := pays.InitializeWithIdempotency(alpha, "k", aapay.Reversal, aapay.Request{TerminalReference: "v", OriginalReference: "till-1"})
			return err
		},
		"order": func() error { _, err := orders.Order(alpha, "web-1"); return err },
		"contract": func() error {
			_, err := builds.Build(alpha, "k", buildOf("web-2", "CONTRACT_PAYMENT", "cust-1"))
			return err
		},
	}
	for name, ask := range asks {
		require.Equal(t, wire.NotFound, wire.CodeOf(ask()), name)
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasLost}, Generation: 2, AtMS: 1})
	}))
	for name, ask := range asks {
		err := ask()
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "took the place of another", name)
	}
}
