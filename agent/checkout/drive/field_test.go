package drive_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/display/scene"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// A refund or reversal that never left ends by an abort or after 30 s, says so, and leaves the
// remaining amount as it was.
func TestField_L4WhatNeverLeftIsWithdrawn(t *testing.T) {
	for _, kind := range []ecr.Kind{ecr.Refund, ecr.Reversal} {
		for name, abort := range map[string]bool{"aborted": true, "left alone": false} {
			terminal(t, func(r *rig) {
				o := r.approved(1000)
				r.world.lock(func() { r.world.offline = true })
				req := ecr.Request{Kind: kind, Receipt: o.Receipt}
				if kind == ecr.Refund {
					req = refundOf(o, 400)
				}
				start := time.Now()
				s := r.Accepted(req)
				pass(5 * time.Second)
				if abort {
					require.NoError(t, r.Abort(context.Background(), s.ID), name)
				}
				told := <-s.Outcome
				require.Equal(t, ecr.Aborted, told.Result, name)
				require.Equal(t, ecr.NoConnection, told.Code)
				require.Equal(t, "not done, no connection", told.Text)
				require.Less(t, time.Since(start), 31*time.Second)
				r.Told(s, ecr.Told)
				require.Equal(t, ecr.NoConnection, r.last("serial").Code, "06 20 says the same")

				r.world.lock(func() { r.world.offline = false })
				pass(10 * time.Minute)
				require.EqualValues(t, 1000, r.world.net(), "nothing is done later")
				row, _ := r.show(o.Sale)
				require.Zero(t, row.Debited)
				require.False(t, row.Reversed)
				again := r.Accepted(req)
				require.NotEqual(t, s.ID, again.ID)
				r.Approved(again, ecr.Told)
			})
		}
	}
}

// What may have left is not withdrawn: the register hears "in progress" within its patience, its
// line is free, and the end reaches it by 06 20 and by the same request.
func TestField_L4WhatMayHaveLeftIsToldInProgress(t *testing.T) {
	refusals := map[string]error{"lost": errLost, "503": &wire.Error{Code: wire.Unavailable, Op: "test", Msg: "reply 503"}}
	for name, err := range refusals {
		terminal(t, func(r *rig) {
			o := r.approved(1000)
			n := 0
			r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
				if n++; n == 1 {
					return nil, err, true
				}
				return nil, errGone, true // and from then on there is no connection
			}
			req := refundOf(o, 400)
			start := time.Now()
			s := r.Accepted(req)
			pass(40 * time.Second)
			require.ErrorIs(t, r.Abort(context.Background(), s.ID), ecr.ErrTooLate, name)
			told := <-s.Outcome
			require.Equal(t, ecr.InProgress, told.Result, name)
			require.Equal(t, 81*time.Second, time.Since(start))
			r.Told(s, ecr.Told)
			row, _ := r.show(o.Sale)
			require.EqualValues(t, 400, row.Debited, "the remaining amount stays debited")
			_, err = r.Ask(refundOf(o, 700))
			refused(t, err, ecr.AmountWrong)
			payment := r.sale(100) // the line is free
			require.NoError(t, r.Abort(context.Background(), payment.ID))
			<-payment.Outcome
			r.Told(payment, ecr.Told)

			r.world.lock(func() { r.world.onInit = nil })
			r.Box.Online()
			again := r.Accepted(req)
			require.Equal(t, s.ID, again.ID, "the same request joins")
			r.Approved(again, ecr.Told)
			require.Len(t, uniqueKeys(r.world.sent(aapay.Refund)), 1)
			require.EqualValues(t, 600, r.world.net())
		})
	}
}

