package paylinks

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "paylinks"

// link is one payment link as stored. Times are unix ms, 0 = never.
type link struct {
	ID         int64
	Hash       string
	Reference  string
	Hundredths int64
	Minor      money.Minor
	Currency   string
	Sealed     []byte // the create request
	Created    int64
	Expires    int64
	Deleted    int64
	Txn        int64 // the payment that holds it, 0 = none
	Charges    int64 // of a subscription: how often it was charged again
	Next       int64 // when it is due by itself: a customer who pays, or the subscription's next charge
}

// The kinds of transaction. A refund has its own postings and no life of its own; the routes show payments and renewals.
const (
	kindPayment = "payment"
	kindRenewal = "subscription"
	kindRefund  = "refund"
)

// txn is one transaction as stored.
type txn struct {
	ID         int64
	UUID       string
	Link       int64
	Type       string
	Original   int64 // of a refund: the transaction it is about
	Status     Status
	Hundredths int64
	Charged    int64 // what became the merchant's, hundredths
	Refunded   int64 // of that, what went back
	Currency   string
	Reference  string
	Purpose    string
	Lang       string
	Brand      string
	Card       string // masked
	Contact    []byte // sealed, nil = none
	Created    int64
	Goal       event // what happens at Next
	Next       int64
}

func (l *link) cell() store.Cell {
	return store.Cell{Table: "links_link", Key: number(l.ID), Column: "request"}
}

func (l *link) expired(now int64) bool { return l.Expires != 0 && l.Expires <= now }

// expiry is the moment a link made to be paid until a day can be paid no more: the next day's first, in UTC. 0 = never.
func expiry(date string) int64 {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0
	}
	return day.AddDate(0, 0, 1).UnixMilli()
}

// asked says that the bank waits for the cardholder's answer.
func (t *txn) asked() bool {
	return t.Status == Waiting && (t.Goal == evLapse || t.Goal == evLapseBad)
}

// amount is what the transaction is about, hundredths: what was charged, as soon as that is known, else what was asked for.
func (t *txn) amount() int64 {
	if t.Charged > 0 {
		return t.Charged
	}
	return t.Hundredths
}

func (t *txn) cell() store.Cell {
	return store.Cell{Table: "links_txn", Key: number(t.ID), Column: "contact"}
}

func number(id int64) string { return strconv.FormatInt(id, 10) }

func (l *link) fields() store.Fields {
	return store.Fields{"id", &l.ID, "hash", &l.Hash, "reference", &l.Reference, "hundredths", &l.Hundredths, "minor", &l.Minor, "currency", &l.Currency,
		"request", &l.Sealed, "created_ms", &l.Created, "expires_ms", store.OrNull(&l.Expires), "deleted_ms", store.OrNull(&l.Deleted),
		"txn", store.OrNull(&l.Txn), "charges", &l.Charges, "next_ms", store.OrNull(&l.Next)}
}

func (t *txn) fields() store.Fields {
	return store.Fields{"id", &t.ID, "uuid", &t.UUID, "link", &t.Link, "type", &t.Type, "original", store.OrNull(&t.Original), "status", &t.Status,
		"hundredths", &t.Hundredths, "charged", &t.Charged, "refunded", &t.Refunded, "currency", &t.Currency, "reference", &t.Reference,
		"purpose", &t.Purpose, "lang", &t.Lang, "brand", &t.Brand, "card", &t.Card, "contact", &t.Contact, "created_ms", &t.Created,
		"goal", &t.Goal, "next_ms", store.OrNull(&t.Next)}
}

var (
	linkTable  = store.NewTable("links_link", (*link).fields)
	changeLink = linkTable.Update("deleted_ms", "txn", "charges", "next_ms") // what may change of one
	txnTable   = store.NewTable("links_txn", (*txn).fields)
	changeTxn  = txnTable.Update("status", "charged", "refunded", "reference", "purpose", "goal", "next_ms")
)

// found turns no row into nil.
func found[T any](v T, err error, what string) (*T, error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return &v, nil
}

// The ways to find a link.
const (
	byID   = `id = ?`
	byHash = `hash = ?`
)

// linkWhere reads the link a condition finds, or nil.
func linkWhere(r store.Reader, where string, value any) (*link, error) {
	l, err := linkTable.One(r, "WHERE "+where, value)
	return reached(r, l.ID, l, err, "link")
}

