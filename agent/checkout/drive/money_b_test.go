package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

func TestMoneyB1_NothingIsAcceptedOnAFullDisk(t *testing.T) {
	terminal(t, func(r *rig) {
		r.guard.full = true
		_, err := r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.NotStored)
		r.guard.full = false
		r.guard.left = 0
		_, err = r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.NotStored)
		require.Empty(t, r.world.inits)
	})
}

func TestMoneyB1_OwedFromTheRowAlone(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Initialized, "")
		s := r.sale(500)
		row, _ := r.show(s.ID)
		require.True(t, checkout.Owed(row.State))
		r.Restart(true)
		pass(time.Minute)
		require.Len(t, uniqueKeys(r.world.sent(aapay.Reversal)), 1)
		row, _ = r.show(s.ID)
		require.False(t, checkout.Owed(row.State))
	})
}

func failReversals(w *world, until int) {
	w.onInit = func(n int, typ aapay.Type, req aapay.Request) (*aapay.Reply, error, bool) {
		if typ == aapay.Reversal && n <= until {
			return &aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil, true
		}
		return nil, nil, false
	}
}

func TestMoneyB2_FinalBadProvesOnlyAfterItsWindow(t *testing.T) {
	terminal(t, func(r *rig) {
		failReversals(r.world, 100)
		s := r.waiting(aapay.Pending, 3*time.Second)
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Cancelled, "") })
		require.NoError(t, r.Abort(context.Background(), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(10 * time.Minute) // window: 30 s + 5 min + 5 min
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		pass(2 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.Len(t, r.world.sent(aapay.Reversal), 1)
	})
}

func TestMoneyB2_NotFoundProvesOnlyAfterTheWindow(t *testing.T) {
	terminal(t, func(r *rig) {
		failReversals(r.world, 100)
		reversals := r.world.onInit
		r.world.onInit = func(n int, typ aapay.Type, req aapay.Request) (*aapay.Reply, error, bool) {
			if typ == aapay.Payment {
				return nil, &wire.Error{Code: wire.UnknownOutcome}, true
			}
			return reversals(n, typ, req)
		}
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(10 * time.Minute)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		pass(2 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

func TestMoneyB3_EveryAttemptHasItsOwnKeyAndReference(t *testing.T) {
	terminal(t, func(r *rig) {
		failReversals(r.world, 2)
		s := r.waiting(aapay.Pending, 5*time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		<-s.Outcome
		r.Told(s, ecr.Told)
		pass(5 * time.Minute)
		sent := r.world.sent(aapay.Reversal)
		require.Len(t, sent, 3)
		row, _ := r.show(s.ID)
		refs := map[string]bool{}
		for _, c := range sent {
			refs[c.req.TerminalReference] = true
			require.Equal(t, row.Reference, c.req.OriginalReference)
			require.NoError(t, aapay.Validate(aapay.Reversal, c.req))
		}
		require.Len(t, refs, 3)
		require.Len(t, uniqueKeys(sent), 3)
		require.Equal(t, checkout.Done, row.State.Phase)
	})
}

func TestMoneyB4_ARefundGoesForwardOverRestarts(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		s := r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R1"})
		pass(10 * time.Second)
		require.ErrorIs(t, r.Abort(context.Background(), s.ID), ecr.ErrTooLate)
		r.Restart(false)
		pass(10 * time.Second)
		r.Restart(true)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		row, _ := r.show(s.ID)
		require.Equal(t, ecr.Approved, row.State.Result)
		require.Equal(t, map[string]bool{s.ID: true}, uniqueKeys(r.world.sent(aapay.Refund)))
		require.Equal(t, o.TransactionID, r.world.sent(aapay.Refund)[0].req.OriginalReference)
		require.EqualValues(t, 700, r.world.net())
		require.Empty(t, r.world.sent(aapay.Reversal))
	})
}

func TestMoneyB4_ARefundWhoseTellingWasLostIsNotMadeTwice(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		req := ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R1"}
		for i, d := range []ecr.Delivery{ecr.Lost, ecr.Lost, ecr.Told} {
			s := r.Accepted(req)
			o := <-s.Outcome
			require.Equal(t, ecr.Approved, o.Result)
			require.Equal(t, i > 0, o.Repeat)
			require.Equal(t, 2, o.Receipt)
			r.Told(s, d)
		}
		require.EqualValues(t, 700, r.world.net())
		s := r.Accepted(req)
		require.Equal(t, 3, (<-s.Outcome).Receipt, "acknowledged: the next one is another refund")
		r.Told(s, ecr.Told)
		require.EqualValues(t, 400, r.world.net())
	})
}

func TestMoneyB5_UndoByRefundOnceCommitIsSeen(t *testing.T) {
	terminal(t, func(r *rig) {
		d := swish()
		d.TransactionTypes = []methods.TransactionType{methods.Payment, methods.Refund}
		only := swish()
		only.Name, only.PaymentProviderID, only.Priority = "NEVER", 2, 0
		only.TransactionTypes = []methods.TransactionType{methods.Payment}
		r.defs = []methods.Definition{only, d}
		s := r.waiting(aapay.Pending, 5*time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		o := <-s.Outcome
		require.Equal(t, "SWISH_E_COM", o.Method)
		r.Told(s, ecr.Told)
		pass(time.Minute)
		require.Empty(t, r.world.sent(aapay.Refund))
		r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
		pass(2 * time.Minute)
		require.Zero(t, r.world.net())
		require.Len(t, r.world.sent(aapay.Refund), 1)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.Empty(t, r.world.sent(aapay.Reversal))
	})
}

func TestMoneyB6_RepeatReceiptAfterReversingIsAborted(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		r.world.lock(func() { r.world.offline = true })
		pass(11 * time.Minute)
		require.Equal(t, checkout.Reversing, r.phase(o.Sale))
		again := r.last("serial")
		require.Equal(t, ecr.Aborted, again.Result)
		require.Zero(t, again.Receipt)
		require.True(t, again.Settling)
		got, err := r.Delivered(context.Background(), o.Sale, ecr.Told)
		require.NoError(t, err)
		require.Equal(t, ecr.Aborted, got.Result)
		require.Equal(t, checkout.Reversing, r.phase(o.Sale))
	})
}

