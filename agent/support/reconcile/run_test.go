package reconcile_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/support/reconcile"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// planted is how many sales the damaged list of the test has; N of the environment names another number.
func planted(t *testing.T) int {
	n := 2000
	if text := os.Getenv("N"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	return n
}

// TestEachPlantedDifferenceIsFound damages list, journal and backend at random places of a shop's month, each sale in at most one way.
// Every difference is found under its class, and none is invented.
func TestEachPlantedDifferenceIsFound(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("SEED=%d", seed)
	n, w := planted(t), newWorld(t, seed)
	var want []string
	plant := func(c reconcile.Class, name string) { want = append(want, string(c)+" "+name) }
	damages := map[string]int{}
	for i := range n {
		kind, how := ecr.Payment, approved
		switch p := w.rng.IntN(100); {
		case p < 5:
			kind = ecr.Refund
		case p < 7:
			kind = ecr.Reversal
		case p < 15:
			how = declined
		case p < 19:
			how = undone
		case p < 21:
			how = neverSent
		}
		r := w.sell(kind, how, money.Minor(1+i*7919%99991)) // no amount twice in a day
		name, good := string(r.Key), how == approved
		by := w.rng.IntN(5)
		if !good && w.rng.IntN(2) == 0 {
			by = 5 // a till has no receipt of a sale that was declined
		}
		row := w.row(r, by)
		damage := ""
		if w.rng.IntN(20) == 0 {
			damage = []string{"flip", "lose", "backend", "amount", "twice", "foreign"}[w.rng.IntN(6)]
		}
		listed := true
		switch {
		case damage == "flip" && good:
			row.Paid = false
			plant(reconcile.PaidTillNo, name)
		case damage == "flip" && by != 5:
			row.Paid = true
			plant(reconcile.TillYesOnly, name)
		case damage == "lose":
			listed = false
			if good {
				plant(reconcile.PaidTillNo, name)
			}
		case damage == "backend" && good && w.rng.IntN(2) == 0:
			delete(w.books.status, r.Reference)
			plant(reconcile.Differ, name)
		case damage == "backend" && good:
			w.books.status[r.Reference] = aapay.Status{Valid: true, State: aapay.Finalized, AccountState: aapay.Rollback}
			plant(reconcile.Differ, name)
		case damage == "backend":
			w.books.status[r.Reference] = aapay.Status{Valid: true, State: aapay.Finalized, AccountState: aapay.Commit}
			if how == undone {
				w.books.status[journal.ReferenceOf(r.UndoKey)] = aapay.Status{Valid: true, State: aapay.Failed}
			}
			if kind == ecr.Payment {
				plant(reconcile.Differ, name)
			}
		case damage == "amount" && good:
			row.Amount += 100
			plant(reconcile.OtherAmount, name)
		case damage == "twice" && good:
			w.rows = append(w.rows, row)
			plant(reconcile.TillYesOnly, name+" twice")
		case damage == "foreign":
			foreign := reconcile.Row{Kind: ecr.Payment, Amount: row.Amount, Currency: "EUR", Paid: true, At: row.At, ID: fmt.Sprintf("elsewhere-%d", i)}
			w.rows = append(w.rows, foreign)
			plant(reconcile.NotHere, foreign.ID)
		default:
			damage = ""
		}
		damages[damage]++
		if listed {
			w.rows = append(w.rows, row)
		}
	}
	w.store()
	t.Logf("%d sales, %d rows, damages %v", len(w.sold), len(w.rows), damages)
	list := w.list()

	client, began := w.client(), time.Now()
	v, err := w.compare(reconcile.Options{Backend: client, Period: reconcile.Period{From: w.at.Add(-366 * 24 * time.Hour), To: w.at}}, list)
	took := time.Since(began)
	require.NoError(t, err)
	t.Logf("%d findings in %s, %d questions", len(v.Findings), took.Round(time.Millisecond), v.Asked)
	var got []string
	for _, f := range v.Findings {
		got = append(got, says(f))
		require.NotEmpty(t, f.Remedy)
		require.NotEmpty(t, f.Title)
	}
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
	require.Equal(t, n, v.Sales)
	require.Equal(t, len(w.rows), v.Rows)
	require.False(t, v.Agree)
}

// TestAllAgree: a list without damage, also one whose till knows nothing of reversed sales, or has them with their reversals.
func TestAllAgree(t *testing.T) {
	w := newWorld(t, 1)
	for by := range 6 {
		w.rows = append(w.rows, w.row(w.sell(ecr.Payment, approved, money.Minor(1000+by)), by))
	}
	both := w.sell(ecr.Payment, approved, 2001)
	both.Reversed = true
	w.rows = append(w.rows, w.row(both, 0))
	back := w.sell(ecr.Reversal, approved, 2001)
	back.Original = both.Key
	w.rows = append(w.rows, w.row(back, 0))

	neither := w.sell(ecr.Payment, approved, 2002)
	neither.Reversed = true
	row := w.row(neither, 0)
	row.Paid = false
	w.rows = append(w.rows, row)
	w.sell(ecr.Reversal, approved, 2002).Original = neither.Key
	w.rows = append(w.rows, w.row(w.sell(ecr.Payment, declined, 2003), 5), reconcile.Row{Kind: ecr.Payment, Amount: 5, Currency: "EUR", At: w.at, ID: "never came"})
	w.store()
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Empty(t, v.Findings)
	require.True(t, v.Agree)
	require.Equal(t, []string{"tcp"}, v.Lines)
	require.Equal(t, len(w.rows), v.Counts[reconcile.Agree]-1, "the reversal that the till does not have")
	require.Len(t, v.Counts, len(reconcile.Classes()))

	v, err = w.compare(reconcile.Options{}, reconcile.List{})
	require.NoError(t, err)
	require.Equal(t, 6, v.Counts[reconcile.PaidTillNo], "an empty list lacks every paid sale; those that were reversed it lacks with their reversals")
}

// TestAReversalThatTheTillLacks: the till still has the sale as paid.
func TestAReversalThatTheTillLacks(t *testing.T) {
	w := newWorld(t, 1)
	sold := w.sell(ecr.Payment, approved, 2001)
	sold.Reversed = true
	w.rows = append(w.rows, w.row(sold, 0))
	back := w.sell(ecr.Reversal, approved, 2001)
	back.Original = sold.Key
	w.rows = append(w.rows, w.row(w.sell(ecr.Payment, approved, 1), 0))
	w.store()
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Len(t, v.Findings, 1)
	require.Equal(t, "paid_till_no "+string(back.Key), says(v.Findings[0]))
	require.Contains(t, v.Findings[0].Remedy, "book the reversal at the till")
}

// TestOpenIsNoDifference: a sale that is not at its end is said to be open, whatever the till says of it.
func TestOpenIsNoDifference(t *testing.T) {
	w := newWorld(t, 1)
	w.rows = append(w.rows, w.row(w.sell(ecr.Payment, waiting, 100), 0), w.row(w.sell(ecr.Payment, unheard, 200), 0))
	w.rows[1].Paid = false
	w.store()
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Equal(t, 2, v.Counts[reconcile.Open])
	require.Len(t, v.Findings, 2)
}

// TestWhatEndsMeanwhileIsNoFinding: the journal had the sale as open, and it was approved before the backend was asked.
func TestWhatEndsMeanwhileIsNoFinding(t *testing.T) {
	w := newWorld(t, 1)
	r := w.sell(ecr.Payment, waiting, 100)
	w.rows = append(w.rows, w.row(r, 0))
	w.rows[0].Paid = true
	w.store()
	r.State.Phase, r.State.Result, r.Receipt = "CONFIRMED", ecr.Approved, 1
	client := w.client()
	v, err := w.compare(reconcile.Options{Backend: meanwhile{client, func() {
		w.books.mu.Lock()
		w.books.status[r.Reference] = aapay.Status{Valid: true, State: aapay.Finalized, AccountState: aapay.Commit}
		w.books.mu.Unlock()
		_ = w.db.Write(context.Background(), func(tx store.Tx) error { return journal.New(journal.Options{DB: w.db}).Update(tx, r) })
	}}}, w.list())
	require.NoError(t, err)
	require.Empty(t, v.Findings)
}

// meanwhile does something while the backend is asked.
type meanwhile struct {
	reconcile.Backend
	do func()
}

// Status implements reconcile.Backend.
func (m meanwhile) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	st, err := m.Backend.Status(ctx, id, method)
	m.do()
	return st, err
}

