package ownership

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"posagent/agent/intent"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// New returns claims. secret makes the backend's Idempotency-Keys of local clients; it outlives the journal.
func New(db store.DB, secret []byte) Claims { return Claims{DB: db, secret: secret} }

// key returns the Idempotency-Key that the backend gets: one client's must not meet another's there. The terminal's own token
// keeps its keys as they are.
func (c Claims) key(ctx context.Context, key wire.Key) wire.Key {
	client := wire.Client(ctx)
	if client == "" || key == "" {
		return key
	}
	return wire.MakeKey(c.secret, "posagent client key 1", client, string(key))
}

// naming is an id that a client's call named, and by what it is known that the call made it. The id alone gives the client nothing: it
// may be of a thing that is another's.
type naming struct {
	about, id, owner string
	call             string // the session that is to make it; "" = the call itself
	amount           int64  // hundredths
	currency         string
	at               int64 // unix milliseconds, before the call left
}

const namedTable = "owned_named"

func (c Claims) namedMAC(n naming) []byte {
	return c.DB.MAC(namedTable, n.about, n.id, n.owner, n.call, n.amount, n.currency, n.at)
}

// name notes what a call names; call it before the call leaves. A caller that reaches its own things only does not name what another one
// here has named before it, or made: that is wire.NotFound. wire.Unavailable where nothing can be stored. undo takes back what this call
// named, once it was refused: what an earlier call named, or one beside it, stays, since that one may have had its effect. Where that cannot
// be stored the naming stays, and proves as little as before.
func (c Claims) name(ctx context.Context, n naming) (undo func(), err error) {
	if n.id == "" {
		return func() {}, nil
	}
	others, id := false, n.id
	var was []naming
	err = c.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) (err error) {
		if n.id, err = c.kept(tx, n.about, id); err != nil {
			return err
		}
		err = tx.QueryRow(`SELECT NOT EXISTS (SELECT 1 FROM owned_named WHERE about = ?1 AND id = ?2 AND owner = ?3 AND account = '')
			AND (EXISTS (SELECT 1 FROM owned_named WHERE about = ?1 AND id = ?2 AND account = '')
				OR EXISTS (SELECT 1 FROM owned_ids WHERE about = ?1 AND id = ?2 AND owner <> ?3 AND account = ''))`,
			n.about, n.id, n.owner).Scan(&others)
		if others = others && wire.CallerOf(ctx).Own; err != nil || others {
			return err
		}
		if was, err = c.namings(tx, `about = ? AND id = ? AND owner = ? AND call = ?`, n.about, n.id, n.owner, n.call); err != nil {
			return err
		}
		if len(was) > 0 { // a repeat may be answered for what the first call made
			n.at = min(n.at, was[0].at)
		}
		_, err = tx.Exec(`INSERT INTO owned_named (about, id, owner, call, amount, currency, at_ms, mac, calls) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)
			ON CONFLICT (about, id, owner, call) DO UPDATE SET amount = excluded.amount, currency = excluded.currency, at_ms = excluded.at_ms, mac = excluded.mac,
				calls = CASE account WHEN '' THEN calls + 1 ELSE 1 END, account = ''`,
			n.about, n.id, n.owner, n.call, n.amount, n.currency, n.at, c.namedMAC(n))
		return err
	})
	switch {
	case err != nil:
		return nil, &wire.Error{Code: wire.Unavailable, Op: n.about, Msg: "the terminal cannot store anything now", Err: err}
	case others:
		return nil, c.none(ctx, n.about)
	}
	return func() { c.unname(ctx, n, was) }, nil
}

// unname takes back one call's naming; was is what stood there before it.
func (c Claims) unname(ctx context.Context, n naming, was []naming) {
	const one = ` WHERE about = ? AND id = ? AND owner = ? AND call = ?`
	key := []any{n.about, n.id, n.owner, n.call}
	_ = c.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE owned_named SET calls = calls - 1`+one, key...)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM owned_named`+one+` AND calls <= 0`, key...)
		}
		if err == nil && len(was) > 0 { // unless another call has named it since
			w := was[0]
			_, err = tx.Exec(`UPDATE owned_named SET amount = ?, currency = ?, at_ms = ?, mac = ?`+one+` AND mac = ?`,
				append([]any{w.amount, w.currency, w.at, c.namedMAC(w)}, append(key, c.namedMAC(n))...)...)
		}
		return err
	})
}

// namings are the latest namings that a condition finds, the newest first. One that was changed from outside is none.
func (c Claims) namings(r store.Reader, where string, args ...any) (list []naming, err error) {
	err = store.Each(r, func(row store.Row) error {
		var n naming
		var mac []byte
		err := row.Scan(&n.about, &n.id, &n.owner, &n.call, &n.amount, &n.currency, &n.at, &mac)
		if err == nil && bytes.Equal(mac, c.namedMAC(n)) {
			list = append(list, n)
		}
		return err
	}, `SELECT about, id, owner, call, amount, currency, at_ms, mac FROM owned_named WHERE account = '' AND `+where+fmt.Sprintf(` ORDER BY at_ms DESC LIMIT %d`, manyNamed), args...)
	return list, err
}

// manyNamed is how many sessions are asked what they made.
const manyNamed = 10

// namedBy are the caller's namings of an id.
func (c Claims) namedBy(ctx context.Context, about, id string) (list []naming, err error) {
	err = c.DB.Read(ctx, func(r store.Reader) (err error) {
		kept, err := c.kept(r, about, id)
		if err == nil {
			list, err = c.namings(r, `about = ? AND id = ? AND owner = ?`, about, kept, wire.CallerOf(ctx).Name)
		}
		return err
	})
	if err != nil {
		return nil, &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	return list, nil
}

// othersNamed says that another caller has named an id, too: one that reaches everything may name what a client has named.
func (c Claims) othersNamed(ctx context.Context, about, id string) (yes bool, err error) {
	err = c.DB.Read(ctx, func(r store.Reader) error {
		kept, err := c.kept(r, about, id)
		if err != nil {
			return err
		}
		return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM owned_named WHERE about = ? AND id = ? AND owner <> ? AND account = '')`, about, kept, wire.CallerOf(ctx).Name).Scan(&yes)
	})
	if err != nil {
		return false, &wire.Error{Code: wire.Internal, Op: about, Err: err}
	}
	return yes, nil
}

// skew is how much the clocks of one service's machines may differ.
const skew = time.Minute

// shows says that a status is of what the call made: its amount and currency, and not from before it (law II), both by the service's own
// clock. Ours only measures how long ago the call was. What stood there when the call left is known from before (schemes.occupied).
func (c Claims) shows(n naming, st aapay.Status) bool {
	began, err := time.Parse(time.RFC3339, st.TimeStamp)
	r := st.Receipt
	if err != nil || r == nil || n.amount <= 0 || r.Amount != n.amount || r.Currency != n.currency || r.Reference != "" && r.Reference != n.id && intent.KeptName(c.DB, r.Reference) != n.id {
		return false
	}
	left := time.UnixMilli(n.at)
	if st.Answered.IsZero() { // a service that does not say what time it is
		return !began.Before(left.Add(-skew))
	}
	return st.Answered.Sub(began) <= time.Since(left)+skew
}

// refused says that a call had no effect.
func refused(err error) bool {
	if wire.ProvesNothing(err) {
		return false
	}
	switch wire.CodeOf(err) {
	case "", wire.UnknownOutcome, wire.Internal:
		return false
	}
	return true
}
