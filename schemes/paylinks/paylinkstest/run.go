package paylinkstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven, with the knobs the suite turns. Every reference and Key is fresh, so one service serves the
// whole run.
type Fixture struct {
	Links        paylinks.Links
	Transactions paylinks.Transactions
	Currency     string // "" means EUR
	Amount       int64  // cents, at least 1000: whoever pays it succeeds
	// Pay lets the customer of a link pay.
	Pay func(t *testing.T, link paylinks.Link)
	// Tick lets some time pass between two reads; nil: nothing needs time.
	Tick func(t *testing.T)
	// Settle lets a stored call be sent; nil: answers are never pending.
	Settle func(t *testing.T, op *wire.Pending)
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *Wire
}

// Wire is where the raw cases send their requests. Doer adds what the service wants besides the signature (nothing, mostly).
type Wire struct {
	BaseURL  string
	Doer     wire.Doer
	Instance string
	Secret   wire.Secret
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Links)
	require.NotNil(t, f.Transactions)
	if f.Settle != nil {
		f.Links, f.Transactions = waitingLinks{f.Links, t, f.Settle}, waitingTxns{f.Transactions, t, f.Settle}
	}
	require.NotNil(t, f.Pay)
	require.GreaterOrEqual(t, f.Amount, int64(1000))
	if f.Currency == "" {
		f.Currency = "EUR"
	}
	wiretest.Groups{
		{"links", f.links}, {"idempotency", f.idempotency}, {"paid", f.paid}, {"held", f.held},
		{"refund", f.refund}, {"list", f.list}, {"unknown", f.unknown}, {"validation", f.validation},
	}.Run(t, f.Wire != nil, f.wire)
}

// Request makes a good request with a fresh reference.
func (f Fixture) Request() paylinks.CreateRequest {
	return paylinks.CreateRequest{Title: "Shop order", Description: "Thank you\nfor your order", ReferenceID: reference(), Purpose: "Order 1",
		Amount: f.Amount, Currency: f.Currency}
}

// reference returns an id of an order that does not read like a card number: such a one is masked where it is shown.
func reference() string {
	for {
		if id := string(wire.NewKey()); wire.MaskPANs(id) == id {
			return id
		}
	}
}

func (f Fixture) create(t *testing.T, change func(*paylinks.CreateRequest)) paylinks.Link {
	t.Helper()
	req := f.Request()
	if change != nil {
		change(&req)
	}
	made, err := f.Links.Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	require.Nil(t, made.Operation)
	return made.Link
}

// txn makes a link, lets its customer pay, and waits for the link and its transaction to have a status.
func (f Fixture) txn(t *testing.T, want paylinks.Status, change func(*paylinks.CreateRequest)) (paylinks.Link, paylinks.Transaction) {
	t.Helper()
	link := f.create(t, change)
	f.Pay(t, link)
	for range 200 {
		l, err := f.Links.Read(t.Context(), link.ID)
		require.NoError(t, err)
		if l.Status == want {
			all, err := f.Transactions.List(t.Context(), paylinks.Filter{})
			require.NoError(t, err)
			for _, tx := range all {
				if tx.ReferenceID == link.ReferenceID {
					require.Equal(t, want, tx.Status)
					return l, tx
				}
			}
			require.Fail(t, "a link that is paid has no transaction")
		}
		if f.Tick != nil {
			f.Tick(t)
		}
	}
	require.Fail(t, "the status does not come", string(want))
	return paylinks.Link{}, paylinks.Transaction{}
}

// refused asks for a code, and a reason where one is given.
func refused(t *testing.T, err error, code wire.Code, reasons ...string) {
	t.Helper()
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	if len(reasons) > 0 {
		require.Contains(t, reasons, wire.ReasonOf(err), "%v", err)
	}
}

