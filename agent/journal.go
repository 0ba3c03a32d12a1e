package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"posagent/agent/audit"
	"posagent/agent/checkout/drive"
	"posagent/agent/outbox"
	"posagent/store"
)

// Open opens the journal with the terminal's schema and its audit log. Path, Wrapper, Log and Marks of o are the
// caller's. It answers what store.Open answers.
func Open(ctx context.Context, o store.Options) (*store.Store, error) {
	var db *store.Store
	chain := audit.Chain{MAC: func(table, key string, fields ...any) []byte { return db.MAC(table, key, fields...) }}
	o.Steps, o.AtCommit, o.Note = Schema(), chain.AtCommit, note
	opened, err := store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	db = opened // before the first Write, and no commit of the store's own calls it
	if err := followUp(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// followUp writes a line where the audit log does not end as the journal's end says: the newest lines were removed or changed while
// nothing ran. A journal that is marked as tampered with is opened all the same: what is owed must be finished.
func followUp(ctx context.Context, db *store.Store) error {
	var head audit.Head
	same := true
	err := db.Read(ctx, func(r store.Reader) error {
		end, err := db.EndIn(ctx, r)
		if err != nil && !errors.Is(err, store.ErrTampered) {
			return err
		}
		if head = end.Head; head == (audit.Head{}) { // of a journal from before the log
			return nil
		}
		same, err = audit.EndsWith(r, head)
		return err
	})
	if err != nil || same {
		return err
	}
	return db.Write(ctx, func(tx store.Tx) error { return audit.Resume(tx, head, time.Now()) })
}

// numbers are what the journal's end and its marks carry of it: what the next journal must not give again, and the highest ids, so
// that a row which is removed behind its back leaves a gap that shows.
type numbers struct {
	drive.Numbers
	Operation int64
}

func (n numbers) pack() (b [32]byte) {
	for i, v := range []int64{n.Receipt, n.Trace, n.Batch, 0} {
		binary.BigEndian.PutUint32(b[4*i:], uint32(v))
	}
	binary.BigEndian.PutUint64(b[16:], uint64(n.Sale))
	binary.BigEndian.PutUint64(b[24:], uint64(n.Operation))
	return b
}

func unpack(b [32]byte) (n numbers) {
	n.Receipt, n.Trace, n.Batch = int64(binary.BigEndian.Uint32(b[0:])), int64(binary.BigEndian.Uint32(b[4:])), int64(binary.BigEndian.Uint32(b[8:]))
	n.Sale, n.Operation = int64(binary.BigEndian.Uint64(b[16:])), int64(binary.BigEndian.Uint64(b[24:]))
	return n
}

// note is the store's hook. Ids only rise: a removed row does not lower them.
func note(r store.Reader, last [32]byte) ([32]byte, error) {
	was := unpack(last)
	now, err := drive.Given(r)
	if err != nil {
		return last, err
	}
	op, err := outbox.Highest(r)
	if err != nil {
		return last, err
	}
	now.Sale = max(now.Sale, was.Sale)
	return numbers{now, max(op, was.Operation)}.pack(), nil
}
