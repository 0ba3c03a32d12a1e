package books

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// callers work at once.
const callers = 16

// pool is how many payments are open to them at a time: few, so that they meet.
const pool = 24

// answered is a call that succeeded: what must stand in the books, once.
type answered struct {
	payment, ref, kind string
	amount             int32 // 0 = the bank's choice
}

// campaign is one run against one backend.
type campaign struct {
	on   []*backend.Backend // over the same books
	tick atomic.Int64

	mu      sync.Mutex
	open    [pool]string
	all     map[string]int32 // every payment's amount
	done    []answered
	refused map[string]int // by reason
	asked   map[string]int // writes, by their names in the service's table
	wrong   []string
	calls   int
}

func (c *campaign) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// some is the payment service of one of the backends.
func (c *campaign) some() payments.Service { return c.on[rand.IntN(len(c.on))].Payments() }

// cards are numbers and how often each is used, of 20.
var cards = [...]struct {
	pan   string
	share int
}{
	{"4111111111111111", 12}, {"4000000000000002", 1}, {"4000000000001018", 1}, {"4000000000001034", 1}, {"4000000000001042", 1},
	{"4000000000001059", 2}, {"4000000000001067", 1}, {"4000000000001075", 1},
}

func pick(rng *rand.Rand) string {
	n := rng.IntN(20)
	for _, c := range cards {
		if n -= c.share; n < 0 {
			return c.pan
		}
	}
	return cards[0].pan
}

func (c *campaign) create(ctx context.Context, rng *rand.Rand) {
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: 1 + rng.Int32N(1000), CurrencyCode: []string{"EUR", "JPY", "KWD"}[rng.IntN(3)],
		Processing:  []string{"", payments.ProcessVerify, payments.ProcessAuthorize, payments.ProcessAuthorize, payments.ProcessSale}[rng.IntN(5)],
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(pick(rng)), ExpiryYear: 2090, ExpiryMonth: 1 + rng.Int32N(12), ValidationCode: "123"},
	}
	if rng.IntN(4) == 0 {
		req.Type, req.CardDetails, req.Processing = payments.ProviderHosted, nil, ""
	}
	twice(c, rng, "create", func(key wire.Key) (string, error) {
		out, err := c.some().Create(ctx, key, req)
		return out.PaymentID, err
	}, func(id string) {
		if _, known := c.all[id]; known {
			c.wrong = append(c.wrong, "payment id "+id+" was given twice")
		}
		c.all[id] = req.Amount
		c.open[rng.IntN(pool)] = id
	})
}

// twice makes a call under a fresh key, one time in four by two callers at once; both must get the same answer. keep runs
// once for a success, with the campaign locked.
func twice(c *campaign, rng *rand.Rand, kind string, call func(wire.Key) (string, error), keep func(string)) {
	key, n := wire.NewKey(), 1
	if rng.IntN(4) == 0 {
		n = 2
	}
	var ids [2]string
	var errs [2]error
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { ids[i], errs[i] = call(key) })
	}
	wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls += n
	c.asked["payments."+kind]++
	if n == 2 && (ids[0] != ids[1] || wire.CodeOf(errs[0]) != wire.CodeOf(errs[1]) || wire.ReasonOf(errs[0]) != wire.ReasonOf(errs[1])) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: one key, two answers: %v", kind, errs))
	}
	switch {
	case errs[0] == nil:
		keep(ids[0])
	case wire.CodeOf(errs[0]) == wire.Conflict:
		c.refused[wire.ReasonOf(errs[0])]++
	default:
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %v", kind, errs[0]))
	}
}

