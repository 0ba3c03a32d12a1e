package paymentstest

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven, with the knobs the suite turns. Every paymentNumber and Key is fresh, so one
// service serves the whole run.
type Fixture struct {
	Service  payments.Service
	Currency string // "" means EUR
	Approved string // card number that every bank approves
	Declined string // card number that is refused when money is to be reserved
	// Pay lets the customer pay at the page of a hosted payment with an approved card.
	Pay func(t *testing.T, paymentID string)
	// Settle lets a stored call be sent; nil: answers are never pending.
	Settle func(t *testing.T, op *wire.Pending)
	// Codeless sends cards without their validation code: a row that stores calls never stores one.
	Codeless bool
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

const amount = 10_000 // of every payment here

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.NotNil(t, f.Pay)
	require.NotEmpty(t, f.Approved)
	require.NotEmpty(t, f.Declined)
	if f.Currency == "" {
		f.Currency = "EUR"
	}
	wiretest.Groups{
		{"create", f.create}, {"authorize", f.authorize}, {"capture", f.capture}, {"cancel", f.cancel},
		{"refund", f.refund}, {"read", f.read}, {"idempotency", f.idempotency}, {"at once", f.atOnce},
		{"validation", f.validation},
	}.Run(t, f.Wire != nil, f.wire)
}

func number() string { return strings.ReplaceAll(string(wire.NewKey()), "-", "") }

// Hosted is a good payment with a page.
func (f Fixture) Hosted(processing string) payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.ProviderHosted, Amount: amount, CurrencyCode: f.Currency, Processing: processing, PaymentNumber: number(),
		RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
	}
}

// Moto is a good payment with a card typed in by the merchant.
func (f Fixture) Moto(processing, pan string) payments.CreateRequest {
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: amount, CurrencyCode: f.Currency, Processing: processing, PaymentNumber: number(),
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2099, ExpiryMonth: 12, ValidationCode: "123"},
	}
	if f.Codeless {
		req.CardDetails.ValidationCode = ""
	}
	return req
}

// call repeats a call under its key until its answer is final.
func call[R any](t *testing.T, f Fixture, do func() (R, *wire.Pending, error)) (R, error) {
	t.Helper()
	for range 200 {
		out, op, err := do()
		if err != nil || op == nil {
			return out, err
		}
		require.Equal(t, wire.PendingStatus, op.Status)
		require.NotNil(t, f.Settle, "a pending answer of a service that has none")
		f.Settle(t, op)
	}
	require.Fail(t, "the answer stays pending")
	panic("unreachable")
}

func (f Fixture) make(t *testing.T, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	t.Helper()
	return call(t, f, func() (payments.Created, *wire.Pending, error) {
		c, err := f.Service.Create(t.Context(), key, req)
		if c.Operation != nil {
			require.Equal(t, "L"+string(c.Operation.Key), c.PaymentID)
			require.Nil(t, c.PayPageURL)
		}
		return c, c.Operation, err
	})
}

func (f Fixture) made(t *testing.T, req payments.CreateRequest) string {
	t.Helper()
	c, err := f.make(t, wire.NewKey(), req)
	require.NoError(t, err)
	require.NotEmpty(t, c.PaymentID)
	return c.PaymentID
}

// act performs one operation on a payment; a is its amount, 0 for none.
func (f Fixture) act(t *testing.T, key wire.Key, op, id string, a int32) (payments.Done, error) {
	t.Helper()
	var p *int32
	if a != 0 {
		p = &a
	}
	return call(t, f, func() (d payments.Done, _ *wire.Pending, err error) {
		switch ctx := t.Context(); op {
		case "authorize":
			d, err = f.Service.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: p})
		case "cancel":
			d, err = f.Service.Cancel(ctx, key, id, payments.CancelRequest{Description: "changed his mind"})
		case "capture":
			d, err = f.Service.Capture(ctx, key, id, payments.CaptureRequest{Amount: p})
		case "refund":
			d, err = f.Service.Refund(ctx, key, id, payments.RefundRequest{Amount: p})
		}
		if d.Operation != nil {
			require.Equal(t, "L"+string(d.Operation.Key), d.TransactionRef)
		}
		return d, d.Operation, err
	})
}

// did performs an operation that must succeed.
func (f Fixture) did(t *testing.T, op, id string, a int32) payments.Done {
	t.Helper()
	d, err := f.act(t, wire.NewKey(), op, id, a)
	require.NoError(t, err)
	require.Equal(t, id, d.PaymentID)
	require.NotEmpty(t, d.TransactionRef)
	return d
}

