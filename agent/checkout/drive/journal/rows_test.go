package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestSalesOfTheFirstSchema: the method and the request move to a table of their own, and a sale
// still verifies.
func TestSalesOfTheFirstSchema(t *testing.T) {
	path := t.TempDir() + "/a.db"
	db := storetest.OpenAt(t, path, Schema()[0])
	r := &Row{ID: 7, Key: "0198c0de-0000-7000-8000-000000000007", Kind: "payment", Line: "tcp", Amount: 500, Currency: "EUR", Boot: "b", request: []byte("sealed"),
		State: checkout.State{Phase: checkout.Confirmed, TransactionID: 9}, Method: methods.Definition{Name: "WALLET"}, Receipt: 3, Batch: 1}
	s, err := r.pack(db)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO checkout_sales (`+ownRows.Columns()+`, method, request) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			r.ID, string(r.Key), string(r.Kind), r.Line, r.Sequence, s.phase, s.active, s.state, int64(r.Amount), r.Currency, r.Reference,
			s.transaction, string(r.Original), r.Asked, r.OriginalTrace, int64(r.Debited), s.reversed, r.Receipt, r.Trace, r.Batch, r.Told, r.Boot,
			r.CreatedMS, r.DecidedMS, string(r.UndoKey), r.Resumes, s.mac, s.method, r.request)
		return err
	}))
	require.NoError(t, db.Close())

	db = storetest.OpenAt(t, path, Schema()...)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
		got, err := many(db, rd, `key = ?`, string(r.Key))
		require.NoError(t, err)
		require.Equal(t, []*Row{r}, got)
		return nil
	}))
}

// TestField2_A3NamesOfAnOlderProgramAreMasked: an older program wrote card numbers that tills chose as names in clear. A start masks them,
// and they stay the names that they were; a row that does not verify stays as it is.
func TestField2_A3NamesOfAnOlderProgramAreMasked(t *testing.T) {
	const card, second, altered = "4111112200065564", "4111112200145564", "4111112200225564"
	db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
	j := New(Options{DB: db})
	row := func(key wire.Key, id string) *Row {
		return &Row{Key: key, Kind: ecr.Payment, Line: "jsonl/" + card, Sequence: id, Amount: 500, Currency: "EUR", Boot: "b", Batch: 1,
			State: checkout.State{Phase: checkout.Confirmed, Till: checkout.Till{Reference: id}}, Method: methods.Definition{Name: "WALLET"}}
	}
	one, bad := row("0198c0de-0000-7000-8000-000000000001", card), row("0198c0de-0000-7000-8000-000000000002", altered)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, j.Insert(tx, one))
		require.NoError(t, j.Insert(tx, bad))
		require.NoError(t, j.JoinID(tx, one.Key, one.Line, second, 0))
		_, err := tx.Exec(`UPDATE checkout_sales SET amount = 1 WHERE key = ?`, string(bad.Key))
		return err
	}))
	for range 2 { // the second start finds nothing to do
		require.NoError(t, db.Write(t.Context(), j.KeepNames))
	}
	require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
		got, err := j.ByKey(rd, one.Key)
		require.NoError(t, err, "it verifies")
		require.Equal(t, j.kept(one.Line), got.Line)
		require.Equal(t, j.kept(card), got.Sequence)
		require.Equal(t, j.kept(card), got.State.Till.Reference)
		for _, id := range []string{card, second} {
			found, err := j.BySequence(rd, j.kept(one.Line), j.kept(id))
			require.NoError(t, err, id)
			require.Equal(t, one.Key, found.Key, id)
		}
		u, err := j.UsedID(rd, got.Line, got.Sequence)
		require.NoError(t, err)
		require.True(t, u.Known)
		require.Empty(t, storetest.Holds(t, rd, second))
		require.Equal(t, []string{"checkout_sales.line"}, storetest.Holds(t, rd, card), "of the altered row alone")
		require.Equal(t, []string{"checkout_sales.sequence", "checkout_sales.state"}, storetest.Holds(t, rd, altered))
		return nil
	}))
}

// TestField_J4ANullIsDamage: a damaged page gave a NULL where a number belongs, and the sale list
// told that in the driver's words.
func TestField_J4ANullIsDamage(t *testing.T) {
	db := storetest.Open(t)
	columns := len((&line{}).fields()) / 2 // each has a name and a place
	require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
		_, err := scan(db, rd.QueryRow("SELECT NULL"+strings.Repeat(", NULL", columns-1)))
		require.ErrorIs(t, err, store.ErrDamaged)
		require.ErrorContains(t, err, "read sale: store: file is damaged: ")
		require.ErrorContains(t, err, "converting NULL to int64")
		return nil
	}))
}