func (c *campaign) act(ctx context.Context, rng *rand.Rand) {
	c.mu.Lock()
	id := c.open[rng.IntN(pool)]
	whole := c.all[id]
	c.mu.Unlock()
	if id == "" {
		c.create(ctx, rng)
		return
	}
	kind := []string{"authorize", "authorize", "capture", "capture", "capture", "capture", "cancel", "refund", "refund", "refund"}[rng.IntN(10)]
	var part *int32
	if kind != "cancel" && rng.IntN(3) > 0 {
		n := 1 + rng.Int32N(whole+whole/4+1)
		part = &n
	}
	twice(c, rng, kind, func(key wire.Key) (string, error) {
		var d payments.Done
		var err error
		switch s := c.some(); kind {
		case "authorize":
			d, err = s.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: part})
		case "capture":
			d, err = s.Capture(ctx, key, id, payments.CaptureRequest{Amount: part})
		case "cancel":
			d, err = s.Cancel(ctx, key, id, payments.CancelRequest{})
		default:
			d, err = s.Refund(ctx, key, id, payments.RefundRequest{Amount: part})
		}
		return d.TransactionRef, err
	}, func(ref string) {
		a := answered{payment: id, ref: ref, kind: kind}
		if part != nil {
			a.amount = *part
		}
		c.done = append(c.done, a)
	})
}

// TestBooks runs N calls (2000, 500 in make test), then judges.
func TestBooks(t *testing.T) { judged(t, env.Number("N", need.Size(500, 2000)), 1, backend.Engine{}) }

// TestBooksOfTwoBackends does so with half as many calls of two backends on one PostgreSQL: callers with one key, captures and
// cancellations, and refunds of one payment meet in the database alone.
func TestBooksOfTwoBackends(t *testing.T) {
	url := pgtest.Open(t).Place()
	judged(t, env.Number("N", 2000)/2, 2, backend.Engine{Shared: true, Open: func(ctx context.Context, opt backend.StoreOptions) (store.Store, error) {
		return postgres.Open(ctx, postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: url, Steps: opt.Steps, Wrapper: opt.Wrapper})
	}})
}

func judged(t *testing.T, n, backends int, engine backend.Engine) {
	seed := env.Seed()
	ctx := t.Context()
	c := &campaign{all: map[string]int32{}, refused: map[string]int{}, asked: map[string]int{}}
	start, dir := time.Now(), t.TempDir()
	for range backends {
		b, err := backend.Open(ctx, backend.Config{
			Dir: dir, PublicURL: "http://127.0.0.1:1", Engine: engine, // a call takes a tenth of a second: refunds end and reservations lapse meanwhile
			Now: func() time.Time { return start.Add(time.Duration(c.tick.Load()) * 100 * time.Millisecond) },
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		c.on = append(c.on, b)
	}

	// Few calls may miss a refusal by chance: the campaign goes on until each was met, and one that cannot be met ends it.
	for round := uint64(0); round == 0 || round < 20 && len(c.unmet()) > 0; round++ {
		var left atomic.Int64
		left.Store(int64(n))
		var wg sync.WaitGroup
		for i := range callers {
			rng := rand.New(rand.NewPCG(seed, round*callers+uint64(i)))
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					c.tick.Add(1)
					if rng.IntN(8) == 0 {
						c.create(ctx, rng)
					} else {
						c.act(ctx, rng)
					}
				}
			})
		}
		wg.Wait()
	}
	took := time.Since(start)
	c.tick.Add(1_000_000)
	read := c.read(ctx)
	entries, err := c.on[0].Books(ctx)
	require.NoError(t, err)
	postings := c.judge(entries, read)

	for _, w := range c.wrong[:min(10, len(c.wrong))] {
		t.Errorf("seed %d: %s", seed, w)
	}
	t.Logf("seed %d: %d calls by %d callers in %v (%.0f/s), %d payments, %d operations answered, %d refused, %d postings, %d violations: at most %.1e per call at 95 %%",
		seed, c.calls, callers, took.Round(time.Millisecond), float64(c.calls)/took.Seconds(), len(c.all), len(c.done), total(c.refused), postings, len(c.wrong), 3/float64(c.calls))
	t.Logf("refused: %v", c.refused)
	require.Empty(t, c.unmet(), "the campaign never met these; a write of the service that it never makes belongs into act")
}

