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
ALTER TABLE books_ledger ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;`}, traceStep()}
}

// ledger is the ledger of a payment as stored.
type ledger struct {
	service, payment, currency string
	books.Ledger
}

func (l *ledger) fields() store.Fields {
	return store.Fields{"service", &l.service, "payment", &l.payment, "currency", &l.currency, "amount", &l.Amount, "reserved", &l.Reserved,
		"committed", &l.Committed, "returned", &l.Returned, "reversed", &l.Reversed, "closed", &l.Closed, "under_way", &l.Returning,
		"fee", &l.Fee, "charged", &l.Charged}
}

var (
	ledgers    = store.NewTable("books_ledger", (*ledger).fields).Keyed(2)
	saveLedger = ledgers.Update()
)

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
	err = ledgers.Insert(tx, &ledger{service: service, payment: payment, currency: currency, Ledger: l})
	if err != nil {
		return fmt.Errorf("open ledger %s %s: %w", service, payment, err)
	}
	return nil
}

// Load reads a payment's ledger and currency, or ErrUnknown.
func Load(r store.Reader, service, payment string) (books.Ledger, string, error) {
	l, err := load(r, service, payment)
	return l.Ledger, l.currency, err
}

func load(r store.Reader, service, payment string) (ledger, error) {
	l, err := ledgers.One(r, "WHERE service = ? AND payment = ?", service, payment)
	if errors.Is(err, sql.ErrNoRows) {
		return ledger{}, fmt.Errorf("%w: %s %s", ErrUnknown, service, payment)
	}
	if err != nil {
		return ledger{}, fmt.Errorf("load ledger %s %s: %w", service, payment, err)
	}
	return l, nil
}

// Ref names the transaction that causes an event and the payment whose ledger moves.
type Ref struct {
	Service, Payment, Txn string
	AtMS                  int64 // unix ms
}

// Post applies e to the payment's ledger and writes the postings. A refusal of the books comes back as it is
// and writes nothing.
func Post(tx store.Tx, ref Ref, e books.Event) ([]books.Posting, error) {
	l, err := load(tx, ref.Service, ref.Payment)
	if err != nil {
		return nil, err
	}
	after, posts, err := books.Apply(l.Ledger, e)
	if err != nil {
		return nil, err
	}
	if sum := books.Sum(posts); sum != 0 {
		return nil, fmt.Errorf("journal: postings of %s %s sum to %d", ref.Service, ref.Txn, sum)
	}
	if after != l.Ledger {
		l.Ledger = after
		if err = saveLedger(tx, &l); err != nil {
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
			ref.Service, ref.Txn, seq, ref.Payment, string(p.Account), int64(p.Amount), l.currency, ref.AtMS)
		if err != nil {
			return nil, fmt.Errorf("post %s %s: %w", ref.Service, ref.Txn, err)
		}
	}
	return posts, nil
}

// ByTxn reads all postings of a service by transaction, each in the order written.
func ByTxn(r store.Reader, service string) (map[string][]books.Posting, error) {
	out := map[string][]books.Posting{}
	err := store.Each(r, func(row store.Row) error {
		var txn, account string
		var amount int64
		err := row.Scan(&txn, &account, &amount)
		out[txn] = append(out[txn], books.Posting{Account: books.Account(account), Amount: money.Minor(amount)})
		return err
	}, `SELECT txn, account, amount FROM books_posting WHERE service = ? ORDER BY txn, seq`, service)
	if err != nil {
		return nil, fmt.Errorf("read postings of %s: %w", service, err)
	}
	return out, nil
}

// NetOf is what the merchant has of a payment by the written postings.
func NetOf(r store.Reader, service, payment string) (money.Minor, error) {
	var net int64
	err := r.QueryRow(`SELECT COALESCE(SUM(amount), 0) FROM books_posting
		WHERE service = ? AND payment = ? AND account = ?`, service, payment, string(books.Merchant)).Scan(&net)
	return money.Minor(net), err
}

// Crooked reads the newest postings of a service, at most so many, and returns the transactions among them whose postings do not sum to
// zero, and how many transactions it has looked at.
func Crooked(r store.Reader, service string, most int) (list []string, looked int, err error) {
	var txn string
	var sum int64
	var postings int
	judge := func() {
		if looked++; sum != 0 {
			list = append(list, fmt.Sprintf("%s %s: %d", service, txn, sum))
		}
	}
	err = store.Each(r, func(row store.Row) error {
		var of string
		var amount int64
		if err := row.Scan(&of, &amount); err != nil {
			return err
		}
		if postings > 0 && of != txn {
			judge()
			sum = 0
		}
		txn, sum, postings = of, sum+amount, postings+1
		return nil
	}, `SELECT txn, amount FROM books_posting WHERE service = ? ORDER BY service DESC, txn DESC, seq DESC LIMIT ?`, service, most)
	if err != nil {
		return nil, 0, fmt.Errorf("read the newest postings of %s: %w", service, err)
	}
	if postings > 0 && postings < most { // the last one may have been cut
		judge()
	}
	return list, looked, nil
}