// TestNoConditionReadsEverySale: a journal of years must not make a sale slower.
func TestNoConditionReadsEverySale(t *testing.T) {
	db := storetest.Open(t, Schema()...)
	for where, index := range map[string]string{
		bySequence + ` ORDER BY id DESC LIMIT 1`:                 "checkout_sales_sequence",
		byReceipt:                                                "checkout_sales_receipt",
		byReceipt + ` ORDER BY id DESC LIMIT 1`:                  "checkout_sales_receipt",
		byTransaction + ` AND kind = 'payment' ORDER BY id DESC`: "checkout_sales_transaction",
		byUndo:                                                  "checkout_sales_undo",
		confirmedIn + ` ORDER BY id`:                            "checkout_sales_receipt",
		`batch = ? AND receipt != 0`:                            "checkout_sales_receipt",
		`batch = ? AND receipt != 0 ORDER BY id`:                "checkout_sales_receipt",
		active + ` ORDER BY id`:                                 "checkout_sales_active",
		`active = 1 AND receipt = 0`:                            "checkout_sales_active",
		`line = ? ORDER BY id DESC LIMIT 1`:                     "checkout_sales_line",
		byName + ` ORDER BY id DESC LIMIT 1`:                    "sqlite_autoindex_checkout_sales_1",
		`line = ? AND id < ? AND receipt != 0 ORDER BY id DESC`: "checkout_sales_line",
	} {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			args := make([]any, strings.Count(where, "?"))
			var a, b, c int
			var plan string
			require.NoError(t, r.QueryRow(`EXPLAIN QUERY PLAN SELECT `+saleColumns+` FROM `+saleTables+` WHERE `+where, args...).Scan(&a, &b, &c, &plan))
			require.Contains(t, plan, index, where)
			return nil
		}))
	}
}

// TestGoOnClosesTheOpenBatch: a journal that takes another's place settles what it holds itself,
// without a terminal around it.
func TestGoOnClosesTheOpenBatch(t *testing.T) {
	db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
	j := New(Options{DB: db})
	r := &Row{Key: "0198c0de-0000-7000-8000-000000000007", Kind: ecr.Payment, Line: "tcp", Amount: 500, Currency: "EUR", Receipt: 3, Batch: 1,
		State: checkout.State{Kind: ecr.Payment, Phase: checkout.Confirmed, Result: ecr.Approved, Committed: true}}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, r) }))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return GoOn(tx, db, Past{Seen: Numbers{Receipt: 7, Trace: 9, Batch: 4, Sale: 12}, Known: true}, time.Unix(1_800_000_000, 0))
	}))
	got, err := j.Sale(t.Context(), r.Key)
	require.NoError(t, err)
	require.Equal(t, checkout.Done, got.State.Phase)
	require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
		n, err := Given(rd)
		require.NoError(t, err)
		require.Equal(t, Numbers{Receipt: 7, Trace: 9, Batch: 5, Sale: 1}, n)
		return nil
	}))
}

// TestNumbersGoOnBehindTheLaterJournal: which of two journals gave the last number is told by their batches. A new box's journal knows
// nothing of the terminal's earlier days, and must not lead its numbers back to slips that customers have.
func TestNumbersGoOnBehindTheLaterJournal(t *testing.T) {
	for name, tc := range map[string]struct {
		own, seen Numbers
		receipt   int64
	}{
		"an older copy of the same day":     {Numbers{Receipt: 3, Batch: 1}, Numbers{Receipt: 7, Batch: 1}, 7},
		"an older copy of an earlier day":   {Numbers{Receipt: 200, Batch: 3}, Numbers{Receipt: 12, Batch: 5}, 12},
		"the new box has sold nothing":      {Numbers{Receipt: 200, Batch: 40}, Numbers{Batch: 1}, 200},
		"the new box has sold a little":     {Numbers{Receipt: 200, Batch: 40}, Numbers{Receipt: 3, Batch: 1}, 200},
		"both are of the first day":         {Numbers{Receipt: 200, Batch: 1}, Numbers{Receipt: 3, Batch: 1}, 200},
		"nothing sold, the first day":       {Numbers{Receipt: 9000, Batch: 1}, Numbers{Batch: 1}, 9000},
		"the numbers have begun at 1 again": {Numbers{Receipt: 9990, Batch: 7}, Numbers{Receipt: 5, Batch: 7}, 5},
	} {
		db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			require.NoError(t, setCounter(tx, "receipt", tc.own.Receipt))
			require.NoError(t, setCounter(tx, "batch", tc.own.Batch))
			return GoOn(tx, db, Past{Seen: tc.seen, Known: true}, time.Unix(1_800_000_000, 0))
		}))
		require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
			n, err := Given(rd)
			require.NoError(t, err)
			require.Equal(t, tc.receipt, n.Receipt, name)
			require.Equal(t, max(tc.own.Batch, tc.seen.Batch)+1, n.Batch, name)
			return nil
		}))
	}
}
