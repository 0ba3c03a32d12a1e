package drive

import (
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/store"
)

// UndoSettled is the Settled hook of the kinds of gateway.Undos: it advances the sale in the commit
// that settles the operation.
func (d *Drive) UndoSettled(tx store.Tx, op outbox.Op, res gateway.UndoResult) error {
	s, ok, err := d.j.UndoSettled(tx, op, res)
	if err != nil || !ok {
		return err
	}
	d.mu.Lock()
	d.stash[op.Key] = s
	d.mu.Unlock()
	return nil
}

// UndoAfter is the After hook of the same kinds.
func (d *Drive) UndoAfter(op outbox.Op) {
	d.mu.Lock()
	s, ok := d.stash[op.Key]
	delete(d.stash, op.Key)
	d.mu.Unlock()
	if ok {
		d.p.Do(s)
	}
}
