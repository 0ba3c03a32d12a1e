package tokenstest

import (
	"math"
	"strings"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Broken lists the requests that every service refuses as Invalid.
func Broken() []wiretest.Case[tokens.CreateRequest] {
	card := func(change func(*tokens.CardDetails)) func(*tokens.CreateRequest) {
		return func(r *tokens.CreateRequest) {
			c := *r.CardDetails
			change(&c)
			r.CardDetails = &c
		}
	}
	pan := func(digits string) func(*tokens.CreateRequest) {
		return card(func(c *tokens.CardDetails) { c.PAN = wire.NewPAN(digits) })
	}
	code := func(s wire.Secret) func(*tokens.CreateRequest) {
		return card(func(c *tokens.CardDetails) { c.ValidationCode = s })
	}
	url := func(s string) func(*tokens.CreateRequest) {
		return func(r *tokens.CreateRequest) { r.ReturnURL = s }
	}
	return []wiretest.Case[tokens.CreateRequest]{
		{"no number", "cardDetails.pan", pan("")},
		{"short number", "cardDetails.pan", pan("411111111111")},
		{"long number", "cardDetails.pan", pan("41111111111111111111")},
		{"check digit", "cardDetails.pan", pan("4111111111111112")},
		{"number with blanks", "cardDetails.pan", pan("4111 1111 1111 1111")},
		{"wide digits", "cardDetails.pan", pan("４１１１１１１１１１１１１１１１")},
		{"year 1999", "cardDetails.expiryYear", card(func(c *tokens.CardDetails) { c.ExpiryYear = 1999 })},
		{"year of two digits", "cardDetails.expiryYear", card(func(c *tokens.CardDetails) { c.ExpiryYear = 30 })},
		{"year of five digits", "cardDetails.expiryYear", card(func(c *tokens.CardDetails) { c.ExpiryYear = 20260 })},
		{"month 0", "cardDetails.expiryMonth", card(func(c *tokens.CardDetails) { c.ExpiryMonth = 0 })},
		{"month 13", "cardDetails.expiryMonth", card(func(c *tokens.CardDetails) { c.ExpiryMonth = 13 })},
		{"month -1", "cardDetails.expiryMonth", card(func(c *tokens.CardDetails) { c.ExpiryMonth = -1 })},
		{"short code", "cardDetails.validationCode", code("12")},
		{"long code", "cardDetails.validationCode", code("12345")},
		{"code of letters", "cardDetails.validationCode", code("12a")},
		{"script as address", "returnUrl", url("javascript:alert(1)")},
		{"part of an address", "returnUrl", url("/back")},
		{"address with a password", "returnUrl", url("https://user:pw@shop.example/")},
		{"address with a zero", "returnUrl", url("https://shop.example/\x00")},
		{"long address", "returnUrl", url("https://shop.example/" + strings.Repeat("x", 2048))},
		{"language", "payPageConfiguration.language", func(r *tokens.CreateRequest) {
			r.PayPageConfiguration = &tokens.PayPageConfiguration{Language: "XX"}
		}},
		{"piece of the language list", "payPageConfiguration.language", func(r *tokens.CreateRequest) {
			r.PayPageConfiguration = &tokens.PayPageConfiguration{Language: "N "}
		}},
		{"line break in a description", "description", func(r *tokens.CreateRequest) { r.Description = "a\r\nlevel=error msg=paid" }},
		{"line separator in a description", "orderDescription", func(r *tokens.CreateRequest) { r.OrderDescription = "a\u2028b" }},
		{"zero in a secret", "tokenSecret", func(r *tokens.CreateRequest) { r.TokenSecret = "a\x00" }},
		{"long description", "description", func(r *tokens.CreateRequest) { r.Description = strings.Repeat("x", 4097) }},
	}
}

// BrokenRecurring lists the recurring requests that every service refuses as Invalid.
func BrokenRecurring() []wiretest.Case[tokens.RecurringRequest] {
	date := func(s string) func(*tokens.RecurringRequest) {
		return func(r *tokens.RecurringRequest) { r.RecurringExpiryDate = s }
	}
	currency := func(s string) func(*tokens.RecurringRequest) {
		return func(r *tokens.RecurringRequest) { r.CurrencyCode = s }
	}
	return []wiretest.Case[tokens.RecurringRequest]{
		{"type", "recurringType", func(r *tokens.RecurringRequest) { r.RecurringType = "Unscheduled" }},
		{"type in small letters", "recurringType", func(r *tokens.RecurringRequest) { r.RecurringType = "subscription" }},
		{"negative amount", "amount", func(r *tokens.RecurringRequest) { r.Amount = math.MinInt32 }},
		{"amount of nothing", "currencyCode", currency("")},
		{"small currency", "currencyCode", currency("eur")},
		{"no currency", "currencyCode", currency("XXX")},
		{"gold", "currencyCode", currency("XAU")},
		{"withdrawn currency", "currencyCode", currency("DEM")},
		{"currency and zero", "currencyCode", currency("EUR\x00")},
		{"30th of February", "recurringExpiryDate", date("2028-02-30")},
		{"year 0", "recurringExpiryDate", date("0000-01-01")},
		{"day first", "recurringExpiryDate", date("31-12-2028")},
		{"date and time", "recurringExpiryDate", date("2028-12-31T00:00:00Z")},
		{"wide digits", "recurringExpiryDate", date("２０２８-12-31")},
		{"negative frequency", "recurringFrequency", func(r *tokens.RecurringRequest) { r.RecurringFrequency = -1 }},
		{"long frequency", "recurringFrequency", func(r *tokens.RecurringRequest) { r.RecurringFrequency = 10_000 }},
		{"line break in an order number", "orderNumber", func(r *tokens.RecurringRequest) { r.OrderNumber = "a\nb" }},
		{"long order number", "orderNumber", func(r *tokens.RecurringRequest) { r.OrderNumber = strings.Repeat("1", 129) }},
		{"script as address", "returnUrl", func(r *tokens.RecurringRequest) { r.ReturnURL = "javascript:alert(1)" }},
		{"language", "payPageConfiguration.language", func(r *tokens.RecurringRequest) {
			r.PayPageConfiguration = &tokens.PayPageConfiguration{Language: "en"}
		}},
		{"zero in a secret", "tokenSecret", func(r *tokens.RecurringRequest) { r.TokenSecret = "\x00" }},
	}
}