// An attempt under way at 30 s, or when the register aborts, is waited for; its end without a
// connection withdraws.
func TestField_L4AnAttemptUnderWayDecides(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.onInit = r.world.goneAfter(20 * time.Second)
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		start := time.Now()
		pass(5 * time.Second)
		require.ErrorIs(t, r.Abort(context.Background(), s.ID), ecr.ErrTooLate, "it may be there this moment")
		require.Equal(t, ecr.NoConnection, (<-s.Outcome).Code)
		require.InDelta(t, 20, time.Since(start).Seconds(), 1)
		r.Told(s, ecr.Told)
	})
	terminal(t, func(r *rig) { // a crash under way leaves an attempt without an end: it counts as sent
		o := r.approved(1000)
		r.world.onInit = r.world.goneAfter(8 * time.Second)
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		pass(time.Second)
		crashed := filepath.Join(t.TempDir(), "agent.db")
		for _, end := range []string{"", "-wal"} {
			data, err := os.ReadFile(r.path + end)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(crashed+end, data, 0o600))
		}
		pass(20 * time.Second)
		r.world.lock(func() { r.world.onInit = nil })
		r.path = crashed
		r.world.lock(func() { r.world.offline = true })
		r.Restart(false)
		w := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		require.Equal(t, s.ID, w.ID)
		require.Equal(t, ecr.InProgress, (<-w.Outcome).Result)
		r.Told(w, ecr.Told)
		pass(time.Hour)
		require.Equal(t, checkout.Forward, r.phase(s.ID))
	})
}

// After a restart a refund that never left is withdrawn as before, and its repetition hears so.
func TestField_L4WithdrawnAfterARestart(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.offline = true })
		req := refundOf(o, 400)
		s := r.Accepted(req)
		pass(5 * time.Second)
		r.Restart(true)
		w := r.Accepted(req)
		require.Equal(t, s.ID, w.ID)
		require.Equal(t, ecr.NoConnection, (<-w.Outcome).Code)
		r.Told(w, ecr.Told)
	})
}

// A journal that cannot be written keeps no register waiting: it hears "aborted" within its
// patience, and the sale is undone once the journal can be written, even where the money moved
// meanwhile.
func TestField_J8ADeadDiskEndsEveryDialogue(t *testing.T) {
	words := map[string]func(*rig) func(*txn) error{
		"paid while the disk is dead": func(r *rig) func(*txn) error { return approveAfter(r.world, 3) },
		"nobody pays":                 func(*rig) func(*txn) error { return say(1, aapay.Initialized, "") },
		"declined":                    func(*rig) func(*txn) error { return say(3, aapay.Rejected, "") },
	}
	for name, word := range words {
		terminal(t, func(r *rig) {
			r.world.onStatus = word(r)
			start := time.Now()
			s := r.sale(500)
			pass(3 * time.Second)
			r.guard.fail(1 << 30)
			o := <-s.Outcome
			require.Equal(t, ecr.Aborted, o.Result, name)
			require.Equal(t, 83*time.Second, time.Since(start), name)
			require.False(t, r.screen.code(), "the code has left the screen")
			require.Equal(t, ecr.Aborted, r.Told(s, ecr.Told).Result, "nothing of it has to be recorded")
			require.Less(t, time.Since(start), 85*time.Second)
			w := r.Again()
			require.Equal(t, ecr.Aborted, (<-w.Outcome).Result, "asked again, the same")
			r.Told(w, ecr.Told)
			pass(time.Minute)
			r.guard.fail(0)
			pass(20 * time.Minute)
			require.Zero(t, r.world.net(), name)
			require.Equal(t, checkout.Done, r.phase(s.ID), name)
			require.NotEqual(t, ecr.Approved, r.last("serial").Result)
		})
	}
}

// Killed while the disk is dead, the sale ends undone as well.
func TestField_J8ARestartAfterADeadDiskUndoes(t *testing.T) {
	for _, newBoot := range []bool{false, true} {
		terminal(t, func(r *rig) {
			r.world.onStatus = approveAfter(r.world, 3)
			s := r.sale(500)
			pass(3 * time.Second)
			r.guard.fail(1 << 30)
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
			r.Restart(newBoot)
			pass(30 * time.Minute)
			require.Zero(t, r.world.net())
			require.Equal(t, checkout.Done, r.phase(s.ID))
		})
	}
}