// refused performs an operation that must be refused for one of the reasons.
func (f Fixture) refused(t *testing.T, op, id string, a int32, reasons ...string) {
	t.Helper()
	_, err := f.act(t, wire.NewKey(), op, id, a)
	isRefused(t, err, reasons...)
}

func isRefused(t *testing.T, err error, reasons ...string) {
	t.Helper()
	require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
	require.Contains(t, reasons, wire.ReasonOf(err), "%v", err)
}

// sums are what a payment's summary must say.
func (f Fixture) sums(t *testing.T, id string, authorized, captured, refunded int32) payments.Payment {
	t.Helper()
	p, err := f.Service.Read(t.Context(), id)
	require.NoError(t, err)
	want := p.Summary
	want.PaymentAmount, want.AuthorizedAmount, want.CapturedAmount, want.RefundedAmount = amount, authorized, captured, refunded
	require.Equal(t, want, p.Summary)
	for _, l := range []struct {
		list []payments.Entry
		sum  int32
	}{{p.Captures, captured}, {p.Refunds, refunded}} {
		var sum int32
		for _, e := range l.list {
			sum += e.Amount
			_, err := time.Parse(time.RFC3339, e.DateTime)
			require.NoError(t, err)
		}
		require.Equal(t, l.sum, sum, "the entries add up to the summary")
	}
	return p
}

// reserved is the id of a payment with money reserved, paid one that is captured.
func (f Fixture) reserved(t *testing.T) string {
	t.Helper()
	return f.made(t, f.Moto(payments.ProcessAuthorize, f.Approved))
}

func (f Fixture) paid(t *testing.T) string {
	t.Helper()
	return f.made(t, f.Moto(payments.ProcessSale, f.Approved))
}

func (f Fixture) create(t *testing.T) {
	t.Run("hosted", func(t *testing.T) {
		seen := map[string]bool{}
		for _, typ := range []string{payments.MerchantHosted, payments.ProviderHosted} {
			for _, processing := range []string{"", payments.ProcessNone, payments.ProcessVerify, payments.ProcessAuthorize, payments.ProcessSale} {
				req := f.Hosted(processing)
				req.Type = typ
				c, err := f.make(t, wire.NewKey(), req)
				require.NoError(t, err)
				require.NotEmpty(t, c.PaymentID)
				require.False(t, seen[c.PaymentID], "an id is given once")
				seen[c.PaymentID] = true
				require.NotNil(t, c.PayPageURL)
				u, err := url.Parse(*c.PayPageURL)
				require.NoError(t, err)
				require.NotEmpty(t, u.Host)
				p := f.sums(t, c.PaymentID, 0, 0, 0)
				require.NotNil(t, p.PaymentNumber)
				require.Equal(t, req.PaymentNumber, *p.PaymentNumber)
			}
		}
	})
	t.Run("paid at the page", func(t *testing.T) {
		for processing, want := range map[string][2]int32{payments.ProcessAuthorize: {amount, 0}, payments.ProcessSale: {amount, amount}} {
			id := f.made(t, f.Hosted(processing))
			f.Pay(t, id)
			f.sums(t, id, want[0], want[1], 0)
		}
	})
	t.Run("moto", func(t *testing.T) {
		for processing, want := range map[string][2]int32{
			"": {}, payments.ProcessNone: {}, payments.ProcessVerify: {}, payments.ProcessAuthorize: {amount, 0}, payments.ProcessSale: {amount, amount},
		} {
			c, err := f.make(t, wire.NewKey(), f.Moto(processing, f.Approved))
			require.NoError(t, err)
			f.sums(t, c.PaymentID, want[0], want[1], 0)
		}
	})
	t.Run("declined", func(t *testing.T) {
		for _, processing := range []string{payments.ProcessAuthorize, payments.ProcessSale} {
			_, err := f.make(t, wire.NewKey(), f.Moto(processing, f.Declined))
			isRefused(t, err, payments.HardDecline, payments.PaymentReserveMethodFailed)
		}
		id := f.made(t, f.Moto(payments.ProcessNone, f.Declined))
		f.refused(t, "authorize", id, 0, payments.HardDecline, payments.PaymentReserveMethodFailed)
		f.sums(t, id, 0, 0, 0)
	})
	t.Run("a number may be used again", func(t *testing.T) {
		req := f.Hosted("")
		require.NotEqual(t, f.made(t, req), f.made(t, req))
	})
	t.Run("zero is verified only", func(t *testing.T) {
		req := f.Moto(payments.ProcessVerify, f.Approved)
		req.Amount = 0
		f.made(t, req)
	})
	t.Run("a currency nobody can pay with", func(t *testing.T) {
		req := f.Hosted("")
		req.CurrencyCode = "CLF"
		id := f.made(t, req)
		f.refused(t, "authorize", id, 0, payments.CurrencyNotPayable)
		req = f.Moto(payments.ProcessSale, f.Approved)
		req.CurrencyCode = "XDR"
		_, err := f.make(t, wire.NewKey(), req)
		isRefused(t, err, payments.CurrencyNotPayable)
	})
}

