package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// The kinds of the payments' writes.
const (
	KindPaymentCreate    = "payments.create"
	KindPaymentAuthorize = "payments.authorize"
	KindPaymentCapture   = "payments.capture"
	KindPaymentCancel    = "payments.cancel"
	KindPaymentRefund    = "payments.refund"
)

const cardRisk = "accepted offline: the payment may still be declined, and the merchant bears the risk"

// paymentRows are the payments' part of the table. Without Keys a card payment that may have been made is in doubt; one that
// waits for its customer is made again.
func paymentRows() []Row {
	const made, moved = `{"paymentId":"L<key>","payPageUrl":"http://127.0.0.1:8480/pay/L<key>"}`, `{"paymentId":"<as asked>","transactionRef":"L<key>"}`
	on := func(kind, note string, adapt func(*Front) adapter) Row {
		return Row{
			Kind: kind, Service: Payments, Thing: "payment", Offline: Limited, Replay: outbox.SameKey, Keyless: outbox.Compare,
			Note: note, Pending: moved, Risk: laterYes, adapt: adapt,
		}
	}
	return []Row{
		{
			Kind: KindPaymentCreate, Service: Payments, Thing: "payment", Makes: true, Offline: Limited, Replay: outbox.SameKey, Keyless: outbox.Never,
			Breaks: true, Note: "payment", Pending: made, Risk: cardRisk, adapt: (*Front).sendPayment,
		},
		on(KindPaymentAuthorize, "reservation", onPayment(KindPaymentAuthorize, payments.Service.Authorize, effect{
			list: func(l levels) level { return l.Authorized },
			left: func(l levels) int64 { return l.Amount },
			show: func(out *payments.Payment, _ seen, e payments.Entry) {
				out.Summary.AuthorizedAmount = e.Amount
				out.Authorizations = append(out.Authorizations, e)
			},
		})),
		on(KindPaymentCapture, "capture", onPayment(KindPaymentCapture, payments.Service.Capture, effect{
			list: func(l levels) level { return l.Captured },
			left: func(l levels) int64 { return l.Authorized.Sum - l.Captured.Sum },
			show: func(out *payments.Payment, _ seen, e payments.Entry) {
				out.Summary.CapturedAmount += e.Amount
				out.Captures = append(out.Captures, e)
			},
		})),
		on(KindPaymentCancel, "cancellation", onPayment(KindPaymentCancel, payments.Service.Cancel, effect{
			list:     func(l levels) level { return l.Cancelled },
			releases: true,
			show: func(out *payments.Payment, _ seen, e payments.Entry) {
				e.Amount, out.Summary.AuthorizedAmount = out.Summary.AuthorizedAmount, 0
				out.Cancellations = append(out.Cancellations, e)
			},
		})),
		on(KindPaymentRefund, "refund", onPayment(KindPaymentRefund, payments.Service.Refund, effect{
			list: func(l levels) level { return l.Refunded },
			left: func(l levels) int64 { return l.Captured.Sum - l.Refunded.Sum },
			show: func(out *payments.Payment, _ seen, e payments.Entry) {
				out.Summary.RefundedAmount += e.Amount
				out.Refunds = append(out.Refunds, e)
			},
		})),
	}
}

var _ payments.Service = paymentFront{}

// Create implements payments.Service.
func (p paymentFront) Create(ctx context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	if err := check.Request(KindPaymentCreate, req); err != nil {
		return payments.Created{}, err
	}
	b := p.f.rows[KindPaymentCreate]
	w := write{row: b, key: key, amount: int64(req.Amount), currency: req.CurrencyCode}
	if d := req.PaymentMethodDetails; d != nil {
		w.refusal = p.f.reachToken(ctx, d.Token)
	}
	var err error
	if w.body, err = encodeBody(b, req); err != nil {
		return payments.Created{}, err
	}
	bare := req // without what is never written
	w.same = w.body
	if c := req.CardDetails; c != nil && c.ValidationCode != "" {
		card := *c
		card.ValidationCode, bare.CardDetails, w.part = "", &card, true
		if w.same, err = encodeBody(b, bare); err != nil {
			return payments.Created{}, err
		}
	}
	if w.keep = w.same; p.f.o.RefuseCards && req.CardDetails != nil {
		bare.CardDetails, w.part = nil, true
		if w.keep, err = encodeBody(b, bare); err != nil {
			return payments.Created{}, err
		}
	}
	w.seen, _ = json.Marshal(seen{ // plain fields marshal
		Amount: req.Amount, Currency: req.CurrencyCode, Number: wire.MaskReference(req.PaymentNumber), Processing: processing(req), AtOnce: atOnce(req),
	})
	a, err := p.f.do(ctx, w)
	if err != nil {
		return payments.Created{}, err
	}
	out := payments.Created{PaymentID: a.local, PayPageURL: p.f.payPage(a.local), Operation: a.pending}
	if a.pending == nil {
		out.PayPageURL = "" // the backend's own answer says whether there is one
	}
	err = readAnswer(b, a, &out)
	return out, err
}