func (f Fixture) links(t *testing.T) {
	t.Run("create and read", func(t *testing.T) {
		req := f.Request()
		req.VatRate, req.SKU, req.Name, req.PSP, req.PM = "7.7", "P01", "internal ü~+&", []int64{36, 44}, []string{"visa", "twint"}
		req.Fields = map[string]paylinks.Contact{"email": {Mandatory: true, DefaultValue: "a@b.example"}}
		made, err := f.Links.Create(t.Context(), "", req)
		require.NoError(t, err)
		require.NoError(t, paylinks.CheckID(made.ID))
		require.Less(t, made.ID, int64(paylinks.FirstLocalID))
		require.NotNil(t, made.Hash)
		require.NotNil(t, made.Link.Link)
		require.Contains(t, *made.Link.Link, *made.Hash)
		read, err := f.Links.Read(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.Waiting, read.Status)
		for _, l := range []paylinks.Link{made.Link, read} {
			require.Equal(t, made.ID, l.ID)
			require.Equal(t, *made.Hash, *l.Hash)
			require.Equal(t, []string{req.ReferenceID, req.Purpose, req.Currency, req.SKU, req.Name, "7.7"},
				[]string{l.ReferenceID, l.Purpose, l.Currency, l.SKU, l.Name, string(l.VatRate)})
			require.Equal(t, req.Amount, l.Amount)
			require.Equal(t, req.PM, l.PM)
			require.EqualValues(t, 36, l.PSP)
			require.True(t, l.API)
			require.Equal(t, paylinks.Field{Active: true, Mandatory: true}, l.Fields.Email)
			require.NotZero(t, l.CreatedAt)
		}
	})
	t.Run("no key, two links", func(t *testing.T) {
		req := f.Request()
		a, err := f.Links.Create(t.Context(), "", req)
		require.NoError(t, err)
		b, err := f.Links.Create(t.Context(), "", req)
		require.NoError(t, err)
		require.NotEqual(t, a.ID, b.ID)
		require.NotEqual(t, *a.Hash, *b.Hash)
	})
	t.Run("delete", func(t *testing.T) {
		link, key := f.create(t, nil), wire.NewKey()
		for range 2 {
			d, err := f.Links.Delete(t.Context(), key, link.ID)
			require.NoError(t, err, "the same key gives the same answer")
			require.Equal(t, link.ID, d.ID)
		}
		_, err := f.Links.Read(t.Context(), link.ID)
		refused(t, err, wire.NotFound)
		_, err = f.Links.Delete(t.Context(), wire.NewKey(), link.ID)
		refused(t, err, wire.NotFound)
	})
	t.Run("subscription", func(t *testing.T) {
		link := f.create(t, func(r *paylinks.CreateRequest) {
			r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod, r.SubscriptionCancellationInterval = true, "P1M", "P1Y", "P3M"
			r.SubscriptionPeriodMinAmount = 500
		})
		read, err := f.Links.Read(t.Context(), link.ID)
		require.NoError(t, err)
		for _, l := range []paylinks.Link{link, read} {
			require.True(t, l.SubscriptionState)
			require.Equal(t, []string{"P1M", "P1Y", "P3M"}, []string{l.SubscriptionInterval, l.SubscriptionPeriod, l.SubscriptionCancellationInterval})
			require.EqualValues(t, 500, l.SubscriptionPeriodMinAmount)
		}
	})
}

func (f Fixture) idempotency(t *testing.T) {
	key, req := wire.NewKey(), f.Request()
	first, err := f.Links.Create(t.Context(), key, req)
	require.NoError(t, err)
	again, err := f.Links.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, first, again)
	other := req
	other.Amount += 100
	_, err = f.Links.Create(t.Context(), key, other)
	refused(t, err, wire.KeyReused)
	t.Run("an invalid request does not use the key up", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request()
		broken := req
		broken.Amount = 0
		_, err := f.Links.Create(t.Context(), key, broken)
		refused(t, err, wire.Invalid)
		_, err = f.Links.Create(t.Context(), key, req)
		require.NoError(t, err)
	})
	t.Run("at once", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request()
		ids := wiretest.AtOnce(func(int) int64 {
			made, err := f.Links.Create(t.Context(), key, req)
			if err != nil {
				return 0
			}
			return made.ID
		})
		delete(ids, 0)
		require.Len(t, ids, 1, "one key, one link")
	})
}

