package aapay_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

const second = time.Second

// rowAmount is the amount of a row of the table.
func rowAmount(t testing.TB, name string) int64 {
	t.Helper()
	for _, r := range scenario.Table() {
		if r.Name == name {
			return r.AmountHundredths
		}
	}
	require.Failf(t, "no such row", "%s", name)
	return 0
}

// A reversal, for every state the original can be in.
func TestReversalOfEveryState(t *testing.T) {
	w := newWorld(t, "", nil)
	for _, row := range []struct {
		name     string
		amount   int64
		wait     time.Duration
		original aapay.State
		account  aapay.AccountState
		reversal aapay.State
		moved    aapay.AccountState
	}{
		{"open", 1250, 0, aapay.Cancelled, "", "REVERSED", ""},
		{"pending", rowAmount(t, "pending"), 0, aapay.Cancelled, "", "REVERSED", ""},
		{"a word nobody knows", rowAmount(t, "unknown-word"), second, aapay.Cancelled, "", "REVERSED", ""},
		{"stale", rowAmount(t, "never"), 31 * second, aapay.Cancelled, "", "REVERSED", ""},
		{"stale that would commit", rowAmount(t, "stale-commit"), 31 * second, aapay.Cancelled, "", "REVERSED", ""},
		{"reserved", rowAmount(t, "reserve"), 11 * second, aapay.Cancelled, aapay.Rollback, "REVERSED", ""},
		{"provider's word", rowAmount(t, "provider-word"), 11 * second, aapay.Cancelled, aapay.Rollback, "REVERSED", ""},
		{"committed", 1250, 11 * second, aapay.Finalized, aapay.Commit, aapay.Finalized, aapay.Commit},
		{"committed under a bad word", rowAmount(t, "bad-word-commit"), 11 * second, aapay.Failed, aapay.Commit, aapay.Finalized, aapay.Commit},
		{"rolled back", rowAmount(t, "rollback"), 11 * second, aapay.Finalized, aapay.Rollback, "REVERSED", ""},
		{"declined", rowAmount(t, "declined"), 11 * second, aapay.Rejected, "", "REVERSED", ""},
		{"rejected at initialize", rowAmount(t, "reject"), 0, aapay.Rejected, "", "REVERSED", ""},
		{"timed out", rowAmount(t, "never"), 400 * second, aapay.TimedOut, "", "REVERSED", ""},
		{"timed out, commit would come", rowAmount(t, "late-commit"), 331 * second, aapay.TimedOut, "", "REVERSED", ""},
		{"timed out, commit has come", rowAmount(t, "late-commit"), 333 * second, aapay.TimedOut, aapay.Commit, aapay.Finalized, aapay.Commit},
	} {
		t.Run(row.name, func(t *testing.T) {
			req := w.request(swish, row.amount)
			w.begin(aapay.Payment, req)
			w.Pass(row.wait)
			first := w.undo(req.TerminalReference, swish, row.amount)
			require.Equal(t, 202, w.begin(aapay.Reversal, first).HTTPStatus)
			w.is(first.TerminalReference, row.reversal, row.moved)
			for range 2 { // again under other keys: proof, and no second posting
				again := w.undo(req.TerminalReference, swish, row.amount)
				require.Equal(t, 202, w.begin(aapay.Reversal, again).HTTPStatus)
				w.is(again.TerminalReference, "REVERSED", "")
			}
			w.Pass(time.Hour) // and it stays so, whatever the wallet had planned
			w.is(req.TerminalReference, row.original, row.account)
			require.Zero(t, w.net(req.TerminalReference))
			_, err := w.Pay(context.Background(), req.TerminalReference)
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
			require.Zero(t, w.net(req.TerminalReference))
		})
	}
	w.sound()
}

func TestReversalBeforeThePaymentArrives(t *testing.T) {
	w := newWorld(t, "", nil)
	late := w.request(swish, 1250)
	for range 2 {
		rev := w.undo(late.TerminalReference, swish, 1250)
		require.Equal(t, 202, w.begin(aapay.Reversal, rev).HTTPStatus)
		w.is(rev.TerminalReference, "REVERSED", "")
	}
	w.Restart()
	reply := w.begin(aapay.Payment, late)
	require.Equal(t, 201, reply.HTTPStatus)
	require.Equal(t, aapay.CodeReject, reply.Response.ResponseCode)
	w.Pass(time.Hour)
	w.is(late.TerminalReference, aapay.Rejected, "")
	require.Zero(t, w.net(late.TerminalReference))
	w.sound()
}

