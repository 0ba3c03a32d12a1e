package hostedtest

import (
	"strings"

	"posagent/schemes/hosted"
)

// Case is one way to break a good request.
type Case struct {
	Name   string
	Reason string
	Break  func(*hosted.BuildRequest)
}

// Broken are the ways.
func Broken() []Case {
	recurrence := func(r hosted.Recurrence) func(*hosted.BuildRequest) {
		return func(req *hosted.BuildRequest) { req.PaymentSession.Recurrence = &r }
	}
	amount := func(s hosted.Text) func(*hosted.BuildRequest) {
		return func(req *hosted.BuildRequest) { req.Order.Amount = s }
	}
	customer := func(i hosted.CustomerInfo) func(*hosted.BuildRequest) {
		return func(req *hosted.BuildRequest) { req.Order.CustomerInfo, _ = i.Encode() } // texts alone
	}
	return []Case{
		{"no merchant", hosted.BadMerchantURL, func(r *hosted.BuildRequest) { r.MerchantURL = "" }},
		{"merchant is no address", hosted.BadMerchantURL, func(r *hosted.BuildRequest) { r.MerchantURL = "shop" }},
		{"merchant with a password", hosted.BadMerchantURL, func(r *hosted.BuildRequest) { r.MerchantURL = "https://a:b@shop.example" }},
		{"no order", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.OrderID = "" }},
		{"long order", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.OrderID = strings.Repeat("x", 28) }},
		{"order with a slash", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.OrderID = "a/b" }},
		{"no currency", hosted.BadCurrency, func(r *hosted.BuildRequest) { r.Order.Currency = "" }},
		{"small currency", hosted.BadCurrency, func(r *hosted.BuildRequest) { r.Order.Currency = "eur" }},
		{"no payable currency", hosted.BadCurrency, func(r *hosted.BuildRequest) { r.Order.Currency = "XDR" }},
		{"leading zero", hosted.AmountNotNumeric, amount("05000")},
		{"comma", hosted.AmountNotNumeric, amount("5,000")},
		{"blank", hosted.AmountNotNumeric, amount(" 5000")},
		{"other digits", hosted.AmountNotNumeric, amount("٥٠٠٠")},
		{"minus", hosted.AmountNotNumeric, amount("-5000")},
		{"too much", hosted.AmountNotNumeric, amount("2147483648")},
		{"empty amount", hosted.AmountNotNumeric, amount("")},
		{"session above order", hosted.AmountAboveOrder, amount("4999")},
		{"nothing to pay", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.Amount, r.PaymentSession.Amount = "0", "0" }},
		{"no action", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.ActionType = "" }},
		{"other action", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.ActionType = "pay" }},
		{"other capture", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.CaptureType = "LATER" }},
		{"other exemption", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.Exemptions = "ALL" }},
		{"script as result", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.ResultURL = "javascript:alert(1)" }},
		{"long cancel", hosted.BadParameter, func(r *hosted.BuildRequest) {
			r.PaymentSession.CancelURL = "https://shop.example/" + strings.Repeat("x", 2048)
		}},
		{"file to notify", hosted.BadParameter, func(r *hosted.BuildRequest) { r.PaymentSession.NotificationURL = "file:///etc/passwd" }},
		{"embedded script", hosted.Javascript, func(r *hosted.BuildRequest) { r.Order.Description = "<ScRiPt>alert(1)</script>" }},
		{"control character", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.CustomField = "a\x00b" }},
		{"two lines", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.Description = "x\r\nlevel=error msg=paid" }},
		{"line separator", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.Description = "a\u2028b" }},
		{"long description", hosted.BadParameter, func(r *hosted.BuildRequest) { r.Order.Description = strings.Repeat("x", 256) }},
		{"other recurrence", hosted.BadParameter, recurrence(hosted.Recurrence{Action: "ALWAYS"})},
		{"no contract", hosted.BadParameter, recurrence(hosted.Recurrence{Action: hosted.ContractCreation})},
		{"other contract type", hosted.BadParameter, recurrence(hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "C", ContractType: "MIT"})},
		{"no frequency", hosted.BadParameter, recurrence(hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "C", ContractType: hosted.Scheduled})},
		{"bad expiry", hosted.BadDate, recurrence(hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "C", ContractExpiryDate: "2026-02-30"})},
		{"bad installment", hosted.BadInstallments, func(r *hosted.BuildRequest) { r.Order.Installments = []hosted.Installment{{Date: "soon", Amount: "1"}} }},
		{"installments above the order", hosted.BadInstallments, func(r *hosted.BuildRequest) {
			r.Order.Installments = []hosted.Installment{{Date: "2026-12-01", Amount: "5000"}, {Date: "2027-01-01T00:00:00.000Z", Amount: "1"}}
		}},
		{"long province", hosted.BadParameter, customer(hosted.CustomerInfo{BillingAddress: &hosted.Address{Province: "BOLO"}})},
		{"long telephone", hosted.BadParameter, customer(hosted.CustomerInfo{MobilePhone: strings.Repeat("1", 16)})},
		{"account date", hosted.BadDate, customer(hosted.CustomerInfo{CardHolderAcctInfo: &hosted.AccountInfo{ChAccDate: "11/02/2019"}})},
		{"order date", hosted.BadDate, customer(hosted.CustomerInfo{MerchantRiskIndicator: &hosted.Risk{PreOrderDate: "2019-13-01"}})},
	}
}