// TestABackendThatDoesNotAnswer is no backend that says no.
func TestABackendThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, 1)
	busy, broken := w.sell(ecr.Payment, approved, 100), w.sell(ecr.Payment, approved, 200)
	w.rows = append(w.rows, w.row(busy, 0), w.row(broken, 0))
	w.store()
	client, list := w.client(), w.list()
	w.books.fails[busy.Reference] = wire.Errorf(wire.TooMany, "", "slower")
	w.books.fails[broken.Reference] = wire.Errorf(wire.Internal, "", "broken")
	v, err := w.compare(reconcile.Options{Backend: client}, list)
	require.NoError(t, err)
	require.Empty(t, v.Findings, "a backend that has no time is asked again, and what looks different is read twice")

	w.books.fail(wire.Errorf(wire.Internal, "", "broken"))
	v, err = w.compare(reconcile.Options{Backend: client}, list)
	require.NoError(t, err)
	require.Equal(t, 2, v.Counts[reconcile.Unasked])
	for _, code := range []wire.Code{wire.Unavailable, wire.Unauthorized, wire.Forbidden} {
		w.books.fail(wire.Errorf(code, "", "no"))
		_, err = w.compare(reconcile.Options{Backend: client}, list)
		require.ErrorIs(t, err, reconcile.ErrBackend)
		require.Equal(t, code, wire.CodeOf(err))
	}
}