func TestOneTransactionPerTerminalReference(t *testing.T) {
	w := newWorld(t, "", nil)
	req := w.pay(swish, 1250)
	first := w.status(req.TerminalReference).TransactionID
	plain, err := w.Initialize(context.Background(), aapay.Payment, req)
	require.NoError(t, err)
	require.Equal(t, 201, plain.HTTPStatus)
	require.Equal(t, 201, w.begin(aapay.Payment, req).HTTPStatus)
	require.Equal(t, first, w.status(req.TerminalReference).TransactionID)
	next := w.pay(swish, 1250)
	require.Equal(t, first+1, w.status(next.TerminalReference).TransactionID, "nothing was created in between")
}

// Undo rows: the first ends badly, the next one, under its own Key and reference, does it.
func TestUndoRows(t *testing.T) {
	for _, row := range []struct {
		name    string
		typ     aapay.Type
		at      []moment
		payment bool // still committed while the first undo has not done it
	}{
		{"reversal-fails", aapay.Reversal, []moment{{0, aapay.Failed, "", 1}, {time.Hour, aapay.Failed, "", 1}}, true},
		{"reversal-times-out", aapay.Reversal, []moment{{0, aapay.Pending, "", 1}, {5*time.Minute - 1*time.Millisecond, aapay.Pending, "", 1}, {5 * time.Minute, aapay.TimedOut, "", 1}}, true},
		{"refund-fails", aapay.Refund, []moment{{0, aapay.Failed, "", 1}, {time.Hour, aapay.Failed, "", 1}}, true},
		{"reversal-slow", aapay.Reversal, []moment{{0, aapay.Pending, "", 1}, {10*second - time.Millisecond, aapay.Pending, "", 1}, {10 * second, aapay.Finalized, aapay.Commit, 0}}, false},
		{"refund-slow", aapay.Refund, []moment{{0, aapay.Pending, "", 1}, {10*second - time.Millisecond, aapay.Pending, "", 1}, {10 * second, aapay.Finalized, aapay.Commit, 0}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, "", nil)
			amount := rowAmount(t, row.name)
			req := w.pay(swish, amount)
			w.Pass(10 * second)
			st := w.status(req.TerminalReference)
			require.Equal(t, aapay.Commit, st.AccountState)
			original := req.TerminalReference
			if row.typ == aapay.Refund {
				original = strconv.FormatInt(st.TransactionID, 10)
			}
			first := w.undo(original, swish, amount)
			require.Equal(t, 202, w.begin(row.typ, first).HTTPStatus)
			begun := w.Now()
			for _, m := range row.at {
				w.Set(begun.Add(m.at))
				w.is(first.TerminalReference, m.state, m.account)
				require.EqualValues(t, m.net*amount, w.net(req.TerminalReference), "after %s", m.at)
			}
			second := w.undo(original, swish, amount)
			reply := w.begin(row.typ, second)
			if row.payment {
				require.Equal(t, 202, reply.HTTPStatus)
				w.is(second.TerminalReference, aapay.Finalized, aapay.Commit)
			}
			require.Zero(t, w.net(req.TerminalReference))
			w.sound()
		})
	}
}

// A slow reversal of an open payment: the customer may still pay first, and gets the money back.
func TestSlowReversalOvertakenByTheCustomer(t *testing.T) {
	w := newWorld(t, "", nil)
	amount := rowAmount(t, "reversal-slow")
	req := w.pay(swish, amount)
	w.Pass(5 * second)
	rev := w.undo(req.TerminalReference, swish, amount)
	w.begin(aapay.Reversal, rev)
	w.Pass(5 * second)
	w.is(req.TerminalReference, aapay.Finalized, aapay.Commit)
	require.EqualValues(t, amount, w.net(req.TerminalReference))
	w.Pass(5 * second)
	w.is(rev.TerminalReference, aapay.Finalized, aapay.Commit)
	require.Zero(t, w.net(req.TerminalReference))
	w.sound()
}

