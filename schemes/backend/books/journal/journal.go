package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

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
	// accounts reads a ledger together with the last posting of a transaction, whose id is the first argument.
	accounts = store.NewTable("books_ledger", func(a *Account) store.Fields {
		return append(a.fields(), "(SELECT COALESCE(MAX(seq), 0) FROM books_posting p WHERE p.service = books_ledger.service AND p.txn = ?)", &a.seq)
	})
)

// ErrUnknown is the answer about a payment that has no ledger.
var ErrUnknown = errors.New("journal: no such payment")

// Open begins the ledger of a payment. It returns books.ErrAmount for an amount that is no payment.
func Open(tx store.Tx, service, payment, currency string, amount money.Minor) error {
	l, err := books.Open(amount, 0)
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
	return l, told(err, service, payment)
}

// told is the error of reading a ledger.
func told(err error, service, payment string) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: %s %s", ErrUnknown, service, payment)
	case err != nil:
		return fmt.Errorf("load ledger %s %s: %w", service, payment, err)
	}
	return nil
}

// Ref names the transaction that causes an event and the payment whose ledger moves.
type Ref struct {
	Service, Payment, Txn string
	AtMS                  int64 // unix ms
}

// Account is a payment's ledger in a closure, for one transaction that moves it.
type Account struct {
	ref Ref
	ledger
	seq int64 // of the transaction's last posting
}

// Of reads the ledger of a transaction's payment, or ErrUnknown.
func Of(r store.Reader, ref Ref) (*Account, error) {
	a, err := accounts.One(r, "WHERE service = ? AND payment = ?", ref.Txn, ref.Service, ref.Payment)
	if err = told(err, ref.Service, ref.Payment); err != nil {
		return nil, err
	}
	a.ref = ref
	return &a, nil
}

// Post applies e to the payment's ledger and writes the postings. A refusal of the books comes back as it is
// and writes nothing.
func Post(tx store.Tx, ref Ref, e books.Event) ([]books.Posting, error) {
	a, err := Of(tx, ref)
	if err != nil {
		return nil, err
	}
	return a.Post(tx, e)
}

// Begin begins the ledger of a payment with its first event. It asks the store nothing.
func Begin(tx store.Tx, ref Ref, currency string, amount, fee money.Minor, e books.Event) error {
	l, err := books.Open(amount, fee)
	if err != nil {
		return err
	}
	a := &Account{ref: ref, ledger: ledger{service: ref.Service, payment: ref.Payment, currency: currency, Ledger: l}}
	posts, err := a.apply(e)
	if err != nil {
		return err
	}
	if err := ledgers.Insert(tx, &a.ledger); err != nil {
		return fmt.Errorf("open ledger %s %s: %w", ref.Service, ref.Payment, err)
	}
	return a.write(tx, posts)
}

// Post is the package's Post on an account that was read in the same closure.
func (a *Account) Post(tx store.Tx, e books.Event) ([]books.Posting, error) {
	was := a.Ledger
	posts, err := a.apply(e)
	if err != nil {
		return nil, err
	}
	if a.Ledger != was {
		if err = saveLedger(tx, &a.ledger); err != nil {
			return nil, fmt.Errorf("store ledger %s %s: %w", a.ref.Service, a.ref.Payment, err)
		}
	}
	return posts, a.write(tx, posts)
}

// apply changes the ledger by what the books decide.
func (a *Account) apply(e books.Event) ([]books.Posting, error) {
	after, posts, err := books.Apply(a.Ledger, e)
	if err != nil {
		return nil, err
	}
	if sum := books.Sum(posts); sum != 0 {
		return nil, fmt.Errorf("journal: postings of %s %s sum to %d", a.ref.Service, a.ref.Txn, sum)
	}
	a.Ledger = after
	return posts, nil
}

// write writes postings behind those that the transaction has.
func (a *Account) write(tx store.Tx, posts []books.Posting) error {
	if len(posts) == 0 {
		return nil
	}
	args := make([]any, 0, 8*len(posts))
	for _, p := range posts {
		a.seq++
		args = append(args, a.ref.Service, a.ref.Txn, a.seq, a.ref.Payment, string(p.Account), int64(p.Amount), a.currency, a.ref.AtMS)
	}
	_, err := tx.Exec(`INSERT INTO books_posting (service, txn, seq, payment, account, amount, currency, at_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`+strings.Repeat(", (?, ?, ?, ?, ?, ?, ?, ?)", len(posts)-1), args...)
	if err != nil {
		return fmt.Errorf("post %s %s: %w", a.ref.Service, a.ref.Txn, err)
	}
	return nil
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