// Authorize implements payments.Service.
func (p paymentFront) Authorize(ctx context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return p.operate(ctx, KindPaymentAuthorize, key, id, req.Amount, req)
}

// Cancel implements payments.Service.
func (p paymentFront) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return p.operate(ctx, KindPaymentCancel, key, id, new(int32), req)
}

// Capture implements payments.Service.
func (p paymentFront) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return p.operate(ctx, KindPaymentCapture, key, id, req.Amount, req)
}

// Refund implements payments.Service.
func (p paymentFront) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return p.operate(ctx, KindPaymentRefund, key, id, req.Amount, req)
}

// operate does one operation on a payment; amount nil = all that is left, which the payment we made bounds.
func (p paymentFront) operate(ctx context.Context, kind string, key wire.Key, id string, amount *int32, req check.Checked) (payments.Done, error) {
	if err := payments.Validate(kind, id, req); err != nil {
		return payments.Done{}, err
	}
	b := p.f.rows[kind]
	body, err := encodeBody(b, req)
	if err != nil {
		return payments.Done{}, err
	}
	w := write{row: b, key: key, id: id, body: body, keep: body, same: body}
	if amount != nil {
		w.amount = int64(*amount)
	} else {
		w.unknown = true
	}
	a, err := p.f.do(ctx, w)
	if err != nil {
		return payments.Done{}, err
	}
	out := payments.Done{Operation: a.pending}
	err = readAnswer(b, a, &out)
	out.PaymentID = id // what was asked for, by whichever of its ids
	out.TransactionRef = cmp.Or(out.TransactionRef, "L"+string(a.key))
	return out, err
}

// processing is what happens as soon as the means are known.
func processing(r payments.CreateRequest) string {
	d := r.PaymentMethodDetails
	switch {
	case r.Processing != "":
		return r.Processing
	case d != nil && (d.Type == payments.MerchantInitiated || d.Type == payments.WithToken && d.IsRecurring):
		return payments.ProcessSale
	}
	return payments.ProcessNone
}

// atOnce says that no customer has to do anything before money moves.
func atOnce(r payments.CreateRequest) bool {
	d := r.PaymentMethodDetails
	return r.Type == payments.Moto || d != nil && d.Type != payments.InitialToken && d.Type != payments.Sofort
}

// movesNothing says that a create can be made twice without harm.
func movesNothing(r payments.CreateRequest) bool {
	does := processing(r)
	return !atOnce(r) || does == payments.ProcessNone || does == payments.ProcessVerify
}

// sendPayment is what a create does with the service.
func (f *Front) sendPayment() adapter {
	svc := f.o.Payments
	return adapter{
		send: func(ctx context.Context, key wire.Key, _ string, body []byte) (reply, error) {
			req, err := wire.Parse[payments.CreateRequest](KindPaymentCreate, body)
			if err != nil {
				return reply{}, err
			}
			c, err := svc.Create(ctx, key, req)
			return reply{made: c.PaymentID, body: c, pending: c.Operation != nil}, err
		},
		shows: f.paymentShows,
		harmless: func(body []byte) bool {
			req, err := wire.Parse[payments.CreateRequest](KindPaymentCreate, body)
			return err == nil && movesNothing(req)
		},
		show: func(out *payments.Payment, s seen, e payments.Entry) {
			if s.AtOnce && (s.Processing == payments.ProcessSale || s.Processing == payments.ProcessAuthorize) {
				out.Summary.AuthorizedAmount, out.Authorizations = s.Amount, append(out.Authorizations, e)
			}
			if s.AtOnce && s.Processing == payments.ProcessSale {
				out.Summary.CapturedAmount, out.Captures = s.Amount, append(out.Captures, e)
			}
		},
	}
}

// effect is what an operation changes in the readings of its payment.
type effect struct {
	list     func(levels) level // where the backend's reading has it
	left     func(levels) int64 // what it moves where it names no amount; nil = it always names one, or moves none
	releases bool               // it gives up what is reserved: a backend may list that nowhere
	show     func(out *payments.Payment, s seen, e payments.Entry)
}

