package ownership

import (
	"context"
	"time"

	"posagent/agent/intent"
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

// Build implements hosted.Sessions. It makes a session, which is the caller's. What it names, the order and the contract, was made by
// whoever paid it (orders.mine, Claims.paid).
func (s sessions) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (out hosted.Built, err error) {
	if err = wire.Allow(ctx, "hosted.build", mayHosted); err != nil {
		return out, err
	}
	r := req.PaymentSession.Recurrence
	creates := r != nil && r.ContractID != "" && r.Action == hosted.ContractCreation
	if r != nil && r.ContractID != "" && !creates {
		if err = s.c.reachContract(ctx, s.next, r.ContractID); err != nil {
			return out, err
		}
	}
	names := []naming{{about: order, id: req.Order.OrderID, owner: wire.Client(ctx), at: time.Now().UnixMilli()}}
	var undos []func()
	if creates {
		names = append(names, naming{about: contract, id: r.ContractID, owner: wire.Client(ctx), at: names[0].at})
	}
	for _, n := range names {
		var undo func()
		if undo, err = s.c.name(ctx, n); err != nil {
			break
		}
		undos = append(undos, undo)
	}
	if err == nil {
		out, err = s.next.Build(ctx, s.c.key(ctx, key), req)
	}
	if err != nil {
		for _, undo := range undos {
			if refused(err) {
				undo()
			}
		}
		return out, err
	}
	err = s.c.got(ctx, session, out.SessionID)
	if err == nil && creates {
		names[1].call = out.SessionID
		_, err = s.c.name(ctx, names[1])
	}
	return out, made("hosted.build", err)
}

// reachContract is wire.NotFound where no session of the caller has made a contract.
func (c Claims) reachContract(ctx context.Context, ask hosted.Sessions, id string) error {
	err := c.reach(ctx, contract, id)
	if !absent(err) {
		return err
	}
	named, fault := c.namedBy(ctx, contract, id)
	if fault != nil {
		return fault
	}
	for _, n := range named {
		if n.call != "" && c.paid(ctx, ask, n.call) == nil && c.reach(ctx, contract, id) == nil {
			return nil
		}
	}
	return err
}

// paid asks what became of a session, and gives its owner what it made.
func (c Claims) paid(ctx context.Context, ask hosted.Sessions, id string) error {
	st, err := ask.State(ctx, id)
	if err == nil {
		err = c.answers(ctx, id, st)
	}
	if err != nil {
		return err
	}
	return c.keep(ctx, id, st)
}

// answers is wire.Unavailable where a state is another session's (law II): its fields are another's, or its operation is of another order
// than the session was built for. A state without either says nothing of whose it is, and gives nothing.
func (c Claims) answers(ctx context.Context, id string, st hosted.SessionState) error {
	anothers := st.FieldSet != nil && st.FieldSet.SessionID != "" && st.FieldSet.SessionID != id
	if st.Operation != nil && st.Operation.OrderID != "" && !anothers {
		var built string
		err := c.DB.Read(ctx, func(r store.Reader) error {
			return r.QueryRow(`SELECT COALESCE((SELECT order_id FROM inbox_build WHERE session = ?), '')`, id).Scan(&built)
		})
		if err != nil {
			return &wire.Error{Code: wire.Internal, Op: session, Err: err}
		}
		anothers = built != "" && built != st.Operation.OrderID && built != intent.KeptName(c.DB, st.Operation.OrderID)
	}
	if anothers {
		return &wire.Error{Code: wire.Unavailable, Op: session, Msg: "the answer is about another session: ask again", Err: wire.ErrAnothers}
	}
	return nil
}

// keep gives a session's owner the operation that it made, and the contract, once that was paid.
func (c Claims) keep(ctx context.Context, id string, st hosted.SessionState) error {
	if st.Operation == nil {
		return nil
	}
	if err := c.as(ctx, operation, st.Operation.OperationID, session, id); err != nil {
		return err
	}
	if r := st.Operation.OperationResult; r != hosted.Authorized && r != hosted.Executed {
		return nil
	}
	var list []naming
	err := c.DB.Read(ctx, func(r store.Reader) (err error) { list, err = c.namings(r, `call = ? AND call <> ''`, id); return err })
	for _, n := range list {
		if err == nil {
			err = c.as(ctx, n.about, n.id, session, id)
		}
	}
	return err
}

func (s sessions) state(ctx context.Context, op, id string, words []string, ask func() (hosted.SessionState, error)) (out hosted.SessionState, err error) {
	if err = s.c.allow(ctx, op, session, id, words...); err != nil {
		return out, err
	}
	if out, err = ask(); err != nil {
		return out, err
	}
	if err = s.c.answers(ctx, id, out); err != nil {
		if op != opState { // it may have had its effect
			err = &wire.Error{Code: wire.UnknownOutcome, Op: op, Msg: "the answer is about another session: ask again under the same Idempotency-Key", Err: err}
		}
		return hosted.SessionState{}, err
	}
	return out, made(op, s.c.keep(ctx, id, out))
}

const opState = "hosted.state"

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
	return s.state(ctx, opState, id, []string{mayHosted}, func() (hosted.SessionState, error) { return s.next.State(ctx, id) })
}

// Card implements hosted.Sessions.
func (s sessions) Card(ctx context.Context, id string) (out hosted.CardData, err error) {
	if err = s.c.allow(ctx, "hosted.card", session, id, mayHosted); err != nil {
		return out, err
	}
	return s.next.Card(ctx, id)
}

// Orders gives a client its own orders of next alone. ask is the service's sessions: they tell which of an order's operations they made.
func Orders(c Claims, ask hosted.Sessions, next hosted.Orders) hosted.Orders {
	return orders{c, ask, next}
}

// orders implements the contract. It writes out every method: a new one must not pass by.
type orders struct {
	c    Claims
	ask  hosted.Sessions
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

// Order implements hosted.Orders. An order is the caller's where the caller's sessions have paid it.
func (o orders) Order(ctx context.Context, id string) (out hosted.Report, err error) {
	if err = wire.Allow(ctx, "hosted.order", mayHosted); err != nil {
		return out, err
	}
	if !wire.CallerOf(ctx).Own {
		return o.next.Order(ctx, id)
	}
	built, err := o.c.built(ctx, id)
	if err == nil && len(built) == 0 {
		err = o.c.none(ctx, order)
	}
	if err == nil {
		out, err = o.next.Order(ctx, id)
	}
	if err == nil {
		err = o.mine(ctx, built, &out)
	}
	if err != nil {
		return hosted.Report{}, err
	}
	return out, nil
}

func (o orders) post(ctx context.Context, op, id string, words []string, ask func() (hosted.Posted, error)) (out hosted.Posted, err error) {
	if err = o.c.allow(ctx, op, operation, id, words...); err != nil {
		return out, err
	}
	if out, err = ask(); err == nil {
		err = made(op, o.c.as(ctx, operation, out.OperationID, operation, id))
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
