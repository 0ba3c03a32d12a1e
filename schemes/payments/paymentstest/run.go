package paymentstest

import (
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
	groups := wiretest.Groups{{"create", f.create}}
	for _, op := range operations() {
		groups = append(groups, wiretest.Groups{{op.name, func(t *testing.T) { op.test(f, t) }}}...)
	}
	groups = append(groups, wiretest.Groups{
		{"read", f.read}, {"idempotency", f.idempotency}, {"at once", f.atOnce}, {"validation", f.validation},
	}...)
	groups.Run(t, f.Wire != nil, f.wire)
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
			require.Empty(t, c.PayPageURL)
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
				require.NotEmpty(t, c.PayPageURL)
				u, err := url.Parse(c.PayPageURL)
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

func (f Fixture) read(t *testing.T) {
	t.Run("what was sent", func(t *testing.T) {
		req := f.Moto(payments.ProcessSale, f.Approved)
		req.Customer = &payments.Customer{Type: payments.Individual, FirstName: "Ann", LastName: "Lee", CustomerNumber: "7", Email: "ann@shop.example",
			Phone: "+46 70", Address: &payments.Address{Address1: "Road 1", Address2: "c/o", City: "Lund", PostalCode: "22100", CountryCode: "SE"}}
		p, err := f.Service.Read(t.Context(), f.made(t, req))
		require.NoError(t, err)
		require.Equal(t, f.Currency, p.CurrencyCode)
		want := payments.CustomerInfo{Type: new(payments.Individual), FirstName: new("Ann"), LastName: new("Lee"), CustomerNumber: new("7"),
			Email: new("ann@shop.example"), Phone: new("+46 70"), Address: payments.AddressInfo{Address1: "Road 1",
				Address2: new("c/o"), City: "Lund", PostalCode: "22100", CountryCode: "SE"}}
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