func TestRefunds(t *testing.T) {
	w := newWorld(t, "", nil)
	req := w.pay(swish, 1000)
	id := func() string { return strconv.FormatInt(w.status(req.TerminalReference).TransactionID, 10) }
	refused := func(typ aapay.Type, original string, amount int64) {
		t.Helper()
		reply := w.begin(typ, w.undo(original, swish, amount))
		require.Equal(t, 201, reply.HTTPStatus)
		require.Equal(t, aapay.CodeReject, reply.Response.ResponseCode)
		require.False(t, reply.Valid)
		require.NotEmpty(t, reply.Error.Message)
	}
	refused(aapay.Refund, id(), 1000) // not paid yet
	w.Pass(10 * second)
	refused(aapay.Refund, "12345", 1000)
	refused(aapay.Refund, id(), 1001)
	refused(aapay.Reversal, req.TerminalReference, 999)
	part := w.undo(id(), swish, 400)
	require.Equal(t, 202, w.begin(aapay.Refund, part).HTTPStatus)
	w.is(part.TerminalReference, aapay.Finalized, aapay.Commit)
	require.EqualValues(t, 600, w.net(req.TerminalReference))
	refused(aapay.Refund, id(), 601)
	refused(aapay.Reversal, req.TerminalReference, 1000)
	rest := w.undo(id(), swish, 600)
	require.Equal(t, 202, w.begin(aapay.Refund, rest).HTTPStatus)
	require.Zero(t, w.net(req.TerminalReference))
	refused(aapay.Refund, id(), 1)
	refused(aapay.Reversal, part.TerminalReference, 400) // a refund is no payment

	for _, change := range []func(*aapay.Request){
		func(r *aapay.Request) { r.MerchantID = "M2" },
		func(r *aapay.Request) { r.Method = "EASY" },
		func(r *aapay.Request) { r.PurchaseAmount.CurrencyCode = "SEK" },
	} {
		other := w.pay(swish, 500)
		w.Pass(10 * second)
		rev := w.undo(other.TerminalReference, swish, 500)
		change(&rev)
		require.Equal(t, 201, w.begin(aapay.Reversal, rev).HTTPStatus)
		require.EqualValues(t, 500, w.net(other.TerminalReference))
	}
	w.sound()
}

func TestMethodWithoutReversal(t *testing.T) {
	w := newWorld(t, "", nil)
	req := w.pay("VIPPS", 1000)
	w.Pass(10 * second)
	require.Equal(t, 201, w.begin(aapay.Reversal, w.undo(req.TerminalReference, "VIPPS", 1000)).HTTPStatus)
	require.EqualValues(t, 1000, w.net(req.TerminalReference))
	id := strconv.FormatInt(w.status(req.TerminalReference).TransactionID, 10)
	require.Equal(t, 202, w.begin(aapay.Refund, w.undo(id, "VIPPS", 1000)).HTTPStatus)
	require.Zero(t, w.net(req.TerminalReference))
}

func TestAmountsOfOtherExponents(t *testing.T) {
	w := newWorld(t, "", nil)
	for _, row := range []struct {
		currency   string
		hundredths int64
		minor      int64
	}{{"EUR", 1250, 1250}, {"JPY", 50_000, 500}, {"KWD", 125, 1250}} {
		req := w.request(swish, row.hundredths)
		req.PurchaseAmount.CurrencyCode = row.currency
		require.Equal(t, 202, w.begin(aapay.Payment, req).HTTPStatus)
		w.Pass(10 * second)
		require.EqualValues(t, row.minor, w.net(req.TerminalReference), row.currency)
	}
	broken := w.request(swish, 50)
	broken.PurchaseAmount.CurrencyCode = "JPY"
	_, err := w.Initialize(context.Background(), aapay.Payment, broken)
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "half a yen: %v", err)
}

