package paylinks

import (
	"net/http"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
)

// card is what is kept of a card that was typed in.
type card struct {
	brand, masked string
	do            scenario.Do
}

// readCard checks a typed card against the test cards. The number and the code end here.
func (s *Links) readCard(r *http.Request, l tongue) (card, []fault) {
	var faults []fault
	wrong := func(name string, label, text word) {
		faults = append(faults, fault{name, l.say(label) + " " + l.say(text)})
	}
	pan := wire.NewPAN(blanks.Replace(r.PostForm.Get("number")))
	c, ok := scenario.CardOf(pan.Reveal())
	if !ok {
		wrong("number", wCardNumber, wBadCard)
	}
	if _, over, ok := pages.Expiry(r.PostForm.Get("expiry")); !ok || !s.Now().Before(over) {
		wrong("expiry", wExpiry, wBad)
	}
	code := r.PostForm.Get("code")
	if len(code) < 3 || len(code) > 4 || strings.Trim(code, "0123456789") != "" {
		wrong("code", wCode, wBad)
	}
	return card{strings.ToLower(c.Brand), pan.Masked(), c.Do}, faults
}

// verdict is what a test card's bank says to a payment by link, "" = the link's own row decides. tried says that the card
// was turned down on this link before. A lapse means that the bank asks the cardholder first.
func verdict(do scenario.Do, tried bool) event {
	switch do {
	case scenario.HardDecline, scenario.NoFunds, scenario.OldCard:
		return evDecline
	case scenario.Challenge:
		return evLapse
	case scenario.ChallengeBad:
		return evLapseBad
	case scenario.ReserveFails:
		return evFail
	case scenario.SoftDecline:
		if !tried {
			return evDecline
		}
	}
	return ""
}