func (f Fixture) paid(t *testing.T) {
	link, tx := f.txn(t, paylinks.Confirmed, nil)
	require.NotNil(t, tx.Invoice)
	require.Equal(t, f.Amount, tx.Invoice.TotalAmount)
	require.Equal(t, f.Currency, tx.Invoice.CurrencyAlpha3)
	require.NotEmpty(t, tx.UUID)
	_, err := time.Parse(paylinks.TimeLayout, tx.Time)
	require.NoError(t, err)
	read, err := f.Transactions.Read(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, tx, read)
	_, err = f.Links.Delete(t.Context(), wire.NewKey(), link.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)
	for _, collect := range []func() error{
		func() error {
			_, err := f.Transactions.Charge(t.Context(), wire.NewKey(), tx.ID, paylinks.ChargeRequest{})
			return err
		},
		func() error { _, err := f.Transactions.Capture(t.Context(), wire.NewKey(), tx.ID); return err },
		func() error { _, err := f.Transactions.Delete(t.Context(), wire.NewKey(), tx.ID); return err },
	} {
		refused(t, collect(), wire.Conflict, paylinks.WrongStatus)
	}
}

func (f Fixture) held(t *testing.T) {
	reserve := func(r *paylinks.CreateRequest) { r.Reservation = true }
	authorize := func(r *paylinks.CreateRequest) { r.PreAuthorization = true }
	check := func(t *testing.T, tx paylinks.Transaction, d paylinks.Done, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, paylinks.Confirmed, d.Status)
		require.Equal(t, tx.ID, d.ID)
		require.Equal(t, tx.UUID, d.UUID)
		_, err = time.Parse(paylinks.TimeLayout, d.Time)
		require.NoError(t, err)
		read, err := f.Transactions.Read(t.Context(), tx.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.Confirmed, read.Status)
	}
	t.Run("charge a reservation", func(t *testing.T) {
		_, tx := f.txn(t, paylinks.Reserved, reserve)
		too := f.Amount + 1
		_, err := f.Transactions.Charge(t.Context(), wire.NewKey(), tx.ID, paylinks.ChargeRequest{Amount: &too})
		refused(t, err, wire.Conflict, paylinks.TooMuch)
		key := wire.NewKey()
		for range 2 {
			d, err := f.Transactions.Charge(t.Context(), key, tx.ID, paylinks.ChargeRequest{Purpose: "p", ReferenceID: "r"})
			check(t, tx, d, err)
		}
		_, err = f.Transactions.Charge(t.Context(), key, tx.ID, paylinks.ChargeRequest{Purpose: "q"})
		refused(t, err, wire.KeyReused)
	})
	t.Run("capture a pre-authorization", func(t *testing.T) {
		_, tx := f.txn(t, paylinks.Authorized, authorize)
		_, err := f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{})
		refused(t, err, wire.Conflict)
		key := wire.NewKey()
		for range 2 {
			d, err := f.Transactions.Capture(t.Context(), key, tx.ID)
			check(t, tx, d, err)
		}
		_, err = f.Transactions.Capture(t.Context(), wire.NewKey(), tx.ID)
		refused(t, err, wire.Conflict, paylinks.WrongStatus)
	})
	t.Run("delete a reservation", func(t *testing.T) {
		_, tx := f.txn(t, paylinks.Reserved, reserve)
		d, err := f.Transactions.Delete(t.Context(), wire.NewKey(), tx.ID)
		require.NoError(t, err)
		require.Equal(t, tx.ID, d.ID)
		read, err := f.Transactions.Read(t.Context(), tx.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.Cancelled, read.Status)
		_, err = f.Transactions.Capture(t.Context(), wire.NewKey(), tx.ID)
		refused(t, err, wire.Conflict, paylinks.WrongStatus)
	})
}