// One key, one effect, however many ask at once, and every answer the same.
func TestKeyUsedByManyAtOnce(t *testing.T) {
	w := newWorld(t, "", nil)
	key, req := wire.NewKey(), w.request(swish, 1250)
	const many = 64
	refs := make([]string, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			reply, err := w.InitializeWithIdempotency(context.Background(), key, aapay.Payment, req)
			if err == nil {
				refs[i] = reply.Response.NAA2ECR.PPRef
			}
		})
	}
	wg.Wait()
	for _, r := range refs {
		require.NotEmpty(t, r)
		require.Equal(t, refs[0], r)
	}
	next := w.pay(swish, 1250)
	require.Greater(t, w.status(next.TerminalReference).TransactionID, w.status(req.TerminalReference).TransactionID)
	require.NoError(t, w.DB.Read(context.Background(), func(r store.Reader) error {
		var n int
		err := r.QueryRow("SELECT count(*) FROM wallets_txn").Scan(&n)
		require.Equal(t, 2, n, "that of the key, and the next one")
		return err
	}))
	other := req
	other.Batch = 7
	_, err := w.InitializeWithIdempotency(context.Background(), key, aapay.Payment, other)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
}

// What was answered is there after a restart: states, keys, plans, marks.
func TestRestart(t *testing.T) {
	w := newWorld(t, "", nil)
	key, req := wire.NewKey(), w.request(swish, 1250)
	first, err := w.InitializeWithIdempotency(context.Background(), key, aapay.Payment, req)
	require.NoError(t, err)
	failing := rowAmount(t, "reversal-fails")
	sale := w.pay(swish, failing)
	w.Pass(10 * second)
	w.is(sale.TerminalReference, aapay.Finalized, aapay.Commit)
	w.begin(aapay.Reversal, w.undo(sale.TerminalReference, swish, failing))
	w.Restart()
	again, err := w.InitializeWithIdempotency(context.Background(), key, aapay.Payment, req)
	require.NoError(t, err)
	require.Equal(t, first, again)
	w.is(req.TerminalReference, aapay.Finalized, aapay.Commit)
	rev := w.undo(sale.TerminalReference, swish, failing)
	w.begin(aapay.Reversal, rev)
	w.is(rev.TerminalReference, aapay.Finalized, aapay.Commit)
	w.sound()
}

// Whatever customers, terminals, time and restarts do to a handful of payments, also all at once: the books are sound.
func TestAnyInterleaving(t *testing.T) {
	w := newWorld(t, "", nil)
	rows := scenario.Table()
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		var refs []string
		for range 3 {
			amount := int64(1000)
			if i := rapid.IntRange(-4, len(rows)-1).Draw(rt, "row"); i >= 0 {
				amount = rows[i].AmountHundredths
			}
			req := w.request(rapid.SampledFrom([]string{swish, "KLARNA", "TWINT", "VIPPS"}).Draw(rt, "method"), amount)
			_, err := w.Initialize(ctx, aapay.Payment, req)
			_ = err // many rows answer badly; the books must not care
			refs = append(refs, req.TerminalReference)
		}
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			var wg sync.WaitGroup
			for range rapid.IntRange(1, 4).Draw(rt, "at once") {
				ref := rapid.SampledFrom(refs).Draw(rt, "which")
				what := rapid.IntRange(0, 5).Draw(rt, "what")
				st, err := w.Status(ctx, ref, "")
				if err != nil {
					continue
				}
				undo := w.undo(ref, st.Receipt.Scheme, st.Receipt.Amount)
				undo.PurchaseAmount.CurrencyCode = "EUR"
				if st.Receipt.Amount == 1 { // the row that lies about it
					undo.PurchaseAmount.TotalAmount = rowAmount(t, "other-amount")
				}
				wg.Go(func() {
					switch what {
					case 0:
						_, _ = w.Pay(ctx, ref)
					case 1:
						_, _ = w.Decline(ctx, ref)
					case 2, 3:
						_, _ = w.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Reversal, undo)
					case 4:
						undo.OriginalReference = strconv.FormatInt(st.TransactionID, 10)
						undo.PurchaseAmount.TotalAmount = 1 + undo.PurchaseAmount.TotalAmount/2
						_, _ = w.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Refund, undo)
					case 5:
						_, _ = w.Status(ctx, ref, "")
					}
				})
			}
			wg.Wait()
			w.Pass(time.Duration(rapid.SampledFrom([]int{0, 1, 2, 9, 10, 30, 300, 400}).Draw(rt, "pause")) * second)
		}
	})
	w.Restart()
	w.sound()
}

var _ aapay.Service = (*wallets.Wallets)(nil)
