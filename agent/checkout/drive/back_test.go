package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// asksBack lets the first method of a terminal ask before money goes back.
func asksBack(typ methods.TransactionType, triggers ...methods.Trigger) func(r *rig) {
	return func(r *rig) {
		d := swish()
		d.Queries = []map[string]methods.QueryPrompt{{"2": {Label: "Order number", Min: 1, Max: 12}}}
		d.TxnQueryFlow = []methods.QueryFlow{{TransactionType: typ, QueryIDs: []int32{2}, Triggers: triggers}}
		r.defs = []methods.Definition{d}
	}
}

// A refund whose method asks is sent once it is answered, with the answer, and not before.
func TestARefundAsksFirst(t *testing.T) {
	atCounter(t, asksBack(methods.Refund, methods.Manual), func(r *rig, p *prompter) {
		o := r.approved(1000)
		s := r.Accepted(refundOf(o, 300))
		pass(10 * time.Second)
		require.Equal(t, checkout.Choosing, r.phase(s.ID))
		require.Empty(t, r.world.sent(aapay.Refund))
		require.Equal(t, "Please enter at the terminal", (<-s.Progress).Text)
		require.Len(t, p.asked.Offers, 1)
		require.Equal(t, []methods.Prompt{{ID: 2, QueryPrompt: methods.QueryPrompt{Label: "Order number", Min: 1, Max: 12}}}, p.asked.Offers[0].Open())
		require.False(t, p.asked.Offers[0].AsksConsumer())
		require.EqualValues(t, 300, p.asked.Amount)
		require.False(t, p.asked.NeedAmount)
		require.Zero(t, p.asked.After)

		_, err := r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.Busy)
		again := r.Accepted(refundOf(o, 300))
		require.Equal(t, s.ID, again.ID, "the same request joins")

		p.answers <- answer{prompts: map[int32]string{2: "4711"}}
		for _, one := range []ecr.Sale{s, again} {
			require.Equal(t, ecr.Approved, (<-one.Outcome).Result)
			r.Told(one, ecr.Told)
		}
		sent := r.world.sent(aapay.Refund)
		require.Len(t, sent, 1)
		require.Equal(t, []aapay.KeyValue{{Key: "2", Value: "4711"}}, sent[0].req.Params)
		require.Equal(t, aapay.TriggerManual, sent[0].req.Trigger)
		require.Equal(t, sent[0].req.TerminalReference, sent[0].req.Consumer.ConsumerID)
		require.EqualValues(t, 700, r.world.net())
		require.EqualValues(t, 1, p.asks.Load())
	})
}