func TestMoneyB6_LastReceiptOfTheNextCommand(t *testing.T) {
	one := 1
	zero := 0
	other := 77
	for name, c := range map[string]struct {
		last *int
		want checkout.Phase
	}{"equal": {&one, checkout.Confirmed}, "the one before": {&zero, checkout.Reversing}, "another": {&other, checkout.Reversing}, "none": {nil, checkout.Reversing}} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				o := r.unconfirmed(500)
				tcp := r.Accepted(ecr.Request{Amount: 100, Line: "tcp"})
				require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "another line's command touches nothing")
				<-tcp.Outcome
				r.Told(tcp, ecr.Told)
				s := r.Accepted(ecr.Request{Amount: 300, LastReceipt: c.last})
				require.Equal(t, c.want, r.phase(o.Sale))
				next := <-s.Outcome
				require.Equal(t, 3, next.Receipt, "no number twice")
				r.Told(s, ecr.Told)
				pass(time.Minute)
				want := int64(400)
				if c.want == checkout.Confirmed {
					want += 500
				}
				require.EqualValues(t, want, r.world.net())
			})
		})
	}
}

func TestMoneyB7_OneLedgerForReversalsAndRefunds(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		begin := func(req ecr.Request) error {
			s, err := r.Ask(req)
			if err != nil {
				return err
			}
			out := <-s.Outcome
			require.Equal(t, ecr.Approved, out.Result)
			r.Told(s, ecr.Told)
			return nil
		}
		refused(t, begin(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt, Amount: 999}), ecr.AmountWrong)
		refused(t, begin(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 1001}), ecr.AmountWrong)
		require.NoError(t, begin(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 300}))
		refused(t, begin(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt}), ecr.NotReversible)
		refused(t, begin(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 701}), ecr.AmountWrong)
		require.NoError(t, begin(ecr.Request{Kind: ecr.Refund, Original: "T" + o.TransactionID, Amount: 700}))
		refused(t, begin(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 1}), ecr.AmountWrong)
		refused(t, begin(ecr.Request{Kind: ecr.Reversal, Receipt: 2}), ecr.NotReversible)
		require.Zero(t, r.world.net())

		p := r.approved(500)
		require.NoError(t, begin(ecr.Request{Kind: ecr.Reversal, Receipt: p.Receipt}))
		refused(t, begin(ecr.Request{Kind: ecr.Reversal, Receipt: p.Receipt}), ecr.AlreadyReversed)
		refused(t, begin(ecr.Request{Kind: ecr.Refund, Original: "T" + p.TransactionID, Amount: 1}), ecr.AmountWrong)
		require.Zero(t, r.world.net())
		totals, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Zero(t, totals.Net)
		require.Equal(t, 5, totals.Count)
		require.EqualValues(t, 1500, totals.Methods[0].PaymentSum)
		require.EqualValues(t, 1500, totals.Methods[0].RefundSum)
	})
}

