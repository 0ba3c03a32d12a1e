package payments

import (
	"testing"

	"github.com/stretchr/testify/require"

	deliver "posagent/schemes/backend/webhooks"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
	"posagent/schemes/wire"
)

// Clients in the field read these fields of an address into variables that take no null.
func TestAnAddressIsTexts(t *testing.T) {
	b := newBank(t)
	bare := moto(t, "visa", "")
	bare.Customer = nil
	half := moto(t, "visa", "")
	half.Customer = &payments.Customer{Type: payments.Individual, Address: &payments.Address{City: "Lund"}}
	for _, c := range []struct {
		req  payments.CreateRequest
		city string
	}{{bare, ""}, {half, "Lund"}} {
		p, err := b.Read(t.Context(), b.make(c.req))
		require.NoError(t, err)
		a := p.Customer.Address
		require.Equal(t, []string{"", c.city, "", ""}, []string{a.Address1, a.City, a.PostalCode, a.CountryCode})
		require.Nil(t, a.Address2)
	}
}

// A basket that is captured or refunded without an amount must be what is left.
func TestABasketNeverMovesMoreThanItSays(t *testing.T) {
	b := newBank(t)
	ctx, id := t.Context(), b.make(moto(t, "visa", payments.ProcessAuthorize))
	basket := func(n int32) []payments.BasketItem { return []payments.BasketItem{{Quantity: 1, UnitPrice: n}} }
	_, err := b.Capture(ctx, "", id, payments.CaptureRequest{Basket: basket(300)})
	require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(err), "%v", err)
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	require.Equal(t, [3]int32{10_000, 0, 0}, b.sums(id))
	_, err = b.Capture(ctx, "", id, payments.CaptureRequest{Basket: basket(10_000)})
	require.NoError(t, err)
	_, err = b.Refund(ctx, "", id, payments.RefundRequest{Basket: basket(4_999)}) // and at most as much VAT on top
	require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(err), "%v", err)
	require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
	_, err = b.Refund(ctx, "", id, payments.RefundRequest{Basket: basket(10_000)})
	require.NoError(t, err)
}

// A basket may fit although one of its lines is more than an event's numbers hold.
func TestLinesThatNoEventCanCarry(t *testing.T) {
	b := newBank(t)
	req := moto(t, "visa", payments.ProcessSale)
	req.Basket = []payments.BasketItem{{Quantity: 3, UnitPrice: 2_000_000_000}, {Quantity: 3, UnitPrice: -1_999_990_000}, {Quantity: 1, UnitPrice: -20_000}}
	req.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: string(webhooks.ChargeCreated), URL: "https://x.example/"}}}
	b.make(req)
	require.NotEmpty(t, b.Mail.Sent)
	for _, m := range b.Mail.Sent {
		require.NoError(t, webhookstest.Strict(m.Body))
		e, err := webhooks.Parse(m.Body)
		require.NoError(t, err)
		if d, ok := e.Data.(*webhooks.Movement); ok {
			require.Equal(t, webhooks.OrderItems{{Reference: (*d.OrderItems)[0].Reference, Name: "Payment", Quantity: 1, Unit: "pcs", UnitPrice: 10_000,
				NetTotalAmount: 10_000, GrossTotalAmount: 10_000}}, *d.OrderItems)
		}
	}
}

// What is refused before there is a payment leaves nobody to be told.
func TestARefusedCreateRegistersNobody(t *testing.T) {
	b := newBank(t)
	unknown := moto(t, "visa", "")
	unknown.CardDetails.PAN = wire.NewPAN("4242424242424242")
	old := moto(t, "visa", "")
	old.CardDetails.ExpiryYear = 2020
	nobodys := withToken(payments.PaymentMethodDetails{Type: payments.WithToken, Token: "nobody's"})
	for _, req := range []payments.CreateRequest{unknown, old, nobodys} {
		req.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: string(webhooks.PaymentCreated), URL: "https://x.example/"}}}
		_, err := b.Create(t.Context(), "", req)
		require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
		require.Equal(t, map[string][]deliver.Hook{}, b.Mail.Hooks)
	}
}
