package owned_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/owned"
	"posagent/schemes/aapay"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/wire"
)

// mixes stands before the embedded backend and answers a start with the answer to another one.
type mixes struct {
	aapay.Service
	instead string // ppref of the other one; "" = it does not
	deaf    bool   // and nothing can be read
}

func (m *mixes) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	out, err := m.Service.InitializeWithIdempotency(ctx, key, typ, req)
	if m.instead != "" {
		return accepted(m.instead), nil
	}
	return out, err
}

func (m *mixes) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	out, err := m.Service.Initialize(ctx, typ, req)
	if m.instead != "" {
		return accepted(m.instead), nil
	}
	return out, err
}

func (m *mixes) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	if m.deaf {
		return aapay.Status{}, wire.Errorf(wire.Unavailable, "x", "away")
	}
	return m.Service.Status(ctx, id, method)
}

// TestField5_PortAStartIsAnsweredForAnother: a client sold 12.50, and a gateway answered it with the answer to a sale of another box of the
// merchant's. The client was given that one's transaction, and gave it back: 12.50 of another went. The kind: the id that a start is
// answered with, and no Key beside it. Its members: either route; a payment, a refund and a reversal; a service that shows the call under
// its reference, one that shows it by its own id alone, and one that shows nothing. It is the sister of
// TestField4_AnAnswerAboutAnotherGivesNothing, whose members name what they are of.
func TestField5_PortAStartIsAnsweredForAnother(t *testing.T) {
	b := backendtest.Open(t)
	request := func(ref, original string) aapay.Request {
		req := payment(ref, 1250)
		req.MerchantID, req.Method, req.Trigger, req.Consumer, req.OriginalReference = "M1", "SWISH_E_COM", aapay.TriggerQR, &aapay.Consumer{ConsumerID: ref}, original
		if original != "" {
			req.Trigger = ""
		}
		return req
	}
	reply, err := b.Aapay().Initialize(t.Context(), aapay.Payment, request("web-1", ""))
	require.NoError(t, err)
	backendtest.Act(t, b, "/wallet/web-1/pay")
	theirs := reply.Response.NAA2ECR.PPRef

	alpha, gateway := as(t, "alpha"), &mixes{Service: b.Aapay()}
	svc := owned.Schemes(claims(t), nil, gateway)
	start := func(key wire.Key, typ aapay.Type, ref, original string) (aapay.Reply, error) {
		if key == "" {
			return svc.Initialize(alpha, typ, request(ref, original))
		}
		return svc.InitializeWithIdempotency(alpha, key, typ, request(ref, original))
	}
	own, err := start("k0", aapay.Payment, "alpha-0", "")
	require.NoError(t, err)
	backendtest.Act(t, b, "/wallet/alpha-0/pay")
	for name, c := range map[string]struct {
		key           wire.Key
		typ           aapay.Type
		ref, original string
	}{
		"plain":    {"", aapay.Payment, "alpha-1", ""},
		"keyed":    {"k2", aapay.Payment, "alpha-2", ""},
		"refund":   {"k3", aapay.Refund, "alpha-3", own.Response.NAA2ECR.PPRef},
		"reversal": {"k4", aapay.Reversal, "alpha-4", "alpha-0"},
	} {
		gateway.instead = theirs
		_, err := start(c.key, c.typ, c.ref, c.original)
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%s: %v", name, err)
		gateway.instead = ""
		_, err = svc.Status(alpha, theirs, "")
		require.Equal(t, wire.NotFound, wire.CodeOf(err), name)
		_, err = start("back "+wire.Key(name), aapay.Refund, "back-"+name, theirs)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", name, err)
		_, err = svc.Status(alpha, c.ref, "")
		require.NoError(t, err, "%s: what the call made is the client's", name)
		if c.key != "" {
			_, err = start(c.key, c.typ, c.ref, c.original)
			require.NoError(t, err, "%s: asked again it has its own answer", name)
		}
	}
	gateway.deaf = true // to one that reaches everything: what it names first is not looked for before
	boss := wire.WithCaller(t.Context(), wire.Caller{Name: "boss", Words: []string{"pay", "all"}})
	_, err = svc.Initialize(boss, aapay.Payment, request("boss-1", ""))
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)

	// A service that knows a transaction by its own id alone.
	began := time.Now()
	for age, want := range map[time.Duration]wire.Code{0: "", time.Hour: wire.UnknownOutcome} {
		next := &acquirer{reply: accepted("PP"), shown: map[string]aapay.Status{"PP": shown("PP", 1250, began.Add(-age))}}
		_, err = owned.Schemes(claims(t), nil, next).InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("R-7", 1250))
		require.Equal(t, want, wire.CodeOf(err), "%s: %v", age, err)
	}
}