func TestMoneyB7_TheLedgerIsDebitedAtAcceptAndReleasedByAFinalNo(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		no := true
		r.world.lock(func() {
			r.world.onInit = func(_ int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
				if typ == aapay.Refund && no {
					return &aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil, true
				}
				return nil, nil, false
			}
			r.world.offline = true
		})
		s := r.Accepted(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 800})
		_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 201, Line: "tcp"})
		refused(t, err, ecr.AmountWrong)
		_, err = r.Ask(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		refused(t, err, ecr.NotReversible)
		r.world.lock(func() { r.world.offline = false })
		require.Equal(t, ecr.Declined, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		row, _ := r.show(o.Sale)
		require.Zero(t, row.Debited)
		r.world.lock(func() { no = false })
		s = r.Accepted(ecr.Request{Kind: ecr.Refund, Original: "R1", Amount: 1000})
		r.Approved(s, ecr.Told)
		require.Zero(t, r.world.net())
	})
}

func TestMoneyB7_RefundOfTheLastPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		r.cfg.RefundLast = true
		r.Restart(false)
		r.approved(1000)
		_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 1001})
		refused(t, err, ecr.AmountWrong)
		s := r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: 1000})
		r.Approved(s, ecr.Told)
		require.Zero(t, r.world.net())
	})
}

func TestMoneyB8_LostAnswersUnderOneKey(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.after = func(n int, typ aapay.Type) error {
			if typ == aapay.Payment && n < 3 {
				return &wire.Error{Code: wire.UnknownOutcome}
			}
			return nil
		}
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(500)
		r.Approved(s, ecr.Told)
		sent := r.world.sent(aapay.Payment)
		require.Len(t, sent, 3)
		for _, c := range sent {
			require.Equal(t, wire.Key(s.ID), c.key)
			require.Equal(t, sent[0].req, c.req, "the same body")
		}
		require.EqualValues(t, 500, r.world.net())
	})
}

func TestMoneyB8_PlainRouteIsUsedOnce(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.plain = true
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(500)
		r.Approved(s, ecr.Told)

		r.world.lock(func() {
			r.world.after = func(_ int, typ aapay.Type) error {
				if typ == aapay.Payment {
					return &wire.Error{Code: wire.UnknownOutcome}
				}
				return nil
			}
			r.world.onStatus = func(*txn) error { return &wire.Error{Code: wire.NotFound} }
		})
		s = r.sale(600)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(15 * time.Minute)
		require.Len(t, r.world.sent(aapay.Payment), 2, "never sent again")
		row, _ := r.show(s.ID)
		require.Equal(t, row.Reference, r.world.sent(aapay.Reversal)[0].req.OriginalReference)
		require.NotContains(t, row.Reference, "-")
		require.Len(t, row.Reference, 32)
		require.EqualValues(t, 500, r.world.net())
	})
}

func TestMoneyB8_PlainIsNotSentAgainAfterACrash(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.plain = true
		r.world.after = func(int, aapay.Type) error {
			r.guard.mu.Lock()
			r.guard.left = 0
			r.guard.mu.Unlock()
			return nil
		}
		s := r.sale(500)
		pass(time.Second)
		require.Len(t, r.world.sent(aapay.Payment), 1)
		r.world.after = nil
		r.world.onStatus = approveAfter(r.world, 1)
		r.Restart(false)
		w := r.Again()
		require.Equal(t, s.ID, w.ID)
		require.Equal(t, ecr.Approved, (<-w.Outcome).Result, "its status was asked for instead")
		r.Told(w, ecr.Told)
		require.Len(t, r.world.sent(aapay.Payment), 1)
	})
}

