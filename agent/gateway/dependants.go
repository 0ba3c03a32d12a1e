package gateway

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// A dependant is what the service makes with a thing: the transactions of a link, the token of a payment or of a stored card. It has no
// owner of its own: it is its thing's owner's, also after the thing was given to another client (MONEY E.2). A token is of what showed it
// first: a payment that was made with it only names it.

const dependantTable = "offline_dependants"

// keepDependants stores what came with a thing. Nothing is written where all of it is known.
func (f *Front) keepDependants(ctx context.Context, op, about string, t thing, ids ...string) error {
	var fresh []string
	err := f.o.DB.Read(ctx, func(r store.Reader) error {
		fresh = nil
		for _, id := range ids {
			_, known, err := f.parentOf(r, about, id)
			if err == nil && !known && about == aboutToken && f.o.Claims != nil { // an older program's claim
				var owner string
				owner, known, err = f.o.Claims.Owner(r, about, id)
				known = known && owner != t.owner
			}
			if err != nil {
				return err
			}
			if !known {
				fresh = append(fresh, id)
			}
		}
		return nil
	})
	if err == nil && len(fresh) > 0 {
		err = f.o.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
			for _, id := range fresh {
				parent := t.about + "/" + t.local
				if _, err := tx.Exec(`INSERT INTO offline_dependants (about, id, parent, mac) VALUES (?, ?, ?, ?)
					ON CONFLICT (about, id) DO UPDATE SET parent = excluded.parent, mac = excluded.mac, account = '' WHERE account <> ''`,
					about, id, parent, f.o.DB.MAC(dependantTable, about, id, parent)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return &wire.Error{Code: wire.Internal, Op: op, Msg: "the terminal cannot store whose it is", Err: err}
	}
	return nil
}

// parentOf is the thing that a dependant came with.
func (f *Front) parentOf(r store.Reader, about, id string) (t thing, found bool, err error) {
	var parent string
	var mac []byte
	err = r.QueryRow(`SELECT parent, mac FROM offline_dependants WHERE about = ? AND id = ? AND account = ''`, about, id).Scan(&parent, &mac)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return thing{}, false, nil
	case err != nil:
		return thing{}, false, fmt.Errorf("stored ids: %w", err)
	case !bytes.Equal(mac, f.o.DB.MAC(dependantTable, about, id, parent)):
		return thing{}, false, errThing
	}
	kind, local, _ := strings.Cut(parent, "/")
	return f.readLocal(r, kind, local)
}

// heldBy is the client that a thing without a row here belongs to.
func (f *Front) heldBy(r store.Reader, about, id string) (owner string, known bool, err error) {
	t, known, err := f.parentOf(r, about, id)
	if err != nil || known || f.o.Claims == nil {
		return t.owner, known, err
	}
	return f.o.Claims.Owner(r, about, id)
}

// keepTransactions stores the transactions of a link that its service has shown.
func (f *Front) keepTransactions(ctx context.Context, op string, t thing, link paylinks.Link) error {
	var ids []string
	for _, i := range link.Invoices {
		for _, txn := range i.Transactions {
			ids = append(ids, strconv.FormatInt(txn.ID, 10))
		}
	}
	return f.keepDependants(ctx, op, aboutTransaction, t, ids...)
}

// keepToken stores the token of a payment or of a stored card, so that no other client can pay with it.
func (f *Front) keepToken(ctx context.Context, op string, t thing, token wire.Secret) error {
	if token == "" {
		return nil
	}
	return f.keepDependants(ctx, op, aboutToken, t, f.tokenID(token))
}

// Own gives an operation, the thing it is about and everything else that was done to it to a local client ("" = the terminal's own
// token), in the caller's commit; a transaction goes with its link, and a link with its transactions. outbox.ErrUnknown.
func (f *Front) Own(tx store.Tx, key wire.Key, owner string) (g Given, err error) {
	op, err := f.box.Get(tx, key)
	if err != nil {
		return Given{}, err
	}
	about, id, _ := strings.Cut(op.Aggregate, "/")
	t, found, err := f.readLocal(tx, about, id)
	if err == nil && !found {
		t, found, err = f.parentOf(tx, about, id)
	}
	aggregates := []string{op.Aggregate}
	switch {
	case err != nil:
		return Given{}, err
	case found:
		g.About, g.Backend, g.Place = t.about, t.backend, t.account
		var transactions []string
		if transactions, err = store.Column[string](tx, `SELECT about || '/' || id FROM offline_dependants WHERE parent = ? AND about = ? AND account = ''`, t.about+"/"+t.local, aboutTransaction); err == nil {
			aggregates, err = append([]string{t.about + "/" + t.local}, transactions...), f.giveThing(tx, t, owner)
		}
	case f.rows[op.Kind] != nil && f.o.Claims != nil: // nobody here made it
		err = f.o.Claims.Give(tx, about, id, owner)
	}
	for _, aggregate := range aggregates {
		var list []outbox.Op
		if err == nil {
			list, err = f.box.SetOwner(tx, aggregate, owner)
		}
		g.Ops = append(g.Ops, list...)
	}
	return g, err
}

// Given is what a client was given: the operations, and the thing they are about, if it was made here.
type Given struct {
	Ops            []outbox.Op
	About, Backend string // Backend is the backend's id, "" = it is not known
	Place          string // where its service stood, if it stands at other books now
}

// giveThing gives a thing to a client. An older program stored the owner of a dependant and not what it came with: such claims of the
// owner before are deleted, and the next reading of the link, the payment or the card stores them anew.
func (f *Front) giveThing(tx store.Tx, t thing, owner string) error {
	if f.o.Claims != nil && t.owner != owner {
		if err := f.o.Claims.Forget(tx, t.owner, aboutTransaction, aboutToken); err != nil {
			return err
		}
	}
	if t.owner = owner; t.young {
		_, err := tx.Exec(`UPDATE offline_claims SET owner = ?, mac = ? WHERE op = (SELECT id FROM outbox_ops WHERE key = ?) AND about = ?`,
			owner, f.thingMAC(t), string(t.key), t.about)
		return err
	}
	_, err := tx.Exec(`UPDATE offline_things SET owner = ?, mac = ? WHERE about = ? AND local = ?`, owner, f.thingMAC(t), t.about, t.local)
	return err
}