func (f Fixture) refund(t *testing.T) {
	part := int64(400)
	t.Run("in parts", func(t *testing.T) {
		_, tx := f.txn(t, paylinks.Confirmed, nil)
		d, err := f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{Amount: &part})
		require.NoError(t, err)
		require.Equal(t, paylinks.Refunded, d.Status, "S1 3.1: of the route, of a part, too")
		read, err := f.Transactions.Read(t.Context(), tx.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.PartiallyRefunded, read.Status)
		too := f.Amount - part + 1
		_, err = f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{Amount: &too})
		refused(t, err, wire.Conflict, paylinks.TooMuch)
		d, err = f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{})
		require.NoError(t, err)
		require.Equal(t, paylinks.Refunded, d.Status)
		_, err = f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{})
		refused(t, err, wire.Conflict, paylinks.WrongStatus, paylinks.TooMuch)
	})
	t.Run("once under a key", func(t *testing.T) {
		_, tx := f.txn(t, paylinks.Confirmed, nil)
		key := wire.NewKey()
		wiretest.AtOnce(func(int) bool {
			_, err := f.Transactions.Refund(t.Context(), key, tx.ID, paylinks.RefundRequest{Amount: &part}) // the sum below tells
			return err == nil
		})
		rest := f.Amount - part
		d, err := f.Transactions.Refund(t.Context(), wire.NewKey(), tx.ID, paylinks.RefundRequest{Amount: &rest})
		require.NoError(t, err, "one key gave money back more than once")
		require.Equal(t, paylinks.Refunded, d.Status)
		_, err = f.Transactions.Refund(t.Context(), key, tx.ID, paylinks.RefundRequest{})
		refused(t, err, wire.KeyReused)
	})
}

func (f Fixture) list(t *testing.T) {
	_, tx := f.txn(t, paylinks.Confirmed, nil)
	at, err := time.Parse(paylinks.TimeLayout, tx.Time)
	require.NoError(t, err)
	has := func(by paylinks.Filter) bool {
		all, err := f.Transactions.List(t.Context(), by)
		require.NoError(t, err)
		for _, one := range all {
			if one.ID == tx.ID {
				return true
			}
		}
		return false
	}
	require.True(t, has(paylinks.Filter{After: at.Add(-time.Second), Before: at.Add(time.Second)}))
	require.False(t, has(paylinks.Filter{After: at}), "greater than, not equal")
	require.False(t, has(paylinks.Filter{Before: at}), "less than, not equal")
	all, err := f.Transactions.List(t.Context(), paylinks.Filter{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 2)
	page, err := f.Transactions.List(t.Context(), paylinks.Filter{Offset: 1, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, all[1:2], page)
	page, err = f.Transactions.List(t.Context(), paylinks.Filter{Offset: 1 << 30})
	require.NoError(t, err)
	require.Empty(t, page)
	for _, by := range []paylinks.Filter{{Offset: -1}, {Limit: -1}, {Limit: 1 << 31}, {Offset: 1 << 31}} {
		_, err = f.Transactions.List(t.Context(), by)
		refused(t, err, wire.Invalid)
	}
}

func (f Fixture) unknown(t *testing.T) {
	ctx := t.Context()
	for _, id := range []int64{paylinks.FirstLocalID - 1, 0, -1, 1 << 31} {
		_, a := f.Links.Read(ctx, id)
		_, b := f.Links.Delete(ctx, wire.NewKey(), id)
		_, c := f.Transactions.Read(ctx, id)
		_, d := f.Transactions.Charge(ctx, wire.NewKey(), id, paylinks.ChargeRequest{})
		_, e := f.Transactions.Capture(ctx, wire.NewKey(), id)
		_, g := f.Transactions.Refund(ctx, wire.NewKey(), id, paylinks.RefundRequest{})
		_, h := f.Transactions.Delete(ctx, wire.NewKey(), id)
		for _, err := range []error{a, b, c, d, e, g, h} {
			if paylinks.CheckID(id) == nil {
				refused(t, err, wire.NotFound)
			} else {
				require.Contains(t, []wire.Code{wire.NotFound, wire.Invalid}, wire.CodeOf(err), "%d: %v", id, err)
			}
		}
	}
}

func (f Fixture) validation(t *testing.T) {
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			req := f.Request()
			c.Break(&req)
			_, err := f.Links.Create(t.Context(), wire.NewKey(), req)
			refused(t, err, wire.Invalid)
			require.ErrorContains(t, err, c.Names)
		})
	}
	for _, n := range []int64{0, -1, 1 << 31} {
		_, err := f.Transactions.Charge(t.Context(), wire.NewKey(), 1, paylinks.ChargeRequest{Amount: &n})
		refused(t, err, wire.Invalid)
		_, err = f.Transactions.Refund(t.Context(), wire.NewKey(), 1, paylinks.RefundRequest{Amount: &n})
		refused(t, err, wire.Invalid)
	}
}
