package journal

import (
	"database/sql"
	"errors"
	"fmt"

	"posagent/schemes/backend/books"
	"posagent/schemes/money"
	"posagent/store"
)

// Schema is the tables of the books, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "books/1 ledger and postings", SQL: `
CREATE TABLE books_ledger (
	service TEXT NOT NULL,
	payment TEXT NOT NULL,
	currency TEXT NOT NULL,
	amount INTEGER NOT NULL,
	reserved INTEGER NOT NULL,
	committed INTEGER NOT NULL,
	returned INTEGER NOT NULL,
	reversed INTEGER NOT NULL,
	closed INTEGER NOT NULL,
	PRIMARY KEY (service, payment)
) STRICT;
CREATE TABLE books_posting (
	service TEXT NOT NULL,
	txn TEXT NOT NULL,
	seq INTEGER NOT NULL,
	payment TEXT NOT NULL,
	account TEXT NOT NULL,
	amount INTEGER NOT NULL,
	currency TEXT NOT NULL,
	at_ms INTEGER NOT NULL,
	PRIMARY KEY (service, txn, seq)
) STRICT;
CREATE INDEX books_posting_payment ON books_posting (service, payment);`}, {Name: "books/2 fees and refunds under way", SQL: `
ALTER TABLE books_ledger ADD COLUMN under_way INTEGER NOT NULL DEFAULT 0;
ALTER TABLE books_ledger ADD COLUMN fee INTEGER NOT NULL DEFAULT 0;
ALTER TABLE books_ledger ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;`}}
}

// ErrUnknown is the answer about a payment that has no ledger.
var ErrUnknown = errors.New("journal: no such payment")

// Open begins the ledger of a payment. It returns books.ErrAmount for an amount that is no payment.
func Open(tx store.Tx, service, payment, currency string, amount money.Minor) error {
	return OpenFee(tx, service, payment, currency, amount, 0)
}

// OpenFee is Open with a fee on top of the amount.
func OpenFee(tx store.Tx, service, payment, currency string, amount, fee money.Minor) error {
	l, err := books.Open(amount, fee)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO books_ledger
		(service, payment, currency, amount, reserved, committed, returned, reversed, closed, fee)
		VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, ?)`, service, payment, currency, int64(l.Amount), int64(l.Fee))
	if err != nil {
		return fmt.Errorf("open ledger %s %s: %w", service, payment, err)
	}
	return nil
}

// Load reads a payment's ledger and currency, or ErrUnknown.
func Load(r store.Reader, service, payment string) (books.Ledger, string, error) {
	var l books.Ledger
	var currency string
	var amount, reserved, committed, returned, reversed, closed, returning, fee, charged int64
	err := r.QueryRow(`SELECT currency, amount, reserved, committed, returned, reversed, closed, under_way, fee, charged
		FROM books_ledger WHERE service = ? AND payment = ?`, service, payment).
		Scan(&currency, &amount, &reserved, &committed, &returned, &reversed, &closed, &returning, &fee, &charged)
	if errors.Is(err, sql.ErrNoRows) {
		return l, "", fmt.Errorf("%w: %s %s", ErrUnknown, service, payment)
	}
	if err != nil {
		return l, "", fmt.Errorf("load ledger %s %s: %w", service, payment, err)
	}
	return books.Ledger{
		Amount: money.Minor(amount), Reserved: money.Minor(reserved), Committed: money.Minor(committed),
		Returned: money.Minor(returned), Returning: money.Minor(returning), Fee: money.Minor(fee), Charged: money.Minor(charged),
		Reversed: reversed != 0, Closed: closed != 0,
	}, currency, nil
}

// Ref names the transaction that causes an event and the payment whose ledger moves.
type Ref struct {
	Service, Payment, Txn string
	AtMS                  int64 // unix ms
}

// Post applies e to the payment's ledger and writes the postings. A refusal of the books comes back as it is
// and writes nothing.
func Post(tx store.Tx, ref Ref, e books.Event) ([]books.Posting, error) {
	before, currency, err := Load(tx, ref.Service, ref.Payment)
	if err != nil {
		return nil, err
	}
	after, posts, err := books.Apply(before, e)
	if err != nil {
		return nil, err
	}
	if sum := books.Sum(posts); sum != 0 {
		return nil, fmt.Errorf("journal: postings of %s %s sum to %d", ref.Service, ref.Txn, sum)
	}
	if after != before {
		_, err = tx.Exec(`UPDATE books_ledger SET reserved = ?, committed = ?, returned = ?, reversed = ?, closed = ?,
			under_way = ?, charged = ? WHERE service = ? AND payment = ?`, int64(after.Reserved), int64(after.Committed),
			int64(after.Returned), flag(after.Reversed), flag(after.Closed), int64(after.Returning), int64(after.Charged), ref.Service, ref.Payment)
		if err != nil {
			return nil, fmt.Errorf("store ledger %s %s: %w", ref.Service, ref.Payment, err)
		}
	}
	if len(posts) == 0 {
		return nil, nil
	}
	var seq int64
	err = tx.QueryRow(`SELECT COUNT(*) FROM books_posting WHERE service = ? AND txn = ?`, ref.Service, ref.Txn).Scan(&seq)
	if err != nil {
		return nil, fmt.Errorf("count postings %s %s: %w", ref.Service, ref.Txn, err)
	}
	for _, p := range posts {
		seq++
		_, err = tx.Exec(`INSERT INTO books_posting (service, txn, seq, payment, account, amount, currency, at_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			ref.Service, ref.Txn, seq, ref.Payment, string(p.Account), int64(p.Amount), currency, ref.AtMS)
		if err != nil {
			return nil, fmt.Errorf("post %s %s: %w", ref.Service, ref.Txn, err)
		}
	}
	return posts, nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// ByTxn reads all postings of a service by transaction, each in the order written.
func ByTxn(r store.Reader, service string) (map[string][]books.Posting, error) {
	rows, err := r.Query(`SELECT txn, account, amount FROM books_posting WHERE service = ? ORDER BY txn, seq`, service)
	if err != nil {
		return nil, fmt.Errorf("read postings of %s: %w", service, err)
	}
	defer rows.Close()
	out := map[string][]books.Posting{}
	for rows.Next() {
		var txn, account string
		var amount int64
		if err := rows.Scan(&txn, &account, &amount); err != nil {
			return nil, fmt.Errorf("read postings of %s: %w", service, err)
		}
		out[txn] = append(out[txn], books.Posting{Account: books.Account(account), Amount: money.Minor(amount)})
	}
	return out, rows.Err()
}

// NetOf is what the merchant has of a payment by the written postings.
func NetOf(r store.Reader, service, payment string) (money.Minor, error) {
	var net int64
	err := r.QueryRow(`SELECT COALESCE(SUM(amount), 0) FROM books_posting
		WHERE service = ? AND payment = ? AND account = ?`, service, payment, string(books.Merchant)).Scan(&net)
	return money.Minor(net), err
}
