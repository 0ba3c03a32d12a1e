package owned

import (
	"context"
	"strings"
	"time"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// The words of a client's list that its services ask for.
const (
	mayRead       = "read"
	mayPay        = "pay"
	mayRefund     = "refund"
	mayHosted     = "hosted"
	mayDisputes   = "disputes"
	mayOnboarding = "onboarding"
)

// The kinds of things of hosted build that have owners.
const (
	order     = "order"
	session   = "session"
	operation = "operation"
	contract  = "contract"
)

// Sessions gives a client its own sessions of next alone.
func Sessions(c Claims, next hosted.Sessions) hosted.Sessions { return sessions{c, next} }

// sessions implements the contract. It writes out every method: a new one must not pass by.
type sessions struct {
	c    Claims
	next hosted.Sessions
}

var _ hosted.Sessions = sessions{}

// Build implements hosted.Sessions. Who names an order or a contract first owns it.
func (s sessions) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (out hosted.Built, err error) {
	if err = wire.Allow(ctx, "hosted.build", mayHosted); err != nil {
		return out, err
	}
	ends := func(refused bool) {}
	if r := req.PaymentSession.Recurrence; r != nil && r.ContractID != "" {
		if r.Action == hosted.ContractCreation {
			ends, err = s.c.name(ctx, contract, r.ContractID)
		} else {
			err = s.c.reach(ctx, contract, r.ContractID)
		}
	}
	if err != nil {
		return out, err
	}
	done, err := s.c.name(ctx, order, req.Order.OrderID)
	if err != nil {
		ends(true)
		return out, err
	}
	out, err = s.next.Build(ctx, s.c.key(ctx, key), req)
	ends(refused(err))
	done(refused(err))
	if err == nil {
		err = s.c.as(ctx, session, out.SessionID, order, req.Order.OrderID)
	}
	return out, err
}

func (s sessions) state(ctx context.Context, op, id string, words []string, ask func() (hosted.SessionState, error)) (out hosted.SessionState, err error) {
	if err = s.c.allow(ctx, op, session, id, words...); err != nil {
		return out, err
	}
	if out, err = ask(); err == nil && out.Operation != nil {
		err = s.c.as(ctx, operation, out.Operation.OperationID, session, id)
	}
	return out, err
}

// Finalize implements hosted.Sessions.
func (s sessions) Finalize(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
	return s.state(ctx, "hosted.finalize", id, []string{mayHosted}, func() (hosted.SessionState, error) { return s.next.Finalize(ctx, s.c.key(ctx, key), id, amount) })
}

// Cancel implements hosted.Sessions.
func (s sessions) Cancel(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	return s.state(ctx, "hosted.cancel", id, []string{mayHosted}, func() (hosted.SessionState, error) { return s.next.Cancel(ctx, s.c.key(ctx, key), id) })
}

// State implements hosted.Sessions.
func (s sessions) State(ctx context.Context, id string) (hosted.SessionState, error) {
	return s.state(ctx, "hosted.state", id, []string{mayHosted}, func() (hosted.SessionState, error) { return s.next.State(ctx, id) })
}

// Card implements hosted.Sessions.
func (s sessions) Card(ctx context.Context, id string) (out hosted.CardData, err error) {
	if err = s.c.allow(ctx, "hosted.card", session, id, mayHosted); err != nil {
		return out, err
	}
	return s.next.Card(ctx, id)
}

// Orders gives a client its own orders of next alone.
func Orders(c Claims, next hosted.Orders) hosted.Orders { return orders{c, next} }

// orders implements the contract. It writes out every method: a new one must not pass by.
type orders struct {
	c    Claims
	next hosted.Orders
}

var _ hosted.Orders = orders{}

// Methods implements hosted.Orders.
func (o orders) Methods(ctx context.Context) (hosted.MethodList, error) {
	if err := wire.Allow(ctx, "hosted.methods", mayHosted); err != nil {
		return hosted.MethodList{}, err
	}
	return o.next.Methods(ctx)
}

// Order implements hosted.Orders. Its operations are its owner's.
func (o orders) Order(ctx context.Context, id string) (out hosted.Report, err error) {
	if err = o.c.allow(ctx, "hosted.order", order, id, mayHosted); err == nil {
		out, err = o.next.Order(ctx, id)
	}
	for _, op := range out.Operations {
		if err == nil {
			err = o.c.as(ctx, operation, op.OperationID, order, id)
		}
	}
	return out, err
}

func (o orders) post(ctx context.Context, op, id string, words []string, ask func() (hosted.Posted, error)) (out hosted.Posted, err error) {
	if err = o.c.allow(ctx, op, operation, id, words...); err != nil {
		return out, err
	}
	if out, err = ask(); err == nil {
		err = o.c.as(ctx, operation, out.OperationID, operation, id)
	}
	return out, err
}

// Capture implements hosted.Orders.
func (o orders) Capture(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return o.post(ctx, "hosted.capture", id, []string{mayHosted}, func() (hosted.Posted, error) { return o.next.Capture(ctx, o.c.key(ctx, key), id, req) })
}

// Refund implements hosted.Orders.
func (o orders) Refund(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return o.post(ctx, "hosted.refund", id, []string{mayHosted, mayRefund}, func() (hosted.Posted, error) { return o.next.Refund(ctx, o.c.key(ctx, key), id, req) })
}

// Cancel implements hosted.Orders.
func (o orders) Cancel(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return o.post(ctx, "hosted.undo", id, []string{mayHosted, mayRefund}, func() (hosted.Posted, error) { return o.next.Cancel(ctx, o.c.key(ctx, key), id, req) })
}

// toldWithin is how long a notification waits for the backend's word.
const toldWithin = 3 * time.Second

// Told returns what a notification calls with an operation and its order. It gives the operation to the order's owner where the
// backend says that it is of that order: the owner holds the token that proves a notification, and could name any operation. Where
// the backend does not answer, the owner gets the operation by reading the order.
func (c Claims) Told(orders hosted.Orders) func(ctx context.Context, id, of string) error {
	return func(ctx context.Context, id, of string) error {
		owner, found := "", false
		err := c.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = c.Owner(r, order, of); return err })
		if err != nil || !found || owner == "" {
			return err
		}
		ask, cancel := context.WithTimeout(ctx, toldWithin)
		defer cancel()
		report, err := orders.Order(ask, of)
		if err != nil {
			return nil
		}
		for _, op := range report.Operations {
			if strings.EqualFold(op.OperationID, id) {
				return c.as(ctx, operation, id, order, of)
			}
		}
		return nil
	}
}
