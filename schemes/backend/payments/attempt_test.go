package payments

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room/roomtest"
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

var maskedIn = regexp.MustCompile(`[0-9]{6}\*{6}[0-9]{4}`)

// Two tabs of one page, and every order of presses of their buttons, each as the tab shows it: where money is taken, it is what
// the pressed page showed, of the card that it showed, and once. Nothing is taken by a no, by leaving or by looking. The kind:
// with and without the bank's question, cards with and without a fee, a method without a card.
func TestField2_S9_TwoTabsOfOnePage(t *testing.T) {
	presses := roomtest.Presses(t, 3, 4)
	const visaFee, masterFee, walletFee = 0, 900, 100
	for name, exemption := range map[string]string{"the bank asks": payments.ScaForce3DS, "nobody asks": ""} {
		t.Run(name, func(t *testing.T) {
			b := newWeb(t)
			req := hosted(payments.ProcessSale)
			req.ScaExemption, req.Notifications = exemption, nil
			req.PayPageConfiguration = &payments.PayPageConfiguration{PageType: payments.Singlepage, PaymentMethodActionInfoList: []payments.MethodAction{
				{PaymentMethod: "Visa", Action: "Allow"}, {PaymentMethod: "MasterCard", Action: "Allow", Fee: masterFee}, {PaymentMethod: wallet, Action: "Allow", Fee: walletFee},
			}}
			card := func(name string) []string {
				return []string{"by", byCard, "number", pan(t, name), "expiry", "12/30", "code", "737"}
			}
			buttons := []struct {
				act    string // "" = the customer looks at the page again
				fields []string
				says   string // of the page, beside the button
				fee    int32  // that it says
			}{
				{actPay, card("visa"), "Visa: 0.00 EUR", visaFee}, {actPay, card("mastercard"), "MasterCard: 9.00 EUR", masterFee},
				{actPay, []string{"by", wallet}, "Pay 101.00 EUR - PayPal", walletFee},
				{actAnswer, []string{"pass", "yes"}, "100.00 EUR", -1}, {actAnswer, []string{"pass", "no"}, "", -1}, {actLeave, nil, "", -1}, {"", nil, "", -1},
			}
			paid := 0
			tried := roomtest.Orders(presses, 2*len(buttons), func(order []int) int {
				id := b.make(req)
				var tabs [2]roomtest.Tab
				for i := range tabs {
					tabs[i] = roomtest.Tab{Browser: b.Browser, At: PagePrefix + id}
					tabs[i].Look()
				}
				old, taken := [2]bool{}, false
				defer func() {
					b.balanced(id)
					if taken {
						paid++
					}
				}()
				for n, press := range order {
					which, button := press/len(buttons), buttons[press%len(buttons)]
					tab := &tabs[which]
					shown := tab.Body
					fee, masked := button.fee, maskedIn.FindString(shown)
					if fee < 0 {
						if fee = 0; strings.Contains(shown, "Fee: 9.00 EUR") {
							fee = masterFee
						}
					}
					switch {
					case button.act != "" && !tab.Press(button.act, button.fields...), button.act == "" && !old[which]:
						return n
					case button.act == "":
						tab.Look()
						old[which] = false
					default:
						old[which], old[1-which] = false, true
					}
					p, err := b.Read(t.Context(), id)
					require.NoError(t, err)
					if now := p.Summary.CapturedAmount > 0; now == taken {
						continue
					}
					require.False(t, taken, "it was given back: %v", order)
					taken = true
					require.NotEmpty(t, button.says, "%v: %s took money", order, button.act)
					require.Contains(t, shown, button.says, order)
					require.EqualValues(t, 10_000, p.Summary.CapturedAmount, order)
					require.Equal(t, fee, p.Summary.Fee, "%v: another fee than was shown", order)
					if button.act == actAnswer {
						v, err := b.look(t.Context(), id)
						require.NoError(t, err)
						require.Equal(t, masked, v.Masked, "%v: another card than was shown", order)
					}
				}
				return presses
			})
			require.Positive(t, paid)
			t.Logf("%d orders of up to %d presses, %d paid: each what was shown", tried, presses, paid)
		})
	}
}
