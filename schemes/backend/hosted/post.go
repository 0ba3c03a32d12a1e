package hosted

import (
	"cmp"
	"context"
	"slices"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Orders is the other half of the service.
func (x *Sessions) Orders() hosted.Orders { return (*orders)(x) }

type orders Sessions

var _ hosted.Orders = (*orders)(nil)

// Methods implements hosted.Orders.
func (r *orders) Methods(context.Context) (out hosted.MethodList, err error) {
	x := (*Sessions)(r)
	add := func(kind, circuit string, again bool) {
		out.PaymentMethods = append(out.PaymentMethods, hosted.Method{
			PaymentMethodType: kind, Circuit: circuit, ImageLink: x.Public + FieldPrefix + "methods/" + circuit + ".svg", RecurringSupported: again, OneClickSupported: again,
		})
	}
	for _, c := range circuits() {
		add(hosted.Card, c[0], true)
	}
	for _, o := range others() {
		add(hosted.APM, o, false)
	}
	return out, nil
}

// Order implements hosted.Orders.
func (r *orders) Order(ctx context.Context, id string) (out hosted.Report, err error) {
	x := (*Sessions)(r)
	err = x.DB.Read(ctx, func(r store.Reader) error {
		o, err := findOrder(r, opOrder, id)
		if err != nil {
			return err
		}
		out = hosted.Report{OrderStatus: hosted.OrderStatus{Order: o.Order, AuthorizedAmount: "0", CapturedAmount: "0"}}
		info, err := x.customer(r, o)
		if err == nil {
			out.OrderStatus.Order.CustomerInfo, err = info.Encode()
		}
		if err != nil {
			return err
		}
		list, err := operations(r, `order_id = ?`, id)
		kinds, cancelled := map[string]string{}, money.Minor(0) // of captures: the books give them back as a refund does
		for _, op := range list {
			if kinds[op.id] = op.kind; op.kind == hosted.Cancel && kinds[op.cancels] == hosted.Capture {
				cancelled += op.amount
			}
		}
		for _, op := range list {
			shown, err := x.operation(r, op)
			if err != nil {
				return err
			}
			out.Operations = append(out.Operations, shown)
			out.OrderStatus.LastOperationType, out.OrderStatus.LastOperationTime = shown.OperationType, shown.OperationTime
			if op.id == o.payment {
				l, err := ledger(r, o.payment)
				if err != nil {
					return err
				}
				out.OrderStatus.AuthorizedAmount, out.OrderStatus.CapturedAmount = hosted.TextOf(op.amount), hosted.TextOf(l.Committed-cancelled)
			}
		}
		return err
	})
	if err != nil {
		return hosted.Report{}, wire.AsError(opOrder, err)
	}
	return out, nil
}

// Capture implements hosted.Orders.
func (r *orders) Capture(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Sessions)(r).post(ctx, opCapture, key, id, req, (*posting).capture)
}

// Refund implements hosted.Orders.
func (r *orders) Refund(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Sessions)(r).post(ctx, opRefund, key, id, req, (*posting).refund)
}

// Cancel implements hosted.Orders.
func (r *orders) Cancel(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Sessions)(r).post(ctx, opUndo, key, id, req, (*posting).cancel)
}

// posting is one operation on an older one.
type posting struct {
	*Sessions
	tx     store.Tx
	op     string
	of     *operation // the older one
	paid   *operation // the payment both belong to
	do     scenario.Do
	ledger books.Ledger
	out    *operation
	now    int64
}

func (x *Sessions) post(ctx context.Context, op string, key wire.Key, id string, req hosted.PostRequest, act func(*posting, money.Minor) error) (hosted.Posted, error) {
	if err := req.Validate(op); err != nil {
		return hosted.Posted{}, err
	}
	if key == "" {
		return hosted.Posted{}, &wire.Error{Code: wire.Invalid, Reason: hosted.BadKey, Op: op, Msg: "Idempotency-Key missing"}
	}
	var out hosted.Posted
	err := x.write(ctx, op, id, key, req, &out, func(tx store.Tx, now int64) (scenario.Do, error) {
		p := &posting{Sessions: x, tx: tx, op: op, now: now}
		err := x.ripe(tx, op, id, now)
		if err == nil {
			err = p.open(id, req)
		}
		if err == nil {
			n, _ := req.Amount.Minor()
			err = act(p, n)
		}
		if err != nil {
			return "", err
		}
		out = hosted.Posted{OperationID: p.out.id, OperationTime: stamp(p.out.at)}
		return "", nil
	})
	return out, err
}

