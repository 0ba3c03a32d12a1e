package drive_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// A register selects exactly the method that it names, whatever its card type.
func TestTheRegisterNamesTheMethod(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		s := r.Accepted(ecr.Request{Amount: 700, Method: "TWINT", CardType: 280})
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.Equal(t, "TWINT", r.world.sent(aapay.Payment)[0].req.Method)
		require.Equal(t, aapay.TriggerQR, r.world.sent(aapay.Payment)[0].req.Trigger)

		for _, name := range []string{"PAYPAL", "twint", "TWIN", " TWINT"} {
			_, err := r.Ask(ecr.Request{Amount: 700, Method: name})
			refused(t, err, ecr.NoMethod)
			require.ErrorContains(t, err, "is not offered here")
		}
		r.cfg.Exclude = []int32{2}
		r.Restart(false)
		_, err := r.Ask(ecr.Request{Amount: 700, Method: "TWINT"})
		refused(t, err, ecr.NoMethod)
	})
}

// A code that the register has scanned is the consumer's id of a method that is started by hand, and is not asked for.
func TestTheRegisterScansTheCode(t *testing.T) {
	atCounter(t, nil, func(r *rig, p *prompter) {
		p.away.Store(true) // nobody has to answer
		const code = "46700000001"
		s := r.Accepted(ecr.Request{Amount: 700, Method: "TWINT", ConsumerID: code})
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		sent := r.world.sent(aapay.Payment)[0].req
		require.Equal(t, aapay.TriggerManual, sent.Trigger)
		require.Equal(t, code, sent.Consumer.ConsumerID)
		require.Equal(t, []aapay.KeyValue{{Key: "1", Value: code}}, sent.Params)
		row, lines := r.show(s.ID)
		require.NotContains(t, strings.Join(lines, "\n"), code)
		require.Zero(t, row.Receipt-1)

		for _, short := range []string{"4670000", "4670000000000001"} {
			_, err := r.Ask(ecr.Request{Amount: 700, Method: "TWINT", ConsumerID: short})
			refused(t, err, ecr.NoMethod)
			require.ErrorContains(t, err, "the customer's code does not fit: Twint takes 8 to 15 characters")
			require.NotContains(t, err.Error(), short)
		}
		_, err := r.Ask(ecr.Request{Amount: 700, Method: "SWISH_E_COM", ConsumerID: code})
		refused(t, err, ecr.NoMethod)
		require.ErrorContains(t, err, "no payment method takes the customer's code")
		_, err = r.Ask(ecr.Request{Amount: 700, ConsumerID: code})
		refused(t, err, ecr.NoMethod)
		require.ErrorContains(t, err, "name one", "a code must not go to a wrong provider")
		require.Zero(t, p.asks.Load())
		require.Len(t, r.world.sent(aapay.Payment), 1)
	})
}

// What the register has not sent is asked for, and its code is kept for the method that the customer chooses.
func TestTheRestIsAsked(t *testing.T) {
	atCounter(t, func(r *rig) {
		choose(r)
		r.defs[2].Queries = append(r.defs[2].Queries, map[string]methods.QueryPrompt{"5": {Label: "Months", Min: 1, Max: 2}})
		r.defs[2].TxnQueryFlow[0].QueryIDs = []int32{1, 5}
	}, func(r *rig, p *prompter) {
		s := r.Accepted(ecr.Request{Amount: 700, ConsumerID: "46700000001"})
		synctest.Wait()
		require.Equal(t, []string{"KLARNA/MANUAL", "TWINT/MANUAL"}, offered(p))
		require.Equal(t, "Months", p.asked.Offers[0].Open()[0].Label)
		require.False(t, p.asked.Offers[1].Asks())
		p.answers <- answer{method: "KLARNA", prompts: map[int32]string{5: "12"}}
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		sent := r.world.sent(aapay.Payment)[0].req
		require.Equal(t, "46700000001", sent.Consumer.ConsumerID)
		require.Equal(t, []aapay.KeyValue{{Key: "1", Value: "46700000001"}, {Key: "5", Value: "12"}}, sent.Params)
	})
}

// A register whose protocol leaves the amount to the terminal need not be told so by the configuration.
func TestTheRegisterLeavesTheAmountToTheTerminal(t *testing.T) {
	atCounter(t, func(r *rig) { r.defs[0].DelayedAmount = 1 }, func(r *rig, p *prompter) {
		s := r.Accepted(ecr.Request{AskAmount: true})
		synctest.Wait()
		require.Equal(t, []string{"SWISH_E_COM/QR"}, offered(p))
		require.True(t, p.asked.NeedAmount)
		p.answers <- answer{amount: 1250}
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		require.EqualValues(t, 1250, o.Amount)
		r.Told(s, ecr.Told)
		require.EqualValues(t, 1250, r.world.net())

		_, err := r.Ask(ecr.Request{AskAmount: true, Method: "TWINT"})
		refused(t, err, ecr.AmountWrong)
		p.away.Store(true)
		_, err = r.Ask(ecr.Request{AskAmount: true})
		refused(t, err, ecr.AmountWrong)
	})
}