// TestARowFromOutsideCountsForNothing: a sale whose row was changed is never taken for agreement.
func TestARowFromOutsideCountsForNothing(t *testing.T) {
	w := newWorld(t, 1)
	r := w.sell(ecr.Payment, approved, 100)
	w.rows = append(w.rows, w.row(r, 0))
	w.store()
	require.NoError(t, w.db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE checkout_sales SET amount = 1 WHERE key = ?`, string(r.Key))
		return err
	}))
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Len(t, v.Findings, 1)
	require.Equal(t, reconcile.Differ, v.Findings[0].Class)
	require.Contains(t, v.Findings[0].Remedy, "changed from outside")
}

// TestWhichSalesTheListLacks: those of its time and of its lines, or those of the flags.
func TestWhichSalesTheListLacks(t *testing.T) {
	w := newWorld(t, 1)
	before, first, between, other, last, after := w.sell(ecr.Payment, approved, 1), w.sell(ecr.Payment, approved, 2), w.sell(ecr.Payment, approved, 3),
		w.sell(ecr.Payment, approved, 4), w.sell(ecr.Payment, approved, 5), w.sell(ecr.Payment, approved, 6)
	other.Line = "tcp2"
	w.store()
	w.rows = []reconcile.Row{w.row(first, 0), w.row(last, 0)}
	find := func(o reconcile.Options, list reconcile.List) (keys []wire.Key) {
		v, err := w.compare(o, list)
		require.NoError(t, err)
		for _, f := range v.Findings {
			require.Equal(t, reconcile.PaidTillNo, f.Class)
			keys = append(keys, f.Journal.Sale)
		}
		return keys
	}
	require.Equal(t, []wire.Key{between.Key}, find(reconcile.Options{}, w.list()))
	require.Equal(t, []wire.Key{other.Key}, find(reconcile.Options{Lines: []string{"tcp2"}}, w.list()))
	all := reconcile.Period{From: time.UnixMilli(before.CreatedMS), To: time.UnixMilli(after.CreatedMS)}
	require.Equal(t, []wire.Key{before.Key, between.Key, after.Key}, find(reconcile.Options{Period: all}, w.list()))
	for i := range w.rows {
		w.rows[i].At = time.Time{}
	}
	require.Equal(t, []wire.Key{between.Key}, find(reconcile.Options{}, reconcile.List{Rows: w.rows}), "without times the sales that were found name the time")
}

// TestAnUndoThatFailedIsADifference: the journal has the sale as undone, and the money did not go back.
func TestAnUndoThatFailedIsADifference(t *testing.T) {
	w := newWorld(t, 1)
	well, failed := w.sell(ecr.Payment, undone, 100), w.sell(ecr.Payment, undone, 200)
	w.rows = append(w.rows, w.row(well, 0), w.row(failed, 0))
	w.store()
	w.books.status[journal.ReferenceOf(failed.UndoKey)] = aapay.Status{Valid: true, State: aapay.Failed}
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Len(t, v.Findings, 1)
	require.Equal(t, "journal_backend_differ "+string(failed.Key), says(v.Findings[0]))
}

// TestAStrangerIsAskedFor: a row that the journal does not have is looked for at the backend by what the row has.
func TestAStrangerIsAskedFor(t *testing.T) {
	w := newWorld(t, 1)
	w.rows = append(w.rows, w.row(w.sell(ecr.Payment, approved, 1), 0))
	w.store()
	w.books.status["replaced"] = aapay.Status{Valid: true, State: aapay.Finalized, AccountState: aapay.Commit}
	w.rows = append(w.rows, reconcile.Row{Kind: ecr.Payment, Amount: 7, Currency: "EUR", Paid: true, At: w.at, Reference: "replaced"},
		reconcile.Row{Kind: ecr.Payment, Amount: 7, Currency: "EUR", Paid: false, At: w.at, Reference: "replaced"})
	v, err := w.compare(reconcile.Options{}, w.list())
	require.NoError(t, err)
	require.Len(t, v.Findings, 2)
	require.Equal(t, reconcile.NotHere, v.Findings[0].Class)
	require.Contains(t, v.Findings[0].Remedy, "the backend has it as paid")
	require.Equal(t, reconcile.PaidTillNo, v.Findings[1].Class)
}

// TestReconcileOnlyReads: the journal has the same commits after a comparison as before, and no other request than a status arrives.
func TestReconcileOnlyReads(t *testing.T) {
	w := newWorld(t, 3)
	for i := range 50 {
		w.rows = append(w.rows, w.row(w.sell(ecr.Payment, []ending{approved, declined, undone, waiting, unheard}[i%5], money.Minor(i+1)), i%5))
	}
	w.store()
	before := w.db.Commits()
	var seen []string
	_, err := w.compare(reconcile.Options{Progress: func(what string, _, _ int64) { seen = append(seen, what) }}, w.list()) // any other call of the backend panics: it has no service
	require.NoError(t, err)
	require.Equal(t, before, w.db.Commits())
	require.Contains(t, strings.Join(seen, " "), "journal")
	require.Contains(t, strings.Join(seen, " "), "backend")
}

// TestAListThatNamesNothing: a list that has neither a time nor a sale that the journal knows does not say in which time to look for
// others, and no sale of the journal is reported as missing from it.
func TestAListThatNamesNothing(t *testing.T) {
	w := newWorld(t, 1)
	for range 5 {
		w.sell(ecr.Payment, approved, 1250)
	}
	w.store()
	list, err := reconcile.Read(strings.NewReader("amount,paid,id\n12.50,yes,elsewhere\n"), "EUR", time.UTC)
	require.NoError(t, err)
	v, err := w.compare(reconcile.Options{}, list)
	require.NoError(t, err)
	require.Equal(t, []any{1, 0, 1}, []any{v.Rows, v.Sales, len(v.Findings)})
	require.Equal(t, reconcile.NotHere, v.Findings[0].Class)
}

// TestField3_E7AnAnswerAboutAnotherTransactionIsNone: a proxy that has slipped by one answers for a sale with the status of its neighbour.
// The comparison took it, and called a sale paid that was not. What the answer tells of itself must not contradict the sale: its
// transaction, its amount, its currency, its reference.
func TestField3_E7AnAnswerAboutAnotherTransactionIsNone(t *testing.T) {
	for name, spoil := range map[string]func(st *aapay.Status){
		"its transaction": func(st *aapay.Status) { st.TransactionID++ },
		"its amount":      func(st *aapay.Status) { st.Receipt = &aapay.Receipt{Amount: 501, Currency: "EUR"} },
		"its currency":    func(st *aapay.Status) { st.Receipt = &aapay.Receipt{Amount: 500, Currency: "SEK"} },
		"its reference": func(st *aapay.Status) {
			st.Receipt = &aapay.Receipt{Amount: 500, Currency: "EUR", Reference: "of another"}
		},
		"nothing": func(st *aapay.Status) { st.Receipt = &aapay.Receipt{Amount: 500, Currency: "EUR"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			sold := w.sell(ecr.Payment, approved, 500)
			w.rows = append(w.rows, w.row(sold, 0))
			w.store()
			st := w.books.status[sold.Reference]
			spoil(&st)
			w.books.status[sold.Reference] = st
			v, err := w.compare(reconcile.Options{}, w.list())
			require.NoError(t, err)
			if name == "nothing" {
				require.True(t, v.Agree)
				return
			}
			require.Len(t, v.Findings, 1)
			require.Equal(t, reconcile.Unasked, v.Findings[0].Class)
			require.Contains(t, v.Findings[0].Says(), "the backend answered about another transaction")
		})
	}
}

// TestField4_E7NoAnswerOfTheKindIsAnothers: a payment that was undone was "all agree" although the customer had paid, where the backend
// answered about the undo with another transaction's; so was a refund that was never made. The kind: each question of a comparison. A
// payment is in TestField3_E7AnAnswerAboutAnotherTransactionIsNone; here are its undo, a refund, a reversal, and a row that the journal
// does not have (by a transaction number the client of the service refuses another's).
func TestField4_E7NoAnswerOfTheKindIsAnothers(t *testing.T) {
	another := func(amount int64, reference string) *aapay.Receipt {
		return &aapay.Receipt{Amount: amount, Currency: "EUR", Reference: reference}
	}
	for name, plant := range map[string]func(w *world, wrong bool) reconcile.Row{
		"the undo of a payment": func(w *world, wrong bool) reconcile.Row {
			sold := w.sell(ecr.Payment, undone, 500)
			st := aapay.Status{Valid: true, TransactionID: 9, State: "REVERSED", Receipt: another(500, sold.Reference)}
			if wrong {
				st.Receipt = another(500, "of another")
			}
			w.books.status[journal.ReferenceOf(sold.UndoKey)] = st
			return w.row(sold, 0)
		},
		"the undo by a refund": func(w *world, wrong bool) reconcile.Row {
			sold := w.sell(ecr.Payment, undone, 500)
			st := aapay.Status{Valid: true, TransactionID: 9, State: "REFUNDED", Receipt: another(500, strconv.FormatInt(sold.State.TransactionID, 10))}
			if wrong {
				st.Receipt = another(501, "")
			}
			w.books.status[journal.ReferenceOf(sold.UndoKey)] = st
			return w.row(sold, 0)
		},
		"a refund": func(w *world, wrong bool) reconcile.Row {
			sold := w.sell(ecr.Refund, approved, 500)
			st := w.books.status[sold.Reference]
			st.Receipt = another(500, "of its payment")
			if wrong {
				st.TransactionID++
			}
			w.books.status[sold.Reference] = st
			return w.row(sold, 0)
		},
		"a reversal": func(w *world, wrong bool) reconcile.Row {
			sold := w.sell(ecr.Reversal, approved, 500)
			sold.Original = wire.NewKey()
			st := w.books.status[sold.Reference]
			st.Receipt = another(-500, "")
			if wrong {
				st.Receipt = another(700, "")
			}
			w.books.status[sold.Reference] = st
			return w.row(sold, 0)
		},
		"a row that is not here": func(w *world, wrong bool) reconcile.Row {
			st := aapay.Status{Valid: true, TransactionID: 4711, State: aapay.Rejected}
			if wrong {
				st = aapay.Status{Valid: true, TransactionID: 4712, State: aapay.Finalized, AccountState: aapay.Commit, Receipt: another(700, "of another")}
			}
			w.books.status["till-7"] = st
			return reconcile.Row{Kind: ecr.Payment, Amount: 500, Currency: "EUR", At: w.at, Reference: "till-7"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, wrong := range []bool{false, true} {
				w := newWorld(t, 1)
				w.rows = append(w.rows, plant(w, wrong))
				w.store()
				v, err := w.compare(reconcile.Options{}, w.list())
				require.NoError(t, err)
				if !wrong {
					require.True(t, v.Agree, "%+v", v.Findings)
					continue
				}
				if name == "a row that is not here" {
					require.True(t, v.Agree, "it is nothing that a person books as paid: %+v", v.Findings)
					continue
				}
				require.Len(t, v.Findings, 1)
				if strings.HasPrefix(name, "the undo") {
					require.Equal(t, reconcile.Differ, v.Findings[0].Class, "it was paid, and nothing shows its undo")
					continue
				}
				require.Equal(t, reconcile.Unasked, v.Findings[0].Class)
				require.Contains(t, v.Findings[0].Says(), "the backend answered about another transaction")
			}
		})
	}
}
