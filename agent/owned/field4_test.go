package owned_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/owned"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// A call that a proxy answered may have made what it named: its client reads that, and takes it back. Kind: each answer that proves nothing,
// with and without a Key that it is said to be of; a refusal of the service itself takes the name back.
func TestField4_AProxysAnswerTakesNoNameBack(t *testing.T) {
	for name, row := range map[string]struct {
		err *wire.Error
		own bool
	}{
		"bare 401":       {&wire.Error{Code: wire.Unauthorized, Nobody: true}, true},
		"bare 403":       {&wire.Error{Code: wire.Forbidden, Nobody: true}, true},
		"bare 429":       {&wire.Error{Code: wire.TooMany, Nobody: true}, true},
		"foreign 409":    {&wire.Error{Code: wire.KeyReused, MayRun: true}, true},
		"its own 401":    {&wire.Error{Code: wire.Unauthorized}, false},
		"its own 403":    {&wire.Error{Code: wire.Forbidden}, false},
		"its own 429":    {&wire.Error{Code: wire.TooMany}, false},
		"a reused Key":   {&wire.Error{Code: wire.KeyReused}, false},
		"never sent":     {&wire.Error{Code: wire.Unavailable, Unsent: true}, false},
		"without answer": {&wire.Error{Code: wire.UnknownOutcome}, true},
	} {
		t.Run(name, func(t *testing.T) {
			alpha, next := as(t, "alpha"), &acquirer{shown: map[string]aapay.Status{}, err: row.err}
			svc := owned.Schemes(claims(t), nil, next)
			began := time.Now()
			_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("alpha-1", 900))
			require.Equal(t, row.err.Code, wire.CodeOf(err))
			next.shown["alpha-1"] = shown("PAID", 900, began)
			_, err = svc.Status(alpha, "alpha-1", "")
			require.Equal(t, row.own, err == nil, "%v", err)
		})
	}
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
			svc := owned.Schemes(claims(t), nil, gateway)
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
