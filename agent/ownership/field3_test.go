package ownership_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Initialize is the plain route.
func (a *acquirer) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return a.InitializeWithIdempotency(ctx, "", typ, req)
}

// TestField3_C8WhatStoodBeforeIsNotTheCalls: another channel of the merchant sells under a reference, over 12.50; half a minute later a
// client names the same reference over the same amount, and its answer is lost. What stands there is not the client's, whether it is
// payment, refund or reversal, by whichever route: it reads nothing and takes nothing back. Where the backend does not say what stands
// there, nothing is sent. The answer to a Key proves that it is the client's own after all.
func TestField3_C8WhatStoodBeforeIsNotTheCalls(t *testing.T) {
	lost := wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	theirs := func() map[string]aapay.Status {
		return map[string]aapay.Status{"WEB-7": shown("THEIRS", 1250, time.Now().Add(-30*time.Second))}
	}
	type starts func(svc aapay.Service, ctx context.Context, req aapay.Request) error
	routes := map[string]starts{
		"plain": func(svc aapay.Service, ctx context.Context, req aapay.Request) error {
			_, err := svc.Initialize(ctx, aapay.Payment, req)
			return err
		},
		"keyed": func(svc aapay.Service, ctx context.Context, req aapay.Request) error {
			_, err := svc.InitializeWithIdempotency(ctx, "k", aapay.Payment, req)
			return err
		},
	}
	for name, start := range routes {
		t.Run(name, func(t *testing.T) {
			next := &acquirer{err: lost, shown: theirs()}
			svc, alpha := ownership.Schemes(claims(t), nil, byMethod{next}), as(t, "alpha")
			for range 2 { // a repeat is no better, nor is another method
				other := payment("WEB-7", 1250)
				other.Method = "ANOTHER"
				require.Error(t, start(svc, alpha, other))
				require.Error(t, start(svc, alpha, payment("WEB-7", 1250)))
			}
			next.reply, next.err = aapay.Reply{HTTPStatus: http.StatusCreated, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil
			require.Equal(t, wire.NotFound, wire.CodeOf(start(svc, alpha, payment("WEB-7", 1250))), "that the reference is taken is not told")
			_, err := svc.Status(alpha, "WEB-7", "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
			undo := payment("UNDO-7", 1250)
			next.reply, next.err = accepted("UNDO"), nil
			for typ, original := range map[aapay.Type]string{aapay.Reversal: "WEB-7", aapay.Refund: "THEIRS"} {
				undo.OriginalReference = original
				_, err = svc.InitializeWithIdempotency(alpha, "u", typ, undo)
				require.Equal(t, wire.NotFound, wire.CodeOf(err), typ)
			}

			// The backend does not say: nothing is sent.
			silent := &acquirer{reply: accepted("OURS")}
			err = start(ownership.Schemes(claims(t), nil, mute{silent}), alpha, payment("WEB-8", 1250))
			require.Equal(t, wire.Unavailable, wire.CodeOf(err))
			require.Empty(t, silent.keys)
		})
	}

	// A journal that has lost the client's call: the reply to the same Key is its own.
	next := &acquirer{reply: accepted("THEIRS"), shown: theirs()}
	next.shown["THEIRS"] = next.shown["WEB-7"]
	svc, alpha := ownership.Schemes(claims(t), nil, next), as(t, "alpha")
	require.NoError(t, routes["keyed"](svc, alpha, payment("WEB-7", 1250)))
	for _, id := range []string{"WEB-7", "THEIRS"} {
		_, err := svc.Status(alpha, id, "")
		require.NoError(t, err, id)
	}
}

// byMethod is a backend that shows a transaction to those who ask for its method, or for any.
type byMethod struct{ *acquirer }

func (b byMethod) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	if method != "" {
		return aapay.Status{}, wire.Errorf(wire.NotFound, "x", "no")
	}
	return b.acquirer.Status(ctx, id, method)
}

// mute is a backend that does not answer when it is asked.
type mute struct{ *acquirer }

func (mute) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{}, wire.Errorf(wire.Unavailable, "x", "away")
}

// TestField3_C8ByTheServicesOwnClock: whether a transaction began before the call is told by the service's clock alone, however wrong ours
// is; ours measures how long ago the call was.
func TestField3_C8ByTheServicesOwnClock(t *testing.T) {
	lost := wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	for name, service := range map[string]time.Duration{"its clock is right": 0, "a day ahead of ours": 24 * time.Hour, "a day behind": -24 * time.Hour} {
		for age, want := range map[time.Duration]wire.Code{0: "", 10 * time.Minute: wire.NotFound} {
			t.Run(name, func(t *testing.T) {
				next := &acquirer{err: lost, shown: map[string]aapay.Status{}}
				svc, alpha := ownership.Schemes(claims(t), nil, next), as(t, "alpha")
				_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("R-7", 1250))
				require.Error(t, err)
				answered := time.Now().Add(service)
				st := shown("PP", 1250, answered.Add(-age))
				st.Answered = answered
				next.shown["R-7"] = st
				_, err = svc.Status(alpha, "R-7", "")
				require.Equal(t, want, wire.CodeOf(err), "began %s ago", age)
			})
		}
	}
}

