package audit

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Kind is what an actor is.
type Kind string

// The kinds of actor.
const (
	Register Kind = "register" // Name is its line
	Client   Kind = "client"   // Name is the local client's, MainClient for the main token
	Person   Kind = "person"   // Name is "uid N", or says where the person stands
	Program  Kind = "program"  // Name is what in it acted: a timer, a restart
	Stranger Kind = "stranger" // was refused; Name is the door
)

// MainClient is the name of the local client that has the main token.
const MainClient = "main"

// Actor is who did something.
type Actor struct {
	Kind    Kind
	Name    string
	Address string // of the peer; "" = none
}

// Uid is the actor of a person's account.
func Uid(uid int) Actor { return Actor{Kind: Person, Name: fmt.Sprintf("uid %d", uid)} }

// Self is the program as an actor; name says what in it acts.
func Self(name string) Actor { return Actor{Kind: Program, Name: name} }

// actorKey is where a context carries the actor.
type actorKey struct{}

// With returns a context in which what is written is a's deed, unless a register or a local client asks for it.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// Of returns the actor of a context: the register that asks (ecr.PeerOf), else the local client (wire.ClientOf), else the one
// of With, else the program.
func Of(ctx context.Context) Actor {
	if p, ok := ecr.PeerOf(ctx); ok {
		return Actor{Kind: Register, Name: p.Line, Address: p.Address}
	}
	if name, ok := wire.ClientOf(ctx); ok {
		if name == "" {
			name = MainClient
		}
		return Actor{Kind: Client, Name: name}
	}
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Kind: Program}
}

// Deed is what was done.
type Deed struct {
	Deed     string // "sale.begin"
	Subject  string // id of what it was done to, "" = none
	Amount   int64  // minor units, 0 = none
	Currency string
	Detail   string // for people; card numbers in it are redacted
}

// Line is a stored Deed.
type Line struct {
	ID int64 // from 1 on, without a gap
	At int64 // unix milliseconds by the wall clock
	Actor
	Deed
}

// Schema is the table of this package, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "audit/1 log", SQL: `
CREATE TABLE audit_log (
	id       INTEGER PRIMARY KEY, -- order of commit
	at_ms    INTEGER NOT NULL,
	actor    TEXT NOT NULL,
	name     TEXT NOT NULL,
	address  TEXT NOT NULL,
	deed     TEXT NOT NULL,
	subject  TEXT NOT NULL,
	amount   INTEGER NOT NULL,
	currency TEXT NOT NULL,
	detail   TEXT NOT NULL,
	link     BLOB NOT NULL        -- '' until the commit chains it
) STRICT;`}, noiseSchema()}
}

// maxDetail is the longest detail that is kept, in bytes.
const maxDetail = 240

// Append stores a deed of the Write's actor in the Write's commit.
func Append(tx store.Tx, now time.Time, d Deed) error {
	return AppendAs(tx, now, Of(store.Context(tx)), d)
}

// AppendAs stores a deed of another actor in the Write's commit.
func AppendAs(tx store.Tx, now time.Time, a Actor, d Deed) error {
	return insert(tx, Line{At: now.UnixMilli(), Actor: a, Deed: d})
}

// decided are the lines that say how a sale or an operation went on, that a day was closed, and what a person decided.
const decided = `(deed LIKE 'sale.%' AND deed <> 'sale.print' OR deed LIKE 'operation.%' OR deed LIKE 'reconcile.%' OR deed IN ('batch.close', 'journal.moved'))`

// Beyond counts what another journal does not know: how sales and operations went on, closed days, a person's decisions; from the
// newest back to the first that both have. A journal of before the audit log has nothing to compare: 0.
func Beyond(r, other store.Reader) (n int, err error) {
	const line = `id || ' ' || at_ms || ' ' || deed || ' ' || subject`
	err = other.QueryRow(`SELECT COUNT(*) FROM sqlite_master WHERE name = 'audit_log'`).Scan(&n)
	if err == nil && n > 0 {
		n, err = store.Beyond(r, other, `SELECT `+line+` FROM audit_log WHERE `+decided+` ORDER BY id DESC`, `SELECT COUNT(*) FROM audit_log WHERE `+line+` = ?`)
	}
	if err != nil {
		return 0, fmt.Errorf("compare the audit log: %w", err)
	}
	return n, nil
}

// insert stores a line that is not chained yet; the number 0 = the next one.
func insert(tx store.Tx, l Line) error {
	var id any
	if l.ID != 0 {
		id = l.ID
	}
	_, err := tx.Exec(`INSERT INTO audit_log (id, at_ms, actor, name, address, deed, subject, amount, currency, detail, link)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')`,
		id, l.At, string(l.Kind), bounded(plain(l.Name)), bounded(plain(l.Address)), l.Deed.Deed, bounded(plain(l.Subject)), l.Amount, l.Currency, bounded(wire.MaskPANs(plain(l.Detail))))
	if err != nil {
		return fmt.Errorf("audit %s: %w", l.Deed.Deed, err)
	}
	return nil
}

// plain writes a space for each character of a text that could make another line of it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// bounded cuts a text at the beginning of a character.
func bounded(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	n := maxDetail
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
