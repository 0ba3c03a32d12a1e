package aapaytest

import (
	"math"
	"strings"

	"posagent/schemes/aapay"
)

// Case is one way to spoil a good payment request.
type Case struct {
	Name  string
	Type  aapay.Type
	Names string // what the error must name
	Break func(*aapay.Request)
}

// Broken lists the requests that every service refuses as Invalid.
func Broken() []Case {
	amount := func(change func(*aapay.Amount)) func(*aapay.Request) {
		return func(r *aapay.Request) {
			a := *r.PurchaseAmount
			change(&a)
			r.PurchaseAmount = &a
		}
	}
	currency := func(code string) func(*aapay.Request) {
		return amount(func(a *aapay.Amount) { a.CurrencyCode = code })
	}
	order := func(o aapay.Order) func(*aapay.Request) {
		return func(r *aapay.Request) { r.ECR2NAA = &aapay.ECR2NAA{Order: &o} }
	}
	return []Case{
		{"no amount", aapay.Payment, "purchaseAmount", func(r *aapay.Request) { r.PurchaseAmount = nil }},
		{"no consumer", aapay.Payment, "consumer", func(r *aapay.Request) { r.Consumer = nil }},
		{"unknown type", "transfer", "type", func(*aapay.Request) {}},
		{"trigger 1", aapay.Payment, "trigger", func(r *aapay.Request) { r.Trigger = "1" }},
		{"trigger word", aapay.Payment, "trigger", func(r *aapay.Request) { r.Trigger = "QR" }},
		{"refund of nothing", aapay.Refund, "originalReference", func(*aapay.Request) {}},
		{"reversal of nothing", aapay.Reversal, "originalReference", func(*aapay.Request) {}},
		{"small currency", aapay.Payment, "currencyCode", currency("eur")},
		{"currency and zero", aapay.Payment, "currencyCode", currency("EUR\x00")},
		{"no currency", aapay.Payment, "currencyCode", currency("")},
		{"special currency", aapay.Payment, "currencyCode", currency("XXX")},
		{"withdrawn currency", aapay.Payment, "currencyCode", currency("DEM")},
		{"part of a yen", aapay.Payment, "totalAmount", amount(func(a *aapay.Amount) { a.CurrencyCode, a.TotalAmount, a.NominalAmount = "JPY", 1250, 1200 })},
		{"kwd overflow", aapay.Payment, "totalAmount", amount(func(a *aapay.Amount) { a.CurrencyCode, a.TotalAmount, a.NominalAmount = "KWD", math.MaxInt64, 0 })},
		{"negative total", aapay.Payment, "totalAmount", amount(func(a *aapay.Amount) { a.TotalAmount = -1 })},
		{"negative nominal", aapay.Payment, "nominalAmount", amount(func(a *aapay.Amount) { a.NominalAmount = math.MinInt64 })},
		{"negative vat", aapay.Payment, "vatAmount", amount(func(a *aapay.Amount) { a.VatAmount = -1 })},
		{"vat above total", aapay.Payment, "vatAmount", amount(func(a *aapay.Amount) { a.VatAmount = a.TotalAmount + 1 })},
		{"zero payment", aapay.Payment, "totalAmount", amount(func(a *aapay.Amount) { a.TotalAmount, a.NominalAmount = 0, 0 })},
		{"zero byte in an id", aapay.Payment, "merchantId", func(r *aapay.Request) { r.MerchantID = "a\x00" }},
		{"line break in a reference", aapay.Payment, "terminalReference", func(r *aapay.Request) { r.TerminalReference = "a\r\nlevel=error" }},
		{"long method", aapay.Payment, "method", func(r *aapay.Request) { r.Method = strings.Repeat("m", 256) }},
		{"long consumer", aapay.Payment, "consumerId", func(r *aapay.Request) { r.Consumer = &aapay.Consumer{ConsumerID: strings.Repeat("c", 256)} }},
		{"zero byte in a name", aapay.Payment, "consumer.name", func(r *aapay.Request) { r.Consumer = &aapay.Consumer{Name: "a\x00b"} }},
		{"long message", aapay.Payment, "message", func(r *aapay.Request) { r.Message = strings.Repeat("x", 10_000) }},
		{"many params", aapay.Payment, "params", func(r *aapay.Request) { r.Params = make([]aapay.KeyValue, 1001) }},
		{"zero byte in a param", aapay.Payment, "params[0].value", func(r *aapay.Request) { r.Params = []aapay.KeyValue{{Key: "k", Value: "\x00"}} }},
		{"basket that does not add up", aapay.Payment, "ecr2Naa.order.amount", order(aapay.Order{Amount: 5, Currency: "EUR", Items: []aapay.Item{{GrossTotalAmount: 2}, {GrossTotalAmount: 2}}})},
		{"basket that overflows", aapay.Payment, "items[1].grossTotalAmount", order(aapay.Order{Amount: -2, Items: []aapay.Item{{GrossTotalAmount: math.MaxInt64}, {GrossTotalAmount: math.MaxInt64}}})},
	}
}
