package checkout

import (
	"strings"
	"unicode"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// What is kept of the backend's words to the register (naa2Ecr, S1 2.4), in characters.
const (
	maxInfo    = 120
	maxPayer   = 40
	maxLoyalty = 32 // of one id
	maxCards   = 4  // loyalty ids
	payerLast  = 4  // characters of who paid that stay
)

// hear keeps what the backend says of a payment for its customer: who paid (masked), a message, and loyalty ids. What was said once is
// kept where a later answer does not say it. payer is the status's own, "" = none.
func (s *State) hear(n *aapay.NAA2ECR, payer string) {
	if n == nil {
		n = &aapay.NAA2ECR{}
	}
	if payer == "" {
		payer = n.PayerID
	}
	if p := maskPayer(plain(payer, maxPayer)); p != "" {
		s.Payer = p
	}
	if text := plain(n.AdditionalInfo, maxInfo); text != "" {
		s.Info = text
	}
	var ids []string
	for _, id := range n.LoyaltyIDs {
		if id = plain(id, maxLoyalty); id != "" && len(ids) < maxCards {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		s.Loyalty = ids
	}
}

// plain is a text of the backend as a receipt can carry it: one line, bounded, without a card number.
func plain(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	runes := []rune(wire.MaskPANs(text))
	return strings.TrimSpace(string(runes[:min(len(runes), most)]))
}

// maskPayer leaves the last characters of who paid, of a short name a quarter of it.
func maskPayer(id string) string {
	runes := []rune(id)
	for i := range len(runes) - min(payerLast, len(runes)/4) {
		runes[i] = '*'
	}
	return string(runes)
}