// open reads what an operation is about.
func (p *posting) open(id string, req hosted.PostRequest) (err error) {
	if p.of, err = findOperation(p.tx, p.op, id); err != nil {
		return err
	}
	o, err := findOrder(p.tx, p.op, p.of.order)
	if err != nil {
		return err
	}
	if req.Currency != "" && req.Currency != o.currency {
		return &wire.Error{Code: wire.Invalid, Reason: hosted.BadCurrency, Op: p.op, Msg: "currency: not the order's"}
	}
	if o.payment == "" || p.of.payment != o.payment {
		return hosted.Refused(p.op, hosted.NotPossible) // a payment that was refused, or a verification
	}
	if p.paid, err = findOperation(p.tx, p.op, o.payment); err != nil {
		return err
	}
	p.do = scenario.CardDo(p.paid.Row, int32(p.paid.amount))
	p.ledger, err = ledger(p.tx, o.payment)
	p.out = &operation{
		id: room.Name(8), order: o.id, session: p.paid.session, payment: o.payment, at: p.now,
		Channel: hosted.Backoffice, Method: p.paid.Method, Circuit: p.paid.Circuit, Instrument: p.paid.Instrument, EndToEnd: p.paid.EndToEnd, Row: p.paid.Row,
	}
	return err
}

// done stores the operation and tells.
func (p *posting) done(kind, result string, amount money.Minor, events ...books.Kind) error {
	p.out.kind, p.out.result, p.out.amount = kind, result, amount
	for _, e := range events {
		if err := post(p.tx, p.out, e, amount); err != nil {
			return err
		}
	}
	if err := saveOperation(p.tx, p.out); err != nil {
		return err
	}
	return p.tellOf(p.tx, p.out, p.now)
}

func (p *posting) capture(n money.Minor) error {
	l := p.ledger
	if n == 0 {
		n = l.Reserved
	}
	switch {
	case !p.of.good() || p.of.kind != hosted.Authorization && p.of.kind != hosted.Capture:
		return hosted.Refused(p.op, hosted.NotPossible)
	case l.Reserved == 0 && l.Committed == 0:
		return hosted.Refused(p.op, hosted.VoidedNoCapture)
	case l.Reserved == 0 && l.Rest() == 0:
		return hosted.Refused(p.op, hosted.RefundedNoCapture)
	case l.Reserved == 0 || n > l.Reserved:
		return hosted.Refused(p.op, hosted.ExecutedNoCapture)
	case p.do == scenario.CaptureFails:
		return hosted.Refused(p.op, hosted.BankRefused)
	}
	if n == l.Reserved {
		p.paid.due = 0
		if err := saveOperation(p.tx, p.paid); err != nil {
			return err
		}
	}
	return p.done(hosted.Capture, hosted.Executed, n, books.Capture)
}

func (p *posting) refund(n money.Minor) error {
	l := p.ledger
	if n == 0 {
		n = l.Rest()
	}
	switch {
	case !p.of.good() || p.of.kind != hosted.Authorization && p.of.kind != hosted.Capture:
		return hosted.Refused(p.op, hosted.NotPossible)
	case l.Committed == 0:
		return hosted.Refused(p.op, hosted.RefundAboveCaptured)
	case l.Rest() == 0:
		return hosted.Refused(p.op, hosted.AlreadyRefunded)
	case n > l.Rest():
		return hosted.Refused(p.op, hosted.RefundAboveCaptured)
	case p.do == scenario.RefundNo:
		return hosted.Refused(p.op, hosted.BankRefused)
	}
	result := hosted.Refunded
	p.out.due = p.now + clearTime.Milliseconds()
	if p.do == scenario.RefundFails {
		result, p.out.due = hosted.Pending, p.now+failTime.Milliseconds()
	}
	return p.done(hosted.Refund, result, n, books.BeginRefund)
}

