package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// easy is paid by a code, or by a mobile number that is typed in.
func easy() methods.Definition {
	d := swish()
	d.Priority, d.PaymentProviderID, d.Name, d.Label = 2, 2, "TWINT", "Twint"
	d.Trigger = []methods.Trigger{methods.QR, methods.Manual}
	d.Queries = []map[string]methods.QueryPrompt{{"1": {Label: "Mobile number", Min: 8, Max: 15}}}
	d.TxnQueryFlow = []methods.QueryFlow{{TransactionType: methods.Payment, QueryIDs: []int32{1}, Triggers: []methods.Trigger{methods.Manual}}}
	return d
}

// instalments are only paid by a number that is typed in.
func instalments() methods.Definition {
	d := easy()
	d.Priority, d.PaymentProviderID, d.Name, d.Label, d.Trigger = 0, 3, "KLARNA", "Instalments", []methods.Trigger{methods.Manual}
	return d
}

// atCounter runs a test with a terminal at which a person can answer.
func atCounter(t *testing.T, change func(r *rig), test func(r *rig, p *prompter)) {
	t.Helper()
	terminal(t, func(r *rig) {
		p := &prompter{answers: make(chan answer, 1)}
		r.prompt = p
		r.defs = []methods.Definition{swish(), easy(), instalments()}
		if change != nil {
			change(r)
		}
		r.Restart(false)
		r.world.onStatus = approveAfter(r.world, 1)
		test(r, p)
	})
}

func choose(r *rig) { r.cfg.Choose = true }

func offered(p *prompter) (list []string) {
	for _, o := range p.asked.Offers {
		list = append(list, o.Method.Name+"/"+string(o.Trigger))
	}
	return list
}

// The register's choice goes before everything; without one, nobody is asked for what the terminal can decide.
func TestWithoutChoiceNobodyIsAsked(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		s := r.Accepted(ecr.Request{Amount: 700})
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.Zero(t, p.asks.Load())
		require.Equal(t, "SWISH_E_COM", r.world.sent(aapay.Payment)[0].req.Method, "the first by priority that asks nothing")

		s = r.Accepted(ecr.Request{Amount: 700, CardType: ecr.CardType("KLARNA")})
		synctest.Wait()
		require.Equal(t, []string{"KLARNA/MANUAL"}, offered(p))
		require.Equal(t, "Please enter at the terminal", (<-s.Progress).Text)
		p.answers <- answer{prompts: map[int32]string{1: "46700000001"}}
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		sent := r.world.sent(aapay.Payment)[1].req
		require.Equal(t, "KLARNA", sent.Method)
		require.Equal(t, aapay.TriggerManual, sent.Trigger)
		require.Equal(t, "46700000001", sent.Consumer.ConsumerID)
		require.Equal(t, []aapay.KeyValue{{Key: "1", Value: "46700000001"}}, sent.Params)
	})
}

// A method that can be started in two ways is offered in both.
func TestBothTriggersAreOffered(t *testing.T) {
	atCounter(t, choose, func(r *rig, p *prompter) {
		s := r.Accepted(ecr.Request{Amount: 700})
		synctest.Wait()
		require.Equal(t, []string{"KLARNA/MANUAL", "SWISH_E_COM/QR", "TWINT/QR", "TWINT/MANUAL"}, offered(p))
		require.Equal(t, 1, p.asked.Default)
		require.Equal(t, 15*time.Second, p.asked.After)
		p.answers <- answer{method: "TWINT", trigger: methods.Manual, prompts: map[int32]string{1: "46700000001"}}
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.Equal(t, aapay.TriggerManual, r.world.sent(aapay.Payment)[0].req.Trigger)

		s = r.Accepted(ecr.Request{Amount: 700, CardType: ecr.CardType("TWINT")})
		synctest.Wait()
		require.Equal(t, []string{"TWINT/QR", "TWINT/MANUAL"}, offered(p))
		p.answers <- answer{method: "TWINT", trigger: methods.QR}
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.Equal(t, aapay.TriggerQR, r.world.sent(aapay.Payment)[1].req.Trigger)
		require.Empty(t, r.world.sent(aapay.Payment)[1].req.Params)
	})
}

// While nobody can answer, nothing is offered that asks, and no sale waits for an answer.
func TestWithoutAPadNothingAsks(t *testing.T) {
	atCounter(t, choose, func(r *rig, p *prompter) {
		p.away.Store(true)
		_, err := r.Ask(ecr.Request{Amount: 700, CardType: ecr.CardType("KLARNA")})
		refused(t, err, ecr.NoMethod)
		for _, card := range []int{0, ecr.CardType("TWINT")} {
			s := r.Accepted(ecr.Request{Amount: 700, CardType: card})
			require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
		}
		require.Zero(t, p.asks.Load())
	})
}

