package paylink_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/gateway"
	"posagent/agent/paylink"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// desk is a service over a bank, in a bubble, without checkout and outbox.
type desk struct {
	t    *testing.T
	bank *bank
	db   store.Journal
	svc  *paylink.Service
}

func service(t *testing.T, test func(d *desk)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, bank: newBank()}
		d.db = storetest.OpenAt(t, dir+"/a.db", paylink.Schema()...)
		defer func() { require.NoError(t, d.db.Close()) }()
		d.again("demo")
		test(d)
	})
}

// again starts the service anew, for an account.
func (d *desk) again(instance string) {
	d.svc = paylink.New(paylink.Options{DB: d.db, Links: linkHalf{d.bank}, Transactions: txnHalf{d.bank}, Instance: instance, Title: "Shop", Now: drivetest.Now})
}

func request(ref, original string, amount int64) aapay.Request {
	return aapay.Request{
		MerchantID: "M1", Method: gateway.MethodPaylink, TerminalReference: ref, OriginalReference: original, Consumer: &aapay.Consumer{},
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: amount, TotalAmount: amount},
	}
}

func (d *desk) do(typ aapay.Type, ref, original string, amount int64) (aapay.Reply, error) {
	return d.svc.InitializeWithIdempotency(d.t.Context(), wire.Key("key-"+ref), typ, request(ref, original, amount))
}

// must makes a request that has to be taken.
func (d *desk) must(typ aapay.Type, ref, original string, amount int64) {
	d.t.Helper()
	reply, err := d.do(typ, ref, original, amount)
	require.NoError(d.t, err)
	require.Equal(d.t, 202, reply.HTTPStatus)
}

func (d *desk) state(ref string) aapay.State {
	d.t.Helper()
	st, err := d.svc.Status(d.t.Context(), ref, "")
	require.NoError(d.t, err)
	return st.State
}

// paid makes a payment that was paid; it returns the transactionId.
func (d *desk) paid(ref string, amount int64) string {
	d.t.Helper()
	d.must(aapay.Payment, ref, "", amount)
	d.bank.lock(func() { require.True(d.t, d.bank.pay(d.bank.of(d.t, ref))) })
	require.Equal(d.t, aapay.Finalized, d.state(ref))
	return strconv.FormatInt(d.bank.of(d.t, ref).ID, 10)
}

func TestWhatALinkAsksFor(t *testing.T) {
	service(t, func(d *desk) {
		var got paylinks.CreateRequest
		d.svc = paylink.New(paylink.Options{DB: d.db, Links: spy{linkHalf{d.bank}, &got}, Transactions: txnHalf{d.bank}, Instance: "demo", Title: "Shop", Now: drivetest.Now,
			Trusted: func() (time.Time, bool) { return drivetest.Now(), true }})
		d.must(aapay.Payment, "p1", "", 1250)
		day := drivetest.Now().AddDate(0, 0, 2).UTC().Format(time.DateOnly)
		require.Equal(t, paylinks.CreateRequest{
			Title: "Shop", Description: "Shop", Purpose: "Shop", ReferenceID: "p1", Amount: 1250, Currency: "EUR", HideFields: true, ExpirationDate: day,
		}, got)
	})
}

func TestWordsOfALink(t *testing.T) {
	for word, want := range map[paylinks.Status]struct {
		state   aapay.State
		account aapay.AccountState
	}{
		paylinks.Waiting:    {aapay.Initialized, ""},
		paylinks.Confirmed:  {aapay.Finalized, aapay.Commit},
		paylinks.Authorized: {aapay.Reserved, ""},
		paylinks.Reserved:   {aapay.Reserved, ""},
		paylinks.Expired:    {aapay.TimedOut, ""}, // it is there: it is undone, not believed
		paylinks.Declined:   {aapay.TimedOut, ""},
		paylinks.Cancelled:  {aapay.TimedOut, ""},
		"brand-new":         {aapay.Pending, ""},
		"":                  {aapay.Pending, ""},
	} {
		service(t, func(d *desk) {
			d.must(aapay.Payment, "p1", "", 500)
			d.bank.links[0].Status = word
			st, err := d.svc.Status(d.t.Context(), "p1", "")
			require.NoError(t, err)
			require.Equal(t, want.state, st.State, word)
			require.Equal(t, want.account, st.AccountState, word)
			require.Equal(t, *d.bank.links[0].Link.Link, st.QRCodePayload)
		})
	}
}

