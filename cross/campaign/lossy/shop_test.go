package lossy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/referee"
	"posagent/schemes/backend"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// clients write at once.
const clients = 16

// call is one write of a local client, repeated under its key until it is answered.
type call struct {
	key      wire.Key
	kind     string
	about    *call // the create of the payment or link it is about
	amount   int32
	process  string                                         // of a create
	bare     bool                                           // a link's, sent without its Key
	txn      int64                                          // of a link's customer, 0 = he has not paid
	touched  bool                                           // something was done to it
	do       func() (id string, p *wire.Pending, err error) // the id it is known by: of what was made, or of the effect
	first    string                                         // the first id it was answered with
	id       string                                         // the backend's own, at the end
	refused  wire.Code
	accepted bool // stored before it was sent
}

// campaign is one run.
type campaign struct {
	t       *testing.T
	link    *link
	backend *backend.Backend
	dir     string
	db      store.Journal
	front   *gateway.Front
	box     *outbox.Outbox
	pay     payments.Service
	tok     tokens.Service
	links   paylinks.Links
	txns    paylinks.Transactions

	mu     sync.Mutex
	calls  []*call
	asked  int
	wrong  []string
	stored int
	twice  int // links made once too often, of those that were sent without a Key
}

func (c *campaign) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// open starts a backend, the way to it, and a terminal's front and outbox.
func open(t *testing.T, seed uint64, keyless bool) (*campaign, func()) {
	never := -time.Second
	c := &campaign{t: t, dir: t.TempDir()}
	var err error
	c.backend, err = backend.Open(t.Context(), backend.Config{Dir: c.dir, Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:1", Hosts: []string{"backend.test"}})
	require.NoError(t, err)
	watch := referee.New(referee.Rules{})
	c.link = &link{to: wiretest.Direct(watch.Backend(c.backend.Handler())), referee: watch, keyless: keyless, rng: rand.New(rand.NewPCG(seed, 1)), good: true}
	// A crash is the business of other campaigns: what is not flushed is not lost here.
	c.db, err = sqlite.Open(t.Context(), sqlite.Options{
		Path: t.TempDir() + "/agent.db", Steps: append(outbox.Schema(), gateway.Schema()...), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF",
	})
	require.NoError(t, err)
	links := linkClient(c.link)
	c.front = gateway.NewFront(gateway.Options{
		DB: c.db, Limits: gateway.Limits{Count: 1 << 40}, Links: links.Links(), Transactions: links.Transactions(),
		Payments: &payments.Client{BaseURL: "http://backend.test", Doer: c.link}, Tokens: &tokens.Client{BaseURL: "http://backend.test", Doer: c.link},
	})
	begin := time.Now()
	c.box = outbox.NewOutbox(outbox.Options{DB: c.db, Kinds: c.front.Kinds(), Watch: c.front.Watch, Boot: func() time.Duration { return time.Since(begin) }})
	c.front.Attach(c.box)
	c.pay, c.tok, c.links, c.txns = c.front.Payments(), c.front.Tokens(), c.front.Links(), c.front.Transactions()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- c.box.Run(ctx) }()
	go func() { done <- c.front.Run(ctx) }()
	<-time.After(time.Second) // its services are proven
	c.link.mu.Lock()
	c.link.good = false
	c.link.mu.Unlock()
	go c.link.flap(ctx)
	return c, func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		c.link.wg.Wait()
		require.NoError(t, c.db.Close())
		require.NoError(t, c.backend.Close())
	}
}

const (
	visa     = "4111111111111111"
	declined = "4000000000000002"
)

// client writes n times.
func (c *campaign) client(ctx context.Context, who, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, uint64(100+who)))
	ctx = wire.WithClient(ctx, fmt.Sprint("till", who))
	var made, links, stored []*call
	for i := range n {
		x := &call{key: wire.Key(fmt.Sprintf("till-%d-%d", who, i))}
		switch p := rng.IntN(100); {
		case p < 22 || len(made) == 0:
			c.create(ctx, rng, x)
		case p < 32:
			c.createLink(ctx, rng, x)
		case p < 55 && len(links) > 0:
			c.onLink(ctx, rng, x, links[rng.IntN(len(links))])
		case p < 65:
			c.tokenize(ctx, rng, x, stored)
		default:
			c.operate(ctx, rng, x, made[rng.IntN(len(made))])
		}
		c.ask(rng, x)
		if x.kind == gateway.KindPaymentCreate && x.refused == "" {
			if made = append(made, x); len(made) > 8 {
				made = made[1:]
			}
		}
		if x.kind == gateway.KindLinkCreate && x.refused == "" {
			if links = append(links, x); len(links) > 4 {
				links = links[1:]
			}
		}
		if (x.kind == gateway.KindTokenCreate || x.kind == gateway.KindTokenRecurring) && x.refused == "" {
			if stored = append(stored, x); len(stored) > 4 {
				stored = stored[1:]
			}
		}
		<-time.After(time.Duration(rng.IntN(4000)) * time.Millisecond)
	}
}

