package aapay

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "aapay"

// txn is one transaction as stored.
type txn struct {
	life
	ID          int64
	PPRef       string
	Type        aapay.Type
	Method      string
	Merchant    string
	By          string // the merchant whose own credentials asked for it, "" = the operator's did. Its references are its own
	TerminalRef string
	OriginalRef string
	OriginalID  int64 // 0 = none
	Currency    string
	Hundredths  int64
	Minor       money.Minor
	Batch       int64
	QR          bool
	Payload     string // of the QR code
	Request     []byte // sealed JSON
	Created     int64
	Scenario    string
	Next        int64 // when it changes by itself, as stored; 0 = never
}

func (t *txn) key() string { return strconv.FormatInt(t.ID, 10) }

func (t *txn) cell() store.Cell {
	return store.Cell{Table: "wallets_txn", Key: t.key(), Column: "request"}
}

func (t *txn) fields() store.Fields {
	return store.Fields{"id", &t.ID, "ppref", &t.PPRef, "type", &t.Type, "method", &t.Method, "merchant", &t.Merchant,
		"terminal_ref", store.OrNull(&t.TerminalRef), "original_ref", &t.OriginalRef, "original_id", store.OrNull(&t.OriginalID), "currency", &t.Currency,
		"hundredths", &t.Hundredths, "minor", &t.Minor, "batch", &t.Batch, "qr", &t.QR, "payload", &t.Payload, "request", &t.Request,
		"state", &t.State, "account", &t.Account, "created_ms", &t.Created, "since_ms", &t.Since, "stale_ms", &t.Stale, "timeout_ms", &t.TimeOut,
		"finalize_ms", &t.Final, "scenario", &t.Scenario, "script", store.JSON(&t.Script), "base_ms", &t.Base, "pos", &t.Pos, "next_ms", store.OrNull(&t.Next)}
}

var (
	txns      = store.NewTable("wallets_txn", (*txn).fields)
	changeTxn = txns.Update("state", "account", "since_ms", "script", "base_ms", "pos", "next_ms") // what may change of one
)

// one reads the transaction of the caller where column = value, or nil: another merchant's is not there.
func one(r store.Reader, where string, value any) (*txn, error) {
	by := room.By(r).Merchant
	if ref, ok := value.(string); ok && by != "" && where == byTerminal {
		if t, err := pick(r, where, scoped(by, ref)); t != nil || err != nil {
			return t, err
		}
	}
	t, err := pick(r, where, value)
	if err != nil || t == nil || by != "" && t.Merchant != by {
		return nil, err
	}
	return t, nil
}

func pick(r store.Reader, where string, value any) (*txn, error) {
	t, err := txns.One(r, "WHERE "+where, value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read transaction: %w", err)
	}
	for _, ref := range []*string{&t.TerminalRef, &t.OriginalRef} {
		if by, plain, ok := strings.Cut(*ref, scope); ok {
			t.By, *ref = by, plain
		}
	}
	return &t, nil
}

// scope stands between a merchant and a reference of its own: two merchants may count alike, and neither takes the other's.
const scope = "\x1f"

// scoped is a reference as it is stored.
func scoped(by, ref string) string {
	if by == "" || ref == "" {
		return ref
	}
	return by + scope + ref
}

const (
	byID       = `id = ?`
	byPPRef    = `ppref = ?`
	byTerminal = `terminal_ref = ?`
)

// number reads a transactionId as it is written in answers, or 0: "007" is a reference, not the id 7.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0
	}
	return n
}

// find reads the transaction that has a name in one of the ways given, or nil. A name that two transactions have names
// neither of them: wire.Conflict. New transactions get no such name (taken, insert), older books may have some.
func find(r store.Reader, ref string, ways ...string) (*txn, error) {
	var found *txn
	for _, way := range ways {
		value := any(ref)
		if way == byID {
			n := number(ref)
			if n == 0 {
				continue
			}
			value = n
		}
		t, err := one(r, way, value)
		switch {
		case err != nil:
			return nil, err
		case found != nil && t != nil && found.ID != t.ID:
			return nil, wire.Errorf(wire.Conflict, opStatus, "the name is the reference of one transaction and the id of another: ask by ppref")
		case t != nil:
			found = t
		}
	}
	return found, nil
}

// findFor is find where the caller names a merchant: the operator reaches that merchant's own references, too, where none of the
// operator's is called so.
func findFor(r store.Reader, merchant, ref string, ways ...string) (*txn, error) {
	t, err := find(r, ref, ways...)
	if t == nil && err == nil && room.By(r).Merchant == "" && merchant != "" && slices.Contains(ways, byTerminal) {
		t, err = one(room.For(r, merchant), byTerminal, ref)
	}
	return t, err
}

