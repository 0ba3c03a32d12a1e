package payments_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/wire"
)

// fixture is a fake in process, or behind Handler and Client.
func fixture(t *testing.T, fake *paymentstest.Fake, over bool) paymentstest.Fixture {
	f := paymentstest.Fixture{
		Service: fake, Approved: paymentstest.FakeApproved, Declined: paymentstest.FakeDeclined,
		Pay: func(t *testing.T, id string) { require.True(t, fake.Pay(id)) },
	}
	if over {
		srv := httptest.NewServer(payments.Handler(fake, payments.HandlerOptions{}))
		t.Cleanup(srv.Close)
		f.Service = &payments.Client{BaseURL: srv.URL, Doer: srv.Client(), Operator: "nets"}
		f.Wire = &paymentstest.Wire{BaseURL: srv.URL, Doer: srv.Client()}
	}
	return f
}

func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) { paymentstest.Run(t, fixture(t, &paymentstest.Fake{}, false)) })
	t.Run("over http", func(t *testing.T) { paymentstest.Run(t, fixture(t, &paymentstest.Fake{}, true)) })
	t.Run("stored first", func(t *testing.T) {
		f := fixture(t, &paymentstest.Fake{}, true)
		q := &queue{Service: f.Service, sent: map[wire.Key]bool{}}
		srv := httptest.NewServer(payments.Handler(q, payments.HandlerOptions{}))
		t.Cleanup(srv.Close)
		f.Service = &payments.Client{BaseURL: srv.URL, Doer: srv.Client()}
		f.Settle, f.Wire = func(_ *testing.T, op *wire.Pending) { q.settle(op.Key) }, nil
		paymentstest.Run(t, f)
	})
}

const bugVariable = "PAYMENTS_FAKE_BUG"

// TestWithABug is run by TestTheSuiteFindsBugs in a process of its own.
func TestWithABug(t *testing.T) {
	paymentstest.Run(t, fixture(t, &paymentstest.Fake{Bug: os.Getenv(bugVariable)}, false))
}

func TestTheSuiteFindsBugs(t *testing.T) {
	for _, bug := range paymentstest.Bugs() {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWithABug$", "-test.failfast")
			cmd.Env = append(os.Environ(), bugVariable+"="+bug)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the suite is green with a service that %s", bug)
			require.Contains(t, string(out), "--- FAIL: TestWithABug/")
		})
	}
}

// queue answers every keyed write pending until it is settled.
type queue struct {
	payments.Service
	mu   sync.Mutex
	sent map[wire.Key]bool
}

func (q *queue) settle(key wire.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent[key] = true
}

func (q *queue) stored(key wire.Key) *wire.Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	if key == "" || q.sent[key] {
		return nil
	}
	return &wire.Pending{Key: key, Status: wire.PendingStatus}
}

func (q *queue) Create(ctx context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	if op := q.stored(key); op != nil {
		return payments.Created{PaymentID: "L" + string(key), Operation: op}, nil
	}
	return q.Service.Create(ctx, key, req)
}

func (q *queue) done(key wire.Key, id string, do func() (payments.Done, error)) (payments.Done, error) {
	if op := q.stored(key); op != nil {
		return payments.Done{PaymentID: id, TransactionRef: "L" + string(key), Operation: op}, nil
	}
	return do()
}

func (q *queue) Authorize(ctx context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return q.done(key, id, func() (payments.Done, error) { return q.Service.Authorize(ctx, key, id, req) })
}

func (q *queue) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return q.done(key, id, func() (payments.Done, error) { return q.Service.Cancel(ctx, key, id, req) })
}

func (q *queue) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return q.done(key, id, func() (payments.Done, error) { return q.Service.Capture(ctx, key, id, req) })
}

func (q *queue) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return q.done(key, id, func() (payments.Done, error) { return q.Service.Refund(ctx, key, id, req) })
}