// A payment without an amount is refused where the terminal is not told to ask for it.
func TestNoAmountIsRefused(t *testing.T) {
	atCounter(t, func(r *rig) { r.defs[0].DelayedAmount = 1 }, func(r *rig, p *prompter) {
		_, err := r.Ask(ecr.Request{})
		refused(t, err, ecr.AmountWrong)
		require.Zero(t, p.asks.Load())
	})
}

// A sale that was aborted before its question was asked asks nothing.
func TestAbortBeforeTheQuestion(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		r.guard.holdReads(2) // the sale's and the abort's write
		s := r.Accepted(ecr.Request{Amount: 700, CardType: ecr.CardType("KLARNA")})
		require.NoError(t, r.Abort(unheld(context.Background()), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		synctest.Wait()
		require.Zero(t, p.asks.Load())
		require.Empty(t, r.world.sent(aapay.Payment))
	})
}

// What is asked for stands on the screen until it is answered, whatever the sale before it still shows, and not longer.
func TestTheDialogueHasTheScreen(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		before := r.Accepted(ecr.Request{Amount: 700})
		require.Equal(t, ecr.Approved, (<-before.Outcome).Result)
		r.Told(before, ecr.Told)
		require.Equal(t, scene.Paid, r.screen.last().Kind, "for a while")

		s := r.Accepted(ecr.Request{Amount: 900, CardType: ecr.CardType("KLARNA")})
		synctest.Wait()
		ask := display.View{Kind: scene.Prompt, Entry: scene.Entry{Label: "Mobile number", Typed: "4670"}}
		r.ShowDialogue(s.ID, ask)
		pass(30 * time.Second)
		require.Equal(t, "4670", r.screen.last().Entry.Typed, "the end of the sale before does not take it off")

		r.world.lock(func() { r.world.onStatus = say(1, aapay.Pending, "") })
		p.answers <- answer{prompts: map[int32]string{1: "46700000001"}}
		synctest.Wait()
		require.Equal(t, checkout.Waiting, r.phase(s.ID))
		require.Equal(t, scene.Waiting, r.screen.last().Kind)
		require.Empty(t, r.screen.last().Entry)
		r.ShowDialogue(s.ID, ask)
		require.Empty(t, r.screen.last().Entry, "a dialogue that is over is not shown again")
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
	})
}

// How a sale ended is shown, though the end of the one before still stands on the screen.
func TestAnEndTakesThePlaceOfTheOneBefore(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		before := r.Accepted(ecr.Request{Amount: 700})
		require.Equal(t, ecr.Approved, (<-before.Outcome).Result)
		r.Told(before, ecr.Told)
		pass(6 * time.Second)
		require.Equal(t, scene.Paid, r.screen.last().Kind)

		s := r.Accepted(ecr.Request{Amount: 900, CardType: ecr.CardType("KLARNA")}) // it shows nothing before its end
		require.NoError(t, r.Abort(unheld(context.Background()), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		synctest.Wait()
		require.Equal(t, scene.NotPaid, r.screen.last().Kind)
		require.Equal(t, s.ID, r.screen.last().Of.Sale)
		pass(5 * time.Second)
		require.Equal(t, scene.NotPaid, r.screen.last().Kind, "the first one's time does not take it off")
		pass(6 * time.Second)
		require.Equal(t, scene.Idle, r.screen.last().Kind)
	})
}

// The customer's cancel key ends the payment that runs, and nothing else.
func TestStopAtTheTerminal(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		r.StopPayment("")
		synctest.Wait()
		s := r.Accepted(ecr.Request{Amount: 900, CardType: ecr.CardType("KLARNA")})
		synctest.Wait()
		r.StopPayment("")
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)

		r.world.lock(func() { r.world.onStatus = say(1, aapay.Initialized, "") })
		s = r.sale(500)
		pass(5 * time.Second)
		r.StopPayment("another")
		synctest.Wait()
		require.Equal(t, checkout.Waiting, r.phase(s.ID), "another sale was meant")
		r.StopPayment(s.ID)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)

		paid := r.unconfirmed(800)
		r.StopPayment("")
		r.StopPayment(string(paid.Sale))
		synctest.Wait()
		require.Equal(t, checkout.Unconfirmed, r.phase(paid.Sale), "what was paid stays paid")
	})
}
