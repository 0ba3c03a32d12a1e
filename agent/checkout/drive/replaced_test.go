package drive_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// replace begins a journal that knows nothing of the sales so far, and that it took another's place.
// The callers' secret is kept.
func (r *rig) replace(kind store.Kind, ranMS int64) {
	r.t.Helper()
	r.Halt()
	r.path = filepath.Join(r.t.TempDir(), "agent.db")
	r.Start()
	require.NoError(r.t, r.DB.Write(context.Background(), func(tx store.Tx) error {
		if err := journal.KeepLast(tx); err != nil {
			return err
		}
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli(), RunMS: ranMS})
	}))
}

// loud are the lines of a sale that the merchant must read.
func (r *rig) loud(id string) (list []string) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
		entries, err := journal.History(rd, wire.Key(id))
		for _, e := range entries {
			if e.Loud {
				list = append(list, e.Text)
			}
		}
		return err
	}))
	return list
}

// ids are the requests whose Keys are made of what a register says of itself.
func ids() map[string]ecr.Request {
	return map[string]ecr.Request{
		"ZVT number":      {Amount: 500, Line: "tcp", Sequence: "zvt-SERIES-000001"},
		"JSON id":         {Amount: 500, Line: "jsonl", Sequence: "X1"},
		"Idempotency-Key": {Amount: 500, Line: "http/kiosk", Sequence: "order-1"},
		"nexo message":    {Amount: 500, Line: "nexo/pos", Sequence: "S1/1/T1"},
	}
}

// TestField2_M14AnIdOfALostJournalIsNeverAnApproval: the journal was restored, cut or lost, and a
// till uses an id that the lost one had used. The backend's answer under that Key was taken for this
// sale's: told approved, nobody paid; aborted, it took another customer's payment back.
func TestField2_M14AnIdOfALostJournalIsNeverAnApproval(t *testing.T) {
	for _, kind := range []store.Kind{store.WasRestored, store.WasAccepted, store.WasLost} {
		for name, req := range ids() {
			for _, amount := range []int64{500, 9900} {
				t.Run(fmt.Sprintf("%s/%s/%d", kind, name, amount), func(t *testing.T) {
					t.Parallel()
					terminal(t, func(r *rig) {
						r.Halt()
						r.secret = []byte("of the callers, kept outside the journal")
						r.Start()
						r.world.onStatus = approveAfter(r.world, 1)
						r.Approved(r.Accepted(req), ecr.Told)
						r.replace(kind, 1)

						again := req
						again.Amount = minor(amount)
						for range 2 { // and asked once more
							s := r.Accepted(again)
							o := <-s.Outcome
							require.Equal(t, ecr.Aborted, o.Result)
							require.Equal(t, ecr.SystemError, o.Code)
							require.Contains(t, o.Text, "the journal was replaced; this id was used at 2000-01-01")
							require.Contains(t, o.Text, "5.00")
							require.NotContains(t, o.Text, "not paid")
							r.Told(s, ecr.Told)
							require.Equal(t, checkout.Done, r.phase(s.ID))
							require.Len(t, r.loud(s.ID), 1)
							require.Contains(t, r.loud(s.ID)[0], "the journal was replaced")
						}
						pass(time.Hour)
						require.Len(t, r.world.sent(aapay.Payment), 1, "nothing is sent under a Key that is another's")
						require.Empty(t, r.world.sent(aapay.Reversal), "nor undone")
						require.EqualValues(t, 500, r.world.net())

						again.Sequence += "2"
						r.Approved(r.Accepted(again), ecr.Told)
						require.EqualValues(t, 500+amount, r.world.net(), "an id that nobody has used is sold under")
					})
				})
			}
		}
	}
}

