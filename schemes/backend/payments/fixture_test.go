package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// bank is Cards on a site of its own.
type bank struct {
	*Cards
	*roomtest.Site
	t testing.TB
}

func newBank(t testing.TB) *bank {
	t.Helper()
	b := &bank{Site: roomtest.New(t, time.UnixMilli(1_800_000_000_000), Schema()), t: t} // 2027-01-15
	b.Setup(func() {
		var err error
		b.Cards, err = New(Options{Options: b.Options("http://shop.example:8490/", "Corner Shop"), Deliver: &b.Mail, MerchantNumber: 42})
		require.NoError(t, err)
	})
	return b
}

// pan is the number of a test card.
func pan(t testing.TB, name string) string { return roomtest.PAN(t, name) }

func plastic(t testing.TB, name string) *payments.CardDetails {
	return &payments.CardDetails{PAN: wire.NewPAN(pan(t, name)), ExpiryYear: 2030, ExpiryMonth: 12, ValidationCode: "737"}
}

func everyHook() *payments.Notifications {
	n := &payments.Notifications{}
	for _, name := range webhooks.Names()[:12] {
		n.WebHooks = append(n.WebHooks, payments.WebHook{EventName: string(name), URL: "https://hooks.example/in", Authorization: "hook-secret"})
	}
	return n
}

func moto(t testing.TB, name, processing string) payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.Moto, Amount: 10_000, CurrencyCode: "EUR", Processing: processing, CardDetails: plastic(t, name), PaymentNumber: "A1",
		Notifications: everyHook(),
	}
}

func hosted(processing string) payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.ProviderHosted, Amount: 10_000, CurrencyCode: "EUR", Processing: processing, Notifications: everyHook(),
		RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
		Customer: &payments.Customer{Type: payments.Individual, FirstName: "Ann", LastName: "Lee", Email: "ann@shop.example", Phone: "+4670123",
			Address: &payments.Address{Address1: "Road 1", City: "Lund", PostalCode: "22100", CountryCode: "SE"}},
		Basket: []payments.BasketItem{{ItemNumber: "T1", Title: "Tea", Quantity: 4, UnitPrice: 2500}},
	}
}

func (b *bank) make(req payments.CreateRequest) string {
	b.t.Helper()
	out, err := b.Create(b.t.Context(), wire.NewKey(), req)
	require.NoError(b.t, err)
	return out.PaymentID
}

// names of the events queued since the last call.
func (b *bank) told() []string {
	b.t.Helper()
	out := []string{}
	for _, m := range b.Mail.Take() {
		e, err := webhooks.Parse(m.Body)
		require.NoError(b.t, err, string(m.Body))
		require.Equal(b.t, m.ID, e.ID)
		require.Equal(b.t, m.Event, string(e.Name))
		require.EqualValues(b.t, 42, e.MerchantNumber)
		out = append(out, string(e.Name)[len("payment."):])
	}
	return out
}

func (b *bank) sums(id string) [3]int32 {
	b.t.Helper()
	p, err := b.Read(b.t.Context(), id)
	require.NoError(b.t, err)
	return [3]int32{p.Summary.AuthorizedAmount, p.Summary.CapturedAmount, p.Summary.RefundedAmount}
}

func (b *bank) state(id string) State {
	b.t.Helper()
	p, err := b.peek(b.t.Context(), "test", id, func(*payment, store.Reader) error { return nil })
	require.NoError(b.t, err)
	return p.state
}

// asked is the attempt that the bank asks about, 0 = none.
func (b *bank) asked(id string) int64 {
	b.t.Helper()
	v, err := b.look(b.t.Context(), id)
	require.NoError(b.t, err)
	return v.Attempt
}

// balanced holds the postings of one payment against its ledger.
func (b *bank) balanced(id string) {
	b.t.Helper()
	require.NoError(b.t, b.DB.Read(b.t.Context(), func(r store.Reader) error {
		rows, err := r.Query(`SELECT account, amount FROM books_posting WHERE service = ? AND payment = ?`, Service, id)
		require.NoError(b.t, err)
		defer rows.Close()
		var posts []books.Posting
		for rows.Next() {
			var account string
			var amount int64
			require.NoError(b.t, rows.Scan(&account, &amount))
			posts = append(posts, books.Posting{Account: books.Account(account), Amount: money.Minor(amount)})
		}
		require.Zero(b.t, books.Sum(posts))
		l, err := ledger(r, id)
		require.NoError(b.t, err)
		require.Equal(b.t, l.Net(), books.NetOf(posts))
		return rows.Err()
	}))
}

func refusedFor(t testing.TB, err error, reason string) {
	t.Helper()
	require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
}

func amount(n int32) *int32 { return &n }