func (f Fixture) authorize(t *testing.T) {
	t.Run("a created payment", func(t *testing.T) {
		for _, req := range []payments.CreateRequest{f.Moto("", f.Approved), f.Hosted("")} {
			id := f.made(t, req)
			f.did(t, "authorize", id, 0)
			f.sums(t, id, amount, 0, 0)
		}
	})
	t.Run("a part", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.did(t, "authorize", id, amount-1)
		f.sums(t, id, amount-1, 0, 0)
		f.refused(t, "capture", id, amount, payments.OverCharge)
	})
	t.Run("too much", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.refused(t, "authorize", id, amount+1, payments.OverCharge)
		f.sums(t, id, 0, 0, 0)
	})
	t.Run("twice", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.did(t, "authorize", id, amount/2)
		f.refused(t, "authorize", id, amount/2, payments.AlreadyReserved)
		f.refused(t, "authorize", f.reserved(t), 0, payments.AlreadyReserved)
		f.refused(t, "authorize", f.paid(t), 0, payments.AlreadyReserved, payments.AlreadyCharged)
		f.sums(t, id, amount/2, 0, 0)
	})
	f.unknown(t, "authorize")
}

// unknown is an operation on no payment at all.
func (f Fixture) unknown(t *testing.T, op string) {
	t.Run("unknown payment", func(t *testing.T) {
		for _, id := range []string{number(), "-1", "1;2", "1 OR 1=1", "１", "a/b", "%2f", "ünï"} {
			_, err := f.act(t, wire.NewKey(), op, id, 1)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
		}
		for _, id := range []string{"", "..", "a\x00b", "a\nb", strings.Repeat("x", payments.MaxID+1)} {
			_, err := f.act(t, wire.NewKey(), op, id, 1)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		}
	})
}

func (f Fixture) capture(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "capture", id, 0)
		f.sums(t, id, amount, amount, 0)
		f.refused(t, "capture", id, 0, payments.AlreadyCharged, payments.OverCharge)
		f.refused(t, "capture", id, 1, payments.AlreadyCharged, payments.OverCharge)
		f.sums(t, id, amount, amount, 0)
	})
	t.Run("parts", func(t *testing.T) {
		id := f.reserved(t)
		a, b := f.did(t, "capture", id, 1), f.did(t, "capture", id, 2500)
		require.NotEqual(t, a.TransactionRef, b.TransactionRef)
		f.refused(t, "capture", id, amount-2500, payments.OverCharge)
		f.sums(t, id, amount, 2501, 0)
		f.did(t, "capture", id, 0)
		require.Len(t, f.sums(t, id, amount, amount, 0).Captures, 3)
	})
	t.Run("too much", func(t *testing.T) {
		id := f.reserved(t)
		f.refused(t, "capture", id, amount+1, payments.OverCharge)
		f.refused(t, "capture", id, 1<<31-1, payments.OverCharge)
		f.sums(t, id, amount, 0, 0)
	})
	t.Run("nothing reserved", func(t *testing.T) {
		for _, req := range []payments.CreateRequest{f.Hosted(""), f.Moto("", f.Approved)} {
			id := f.made(t, req)
			f.refused(t, "capture", id, 0, payments.NotReserved)
			f.refused(t, "capture", id, 1, payments.NotReserved)
			f.sums(t, id, 0, 0, 0)
		}
	})
	t.Run("with a basket", func(t *testing.T) {
		id, part := f.reserved(t), int32(700)
		req := payments.CaptureRequest{Amount: &part, Description: "first parcel", TerminalID: "T1",
			Basket: []payments.BasketItem{{ItemNumber: "1", Title: "Tea", Quantity: 2, UnitPrice: 350, VatPercentage: new(json.Number("25"))}}}
		key := wire.NewKey()
		send := func() (payments.Done, *wire.Pending, error) {
			d, err := f.Service.Capture(t.Context(), key, id, req)
			return d, d.Operation, err
		}
		_, err := call(t, f, send)
		require.NoError(t, err)
		p := f.sums(t, id, amount, part, 0)
		require.NotNil(t, p.Captures[0].Description)
		require.Equal(t, "first parcel", *p.Captures[0].Description)
		req.Basket[0].UnitPrice, key = 351, wire.NewKey()
		_, err = call(t, f, send)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(err))
		f.sums(t, id, amount, part, 0)
	})
	f.unknown(t, "capture")
}