// TestField2_M14ReadsBeforeTheFirstAttempt: what is sent under a made Key in such a journal is asked
// for before, once, and never after 90 days of running time.
func TestField2_M14ReadsBeforeTheFirstAttempt(t *testing.T) {
	terminal(t, func(r *rig) {
		r.replace(store.WasRestored, 1)
		r.world.onStatus = approveAfter(r.world, 1)
		r.Approved(r.Accepted(ids()["JSON id"]), ecr.Told)
		r.world.lock(func() {
			require.Len(t, r.world.inits, 1)
			require.False(t, r.world.reads[0].at.After(r.world.inits[0].at))
			require.Len(t, r.world.reads, 2, "one before, one for the outcome")
		})
		r.paid(300, ecr.Told)
		r.world.lock(func() { require.Len(t, r.world.reads, 3, "a random Key is nobody's") })
		for days, reads := range map[int64]int{89: 2, 91: 1} {
			require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE outbox_clock SET run_ms = ?`, 1+days*24*time.Hour.Milliseconds())
				return err
			}))
			r.world.lock(func() { r.world.reads = nil })
			r.Approved(r.Accepted(ecr.Request{Amount: 500, Line: "jsonl", Sequence: fmt.Sprint("day ", days)}), ecr.Told)
			r.world.lock(func() { require.Len(t, r.world.reads, reads, "%d days", days) })
		}
	})
}

// TestField2_M14NothingIsSentUnread: the backend cannot say what it knows. The sale ends as one that
// was never sent, whatever ends it, and what the lost journal sold stays paid.
func TestField2_M14NothingIsSentUnread(t *testing.T) {
	req := ids()["JSON id"]
	for name, end := range map[string]func(r *rig, s ecr.Sale){
		"no connection": func(r *rig, s ecr.Sale) { require.Equal(r.t, ecr.NoConnection, (<-s.Outcome).Code) },
		"aborted": func(r *rig, s ecr.Sale) {
			require.NoError(r.t, r.Abort(context.Background(), s.ID))
			require.Equal(r.t, ecr.Aborted, (<-s.Outcome).Result)
		},
		"another boot": func(r *rig, s ecr.Sale) {
			r.Restart(true)
			require.Equal(r.t, checkout.Done, r.phase(s.ID), "its register has gone")
		},
		"a restart": func(r *rig, s ecr.Sale) { r.Restart(false); pass(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				r.Halt()
				r.secret = []byte("of the callers, kept outside the journal")
				r.Start()
				r.world.onStatus = approveAfter(r.world, 1)
				r.Approved(r.Accepted(req), ecr.Told)
				r.replace(store.WasLost, 1)
				r.world.lock(func() { r.world.offline = true })
				s := r.Accepted(req)
				pass(time.Second)
				end(r, s)
				r.world.lock(func() { r.world.offline = false })
				pass(time.Hour)
				require.Equal(t, checkout.Done, r.phase(s.ID))
				row, _ := r.show(s.ID)
				require.Equal(t, ecr.Aborted, row.State.Result)
				require.Zero(t, row.State.Sends)
				require.Len(t, r.world.sent(aapay.Payment), 1)
				require.Empty(t, r.world.sent(aapay.Reversal))
				require.EqualValues(t, 500, r.world.net())
			})
		})
	}
}

// TestField2_M14AKeyOfAnotherRequestIsNotRead: the backend refuses a Key as another request's. That
// proves that nothing of this sale was made, and what stands under its reference is another's:
// neither read nor undone, also where the answer comes late.
func TestField2_M14AKeyOfAnotherRequestIsNotRead(t *testing.T) {
	reused := func(r *rig, late time.Duration, may bool) {
		r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
			r.world.mu.Unlock()
			defer r.world.mu.Lock()
			<-time.After(late)
			return nil, &wire.Error{Code: wire.KeyReused, Op: "test", MayRun: may}, true
		}
	}
	for _, late := range []time.Duration{0, 3 * time.Second} {
		for _, abort := range []bool{false, true} {
			t.Run(fmt.Sprint(late, abort), func(t *testing.T) {
				terminal(t, func(r *rig) {
					reused(r, late, false)
					s := r.sale(500)
					if abort && late > 0 {
						pass(time.Second) // it has left
						require.NoError(t, r.Abort(context.Background(), s.ID))
					}
					o := <-s.Outcome
					require.Equal(t, ecr.Aborted, o.Result)
					require.Equal(t, "this id was used for another request", o.Text)
					pass(time.Hour)
					require.Equal(t, checkout.Done, r.phase(s.ID))
					require.Len(t, r.world.sent(aapay.Payment), 1)
					require.Empty(t, r.world.sent(aapay.Reversal))
					r.world.lock(func() { require.Empty(t, r.world.reads) })
					require.Len(t, r.loud(s.ID), 1)
				})
			})
		}
	}
	terminal(t, func(r *rig) { // a 409 of another service may mean that the first attempt runs
		reused(r, 0, true)
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		pass(time.Hour)
		require.Greater(t, len(r.world.sent(aapay.Payment)), 1)
		require.NotEmpty(t, r.world.sent(aapay.Reversal))
	})
}