// unmet are the refusals and the writes of the service that no call has met yet.
func (c *campaign) unmet() (list []string) {
	for _, reason := range []string{
		payments.OverCharge, payments.NotReserved, payments.AlreadyReserved, payments.AlreadyCancelled, payments.AlreadyCharged,
		payments.ChargeNotFound, payments.InvalidRefundAmount, payments.HardDecline,
	} {
		if c.refused[reason] == 0 {
			list = append(list, reason)
		}
	}
	for _, i := range payments.Table().Infos() {
		if i.Write() && c.asked[i.Op] == 0 {
			list = append(list, i.Op)
		}
	}
	return list
}

func total(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// read asks for every payment, which lets what is due happen first.
func (c *campaign) read(ctx context.Context) map[string]payments.Payment {
	out := map[string]payments.Payment{}
	for id := range c.all {
		p, err := c.some().Read(ctx, id)
		if err != nil {
			c.note("read %s: %v", id, err)
		}
		out[id] = p
	}
	return out
}

// sums are what the postings of one payment come to, added up here.
type sums struct {
	account                        map[string]int64
	authorized, captured, refunded int64 // by the operations' own amounts
	cancelled                      bool
}

// judge adds the books up and holds them against what was answered and what is read; it gives the number of postings.
func (c *campaign) judge(entries []backend.Entry, read map[string]payments.Payment) (postings int) {
	byPayment, byRef := map[string]*sums{}, map[string]backend.Entry{}
	of := func(id string) *sums {
		if byPayment[id] == nil {
			byPayment[id] = &sums{account: map[string]int64{}}
		}
		return byPayment[id]
	}
	for _, e := range entries {
		id := e.Original
		if id == "" {
			id = e.ID
		}
		if _, known := byRef[e.ID]; known {
			c.note("id %s stands in the books twice", e.ID)
		}
		byRef[e.ID] = e
		s, zero := of(id), int64(0)
		for _, p := range e.Postings {
			postings++
			zero += int64(p.Amount)
			s.account[string(p.Account)] += int64(p.Amount)
		}
		if zero != 0 {
			c.note("%s %s sums to %d", e.Type, e.ID, zero)
		}
		switch {
		case e.Type == "authorize":
			s.authorized += int64(e.Amount)
		case e.Type == "capture":
			s.captured += int64(e.Amount)
		case e.Type == "cancel":
			s.cancelled = true
		case e.Type == "refund" && e.State == "done":
			s.refunded += int64(e.Amount)
		case e.Type == "refund" && e.State == "pending":
			c.note("refund %s is still under way", e.ID)
		}
	}
	for id, whole := range c.all {
		s, p := of(id), read[id].Summary
		if s.authorized > int64(whole) || s.captured > s.authorized || s.refunded > s.captured || s.cancelled && s.captured != 0 {
			c.note("%s over %d: %+v", id, whole, *s)
		}
		if s.account["merchant"] != s.captured-s.refunded || s.account["returning"] != 0 || s.account["reserved"] < 0 ||
			s.account["consumer"]+s.account["merchant"]+s.account["reserved"] != 0 {
			c.note("%s: accounts %v, operations %+v", id, s.account, *s)
		}
		if int64(p.PaymentAmount) != int64(whole) || int64(p.CapturedAmount) != s.captured || int64(p.RefundedAmount) != s.refunded ||
			int64(p.AuthorizedAmount) != s.account["reserved"]+s.captured {
			c.note("%s is read as %+v, the books have %+v", id, p, *s)
		}
	}
	seen := map[string]bool{}
	for _, a := range c.done {
		e, ok := byRef[a.ref]
		if !ok || e.Original != a.payment || e.Type != a.kind || a.amount != 0 && int64(e.Amount) != int64(a.amount) || seen[a.ref] {
			c.note("answered %+v, the books have %+v", a, e)
		}
		seen[a.ref] = true
	}
	for _, e := range entries { // a create with processing makes operations of its own
		if e.Original != "" && !seen[e.ID] && (e.Type == "cancel" || e.Type == "refund") {
			c.note("nobody was answered %s %s", e.Type, e.ID)
		}
	}
	return postings
}
