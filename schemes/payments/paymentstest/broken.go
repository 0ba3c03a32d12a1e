package paymentstest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

const visa = "4111111111111111"

// Case is one way to spoil a good create body.
type Case struct {
	Name  string
	Type  string // of the good one
	Names string // what the error must name
	Break func(*payments.CreateRequest)
}

// Secrets are what no answer may repeat; Broken's bodies carry them.
func Secrets() []string {
	return []string{"tok-7f3a", "ts-91bc", "DE89370400440532013000", "hook-5d20"}
}

func percent(s string) *json.Number { n := json.Number(s); return &n }

// Broken lists the create bodies that every service refuses as Invalid.
func Broken() []Case {
	type req = payments.CreateRequest
	token := func(typ string, change func(*payments.PaymentMethodDetails)) func(*req) {
		return func(r *req) {
			r.CardDetails, r.PaymentMethodDetails = nil, &payments.PaymentMethodDetails{Type: typ}
			switch typ {
			case payments.WithToken, payments.MerchantInitiated:
				r.PaymentMethodDetails.Token, r.PaymentMethodDetails.TokenSecret = "tok-7f3a", "ts-91bc"
			case payments.SepaA, payments.SepaC:
				r.PaymentMethodDetails.IBAN = "DE89370400440532013000"
			}
			change(r.PaymentMethodDetails)
		}
	}
	card := func(change func(*payments.CardDetails)) func(*req) {
		return func(r *req) {
			c := *r.CardDetails
			change(&c)
			r.CardDetails = &c
		}
	}
	customer := func(c payments.Customer) func(*req) { return func(r *req) { r.Customer = &c } }
	basket := func(change func(*payments.BasketItem)) func(*req) {
		return func(r *req) {
			item := payments.BasketItem{Quantity: 1, UnitPrice: r.Amount, VatPercentage: percent("25")}
			change(&item)
			r.Basket = []payments.BasketItem{item}
		}
	}
	page := func(c payments.PayPageConfiguration) func(*req) { return func(r *req) { r.PayPageConfiguration = &c } }
	action := func(a payments.MethodAction) func(*req) {
		return page(payments.PayPageConfiguration{PaymentMethodActionInfoList: []payments.MethodAction{{}, a}})
	}
	hook := func(change func(*payments.WebHook)) func(*req) {
		return func(r *req) {
			h := payments.WebHook{EventName: "payment.created", URL: "https://shop.example/hook", Authorization: "hook-5d20"}
			change(&h)
			r.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{h}}
		}
	}
	return append([]Case{
		{"no type", payments.ProviderHosted, "type", func(r *req) { r.Type = "" }},
		{"unknown type", payments.ProviderHosted, "type", func(r *req) { r.Type = "Terminal" }},
		{"type in small letters", payments.Moto, "type", func(r *req) { r.Type = "moto" }},
		{"another operator's type", payments.ProviderHosted, "type", func(r *req) { r.Type = "AcmeHostedEcom" }},
		{"negative amount", payments.ProviderHosted, "amount", func(r *req) { r.Amount = -1 }},
		{"smallest amount", payments.Moto, "amount", func(r *req) { r.Amount = math.MinInt32 }},
		{"amount of zero", payments.ProviderHosted, "amount", func(r *req) { r.Amount = 0 }},
		{"sale of zero", payments.Moto, "amount", func(r *req) { r.Amount, r.Processing = 0, payments.ProcessSale }},
		{"no currency", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "" }},
		{"small currency", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "eur" }},
		{"currency and zero", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "EUR\x00" }},
		{"euro sign", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "€" }},
		{"no currency at all", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "XXX" }},
		{"gold", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "XAU" }},
		{"withdrawn currency", payments.ProviderHosted, "currencyCode", func(r *req) { r.CurrencyCode = "DEM" }},
		{"unknown processing", payments.ProviderHosted, "processing", func(r *req) { r.Processing = "sale" }},
		{"unknown exemption", payments.ProviderHosted, "scaExemption", func(r *req) { r.ScaExemption = "Force3DS" }},
		{"exemption in moto", payments.Moto, "scaExemption", func(r *req) { r.ScaExemption = payments.ScaLowValue }},
		{"redirect in moto", payments.Moto, "redirectUrls", func(r *req) { r.RedirectURLs = &payments.RedirectURLs{} }},
		{"page in moto", payments.Moto, "payPageConfiguration", page(payments.PayPageConfiguration{})},
		{"card in hosted", payments.ProviderHosted, "cardDetails", func(r *req) {
			r.CardDetails = &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 1}
		}},
		{"no card in moto", payments.Moto, "cardDetails", func(r *req) { r.CardDetails = nil }},
		{"card beside a token", payments.Moto, "cardDetails", func(r *req) {
			r.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.WithToken, Token: "tok-7f3a"}
		}},
		{"bank page in moto", payments.Moto, "paymentMethodDetails.type", token(payments.Sofort, func(*payments.PaymentMethodDetails) {})},
		{"short pan", payments.Moto, "cardDetails.pan", card(func(c *payments.CardDetails) { c.PAN = wire.NewPAN("424242424242") })},
		{"long pan", payments.Moto, "cardDetails.pan", card(func(c *payments.CardDetails) { c.PAN = wire.NewPAN("42424242424242424242") })},
		{"no pan", payments.Moto, "cardDetails.pan", card(func(c *payments.CardDetails) { c.PAN = wire.PAN{} })},
		{"bad check digit", payments.Moto, "cardDetails.pan", card(func(c *payments.CardDetails) { c.PAN = wire.NewPAN("4111111111111112") })},
		{"pan with spaces", payments.Moto, "cardDetails.pan", card(func(c *payments.CardDetails) { c.PAN = wire.NewPAN("4111 1111 1111 1111") })},
		{"month 0", payments.Moto, "cardDetails.expiryMonth", card(func(c *payments.CardDetails) { c.ExpiryMonth = 0 })},
		{"month 13", payments.Moto, "cardDetails.expiryMonth", card(func(c *payments.CardDetails) { c.ExpiryMonth = 13 })},
		{"year 1999", payments.Moto, "cardDetails.expiryYear", card(func(c *payments.CardDetails) { c.ExpiryYear = 1999 })},
		{"year of two digits", payments.Moto, "cardDetails.expiryYear", card(func(c *payments.CardDetails) { c.ExpiryYear = 26 })},
		{"year 20260", payments.Moto, "cardDetails.expiryYear", card(func(c *payments.CardDetails) { c.ExpiryYear = 20260 })},
		{"short code", payments.Moto, "cardDetails.validationCode", card(func(c *payments.CardDetails) { c.ValidationCode = "12" })},
		{"long code", payments.Moto, "cardDetails.validationCode", card(func(c *payments.CardDetails) { c.ValidationCode = "12345" })},
		{"letters in a code", payments.Moto, "cardDetails.validationCode", card(func(c *payments.CardDetails) { c.ValidationCode = "12a" })},
		{"unknown details", payments.ProviderHosted, "paymentMethodDetails.type", token("Cash", func(*payments.PaymentMethodDetails) {})},
		{"no token", payments.ProviderHosted, "paymentMethodDetails.token", token(payments.WithToken, func(d *payments.PaymentMethodDetails) { d.Token = "" })},
		{"no token of the merchant's", payments.Moto, "paymentMethodDetails.token", token(payments.MerchantInitiated, func(d *payments.PaymentMethodDetails) { d.Token = "" })},
		{"unknown recurrence", payments.ProviderHosted, "recurringType", token(payments.WithToken, func(d *payments.PaymentMethodDetails) { d.RecurringType = "Weekly" })},
		{"unknown initiation", payments.Moto, "merchantInitiatedTransactionType", token(payments.MerchantInitiated, func(d *payments.PaymentMethodDetails) { d.MerchantInitiatedTransactionType = "Show" })},
		{"recurrence of the merchant's", payments.Moto, "isRecurring", token(payments.MerchantInitiated, func(d *payments.PaymentMethodDetails) { d.IsRecurring = true })},
		{"initiation of the customer's", payments.ProviderHosted, "merchantInitiatedTransactionType", token(payments.WithToken, func(d *payments.PaymentMethodDetails) { d.MerchantInitiatedTransactionType = "NoShow" })},
		{"token in sepa", payments.ProviderHosted, "paymentMethodDetails.token", token(payments.SepaA, func(d *payments.PaymentMethodDetails) { d.Token = "tok-7f3a" })},
		{"mandate in type a", payments.ProviderHosted, "mandateUrl", token(payments.SepaA, func(d *payments.PaymentMethodDetails) { d.MandateURL = "https://a.example" })},
		{"mandate of a script", payments.ProviderHosted, "mandateUrl", token(payments.SepaC, func(d *payments.PaymentMethodDetails) { d.MandateURL = "javascript:1" })},
		{"no iban", payments.ProviderHosted, "paymentMethodDetails.iban", token(payments.SepaA, func(d *payments.PaymentMethodDetails) { d.IBAN = "" })},
		{"iban that does not check", payments.ProviderHosted, "paymentMethodDetails.iban", token(payments.SepaC, func(d *payments.PaymentMethodDetails) { d.IBAN = "DE89370400440532013001" })},
		{"mail without a host", payments.ProviderHosted, "customerEmail", token(payments.SepaA, func(d *payments.PaymentMethodDetails) { d.CustomerEmail = "ann@" })},
		{"no such day", payments.ProviderHosted, "expiryDate", token(payments.InitialToken, func(d *payments.PaymentMethodDetails) { d.ExpiryDate = "2026-02-30" })},
		{"year 0", payments.ProviderHosted, "expiryDate", token(payments.InitialToken, func(d *payments.PaymentMethodDetails) { d.ExpiryDate = "0000-00-00" })},
		{"date and time", payments.ProviderHosted, "expiryDate", token(payments.InitialToken, func(d *payments.PaymentMethodDetails) { d.ExpiryDate = "2026-11-21T24:00:00" })},
		{"negative interval", payments.ProviderHosted, "intervalDays", token(payments.InitialToken, func(d *payments.PaymentMethodDetails) { d.IntervalDays = -1 })},
		{"field of no variant's", payments.ProviderHosted, "intervalDays", token(payments.Sofort, func(d *payments.PaymentMethodDetails) { d.IntervalDays = 1 })},
		{"unknown customer", payments.ProviderHosted, "customer.type", customer(payments.Customer{Type: "company"})},
		{"company with a first name", payments.ProviderHosted, "customer.firstName", customer(payments.Customer{Type: payments.Company, FirstName: "Ann"})},
		{"person with a company name", payments.Moto, "customer.companyName", customer(payments.Customer{Type: payments.Individual, CompanyName: "Ann & Co"})},
		{"country", payments.ProviderHosted, "customer.address.countryCode", customer(payments.Customer{Type: payments.Company, Address: &payments.Address{CountryCode: "UK"}})},
		{"small country", payments.ProviderHosted, "customer.address.countryCode", customer(payments.Customer{Type: payments.Company, Address: &payments.Address{CountryCode: "se"}})},
		{"mail", payments.ProviderHosted, "customer.email", customer(payments.Customer{Type: payments.Company, Email: "ann"})},
		{"zero byte in a name", payments.ProviderHosted, "customer.lastName", customer(payments.Customer{Type: payments.Individual, LastName: "a\x00b"})},
		{"long city", payments.ProviderHosted, "customer.address.city", customer(payments.Customer{Type: payments.Individual, Address: &payments.Address{City: strings.Repeat("x", 256)}})},
		{"quantity 0", payments.ProviderHosted, "basket[0].quantity", basket(func(i *payments.BasketItem) { i.Quantity = 0 })},
		{"quantity -1", payments.ProviderHosted, "basket[0].quantity", basket(func(i *payments.BasketItem) { i.Quantity, i.UnitPrice = -1, -i.UnitPrice })},
		{"basket of something else", payments.ProviderHosted, "basket", basket(func(i *payments.BasketItem) { i.UnitPrice++ })},
		{"basket that would wrap", payments.ProviderHosted, "basket", basket(func(i *payments.BasketItem) { i.Quantity, i.UnitPrice = math.MaxInt32, math.MaxInt32 })},
		{"vat above 100", payments.ProviderHosted, "basket[0].vatPercentage", basket(func(i *payments.BasketItem) { i.VatPercentage = percent("100.01") })},
		{"negative vat", payments.ProviderHosted, "basket[0].vatPercentage", basket(func(i *payments.BasketItem) { i.VatPercentage = percent("-1") })},
		{"huge discount", payments.ProviderHosted, "basket[0].discountPercentage", basket(func(i *payments.BasketItem) { i.DiscountPercentage = percent("1e400") })},
		{"discount and price", payments.ProviderHosted, "basket", basket(func(i *payments.BasketItem) { i.UnitPrice, i.DiscountPercentage = i.UnitPrice+2, percent("50") })},
		{"many items", payments.ProviderHosted, "basket", func(r *req) { r.Basket = make([]payments.BasketItem, 1001) }},
		{"zero byte in a title", payments.ProviderHosted, "basket[0].title", basket(func(i *payments.BasketItem) { i.Title = "\x00" })},
		{"return to a script", payments.ProviderHosted, "redirectUrls.returnUrl", func(r *req) { r.RedirectURLs = &payments.RedirectURLs{ReturnURL: "javascript:alert(1)"} }},
		{"return to nowhere", payments.ProviderHosted, "redirectUrls.returnUrl", func(r *req) { r.RedirectURLs = &payments.RedirectURLs{ReturnURL: "/back"} }},
		{"return with a password", payments.ProviderHosted, "redirectUrls.returnUrl", func(r *req) { r.RedirectURLs = &payments.RedirectURLs{ReturnURL: "https://user:pw@shop.example"} }},
		{"language", payments.ProviderHosted, "payPageConfiguration.language", page(payments.PayPageConfiguration{Language: "SV"})},
		{"page type", payments.ProviderHosted, "payPageConfiguration.pageType", page(payments.PayPageConfiguration{PageType: "Popup"})},
		{"template", payments.ProviderHosted, "payPageConfiguration.templateName", page(payments.PayPageConfiguration{TemplateName: "a\nb"})},
		{"method of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].paymentMethod", action(payments.MethodAction{PaymentMethod: "visa"})},
		{"fee of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].fee", action(payments.MethodAction{Fee: -1})},
		{"card type of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].cardType", action(payments.MethodAction{CardType: "Prepaid"})},
		{"card origin of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].cardOrigin", action(payments.MethodAction{CardOrigin: "Eu"})},
		{"product of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].cardProductType", action(payments.MethodAction{CardProductType: "Debit"})},
		{"bin of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].bin", action(payments.MethodAction{Bin: 100_000_000})},
		{"action of the page", payments.ProviderHosted, "paymentMethodActionInfoList[1].action", action(payments.MethodAction{Action: "Deny"})},
		{"hook without an event", payments.ProviderHosted, "webHooks[0].eventName", hook(func(h *payments.WebHook) { h.EventName = "" })},
		{"hook without an address", payments.ProviderHosted, "webHooks[0].url", hook(func(h *payments.WebHook) { h.URL = "" })},
		{"hook to a file", payments.ProviderHosted, "webHooks[0].url", hook(func(h *payments.WebHook) { h.URL = "file:///etc/passwd" })},
		{"hook with two headers in one", payments.ProviderHosted, "webHooks[0].authorization", hook(func(h *payments.WebHook) { h.Authorization = "hook-5d20\r\nHost: evil" })},
		{"hook with a header of ours", payments.ProviderHosted, "webHooks[0].headers", hook(func(h *payments.WebHook) { h.Headers = []map[string]string{{"Content-Length": "0"}} })},
		{"hook with a broken header", payments.ProviderHosted, "webHooks[0].headers", hook(func(h *payments.WebHook) { h.Headers = []map[string]string{{"a b": "c"}} })},
		{"line break in a description", payments.ProviderHosted, "description", func(r *req) { r.Description = "a\r\nlevel=error msg=paid" }},
		{"escape in a description", payments.ProviderHosted, "description", func(r *req) { r.Description = "\x1b]8;;x" }},
		{"line separator in a description", payments.ProviderHosted, "description", func(r *req) { r.Description = "a\u2028b" }},
		{"long description", payments.ProviderHosted, "description", func(r *req) { r.Description = strings.Repeat("x", 10_000) }},
		{"zero byte in the checkout text", payments.ProviderHosted, "checkoutText", func(r *req) { r.CheckoutText = "a\x00" }},
		{"long reference", payments.Moto, "reconciliationReference", func(r *req) { r.ReconciliationReference = strings.Repeat("r", 129) }},
	}, numbers()...)
}

