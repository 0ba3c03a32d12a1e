package agent

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"posagent/agent/audit"
	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/inbox"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/agent/owned"
	"posagent/agent/paylink"
	"posagent/store"
)

// OtherBackendError is Bind's answer when the journal is another terminal's, or still owes something to another backend.
type OtherBackendError struct {
	Service    string // that has moved; "" = the schemes, or the terminal itself
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

// placesSchema: which books each service's operations belong to (MONEY, law IV).
func placesSchema() []store.Step {
	return []store.Step{{Name: "agent/3 places", SQL: `
CREATE TABLE agent_places (
	service TEXT PRIMARY KEY,
	place   TEXT NOT NULL -- address and account, as Place writes them
) STRICT;`}}
}

// Places are where the services stand that operations are stored for, each as Place writes it. The schemes' stands in the Owner.
type Places map[string]string

// Place names the books of a service: its address, and the account that is used there. A key that is changed is no other account.
func Place(address, account string) string {
	if account == "" {
		return address
	}
	return fmt.Sprintf("%s (account %s)", address, account)
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
	was, err := Bound(tx)
	if err == nil && was != "" {
		err = leave(tx, Schemes, was)
	}
	if err == nil {
		_, err = tx.Exec(`DELETE FROM agent_backend`)
	}
	return err
}

// leave marks the ids that a service has given as those of a place that it has left: where it stands now they name nothing, or what is
// another's (laws III and IV).
func leave(tx store.Tx, service, place string) error {
	return each(tx, service, place, offline.Leave, owned.Leave, inbox.Leave, journal.Leave)
}

// returned takes the marks of a place away: a service stands there again.
func returned(tx store.Tx, service, place string) error {
	return each(tx, service, place, offline.Return, owned.Return, inbox.Return, journal.Return)
}

func each(tx store.Tx, service, place string, of ...func(tx store.Tx, service, place string) error) error {
	for _, do := range of {
		if err := do(tx, service, place); err != nil {
			return err
		}
	}
	return nil
}

// Fits returns nil where Bind would tie a journal to name and places.
func Fits(r store.Reader, name string, places Places) error {
	was, err := Bound(r)
	if err != nil {
		return err
	}
	if err := fits(r, was, name); err != nil {
		return err
	}
	_, err = moved(r, places)
	return err
}

// move is a service that stands elsewhere now; was "" = it was bound to no place.
type move struct{ service, was, now string }

// moved lists the services that are bound to no place yet, or to another one. It fails (*OtherBackendError) where anything of such a
// service is open.
func moved(r store.Reader, places Places) (list []move, err error) {
	for _, service := range slices.Sorted(maps.Keys(places)) {
		was, now := "", places[service]
		err := r.QueryRow(`SELECT place FROM agent_places WHERE service = ?`, service).Scan(&was)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read where %s stands: %w", service, err)
		}
		if was == now {
			continue
		}
		list = append(list, move{service, was, now})
		if was == "" {
			continue // an older program did not note it
		}
		sales, ops, err := openOf(r, service)
		if err != nil {
			return nil, err
		}
		if sales > 0 || ops > 0 {
			return nil, &OtherBackendError{Service: service, Was: service + " at " + was, Now: now, Sales: sales, Ops: ops}
		}
	}
	return list, nil
}

// openOf counts what is open of a service: operations, and sales by payment link.
func openOf(r store.Reader, service string) (sales, ops int, err error) {
	lines, err := outbox.Report(r)
	if err != nil {
		return 0, 0, err
	}
	for _, l := range lines {
		kind, _, _ := strings.Cut(l.Kind, ".")
		if !l.State.Final() && (kind == service || kind+"s" == service) { // paylink.reversal is an undo at the paylinks
			ops += int(l.Count)
		}
	}
	if service != offline.Paylinks {
		return 0, ops, nil
	}
	rows, err := journal.Waiting(r, maxOpen)
	if err != nil {
		return 0, 0, err
	}
	for _, row := range rows {
		link, err := paylink.Sells(r, row.Reference)
		if err != nil {
			return 0, 0, err
		}
		if link {
			sales++
		}
	}
	return sales, ops, nil
}

// maxOpen is more than a terminal has open sales: each line has one, and some wait for their undo.
const maxOpen = 10_000

// Schemes names the service whose place stands in the Owner.
const Schemes = "schemes"

// Moved notes what a person says: the books of a service that stood elsewhere stand where name and places say now, and what is open
// goes on there. The reason stands in the audit log. *OtherBackendError where name is another merchant's or terminal's;
// ErrNotMoved where the journal has them there already.
func Moved(ctx context.Context, db store.DB, now time.Time, service, name string, places Places, reason string) error {
	return db.Write(ctx, func(tx store.Tx) error {
		was, err := Bound(tx)
		if err != nil {
			return err
		}
		to := name
		if service != Schemes {
			was, to = "", places[service]
			if err := tx.QueryRow(`SELECT place FROM agent_places WHERE service = ?`, service).Scan(&was); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("read where %s stands: %w", service, err)
			}
		}
		switch {
		case was == "" || was == to:
			return ErrNotMoved
		case service != Schemes:
			err = errors.Join(placed(tx, service, to), returned(tx, service, to))
		case identity(was) != identity(to):
			return &OtherBackendError{Was: was, Now: to}
		default:
			err = errors.Join(named(tx, to), returned(tx, Schemes, to))
		}
		if err != nil {
			return err
		}
		return audit.Append(tx, now, audit.Deed{Deed: "journal.moved", Subject: service, Detail: fmt.Sprintf("from %s to %s: %s", was, to, reason)})
	})
}

// ErrNotMoved is Moved's answer where the journal knows the service at no other place.
var ErrNotMoved = errors.New("the journal knows it at no other place")

// named stores the backend and terminal that the journal belongs to.
func named(tx store.Tx, name string) error {
	if _, err := tx.Exec(`INSERT INTO agent_backend (id, name) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name`, name); err != nil {
		return fmt.Errorf("store the journal's backend: %w", err)
	}
	return nil
}

// placed stores where a service stands.
func placed(tx store.Tx, service, place string) error {
	_, err := tx.Exec(`INSERT INTO agent_places (service, place) VALUES (?, ?) ON CONFLICT (service) DO UPDATE SET place = excluded.place`, service, place)
	if err != nil {
		return fmt.Errorf("store where %s stands: %w", service, err)
	}
	return nil
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
// where the journal has receipts of a real backend. places are bound likewise, each service by itself.
func Bind(ctx context.Context, db store.DB, name string, places Places) error {
	return db.Write(ctx, func(tx store.Tx) error {
		was, err := Bound(tx)
		if err == nil {
			err = fits(tx, was, name)
		}
		if err != nil {
			return err
		}
		changed, err := moved(tx, places)
		if err != nil {
			return err
		}
		for _, m := range changed {
			err := placed(tx, m.service, m.now)
			if err == nil && m.was != "" {
				err = leave(tx, m.service, m.was)
			}
			if err == nil {
				err = returned(tx, m.service, m.now)
			}
			if err != nil {
				return err
			}
		}
		if was == name {
			return nil
		}
		if was != "" {
			if err := errors.Join(catalog.Forget(tx), leave(tx, Schemes, was)); err != nil {
				return err
			}
		}
		if err := returned(tx, Schemes, name); err != nil {
			return err
		}
		return named(tx, name)
	})
}
