package cards

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
)

// The answer to the bank's question counts for the attempt that the page showed. Between showing and pressing, another tab
// may change the card, and with it the number and the fee; the same card pressed again is a new question as well. The
// amount and the order of a payment never change. The page then shows the question of now.
func TestField2_S9_AnswerOfAnotherAttempt(t *testing.T) {
	req := func() payments.CreateRequest {
		r := hosted(payments.ProcessSale)
		r.ScaExemption = payments.ScaForce3DS
		r.PayPageConfiguration = &payments.PayPageConfiguration{PageType: payments.Singlepage, PaymentMethodActionInfoList: []payments.MethodAction{
			{PaymentMethod: "Visa", Action: "Allow"}, {PaymentMethod: "MasterCard", Action: "Allow", Fee: 900},
		}}
		return r
	}
	for _, row := range []struct{ first, second, masked string }{
		{"visa", "mastercard", "555555******4444"}, {"mastercard", "visa", "411111******1111"}, {"visa", "visa", "411111******1111"},
	} {
		t.Run(row.first+" then "+row.second, func(t *testing.T) {
			b := newWeb(t)
			id := b.make(req())
			_, one := b.byCard(id, pan(t, row.first))
			path, two := b.byCard(id, pan(t, row.second))
			require.Equal(t, here(id), b.goes(path, one))
			answer, yes := b.form(id, actAnswer)
			yes.Set("pass", "yes")
			require.Equal(t, here(id), b.goes(path, two))
			require.Equal(t, here(id), b.goes(answer, yes), "the page says how it stands")
			require.Equal(t, [3]int32{}, b.sums(id), "nobody answered this question")
			require.Equal(t, Challenged, b.state(id))
			require.Contains(t, b.get(id), row.masked)
			answer, yes = b.form(id, actAnswer)
			yes.Set("pass", "yes")
			for range 2 { // the second is the double click
				require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, answer, yes).Code)
			}
			require.EqualValues(t, 10_000, b.sums(id)[1])
			b.balanced(id)
		})
	}
}