// numbers are paymentNumbers that are not letters and digits.
func numbers() []Case {
	var out []Case
	for _, s := range []string{"'; DROP TABLE ops;--", "../../", "%s%n", "${jndi:ldap://x}", "{{7*7}}", "=cmd|' /C calc'!A0", "\U0001F600", "\u202e1",
		"１", "ö", "a-b", "a b", "a\x00", strings.Repeat("1", 10_000)} {
		out = append(out, Case{"number " + s[:min(len(s), 8)], payments.ProviderHosted, "paymentNumber", func(r *payments.CreateRequest) { r.PaymentNumber = s }})
	}
	return out
}

// good is the body that a case spoils.
func (f Fixture) good(typ string) payments.CreateRequest {
	if typ == payments.Moto {
		return f.Moto("", f.Approved)
	}
	return f.Hosted("")
}

func (f Fixture) validation(t *testing.T) {
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			req := f.good(c.Type)
			c.Break(&req)
			for _, key := range []wire.Key{"", wire.NewKey()} {
				_, err := f.Service.Create(t.Context(), key, req)
				require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
				require.ErrorContains(t, err, c.Names)
				tellsNothing(t, err.Error())
			}
		})
	}
	id := f.reserved(t)
	for _, op := range operations() {
		for _, a := range []int32{-1, math.MinInt32} {
			if op.whole {
				continue
			}
			_, err := f.act(t, wire.NewKey(), op.name, id, a)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, "amount")
		}
	}
	zero, bad := int32(0), "a\x00"
	for name, do := range map[string]func() error{
		"zero": func() error {
			_, err := f.Service.Capture(t.Context(), "", id, payments.CaptureRequest{Amount: &zero})
			require.Equal(t, payments.ZeroCharge, wire.ReasonOf(err))
			return err
		},
		"description": func() error {
			_, err := f.Service.Cancel(t.Context(), "", id, payments.CancelRequest{Description: bad})
			return err
		},
		"terminal": func() error {
			_, err := f.Service.Authorize(t.Context(), "", id, payments.AuthorizeRequest{TerminalID: bad})
			return err
		},
		"basket": func() error {
			_, err := f.Service.Refund(t.Context(), "", id, payments.RefundRequest{Basket: make([]payments.BasketItem, 1)})
			return err
		},
	} {
		require.Equal(t, wire.Invalid, wire.CodeOf(do()), name)
	}
	f.sums(t, id, amount, 0, 0)
}

// tellsNothing fails on a text that repeats a secret of a request.
func tellsNothing(t *testing.T, text string) {
	t.Helper()
	for _, s := range append(Secrets(), visa, "4111111111111112", "42424242424242424242", "424242424242") {
		require.NotContains(t, text, s)
	}
}