// onPayment is what an operation on a payment does with the service.
func onPayment[R any](kind string, do func(payments.Service, context.Context, wire.Key, string, R) (payments.Done, error), e effect) func(*Front) adapter {
	return func(f *Front) adapter {
		svc := f.o.Payments
		return adapter{
			send: func(ctx context.Context, key wire.Key, id string, body []byte) (reply, error) {
				req, err := wire.Parse[R](kind, body)
				if err != nil {
					return reply{}, err
				}
				d, err := do(svc, ctx, key, id, req)
				return reply{body: d, pending: d.Operation != nil}, err
			},
			look: func(ctx context.Context, id string) ([]byte, error) {
				p, err := svc.Read(ctx, id)
				if err != nil {
					return nil, err
				}
				return json.Marshal(levelsOf(p))
			},
			compare: func(before, after, body []byte, others []outbox.Op) (reply, found) {
				return compareLevels(kind, e, before, after, body, others)
			},
			show: e.show,
			left: e.left,
		}
	}
}

// levels is how far a payment is, as two readings are compared.
type levels struct {
	ID         string `json:"id"`
	Amount     int64  `json:"amount"`
	Authorized level  `json:"authorized"`
	Captured   level  `json:"captured"`
	Refunded   level  `json:"refunded"`
	Cancelled  level  `json:"cancelled"`
}

// level is a sum and the entries it is made of.
type level struct {
	Sum     int64    `json:"sum"`
	Entries int      `json:"entries"`
	Refs    []string `json:"refs,omitempty"`
	Amounts []int64  `json:"amounts,omitempty"` // of the entries; absent in readings of an older program
}

func levelsOf(p payments.Payment) levels {
	of := func(sum int32, entries []payments.Entry) level {
		l := level{Sum: int64(sum), Entries: len(entries)}
		for _, e := range entries {
			l.Refs, l.Amounts = append(l.Refs, e.TransactionRef), append(l.Amounts, int64(e.Amount))
		}
		return l
	}
	s := p.Summary
	return levels{p.PaymentID, int64(s.PaymentAmount), of(s.AuthorizedAmount, p.Authorizations), of(s.CapturedAmount, p.Captures),
		of(s.RefundedAmount, p.Refunds), of(0, p.Cancellations)}
}

// with is a level as it was before, and what it lacks of what others are known to have done since, by a later reading. An entry that
// the service does not name is nobody's.
func (l level) with(others []outbox.Op, is level) level {
	for _, op := range others {
		ref := transactionRef(op)
		if i := slices.Index(is.Refs, ref); ref != "" && i >= 0 && i < len(is.Amounts) && !slices.Contains(l.Refs, ref) {
			l = level{l.Sum + is.Amounts[i], l.Entries + 1, append(slices.Clip(l.Refs), ref), nil}
		}
	}
	return l
}

// lags says that a first reading showed less than others of its kind had done by then, and that no name tells which entry is whose.
func (l level) lags(kind string, others []outbox.Op, is level) bool {
	did := 0
	for _, op := range others {
		if op.Kind == kind {
			did++
		}
	}
	return l.Entries < did && slices.Contains(is.Refs, "")
}

// compareLevels is MONEY C.2: exactly one new entry of the right amount is the effect; the same entries and the same sum are none;
// anything else is unclear.
func compareLevels(kind string, e effect, before, after, body []byte, others []outbox.Op) (reply, found) {
	var was, is levels
	var req struct {
		Amount *int32 `json:"amount"`
	}
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || json.Unmarshal(body, &req) != nil {
		return reply{}, unclear
	}
	was.Authorized, was.Captured = was.Authorized.with(others, is.Authorized), was.Captured.with(others, is.Captured)
	was.Refunded, was.Cancelled = was.Refunded.with(others, is.Refunded), was.Cancelled.with(others, is.Cancelled)
	want := int64(0)
	switch {
	case req.Amount != nil && !e.releases:
		want = int64(*req.Amount)
	case e.left != nil:
		want = e.left(was)
	}
	a, b := e.list(was), e.list(is)
	gone := e.releases && was.Authorized.Sum > 0 && is.Authorized.Sum == 0
	away := gone && b.Entries == a.Entries && is.Captured.Sum == was.Captured.Sum
	switch {
	case !e.releases && a.lags(kind, others, b):
		return reply{}, unclear
	case b.Entries == a.Entries && b.Sum == a.Sum && !gone:
		return reply{}, nothing
	case b.Entries == a.Entries+1 && b.Sum-a.Sum == want, away:
		ref := "" // the service may tell none
		for _, r := range b.Refs {
			if !slices.Contains(a.Refs, r) {
				ref = r
			}
		}
		done := reply{body: payments.Done{PaymentID: is.ID, TransactionRef: ref}}
		if away {
			return done, absent
		}
		return done, exactly
	}
	return reply{}, unclear
}
