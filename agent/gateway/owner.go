package gateway

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// The dependants.
const (
	aboutTransaction = "transaction" // of a payment link; the service makes it when a customer pays
	aboutToken       = "token value"
)

// ownerOf is the owner of a thing that a call names, or wire.NotFound: the thing is another client's, or nobody here made it and
// the caller reaches its own things only.
func (f *Front) ownerOf(r store.Reader, op, about, id string, t thing, known bool, caller wire.Caller) (owner string, err error) {
	owner = t.owner
	if !known {
		if owner, known, err = f.heldBy(r, about, id); err != nil {
			return "", err
		}
		if !known {
			owner = caller.Name
		}
	}
	if caller.Own && (!known || owner != caller.Name) {
		return "", f.none(r, op, about)
	}
	return owner, nil
}

// none is the answer to an id that the caller does not reach, whether or not there is such a thing.
func (f *Front) none(r store.Reader, op, about string) error {
	return f.lost(r, op, about, "no such %s", about)
}

func (f *Front) notFound(ctx context.Context, op, about string) error {
	return unread(op, f.o.DB.Read(ctx, func(r store.Reader) error { return f.none(r, op, about) }))
}

// doubtNotFound is err, the service's answer to a reading. Its "not found" proves nothing for a local id that this journal does not have
// and a lost one may have given.
func (f *Front) doubtNotFound(ctx context.Context, op, about, id string, known bool, err error) error {
	if known || wire.CodeOf(err) != wire.NotFound || !wire.Key(strings.TrimPrefix(id, "L")).Ours() {
		return err
	}
	return unreadOrNil(op, f.o.DB.Read(ctx, func(r store.Reader) error {
		if fault := f.lost(r, op, about, ""); wire.CodeOf(fault) != wire.NotFound {
			return fault
		}
		return err
	}))
}

// unread is the error of a reading of the journal.
func unread(op string, err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return e
	}
	return &wire.Error{Code: wire.Internal, Op: op, Err: err}
}

func (f *Front) tokenID(token wire.Secret) string {
	return hex.EncodeToString(f.o.DB.MAC(thingTable, aboutToken, token.Reveal())[:16])
}

// reachToken refuses a token that the caller did not get here.
func (f *Front) reachToken(ctx context.Context, token wire.Secret) error {
	caller := wire.CallerOf(ctx)
	if !caller.Own || token == "" {
		return nil
	}
	return unreadOrNil(KindPaymentCreate, f.o.DB.Read(ctx, func(r store.Reader) error {
		_, err := f.ownerOf(r, KindPaymentCreate, aboutToken, f.tokenID(token), thing{}, false, caller)
		return err
	}))
}

func unreadOrNil(op string, err error) error {
	if err == nil {
		return nil
	}
	return unread(op, err)
}

// reachTransaction refuses a transaction that the caller does not reach, and a write to one of the register's sales. Whose it is
// says the link it was made by. wire.NotFound, wire.Conflict, and the service's error where it has to be asked and does not answer.
func (f *Front) reachTransaction(ctx context.Context, op string, id int64) error {
	caller := wire.CallerOf(ctx)
	if !caller.Own && f.o.Sold == nil {
		return nil
	}
	name := strconv.FormatInt(id, 10)
	var owner string
	var known bool
	err := f.o.DB.Read(ctx, func(r store.Reader) (err error) { owner, known, err = f.heldBy(r, aboutTransaction, name); return err })
	if err != nil {
		return unread(op, err)
	}
	if !known {
		if owner, known, err = f.ownerByLink(ctx, op, id, name); err != nil {
			return err
		}
	}
	if caller.Own && (!known || owner != caller.Name) {
		return f.notFound(ctx, op, aboutTransaction)
	}
	return nil
}

// ownerByLink asks the service by which link a transaction was made.
func (f *Front) ownerByLink(ctx context.Context, op string, id int64, name string) (owner string, known bool, err error) {
	txn, err := f.o.Transactions.Read(ctx, id)
	if err != nil {
		if wire.CodeOf(err) == wire.NotFound {
			err = f.notFound(ctx, op, aboutTransaction)
		}
		return "", false, err
	}
	link := soldLink(txn)
	var t thing
	err = f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		if link.ID != 0 {
			number := strconv.FormatInt(link.ID, 10) // the service's: a local one may be alike
			if t, known, err = f.readThing(r, byBackend, "link", number, number); err != nil || known {
				return err
			}
		}
		if err = f.notSold(r, op, link); wire.CodeOf(err) == wire.Conflict && wire.CallerOf(ctx).Own { // it sees no sale of the register's
			err = f.none(r, op, aboutTransaction)
		}
		return err
	})
	if err != nil {
		return "", false, unread(op, err)
	}
	if known {
		if err := f.keepDependants(ctx, op, aboutTransaction, t, name); err != nil {
			return "", false, err
		}
	}
	return t.owner, known, nil
}

// SoldLink is what a link is known by. A service need not say its number with a transaction.
type SoldLink struct {
	ID        int64
	Hash      string
	Reference string
}

// soldLink is the link that a transaction was made by.
func soldLink(txn paylinks.Transaction) SoldLink {
	link := SoldLink{Reference: txn.ReferenceID}
	if i := txn.Invoice; i != nil {
		if link.ID = i.PaymentRequestID; i.PaymentLink != nil {
			link.Hash = i.PaymentLink.Hash
		}
	}
	return link
}

// notSold refuses what would take a register's sale back behind its back (the sale's remaining amount, journal and totals).
func (f *Front) notSold(r store.Reader, op string, link SoldLink) error {
	if f.o.Sold == nil {
		return nil
	}
	sale, err := f.o.Sold(r, link)
	if err == nil && sale != "" {
		err = wire.Errorf(wire.Conflict, op, "it is the register's: %s; take it back at the register", sale)
	}
	return err
}

// unsold refuses to take back a link by which the register sold.
func (f *Front) unsold(ctx context.Context, op string, id int64, known bool) error {
	if known || f.o.Sold == nil {
		return nil
	}
	return unreadOrNil(op, f.o.DB.Read(ctx, func(r store.Reader) error { return f.notSold(r, op, SoldLink{ID: id}) }))
}

// OwnerOf is the local client whose a thing is, by the backend's id; found is false where nobody here made it, or its id is not known
// yet. What it reads is not verified.
func OwnerOf(r store.Reader, about, id string) (owner string, found bool, err error) {
	err = r.QueryRow(`SELECT owner FROM offline_things WHERE `+byBackend+` ORDER BY id DESC LIMIT 1`, about, strings.ToLower(id), id).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return owner, err == nil, err
}

// Making tells whether an answer is under way that may bring the backend's id of a thing.
func (f *Front) Making(about string) bool {
	for _, b := range f.rows {
		if b.Makes && b.Thing == about && f.box != nil && f.box.Busy(b.Service) {
			return true
		}
	}
	return false
}
