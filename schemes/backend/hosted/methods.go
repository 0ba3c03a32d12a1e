package hosted

import (
	"strings"

	"posagent/schemes/hosted"
)

// others are the alternative methods.
func others() []string { return []string{"PAYPAL", "KLARNA", "MYBANK"} }

// circuits are the card schemes, as the real service names them, and as the table of test cards does.
func circuits() [][2]string {
	return [][2]string{{"VISA", "Visa"}, {"MC", "MasterCard"}, {"MAESTRO", "Maestro"}, {"AMEX", "AmericanExpress"}, {"DINERS", "DinersClubInternational"}, {"JCB", "JCB"}}
}

// serviceOf reads paymentService: a card scheme is the card's service. known is false for one that is not there.
func serviceOf(s string) (service string, known bool) {
	s = strings.ToUpper(s)
	if s == "" || s == hosted.CardService {
		return s, true
	}
	for _, c := range circuits() {
		if c[0] == s {
			return hosted.CardService, true
		}
	}
	for _, o := range others() {
		if o == s {
			return s, true
		}
	}
	return "", false
}

// The fields of a card, as the real service names them, and the action that asks for them.
const (
	cardNumber   = "CARD_NUMBER"
	expiryDate   = "EXPIRATION_DATE"
	securityCode = "SECURITY_CODE"
	holderName   = "CARDHOLDER_NAME"
	holderEmail  = "CARDHOLDER_EMAIL"

	payWithCard = "PAY_WITH_CARD"
)

func cardFields() []string {
	return []string{cardNumber, expiryDate, securityCode, holderName, holderEmail}
}
