package ownership

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/intent"
	"posagent/agent/records/replacedjournal"
	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the table of this package, append-only. It follows the inbox's: what was built before there were owners is the terminal's
// own token's.
func Schema() []store.Step {
	return []store.Step{{Name: "owned/1 things", SQL: `
CREATE TABLE owned_things (
	about TEXT NOT NULL,
	id    TEXT NOT NULL, -- in lower case
	owner TEXT NOT NULL, -- a local client; '' = the terminal's own token
	mac   BLOB NOT NULL, -- empty = from before there were owners
	PRIMARY KEY (about, id)
) STRICT, WITHOUT ROWID;
INSERT INTO owned_things (about, id, owner, mac) SELECT 'order', LOWER(order_id), '', x'' FROM inbox_build WHERE true ON CONFLICT DO NOTHING;
INSERT INTO owned_things (about, id, owner, mac) SELECT 'session', LOWER(session), '', x'' FROM inbox_build WHERE true ON CONFLICT DO NOTHING;
`}, {Name: "owned/2 as it is spelled, made or named", Open: true, SQL: `
CREATE TABLE owned_ids ( -- what a client's call made
	about TEXT NOT NULL,
	id    TEXT NOT NULL, -- as its service spells it
	owner TEXT NOT NULL, -- a local client; '' = the terminal's own token
	mac   BLOB NOT NULL,
	PRIMARY KEY (about, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE owned_named ( -- what a client's call named: it may have been there before, or be another's by now
	about    TEXT NOT NULL,
	id       TEXT NOT NULL,
	owner    TEXT NOT NULL,
	call     TEXT NOT NULL,    -- the session that is to make it; '' = the call that named it
	amount   INTEGER NOT NULL, -- hundredths
	currency TEXT NOT NULL,
	at_ms    INTEGER NOT NULL, -- wall clock
	mac      BLOB NOT NULL,
	PRIMARY KEY (about, id, owner, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX owned_named_call ON owned_named (call) WHERE call <> '';
`}, {Name: "owned/3 accounts", Open: true, SQL: `
ALTER TABLE owned_things ADD COLUMN account TEXT NOT NULL DEFAULT ''; -- where the service stood that has it; '' = where it stands now
ALTER TABLE owned_ids ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE owned_named ADD COLUMN account TEXT NOT NULL DEFAULT '';
`}, {Name: "owned/4 calls", Open: true, SQL: `
ALTER TABLE owned_named ADD COLUMN calls INTEGER NOT NULL DEFAULT 1; -- that named it and were not refused
`}}
}

// Claims are the tables. New makes those that services are given.
type Claims struct {
	DB     store.DB
	Given  func(tx store.Tx, about, id, owner string) error // is told, in its commit, of what a client was given first; nil = nothing is
	secret []byte
}

const (
	table  = "owned_ids"
	folded = "owned_things" // ids of before, in lower case
)

func (c Claims) mac(about, id, owner string) []byte { return c.DB.MAC(table, about, id, owner) }

// Owner is the client that a thing belongs to; found is false if no client has made it. Ids are compared as they are spelled: no service
// folds them.
func (c Claims) Owner(r store.Reader, about, id string) (owner string, found bool, err error) {
	var mac []byte
	if id, err = c.kept(r, about, id); err != nil {
		return "", false, err
	}
	err = r.QueryRow(`SELECT owner, mac FROM owned_ids WHERE about = ? AND id = ? AND account = ''`, about, id).Scan(&owner, &mac)
	good := func(mac []byte) bool { return bytes.Equal(mac, c.mac(about, id, owner)) }
	if errors.Is(err, sql.ErrNoRows) && !chosen(about) {
		low := strings.ToLower(id)
		err = r.QueryRow(`SELECT owner, mac FROM owned_things WHERE about = ? AND id = ? AND account = ''`, about, low).Scan(&owner, &mac)
		good = func(mac []byte) bool { return bytes.Equal(mac, c.DB.MAC(folded, about, low, owner)) }
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("owner of %s: %w", about, err)
	case owner != "" && !good(mac):
		owner = ""
	}
	return owner, true, nil
}

// chosen says that a kind's ids are the callers' choice. What is known of one from before ids were kept as they are spelled is only that
// somebody named another that folds to it; two ids that a service has given do not.
func chosen(about string) bool { return about == order || about == contract || about == reference }

// kept is an id that a caller chose as the tables have it (intent.KeptName), or as it came where an older program has stored it so.
func (c Claims) kept(r store.Reader, about, id string) (string, error) {
	kept := intent.KeptName(c.DB, id)
	if kept == id || !chosen(about) {
		return id, nil
	}
	older := false
	err := r.QueryRow(`SELECT EXISTS (SELECT 1 FROM owned_ids WHERE about = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM owned_named WHERE about = ?1 AND id = ?2)`,
		about, id).Scan(&older)
	switch {
	case err != nil:
		return "", fmt.Errorf("owner of %s: %w", about, err)
	case older:
		return id, nil
	}
	return kept, nil
}