// A refund that was not answered is not done: nothing was sent, and the whole amount can still be given back.
func TestARefundThatIsNotAnsweredIsNotDone(t *testing.T) {
	ends := map[string]func(r *rig, p *prompter, s ecr.Sale) (heard bool){
		"cancelled": func(_ *rig, p *prompter, _ ecr.Sale) bool { p.answers <- answer{err: drive.ErrCancelled}; return true },
		"too long": func(_ *rig, p *prompter, _ ecr.Sale) bool {
			p.answers <- answer{prompts: map[int32]string{2: "1234567890123"}}
			return true
		},
		"empty": func(_ *rig, p *prompter, _ ecr.Sale) bool { p.answers <- answer{}; return true },
		"the register's abort": func(r *rig, _ *prompter, s ecr.Sale) bool {
			require.NoError(t, r.Abort(context.Background(), s.ID))
			return true
		},
		"half of the register's patience": func(r *rig, _ *prompter, s ecr.Sale) bool {
			r.Waits(s.ID) // a refund is told "in progress" at the end of it, whatever the register acknowledges
			pass(38 * time.Second)
			require.Equal(t, checkout.Choosing, r.phase(s.ID))
			pass(time.Second)
			return true
		},
		"a restart":   func(r *rig, _ *prompter, _ ecr.Sale) bool { r.Restart(false); return false },
		"a power cut": func(r *rig, _ *prompter, _ ecr.Sale) bool { r.Restart(true); return false },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			atCounter(t, asksBack(methods.Refund), func(r *rig, p *prompter) {
				o := r.approved(1000)
				s := r.Accepted(refundOf(o, 1000))
				synctest.Wait()
				row, _ := r.show(o.Sale)
				require.EqualValues(t, 1000, row.Debited)
				if end(r, p, s) {
					out := <-s.Outcome
					require.Equal(t, ecr.Aborted, out.Result)
					require.Equal(t, ecr.AbortedByUser, out.Code)
					require.Equal(t, "aborted, not done", out.Text)
					require.Zero(t, out.Receipt)
					r.Told(s, ecr.Told)
				}
				pass(2 * time.Minute)
				require.Equal(t, checkout.Done, r.phase(s.ID))
				row, lines := r.show(o.Sale)
				require.Zero(t, row.Debited)
				require.Contains(t, lines, "refund of 10.00 EUR was given up: nothing was sent")
				require.Empty(t, r.world.sent(aapay.Refund))

				if again := r.Accepted(refundOf(o, 1000)); again.ID == s.ID { // nobody was told: it is told now, then asked for anew
					require.Equal(t, ecr.Aborted, (<-again.Outcome).Result)
					r.Told(again, ecr.Told)
				} else {
					p.answers <- answer{prompts: map[int32]string{2: "1"}}
					require.Equal(t, ecr.Approved, (<-again.Outcome).Result)
					r.Told(again, ecr.Told)
					require.Zero(t, r.world.net())
				}
			})
		})
	}
}

// What nobody can answer is not begun, unless the register sends the answer itself.
func TestARefundThatAsksNeedsAPad(t *testing.T) {
	atCounter(t, asksBack(methods.Refund, methods.QR), func(r *rig, p *prompter) {
		o := r.approved(1000)
		p.away.Store(true)
		_, err := r.Ask(refundOf(o, 300))
		refused(t, err, ecr.NotReversible)
		require.ErrorContains(t, err, `Swish asks for "Order number" first: a keypad is needed`)
		req := refundOf(o, 300)
		req.Answers = map[int32]string{2: "1234567890123", 9: "7"}
		_, err = r.Ask(req)
		refused(t, err, ecr.NotReversible)
		req.Answers[2] = "4711"
		s := r.Accepted(req)
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.Zero(t, p.asks.Load())
		sent := r.world.sent(aapay.Refund)[0].req
		require.Equal(t, []aapay.KeyValue{{Key: "2", Value: "4711"}}, sent.Params)
		require.Equal(t, aapay.TriggerQR, sent.Trigger, "the flow of its prompts names no other")
	})
}

// A reversal asks as a refund does, for the whole amount; the undo of a payment never asks.
func TestAReversalAsks(t *testing.T) {
	atCounter(t, asksBack(methods.Reversal, methods.QR, methods.Manual), func(r *rig, p *prompter) {
		o := r.approved(1000)
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		synctest.Wait()
		require.EqualValues(t, 1000, p.asked.Amount)
		p.answers <- answer{prompts: map[int32]string{2: "47"}}
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		sent := r.world.sent(aapay.Reversal)[0].req
		require.Equal(t, []aapay.KeyValue{{Key: "2", Value: "47"}}, sent.Params)
		require.Equal(t, aapay.TriggerManual, sent.Trigger)

		r.unconfirmed(500)
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		next := r.Accepted(ecr.Request{Amount: 100})
		require.Equal(t, ecr.Approved, (<-next.Outcome).Result)
		r.Told(next, ecr.Told)
		pass(time.Minute)
		require.Len(t, r.world.sent(aapay.Reversal), 2)
		require.Empty(t, r.world.sent(aapay.Reversal)[1].req.Params)
		require.EqualValues(t, 1, p.asks.Load())
	})
}
