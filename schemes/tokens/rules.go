package tokens

import (
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request, in bytes and days. S0 8 shows none.
const (
	MaxID        = 128  // tokenizationId, orderNumber
	maxText      = 4096 // descriptions, secrets
	maxFrequency = 9999
)

// Check implements check.Checked.
func (r CreateRequest) Check(l *check.List) {
	terms(l, r.TokenSecret, r.ReturnURL, r.Description, r.OrderDescription, r.PayPageConfiguration)
	if c := r.CardDetails; c != nil {
		l.Card("cardDetails", c.PAN, c.ExpiryYear, c.ExpiryMonth, c.ValidationCode)
	}
}

// Check implements check.Checked. Whether the arrangement is already over is the backend's to say.
func (r RecurringRequest) Check(l *check.List) {
	terms(l, r.TokenSecret, r.ReturnURL, r.Description, r.OrderDescription, r.PayPageConfiguration)
	switch r.RecurringType {
	case "", Subscription, CardOnFile:
	default:
		l.Add("recurringType", "want Subscription or CardOnFile")
	}
	l.Text("orderNumber", r.OrderNumber, MaxID)
	if r.Amount < 0 {
		l.Add("amount", "negative")
	}
	if r.Amount > 0 && r.CurrencyCode == "" {
		l.Add("currencyCode", "missing beside an amount")
	}
	if r.CurrencyCode != "" {
		l.Currency("currencyCode", r.CurrencyCode)
	}
	l.Date("recurringExpiryDate", r.RecurringExpiryDate)
	if r.RecurringFrequency < 0 || r.RecurringFrequency > maxFrequency {
		l.Add("recurringFrequency", "want 0 to "+strconv.Itoa(maxFrequency)+" days")
	}
}

// terms checks what both requests have.
func terms(l *check.List, secret wire.Secret, returnURL, description, order string, page *PayPageConfiguration) {
	l.Text("tokenSecret", secret.Reveal(), maxText)
	l.ReturnURL("returnUrl", returnURL)
	l.Text("description", description, maxText)
	l.Text("orderDescription", order, maxText)
	if page != nil {
		l.PageLanguage("payPageConfiguration.language", page.Language)
	}
}

// CheckID checks a tokenization's id: 1 to MaxID bytes without control characters, not a dot name. The error is wire.Invalid.
func CheckID(tokenizationID string) error {
	var l check.List
	l.Word("tokenizationId", tokenizationID, MaxID)
	return l.Err(token.Op)
}

// Flaw says what a reply must not be: one that names no tokenization.
func (c Created) Flaw() string {
	if !wire.PathWord(c.TokenizationID, MaxID) {
		return "reply names no tokenization"
	}
	return ""
}

// Flaw says what a reply must not be: one without the token.
func (r TokenReply) Flaw() string {
	if r.Token == "" {
		return "reply has no token"
	}
	return ""
}

// same returns whether a reply is about the tokenization asked for. A store-and-forward service answers one of its own ids
// ("L" and a Key) with the backend's once it knows it, and the other way round.
func same(asked, named string) bool {
	return strings.EqualFold(asked, named) || wire.Local(asked) || wire.Local(named)
}
