package reconcile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/support/reconcile"
	"posagent/cross/need"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// books answers for references over HTTP, as a backend does.
type books struct {
	aapay.Service
	mu     sync.Mutex
	status map[string]aapay.Status
	fails  map[string]error // once each
	always error
	asked  int
}

// fail answers every question with err from now on: a comparison that ended early may still ask.
func (b *books) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.always = err
}

// Status implements aapay.Service.
func (b *books) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if b.always != nil {
		return aapay.Status{}, b.always
	}
	if err := b.fails[id]; err != nil {
		delete(b.fails, id)
		return aapay.Status{}, err
	}
	if st, known := b.status[id]; known {
		return st, nil
	}
	return aapay.Status{}, wire.Errorf(wire.NotFound, "aapay.status", "transaction not found")
}

// world is a journal, a backend and a till's list that all agree, until something is damaged.
type world struct {
	tb    testing.TB
	db    store.Journal
	books *books
	rows  []reconcile.Row
	sold  []*journal.Row
	at    time.Time
	rng   *rand.Rand
}

func newWorld(tb testing.TB, seed uint64) *world {
	return &world{
		tb: tb, db: storetest.Open(tb, append(outbox.Schema(), journal.Schema()...)...), books: &books{status: map[string]aapay.Status{}, fails: map[string]error{}},
		at: time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC), rng: rand.New(rand.NewPCG(seed, 16)),
	}
}

// client asks the world's backend over HTTP.
func (w *world) client() *aapay.Client {
	srv := httptest.NewServer(aapay.Handler(w.books, aapay.HandlerOptions{}))
	w.tb.Cleanup(srv.Close)
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: need.Limit()}
	w.tb.Cleanup(hc.CloseIdleConnections)
	return &aapay.Client{BaseURL: srv.URL, Doer: hc}
}

// ending is how a sale has ended.
type ending string

const (
	approved  ending = "approved"
	declined  ending = "declined"
	undone    ending = "undone" // paid, and given back by the terminal
	neverSent ending = "never sent"
	waiting   ending = "waiting"
	unheard   ending = "unheard"
)

// sell adds a sale of the journal with what the backend says of it. The till's row is the caller's.
func (w *world) sell(kind ecr.Kind, how ending, amount money.Minor) *journal.Row {
	n := len(w.sold) + 1
	w.at = w.at.Add(30 * time.Second)
	key := wire.NewKey()
	row := &journal.Row{
		Key: key, Kind: kind, Line: "tcp", Sequence: fmt.Sprintf("order-%d", n), Amount: amount, Currency: "EUR", Method: methods.Definition{Name: "SWISH_E_COM"},
		Reference: journal.ReferenceOf(key), Batch: 1 + n/300, CreatedMS: w.at.UnixMilli(),
		State: checkout.State{Kind: kind, Phase: checkout.Done, TransactionID: int64(70_000 + n)},
	}
	st := aapay.Status{Valid: true, TransactionID: row.State.TransactionID, State: aapay.Finalized, AccountState: aapay.Commit}
	done := map[ecr.Kind]aapay.State{ecr.Payment: aapay.Finalized, ecr.Refund: "REFUNDED", ecr.Reversal: "REVERSED"}[kind]
	switch how {
	case approved:
		row.State.Result, st.State = ecr.Approved, done
		if kind == ecr.Payment {
			row.State.Phase = checkout.Confirmed
		}
		row.Receipt = 1 + (n-1)%9999
	case declined:
		row.State.Result, st.State, st.AccountState = ecr.Declined, aapay.Rejected, ""
	case undone:
		row.State.Result, row.UndoKey = ecr.Aborted, wire.NewKey()
		w.books.status[journal.ReferenceOf(row.UndoKey)] = aapay.Status{Valid: true, TransactionID: 1, State: "REVERSED"}
	case neverSent:
		row.State.Result, row.State.TransactionID, st.Valid = ecr.Aborted, 0, false
	case waiting:
		row.State.Phase, st.State, st.AccountState = checkout.Waiting, aapay.Initialized, ""
	case unheard:
		row.State.Phase, row.State.Result = checkout.Unconfirmed, ecr.Approved
		row.Receipt = 1 + (n-1)%9999
	}
	if st.Valid {
		w.books.status[row.Reference] = st
	}
	w.sold = append(w.sold, row)
	return row
}

// store writes the sales into the journal.
func (w *world) store() {
	j := journal.New(journal.Options{DB: w.db})
	for part := range slices.Chunk(w.sold, 1000) {
		require.NoError(w.tb, w.db.Write(w.tb.Context(), func(tx store.Tx) error {
			for _, r := range part {
				r.ID = 0
				if err := j.Insert(tx, r); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// row is what a till has of a sale that it knows by one of its names. by: 0 id, 1 reference, 2 receipt, 3 transaction, 4 sale, 5 the time alone.
func (w *world) row(r *journal.Row, by int) reconcile.Row {
	row := reconcile.Row{Kind: r.Kind, Amount: r.Amount, Currency: r.Currency, Paid: r.State.Result == ecr.Approved, At: time.UnixMilli(r.CreatedMS).Add(time.Duration(w.rng.IntN(25)) * time.Second)}
	switch {
	case by == 1:
		row.Reference = r.Reference
	case by == 2 && r.Receipt != 0:
		row.Receipt = r.Receipt
	case by == 3 && r.State.TransactionID != 0:
		row.Transaction = r.State.TransactionID
	case by == 4:
		row.Sale = r.Key
	case by == 5:
	default:
		row.ID = r.Sequence
	}
	return row
}

// list is the till's list as a file, and as it is read.
func (w *world) list() reconcile.List {
	var b strings.Builder
	b.WriteString("time;type;amount;currency;paid;id;reference;receipt;transaction;sale\n")
	text := func(n int64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	for _, r := range w.rows {
		eur, _ := money.Lookup(r.Currency)
		fmt.Fprintf(&b, "%s;%s;%s;%s;%v;%s;%s;%s;%s;%s\n", r.At.Format(time.RFC3339), r.Kind, money.FormatNumber(r.Amount, eur), r.Currency, r.Paid,
			r.ID, r.Reference, text(int64(r.Receipt)), text(r.Transaction), r.Sale)
	}
	list, err := reconcile.Read(strings.NewReader(b.String()), "EUR", time.UTC)
	require.NoError(w.tb, err)
	return list
}

// compare compares the list with the journal and the backend.
func (w *world) compare(o reconcile.Options, list reconcile.List) (reconcile.Report, error) {
	o.DB = w.db
	if o.Backend == nil {
		o.Backend = w.client()
	}
	return reconcile.Run(w.tb.Context(), o, list)
}

// says is a finding in a word: its class, and the sale or the row.
func says(f reconcile.Finding) string {
	name := "-"
	if f.Journal != nil {
		name = string(f.Journal.Sale)
	} else if f.Row.ID != "" {
		name = f.Row.ID
	}
	if f.Twice {
		name += " twice"
	}
	return string(f.Class) + " " + name
}