// next is when the transaction changes by itself, 0 = never.
func (t *txn) next() int64 {
	if c, ok := due(t.life); ok {
		return c.At
	}
	return 0
}

// assignID gives a transaction the next number that no terminal uses as a reference: a status route takes either, so one
// text must never name two transactions. A reference that was reversed before it arrived counts as well.
func assignID(tx store.Tx, t *txn) (err error) {
	for used := int64(1); used > 0; {
		if t.ID, err = tx.Number("wallets_txn"); err != nil {
			return fmt.Errorf("number a transaction: %w", err)
		}
		if err := tx.QueryRow(`SELECT (SELECT COUNT(*) FROM wallets_txn WHERE terminal_ref IN (?, ?)) + (SELECT COUNT(*) FROM wallets_tomb WHERE reference IN (?, ?))`,
			t.key(), scoped(t.By, t.key()), t.key(), scoped(t.By, t.key())).Scan(&used); err != nil {
			return fmt.Errorf("compare the number with references: %w", err)
		}
	}
	return nil
}

// insert stores a new transaction and gives it its id and ppref.
func (w *Wallets) insert(tx store.Tx, t *txn, request []byte) error {
	err := assignID(tx, t)
	if err != nil {
		return err
	}
	t.PPRef = newRef()
	if t.Payload, err = w.payload(t); err != nil {
		return err
	}
	if t.Request, err = w.DB.Seal(tx, t.cell(), request); err != nil {
		return fmt.Errorf("seal request of %d: %w", t.ID, err)
	}
	t.Next = t.next()
	row := *t
	row.TerminalRef, row.OriginalRef = scoped(t.By, t.TerminalRef), scoped(t.By, t.OriginalRef)
	if err := txns.Insert(tx, &row); err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	return nil
}

// payload makes what the wallet scans; "" for a transaction that starts without a code.
func (w *Wallets) payload(t *txn) (string, error) {
	if !t.QR {
		return "", nil
	}
	p, ok := w.seed.find(t.Method)
	if !ok || !methods.EMVQR(p.Definition) {
		return w.Public + "/wallet/" + t.PPRef, nil
	}
	cur, ok := money.Lookup(t.Currency)
	if !ok {
		return "", wire.Errorf(wire.Invalid, "aapay.initialize", "unknown currency")
	}
	code, err := emv(emvCode{
		Provider: "com.example." + strings.ToLower(t.Method), Merchant: w.seed.MerchantName, City: w.seed.MerchantCity,
		Country: w.seed.Country, Currency: cur, Amount: t.Minor, Reference: t.PPRef,
	})
	if err != nil {
		return "", wire.Errorf(wire.Invalid, "aapay.initialize", "amount cannot be shown in an EMV code")
	}
	return code, nil
}

// save stores what may change of a transaction.
func save(tx store.Tx, t *txn) error {
	t.Next = t.next()
	if err := changeTxn(tx, t); err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	return nil
}

// once is true the first time a mark is set.
func once(tx store.Tx, mark string, nowMS int64) (bool, error) {
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_once WHERE mark = ?`, mark).Scan(&n); err != nil {
		return false, fmt.Errorf("read mark: %w", err)
	}
	if n > 0 {
		return false, nil
	}
	if _, err := tx.Exec(`INSERT INTO wallets_once (mark, at_ms) VALUES (?, ?)`, mark, nowMS); err != nil {
		return false, fmt.Errorf("set mark: %w", err)
	}
	return true, nil
}

// newRef makes a ppref: unguessable, since it opens the wallet page, saying what it is, and 25 characters long, since an
// EMV reference label holds no more.
func newRef() string {
	return fmt.Sprintf("SBX%022X", room.Random(11))
}

// row gives the scenario row of a transaction.
func (t *txn) row() scenario.Row { return scenario.Named(t.Scenario) }

// Report reads all transactions, oldest first.
func Report(r store.Reader) (list []room.Line, err error) {
	err = store.Each(r, func(row store.Row) error {
		var l room.Line
		var id int64
		var ref sql.NullString
		var original sql.NullInt64
		err := row.Scan(&id, &ref, &original, &l.Type, &l.Amount, &l.Currency, &l.State, &l.AccountState)
		l.ID, l.Reference = strconv.FormatInt(id, 10), ref.String
		if _, plain, ok := strings.Cut(ref.String, scope); ok {
			l.Reference = plain
		}
		if original.Valid {
			l.Original = strconv.FormatInt(original.Int64, 10)
		}
		list = append(list, l)
		return err
	}, `SELECT id, terminal_ref, original_id, type, minor, currency, state, account FROM wallets_txn ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	return list, nil
}
