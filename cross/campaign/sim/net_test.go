package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// network is the line to the backend, and what stands in it.
type network struct {
	w    *world
	down bool
}

// fate is what becomes of one call. Nothing of it depends on the terminal living on.
type fate struct {
	effect time.Duration // when the backend sees it; < 0 never
	again  time.Duration // when it sees it once more; < 0 never
	answer time.Duration // when the caller knows
	err    error         // instead of the backend's answer
}

// slowest is the latest a lost request may still arrive. The window of an undo is longer.
const slowest = 90 * time.Second

// draw decides the fate of a call whose caller waits for limit.
func (n *network) draw(limit time.Duration, write bool) fate {
	w := n.w
	f := fate{effect: w.exp(40*time.Millisecond, limit), again: -1}
	f.answer = f.effect + w.exp(60*time.Millisecond, limit)
	lost := wire.UnknownOutcome
	if !write {
		lost = wire.Unavailable
	}
	never := func(code wire.Code) { f.effect, f.err = -1, wire.Errorf(code, "net", "%s", code) }
	unsent := func() {
		f.effect, f.err = -1, &wire.Error{Code: wire.Unavailable, Op: "net", Msg: unconnected, Unsent: write}
	}
	switch {
	case n.down && w.rng.IntN(4) > 0:
		unsent()
		f.answer = w.exp(time.Second, limit)
	case n.down:
		never(lost)
		f.answer = limit
	case w.hit(w.odds.net):
		w.stats.Lost++
		switch w.rng.IntN(3) {
		case 0: // on the way there
			never(lost)
			f.answer = w.between(0, limit)
		case 1: // on the way back
			f.answer = f.effect + w.between(0, limit-f.effect)
			f.err = wire.Errorf(lost, "net", "no answer")
		default:
			unsent()
		}
	case w.hit(w.odds.late):
		f.effect, f.answer = w.between(0, slowest), limit
		f.err = wire.Errorf(lost, "net", "timeout")
	case w.hit(w.odds.bad):
		code := []wire.Code{wire.Internal, wire.Unavailable, wire.TooMany, wire.Forbidden, wire.Unauthorized}[w.rng.IntN(5)]
		never(code)
		if code == wire.TooMany {
			f.err = &wire.Error{Code: code, Op: "net", Msg: "slow down", RetryAfter: w.between(0, 20*time.Second)}
		}
	case w.hit(w.odds.bad): // 5xx or rubbish after the effect
		f.err = wire.Errorf([]wire.Code{wire.Internal, lost}[w.rng.IntN(2)], "net", "rubbish")
	}
	if f.effect >= 0 && w.hit(w.odds.twice) {
		f.again = f.effect + w.between(0, slowest)
	}
	if f.err == nil && f.answer > limit {
		f.answer, f.err = limit, wire.Errorf(lost, "net", "timeout")
	}
	return f
}

// unconnected is what a call that never left comes to.
const unconnected = "no connection"

// leaves says that a call has left the terminal.
func (f fate) leaves() bool {
	var e *wire.Error
	return !errors.As(f.err, &e) || e.Msg != unconnected
}

// The texts that the referee reads: what it judges of a request and of the answers, and no more, because days are many.
func textOf(req aapay.Request) []byte {
	return fmt.Appendf(nil, `{"terminalReference":%q,"originalReference":%q,"amount":%d}`, req.TerminalReference, req.OriginalReference, req.PurchaseAmount.TotalAmount)
}

func textOfReply(r aapay.Reply) []byte {
	if r.Response == nil || r.Response.NAA2ECR == nil {
		return []byte("{}")
	}
	return fmt.Appendf(nil, `{"naa2Ecr":{"ppref":%q}}`, r.Response.NAA2ECR.PPRef)
}

func textOfStatus(st aapay.Status) []byte {
	return fmt.Appendf(nil, `{"transactionId":%d,"state":%q,"accountState":%q}`, st.TransactionID, st.State, st.AccountState)
}

// left shows the referee a request that leaves; heard is for the answer that the terminal gets.
func (w *world) left(method, path string, key wire.Key, body []byte) (heard func(status int, answer []byte)) {
	r := &http.Request{Method: method, URL: &url.URL{Path: aapay.Prefix + path}, Header: http.Header{}}
	if key != "" {
		r.Header.Set(wire.KeyHeader, string(key))
	}
	return w.referee.Left(r, body)
}

// leftWith shows the referee an initialize.
func (w *world) leftWith(typ aapay.Type, key wire.Key, req aapay.Request) (heard func(status int, answer []byte)) {
	verb := "/initializeWithIdempotency"
	if key == "" {
		verb = "/initialize"
	}
	return w.left(http.MethodPost, strings.ToLower(string(typ))+verb, key, textOf(req))
}

