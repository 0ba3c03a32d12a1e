package aapay_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/aapay"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/wire"
)

// Two tabs of one wallet's page, and every order of presses of their buttons: where money is taken it is the amount that the
// pressed page showed, and once. Nothing is taken by declining, and nothing given back.
func TestField2_S9_TwoTabsOfOneWallet(t *testing.T) {
	presses := roomtest.Presses(t, 3, 4)
	never := -time.Second // nobody pays by himself
	w := newWorld(t, "", &never)
	pages := w.Pages(func(r *http.Request) (*http.Request, error) {
		return r, wire.Errorf(wire.Unauthorized, "", "credentials missing or wrong")
	})
	acts := []string{string(aapay.ActPay), string(aapay.ActDecline), ""} // "" = the customer looks at the page again
	paid := 0
	tried := roomtest.Orders(presses, 2*len(acts), func(order []int) int {
		req := w.pay(swish, 1250)
		ref := w.status(req.TerminalReference).NAA2ECR.PPRef
		var tabs [2]roomtest.Tab
		for i := range tabs {
			tabs[i] = roomtest.Tab{Browser: roomtest.Browser{TB: t, Handler: pages, Origin: public}, At: aapay.PagePrefix + ref}
			tabs[i].Look()
		}
		old, first, shown := [2]bool{}, "", ""
		defer func() {
			w.Pass(time.Minute)
			want := 0
			if first == string(aapay.ActPay) {
				require.Contains(t, shown, "12.50 EUR", order)
				paid++
				want = 1250
			}
			require.EqualValues(t, want, w.net(req.TerminalReference), order)
		}()
		for n, press := range order {
			which, act := press/len(acts), acts[press%len(acts)]
			tab := &tabs[which]
			if first == "" && act != "" {
				shown = tab.Body
			}
			switch {
			case act != "" && !tab.Press(act), act == "" && !old[which]:
				return n
			case act == "":
				tab.Look()
				old[which] = false
			default:
				old[which], old[1-which] = false, true
				if first == "" {
					first = act
				}
			}
		}
		return presses
	})
	w.sound()
	require.Positive(t, paid)
	t.Logf("%d orders of up to %d presses, %d paid: each what was shown", tried, presses, paid)
}
