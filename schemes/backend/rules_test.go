package backend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/onboarding"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Payments and onboarding have one rule for a country and for a webhook, and it is that of delivery.
func TestField_B7ServicesHaveOneRule(t *testing.T) {
	type hook struct{ authorization, header, value string }
	services := map[string]func(country string, h hook) error{
		"payments": func(country string, h hook) error {
			return payments.Validate(payments.CreateRequest{
				Type: payments.ProviderHosted, Amount: 1, CurrencyCode: "EUR",
				Customer: &payments.Customer{Type: payments.Company, Address: &payments.Address{CountryCode: country}},
				Notifications: &payments.Notifications{WebHooks: []payments.WebHook{{
					EventName: "e", URL: "https://a.example/", Authorization: wire.Secret(h.authorization), Headers: []map[string]string{{h.header: h.value}},
				}}},
			})
		},
		"onboarding": func(country string, h hook) error {
			return check.Request("op", onboarding.Application{
				Merchant: &onboarding.Merchant{Address: &onboarding.Address{CountryCode: country}},
				Notifications: &onboarding.Notifications{WebHooks: []onboarding.WebHook{{
					EventName: "e", URL: "https://a.example/", Authorization: wire.Secret(h.authorization), Headers: []map[string]string{{h.header: h.value}},
				}}},
			})
		},
	}
	for name, ask := range services {
		require.NoError(t, ask("SE", hook{"Bearer a", "X-A_b", "1"}), name)
		require.ErrorContains(t, ask("ZZ", hook{"a", "X-A", "1"}), "countryCode", name)
		for _, h := range []hook{{" a ", "X-A", "1"}, {"ä", "X-A", "1"}} {
			require.ErrorContains(t, ask("SE", h), "webHooks[0].authorization", "%s %q", name, h)
		}
		for _, h := range []hook{{"a", "X-A.b", "1"}, {"a", "Host", "1"}, {"a", "X-A", " 1"}} {
			require.ErrorContains(t, ask("SE", h), "webHooks[0].headers", "%s %q", name, h)
		}
	}
}