// call makes a call; left is called where it leaves, and back is given the backend's answer, or why there is none.
func call[T any](n *network, limit time.Duration, write bool, left func(), do func() (T, error), back func(T, error)) {
	f := n.draw(limit, write)
	if f.leaves() {
		left()
	}
	var got T
	var err error
	if f.effect >= 0 {
		n.w.after(f.effect, func() { got, err = do() })
	}
	if f.again >= 0 && write {
		n.w.after(f.again, func() { _, _ = do() })
	}
	n.w.after(f.answer, func() {
		if f.err != nil {
			var none T
			back(none, f.err)
			return
		}
		back(got, err)
	})
}

// direct is the backend for the sender of undos, which asks and answers in one step: what takes time is what follows.
type direct struct {
	n    *network
	sale int64
	took time.Duration
}

var _ aapay.Service = (*direct)(nil)

func through[T any](d *direct, write bool, left func(), do func() (T, error)) (T, error) {
	f := d.n.draw(10*time.Second, write)
	if f.leaves() {
		left()
	}
	d.took += f.answer
	var got T
	var err error
	switch {
	case f.effect > time.Second:
		d.n.w.after(f.effect, func() { _, _ = do() })
	case f.effect >= 0:
		got, err = do()
	}
	if f.again >= 0 && write {
		d.n.w.after(f.again, func() { _, _ = do() })
	}
	if f.effect > time.Second && f.err == nil {
		f.err = wire.Errorf(wire.UnknownOutcome, "net", "slow")
	}
	if f.err != nil {
		var none T
		return none, f.err
	}
	return got, err
}

// Initialize implements aapay.Service.
func (d *direct) Initialize(_ context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	left := func() { d.n.w.leftWith(typ, "", req) }
	return through(d, true, left, func() (aapay.Reply, error) { return d.n.w.bank.initialize("", typ, req, d.sale) })
}

// InitializeWithIdempotency implements aapay.Service.
func (d *direct) InitializeWithIdempotency(_ context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	left := func() { d.n.w.leftWith(typ, key, req) }
	return through(d, true, left, func() (aapay.Reply, error) { return d.n.w.bank.initialize(key, typ, req, d.sale) })
}

// Status implements aapay.Service.
func (d *direct) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	st, err := through(d, false, func() {}, func() (aapay.Status, error) { return d.n.w.bank.status(id) }) // its time is not that of the wire
	if err == nil {
		d.n.w.referee.Heard(id, textOfStatus(st))
	}
	return st, err
}

func minutes(n int32) *int32 { return &n }

// catalogue is what the merchant offers: methods with everything, without reversal, with words that approve.
var catalogue = []methods.Definition{
	{Name: "SWISH_E_COM", Trigger: []methods.Trigger{methods.QR}, MeanDelay: 10, StaleTimeOut: minutes(5), FinalizeTimeOut: minutes(5),
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		OKCodes:          []methods.OKCode{{Type: methods.Reversal, Value: "REVERSED"}}},
	{Name: "TWINT", DelayedAmount: 1, Trigger: []methods.Trigger{methods.QR}, MeanDelay: 5, StaleTimeOut: minutes(1), FinalizeTimeOut: minutes(2),
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
		OKCodes:          []methods.OKCode{{Type: methods.Payment, Value: "PAID"}, {Type: methods.Reversal, Value: "REVERSED"}}},
	{Name: "BLUECODE", Trigger: []methods.Trigger{methods.QR}, MeanDelay: 2, StaleTimeOut: minutes(2), FinalizeTimeOut: minutes(1),
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund}},
	{Name: "VIPPS", Trigger: []methods.Trigger{methods.QR}, MeanDelay: 20, StaleTimeOut: minutes(1), FinalizeTimeOut: minutes(1),
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		OKCodes: []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}, {Type: methods.Payment, Value: "PAID"},
			{Type: methods.Reversal, Value: "REVERSED"}}},
	{Name: "SANTANDER", Trigger: []methods.Trigger{methods.Manual}, MeanDelay: 10, StaleTimeOut: minutes(5), FinalizeTimeOut: minutes(5), DelayedAmount: 1,
		Queries:          []map[string]methods.QueryPrompt{{"7": {Label: "Personal number", Min: 6, Max: 20}}, {"8": {Label: "Months", Min: 1, Max: 2}}},
		TxnQueryFlow:     []methods.QueryFlow{{TransactionType: methods.Payment, QueryIDs: []int32{7, 8}, Triggers: []methods.Trigger{methods.Manual}}},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		OKCodes:          []methods.OKCode{{Type: methods.Reversal, Value: "REVERSED"}}},
}

func methodNamed(name string) methods.Definition {
	for _, d := range catalogue {
		if d.Name == name {
			return d
		}
	}
	panic("no method " + name)
}
