package tokens

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// Limits of a request, in bytes and days. S0 8 shows none.
const (
	MaxID        = 128  // tokenizationId, orderNumber
	maxText      = 4096 // descriptions, secrets
	maxFrequency = 9999
)

// Languages of the hosted page (S0 2.4.3).
func Languages() []string { return strings.Fields(languages) }

const languages = "EN DK NL ET FI FR DE IT LV LT NO PL PT RU ES SE"

// Validate applies every stateless rule to the body of POST /. The error is wire.Invalid and names every field that is
// wrong, never its content.
func Validate(req CreateRequest) error {
	var c checks
	c.common(req.TokenSecret, req.ReturnURL, req.Description, req.OrderDescription, req.PayPageConfiguration)
	if card := req.CardDetails; card != nil {
		const at = "cardDetails."
		if !card.PAN.Valid() {
			c.add(at+"pan", "want 13 to 19 digits with a good check digit")
		}
		if card.ExpiryYear < 2000 || card.ExpiryYear > 2099 {
			c.add(at+"expiryYear", "want four digits, 2000 to 2099")
		}
		if card.ExpiryMonth < 1 || card.ExpiryMonth > 12 {
			c.add(at+"expiryMonth", "want 1 to 12")
		}
		if s := card.ValidationCode.Reveal(); s != "" && (len(s) < 3 || len(s) > 4 || strings.Trim(s, "0123456789") != "") {
			c.add(at+"validationCode", "want 3 or 4 digits")
		}
	}
	return c.err(opCreate)
}

// ValidateRecurring does the same for POST /recurring. Whether the arrangement is already over is the backend's to say.
func ValidateRecurring(req RecurringRequest) error {
	var c checks
	c.common(req.TokenSecret, req.ReturnURL, req.Description, req.OrderDescription, req.PayPageConfiguration)
	switch req.RecurringType {
	case "", Subscription, CardOnFile:
	default:
		c.add("recurringType", "want Subscription or CardOnFile")
	}
	c.text("orderNumber", req.OrderNumber, MaxID)
	if req.Amount < 0 {
		c.add("amount", "negative")
	}
	if req.Amount > 0 && req.CurrencyCode == "" {
		c.add("currencyCode", "missing beside an amount")
	}
	if req.CurrencyCode != "" && !money.Nameable(req.CurrencyCode) {
		c.add("currencyCode", "want an ISO 4217 code in capitals")
	}
	if d := req.RecurringExpiryDate; d != "" {
		if _, err := time.Parse(DateLayout, d); err != nil || d < "1000" {
			c.add("recurringExpiryDate", "want a date as 2026-11-21")
		}
	}
	if req.RecurringFrequency < 0 || req.RecurringFrequency > maxFrequency {
		c.add("recurringFrequency", "want 0 to "+strconv.Itoa(maxFrequency)+" days")
	}
	return c.err(opRecurring)
}

// CheckID checks a tokenization's id: 1 to MaxID bytes without control characters, not a dot name. The error is
// wire.Invalid.
func CheckID(tokenizationID string) error { return checkID(opToken, tokenizationID) }

func checkID(op, id string) error {
	if !wire.PathWord(id, MaxID) {
		return wire.Errorf(wire.Invalid, op, "tokenizationId: want 1 to %d characters", MaxID)
	}
	return nil
}

type checks struct{ errs []error }

func (c *checks) add(path, why string) {
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: why, Code: wire.Invalid})
}

func (c *checks) err(op string) error {
	if c.errs == nil {
		return nil
	}
	return wire.AsError(op, errors.Join(c.errs...))
}

// text checks a text that ends up on screens and in logs: no control characters and no line breaks of any kind.
func (c *checks) text(path, s string, limit int) {
	if !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029") {
		c.add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}

func (c *checks) common(secret wire.Secret, returnURL, description, order string, page *PayPageConfiguration) {
	c.text("tokenSecret", secret.Reveal(), maxText)
	if returnURL != "" && !wire.ReturnURL(returnURL) {
		c.add("returnUrl", "want an https address, or http to this machine, of at most "+strconv.Itoa(wire.MaxURL)+" bytes")
	}
	c.text("description", description, maxText)
	c.text("orderDescription", order, maxText)
	if page != nil && page.Language != "" && !slices.Contains(Languages(), page.Language) {
		c.add("payPageConfiguration.language", "want one of "+strings.Join(Languages(), ", "))
	}
}
