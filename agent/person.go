package agent

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"posagent/agent/port/login"
	"posagent/agent/records/audit"
	"posagent/store"
)

// DeedLogin is the deed of a person who has entered the PIN of the page.
const DeedLogin = "page.login"

func pinSchema() []store.Step {
	return []store.Step{{Name: "agent/3 tries at the PIN", Open: true, SQL: `
CREATE TABLE agent_pin (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	pin   TEXT NOT NULL,   -- id of the stored PIN that the tries were at
	tries INTEGER NOT NULL -- in a row, since a right one
) STRICT;`}}
}

// pinTries keeps the tries at the page's PIN in the journal.
type pinTries struct {
	db  store.DB
	now func() time.Time
}

var _ login.Tries = pinTries{}

// Made implements login.Tries.
func (p pinTries) Made(ctx context.Context, pin string) (n int, err error) {
	err = p.db.Read(ctx, func(r store.Reader) error {
		n, err = triesAt(r, pin)
		return err
	})
	return n, err
}

// Count implements login.Tries.
func (p pinTries) Count(ctx context.Context, pin string) (n int, err error) {
	err = p.db.Write(ctx, func(tx store.Tx) error {
		if n, err = triesAt(tx, pin); err != nil {
			return err
		}
		n++
		return setTries(tx, pin, n)
	})
	return n, err
}

// Right implements login.Tries.
func (p pinTries) Right(ctx context.Context, pin string) error {
	return p.db.Write(ctx, func(tx store.Tx) error {
		if err := setTries(tx, pin, 0); err != nil {
			return err
		}
		return audit.Append(tx, p.now(), audit.Deed{Deed: DeedLogin})
	})
}

func triesAt(r store.Reader, pin string) (n int, err error) {
	err = r.QueryRow(`SELECT tries FROM agent_pin WHERE id = 1 AND pin = ?`, pin).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the tries at the PIN: %w", err)
	}
	return n, nil
}

func setTries(tx store.Tx, pin string, n int) error {
	_, err := tx.Exec(`INSERT INTO agent_pin (id, pin, tries) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET pin = excluded.pin, tries = excluded.tries`, pin, n)
	if err != nil {
		return fmt.Errorf("store the tries at the PIN: %w", err)
	}
	return nil
}
