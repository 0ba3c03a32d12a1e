package drive_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// loses puts the terminal's journal back, as a restore on another box does, to where it is now: sell is
// what happens meanwhile in the journal that is lost.
func (r *rig) loses(sell func()) {
	r.t.Helper()
	r.losesBy(func(journal.Numbers) journal.Past {
		return journal.Past{LastMS: time.Now().Add(-time.Hour).UnixMilli()}
	}, sell)
}

// losesBy is loses where past is what is known of the lost journal, whose numbers it is given as they are when the copy is made.
func (r *rig) losesBy(past func(own journal.Numbers) journal.Past, sell func()) {
	r.t.Helper()
	r.Halt()
	kept := r.path + ".kept"
	copyFile(r.t, r.path, kept)
	r.Start()
	sell()
	r.Halt()
	copyFile(r.t, kept, r.path)
	now := time.Now()
	require.NoError(r.t, r.onFile(func(tx store.Tx, db store.DB) error {
		if _, err := journal.SetAside(tx, db, "restored", now); err != nil {
			return err
		}
		if err := journal.KeepLast(tx); err != nil {
			return err
		}
		own, err := journal.Given(tx)
		if err != nil {
			return err
		}
		if err := journal.GoOn(tx, db, past(own), now); err != nil {
			return err
		}
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored, Why: "w"}, Generation: 2, AtMS: now.UnixMilli(), RunMS: 1})
	}))
	r.Reboot()
	r.Start()
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
	for _, more := range []string{"-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(to+more))
	}
}

// TestField2_M3AShortNumberNamesNoOthersPayment: 0002 was given again, and a refund of the customer's
// slip 0002 refunded another customer's payment. Each way to name a payment by a short number: a
// receipt, a trace, "the last one", for a refund, a reversal and a copy.
func TestField2_M3AShortNumberNamesNoOthersPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		first := r.approved(500)
		var lost ecr.Outcome
		r.loses(func() { lost = r.approved(700) })
		require.Equal(t, 2, lost.Receipt)
		ctx := context.Background()
		ambiguous := func(err error) {
			t.Helper()
			refused(t, err, ecr.Replaced)
			require.ErrorContains(t, err, "ask with R<batch>/<receipt> or T<transaction>")
		}
		ask := func(req ecr.Request) error {
			t.Helper()
			_, err := r.Ask(req)
			return err
		}
		for _, line := range []string{"serial", "tcp"} { // before anything is sold: the journal's last payment is not the register's
			ambiguous(ask(ecr.Request{Kind: ecr.Reversal, Line: line, Original: "L"}))
			ambiguous(ask(ecr.Request{Kind: ecr.Refund, Line: line, Amount: 500, RefundLast: true}))
		}
		ambiguous(ask(ecr.Request{Kind: ecr.Refund, Amount: 700, Original: "R2"}))
		now := r.approved(700)
		require.Equal(t, 1002, now.Receipt, "no number is given again")
		require.GreaterOrEqual(t, now.Trace, 1002)
		require.Greater(t, now.Batch, 1000)

		for _, original := range []string{"R2", "R1001", "R0002"} {
			ambiguous(ask(ecr.Request{Kind: ecr.Refund, Amount: 700, Original: original}))
		}
		ambiguous(ask(ecr.Request{Kind: ecr.Reversal, Amount: 700, Receipt: 2}))
		ambiguous(ask(ecr.Request{Kind: ecr.Reversal, Receipt: 2}))
		ambiguous(ask(ecr.Request{Kind: ecr.Reversal, Original: "L" + strconv.Itoa(lost.Trace)}))
		_, err := r.Copy(ctx, 2, "")
		refused(t, err, ecr.SystemError)
		ambiguous(ask(ecr.Request{Kind: ecr.Refund, Amount: 100, Original: "R1002"})) // the amount is another
		ambiguous(ask(ecr.Request{Kind: ecr.Refund, Amount: 700, Original: "R1"}))
		ambiguous(ask(ecr.Request{Kind: ecr.Reversal, Receipt: 1002}))
		require.Empty(t, r.world.sent(aapay.Refund))
		require.Empty(t, r.world.sent(aapay.Reversal))
		refused(t, ask(ecr.Request{Kind: ecr.Refund, Amount: 700, Original: "R1/2"}), ecr.SystemError) // a full name that is not here

		for _, original := range []string{"R1002", fmt.Sprintf("R%d/1002", now.Batch), "T" + now.TransactionID} { // and what can be meant alone
			amount := int64(100)
			if original == "R1002" {
				amount = 700
			}
			err := ask(ecr.Request{Kind: ecr.Refund, Amount: minor(amount), Original: original})
			if original == "R1002" {
				require.NoError(t, err)
				pass(time.Minute)
				continue
			}
			refused(t, err, ecr.AmountWrong) // it is refunded
		}
		s, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 500, Original: "R1"})
		require.NoError(t, err, "it cannot be one of the lost")
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.NotEmpty(t, first.TransactionID)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

// A number that begins again meets the lost ones: it names nothing until a person has released them.
func TestField2_M3AReleasedNumberNamesAPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(500)
		r.loses(func() { r.approved(700) })
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE checkout_counters SET value = 1 WHERE name = 'receipt'`)
			return err
		}))
		require.Equal(t, 2, r.approved(700).Receipt)
		for _, req := range []ecr.Request{{Kind: ecr.Refund, Amount: 700, Original: "R2"}, {Kind: ecr.Reversal, Amount: 700, Receipt: 2}} {
			_, err := r.Ask(req)
			refused(t, err, ecr.Replaced)
		}
		_, err := r.Copy(context.Background(), 2, "")
		refused(t, err, ecr.Replaced)
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error { _, err := journal.ReleaseNumbers(tx); return err }))
		again, err := r.Copy(context.Background(), 2, "")
		require.NoError(t, err)
		r.Told(again, ecr.Lost)
		s, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 100, Original: "R2"})
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
	})
}
