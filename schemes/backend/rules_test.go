package backend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Payments and onboarding have one rule for a country and for a webhook, and it is that of delivery.
func TestField_B7ServicesHaveOneRule(t *testing.T) {
	type hook struct{ authorization, header, value string }
	services := map[string]func(country string, h hook) error{
		"payments": func(country string, h hook) error {
			return check.Request("op", payments.CreateRequest{
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

// Payments, tokens, onboarding, hosted build, payment links and disputes say the same of the same value.
func TestField_B7ServicesSayTheSame(t *testing.T) {
	pay := func(change func(*payments.CreateRequest)) error {
		r := payments.CreateRequest{Type: payments.ProviderHosted, Amount: 1, CurrencyCode: "EUR"}
		change(&r)
		return check.Request("", r)
	}
	moto := func(card payments.CardDetails) error {
		return check.Request("", payments.CreateRequest{Type: payments.Moto, Amount: 1, CurrencyCode: "EUR", CardDetails: &card})
	}
	token := func(r tokens.CreateRequest) error { return check.Request("", r) }
	recurring := func(r tokens.RecurringRequest) error { return check.Request("", r) }
	merchant := func(m onboarding.Merchant) error { return check.Request("", onboarding.Application{Merchant: &m}) }
	build := func(change func(*hosted.BuildRequest)) error {
		r := hosted.BuildRequest{
			MerchantURL: "https://a.example", Order: hosted.Order{OrderID: "1", Amount: "1", Currency: "EUR"},
			PaymentSession: hosted.Session{ActionType: hosted.Pay, Amount: "1"},
		}
		change(&r)
		return check.Request("", r)
	}
	dispute := func(r disputes.CreateRequest) error {
		r.OperatorTransactionID, r.OperatorFraudReasonCode = "p", "F1"
		return check.Request("", r)
	}
	link := func(change func(*paylinks.CreateRequest)) error {
		r := paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 100, Currency: "EUR"}
		change(&r)
		return check.Request("", r)
	}
	hooked := func(hooks ...map[string]string) []error {
		return []error{
			pay(func(r *payments.CreateRequest) {
				r.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: "e", URL: "https://a.example/", Headers: hooks}}}
			}),
			check.Request("", onboarding.Application{Notifications: &onboarding.Notifications{WebHooks: []onboarding.WebHook{{EventName: "e", URL: "https://a.example/", Headers: hooks}}}}),
		}
	}
	const visa = "4111111111111111"
	card := func(pan string, year, month int32, code wire.Secret) []error {
		return []error{
			moto(payments.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: year, ExpiryMonth: month, ValidationCode: code}),
			token(tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: year, ExpiryMonth: month, ValidationCode: code}}),
		}
	}
	back := func(url string) []error {
		return []error{
			pay(func(r *payments.CreateRequest) { r.RedirectURLs = &payments.RedirectURLs{ReturnURL: url} }),
			token(tokens.CreateRequest{ReturnURL: url}), recurring(tokens.RecurringRequest{ReturnURL: url}),
			build(func(r *hosted.BuildRequest) { r.PaymentSession.ResultURL = url }),
			link(func(r *paylinks.CreateRequest) { r.SuccessRedirectURL = url }), link(func(r *paylinks.CreateRequest) { r.FailedRedirectURL = url }),
		}
	}
	currency := func(code string) []error {
		return []error{pay(func(r *payments.CreateRequest) { r.CurrencyCode = code }), recurring(tokens.RecurringRequest{Amount: 1, CurrencyCode: code}), check.Request("", hosted.PostRequest{Currency: code}), dispute(disputes.CreateRequest{DisputeCurrency: code}), link(func(r *paylinks.CreateRequest) { r.Currency = code })}
	}
	language := func(code string) []error {
		return []error{
			pay(func(r *payments.CreateRequest) {
				r.PayPageConfiguration = &payments.PayPageConfiguration{Language: code}
			}),
			token(tokens.CreateRequest{PayPageConfiguration: &tokens.PayPageConfiguration{Language: code}}),
		}
	}
	text := func(s string) []error {
		return []error{pay(func(r *payments.CreateRequest) { r.Description = s }), token(tokens.CreateRequest{Description: s}), merchant(onboarding.Merchant{CompanyName: s}), build(func(r *hosted.BuildRequest) { r.Order.Description = s }), dispute(disputes.CreateRequest{Notes: s}), link(func(r *paylinks.CreateRequest) { r.Title = s })}
	}
	email := func(s string) []error {
		return []error{
			pay(func(r *payments.CreateRequest) { r.Customer = &payments.Customer{Type: payments.Individual, Email: s} }), merchant(onboarding.Merchant{Email: s}),
			check.Request("", hosted.CustomerInfo{CardHolderEmail: s}), check.Request("", hosted.CustomerInfo{MerchantRiskIndicator: &hosted.Risk{DeliveryEmail: s}}),
		}
	}
	date := func(s string) []error {
		return []error{
			pay(func(r *payments.CreateRequest) {
				r.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.InitialToken, ExpiryDate: s}
			}),
			recurring(tokens.RecurringRequest{RecurringExpiryDate: s}),
		}
	}
	many := make([]map[string]string, 17)
	for _, c := range []struct {
		said []error
		want string // "" = the value is good
	}{
		{card(visa, 2030, 12, "123"), ""}, {card("4111111111111112", 2030, 12, ""), "cardDetails.pan: want 13 to 19 digits with a good check digit"},
		{card(visa, 30, 12, ""), "cardDetails.expiryYear: want four digits, 2000 to 2099"}, {card(visa, 2030, 13, ""), "cardDetails.expiryMonth: want 1 to 12"},
		{card(visa, 2030, 12, "12"), "cardDetails.validationCode: want 3 or 4 digits"},
		{back("https://a.example/back"), ""}, {back("http://127.0.0.1:80/"), ""}, {back("http://a.example/"), "Url: want an https address, or http to this machine, of at most 2048 bytes"},
		{currency("SEK"), ""}, {currency("sek"), ": want an ISO 4217 code in capitals"}, {currency("XAU"), ": want an ISO 4217 code in capitals"}, {currency("DEM"), ": want an ISO 4217 code in capitals"},
		{language("SE"), ""}, {language("se"), "payPageConfiguration.language: want one of EN, DK, NL, ET, FI, FR, DE, IT, LV, LT, NO, PL, PT, RU, ES, SE"},
		{text("Å <b>"), ""}, {text("a\nb"), "bytes, or control characters"}, {text("a\u2028b"), "bytes, or control characters"},
		{email("a@b.example"), ""}, {email("a b@c.example"), "mail: want an e-mail address"}, {email("a@b.example,c@d.example"), "mail: want an e-mail address"},
		{date("2030-02-28"), ""}, {date("2030-02-29"), "xpiryDate: want a date as 2026-11-21"}, {date("0000-01-01"), "xpiryDate: want a date as 2026-11-21"},
		{hooked(many[:16]...), ""}, {hooked(many...), "webHooks[0].headers: more than 16 entries"},
	} {
		for i, err := range c.said {
			if c.want == "" {
				require.NoError(t, err, i)
				continue
			}
			require.ErrorContains(t, err, c.want, i)
			require.NotContains(t, err.Error(), "; ", "one value breaks one rule")
		}
	}
}
