package owned

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/lost"
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
`}}
}

// Claims is the table. New makes those that services are given.
type Claims struct {
	DB     store.DB
	secret []byte
	named  *named
}

const table = "owned_things"

func (c Claims) mac(about, id, owner string) []byte { return c.DB.MAC(table, about, id, owner) }

// Owner is the client that a thing belongs to; found is false if no client has claimed it.
func (c Claims) Owner(r store.Reader, about, id string) (owner string, found bool, err error) {
	id = strings.ToLower(id)
	var mac []byte
	err = r.QueryRow(`SELECT owner, mac FROM owned_things WHERE about = ? AND id = ?`, about, id).Scan(&owner, &mac)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("owner of %s: %w", about, err)
	case owner != "" && !bytes.Equal(mac, c.mac(about, id, owner)):
		owner = ""
	}
	return owner, true, nil
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
	folded := strings.ToLower(id)
	_, err = tx.Exec(`INSERT INTO owned_things (about, id, owner, mac) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		about, folded, owner, c.mac(about, folded, owner))
	if err == nil {
		owns, _, err = c.Owner(tx, about, id)
	}
	return owns, err
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
	if c.unsure(about, id) {
		return wire.Errorf(wire.Unavailable, about, "the call that names it first has no answer yet: ask again")
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

// got gives the caller what a reply names. A thing without a claim belongs to the terminal's own token.
func (c Claims) got(ctx context.Context, about, id string) error {
	if wire.Client(ctx) == "" {
		return nil
	}
	return c.take(ctx, about, id)
}

// take claims an id that the caller chooses. Another's is wire.NotFound to a caller that reaches its own things only; to others it
// stays what it was.
func (c Claims) take(ctx context.Context, about, id string) error {
	if id == "" {
		return nil
	}
	caller := wire.CallerOf(ctx)
	err := c.Claim(ctx, about, id, caller.Name)
	if wire.CodeOf(err) == wire.NotFound && !caller.Own {
		return nil
	}
	return err
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
	err := c.DB.Read(ctx, func(r store.Reader) error { return lost.NotFound(r, about, lost.AskPortal, "no such %s", about) })
	if wire.CodeOf(err) == "" {
		err = &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	return err
}

func none(about string) error { return wire.Errorf(wire.NotFound, about, "no such %s", about) }
