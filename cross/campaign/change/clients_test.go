package change

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"posagent/cross/need"
	"posagent/cross/tills"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// write is what a local client asked for under a key of its own, and what it was told of it.
type write struct {
	step   int
	kind   string // pay, refund, link, refund of a link
	key    wire.Key
	amount int64
	about  *write
	do     func(ctx context.Context) (id string, pending *wire.Pending, err error)

	busy    bool
	retired bool   // its client does not ask for it any more
	id      string // the backend's own, once it was told
	hash    string // of a link
	done    bool
	refused bool
	paid    bool // the customer of a link has paid it
	text    string
}

func (x *write) String() string {
	return fmt.Sprintf("step %d, client's %s under %s, %s: done %v as %q, refused %v, paid %v, %.300s", x.step, x.kind, x.key, spelled(x.amount), x.done, x.id, x.refused, x.paid, x.text)
}

// caller is the way to the local port.
type caller struct{ w *world }

// Do implements wire.Doer.
func (c caller) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), need.Limit())
	defer cancel()
	r = r.WithContext(ctx)
	r.Close = true
	if !strings.HasPrefix(r.URL.Path, paylinks.Prefix) && !strings.HasPrefix(r.URL.Path, paylinks.ShortPrefix) { // those are signed
		r.Header.Set("Authorization", "Bearer "+tills.Token)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

func (w *world) clients() (*payments.Client, *paylinks.Client) {
	at := "http://" + w.at(httpPort)
	return &payments.Client{BaseURL: at, Doer: caller{w}}, &paylinks.Client{BaseURL: at, Instance: "demo", Secret: wire.Secret(tills.Token), Doer: caller{w}}
}

// write lets a client write something, on what was made before where there is any.
func (w *world) write(ctx context.Context, step int, e event) {
	pay, links := w.clients()
	x := &write{step: step, key: wire.Key(fmt.Sprintf("w-%d-%d", w.run%1000, step)), amount: int64(2000_00 + 100*step + e.b%90), busy: true}
	w.mu.Lock()
	var of []*write
	for _, y := range w.writes {
		if y.done && !y.retired && y.about == nil && (y.kind == "pay" || y.paid) {
			of = append(of, y)
		}
	}
	w.mu.Unlock()
	switch kind := e.a % 5; {
	case kind < 2 && len(of) > 0:
		x.about = of[e.c%len(of)]
		x.amount = int64(1 + e.b%100)
		about := x.about
		if about.kind == "pay" {
			amount := int32(x.amount)
			x.kind, x.do = "refund", func(ctx context.Context) (string, *wire.Pending, error) {
				d, err := pay.Refund(ctx, x.key, about.id, payments.RefundRequest{Amount: &amount})
				return d.TransactionRef, d.Operation, err
			}
		} else {
			x.kind, x.do = "refund of a link", func(ctx context.Context) (string, *wire.Pending, error) {
				id, err := w.transaction(ctx, links, about)
				if err != nil {
					return "", nil, err
				}
				d, err := links.Transactions().Refund(ctx, x.key, id, paylinks.RefundRequest{Amount: &x.amount})
				return strconv.FormatInt(d.ID, 10), d.Operation, err
			}
		}
	case kind < 3:
		card := payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}
		req := payments.CreateRequest{Type: payments.Moto, Amount: int32(x.amount), CurrencyCode: "EUR", Processing: payments.ProcessSale, CardDetails: &card}
		x.kind, x.do = "pay", func(ctx context.Context) (string, *wire.Pending, error) {
			out, err := pay.Create(ctx, x.key, req)
			return out.PaymentID, out.Operation, err
		}
	default:
		req := paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: string(x.key), Purpose: "Order", Amount: x.amount, Currency: "EUR"}
		x.kind, x.do = "link", func(ctx context.Context) (string, *wire.Pending, error) {
			out, err := links.Links().Create(ctx, x.key, req)
			if err == nil && out.Operation == nil && out.Hash != nil {
				x.hash = *out.Hash
			}
			return strconv.FormatInt(out.ID, 10), out.Operation, err
		}
	}
	w.mu.Lock()
	w.writes = append(w.writes, x)
	w.mu.Unlock()
	w.ask(ctx, x)
	if x.kind == "link" && x.done && e.c%3 > 0 {
		w.payLink(ctx, x)
	}
	w.mu.Lock()
	x.busy = false
	w.mu.Unlock()
}

// rewrite repeats an earlier write under its key.
func (w *world) rewrite(ctx context.Context, e event) {
	w.mu.Lock()
	var of []*write
	for _, x := range w.writes {
		if !x.busy && !x.retired {
			of = append(of, x)
		}
	}
	w.mu.Unlock()
	if len(of) > 0 {
		w.ask(ctx, of[e.a%len(of)])
	}
}

// ask asks once, or again under the same key.
func (w *world) ask(ctx context.Context, x *write) {
	id, pending, err := x.do(ctx)
	code := wire.CodeOf(err)
	w.note("client's %s %s %s: %s, pending %+v, %v %v", x.kind, x.key, spelled(x.amount), id, pending, code, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch x.text = fmt.Sprintf("%+v %v", pending, err); {
	case err == nil && pending == nil && id != "" && id != "0":
		if x.done && x.id != id {
			w.wrong = append(w.wrong, fmt.Sprintf("answered %s, then %s: %v", x.id, id, x))
		}
		if x.refused {
			w.wrong = append(w.wrong, fmt.Sprintf("refused, then done: %v", x))
		}
		x.id, x.done = id, true
	case x.done && (code == wire.NotFound || code == wire.Invalid):
		w.wrong = append(w.wrong, fmt.Sprintf("done, then refused: %v", x))
	case code == wire.Invalid || code == wire.NotFound || code == wire.Conflict || code == wire.KeyReused:
		x.refused = !x.done
	}
}

// transaction is what the customer of a link paid.
func (w *world) transaction(ctx context.Context, links *paylinks.Client, x *write) (int64, error) {
	id, err := strconv.ParseInt(x.id, 10, 64)
	if err != nil {
		return 0, err
	}
	l, err := links.Links().Read(ctx, id)
	if err != nil {
		return 0, err
	}
	if len(l.Invoices) == 0 || len(l.Invoices[0].Transactions) == 0 {
		return 0, wire.Errorf(wire.Unavailable, "read", "the link has no transaction yet")
	}
	return l.Invoices[0].Transactions[0].ID, nil
}

// payLink lets the customer of a link pay it, over a network of his own, where he finds it.
func (w *world) payLink(ctx context.Context, x *write) {
	for i := range w.sites {
		at, err := w.site(i)
		if err != nil {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/pay/"+x.hash+"/pay", http.NoBody)
		if err != nil {
			continue
		}
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		w.note("the customer of %s pays at %d: %s", x.key, i, resp.Status)
		if resp.StatusCode == http.StatusOK {
			w.mu.Lock()
			x.paid = true
			w.mu.Unlock()
			return
		}
	}
}

// finish repeats a write until it is at its end, or a person has to look; the technician does not wait until it is time.
func (w *world) finish(ctx context.Context, x *write) {
	for i := range 8 {
		if x.retired {
			return
		}
		w.ask(ctx, x)
		if x.done || x.refused || !pass(ctx, time.Duration(50+50*i)*time.Millisecond) {
			return
		}
		if i%3 == 2 {
			_, _ = w.verb("ops", "send", "--all", "--wait", "1s")
		}
	}
}
