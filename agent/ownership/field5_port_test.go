package ownership_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
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
	svc := ownership.Schemes(claims(t), nil, gateway)
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
		_, err = ownership.Schemes(claims(t), nil, next).InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("R-7", 1250))
		require.Equal(t, want, wire.CodeOf(err), "%s: %v", age, err)
	}
}

// TestField5_PortAnAcceptedStartIsNotNotFound: another channel of the merchant sells under a reference, and a client starts a payment of its
// own under it, with a Key. The service takes it and gives it no id yet: the client was told that there is no such transaction, as if
// nothing had begun, while its customer paid. The kind: each answer to a start under a name that is taken, that proves nothing of whose it
// is. Its members: taken, and paid or not; refused in a reply, which is told as not found; not answered, which is told so.
func TestField5_PortAnAcceptedStartIsNotNotFound(t *testing.T) {
	live := aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true, Response: &aapay.Response{ResponseCode: aapay.CodePending}}
	bare := aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true}
	no := aapay.Reply{HTTPStatus: http.StatusCreated, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}
	for name, c := range map[string]struct {
		reply aapay.Reply
		err   error
		want  wire.Code
	}{
		"taken":        {live, nil, wire.UnknownOutcome},
		"taken, bare":  {bare, nil, wire.UnknownOutcome},
		"refused":      {no, nil, wire.NotFound},
		"not answered": {aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "x", "no answer"), wire.UnknownOutcome},
	} {
		next := &acquirer{reply: c.reply, err: c.err, shown: map[string]aapay.Status{"WEB-7": shown("THEIRS", 1250, time.Now().Add(-time.Minute))}}
		svc, alpha := ownership.Schemes(claims(t), nil, next), as(t, "alpha")
		_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("WEB-7", 1250))
		require.Equal(t, c.want, wire.CodeOf(err), "%s: %v", name, err)
		_, err = svc.Status(alpha, "WEB-7", "")
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: what stood there is another's", name)
	}
}

// TestField5_PortAnOperationWithoutAnIdIsOfNoPayment: a service that leaves out what an operation is called made one payment of all that
// an order shows: another channel's payment of the order was the client's, which could give it back. The kind: an operation without an
// id, and one that cancels none.
func TestField5_PortAnOperationWithoutAnIdIsOfNoPayment(t *testing.T) {
	s, _, sessions, orders := desk(t)
	alpha := as(t, "alpha")
	_, err := sessions.Build(alpha, "k", buildOf("WEB1003", "", ""))
	require.NoError(t, err)
	own, nameless, theirs := paidBy("OWN", "e1"), paidBy("", ""), paidBy("THEIRS", "e3")
	s.made["S1"], s.report.Operations = &own, []hosted.Operation{nameless, own, theirs}
	_, err = orders.Order(alpha, "WEB1003")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "another has paid it, too")
	_, err = orders.Refund(alpha, "r", "THEIRS", hosted.PostRequest{})
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
}