func TestALostReplyLeavesALinkNobodyHasSeen(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		service(t, func(d *desk) {
			d.bank.keyed = keyed
			d.bank.spoil(nil, func(string) error { return errLost })
			_, err := d.do(aapay.Payment, "p1", "", 500)
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "it may be sent again, on the same route")
			_, err = d.svc.Status(d.t.Context(), "p1", "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
			d.bank.spoil(nil, nil)
			d.must(aapay.Payment, "p1", "", 500)
			d.must(aapay.Payment, "p1", "", 500)
			made := 2
			if keyed {
				made = 1
			}
			require.Len(t, d.bank.links, made)
			require.Equal(t, aapay.Initialized, d.state("p1"))
		})
	}
}

// The reversal overtakes the reply to the create: the link is not used, and deleted.
func TestALinkThatComesAfterItsReversal(t *testing.T) {
	service(t, func(d *desk) {
		d.bank.spoil(nil, func(call string) error {
			if call == "create" {
				d.bank.spoil(nil, nil)
				d.must(aapay.Reversal, "r1", "p1", 500)
			}
			return nil
		})
		reply, err := d.do(aapay.Payment, "p1", "", 500)
		require.NoError(t, err)
		require.Equal(t, 201, reply.HTTPStatus)
		require.True(t, d.bank.links[0].deleted)
		rest(time.Minute)
		require.EqualValues(t, "REVERSED", d.state("r1"))
		require.Equal(t, aapay.Cancelled, d.state("p1"))
		for _, p := range d.bank.links {
			require.True(t, p.deleted)
		}
	})
}

func TestARefusedLinkIsARejectedPayment(t *testing.T) {
	service(t, func(d *desk) {
		d.bank.refuse = 500
		for range 2 {
			reply, err := d.do(aapay.Payment, "p1", "", 500)
			require.NoError(t, err)
			require.Equal(t, 201, reply.HTTPStatus)
		}
		require.Equal(t, aapay.Rejected, d.state("p1"))
		d.must(aapay.Reversal, "r1", "p1", 500)
		require.EqualValues(t, "REVERSED", d.state("r1"))
	})
}

func TestCredentialsThatAreRefusedAreSaidSo(t *testing.T) {
	for _, code := range []wire.Code{wire.Unauthorized, wire.Forbidden, wire.TooMany} {
		service(t, func(d *desk) {
			d.must(aapay.Payment, "p1", "", 500)
			d.bank.spoil(func(string) error { return no(code, "") }, nil)
			d.must(aapay.Reversal, "r1", "p1", 500)
			_, err := d.svc.Status(d.t.Context(), "r1", "")
			require.Equal(t, code, wire.CodeOf(err))
		})
	}
}

