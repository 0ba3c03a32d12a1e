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

	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/ownership"
	"posagent/agent/paylink"
	"posagent/agent/records/audit"
	"posagent/store"
)

// OtherBackendError is Bind's answer when the journal is another terminal's, or still owes something to another backend.
type OtherBackendError struct {
	Service    string // that has moved; "" = the schemes, or the terminal itself
	Was, Now   string
	Sales, Ops int    // not at their end
	Replaced   string // how the journal took another's place, which may have sent there what this one does not know
}

func (e *OtherBackendError) Error() string {
	if e.Replaced != "" && e.Sales == 0 && e.Ops == 0 {
		return fmt.Sprintf("%s, and does not know what was sent to %s before: asked for again, it would be done a second time; now it is %s", e.Replaced, e.Was, e.Now)
	}
	if e.Sales == 0 && e.Ops == 0 {
		return fmt.Sprintf("the journal is that of %s; now it is %s", e.Was, e.Now)
	}
	return fmt.Sprintf("the journal holds %d sale(s) and %d operation(s) of %s that have not ended; now it is %s", e.Sales, e.Ops, e.Was, e.Now)
}

// ToSandbox says that the journal is a real backend's and would become a sandbox's.
func (e *OtherBackendError) ToSandbox() bool { return toSandbox(e.Was, e.Now) }

// FromSandbox says that the journal is a sandbox's, has sold, and would become a real backend's.
func (e *OtherBackendError) FromSandbox() bool { return toSandbox(e.Now, e.Was) }

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
	return []store.Step{{Name: "agent/3 places", Open: true, SQL: `
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

// played refuses to let one journal have what a sandbox and a real backend have sold: a day would add up both, and who asks under an id of
// the one would hear that the other has approved it.
func played(r store.Reader, was, name string) error {
	if !toSandbox(was, name) && !toSandbox(name, was) {
		return nil
	}
	if untouched, err := Untouched(r); err != nil || !untouched {
		return cmp.Or[error](err, &OtherBackendError{Was: was, Now: name})
	}
	return nil
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
	k, err := keptIn(tx)
	if err != nil {
		return err
	}
	run, err := outbox.Running(tx)
	if err != nil {
		return err
	}
	if err := leftPlace(tx, left{Service: service, Place: place, Turn: k.Turn + 1, RunMS: run}); err != nil {
		return err
	}
	return each(tx, service, place, gateway.Leave, ownership.Leave, inbox.Leave, journal.Leave)
}

// returned takes the marks of a place away: a service stands there again.
func returned(tx store.Tx, service, place string) error {
	if _, err := tx.Exec(`DELETE FROM agent_left WHERE service = ? AND place = ?`, service, place); err != nil {
		return fmt.Errorf("forget where %s stood: %w", service, err)
	}
	return each(tx, service, place, gateway.Return, ownership.Return, inbox.Return, journal.Return)
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
		lost, why, err := unknownAt(r, service, was, now)
		if err != nil {
			return nil, err
		}
		if was == now && why == "" {
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
		if why != "" {
			return nil, &OtherBackendError{Service: service, Was: service + " at " + lost, Now: now, Replaced: why}
		}
	}
	return list, nil
}

// unknownAt returns a place of a service, other than now, to which may have been sent what this journal does not know, and why: it took
// another's place within the time in which it may be asked for again, and stood there itself (was), or that other one did. why "" = there
// is none. What a sandbox was sent is no money.
func unknownAt(r store.Reader, service, was, now string) (place, why string, err error) {
	why, err = outbox.Replaced(r)
	if err != nil || why == "" {
		return "", "", err
	}
	list, err := store.Column[string](r, `SELECT place FROM agent_left WHERE service = ? AND unseen = 1 ORDER BY turn DESC, place`, service)
	if err != nil {
		return "", "", fmt.Errorf("read where %s stood: %w", service, err)
	}
	for _, place := range append([]string{was}, list...) {
		nobody := service == gateway.Paylinks && strings.HasPrefix(now, place+" (account ") // without credentials no link was made there
		if place != "" && place != now && !nobody && !strings.HasPrefix(place, Sandbox) {
			return place, why, nil
		}
	}
	return "", "", nil
}

// Elsewhere returns the first service that a journal knows at another place than now; "" = none.
func Elsewhere(r store.Reader, places Places) (service, was string, err error) {
	for _, service := range slices.Sorted(maps.Keys(places)) {
		list, err := store.Column[string](r, `SELECT place FROM agent_places WHERE service = ?`, service)
		if err != nil {
			return "", "", fmt.Errorf("read where %s stands: %w", service, err)
		}
		if len(list) > 0 && list[0] != places[service] && list[0] != Sandbox {
			return service, list[0], nil
		}
	}
	return "", "", nil
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
	if service != gateway.Paylinks {
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

// Move is what a person says of a service that stood elsewhere.
type Move struct {
	Service string
	Others  bool   // other books stand there now, and nobody asks again for what a lost journal has sent to the ones before
	Reason  string // stands in the audit log
}

// Moved notes what a person says: the books of a service that stood elsewhere stand where name and places say now, and what is open
// goes on there. *OtherBackendError where name is another merchant's or terminal's, or where others stand there and something is open;
// ErrNotMoved where the journal has them there already.
func Moved(ctx context.Context, db store.DB, beside store.Beside, now time.Time, m Move, name string, places Places) error {
	service := m.Service
	return outliving(ctx, db, beside, func(tx store.Tx) error {
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
		lost, why, err := unknownAt(tx, service, was, to)
		switch {
		case err != nil:
			return err
		case was == "" || why == "" && was == to:
			return ErrNotMoved
		case service == Schemes && identity(was) != identity(to):
			return &OtherBackendError{Was: was, Now: to}
		}
		if service == Schemes {
			err = played(tx, was, to)
		}
		if err == nil && m.Others {
			err = abandon(tx, service, was, to)
		}
		if err != nil {
			return err
		}
		set := placed
		if service == Schemes {
			set = func(tx store.Tx, _, to string) error { return named(tx, to) }
		}
		if err := errors.Join(set(tx, service, to), returned(tx, service, to)); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM agent_left WHERE service = ?`, service); err != nil {
			return fmt.Errorf("forget where %s stood: %w", service, err)
		}
		what := ""
		if m.Others {
			what = ", where other books stand"
		}
		return audit.Append(tx, now, audit.Deed{Deed: "journal.moved", Subject: service, Detail: fmt.Sprintf("from %s to %s%s: %s", cmp.Or(lost, was), to, what, m.Reason)})
	})
}

