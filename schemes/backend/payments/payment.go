package payments

import (
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
)

// payment is a payment as stored: the columns, and the exported fields as JSON.
type payment struct {
	id      string
	created int64
	state   State
	private []byte // sealed

	Type       string `json:"type"`
	Amount     int32  `json:"amount"`
	Currency   string `json:"currency"`
	Processing string `json:"processing,omitempty"`
	Exemption  string `json:"exemption,omitempty"`
	Number     string `json:"number,omitempty"`
	Reference  string `json:"reference,omitempty"`  // reconciliationReference
	Details    string `json:"details,omitempty"`    // type of paymentMethodDetails
	Hooks      int    `json:"hooks,omitempty"`      // endpoints that want to be told
	Pressed    bool   `json:"pressed,omitempty"`    // payment.created was sent
	Page       bool   `json:"page,omitempty"`       // has a page
	PageMS     int64  `json:"page_ms,omitempty"`    // until then
	HoldMS     int64  `json:"hold_ms,omitempty"`    // the reservation is over then
	Refunding  int    `json:"refunding,omitempty"`  // refunds under way
	RefundMS   int64  `json:"refund_ms,omitempty"`  // the first of them is due
	Tries      int    `json:"tries,omitempty"`      // reservations that were refused
	Attempt    int64  `json:"attempt,omitempty"`    // how often the customer pressed pay; each has its own card and fee
	Spoilt     bool   `json:"spoilt,omitempty"`     // its row's reply was spoilt already
	Flow       string `json:"flow,omitempty"`       // the 3-D Secure outcome: Y passed, A spared
	IP         string `json:"ip,omitempty"`         // of the customer
	Days       int32  `json:"days,omitempty"`       // intervalDays of an initial tokenization
	Until      string `json:"until,omitempty"`      // its expiryDate
	Reason     string `json:"reason,omitempty"`     // why the last try was refused
	Fee        int32  `json:"fee,omitempty"`        // of the chosen method
	Charge     string `json:"charge,omitempty"`     // the first capture
	Subscribed string `json:"subscribed,omitempty"` // the recurring tokenization it belongs to
	Means      *means `json:"means,omitempty"`      // nil until known
	Order      order  `json:"order"`
}

// means is what a payment is paid with, as far as it is kept.
type means struct {
	Method  string `json:"method"`           // as payments names it, or invoice
	PayType string `json:"pay_type"`         // CARD, INVOICE, A2A, WALLET
	Row     string `json:"row,omitempty"`    // of the table of test cards
	Card    string `json:"card,omitempty"`   // keyed hash of the number
	Masked  string `json:"masked,omitempty"` // number, or the end of an IBAN
	Year    int32  `json:"year,omitempty"`
	Month   int32  `json:"month,omitempty"`
	Token   string `json:"token,omitempty"` // the tokenization it came from, or that came from it
}

// order is what the merchant said about the purchase and the page.
type order struct {
	Return      string                         `json:"return,omitempty"`
	Checkout    string                         `json:"checkout,omitempty"`
	Description string                         `json:"description,omitempty"`
	Basket      []payments.BasketItem          `json:"basket,omitempty"`
	Config      *payments.PayPageConfiguration `json:"config,omitempty"`
}

// private is what of a payment is sealed.
type private struct {
	Customer *payments.Customer `json:"customer,omitempty"`
	Email    string             `json:"email,omitempty"`
	Mandate  string             `json:"mandate,omitempty"`
	IBAN     string             `json:"iban,omitempty"`
}

// do is what the bank does for this payment.
func (p *payment) do() scenario.Do {
	row := ""
	if p.Means != nil {
		row = p.Means.Row
	}
	return scenario.CardDo(row, p.Amount)
}

func (p *payment) subject() string { return Service + " " + p.id }

// name is the merchant's own name for p, or ours.
func (p *payment) name() string {
	for _, s := range [...]string{p.Reference, p.Number} {
		if s != "" {
			return s
		}
	}
	return p.id
}

// due is the moment the next thing happens by itself, 0 = never.
func (p *payment) due() int64 {
	var soonest int64
	for _, at := range [...]int64{p.HoldMS, p.PageMS, p.RefundMS} {
		if at != 0 && (soonest == 0 || at < soonest) {
			soonest = at
		}
	}
	return soonest
}

// blank makes the payment that a request asks for, before anything happened to it, and what of it is sealed.
func blank(req payments.CreateRequest, now int64) (*payment, private) {
	p := &payment{
		id: newID(), created: now, state: Fresh, Type: req.Type, Amount: req.Amount, Currency: req.CurrencyCode, Processing: req.Processing,
		Exemption: req.ScaExemption, Number: req.PaymentNumber, Reference: req.ReconciliationReference,
		Order: order{Checkout: req.CheckoutText, Description: req.Description, Basket: req.Basket, Config: req.PayPageConfiguration},
	}
	if req.RedirectURLs != nil {
		p.Order.Return = req.RedirectURLs.ReturnURL
	}
	secret := private{Customer: req.Customer}
	direct := req.Type == payments.Moto
	if d := req.PaymentMethodDetails; d != nil {
		p.Details, p.Days, p.Until = d.Type, d.IntervalDays, d.ExpiryDate
		secret.Email, secret.Mandate, secret.IBAN = d.CustomerEmail, d.MandateURL, d.IBAN.Reveal()
		direct = direct || d.Type != payments.InitialToken && d.Type != payments.Sofort
		if p.Processing == "" && (d.IsRecurring || d.Type == payments.MerchantInitiated) {
			p.Processing = payments.ProcessSale
		}
	}
	if !direct {
		p.Page, p.PageMS = true, now+pageTime.Milliseconds()
	}
	return p, secret
}

// reading is what a reading shows of p itself, without its means and its operations.
func (p *payment) reading(l books.Ledger, secret private) payments.Payment {
	return payments.Payment{
		PaymentID: p.id, CurrencyCode: p.Currency, PaymentNumber: text(p.Number), Customer: customer(secret.Customer),
		Summary: payments.Summary{
			PaymentAmount: p.Amount, AuthorizedAmount: int32(l.Reserved + l.Committed), CapturedAmount: int32(l.Committed),
			RefundedAmount: int32(l.Returned + l.Returning), Fee: int32(l.Fee),
		},
	}
}

func customer(who *payments.Customer) (out payments.CustomerInfo) {
	if who == nil {
		return out
	}
	out = payments.CustomerInfo{
		Type: &who.Type, RegistrationNumber: text(who.RegistrationNumber), CompanyName: text(who.CompanyName),
		ContactFirstName: text(who.ContactFirstName), ContactLastName: text(who.ContactLastName), FirstName: text(who.FirstName),
		LastName: text(who.LastName), CustomerNumber: text(who.CustomerNumber), Email: text(who.Email), Phone: text(who.Phone),
	}
	if a := who.Address; a != nil {
		out.Address = payments.AddressInfo{
			Address1: a.Address1, Address2: text(a.Address2), City: a.City, PostalCode: a.PostalCode, CountryCode: a.CountryCode,
		}
	}
	return out
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