// A refund of a part is sent again only if a reading shows that it had no effect.
func TestARefundIsComparedBeforeItIsSentAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		silent   bool
		amount   int64
		arrived  bool  // the request whose answer was lost
		besides  int64 // refunded by somebody else meanwhile
		earlier  int64 // refunded before
		want     aapay.State
		returned int64 // in the end
	}{
		"arrived":                        {amount: 200, arrived: true, want: "REFUNDED", returned: 200},
		"did not arrive":                 {amount: 200, want: "REFUNDED", returned: 200},
		"arrived, after another":         {amount: 200, arrived: true, earlier: 100, want: "REFUNDED", returned: 300},
		"somebody else's as well":        {amount: 200, arrived: true, besides: 50, want: gateway.InDoubt, returned: 250},
		"somebody else's only":           {amount: 200, besides: 50, want: gateway.InDoubt, returned: 50},
		"arrived, words only":            {silent: true, amount: 200, arrived: true, want: "REFUNDED", returned: 200},
		"all of it, words only":          {silent: true, amount: 500, arrived: true, want: "REFUNDED", returned: 500},
		"did not arrive, words only":     {silent: true, amount: 200, want: "REFUNDED", returned: 200},
		"after another, words only":      {silent: true, amount: 200, earlier: 100, want: gateway.InDoubt, returned: 100},
		"arrived after another, by word": {silent: true, amount: 200, arrived: true, earlier: 100, want: gateway.InDoubt, returned: 300},
	} {
		t.Run(name, func(t *testing.T) {
			service(t, func(d *desk) {
				d.bank.silent = tc.silent
				id := d.paid("p1", 500)
				if tc.earlier > 0 {
					d.must(aapay.Refund, "r0", id, tc.earlier)
					require.EqualValues(t, "REFUNDED", d.state("r0"))
				}
				lose := func(call string) error {
					if call == "refund" {
						return errLost
					}
					return nil
				}
				if tc.arrived {
					d.bank.spoil(nil, lose)
				} else {
					d.bank.spoil(lose, nil)
				}
				d.must(aapay.Refund, "r1", id, tc.amount)
				d.bank.spoil(nil, nil)
				d.bank.lock(func() {
					if tc.besides > 0 {
						*d.bank.txns[0].Invoice.RefundedAmount += tc.besides
						d.bank.txns[0].Status = paylinks.PartiallyRefunded
					}
				})
				if tc.want == "REFUNDED" && !tc.arrived {
					require.Equal(t, aapay.Pending, d.state("r1"), "it may still be on its way")
					require.Zero(t, d.bank.count("refund"))
				}
				rest(31 * time.Second)
				require.Equal(t, tc.want, d.state("r1"))
				require.Equal(t, tc.want, d.state("r1"))
				require.Equal(t, tc.returned, *d.bank.txns[0].Invoice.RefundedAmount)
			})
		})
	}
}

// A snapshot that is durable and a request that may have left: the next start compares before it sends.
func TestARefundAfterARestart(t *testing.T) {
	for _, arrived := range []bool{false, true} {
		service(t, func(d *desk) {
			id := d.paid("p1", 500)
			lose := func(call string) error {
				if call == "refund" {
					return errLost
				}
				return nil
			}
			if arrived {
				d.bank.spoil(nil, lose)
			} else {
				d.bank.spoil(lose, nil)
			}
			d.must(aapay.Refund, "r1", id, 200)
			d.bank.spoil(nil, nil)
			d.again("demo")
			if !arrived {
				require.Equal(t, aapay.Pending, d.state("r1"))
				rest(31 * time.Second)
			}
			require.EqualValues(t, "REFUNDED", d.state("r1"))
			require.Equal(t, 1, d.bank.count("refund"))
		})
	}
}

func TestARefundThatIsRefusedFails(t *testing.T) {
	service(t, func(d *desk) {
		id := d.paid("p1", 500)
		*d.bank.txns[0].Invoice.RefundedAmount = 450 // by somebody else
		d.must(aapay.Refund, "r1", id, 200)
		require.Equal(t, aapay.Failed, d.state("r1"))
		d.must(aapay.Refund, "r2", id, 50) // what failed takes nothing of the rest
		require.EqualValues(t, "REFUNDED", d.state("r2"))
	})
}

func TestMoneyB15_RefundsOfOneSaleNeverExceedIt(t *testing.T) {
	service(t, func(d *desk) {
		id := d.paid("p1", 500)
		d.must(aapay.Refund, "r1", id, 300)
		for _, tc := range []struct {
			typ      aapay.Type
			original string
			amount   int64
		}{{aapay.Refund, id, 300}, {aapay.Reversal, "p1", 500}, {aapay.Refund, "999", 1}, {aapay.Refund, "p2", 1}} {
			reply, err := d.do(tc.typ, "x"+tc.original+string(tc.typ), tc.original, tc.amount)
			require.NoError(t, err)
			require.Equal(t, 201, reply.HTTPStatus)
		}
		d.must(aapay.Refund, "r2", id, 200)
		require.EqualValues(t, 500, *d.bank.txns[0].Invoice.RefundedAmount)
	})
}

