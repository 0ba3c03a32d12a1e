package paylinkstest

import (
	"strings"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire/wiretest"
)

// Broken lists the requests that every service refuses as Invalid.
func Broken() []wiretest.Case[paylinks.CreateRequest] {
	type request = paylinks.CreateRequest
	return []wiretest.Case[paylinks.CreateRequest]{
		{"no amount", "amount", func(r *request) { r.Amount = 0 }},
		{"negative amount", "amount", func(r *request) { r.Amount = -1 }},
		{"amount above int32", "amount", func(r *request) { r.Amount = 1 << 31 }},
		{"part of a yen", "amount", func(r *request) { r.Currency, r.Amount = "JPY", 1250 }},
		{"small currency", "currency", func(r *request) { r.Currency = "eur" }},
		{"no currency", "currency", func(r *request) { r.Currency = "" }},
		{"currency and zero", "currency", func(r *request) { r.Currency = "EUR\x00" }},
		{"special currency", "currency", func(r *request) { r.Currency = "XXX" }},
		{"withdrawn currency", "currency", func(r *request) { r.Currency = "DEM" }},
		{"long title", "title", func(r *request) { r.Title = strings.Repeat("t", 256) }},
		{"line break in a title", "title", func(r *request) { r.Title = "a\r\nlevel=error" }},
		{"zero byte in a description", "description", func(r *request) { r.Description = "a\x00" }},
		{"long description", "description", func(r *request) { r.Description = strings.Repeat("d", 4097) }},
		{"long reference", "referenceId", func(r *request) { r.ReferenceID = strings.Repeat("r", 256) }},
		{"escape in a purpose", "purpose", func(r *request) { r.Purpose = "\x1b]8;;" }},
		{"vat above 100", "vatRate", func(r *request) { r.VatRate = "100.1" }},
		{"vat nan", "vatRate", func(r *request) { r.VatRate = "NaN" }},
		{"vat exponent", "vatRate", func(r *request) { r.VatRate = "1e1" }},
		{"negative vat", "vatRate", func(r *request) { r.VatRate = "-1" }},
		{"provider zero", "psp", func(r *request) { r.PSP = []int64{0} }},
		{"many providers", "psp", func(r *request) { r.PSP = make([]int64, 101) }},
		{"many methods", "pm", func(r *request) { r.PM = make([]string, 101) }},
		{"control character in a method", "pm", func(r *request) { r.PM = []string{"twint\n"} }},
		{"unknown field", "fields", func(r *request) { r.Fields = map[string]paylinks.Contact{"shoe_size": {}} }},
		{"name of a field that has none", "fields[email][names]", func(r *request) { r.Fields = map[string]paylinks.Contact{"email": {Names: &paylinks.Names{De: "E"}}} }},
		{"long default", "fields[email][defaultValue]", func(r *request) {
			r.Fields = map[string]paylinks.Contact{"email": {DefaultValue: strings.Repeat("e", 4097)}}
		}},
		{"february 30", "expirationDate", func(r *request) { r.ExpirationDate = "2027-02-30" }},
		{"year zero", "expirationDate", func(r *request) { r.ExpirationDate = "0000-01-01" }},
		{"time of day", "expirationDate", func(r *request) { r.ExpirationDate = "2027-01-01T00:00:00Z" }},
		{"redirect to a script", "successRedirectUrl", func(r *request) { r.SuccessRedirectURL = "javascript:alert(1)" }},
		{"redirect with a password", "failedRedirectUrl", func(r *request) { r.FailedRedirectURL = "https://u:p@shop.example/" }},
		{"redirect to nowhere", "failedRedirectUrl", func(r *request) { r.FailedRedirectURL = "https:///x" }},
		{"held in two ways", "reservation", func(r *request) { r.PreAuthorization, r.Reservation = true, true }},
		{"subscription that is held", "subscriptionState", func(r *request) { r.SubscriptionState, r.SubscriptionInterval, r.Reservation = true, "P1M", true }},
		{"subscription without interval", "subscriptionInterval", func(r *request) { r.SubscriptionState = true }},
		{"interval of hours", "subscriptionInterval", func(r *request) { r.SubscriptionState, r.SubscriptionInterval = true, "PT1H" }},
		{"interval of nothing", "subscriptionInterval", func(r *request) { r.SubscriptionState, r.SubscriptionInterval = true, "P0M" }},
		{"period of a word", "subscriptionPeriod", func(r *request) {
			r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod = true, "P1M", "1 year"
		}},
		{"cancellation of a word", "subscriptionCancellationInterval", func(r *request) {
			r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionCancellationInterval = true, "P1M", "M"
		}},
		{"long interval", "subscriptionInterval", func(r *request) { r.SubscriptionInterval = "P1M1M1M1M1M" }},
		{"negative minimum", "subscriptionPeriodMinAmount", func(r *request) { r.SubscriptionPeriodMinAmount = -1 }},
		{"attachment without content", "attachments", func(r *request) { r.Attachments = []paylinks.Attachment{{Name: "a"}} }},
		{"line break in a button", "buttonText", func(r *request) { r.ButtonText = "pay\nnow" }},
		{"long order id", "providerOrderId", func(r *request) { r.ProviderOrderID = strings.Repeat("o", 256) }},
	}
}
