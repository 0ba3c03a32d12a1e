package outbox

import (
	"context"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// Down says that a service did not answer last time, or refused us: what is accepted for it waits.
func (o *Outbox) Down(service string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.services[service]
	return s != nil && (s.down || s.refused)
}

// Up says that a service was heard of by another way than an operation: what waits for it is sent
// at once.
func (o *Outbox) Up(service string) {
	o.mu.Lock()
	if s := o.services[service]; s != nil {
		s.up(o.clock.run())
	}
	o.mu.Unlock()
	o.Wake()
}

// Withdraw ends an operation that was never sent (Kind.Touched) as EXPIRED, with a result and a
// reason of the caller's. Whatever the sender is about to do, either it is withdrawn and never
// leaves, or it left and this is ErrState. ErrUnknown.
func (o *Outbox) Withdraw(ctx context.Context, key wire.Key, result []byte, reason string) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		if err := o.verify(r); err != nil {
			return nil, err
		}
		if _, _, err := next(r.position(), event{verb: withdraw}); err != nil {
			return nil, err
		}
		if k := o.kinds[r.kind]; k != nil && k.Touched != nil {
			op := o.op(r)
			if err := o.open(tx, r, &op); err != nil {
				return nil, err
			}
			if k.Touched(op) {
				return nil, fmt.Errorf("%w: an attempt had a connection", ErrState)
			}
		}
		r.result, r.reason = result, reason
		return o.apply(tx, r, event{verb: withdraw})
	})
}

// Busy tells whether an attempt at a service is under way.
func (o *Outbox) Busy(service string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.busy {
		if s == service {
			return true
		}
	}
	return false
}