// Claim gives a thing to an owner, durably. wire.NotFound where it belongs to another.
func (c Claims) Claim(ctx context.Context, about, id, owner string) error {
	owns, found := "", false
	err := c.DB.Read(ctx, func(r store.Reader) (err error) { owns, found, err = c.Owner(r, about, id); return err })
	if err == nil && !found {
		err = c.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) (err error) {
			owns, err = c.claim(tx, about, id, owner)
			return err
		})
	}
	switch {
	case err != nil:
		return &wire.Error{Code: wire.Unavailable, Op: about, Msg: "the terminal cannot store anything now", Err: err}
	case owns != owner:
		return none(about)
	}
	return nil
}

// claim is whose a thing is afterwards.
func (c Claims) claim(tx store.Tx, about, id, owner string) (owns string, err error) {
	kept, err := c.kept(tx, about, id)
	if err != nil {
		return "", err
	}
	res, err := tx.Exec(`INSERT INTO owned_ids (about, id, owner, mac) VALUES (?, ?, ?, ?)
		ON CONFLICT (about, id) DO UPDATE SET owner = excluded.owner, mac = excluded.mac, account = '' WHERE account <> ''`,
		about, kept, owner, c.mac(about, kept, owner))
	if err == nil && c.Given != nil {
		if n, _ := res.RowsAffected(); n > 0 { // SQLite always knows
			err = c.Given(tx, about, id, owner)
		}
	}
	if err == nil {
		owns, _, err = c.Owner(tx, about, id)
	}
	return owns, err
}

// Give gives a thing to an owner, whoever owned it.
func (c Claims) Give(tx store.Tx, about, id, owner string) error {
	id, err := c.kept(tx, about, id)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO owned_ids (about, id, owner, mac) VALUES (?, ?, ?, ?) ON CONFLICT (about, id) DO UPDATE SET owner = excluded.owner, mac = excluded.mac, account = ''`,
		about, id, owner, c.mac(about, id, owner))
	if err != nil {
		return fmt.Errorf("owner of %s: %w", about, err)
	}
	return nil
}

// Forget deletes all claims of an owner on things of some kinds.
func (c Claims) Forget(tx store.Tx, owner string, about ...string) error {
	for _, kind := range about {
		for _, query := range []string{`DELETE FROM owned_ids WHERE about = ? AND owner = ?`, `DELETE FROM owned_things WHERE about = ? AND owner = ?`} {
			if _, err := tx.Exec(query, kind, owner); err != nil {
				return fmt.Errorf("claims on %s: %w", kind, err)
			}
		}
	}
	return nil
}

// reach is wire.NotFound where the caller reaches its own things only, and this is none of them.
func (c Claims) reach(ctx context.Context, about, id string) error {
	caller := wire.CallerOf(ctx)
	if !caller.Own {
		return nil
	}
	owner, found := "", false
	err := c.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = c.Owner(r, about, id); return err })
	if err != nil {
		return &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	if !found || owner != caller.Name {
		return c.none(ctx, about)
	}
	return nil
}

// allow is wire.Forbidden where the caller's list has none of the words, and else what reach is.
func (c Claims) allow(ctx context.Context, op, about, id string, words ...string) error {
	if err := wire.Allow(ctx, op, words...); err != nil {
		return err
	}
	return c.reach(ctx, about, id)
}

// got gives the caller what a call of its own made. A thing without a claim belongs to the terminal's own token.
func (c Claims) got(ctx context.Context, about, id string) error {
	caller := wire.CallerOf(ctx)
	if caller.Name == "" || id == "" {
		return nil
	}
	err := c.Claim(ctx, about, id, caller.Name)
	if wire.CodeOf(err) == wire.NotFound && !caller.Own {
		return nil
	}
	return err
}

// made is the error of noting whose a thing is that a call has made: the service has done it, whatever is not stored here.
func made(op string, err error) error {
	if err == nil {
		return nil
	}
	return &wire.Error{Code: wire.UnknownOutcome, Op: op, Msg: "the service has answered, and the terminal cannot store whose it is: ask again under the same Idempotency-Key", Err: err}
}

// as gives a thing to the owner of another, for any caller.
func (c Claims) as(ctx context.Context, about, id, of, name string) error {
	if id == "" {
		return nil
	}
	owner, found := "", false
	err := c.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = c.Owner(r, of, name); return err })
	if err != nil {
		return &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	if !found || owner == "" {
		return nil
	}
	if err := c.Claim(ctx, about, id, owner); err != nil && wire.CodeOf(err) != wire.NotFound {
		return err
	}
	return nil
}

// none is the answer to an id that the caller does not reach, whether or not there is such a thing.
func (c Claims) none(ctx context.Context, about string) error {
	err := c.DB.Read(ctx, func(r store.Reader) error {
		return replacedjournal.NotFound(r, about, replacedjournal.AskPortal, "no such %s", about)
	})
	if wire.CodeOf(err) == "" {
		err = &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	return err
}

// absent says that an error is such an answer, also that of a journal which took a lost one's place.
func absent(err error) bool {
	return wire.CodeOf(err) == wire.NotFound || wire.CodeOf(err) == wire.UnknownOutcome
}

func none(about string) error { return wire.Errorf(wire.NotFound, about, "no such %s", about) }
