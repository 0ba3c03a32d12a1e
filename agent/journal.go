package agent

import (
	"context"
	"errors"
	"time"

	"posagent/agent/records/audit"
	"posagent/agent/records/deletedrows"
	"posagent/store"
	"posagent/store/sqlite"
)

// Open opens the journal with the terminal's schema and its audit log. Path, Wrapper, Log and Marks of o are the
// caller's. It answers what sqlite.Open answers.
func Open(ctx context.Context, o sqlite.Options) (store.Journal, error) {
	var db store.Journal
	chain := audit.Chain{MAC: func(table, key string, fields ...any) []byte { return db.MAC(table, key, fields...) }}
	o.Steps, o.AtCommit, o.Note = Schema(), chain.AtCommit, deletedrows.Note
	opened, err := sqlite.Open(ctx, o)
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
func followUp(ctx context.Context, db store.Journal) error {
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