// TestField3_C9ARefusedRepeatTakesNothingBack: a call that was not answered may have had its effect. That its repeat is refused says nothing
// of it: the client still reads what it made, and no other client may name it. The kind is whatever a call names: a reference, an order, a
// contract.
func TestField3_C9ARefusedRepeatTakesNothingBack(t *testing.T) {
	lost := wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	for name, c := range map[string]struct {
		no     error
		amount int64
	}{
		"the backend is away": {wire.Errorf(wire.Unavailable, "x", "away"), 1250}, "too many": {wire.Errorf(wire.TooMany, "x", "later"), 1250},
		"another amount": {wire.Errorf(wire.KeyReused, "x", "another body"), 900},
	} {
		t.Run(name, func(t *testing.T) {
			next := &acquirer{err: lost, shown: map[string]aapay.Status{}}
			svc, alpha := ownership.Schemes(claims(t), nil, next), as(t, "alpha")
			_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("R-7", 1250))
			require.Error(t, err)
			next.shown["R-7"] = shown("PP", 1250, time.Now())
			next.err = c.no
			_, err = svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("R-7", c.amount))
			require.Error(t, err)
			next.err = nil
			_, err = svc.InitializeWithIdempotency(as(t, "beta"), "k", aapay.Payment, payment("R-7", 1250))
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
			_, err = svc.Status(alpha, "R-7", "")
			require.NoError(t, err, "no client is told that its own payment is not there")
		})
	}

	s, _, sessions, _ := desk(t)
	alpha, beta := as(t, "alpha"), as(t, "beta")
	_, err := sessions.Build(alpha, "k1", buildOf("O-1", hosted.ContractCreation, "C-1"))
	require.NoError(t, err)
	s.err = wire.Errorf(wire.Conflict, "x", "it is paid")
	_, err = sessions.Build(alpha, "k2", buildOf("O-1", hosted.ContractCreation, "C-1"))
	require.Equal(t, wire.Conflict, wire.CodeOf(err))
	s.err = nil
	for _, req := range []hosted.BuildRequest{buildOf("O-1", "", ""), buildOf("O-2", hosted.ContractCreation, "C-1")} {
		_, err = sessions.Build(beta, "k3", req)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: another's", req.Order.OrderID)
	}
	_, err = sessions.Build(as(t, "gamma"), "k4", buildOf("O-2", "", ""))
	require.NoError(t, err, "what only a refused call has named is free")
	_, err = sessions.Build(alpha, "k5", buildOf("O-1", "", ""))
	require.NoError(t, err)
}

// TestField3_C10AnotherMethodHidesNothing: a service shows a transaction only to those who ask for its method, or for any. A call that names
// another method does not make another channel's sale one that is not there yet, nor the register's one that nobody sold.
func TestField3_C10AnotherMethodHidesNothing(t *testing.T) {
	next := &acquirer{err: wire.Errorf(wire.UnknownOutcome, "x", "no answer"), shown: map[string]aapay.Status{}}
	sold := func(_ store.Reader, id string, _ bool) (string, error) {
		if id == "REGISTERS" {
			return "receipt 7 of batch 1", nil
		}
		return "", nil
	}
	svc, alpha := ownership.Schemes(claims(t), sold, byMethod{next}), as(t, "alpha")
	_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("WEB-7", 1250))
	require.Error(t, err)
	next.shown["WEB-7"], next.shown["by another name"] = shown("THEIRS", 900, time.Now()), shown("REGISTERS", 1250, time.Now())
	next.reply, next.err = accepted("UNDO"), nil
	undo := payment("UNDO-7", 1250)
	undo.Method = "ANOTHER"
	undo.OriginalReference = "WEB-7"
	_, err = svc.InitializeWithIdempotency(alpha, "u", aapay.Reversal, undo)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	undo.OriginalReference = "by another name"
	_, err = svc.InitializeWithIdempotency(wire.WithCaller(t.Context(), wire.Caller{}), "u2", aapay.Reversal, undo)
	require.Equal(t, wire.Conflict, wire.CodeOf(err))
	require.ErrorContains(t, err, "receipt 7")
}