// abandon leaves the books of a service for others, unless something is open there.
func abandon(tx store.Tx, service, was, to string) error {
	if was == to {
		return nil
	}
	sales, ops, err := openOf(tx, service)
	if service == Schemes {
		if sales, err = journal.Unsettled(tx); err == nil {
			ops, err = outbox.Unfinished(tx)
		}
	}
	if err != nil {
		return err
	}
	if sales > 0 || ops > 0 {
		return &OtherBackendError{Service: service, Was: service + " at " + was, Now: to, Sales: sales, Ops: ops}
	}
	if service == Schemes {
		err = catalog.Forget(tx)
	}
	return errors.Join(err, leave(tx, service, was))
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
	lost, why, err := unknownAt(r, Schemes, was, name)
	if err != nil || why == "" && (was == "" || was == name) {
		return err
	}
	sales, err := journal.Unsettled(r)
	if err != nil {
		return err
	}
	ops, err := outbox.Unfinished(r)
	if err != nil {
		return err
	}
	if was != name && (sales > 0 || ops > 0 || identity(was) != identity(name)) {
		return &OtherBackendError{Was: was, Now: name, Sales: sales, Ops: ops}
	}
	if err := played(r, was, name); err != nil {
		return err
	}
	if why != "" {
		return &OtherBackendError{Was: lost, Now: name, Replaced: why}
	}
	return nil
}

// Bind ties the journal to one backend and terminal, named by Owner. Of another backend it would call money undone that moved
// elsewhere: while anything is open that is refused (*OtherBackendError), afterwards the journal changes hands and the method list
// is forgotten. Another merchant or terminal is refused always: its receipts and batches are not those of this journal. So is a sandbox
// where the journal has receipts of a real backend, and the other way. places are bound likewise, each service by itself. A journal that took another's
// place changes hands by a person's word alone (Moved), as long as what it does not know may be asked for again.
func Bind(ctx context.Context, db store.DB, beside store.Beside, name string, places Places) error {
	return outliving(ctx, db, beside, func(tx store.Tx) error {
		was, err := Bound(tx)
		if err == nil {
			err = fits(tx, was, name)
		}
		if err == nil {
			err = forgetLeft(tx)
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
