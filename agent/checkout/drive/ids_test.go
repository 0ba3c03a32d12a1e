package drive_test

import (
	"context"
	"fmt"
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

// runs adds days of running time, and starts the terminal again.
func (r *rig) runs(days int64) {
	r.t.Helper()
	r.Stop()
	require.NoError(r.t, r.DB.Write(context.Background(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE outbox_clock SET run_ms = run_ms + ?, age_ms = age_ms + ?`, days*24*time.Hour.Milliseconds(), days*24*time.Hour.Milliseconds())
		return err
	}))
	require.NoError(r.t, r.DB.Close())
	r.Start()
}

// wrongClocks are what a box without a battery for its clock boots with.
func wrongClocks() map[string]time.Duration {
	const day = 24 * time.Hour
	return map[string]time.Duration{"50 years behind": -50 * 365 * day, "a day behind": -day, "100 days ahead": 100 * day, "90 years ahead": 90 * 365 * day}
}

// TestField2_M2AWrongClockForgetsNoId: the box booted with its clock 100 days ahead, and what the
// till repeated was a second sale. Kind: the id of every protocol, a payment and a refund, a repeat
// and a question, another boot and the same one, and the clock set right again.
func TestField2_M2AWrongClockForgetsNoId(t *testing.T) {
	for name, req := range ids() {
		for clock, jump := range wrongClocks() {
			for _, boot := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", name, clock, boot), func(t *testing.T) {
					t.Parallel()
					terminal(t, func(r *rig) {
						r.world.onStatus = approveAfter(r.world, 1)
						a := r.Accepted(req)
						sold := r.Approved(a, ecr.Told)
						give := ecr.Request{Kind: ecr.Refund, Line: req.Line, Sequence: "back", Amount: 100, Original: "T" + sold.TransactionID}
						g := r.Accepted(give)
						<-g.Outcome
						r.Told(g, ecr.Told)
						check := func(when string) {
							for id, req := range map[string]ecr.Request{a.ID: req, g.ID: give} {
								b := r.Accepted(req)
								require.Equal(t, id, b.ID, when)
								<-b.Outcome
								r.Told(b, ecr.Told)
								c, err := r.Find(context.Background(), req.Line, req.Sequence)
								require.NoError(t, err, when)
								require.Equal(t, id, c.ID, when)
								<-c.Outcome
								r.Told(c, ecr.Told)
							}
							other := req
							other.Amount++
							_, err := r.Ask(other)
							refused(t, err, ecr.Processing)
						}
						r.jump(jump)
						r.Restart(boot)
						check("wrong clock")
						r.jump(0)
						r.Restart(boot)
						check("right clock")
						require.Len(t, r.world.sent(aapay.Payment), 1)
						require.Len(t, r.world.sent(aapay.Refund), 1)
						require.EqualValues(t, 400, r.world.net())
					})
				})
			}
		}
	}
}

// TestField2_M2NoKeyContainsWallTime: the Key of an id is the same under every clock, so that the
// backend knows a request again which the journal has lost.
func TestField2_M2NoKeyContainsWallTime(t *testing.T) {
	clocks := wrongClocks()
	clocks["right"] = 0
	clocks["never set"] = -26 * 365 * 24 * time.Hour
	keys := map[wire.Key]string{}
	for clock, jump := range clocks {
		terminal(t, func(r *rig) {
			r.Halt()
			r.jump(jump)
			r.secret = []byte("of the callers, kept outside the journal")
			r.Start()
			s := r.Accepted(ids()["JSON id"])
			keys[wire.Key(s.ID)] = clock
			require.NoError(t, r.Abort(context.Background(), s.ID))
			<-s.Outcome
		})
	}
	require.Len(t, keys, 1)
}

// TestField2_M2AnIdIsUsedAgainByItsNumber: an id that is older than 90 days of running time is a new
// sale under another Key, which a number kept with the id makes, also when the first sale's row is
// purged, and again 90 days later.
func TestField2_M2AnIdIsUsedAgainByItsNumber(t *testing.T) {
	for _, purged := range []bool{false, true} {
		t.Run(fmt.Sprint(purged), func(t *testing.T) {
			terminal(t, func(r *rig) {
				r.world.onStatus = approveAfter(r.world, 1)
				req := ids()["JSON id"]
				keys := map[string]bool{}
				for round := range 3 {
					for range 2 { // and its repetition
						s := r.Accepted(req)
						r.Approved(s, ecr.Told)
						keys[s.ID] = true
					}
					require.Len(t, keys, round+1)
					if purged {
						other := ecr.Request{Amount: 100, Line: "other"} // the newest row stays
						r.Approved(r.Accepted(other), ecr.Told)
						require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
							_, err := tx.Exec(`DELETE FROM checkout_sales WHERE sequence != ''`)
							return err
						}))
					}
					r.runs(91)
				}
				sum := r.world.net()
				if purged {
					sum -= 300
				}
				require.EqualValues(t, 1500, sum)
			})
		})
	}
}

// TestField2_M2AnIdWithoutItsSaleIsNoNewOne: the row is gone before its 90 days, removed from outside.
func TestField2_M2AnIdWithoutItsSaleIsNoNewOne(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		req := ids()["JSON id"]
		r.Approved(r.Accepted(req), ecr.Told)
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM checkout_sales`)
			return err
		}))
		_, err := r.Ask(req)
		refused(t, err, ecr.Processing)
		require.EqualValues(t, 500, r.world.net())
	})
}

// TestField2_M2AJournalOfAnOlderProgramKeepsItsIds: it has no record of ids. Its sales are known for
// 90 days of running time from the update, and a Key that it made in its last period stays the same.
func TestField2_M2AJournalOfAnOlderProgramKeepsItsIds(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		req := ids()["JSON id"]
		r.runs(200)
		a := r.Accepted(req)
		r.Approved(a, ecr.Told)
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM checkout_ids`)
			if err == nil {
				_, err = tx.Exec(`DELETE FROM checkout_counters WHERE name = 'ids_from'`)
			}
			return err
		}))
		r.jump(100 * 24 * time.Hour)
		r.Restart(true)
		for _, more := range []int64{0, 89} {
			r.runs(more)
			b := r.Accepted(req)
			require.Equal(t, a.ID, b.ID)
			<-b.Outcome
			r.Told(b, ecr.Told)
		}
		r.runs(2)
		c := r.Accepted(req)
		require.NotEqual(t, a.ID, c.ID)
		r.Approved(c, ecr.Told)
		require.Equal(t, checkout.Confirmed, r.phase(a.ID))
	})
	// What the program of November 2026 made of this secret, line and id.
	require.Equal(t, wire.Key(oldKey), journal.KeyOf([]byte("secret"), "jsonl", "X1", 0))
	require.NotEqual(t, wire.Key(oldKey), journal.KeyOf([]byte("secret"), "jsonl", "X1", 1))
}

const oldKey = "f4c84615-4253-8902-ac88-afc488c6c6e3"
