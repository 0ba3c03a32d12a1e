package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// Amounts name sales and tokens in the database: each is of one only, but for declines, whose amount is that of the row in the backend's
// table of scenarios on which the customer declines.
const (
	firstAmount   = 1_000_000
	amountsOfTill = 10_000
	customerNo    = 90003
)

const (
	visa         = "4111111111111111"
	declinedCard = "4000000000000002"
)

// till is the cashier and the shop's software at one terminal. It asks again under the same name until it has a definite answer.
type till struct {
	*terminal
	told  *told
	rng   *rand.Rand
	think time.Duration // on average, between two things
	sales int
	write int

	wrote []*written
	fault func(format string, args ...any)
}

// written is one write of the shop's software.
type written struct {
	record
	do    func(ctx context.Context, l *life) (id string, stored bool, err error)
	id    string // as the software knows what was made
	state string
}

// trade sells and writes until closing, and finishes what it has begun.
func (x *till) trade(ctx context.Context, closing <-chan struct{}) {
	var uncaptured []*written
	for {
		select {
		case <-closing:
			return
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(x.rng.Int64N(int64(2*x.think) + 1))):
		}
		if chance(x.rng, 50) {
			x.sell(ctx)
			continue
		}
		w := &written{record: record{Till: x.n, What: "write", Ref: fmt.Sprintf("t%d-w%d", x.n, x.write)}}
		x.write++
		switch p := x.rng.IntN(10); {
		case p < 4 && len(uncaptured) > 0:
			x.capture(w, uncaptured[0])
			uncaptured = uncaptured[1:]
		case p < 7:
			x.card(w)
		case p < 8:
			x.token(w)
		default:
			x.link(w)
		}
		x.ask(ctx, w)
		if w.Kind == gateway.KindPaymentCreate && w.state != refused {
			uncaptured = append(uncaptured, w)
		}
	}
}

// note writes a line down.
func (x *till) note(r record, said string) {
	r.Said = said
	if err := x.told.write(r); err != nil {
		x.fault("till %d cannot write down what it was told: %v", x.n, err)
	}
}

// amount is that of the nth thing of the till.
func (x *till) amount(n int) int64 { return firstAmount + int64(x.n)*amountsOfTill + int64(n) }

// sell asks for one sale and writes down what it was told.
func (x *till) sell(ctx context.Context) {
	r := record{Till: x.n, What: "sale", Ref: fmt.Sprintf("t%d-s%d", x.n, x.sales), Amount: x.amount(x.sales)}
	x.sales++
	if chance(x.rng, 4) {
		r.Amount = customerNo
	}
	habit := x.rng.IntN(100) // 0-4 aborts, 5-8 refuses the approval, 9-11 dies before it hears
	x.note(r, begun)
	x.note(r, x.settle(ctx, r, habit))
}

// settle asks until the answer is definite, and returns it.
func (x *till) settle(ctx context.Context, r record, habit int) string {
	for accepted := false; ; {
		l, err := x.alive(ctx)
		if err != nil {
			return begun
		}
		sale, err := l.drive.Begin(ctx, ecr.Request{Kind: ecr.Payment, Line: "till", Sequence: r.Ref, Amount: money.Minor(r.Amount), Progress: true})
		var no *ecr.Refusal
		switch {
		case errors.As(err, &no) && !accepted && (no.Code == ecr.NoMethod || no.Code == ecr.NotReady || no.Code == ecr.Busy || no.Code == ecr.NoConnection):
			return refused
		case err != nil:
			if !pause(ctx, 200*time.Millisecond) {
				return begun
			}
			continue
		}
		accepted = true
		said, ok := x.hear(ctx, l, sale, habit)
		if ok {
			return said
		}
		habit = 100
	}
}

// hear waits for an outcome and acknowledges it; false = the process was lost meanwhile.
func (x *till) hear(ctx context.Context, l *life, sale ecr.Sale, habit int) (said string, ok bool) {
	var impatient <-chan time.Time
	if habit < 5 {
		impatient = time.After(time.Duration(habit) * 700 * time.Millisecond)
	}
	for {
		select {
		case <-ctx.Done():
			return begun, true
		case <-l.gone:
			return "", false
		case <-impatient:
			_ = l.drive.Abort(ctx, sale.ID) // the outcome says what came of it
			impatient = nil
		case o, told := <-sale.Outcome:
			switch {
			case !told:
				return "", false
			case o.Result == ecr.Approved && habit >= 5 && habit < 9:
				if _, err := l.drive.Delivered(ctx, sale.ID, ecr.Refused); err != nil {
					return "", false
				}
				return givenBack, true
			case o.Result == ecr.Approved && habit >= 9 && habit < 12:
				_, _ = l.drive.Delivered(ctx, sale.ID, ecr.Lost) // not to know is not to hear, too
				return notHeard, true
			}
			o, err := l.drive.Delivered(ctx, sale.ID, ecr.Told)
			if err != nil {
				return "", false
			}
			switch o.Result {
			case ecr.Approved:
				return approved, true
			case ecr.Declined:
				return declined, true
			case ecr.Aborted:
				return aborted, true
			}
			x.fault("till %d: a payment ends %s", x.n, o.Result)
			return string(o.Result), true
		}
	}
}

