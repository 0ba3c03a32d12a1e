package ownership_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// slipped stands before the embedded backend and hands out the answer to another request: a gateway whose pool slipped by one.
type slipped struct {
	aapay.Service
	hosted.Sessions
	instead string // what is read in place of what is asked for; "" = nothing
}

func (s *slipped) id(asked string) string {
	if s.instead != "" {
		return s.instead
	}
	return asked
}

func (s *slipped) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	return s.Service.Status(ctx, s.id(id), method)
}

func (s *slipped) State(ctx context.Context, id string) (hosted.SessionState, error) {
	return s.Sessions.State(ctx, s.id(id))
}

func (s *slipped) Finalize(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
	if s.instead != "" {
		return s.Sessions.State(ctx, s.instead)
	}
	return s.Sessions.Finalize(ctx, key, id, amount)
}

// A client asks for a transaction of its own by an id that the backend gave it, and the answer is that of another's. The client is shown
// nothing of it, and is not given it: it took back another's 12.50. The kind: an answer about one thing that gives its asker another: a
// status by either id, a session's state and what ends it (by the order that its operation is of, or the session that its fields are
// of). Readings by a reference were compared already, as are payments, links, orders and applications, each by its own contract. A card
// token and what a capture or refund of hosted build is called name nothing that could be compared.
func TestField4_AnAnswerAboutAnotherGivesNothing(t *testing.T) {
	b := backendtest.Open(t)
	gateway := &slipped{Service: b.Aapay(), Sessions: b.Hosted()}
	alpha, beta := as(t, "alpha"), as(t, "beta")

	t.Run("status", func(t *testing.T) {
		gateway.instead = ""
		svc := ownership.Schemes(claims(t), nil, gateway)
		start := func(who context.Context, typ aapay.Type, ref, original string) (aapay.Reply, error) {
			req := payment(ref, 1250)
			req.MerchantID, req.Method, req.Trigger, req.Consumer, req.OriginalReference = "M1", "SWISH_E_COM", aapay.TriggerQR, &aapay.Consumer{ConsumerID: ref}, original
			if original != "" {
				req.Trigger = ""
			}
			return svc.InitializeWithIdempotency(who, wire.NewKey(), typ, req)
		}
		ids := map[string][]string{}
		for name, who := range map[string]context.Context{"alpha": alpha, "beta": beta} {
			made, err := start(who, aapay.Payment, name+"-1", "")
			require.NoError(t, err)
			backendtest.Act(t, b, "/wallet/"+name+"-1/pay")
			st, err := svc.Status(who, made.Response.NAA2ECR.PPRef, "")
			require.NoError(t, err)
			ids[name] = []string{made.Response.NAA2ECR.PPRef, strconv.FormatInt(st.TransactionID, 10)}
		}
		// Another box of the merchant sells too: no client here owns that.
		stranger := payment("web-1", 1250)
		stranger.MerchantID, stranger.Method, stranger.Trigger, stranger.Consumer = "M1", "SWISH_E_COM", aapay.TriggerQR, &aapay.Consumer{ConsumerID: "web"}
		reply, err := b.Aapay().Initialize(t.Context(), aapay.Payment, stranger)
		require.NoError(t, err)
		backendtest.Act(t, b, "/wallet/web-1/pay")
		ids["web"] = []string{reply.Response.NAA2ECR.PPRef}
		for _, theirs := range []string{"beta", "web"} {
			for _, own := range ids["alpha"] {
				gateway.instead = ids[theirs][0]
				st, err := svc.Status(alpha, own, "")
				require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
				require.Equal(t, aapay.Status{}, st)
			}
			gateway.instead = ""
			_, err = svc.Status(alpha, ids[theirs][0], "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err), theirs)
			_, err = start(alpha, aapay.Refund, "back-"+theirs, ids[theirs][0])
			require.Equal(t, wire.NotFound, wire.CodeOf(err), theirs)
		}
		for _, own := range ids["alpha"] {
			_, err = svc.Status(alpha, own, "")
			require.NoError(t, err)
		}
		_, err = start(alpha, aapay.Refund, "back-own", ids["alpha"][1])
		require.NoError(t, err)
	})

	t.Run("session", func(t *testing.T) {
		gateway.instead = ""
		db := storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...)
		c := ownership.New(db, []byte("caller secret"))
		sessions, orders := ownership.Sessions(c, inbox.Builds(db, gateway, time.Now)), ownership.Orders(c, gateway, b.Hosted().Orders())
		build := func() hosted.Built {
			made, err := sessions.Build(alpha, wire.NewKey(), hostedtest.Good())
			require.NoError(t, err)
			return made
		}
		own := build()
		theirs, err := b.Hosted().Build(t.Context(), wire.NewKey(), hostedtest.Good())
		require.NoError(t, err)
		gateway.instead = theirs.SessionID
		_, err = sessions.State(alpha, own.SessionID) // not paid yet: its fields are the other session's
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.NoError(t, b.Hosted().Fill(t.Context(), theirs.SessionID, wire.NewPAN(backendtest.Visa), 2099, 12))
		paid, err := b.Hosted().Finalize(t.Context(), "", theirs.SessionID, "")
		require.NoError(t, err)
		for name, ask := range map[string]func() (hosted.SessionState, error){
			"state":    func() (hosted.SessionState, error) { return sessions.State(alpha, own.SessionID) },
			"finalize": func() (hosted.SessionState, error) { return sessions.Finalize(alpha, wire.NewKey(), own.SessionID, "") },
		} {
			st, err := ask()
			require.Contains(t, []wire.Code{wire.Unavailable, wire.UnknownOutcome}, wire.CodeOf(err), "%s: %v", name, err)
			require.Equal(t, hosted.SessionState{}, st, name)
		}
		require.NoError(t, c.Told(gateway)(t.Context(), paid.Operation.OperationID, own.SessionID))
		gateway.instead = ""
		_, err = orders.Refund(alpha, wire.NewKey(), paid.Operation.OperationID, hosted.PostRequest{Amount: "100", Currency: "EUR"})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		require.NoError(t, b.Hosted().Fill(t.Context(), own.SessionID, wire.NewPAN(backendtest.Visa), 2099, 12))
		done, err := sessions.Finalize(alpha, wire.NewKey(), own.SessionID, "")
		require.NoError(t, err)
		_, err = orders.Refund(alpha, wire.NewKey(), done.Operation.OperationID, hosted.PostRequest{Amount: "100", Currency: "EUR"})
		require.NoError(t, err)
	})
}

