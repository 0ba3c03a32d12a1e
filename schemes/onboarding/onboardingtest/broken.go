package onboardingtest

import (
	"strings"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire/wiretest"
)

// Broken lists the applications that every service refuses as Invalid.
func Broken() []wiretest.Case[onboarding.Application] {
	merchant := func(change func(*onboarding.Merchant)) func(*onboarding.Application) {
		return func(a *onboarding.Application) { change(a.Merchant) }
	}
	address := func(change func(*onboarding.Address)) func(*onboarding.Application) {
		return func(a *onboarding.Application) { change(a.Merchant.Address) }
	}
	hook := func(change func(*onboarding.WebHook)) func(*onboarding.Application) {
		return func(a *onboarding.Application) { change(&a.Notifications.WebHooks[0]) }
	}
	country := func(s string) func(*onboarding.Application) {
		return address(func(a *onboarding.Address) { a.CountryCode = s })
	}
	email := func(s string) func(*onboarding.Application) {
		return merchant(func(m *onboarding.Merchant) { m.Email = s })
	}
	url := func(s string) func(*onboarding.Application) {
		return hook(func(h *onboarding.WebHook) { h.URL = s })
	}
	return []wiretest.Case[onboarding.Application]{
		{"line break in a reference", "reference", func(a *onboarding.Application) { a.Reference = "a\r\nlevel=error" }},
		{"long reference", "reference", func(a *onboarding.Application) { a.Reference = strings.Repeat("r", 129) }},
		{"zero in a name", "merchant.companyName", merchant(func(m *onboarding.Merchant) { m.CompanyName = "a\x00" })},
		{"long name", "merchant.companyName", merchant(func(m *onboarding.Merchant) { m.CompanyName = strings.Repeat("n", 256) })},
		{"line separator in a name", "merchant.contactLastName", merchant(func(m *onboarding.Merchant) { m.ContactLastName = "a\u2028" })},
		{"control character in a first name", "merchant.contactFirstName", merchant(func(m *onboarding.Merchant) { m.ContactFirstName = "\x1b[31m" })},
		{"line break in a number", "merchant.registrationNumber", merchant(func(m *onboarding.Merchant) { m.RegistrationNumber = "1\n" })},
		{"line break in a telephone number", "merchant.phone", merchant(func(m *onboarding.Merchant) { m.Phone = "1\n" })},
		{"no e-mail address", "merchant.email", email("nobody")},
		{"two e-mail addresses", "merchant.email", email("a@b.example, c@d.example")},
		{"zero in a street", "merchant.address.address1", address(func(a *onboarding.Address) { a.Address1 = "\x00" })},
		{"zero in a second line", "merchant.address.address2", address(func(a *onboarding.Address) { a.Address2 = "\x00" })},
		{"zero in a city", "merchant.address.city", address(func(a *onboarding.Address) { a.City = "\x00" })},
		{"zero in a code", "merchant.address.postalCode", address(func(a *onboarding.Address) { a.PostalCode = "\x00" })},
		{"small country", "merchant.address.countryCode", country("se")},
		{"long country", "merchant.address.countryCode", country("SWE")},
		{"country of digits", "merchant.address.countryCode", country("75")},
		{"no event", "notifications.webHooks[0].eventName", hook(func(h *onboarding.WebHook) { h.EventName = "" })},
		{"event with a line break", "notifications.webHooks[0].eventName", hook(func(h *onboarding.WebHook) { h.EventName = "a\n" })},
		{"no address", "notifications.webHooks[0].url", url("")},
		{"file", "notifications.webHooks[0].url", url("file:///etc/passwd")},
		{"gopher", "notifications.webHooks[0].url", url("gopher://receiver.example/")},
		{"address with a password", "notifications.webHooks[0].url", url("https://user:pw@receiver.example/")},
		{"address without a host", "notifications.webHooks[0].url", url("https://")},
		{"address with a zero", "notifications.webHooks[0].url", url("https://localhost\x00.example")},
		{"line break in an authorization", "notifications.webHooks[0].authorization", hook(func(h *onboarding.WebHook) { h.Authorization = "a\r\nX: y" })},
		{"line break in a header", "notifications.webHooks[0].headers", hook(func(h *onboarding.WebHook) { h.Headers = []map[string]string{{"X-A": "a\r\nb"}} })},
		{"header without a name", "notifications.webHooks[0].headers", hook(func(h *onboarding.WebHook) { h.Headers = []map[string]string{{"": "a"}} })},
		{"many headers", "notifications.webHooks[0].headers", hook(func(h *onboarding.WebHook) { h.Headers = make([]map[string]string, 65) })},
		{"many webhooks", "notifications.webHooks", func(a *onboarding.Application) {
			a.Notifications.WebHooks = make([]onboarding.WebHook, 65)
		}},
	}
}