func TestMoneyB9_ResponseCodesOnTheWay(t *testing.T) {
	reply := func(status, code int) *aapay.Reply {
		return &aapay.Reply{HTTPStatus: status, Response: &aapay.Response{ResponseCode: code}}
	}
	terminal(t, func(r *rig) {
		r.world.onInit = func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
			return reply(202, aapay.CodeResend), nil, n <= 2 && typ == aapay.Payment
		}
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(500)
		r.Approved(s, ecr.Told)
		require.Len(t, r.world.sent(aapay.Payment), 3)
		require.Len(t, uniqueKeys(r.world.sent(aapay.Payment)), 1)

		r.world.lock(func() {
			r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
				return reply(201, aapay.CodeCancel), nil, true
			}
		})
		s = r.sale(600)
		require.Equal(t, ecr.Declined, (<-s.Outcome).Result)
		require.Equal(t, checkout.Declined, r.phase(s.ID))
		r.Told(s, ecr.Told)
		pass(time.Hour)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.Empty(t, r.world.sent(aapay.Reversal), "after a 201 nothing is owed")
	})
}

func TestMoneyB10_ReceiptsAreForApprovedSalesOnly(t *testing.T) {
	terminal(t, func(r *rig) {
		a := r.approved(100)
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Rejected, "") })
		s := r.sale(200)
		no := <-s.Outcome
		require.Zero(t, no.Receipt)
		r.Told(s, ecr.Told)
		b := r.approved(300)
		require.Equal(t, []int{1, 2}, []int{a.Receipt, b.Receipt})
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_counters SET value = 9999 WHERE name = 'receipt'`)))
		c := r.approved(400)
		require.Equal(t, 3, c.Receipt, "around, and past the numbers of this batch")
	})
}

func TestMoneyB11_ARepeatedRequest(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Pending, "")
		s := r.sale(500)
		_, err := r.Ask(ecr.Request{Amount: 500})
		refused(t, err, ecr.Busy)
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 5) })
		<-s.Outcome
		_, err = r.Ask(ecr.Request{Amount: 500})
		refused(t, err, ecr.Busy)
		r.Told(s, ecr.Lost)
		again := r.approved(500)
		require.NotEqual(t, s.ID, again.Sale)
		pass(time.Minute)
		require.EqualValues(t, 500, r.world.net(), "the unconfirmed one was taken back")
		third := r.approved(500)
		require.NotEqual(t, again.Sale, third.Sale)
		require.EqualValues(t, 1000, r.world.net(), "an acknowledged one stays")
	})
}

func TestMoneyB12_ANewBootEndsTheDialogue(t *testing.T) {
	for _, newBoot := range []bool{false, true} {
		terminal(t, func(r *rig) {
			s := r.waiting(aapay.Pending, 5*time.Second)
			r.Restart(newBoot)
			r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
			pass(time.Minute)
			if newBoot {
				require.Equal(t, checkout.Done, r.phase(s.ID))
				require.Zero(t, r.world.net())
				require.Equal(t, ecr.Aborted, r.last("serial").Result)
				return
			}
			require.Equal(t, checkout.Unconfirmed, r.phase(s.ID), "approved, with nobody there to be told")
			o := r.last("serial")
			require.Equal(t, ecr.Approved, o.Result)
			_, err := r.Delivered(context.Background(), s.ID, ecr.Told)
			require.NoError(t, err)
			require.EqualValues(t, 500, r.world.net())
		})
	}
}

// The sale of an old journal may have been approved and told since: undoing it would take the
// merchant's money back.
func TestMoneyC3_AnOpenSaleOfARestoredJournalIsSetAside(t *testing.T) {
	for _, close := range []bool{true, false} {
		terminal(t, func(r *rig) {
			s := r.waiting(aapay.Pending, 5*time.Second)
			r.Halt()
			r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
			calls := 0
			r.world.lock(func() { calls = len(r.world.inits) })
			n := 0
			require.NoError(t, r.onFile(func(tx store.Tx, db store.DB) (err error) {
				n, err = journal.SetAside(tx, db, "restored", time.Now())
				return err
			}))
			require.Equal(t, 1, n)
			r.Reboot()
			r.Start()
			pass(time.Hour)
			row, history := r.show(s.ID)
			require.Equal(t, "restored", row.Aside)
			require.Contains(t, history, "set aside: restored")
			require.EqualValues(t, 500, r.world.net(), "not undone")
			r.world.lock(func() { require.Len(t, r.world.inits, calls) })
			_, err := r.Close(context.Background())
			require.NoError(t, err, "it does not hold the day up")
			r.Halt()
			require.ErrorIs(t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.TakeUp(tx, db, "nobody", time.Now()) }), journal.ErrUnknown)
			unsettled := func() (n int) {
				require.NoError(t, r.onFile(func(tx store.Tx, db store.DB) (err error) { n, err = journal.Unsettled(tx); return err }))
				return n
			}
			require.Equal(t, 1, unsettled())
			if close {
				require.NoError(t, r.onFile(func(tx store.Tx, db store.DB) error {
					return journal.CloseAside(tx, db, s.ID, "the customer has paid", time.Now())
				}))
				require.Zero(t, unsettled())
				require.ErrorIs(t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.TakeUp(tx, db, s.ID, time.Now()) }), journal.ErrNotAside)
			} else {
				require.NoError(t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.TakeUp(tx, db, s.ID, time.Now()) }))
				require.Equal(t, 1, unsettled())
			}
			r.Start()
			pass(time.Hour)
			require.EqualValues(t, 500, r.world.net(), "not undone by a new boot")
		})
	}
}

func TestMoneyB12_ApprovedSurvivesANewBoot(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(500)
		<-s.Outcome
		r.Restart(true)
		o := r.last("serial")
		require.Equal(t, ecr.Approved, o.Result)
		_, err := r.Delivered(context.Background(), s.ID, ecr.Told)
		require.NoError(t, err)
		pass(time.Hour)
		require.EqualValues(t, 500, r.world.net())
	})
}

func TestMoneyB13_EndOfDay(t *testing.T) {
	terminal(t, func(r *rig) {
		a := r.approved(1000)
		lost := r.unconfirmed(500)
		require.Equal(t, checkout.Unconfirmed, r.phase(lost.Sale))
		totals, err := r.Close(context.Background())
		require.NoError(t, err)
		require.Equal(t, checkout.Done, r.phase(lost.Sale), "settled, not confirmed")
		require.Equal(t, []string{"payment of 5.00 EUR, receipt 2: undone after its approval"}, totals.Exceptions)
		require.Equal(t, 1, totals.Count)
		require.EqualValues(t, 1000, totals.Net)
		require.Equal(t, 1, totals.Batch)
		require.Equal(t, 280, totals.Methods[0].CardType)
		require.Equal(t, checkout.Done, r.phase(a.Sale))
		next, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Equal(t, 2, next.Batch)
		require.Zero(t, next.Count)
		_, err = r.Ask(ecr.Request{Kind: ecr.Reversal, Receipt: a.Receipt})
		refused(t, err, ecr.NotReversible)
		s := r.Accepted(refundOf(a, 100))
		r.Approved(s, ecr.Told)
	})
}

func TestMoneyB13_EndOfDayIsImpossibleWhileAnythingIsOpen(t *testing.T) {
	terminal(t, func(r *rig) {
		r.unconfirmed(500)
		r.world.lock(func() { r.world.offline = true })
		start := time.Now()
		_, err := r.Close(context.Background())
		refused(t, err, ecr.EODImpossible)
		require.Equal(t, time.Minute, time.Since(start))
		totals, err := r.Close(context.Background())
		require.NoError(t, err, "asked again, the undo is carried over: it must not hold the batch for ever")
		require.Contains(t, totals.Exceptions[0], "carried over")

		r.world.lock(func() { r.world.offline = false; r.world.onStatus = say(1, aapay.Authorized, "") })
		s := r.sale(100)
		_, err = r.Close(context.Background())
		refused(t, err, ecr.EODImpossible)
		<-s.Outcome
		r.Told(s, ecr.Told)
	})
}

func TestMoneyB13_AnUndoAfterTheCloseIsCarriedOver(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		totals, err := r.Close(context.Background())
		require.NoError(t, err, "an undo of a sale never approved does not hold the batch")
		require.Len(t, totals.Exceptions, 1)
		require.Contains(t, totals.Exceptions[0], "carried over")
		r.world.lock(func() { r.world.mute = false })
		pass(15 * time.Minute)
		next, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Equal(t, []string{"payment of 5.00 EUR: carried over from batch 1, undone"}, next.Exceptions)
	})
}

// The undo runs beside the next sale: its first byte is as fast as any sale's, whatever becomes of
// the undo.
func TestField_L11TheNextSaleStartsAtOnce(t *testing.T) {
	for name, mute := range map[string]bool{"the backend answers": false, "it does not": true} {
		terminal(t, func(r *rig) {
			s := r.waiting(aapay.Initialized, 3*time.Second)
			require.True(t, r.screen.code())
			r.world.lock(func() { r.world.mute = mute })
			require.NoError(t, r.Abort(context.Background(), s.ID))
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			require.False(t, r.screen.code())
			row, _ := r.show(s.ID)
			require.True(t, row.State.UndoOpen, "durably owed")
			r.Told(s, ecr.Told)
			start := time.Now()
			next := r.sale(600)
			synctest.Wait()
			sent := r.world.sent(aapay.Payment)
			require.Equal(t, wire.Key(next.ID), sent[len(sent)-1].key, name)
			require.Equal(t, start, sent[len(sent)-1].at, name)
			require.NotEmpty(t, r.world.sent(aapay.Reversal))
			r.world.lock(func() { r.world.mute = false; r.world.onStatus = approveAfter(r.world, 2) })
			r.Approved(next, ecr.Told)
			pass(20 * time.Minute)
			require.EqualValues(t, 600, r.world.net())
		})
	}
}

func TestMoneyB16_TheCodeIsShownForTheStaleAge(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Initialized, "")
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		up, down := r.screen.times()
		require.Equal(t, 30_000*time.Millisecond, down.Sub(up))
		require.Equal(t, up.AddDate(26, 0, 0).Add(30*time.Second), r.screen.first().Until)
		r.Told(s, ecr.Told)
		pass(time.Minute)
		require.NotEmpty(t, r.world.sent(aapay.Reversal))
	})
}

func TestMoneyB16_TheDeadlineCutsTheStaleAge(t *testing.T) {
	terminal(t, func(r *rig) {
		d := swish()
		d.MeanDelay = 1000
		r.defs = []methods.Definition{d}
		r.world.onStatus = say(1, aapay.Initialized, "")
		start := time.Now()
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		_, down := r.screen.times()
		require.Equal(t, 77*time.Second, down.Sub(start))
		r.Told(s, ecr.Told)
	})
}

func TestMoneyB16_ABrokenEMVCodeIsNotShown(t *testing.T) {
	terminal(t, func(r *rig) {
		d := swish()
		d.TriggerParams = &methods.TriggerParams{Qr: &methods.QRParams{Type: "1"}}
		r.defs = []methods.Definition{d}
		r.world.code = "00020101021253037525802SE5902AB6002CD6304FFFF"
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		up, _ := r.screen.times()
		require.True(t, up.IsZero())
		r.Told(s, ecr.Told)
		pass(time.Minute)
		require.NotEmpty(t, r.world.sent(aapay.Reversal))
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

// Links and wallets number their transactions on their own: a number that both have names no
// payment.
func TestMoneyB15_ANumberOfTwoServicesNamesNoPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		r.defs[0].Name = gateway.MethodPaylink
		r.world.lock(func() { r.world.order = nil }) // another service: it counts from one, too
		r.approved(2000)
		_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 100, Original: "T1"})
		refused(t, err, ecr.NotReversible)
		require.ErrorContains(t, err, "names two payments")
	})
}