// The deadline is the configured patience until the register acknowledges an intermediate status.
func TestField_L9PatienceIsConfigured(t *testing.T) {
	terminal(t, func(r *rig) {
		r.cfg.Patience = 50 * time.Second
		r.Restart(false)
		r.world.onStatus = say(1, aapay.Authorized, "")
		start := time.Now()
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.InDelta(t, 44, time.Since(start).Seconds(), 2)
		r.Told(s, ecr.Told)

		start = time.Now()
		s = r.sale(500)
		r.Waits(s.ID)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.InDelta(t, 600, time.Since(start).Seconds(), 6)
		r.Told(s, ecr.Told)
	})
	terminal(t, func(r *rig) { // the last read gets no answer: it is cut after 4 s
		r.world.onStatus = say(1, aapay.Authorized, "")
		start := time.Now()
		s := r.sale(500)
		pass(70 * time.Second)
		r.world.lock(func() {
			r.world.onStatus = func(*txn) error {
				r.world.mu.Unlock()
				defer r.world.mu.Lock()
				<-time.After(time.Minute)
				return errGone
			}
		})
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.Equal(t, 81*time.Second, time.Since(start))
		r.Told(s, ecr.Told)
	})
}

// The screen and the register say that the code has gone; on_stale = "abort" ends the sale there.
func TestField_T1TheCustomersAppIsAwaited(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(5, aapay.Stale, "")
		s := r.sale(500)
		pass(30 * time.Second)
		require.False(t, r.screen.code())
		require.Equal(t, scene.Code, r.screen.last().Kind, "it is no longer valid")
		require.Equal(t, ecr.StepExpired, (<-s.Progress).Step)
		r.world.lock(func() { r.world.pay(r.world.order[0]); r.world.onStatus = nil })
		r.Approved(s, ecr.Told)
		require.EqualValues(t, 500, r.world.net())
	})
	terminal(t, func(r *rig) {
		r.cfg.StaleEnds, r.cfg.Language = true, "de"
		r.Restart(false)
		r.world.onStatus = say(1, aapay.Initialized, "")
		start := time.Now()
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.InDelta(t, 33, time.Since(start).Seconds(), 4)
		r.Told(s, ecr.Told)
	})
}

// Until the journal has been taken up nothing is refused: a repeated refund or reversal joins the
// one that runs.
func TestField_L5NothingIsRefusedBeforeTheJournalIsTakenUp(t *testing.T) {
	for _, kind := range []ecr.Kind{ecr.Refund, ecr.Reversal, ecr.Payment} {
		terminal(t, func(r *rig) {
			o := r.approved(1000)
			r.world.lock(func() { r.world.mute = true })
			req := ecr.Request{Kind: kind, Receipt: o.Receipt}
			switch kind {
			case ecr.Refund:
				req = refundOf(o, 400)
			case ecr.Payment:
				req = ecr.Request{Kind: kind, Amount: 400, Sequence: "7"}
			}
			s := r.Accepted(req)
			pass(5 * time.Second)
			r.failAtStart = 8 // the disk is full for 8 s
			r.Restart(false)
			r.world.lock(func() { r.world.mute = false })
			start := time.Now()
			_, err := r.Ask(req)
			refused(t, err, ecr.Resuming)
			require.Equal(t, 3*time.Second, time.Since(start), "in time for a register's first answer")
			w, err := r.Ask(req)
			for ; err != nil; w, err = r.Ask(req) {
				refused(t, err, ecr.Resuming)
			}
			require.Equal(t, s.ID, w.ID)
			<-w.Outcome
			r.Told(w, ecr.Told)
		})
	}
}

