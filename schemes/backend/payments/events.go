package payments

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/scenario"
	deliver "posagent/schemes/backend/webhooks"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// tell queues one event of p for the hooks that are registered for it. build is called only if there may be one.
func (c *Cards) tell(tx store.Tx, p *payment, at int64, name webhooks.Name, build func() (any, error)) error {
	if p.Hooks == 0 {
		return nil
	}
	data, err := build()
	if err != nil {
		return err
	}
	m := deliver.Message{ID: webhooks.NewID(), Event: string(name), Subject: p.subject()}
	m.Body, err = webhooks.Marshal(webhooks.Event{ID: m.ID, MerchantNumber: c.opt.MerchantNumber, Time: time.UnixMilli(at).UTC(), Name: name, Data: data})
	if err == nil {
		_, err = c.opt.Deliver.Emit(tx, m)
	}
	if err != nil {
		return fmt.Errorf("queue %s of %s: %w", name, p.id, err)
	}
	return nil
}

func (p *payment) amount(n int32) webhooks.Amount {
	return webhooks.Amount{Amount: n, Currency: p.Currency}
}

// items are the order lines an operation is about: its own basket, the whole order's, or one line that stands for all.
func (p *payment) items(amount int32, basket []payments.BasketItem) webhooks.OrderItems {
	if len(basket) == 0 && amount == p.Amount {
		basket = p.Order.Basket
	}
	list := webhooks.OrderItems{}
	lines, err := payments.Lines(basket, money.Minor(amount))
	for i := range lines {
		l, b := lines[i], basket[i]
		for _, n := range [...]money.Minor{l.UnitPrice, l.Tax, l.Net, l.Gross} {
			if n != money.Minor(int32(n)) {
				err = money.ErrOverflow // the lines fit the amount, and no event
			}
		}
		item := webhooks.OrderItem{
			Reference: b.ItemNumber, Name: b.Title, Quantity: float64(l.Quantity), Unit: "pcs", UnitPrice: int32(l.UnitPrice), TaxRate: l.TaxBasisPoints,
			TaxAmount: int32(l.Tax), NetTotalAmount: int32(l.Net), GrossTotalAmount: int32(l.Gross),
		}
		if item.Reference == "" {
			item.Reference = strconv.Itoa(i + 1)
		}
		if item.Name == "" {
			item.Name = item.Reference
		}
		list = append(list, item)
	}
	if err != nil || len(list) == 0 {
		return webhooks.OrderItems{{
			Reference: p.name(), Name: "Payment", Quantity: 1, Unit: "pcs", UnitPrice: amount, NetTotalAmount: amount, GrossTotalAmount: amount,
		}}
	}
	return list
}

// press tells that the customer pressed pay, once.
func (c *Cards) press(tx store.Tx, p *payment, now int64) error {
	if p.Pressed {
		return nil
	}
	p.Pressed = true
	return c.tell(tx, p, now, webhooks.PaymentCreated, func() (any, error) { return p.checkout(), nil })
}

func (p *payment) checkout() *webhooks.Checkout {
	return &webhooks.Checkout{
		PaymentID: p.id, MyReference: p.Number, SubscriptionID: p.Subscribed,
		Order: &webhooks.Order{Amount: p.amount(p.Amount), Reference: p.name(), OrderItems: p.items(p.Amount, nil)},
	}
}

func (c *Cards) tellCheckout(tx store.Tx, p *payment, now int64) error {
	return c.tell(tx, p, now, webhooks.CheckoutCompleted, func() (any, error) {
		who, err := c.consumer(tx, p)
		out := p.checkout()
		out.Consumer = who
		return out, err
	})
}

// consumer is who pays, as far as the merchant said.
func (c *Cards) consumer(r store.Reader, p *payment) (*webhooks.Consumer, error) {
	secret, err := c.open(r, p)
	if err != nil {
		return nil, err
	}
	out := &webhooks.Consumer{IP: p.IP, Email: secret.Email}
	who := secret.Customer
	if who == nil {
		return out, nil
	}
	out.FirstName, out.LastName = who.FirstName+who.ContactFirstName, who.LastName+who.ContactLastName // one of them is empty
	out.MerchantReference = who.CustomerNumber
	if who.Email != "" {
		out.Email = who.Email
	}
	if who.Phone != "" {
		out.PhoneNumber = &webhooks.PhoneNumber{Number: who.Phone}
		if strings.HasPrefix(who.Phone, "+") && len(who.Phone) > 3 {
			out.PhoneNumber = &webhooks.PhoneNumber{Prefix: who.Phone[:3], Number: strings.TrimSpace(who.Phone[3:])}
		}
	}
	if a := who.Address; a != nil {
		out.Country = a.CountryCode
		out.BillingAddress = &webhooks.Address{
			AddressLine1: a.Address1, AddressLine2: a.Address2, City: a.City, Country: a.CountryCode, Postcode: a.PostalCode,
			ReceiverLine: strings.TrimSpace(out.FirstName + " " + out.LastName),
		}
		out.ShippingAddress = out.BillingAddress
	}
	return out, nil
}

