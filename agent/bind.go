package agent

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/store"
)

// OtherBackendError is Bind's answer when the journal is another terminal's, or still owes something to another backend.
type OtherBackendError struct {
	Was, Now   string
	Sales, Ops int // not at their end
}

func (e *OtherBackendError) Error() string {
	if e.Sales == 0 && e.Ops == 0 {
		return fmt.Sprintf("the journal is that of %s; now it is %s", e.Was, e.Now)
	}
	return fmt.Sprintf("the journal holds %d sale(s) and %d operation(s) of %s that have not ended; now it is %s", e.Sales, e.Ops, e.Was, e.Now)
}

// ToSandbox says that the journal is a real backend's and would become a sandbox's.
func (e *OtherBackendError) ToSandbox() bool { return toSandbox(e.Was, e.Now) }

// Foreign says that the journal is another merchant's or terminal's, whatever is open in it.
func (e *OtherBackendError) Foreign() bool { return identity(e.Was) != identity(e.Now) }

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

// Sandbox stands for the backend of a sandbox in the name of an owner.
const Sandbox = "the sandbox"

func toSandbox(was, name string) bool {
	return strings.HasPrefix(name, Sandbox+" (") && !strings.HasPrefix(was, Sandbox+" (")
}

// Owner names the backend and terminal that a journal belongs to.
func Owner(backend, merchant, terminal string) string {
	return fmt.Sprintf("%s (merchant %s, terminal %s)", backend, merchant, terminal)
}

// identity is the merchant and terminal of an Owner; "" = it names none.
func identity(name string) string {
	if i := strings.LastIndex(name, " (merchant "); i >= 0 {
		return name[i:]
	}
	return ""
}

// Unbind lets a journal in which nothing is open belong to whichever terminal starts on it next. With anything open it does nothing.
func Unbind(tx store.Tx) error {
	sales, err := journal.Unsettled(tx)
	if err != nil {
		return err
	}
	ops, err := outbox.Unfinished(tx)
	if err != nil || sales > 0 || ops > 0 {
		return err
	}
	_, err = tx.Exec(`DELETE FROM agent_backend`)
	return err
}

// Fits returns nil where Bind would tie a journal to name.
func Fits(r store.Reader, name string) error {
	was, err := Bound(r)
	if err != nil {
		return err
	}
	return fits(r, was, name)
}

// Untouched returns whether no sale and no operation was ever in a journal, and no receipt was given by it.
func Untouched(r store.Reader) (bool, error) {
	given, err := journal.Given(r)
	if err != nil {
		return false, err
	}
	op, err := outbox.Highest(r)
	return given == journal.Numbers{Batch: 1} && op == 0, err
}

// fits judges a change of hands.
func fits(r store.Reader, was, name string) error {
	if was == "" || was == name {
		return nil
	}
	sales, err := journal.Unsettled(r)
	if err != nil {
		return err
	}
	ops, err := outbox.Unfinished(r)
	if err != nil {
		return err
	}
	if sales > 0 || ops > 0 || identity(was) != identity(name) {
		return &OtherBackendError{Was: was, Now: name, Sales: sales, Ops: ops}
	}
	if toSandbox(was, name) { // its next receipts would stand behind those of real money
		if untouched, err := Untouched(r); err != nil || !untouched {
			return cmp.Or[error](err, &OtherBackendError{Was: was, Now: name})
		}
	}
	return nil
}

// Bind ties the journal to one backend and terminal, named by Owner. Of another backend it would call money undone that moved
// elsewhere: while anything is open that is refused (*OtherBackendError), afterwards the journal changes hands and the method list
// is forgotten. Another merchant or terminal is refused always: its receipts and batches are not those of this journal. So is a sandbox
// where the journal has receipts of a real backend.
func Bind(ctx context.Context, db store.DB, name string) error {
	return db.Write(ctx, func(tx store.Tx) error {
		was, err := Bound(tx)
		if err == nil {
			err = fits(tx, was, name)
		}
		if err != nil || was == name {
			return err
		}
		if was != "" {
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