// On a full disk a repeated refund or reversal is not refused either: it is told as it stands.
func TestField_L5ARepetitionIsNotRefusedOnAFullDisk(t *testing.T) {
	for _, kind := range []ecr.Kind{ecr.Refund, ecr.Reversal} {
		terminal(t, func(r *rig) {
			o := r.approved(1000)
			r.world.lock(func() { r.world.mute = true })
			req := ecr.Request{Kind: kind, Receipt: o.Receipt}
			if kind == ecr.Refund {
				req = refundOf(o, 400)
			}
			s := r.Accepted(req)
			pass(5 * time.Second)
			r.Restart(false)
			for _, full := range []bool{false, true} { // there is room, but a write fails; there is none
				r.guard.full = full
				r.guard.fail(1 << 30)
				w, err := r.Ask(req)
				require.NoError(t, err, "not refused: it is carried out")
				require.Equal(t, s.ID, w.ID)
				if !full {
					require.Equal(t, ecr.InProgress, (<-w.Outcome).Result)
					r.Told(w, ecr.Told)
				}
			}
			start := time.Now()
			w, err := r.Ask(req)
			require.NoError(t, err, "not refused: it is carried out")
			require.Equal(t, s.ID, w.ID)
			require.Equal(t, ecr.InProgress, (<-w.Outcome).Result)
			require.Less(t, time.Since(start), 85*time.Second)
			require.Equal(t, ecr.InProgress, r.Told(w, ecr.Told).Result)
			other := req
			other.Amount, other.Receipt = req.Amount+1, req.Receipt+1
			_, err = r.Ask(other)
			refused(t, err, ecr.NotStored)

			r.guard.full = false
			r.guard.fail(0)
			r.world.lock(func() { r.world.mute = false })
			w = r.Accepted(req)
			require.Equal(t, s.ID, w.ID)
			r.Approved(w, ecr.Told)
		})
	}
}

// A refund that names no sale is told what to send; with refund_last it means the last payment, up
// to its rest.
func TestField_L8ARefundWithoutAReferenceIsToldWhatToSend(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 100})
		refused(t, err, ecr.NoOriginal)
		require.ErrorContains(t, err, "TLV 1F0D R<receipt>")

		r.cfg.RefundLast = true
		r.Restart(false)
		for _, amount := range []int64{400, 600} {
			s := r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: minor(amount)})
			r.Approved(s, ecr.Told)
		}
		require.Zero(t, r.world.net())
		_, err = r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 1})
		refused(t, err, ecr.AmountWrong)
	})
}

// A receipt of a closed batch is named with its batch; without one the newest sale with that number
// is meant.
func TestField_T3ReceiptsOfClosedBatches(t *testing.T) {
	terminal(t, func(r *rig) {
		old := r.approved(1000)
		require.Equal(t, 1, old.Receipt)
		_, err := r.Close(context.Background())
		require.NoError(t, err)
		refund := func(original string, amount int64) (string, error) {
			s, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: minor(amount), Original: original})
			if err != nil {
				return "", err
			}
			r.Approved(s, ecr.Told)
			row, _ := r.show(s.ID)
			return string(row.Original), nil
		}
		of, err := refund("R1", 100)
		require.NoError(t, err)
		require.Equal(t, old.Sale, of, "the number alone")
		of, err = refund("R1/1", 101)
		require.NoError(t, err)
		require.Equal(t, old.Sale, of)
		for _, none := range []string{"R2/1", "R1/9", "R7", "R0/1", "R-1/1", "R1/", "R/1", "R1/1/1"} {
			_, err = refund(none, 102)
			refused(t, err, ecr.NotReversible)
		}

		// The numbers have gone around: the same one was given again, in a later batch.
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_counters SET value = 9999 WHERE name = 'receipt'`)))
		fresh := r.approved(2000)
		require.Equal(t, 1, fresh.Receipt)
		of, err = refund("R1", 103)
		require.NoError(t, err)
		require.Equal(t, fresh.Sale, of, "the newest match")
		of, err = refund("R1/1", 104)
		require.NoError(t, err)
		require.Equal(t, old.Sale, of)
	})
}

// The register's sale is known by its reference and its number in any case of letters and with
// spaces around it: a backend that overlooks those would take the sale back behind the register's.
func TestField_P1ASaleIsKnownHoweverItIsSpelt(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		row, _ := r.show(o.Sale)
		for id, want := range map[string]bool{
			row.Reference: true, strings.ToUpper(row.Reference): true, " " + row.Reference: true, row.Reference + "\u00a0": true,
			o.TransactionID: true, " 0" + o.TransactionID + " ": true, row.Reference + "x": false, "1": false,
		} {
			name := ""
			require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) { name, err = journal.SoldAs(rd, id, true); return err }))
			require.Equal(t, want, name != "", "%q", id)
		}
	})
}
