package drive_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// ask is a payment of 5.00 by a till with ids of its own.
func ask(id string) ecr.Request { return ecr.Request{Amount: 500, Line: "http/kiosk", Sequence: id} }

// unheard is such a payment that was approved, and whose telling was lost.
func (r *rig) unheard(req ecr.Request) ecr.Outcome {
	r.t.Helper()
	r.world.onStatus = approveAfter(r.world, 1)
	s := r.Accepted(req)
	out := <-s.Outcome
	require.Equal(r.t, ecr.Approved, out.Result)
	r.Told(s, ecr.Lost)
	return out
}

func (r *rig) exceptions() string {
	r.t.Helper()
	return strings.Join(r.Health(context.Background()).Lines, "\n")
}

// TestMoneyF5_AnUnheardApprovalIsKept: where the till said so, neither grace nor another sale nor the
// end of day takes it back, and the merchant is told once.
func TestMoneyF5_AnUnheardApprovalIsKept(t *testing.T) {
	terminal(t, func(r *rig) {
		req := ask("a")
		req.Keep = true
		o := r.unheard(req)
		pass(9 * time.Minute)
		require.NotContains(t, r.exceptions(), "never fetched")
		pass(2 * time.Hour)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
		require.Equal(t, 1, strings.Count(r.exceptions(), "the till never fetched the outcome"))

		next := ask("b")
		next.Keep = true
		s := r.Accepted(next)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "another purchase says nothing of this one")
		<-s.Outcome
		r.Told(s, ecr.Told)
		totals, err := r.Close(context.Background())
		require.NoError(t, err)
		require.EqualValues(t, 1000, totals.Net)
		require.Equal(t, checkout.Done, r.phase(o.Sale))
		require.EqualValues(t, 1000, r.world.net())
		pass(time.Hour)
		require.EqualValues(t, 1000, r.world.net())
	})
}

// TestMoneyF5_TheSamePurchaseUnderAnotherIDUndoesTheFirst: a kiosk that lost its key asks for the same
// purchase again, before and after the merchant was told; without a reference nothing is undone.
func TestMoneyF5_TheSamePurchaseUnderAnotherIDUndoesTheFirst(t *testing.T) {
	for name, c := range map[string]struct {
		wait             time.Duration
		first, second    string
		phase            checkout.Phase
		movedInTheEnd    int64
		secondIsAPayment bool
	}{
		"at once":           {time.Second, "order 7", "order 7", checkout.Reversing, 500, true},
		"after the alert":   {time.Hour, "order 7", "order 7", checkout.Reversing, 500, true},
		"another purchase":  {time.Hour, "order 7", "order 8", checkout.Unconfirmed, 1000, true},
		"without reference": {time.Hour, "", "", checkout.Unconfirmed, 1000, true},
	} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				req := ask("a")
				req.Keep, req.Reference = true, c.first
				o := r.unheard(req)
				pass(c.wait)
				next := ask("b")
				next.Keep, next.Reference = true, c.second
				s := r.Accepted(next)
				require.Equal(t, c.phase, r.phase(o.Sale))
				require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
				r.Told(s, ecr.Told)
				pass(time.Minute)
				require.EqualValues(t, c.movedInTheEnd, r.world.net())
			})
		})
	}
}

// TestMoneyF2_TheSameIDIsTheSameRequest: type, amount, currency, original and reference make a request
// the same; anything else under its id is refused, and nothing is begun.
func TestMoneyF2_TheSameIDIsTheSameRequest(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		req := ask("a")
		req.Reference = "order 7"
		first := r.Accepted(req)
		o := <-first.Outcome
		r.Told(first, ecr.Told)
		again := r.Accepted(req)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, o.Receipt, (<-again.Outcome).Receipt)
		r.Told(again, ecr.Told)

		for _, other := range []func(*ecr.Request){
			func(q *ecr.Request) { q.Amount = 501 },
			func(q *ecr.Request) { q.Reference = "order 8" },
			func(q *ecr.Request) { q.Reference = "" },
			func(q *ecr.Request) { q.Kind, q.Original = ecr.Refund, "R1" },
		} {
			q := req
			other(&q)
			_, err := r.Ask(q)
			refused(t, err, ecr.Processing)
		}
		elsewhere := req
		elsewhere.Line = "http/other"
		s := r.Accepted(elsewhere)
		require.NotEqual(t, first.ID, s.ID, "another till's id is another id")
		<-s.Outcome
		r.Told(s, ecr.Told)

		give := ecr.Request{Kind: ecr.Refund, Line: "http/kiosk", Sequence: "c", Amount: 100, Original: "R1"}
		s = r.Accepted(give)
		<-s.Outcome
		r.Told(s, ecr.Told)
		give.Original = "R2"
		_, err := r.Ask(give)
		refused(t, err, ecr.Processing)
		require.EqualValues(t, 900, r.world.net())
	})
}