// reached is found, where the link is the caller's: another merchant's is not there, nor is what belongs to it.
func reached[T any](r store.Reader, link int64, v T, err error, what string) (*T, error) {
	out, err := found(v, err, what)
	if err != nil || out == nil {
		return nil, err
	}
	switch err := room.Reaches(r, "", linkResource, number(link)); {
	case wire.CodeOf(err) == wire.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return out, nil
}

// linkResource is what the owner of a link, of its transactions and its attachments is stored under.
const linkResource = "links_link"

// txnByID reads a transaction, or nil.
func txnByID(r store.Reader, id int64) (*txn, error) { return txnWhere(r, byID, id) }

// txnWhere reads the transaction a condition finds, or nil.
func txnWhere(r store.Reader, where string, value any) (*txn, error) {
	t, err := txnTable.One(r, "WHERE "+where, value)
	return reached(r, t.Link, t, err, "transaction")
}

// txnsOf reads the transactions a condition picks.
func txnsOf(r store.Reader, where string, args ...any) ([]*txn, error) {
	list, err := txnTable.All(r, where, args...)
	if err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	var out []*txn
	for i := range list {
		out = append(out, &list[i])
	}
	return out, nil
}

func (s *Links) insertLink(tx store.Tx, l *link, request []byte) (err error) {
	if l.ID, err = tx.Number("links_link"); err != nil {
		return fmt.Errorf("number a link: %w", err)
	}
	l.Hash = room.Name(16)
	if l.Sealed, err = s.DB.Seal(tx, l.cell(), request); err != nil {
		return fmt.Errorf("seal link %d: %w", l.ID, err)
	}
	if err := linkTable.Insert(tx, l); err != nil {
		return fmt.Errorf("store link %d: %w", l.ID, err)
	}
	return room.Claim(tx, linkResource, number(l.ID))
}

// saveLink stores what may change of a link.
func saveLink(tx store.Tx, l *link) error {
	if err := changeLink(tx, l); err != nil {
		return fmt.Errorf("store link %d: %w", l.ID, err)
	}
	return nil
}

// insertTxn numbers and stores a transaction and opens its books; contact may be nil.
func (s *Links) insertTxn(tx store.Tx, t *txn, contact []byte) (err error) {
	if t.ID, err = tx.Number("links_txn"); err != nil {
		return fmt.Errorf("number a transaction: %w", err)
	}
	t.UUID = newUUID()
	if contact != nil {
		if t.Contact, err = s.DB.Seal(tx, t.cell(), contact); err != nil {
			return fmt.Errorf("seal contact of %d: %w", t.ID, err)
		}
	}
	if err := txnTable.Insert(tx, t); err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	if t.Type == kindRefund {
		return nil
	}
	return journal.Open(tx, Service, number(t.ID), t.Currency, minorOf(t.Hundredths, t.Currency))
}

// saveTxn stores what may change of a transaction.
func saveTxn(tx store.Tx, t *txn) error {
	if err := changeTxn(tx, t); err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	return nil
}

// post lets an event of the books happen to t's money on account of the transaction by.
func post(tx store.Tx, t, by *txn, at int64, e books.Event) error {
	_, err := journal.Post(tx, journal.Ref{Service: Service, Payment: number(t.ID), Txn: number(by.ID), AtMS: at}, e)
	return err
}

// minorOf converts an amount that was proven exact when its link was made; anything else is no amount.
func minorOf(hundredths int64, currency string) money.Minor {
	cur, _ := money.Lookup(currency)
	minor, err := money.FromHundredths(hundredths, cur)
	if err != nil {
		return 0
	}
	return minor
}

// newUUID makes a version 4 UUID.
func newUUID() string {
	return wire.NoPAN(func() string {
		b := room.Random(16)
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	})
}

// Report reads all transactions, oldest first. AccountState is COMMIT where money came to the merchant or left him.
func Report(r store.Reader) ([]room.Line, error) {
	list, err := txnsOf(r, `ORDER BY id`)
	if err != nil {
		return nil, err
	}
	var out []room.Line
	for _, t := range list {
		line := room.Line{
			ID: number(t.ID), Reference: t.Reference, Type: kindPayment, Currency: t.Currency, State: string(t.Status),
			Amount: minorOf(t.Hundredths, t.Currency),
		}
		if t.Type == kindRefund {
			line.Type, line.Original = kindRefund, number(t.Original)
		}
		if t.Type == kindRefund || t.Charged > 0 {
			line.AccountState = "COMMIT"
		}
		out = append(out, line)
	}
	return out, nil
}

// holder reads the payment that holds a link, nil when there is none.
func (s *Links) holder(r store.Reader, l *link) (*txn, error) {
	if l.Txn == 0 {
		return nil, nil
	}
	t, err := txnByID(r, l.Txn)
	if err == nil && t == nil {
		err = fmt.Errorf("transaction %d of link %d is gone", l.Txn, l.ID)
	}
	return t, err
}
