package ownership

import (
	"context"
	"slices"
	"time"

	"posagent/agent/intent"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// built are the caller's sessions of an order, the newest first.
func (c Claims) built(ctx context.Context, id string) (list []string, err error) {
	caller := wire.CallerOf(ctx).Name
	err = c.DB.Read(ctx, func(r store.Reader) error {
		all, err := store.Column[string](r, `SELECT session FROM inbox_build WHERE order_id IN (?, ?) ORDER BY n DESC LIMIT 100`, intent.KeptName(c.DB, id), id) // an older program stored it as it came
		list = nil
		for _, s := range all {
			owner, found, fault := c.Owner(r, session, s)
			if err == nil {
				err = fault
			}
			if found && owner == caller && len(list) < manyNamed {
				list = append(list, s)
			}
		}
		return err
	})
	if err != nil {
		return nil, &wire.Error{Code: wire.Internal, Op: order, Err: err}
	}
	return list, nil
}

// payment is what happened to one payment of an order.
type payment struct {
	ops    []int  // of the report
	mine   string // an operation of it that is the caller's; "" = none is
	failed bool   // it came to nothing
}

// payments sorts a report's operations by the payment that they belong to.
func (o orders) payments(ctx context.Context, ops []hosted.Operation) (list []*payment, err error) {
	of := map[string]*payment{}
	err = o.c.DB.Read(ctx, func(r store.Reader) error {
		list, of = nil, map[string]*payment{}
		for i, op := range ops {
			var p *payment
			if op.CancelledOperationID != "" { // one without an id is of no other's payment
				p = of[op.CancelledOperationID]
			}
			if p == nil && op.PaymentEndToEndID != "" {
				p = of["end to end "+op.PaymentEndToEndID]
			}
			if p == nil {
				p = &payment{failed: true}
				list = append(list, p)
			}
			p.ops = append(p.ops, i)
			of[op.OperationID] = p
			if op.PaymentEndToEndID != "" {
				of["end to end "+op.PaymentEndToEndID] = p
			}
			switch op.OperationResult {
			case hosted.Declined, hosted.DeniedByRisk, hosted.ThreeDSFailed, hosted.Canceled, hosted.Failed:
			default:
				p.failed = false
			}
			owner, found, err := o.c.Owner(r, operation, op.OperationID)
			if err != nil {
				return err
			}
			if found && owner == wire.CallerOf(ctx).Name {
				p.mine = op.OperationID
			}
		}
		return nil
	})
	if err != nil {
		err = &wire.Error{Code: wire.Internal, Op: order, Err: err}
	}
	return list, err
}

// mine leaves in a report what the caller's sessions made, and gives the caller what was done to it since. wire.NotFound where somebody
// else has paid the order. Of one that nobody has paid it shows what the caller itself had to name.
func (o orders) mine(ctx context.Context, built []string, out *hosted.Report) error {
	list, err := o.payments(ctx, out.Operations)
	foreign := func(p *payment) bool { return p.mine == "" }
	for _, s := range built {
		if err != nil || !slices.ContainsFunc(list, foreign) {
			break
		}
		if o.c.paid(ctx, o.ask, s) == nil { // a session that is over tells nothing
			list, err = o.payments(ctx, out.Operations)
		}
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(p *payment) bool { return foreign(p) && !p.failed }) {
		return o.c.none(ctx, order)
	}
	var kept []hosted.Operation
	for _, p := range list {
		if p.mine == "" {
			continue
		}
		for _, i := range p.ops {
			kept = append(kept, out.Operations[i])
			if err := o.c.as(ctx, operation, out.Operations[i].OperationID, operation, p.mine); err != nil {
				return err
			}
		}
	}
	if len(kept) == 0 {
		was := out.OrderStatus.Order
		*out = hosted.Report{OrderStatus: hosted.OrderStatus{Order: hosted.Order{OrderID: was.OrderID, Amount: was.Amount, Currency: was.Currency}}}
	}
	out.Operations = kept
	return nil
}

// toldWithin is how long a notification waits for the backend's word.
const toldWithin = 3 * time.Second

// Told returns what a notification calls with an operation and the session whose token it shows. The session's owner holds that token,
// and could name any operation: it is given what the backend says the session made. Where the backend does not answer, the owner gets
// the operation by reading the session or the order.
func (c Claims) Told(ask hosted.Sessions) func(ctx context.Context, id, of string) error {
	return func(ctx context.Context, _, of string) error {
		owner, found := "", false
		err := c.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = c.Owner(r, session, of); return err })
		if err != nil || !found || owner == "" {
			return err
		}
		ask1, cancel := context.WithTimeout(ctx, toldWithin)
		defer cancel()
		st, err := ask.State(ask1, of)
		if err != nil || c.answers(ctx, of, st) != nil {
			return nil
		}
		return c.keep(ctx, of, st)
	}
}