// A begun payment that nobody finishes does not keep an undo open for ever.
func TestMoneyB15_BegunAndLeft(t *testing.T) {
	service(t, func(d *desk) {
		d.bank.careless = true
		d.must(aapay.Payment, "p1", "", 500)
		d.bank.lock(func() { d.bank.begin(d.bank.links[0]) })
		d.must(aapay.Reversal, "r1", "p1", 500)
		require.Equal(t, aapay.Pending, d.state("r1"))
		rest(23 * time.Hour)
		require.Equal(t, aapay.Pending, d.state("r1"))
		rest(2 * time.Hour)
		require.EqualValues(t, "REVERSED", d.state("r1"))
	})
}

func TestAPaymentOfAnotherAmountStopsEverything(t *testing.T) {
	service(t, func(d *desk) {
		d.must(aapay.Payment, "p1", "", 500)
		d.bank.lock(func() {
			d.bank.pay(d.bank.links[0])
			d.bank.txns[0].Invoice.TotalAmount = 400
		})
		d.must(aapay.Reversal, "r1", "p1", 500)
		_, err := d.svc.Status(d.t.Context(), "r1", "")
		require.ErrorContains(t, err, "another amount")
		require.Zero(t, d.bank.count("refund"))
	})
}

func TestAnotherAccount(t *testing.T) {
	service(t, func(d *desk) {
		d.must(aapay.Payment, "p1", "", 500)
		d.again("other")
		_, err := d.svc.Status(d.t.Context(), "p1", "")
		require.ErrorContains(t, err, "account demo")
		d.must(aapay.Reversal, "r1", "p1", 500)
		_, err = d.svc.Status(d.t.Context(), "r1", "")
		require.ErrorContains(t, err, "account demo")
		d.again("demo")
		rest(time.Minute)
		require.Equal(t, aapay.Pending, d.state("r1"))
		rest(time.Minute)
		require.EqualValues(t, "REVERSED", d.state("r1"))
	})
}

func TestAnAlteredEntryIsNotActedUpon(t *testing.T) {
	service(t, func(d *desk) {
		d.must(aapay.Payment, "p1", "", 500)
		require.NoError(t, d.db.Write(d.t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE paylink_entries SET link = 100002`)
			return err
		}))
		_, err := d.svc.Status(d.t.Context(), "p1", "")
		require.ErrorContains(t, err, "changed from outside")
		_, err = d.do(aapay.Reversal, "r1", "p1", 500)
		require.ErrorContains(t, err, "changed from outside")
	})
}

func TestManyTransactionsOfOthers(t *testing.T) {
	service(t, func(d *desk) {
		d.bank.pageCap = 7
		for i := range 40 {
			d.paid("other"+strconv.Itoa(i), 500)
		}
		d.paid("p1", 500)
		d.must(aapay.Reversal, "r1", "p1", 500)
		require.EqualValues(t, "REVERSED", d.state("r1"))
		require.Equal(t, paylinks.Refunded, d.bank.txns[40].Status)
		require.EqualValues(t, 40*500, d.bank.net())
	})
}

func TestTheMethod(t *testing.T) {
	own := paylink.Definition("Payment link", 7, 45*time.Second)
	good, problems := methods.Usable([]methods.Definition{own})
	require.Equal(t, []methods.Definition{own}, good)
	require.Empty(t, problems)
	require.Equal(t, 135*time.Second, methods.StaleAge(own))
	require.True(t, methods.Undoable(own))
	theirs := []methods.Definition{{Name: gateway.MethodPaylink, PaymentProviderID: 4}, {Name: "SWISH", PaymentProviderID: 5}}
	require.Equal(t, []methods.Definition{theirs[1], own}, paylink.Offer(theirs, &own))
	require.Equal(t, []methods.Definition{theirs[1]}, paylink.Offer(theirs, nil), "its name is the terminal's own")
	require.Len(t, theirs, 2)
}

// spy keeps what is asked for.
type spy struct {
	linkHalf
	got *paylinks.CreateRequest
}

func (s spy) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	*s.got = req
	return s.linkHalf.Create(ctx, key, req)
}