// swallows loses a start before it arrives.
type swallows struct {
	aapay.Service
	all bool
}

func (s *swallows) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if s.all {
		return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "aapay.initialize", "no answer")
	}
	return s.Service.InitializeWithIdempotency(ctx, key, typ, req)
}

// A client's sale never arrives and is not answered. The shop's own software sells the same order under the same reference, over the same
// amount: what stands there is the terminal's own token's, or that of a client that reaches everything, and the client that named it first
// does not read it and takes nothing back. Its own repeat under its Key proves what its own call made. The kind: both callers that may
// name what a client has named, each before and after the client's reading; a status, a reversal by the reference and a refund.
func TestField4_AReferenceThatTwoNamedIsProvenByItsAnswer(t *testing.T) {
	b := backendtest.Open(t)
	for name, shop := range map[string]context.Context{
		"main": wire.WithCaller(t.Context(), wire.Caller{}),
		"boss": wire.WithCaller(t.Context(), wire.Caller{Name: "boss", Words: []string{"read", "pay", "refund", "all"}}),
	} {
		t.Run(name, func(t *testing.T) {
			gateway, alpha := &swallows{Service: b.Aapay()}, as(t, "alpha")
			svc := ownership.Schemes(claims(t), nil, gateway)
			start := func(who context.Context, key wire.Key, typ aapay.Type, ref, original string) (aapay.Reply, error) {
				req := payment(ref, 1250)
				req.MerchantID, req.Method, req.Consumer, req.OriginalReference = "M1", "SWISH_E_COM", &aapay.Consumer{ConsumerID: ref}, original
				if original == "" {
					req.Trigger = aapay.TriggerQR
				}
				return svc.InitializeWithIdempotency(who, key, typ, req)
			}
			ref := "order-" + name
			gateway.all = true
			_, err := start(alpha, wire.Key("key-1-"+name), aapay.Payment, ref, "")
			require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
			gateway.all = false
			_, err = svc.Status(alpha, ref, "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
			made, err := start(shop, wire.Key("key-2-"+name), aapay.Payment, ref, "")
			require.NoError(t, err)
			backendtest.Act(t, b, "/wallet/"+ref+"/pay")
			for range 2 {
				st, err := svc.Status(alpha, ref, "")
				require.Equal(t, wire.NotFound, wire.CodeOf(err), "%+v %v", st, err)
				_, err = start(alpha, wire.NewKey(), aapay.Reversal, "undo-"+ref, ref)
				require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
				_, err = start(alpha, wire.NewKey(), aapay.Refund, "back-"+ref, made.Response.NAA2ECR.PPRef)
				require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
			}
			st, err := svc.Status(shop, ref, "")
			require.NoError(t, err)
			require.Equal(t, aapay.Commit, st.AccountState)

			// The client's own, which the shop has named as well.
			own := "own-" + name
			reply, err := start(alpha, wire.Key("key-3-"+name), aapay.Payment, own, "")
			require.NoError(t, err)
			again, err := start(shop, wire.Key("key-4-"+name), aapay.Payment, own, "")
			require.NoError(t, err)
			require.Equal(t, 201, again.HTTPStatus, "the reference is taken")
			_, err = svc.Status(alpha, own, "")
			require.NoError(t, err)
			_, err = svc.Status(alpha, reply.Response.NAA2ECR.PPRef, "")
			require.NoError(t, err)
		})
	}
}