// TestMoneyF2_AnotherIDIsAnotherRefund: the end of a refund is not told under another id, also where
// it gives the same amount of the same payment back. Once its till knows the end, another one may be
// asked for.
func TestMoneyF2_AnotherIDIsAnotherRefund(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		paid := r.Accepted(ask("a"))
		o := <-paid.Outcome
		r.Told(paid, ecr.Told)
		r.world.lock(func() { r.world.mute = true })
		give := func(id string) ecr.Request {
			return ecr.Request{Kind: ecr.Refund, Line: "http/kiosk", Sequence: id, Amount: 100, Original: "T" + o.TransactionID}
		}
		first := r.Accepted(give("b"))
		none := func() {
			t.Helper()
			_, err := r.Ask(give("c"))
			refused(t, err, ecr.StillRunning)
			_, err = r.Find(context.Background(), "http/kiosk", "c")
			require.ErrorIs(t, err, ecr.ErrNone)
		}
		none()
		require.Equal(t, ecr.InProgress, (<-first.Outcome).Result)
		r.Told(first, ecr.Told)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		none()
		require.EqualValues(t, 400, r.world.net())

		again := r.Accepted(give("b"))
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, ecr.Approved, (<-again.Outcome).Result)
		r.Told(again, ecr.Told)
		second := r.Accepted(give("c"))
		require.NotEqual(t, first.ID, second.ID)
		require.Equal(t, ecr.Approved, (<-second.Outcome).Result)
		r.Told(second, ecr.Told)
		require.EqualValues(t, 300, r.world.net())
	})
}

// TestMoneyA2_ARepeatedIDOfARefundIsNoErrorWithoutTheDisk: the refund is carried out, and an error would
// be taken for a no.
func TestMoneyA2_ARepeatedIDOfARefundIsNoErrorWithoutTheDisk(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		paid := r.Accepted(ask("a"))
		o := <-paid.Outcome
		r.Told(paid, ecr.Told)
		r.world.lock(func() { r.world.mute = true })
		give := ecr.Request{Kind: ecr.Refund, Line: "http/kiosk", Sequence: "b", Amount: 100, Original: "T" + o.TransactionID}
		first := r.Accepted(give)
		require.Equal(t, ecr.InProgress, (<-first.Outcome).Result)
		r.Told(first, ecr.Told)
		r.guard.fail(1 << 30)
		again, err := r.Ask(give)
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, ecr.InProgress, (<-again.Outcome).Result)
		r.Told(again, ecr.Told)
		r.guard.fail(0)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		again = r.Accepted(give)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, ecr.Approved, (<-again.Outcome).Result)
		r.Told(again, ecr.Told)
		require.EqualValues(t, 400, r.world.net())
	})
}

// TestMoneyF3_ASaleIsFoundByItsID: while it runs, after it ended and after a restart; "none" only
// where nothing was accepted.
func TestMoneyF3_ASaleIsFoundByItsID(t *testing.T) {
	terminal(t, func(r *rig) {
		ctx := context.Background()
		_, err := r.Find(ctx, "http/kiosk", "a")
		require.ErrorIs(t, err, ecr.ErrNone)
		r.world.onStatus = approveAfter(r.world, 3)
		s := r.Accepted(ask("a"))
		pass(3 * time.Second)
		found, err := r.Find(ctx, "http/kiosk", "a")
		require.NoError(t, err)
		require.Equal(t, s.ID, found.ID)
		for _, other := range []string{"a/", "/", "b/"} {
			_, err = r.Find(ctx, "http/kiosk", other)
			require.ErrorIs(t, err, ecr.ErrNone, other)
		}
		_, err = r.Find(ctx, "http/other", "a")
		require.ErrorIs(t, err, ecr.ErrNone)
		for _, one := range []ecr.Sale{s, found} {
			require.Equal(t, ecr.Approved, (<-one.Outcome).Result)
			r.Told(one, ecr.Told)
		}
		r.Halt()
		r.Start()
		found, err = r.Find(ctx, "http/kiosk", "a")
		require.NoError(t, err)
		require.Equal(t, s.ID, found.ID)
		require.True(t, (<-found.Outcome).Repeat)
		r.Told(found, ecr.Told)
	})
}