// tokenize stores a card, or the terms of a recurring payment, or has the bank asked about one of those that were stored.
func (c *campaign) tokenize(ctx context.Context, rng *rand.Rand, x *call, stored []*call) {
	what := rng.IntN(3)
	if what == 2 && len(stored) > 0 {
		x.kind, x.about = gateway.KindTokenVerify, stored[rng.IntN(len(stored))]
		id := x.about.first
		x.do = func() (string, *wire.Pending, error) {
			out, err := c.tok.Verify(ctx, x.key, id)
			return out.TokenizationID, out.Operation, err
		}
		return
	}
	if what == 1 {
		x.kind = gateway.KindTokenRecurring
		req := tokens.RecurringRequest{RecurringType: tokens.CardOnFile, Amount: 100 + rng.Int32N(900), CurrencyCode: "EUR", OrderNumber: string(x.key)}
		x.do = func() (string, *wire.Pending, error) {
			out, err := c.tok.CreateRecurring(ctx, x.key, req)
			return out.TokenizationID, out.Operation, err
		}
		return
	}
	x.kind = gateway.KindTokenCreate
	card := tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}
	if rng.IntN(10) == 0 {
		card.PAN = wire.NewPAN(declined) // which its bank says when it is asked
	}
	req := tokens.CreateRequest{Description: "stored", CardDetails: &card}
	x.do = func() (string, *wire.Pending, error) {
		out, err := c.tok.Create(ctx, x.key, req)
		return out.TokenizationID, out.Operation, err
	}
}

func (c *campaign) create(ctx context.Context, rng *rand.Rand, x *call) {
	x.kind, x.amount = gateway.KindPaymentCreate, 1+rng.Int32N(1000)
	x.process = []string{payments.ProcessNone, payments.ProcessVerify, payments.ProcessAuthorize, payments.ProcessAuthorize, payments.ProcessSale}[rng.IntN(5)]
	card := payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}
	if rng.IntN(20) == 0 {
		card.PAN = wire.NewPAN(declined)
	}
	if rng.IntN(30) == 0 {
		card.ValidationCode = "123" // never stored: answered now, or asked again
	}
	req := payments.CreateRequest{Type: payments.Moto, Amount: x.amount, CurrencyCode: "EUR", Processing: x.process, CardDetails: &card}
	x.do = func() (string, *wire.Pending, error) {
		out, err := c.pay.Create(ctx, x.key, req)
		return out.PaymentID, out.Operation, err
	}
}

func (c *campaign) operate(ctx context.Context, rng *rand.Rand, x, about *call) {
	const authorize, capture, cancel, refund = gateway.KindPaymentAuthorize, gateway.KindPaymentCapture, gateway.KindPaymentCancel, gateway.KindPaymentRefund
	likely := map[string][]string{ // mostly what the payment is ready for
		payments.ProcessAuthorize: {capture, capture, capture, capture, cancel, refund, refund}, payments.ProcessSale: {refund, refund, refund, refund, capture, cancel},
	}[about.process]
	if likely == nil {
		likely = []string{authorize, authorize, authorize, capture, capture, cancel, refund}
	}
	x.about, x.kind = about, likely[rng.IntN(len(likely))]
	if x.kind != cancel {
		x.amount = 1 + rng.Int32N((about.amount+1)/2)
	}
	amount, id := &x.amount, about.first
	x.do = func() (string, *wire.Pending, error) {
		var d payments.Done
		var err error
		switch x.kind {
		case gateway.KindPaymentAuthorize:
			d, err = c.pay.Authorize(ctx, x.key, id, payments.AuthorizeRequest{Amount: amount})
		case gateway.KindPaymentCapture:
			d, err = c.pay.Capture(ctx, x.key, id, payments.CaptureRequest{Amount: amount})
		case gateway.KindPaymentCancel:
			d, err = c.pay.Cancel(ctx, x.key, id, payments.CancelRequest{})
		default:
			d, err = c.pay.Refund(ctx, x.key, id, payments.RefundRequest{Amount: amount})
		}
		return d.TransactionRef, d.Operation, err
	}
}

// ask repeats a call until it is acknowledged or refused; now and then once more, as a client does that lost the answer.
func (c *campaign) ask(rng *rand.Rand, x *call) {
	more := rng.IntN(10) == 0
	for {
		id, pending, err := x.do()
		c.mu.Lock()
		c.asked++
		c.mu.Unlock()
		switch code := wire.CodeOf(err); {
		case err == nil && x.first == "":
			x.first, x.accepted = id, pending != nil
		case err == nil && x.accepted && pending != nil && id != x.first:
			c.note("%s %s: stored as %s, then as %s", x.kind, x.key, x.first, id)
		case err == nil && !x.accepted && id != x.first:
			c.note("%s %s: answered %s, then %s", x.kind, x.key, x.first, id)
		case err == nil:
		case code == wire.Unavailable || code == wire.UnknownOutcome || code == wire.TooMany:
			if x.first != "" && !x.accepted {
				c.note("%s %s: answered %s, then %v", x.kind, x.key, x.first, err)
			}
			<-time.After(time.Duration(1+rng.IntN(20_000)) * time.Millisecond)
			continue
		default:
			if x.first != "" && !x.accepted {
				c.note("%s %s: answered %s, then refused: %v", x.kind, x.key, x.first, err)
			}
			x.refused = code
		}
		if !more {
			break
		}
		more = false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.accepted {
		c.stored++
	}
	c.calls = append(c.calls, x)
}