func (f Fixture) cancel(t *testing.T) {
	t.Run("a reservation", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "cancel", id, 0)
		f.sums(t, id, 0, 0, 0)
		for _, op := range []string{"cancel", "capture", "authorize"} {
			f.refused(t, op, id, 0, payments.AlreadyCancelled)
		}
		f.refused(t, "refund", id, 1, payments.ChargeNotFound, payments.AlreadyCancelled)
		f.sums(t, id, 0, 0, 0)
	})
	t.Run("after capture", func(t *testing.T) {
		id := f.paid(t)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.sums(t, id, amount, amount, 0)
		id = f.reserved(t)
		f.did(t, "capture", id, 1)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.sums(t, id, amount, 1, 0)
	})
	t.Run("nothing reserved", func(t *testing.T) {
		f.refused(t, "cancel", f.made(t, f.Hosted("")), 0, payments.NotReserved)
	})
	f.unknown(t, "cancel")
}

func (f Fixture) refund(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		id := f.paid(t)
		f.did(t, "refund", id, 0)
		f.sums(t, id, amount, amount, amount)
		f.refused(t, "refund", id, 1, payments.PaymentAlreadyRefunded, payments.InvalidRefundAmount)
		f.refused(t, "refund", id, 0, payments.PaymentAlreadyRefunded, payments.InvalidRefundAmount)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.refused(t, "capture", id, 0, payments.AlreadyCharged, payments.OverCharge)
	})
	t.Run("parts", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "capture", id, 600)
		f.did(t, "refund", id, 100)
		f.refused(t, "refund", id, 501, payments.InvalidRefundAmount)
		f.did(t, "refund", id, 200)
		f.sums(t, id, amount, 600, 300)
		f.did(t, "capture", id, 400)
		f.did(t, "refund", id, 0)
		require.Len(t, f.sums(t, id, amount, 1000, 1000).Refunds, 3)
	})
	t.Run("nothing captured", func(t *testing.T) {
		for _, id := range []string{f.reserved(t), f.made(t, f.Hosted(""))} {
			f.refused(t, "refund", id, 1, payments.ChargeNotFound)
		}
	})
	f.unknown(t, "refund")
}

func (f Fixture) read(t *testing.T) {
	t.Run("what was sent", func(t *testing.T) {
		req := f.Moto(payments.ProcessSale, f.Approved)
		req.Customer = &payments.Customer{Type: payments.Individual, FirstName: "Ann", LastName: "Lee", CustomerNumber: "7", Email: "ann@shop.example",
			Phone: "+46 70", Address: &payments.Address{Address1: "Road 1", Address2: "c/o", City: "Lund", PostalCode: "22100", CountryCode: "SE"}}
		p, err := f.Service.Read(t.Context(), f.made(t, req))
		require.NoError(t, err)
		require.Equal(t, f.Currency, p.CurrencyCode)
		want := payments.CustomerInfo{Type: new(payments.Individual), FirstName: new("Ann"), LastName: new("Lee"), CustomerNumber: new("7"),
			Email: new("ann@shop.example"), Phone: new("+46 70"), Address: payments.AddressInfo{Address1: new("Road 1"),
				Address2: new("c/o"), City: new("Lund"), PostalCode: new("22100"), CountryCode: new("SE")}}
		require.Equal(t, want, p.Customer)
		require.NotNil(t, p.PaymentDetails)
		require.NotNil(t, p.PaymentDetails.PaymentMethodType)
		require.Equal(t, payments.KindCard, *p.PaymentDetails.PaymentMethodType)
		card := p.PaymentDetails.CardDetails
		require.NotNil(t, card)
		require.NotNil(t, card.MaskedPAN)
		require.NotContains(t, *card.MaskedPAN, f.Approved[6:len(f.Approved)-4])
		require.EqualValues(t, 2099, *card.ExpiryYear)
		require.EqualValues(t, 12, *card.ExpiryMonth)
	})
	t.Run("unknown payment", func(t *testing.T) {
		_, err := f.Service.Read(t.Context(), number())
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		for _, id := range []string{"", ".", "a\x00b", strings.Repeat("x", payments.MaxID+1)} {
			_, err := f.Service.Read(t.Context(), id)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		}
	})
}
