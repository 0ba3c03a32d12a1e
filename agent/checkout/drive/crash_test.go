package drive_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// cut fails the power after n more writes of the drive.
func (r *rig) cut(n int) {
	r.guard.mu.Lock()
	r.guard.left = n
	r.guard.mu.Unlock()
}

// settle lets everything owed come to its end, and checks that it does.
func (r *rig) settle() []string {
	r.t.Helper()
	for range 40 {
		pass(time.Minute)
		busy := false
		require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			return rd.QueryRow(`SELECT EXISTS (SELECT 1 FROM checkout_sales WHERE active = 1)`).Scan(&busy)
		}))
		if !busy {
			break
		}
	}
	var out []string
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) {
		out, err = store.Column[string](rd, `SELECT key FROM checkout_sales ORDER BY id`)
		return err
	}))
	for _, key := range out {
		row, _ := r.show(key)
		require.False(r.t, checkout.Owed(row.State), "%s still owes its undo in %s", key, row.State.Phase)
		require.False(r.t, checkout.Open(row.State))
	}
	return out
}

// A sale is cut off at every journalled step, and started again in the same boot and in a new one.
// What the register knows and where the money is have to agree in the end.
func TestCrashAtEveryJournalledStep(t *testing.T) {
	stories := map[string]func(r *rig) (told ecr.Result){
		"approved": func(r *rig) ecr.Result {
			r.world.onStatus = approveAfter(r.world, 2)
			return r.try(ecr.Told, false)
		},
		"telling lost": func(r *rig) ecr.Result {
			r.world.onStatus = approveAfter(r.world, 2)
			return r.try(ecr.Lost, false)
		},
		"aborted": func(r *rig) ecr.Result {
			r.world.onStatus = approveAfter(r.world, 30)
			return r.try(ecr.Told, true)
		},
		"declined": func(r *rig) ecr.Result {
			r.world.onStatus = say(2, aapay.Rejected, "")
			return r.try(ecr.Told, false)
		},
		"lost replies": func(r *rig) ecr.Result {
			r.world.after = func(n int, typ aapay.Type) error {
				if n == 1 {
					return errGone
				}
				return nil
			}
			r.world.onStatus = approveAfter(r.world, 2)
			return r.try(ecr.Told, false)
		},
	}
	for name, story := range stories {
		for _, newBoot := range []bool{false, true} {
			for step := range 9 {
				t.Run(name, func(t *testing.T) {
					terminal(t, func(r *rig) {
						r.cut(step)
						told := story(r)
						r.Restart(newBoot)
						again, err := r.Last(context.Background(), "serial")
						if errors.Is(err, ecr.ErrNone) {
							require.Empty(t, r.world.sent(aapay.Payment), "sent, and not journalled")
							return
						}
						require.NoError(t, err)
						o := <-again.Outcome
						if told == ecr.Approved || told == ecr.Declined {
							require.Equal(t, told, o.Result, "the same answer")
						}
						_, err = r.Delivered(context.Background(), again.ID, ecr.Told)
						require.NoError(t, err)
						r.settle()
						require.Equal(t, o.Result == ecr.Approved, r.world.net() == 500, "told %s, net %d", o.Result, r.world.net())
						require.Contains(t, []int64{0, 500}, r.world.net())
						require.LessOrEqual(t, len(uniqueKeys(r.world.sent(aapay.Payment))), 1)
					})
				})
			}
		}
	}
}

// try makes one sale as far as the power lasts.
func (r *rig) try(d ecr.Delivery, abort bool) ecr.Result {
	s, err := r.Ask(ecr.Request{Amount: 500})
	if err != nil {
		return ""
	}
	if abort {
		pass(5 * time.Second)
		_ = r.Abort(context.Background(), s.ID)
	}
	select {
	case o := <-s.Outcome:
		if _, err := r.Delivered(context.Background(), s.ID, d); err != nil || d != ecr.Told {
			return ""
		}
		return o.Result
	case <-time.After(3 * time.Minute):
		return ""
	}
}

func TestCrashWithoutARegisterThatAsksAgain(t *testing.T) {
	for _, newBoot := range []bool{false, true} {
		for step := range 9 {
			terminal(t, func(r *rig) {
				r.cut(step)
				r.world.onStatus = approveAfter(r.world, 2)
				told := r.try(ecr.Told, false)
				r.Restart(newBoot)
				sales := r.settle()
				if len(sales) == 0 {
					require.Zero(t, r.world.net())
					return
				}
				row, _ := r.show(sales[0])
				require.Equal(t, told == ecr.Approved, r.world.net() == 500, "step %d: acknowledged %q, net %d, %s", step, told, r.world.net(), row.State.Phase)
			})
		}
	}
}

func TestCrashOfARefundAtEveryStep(t *testing.T) {
	for _, newBoot := range []bool{false, true} {
		for step := range 4 {
			terminal(t, func(r *rig) {
				r.approved(1000)
				r.cut(step)
				s, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R1"})
				if err == nil {
					select {
					case <-s.Outcome:
						_, _ = r.Delivered(context.Background(), s.ID, ecr.Lost)
					case <-time.After(time.Minute):
					}
				}
				r.Restart(newBoot)
				r.settle()
				want := int64(1000)
				if err == nil {
					want = 700
					row, _ := r.show(s.ID)
					require.Equal(t, ecr.Approved, row.State.Result)
					require.NotZero(t, row.Receipt)
				}
				require.EqualValues(t, want, r.world.net())
				require.LessOrEqual(t, len(uniqueKeys(r.world.sent(aapay.Refund))), 1)
			})
		}
	}
}

func TestRebootLoopIsBroken(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.waiting(aapay.Pending, 3*time.Second)
		for range 25 {
			r.Restart(false)
		}
		row, _ := r.show(s.ID)
		require.Equal(t, checkout.Reversing, row.State.Phase, "not resumed for ever: undone")
		h := r.Health(context.Background())
		require.False(t, h.Busy)
		pass(time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		totals, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Contains(t, totals.Exceptions[0], "resumed too often")
		require.Len(t, r.alerts(), 1, "also where its undo is done")
	})
}

// A box that is switched off every night while the backend is away is not in a reboot loop: its
// undo goes on.
func TestManyQuietStartsAreNoRebootLoop(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.declined()
		r.world.lock(func() { r.world.offline = true })
		for range 30 {
			r.Restart(true)
			pass(2 * time.Minute)
		}
		r.world.lock(func() {
			r.world.offline, r.world.onStatus = false, nil
			r.world.pay(r.world.order[0])
		})
		pass(10 * time.Minute)
		require.Zero(t, r.world.net(), "the late COMMIT is undone")
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

func TestStartDoesNotWaitForTheNetwork(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Pending, "")
		r.sale(500)
		pass(3 * time.Second)
		r.world.lock(func() { r.world.offline = true })
		start := time.Now()
		r.Restart(true)
		require.True(t, r.Health(context.Background()).Ready)
		r.Accepted(ecr.Request{Amount: 100})
		require.Zero(t, time.Since(start))
	})
}

// Beginning before the journal was read is refused: every open sale is resumed first.
func TestNotReadyBeforeTheJournalIsRead(t *testing.T) {
	terminal(t, func(r *rig) {
		r.Stop()
		_, err := r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.NotReady)
		_, err = r.Close(context.Background())
		refused(t, err, ecr.NotReady)
		require.NoError(t, r.DB.Close())
		r.Start()
		r.Accepted(ecr.Request{Amount: 100})
	})
}
