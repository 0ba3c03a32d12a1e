package agent

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"posagent/agent/catalog"
	"posagent/agent/checkout/drive"
	"posagent/agent/outbox"
	"posagent/store"
)

// OtherBackendError is Bind's answer when the journal still owes something to another backend.
type OtherBackendError struct {
	Was, Now   string
	Sales, Ops int // not at their end
}

func (e *OtherBackendError) Error() string {
	return fmt.Sprintf("the journal holds %d sale(s) and %d operation(s) of %s that have not ended; now it is %s", e.Sales, e.Ops, e.Was, e.Now)
}

// bindSchema is the one table of this package.
func bindSchema() []store.Step {
	return []store.Step{{Name: "agent/1 backend", SQL: `
CREATE TABLE agent_backend (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	name TEXT NOT NULL -- the backend and terminal this journal belongs to
) STRICT;`}}
}

// Bound is the backend and terminal that a journal belongs to, "" where it was never bound.
func Bound(r store.Reader) (name string, err error) {
	err = r.QueryRow(`SELECT name FROM agent_backend WHERE id = 1`).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the journal's backend: %w", err)
	}
	return name, nil
}

// Bind ties the journal to one backend and terminal, named by name. Asked about another one it would call money undone that
// moved elsewhere: while anything is open that is refused (*OtherBackendError), afterwards the journal changes hands and the
// method list is forgotten.
func Bind(ctx context.Context, db store.DB, name string) error {
	return db.Write(ctx, func(tx store.Tx) error {
		var was string
		err := tx.QueryRow(`SELECT name FROM agent_backend WHERE id = 1`).Scan(&was)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return fmt.Errorf("read the journal's backend: %w", err)
		case was == name:
			return nil
		default:
			sales, err := drive.Unsettled(tx)
			if err != nil {
				return err
			}
			ops, err := outbox.Unfinished(tx)
			if err != nil {
				return err
			}
			if sales > 0 || ops > 0 {
				return &OtherBackendError{Was: was, Now: name, Sales: sales, Ops: ops}
			}
			if err := catalog.Forget(tx); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`INSERT INTO agent_backend (id, name) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name`, name); err != nil {
			return fmt.Errorf("store the journal's backend: %w", err)
		}
		return nil
	})
}