// tellReserved tells of a reservation, in both versions of the event.
func (c *Cards) tellReserved(tx store.Tx, p *payment, o *operation, now int64) error {
	for _, name := range [...]webhooks.Name{webhooks.ReservationCreated, webhooks.ReservationCreatedV2} {
		if err := c.tell(tx, p, now, name, func() (any, error) {
			who, err := c.consumer(tx, p)
			amount := p.amount(o.amount)
			return &webhooks.Reservation{
				CardDetails: c.cardDetails(p), PaymentMethod: p.Means.Method, PaymentType: p.Means.PayType, Amount: &amount, PaymentID: p.id,
				Consumer: &webhooks.Consumer{IP: who.IP, Email: who.Email, Country: who.Country}, ReservationReference: p.name(), ReserveID: o.ref,
				MyReference: p.Number, SubscriptionID: p.Subscribed, ReconciliationReference: p.Reference,
			}, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// cardDetails is what may be told of p's card; nil when there is none.
func (c *Cards) cardDetails(p *payment) *webhooks.CardDetails {
	m := p.Means
	if m.PayType != card {
		return nil
	}
	out := &webhooks.CardDetails{
		CreditDebitIndicator: "C", ExpiryMonth: two(m.Month), ExpiryYear: two(m.Year), TruncatedPan: m.Masked, IssuerCountry: "DE",
		ThreeDSecure: &webhooks.ThreeDSecure{AcsURL: c.Public + PagePrefix + p.id, AuthenticationEnrollmentStatus: "N", AuthenticationStatus: "N", ECI: "07"},
	}
	for _, row := range scenario.Cards() {
		if row.Name != m.Row {
			continue
		}
		if row.Debit {
			out.CreditDebitIndicator = "D"
		}
		switch row.Origin {
		case "Domestic":
			out.IssuerCountry = "NO"
		case "NonEU":
			out.IssuerCountry = "US"
		}
	}
	switch p.Flow {
	case "Y":
		out.ThreeDSecure.AuthenticationEnrollmentStatus, out.ThreeDSecure.AuthenticationStatus, out.ThreeDSecure.ECI = "Y", "Y", "05"
	case "A":
		out.ThreeDSecure.AuthenticationStatus, out.ThreeDSecure.ECI = "A", "06"
	}
	return out
}

// two writes the last two digits of a number.
func two(n int32) string {
	s := "0" + strconv.Itoa(int(n%100))
	return s[len(s)-2:]
}

// tellMove tells of a reservation that failed, a charge, a refund or a cancellation.
func (c *Cards) tellMove(tx store.Tx, p *payment, now int64, name webhooks.Name, o *operation, why error, basket []payments.BasketItem) error {
	return c.tell(tx, p, now, name, func() (any, error) {
		amount := p.amount(o.amount)
		m := &webhooks.Movement{PaymentID: p.id, Amount: &amount, MyReference: p.Number}
		if name != webhooks.RefundCompleted && name != webhooks.RefundFailed {
			items := p.items(o.amount, basket)
			m.OrderItems = &items
		}
		if why != nil {
			var e *wire.Error
			m.Error = &webhooks.Error{Message: why.Error(), Source: "bank"}
			if errors.As(why, &e) {
				m.Error.Message, m.Error.Code = e.Msg, e.Reason
			}
			if m.Error.Code == "" {
				m.Error.Code = "Refused"
			}
		}
		switch name {
		case webhooks.ChargeCreated:
			m.ChargeID, m.PaymentMethod, m.PaymentType, m.ReconciliationReference = o.ref, p.Means.Method, p.Means.PayType, p.Reference
			m.SubscriptionID = p.Subscribed
		case webhooks.ChargeFailed:
			m.ChargeID, m.ReconciliationReference, m.ReservationID = o.ref, p.name(), dashed(p.id)
		case webhooks.RefundInitiated:
			m.RefundID, m.ChargeID, m.ReconciliationReference = o.ref, p.Charge, p.name()
			m.Executed, m.PaymentActionID = webhooks.FormatTime(time.UnixMilli(now).UTC()), o.ref
		case webhooks.RefundCompleted, webhooks.RefundFailed:
			m.RefundID, m.ReconciliationReference = o.ref, p.name()
			if p.Means.PayType == webhooks.TypeInvoice {
				due := time.UnixMilli(p.created).UTC().AddDate(0, 0, 14)
				m.InvoiceDetails = &webhooks.InvoiceDetails{DistributionType: "Email", InvoiceDueDate: due.Format(time.DateOnly), InvoiceNumber: p.name()}
			}
		case webhooks.CancelCreated, webhooks.CancelFailed:
			m.CancelID = o.ref
		case webhooks.ReservationFailed:
			m.SubscriptionID = p.Subscribed
		}
		return m, nil
	})
}

// tellRefund tells how a refund ended.
func (c *Cards) tellRefund(tx store.Tx, p *payment, o *operation, now int64) error {
	if o.state == failed {
		return c.tellMove(tx, p, now, webhooks.RefundFailed, o, refused("payments.refund", payments.RefundFailed), nil)
	}
	return c.tellMove(tx, p, now, webhooks.RefundCompleted, o, nil, nil)
}

// dashed writes one of our ids as a UUID.
func dashed(id string) string {
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}