// card has a card authorised, whose payment is captured later.
func (x *till) card(w *written) {
	w.Kind, w.Amount = gateway.KindPaymentCreate, 100+x.rng.Int64N(80_000)
	details := payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}
	if chance(x.rng, 4) {
		details.PAN = wire.NewPAN(declinedCard)
	}
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: int32(w.Amount), CurrencyCode: "EUR", Processing: payments.ProcessAuthorize, CardDetails: &details, ReconciliationReference: w.Ref,
	}
	w.do = func(ctx context.Context, l *life) (string, bool, error) {
		out, err := l.front.Payments().Create(ctx, wire.Key(w.Ref), req)
		return out.PaymentID, out.Operation != nil, err
	}
}

// capture takes the whole of an authorised payment.
func (x *till) capture(w, of *written) {
	w.Kind, w.About, w.Amount = gateway.KindPaymentCapture, of.Ref, of.Amount
	amount := int32(of.Amount)
	w.do = func(ctx context.Context, l *life) (string, bool, error) {
		out, err := l.front.Payments().Capture(ctx, wire.Key(w.Ref), of.id, payments.CaptureRequest{Amount: &amount})
		return out.TransactionRef, out.Operation != nil, err
	}
}

// token stores the terms of recurring payments, whose amount names them in the database.
func (x *till) token(w *written) {
	w.Kind, w.Amount = gateway.KindTokenRecurring, x.amount(x.write)
	req := tokens.RecurringRequest{RecurringType: tokens.CardOnFile, Amount: int32(w.Amount), CurrencyCode: "EUR", OrderNumber: w.Ref}
	w.do = func(ctx context.Context, l *life) (string, bool, error) {
		out, err := l.front.Tokens().CreateRecurring(ctx, wire.Key(w.Ref), req)
		return out.TokenizationID, out.Operation != nil, err
	}
}

// link makes a payment link.
func (x *till) link(w *written) {
	w.Kind, w.Amount = gateway.KindLinkCreate, 100+x.rng.Int64N(900)
	req := paylinks.CreateRequest{Title: "Fleet", Description: "Thank you", ReferenceID: w.Ref, Purpose: "Order", Amount: w.Amount, Currency: "EUR"}
	w.do = func(ctx context.Context, l *life) (string, bool, error) {
		out, err := l.front.Links().Create(ctx, wire.Key(w.Ref), req)
		return strconv.FormatInt(out.ID, 10), out.Operation != nil, err
	}
}

// ask repeats a write under its key until it is done, stored or refused, and writes that down.
func (x *till) ask(ctx context.Context, w *written) {
	x.wrote = append(x.wrote, w)
	x.note(w.record, begun)
	w.state = x.answer(ctx, w)
	if w.state != "" {
		x.note(w.record, w.state)
	}
}

// answer repeats a write until its answer is definite; "" = ctx has ended.
func (x *till) answer(ctx context.Context, w *written) string {
	for {
		l, err := x.alive(ctx)
		if err != nil {
			return ""
		}
		id, later, err := w.do(wire.WithClient(ctx, "shop"), l)
		var known *wire.Error
		switch {
		case err == nil:
			w.id = id
			if later {
				return stored
			}
			return done
		case errors.As(err, &known) && (known.Code == wire.Conflict || known.Code == wire.NotFound || known.Code == wire.Invalid):
			return refused
		}
		if !pause(ctx, 200*time.Millisecond) {
			return ""
		}
	}
}

// end asks for what became of each write that was stored, and writes it down.
func (x *till) end(ctx context.Context) {
	for _, w := range x.wrote {
		if w.state != stored {
			continue
		}
		if got := x.answer(ctx, w); got != "" {
			w.state = got
			x.note(w.record, got)
		}
	}
}