// cancel undoes the whole operation: whoever names a part of it means a refund.
func (p *posting) cancel(n money.Minor) error {
	again, err := operations(p.tx, `cancels = ?`, p.of.id)
	l := p.ledger
	p.out.cancels = p.of.id
	switch {
	case err != nil:
		return err
	case n != 0 && n != p.of.amount:
		return badParameter(p.op, "amount", "a cancel undoes the whole operation, which is of "+string(hosted.TextOf(p.of.amount))+": leave the amount out, or refund a part")
	case len(again) > 0:
		return hosted.Refused(p.op, hosted.AlreadyVoided)
	case p.of.kind == hosted.Refund && p.of.due != 0:
		p.of.due = 0
		if p.of.result == hosted.Pending {
			p.of.result = hosted.Failed
		}
		if err := saveOperation(p.tx, p.of); err != nil {
			return err
		}
		return p.done(hosted.Cancel, hosted.Executed, p.of.amount, books.FailRefund)
	case !p.of.good():
		return hosted.Refused(p.op, hosted.NotPossible)
	case p.do == scenario.CancelFails:
		return hosted.Refused(p.op, hosted.BankRefused)
	case p.of.kind == hosted.Capture && p.of.amount > l.Rest():
		return hosted.Refused(p.op, hosted.AlreadyRefunded)
	case p.of.kind == hosted.Capture:
		return p.done(hosted.Cancel, hosted.Executed, p.of.amount, books.Refund)
	case p.of.kind == hosted.Authorization && l.Committed == 0 && l.Reserved > 0:
		return p.void()
	case p.of.kind == hosted.Authorization && l.Committed == 0:
		return hosted.Refused(p.op, hosted.AlreadyVoided)
	}
	return hosted.Refused(p.op, hosted.NotPossible)
}

// void gives the whole authorization up.
func (p *posting) void() error {
	p.paid.due = 0
	if err := saveOperation(p.tx, p.paid); err != nil {
		return err
	}
	return p.done(hosted.Void, hosted.Voided, p.paid.amount, books.Close)
}

// ripe lets happen to the payment of an operation what is due by now: the sweep may not have looked yet.
func (x *Sessions) ripe(tx store.Tx, op, id string, now int64) error {
	of, err := findOperation(tx, op, id)
	if err != nil {
		return err
	}
	list, err := operations(tx, `payment = ? AND due_ms <= ?`, of.payment, now)
	slices.SortStableFunc(list, func(a, b *operation) int { return cmp.Compare(a.due, b.due) })
	for _, o := range list {
		if err == nil {
			err = x.settleDue(tx, o.id, now)
		}
	}
	return err
}

// settleDue ends a refund that was in clearing, or an authorization that is too old.
func (x *Sessions) settleDue(tx store.Tx, id string, now int64) error {
	o, err := findOperation(tx, opField, id)
	if err != nil || o.due == 0 || o.due > now {
		return err
	}
	at := o.due
	if o.kind == hosted.Refund {
		kind := books.EndRefund
		o.due = 0
		failed := o.result == hosted.Pending
		if failed {
			kind, o.result, o.at = books.FailRefund, hosted.Failed, at
		}
		if err := post(tx, o, kind, o.amount); err != nil {
			return err
		}
		if err := saveOperation(tx, o); err != nil || !failed {
			return err
		}
		return x.tellOf(tx, o, at)
	}
	p := &posting{Sessions: x, tx: tx, op: opUndo, now: at}
	if err := p.open(id, hosted.PostRequest{}); err != nil {
		return err
	}
	if p.ledger.Committed == 0 && p.ledger.Reserved > 0 {
		p.out.cancels = id
		return p.void()
	}
	p.paid.due = 0
	if err := post(tx, p.paid, books.Release, 0); err != nil {
		return err
	}
	return saveOperation(tx, p.paid)
}