// TestMoneyF3_ASaleIsFoundByHowItsIDBegins: up to a slash, the newest one; no other id begins so.
func TestMoneyF3_ASaleIsFoundByHowItsIDBegins(t *testing.T) {
	terminal(t, func(r *rig) {
		var last ecr.Sale
		for _, id := range []string{"7/one", "7/two", "70/three", "7", "6/four"} {
			r.world.onStatus = approveAfter(r.world, 1)
			s := r.Accepted(ask(id))
			<-s.Outcome
			r.Told(s, ecr.Told)
			if id == "7/two" {
				last = s
			}
		}
		found, err := r.Find(context.Background(), "http/kiosk", "7/"+ecr.AnyEnd)
		require.NoError(t, err)
		require.Equal(t, last.ID, found.ID)
		<-found.Outcome
		r.Told(found, ecr.Told)
		_, err = r.Find(context.Background(), "http/kiosk", "5/"+ecr.AnyEnd)
		require.ErrorIs(t, err, ecr.ErrNone)
	})
}

// TestMoneyF2_AnIDMakesItsKey: a journal without the sale sends the same request under the same key
// and terminalReference, so that the backend performs it once. Another id, another line and a request
// without an id have other keys.
func TestMoneyF2_AnIDMakesItsKey(t *testing.T) {
	keys := func(t *testing.T, reqs ...ecr.Request) (list []string) {
		terminal(t, func(r *rig) {
			r.secret = []byte("a secret that outlives the journal")
			r.Halt()
			r.Start()
			for _, req := range reqs {
				r.world.onStatus = approveAfter(r.world, 1)
				s := r.Accepted(req)
				<-s.Outcome
				r.Told(s, ecr.Told)
				list = append(list, s.ID)
			}
			for i, c := range r.world.inits {
				require.Equal(t, list[i], string(c.key))
				require.Equal(t, strings.ReplaceAll(list[i], "-", ""), c.req.TerminalReference)
			}
		})
		return list
	}
	other, noID := ask("a"), ask("")
	other.Line = "http/other"
	first := keys(t, ask("a"), ask("b"), other, noID)
	second := keys(t, ask("a"), ask("b"), other, noID)
	require.Equal(t, first[:3], second[:3])
	require.NotEqual(t, first[3], second[3])
	seen := map[string]bool{}
	for _, k := range append(first, second[3]) {
		require.False(t, seen[k], k)
		seen[k] = true
	}
}

// TestMoneyA4_PatienceIsTheRequests: a till that waits 50 s is told by then, whatever the terminal's
// default is.
func TestMoneyA4_PatienceIsTheRequests(t *testing.T) {
	for patience, longest := range map[time.Duration]time.Duration{0: 85 * time.Second, 50 * time.Second: 50 * time.Second} {
		terminal(t, func(r *rig) {
			r.world.onStatus = say(1, aapay.Pending, "")
			req := ask("a")
			req.Patience = patience
			began := time.Now()
			s := r.Accepted(req)
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			took := time.Since(began)
			require.Less(t, took, longest)
			require.Greater(t, took, longest-9*time.Second)
			r.Told(s, ecr.Told)

			r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
			paid := r.Accepted(ask("b"))
			o := <-paid.Outcome
			r.Told(paid, ecr.Told)
			r.world.lock(func() { r.world.mute = true })
			give := ecr.Request{Kind: ecr.Refund, Line: "http/kiosk", Sequence: "c", Amount: 100, Original: "T" + o.TransactionID, Patience: patience}
			began = time.Now()
			s = r.Accepted(give)
			require.Equal(t, ecr.InProgress, (<-s.Outcome).Result)
			require.Less(t, time.Since(began), longest)
			r.Told(s, ecr.Told)
			r.world.lock(func() { r.world.mute = false })
			pass(10 * time.Minute)
		})
	}
}

// TestMoneyF3_AReplacedJournalDoesNotSayNone: a sale that it does not have may have been in the one
// before it.
func TestMoneyF3_AReplacedJournalDoesNotSayNone(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.Accepted(ask("a"))
		<-s.Outcome
		r.Told(s, ecr.Told)
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
			if err := journal.KeepLast(tx); err != nil {
				return err
			}
			return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli()})
		}))
		_, err := r.Find(context.Background(), "http/kiosk", "b")
		refused(t, err, ecr.SystemError)
		found, err := r.Find(context.Background(), "http/kiosk", "a")
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, (<-found.Outcome).Result)
		r.Told(found, ecr.Told)
	})
}
