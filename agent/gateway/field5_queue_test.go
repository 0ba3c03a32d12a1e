package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
)

// refs are the names of the entries in a payment's reading.
var refs = regexp.MustCompile(`,?"transactionRef":"[^"]*"`)

// TestField5_QueueAnEntryWithoutANameIsNobodyElses: a client refunded a payment that it had made, at a
// service that honours no Keys, and the answer was lost. The reading showed the refund, whose entry has no
// name, as with each service but ours. It was counted as the create's, whose answer names no transaction
// either: no effect was seen, and the refund was sent again. It went back twice; and a refund that was
// answered ended in doubt. What has no name is nobody's (law II). The kind: what is compared by entries,
// refund and capture; the first one on a payment and a later one; an answer that is lost or heard. Where the
// reading before lagged behind one of its kind it cannot be told whose the entry is: that is in doubt.
func TestField5_QueueAnEntryWithoutANameIsNobodyElses(t *testing.T) {
	kind := map[string]struct {
		processing string
		do         func(s *shop, key wire.Key, id string) (payments.Done, error)
	}{
		"capture": {payments.ProcessAuthorize, func(s *shop, key wire.Key, id string) (payments.Done, error) {
			return s.pay.Capture(s.t.Context(), key, id, payments.CaptureRequest{Amount: some(300)})
		}},
		"refund": {payments.ProcessSale, func(s *shop, key wire.Key, id string) (payments.Done, error) {
			return s.pay.Refund(s.t.Context(), key, id, payments.RefundRequest{Amount: some(300)})
		}},
	}
	for name, c := range kind {
		for way, is := range map[string]struct {
			before        int // of its kind, on the same payment
			lost, arrives bool
			lags          bool // the reading before it
			want          outbox.State
		}{
			"the first, lost":              {0, true, true, false, outbox.Done},
			"the first, heard":             {0, false, true, false, outbox.Done},
			"a later one, lost":            {1, true, true, false, outbox.Done},
			"a later one, heard":           {1, false, true, false, outbox.Done},
			"behind data that lag":         {1, true, true, true, outbox.Doubt},
			"behind data that lag, missed": {1, true, false, true, outbox.Doubt},
		} {
			t.Run(fmt.Sprint(name, ", ", way), func(t *testing.T) {
				inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
					var kept []byte // a reading from before
					last, lags, sent := false, false, 0
					s.cable.set(false, without(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
						if r.Method != http.MethodGet {
							sent++
							if last && !is.arrives {
								return nil, errNoAnswer
							}
							resp, err := answer()
							if last && is.lost {
								return nil, errNoAnswer
							}
							return resp, err
						}
						resp, err := answer()
						if err != nil {
							return resp, err
						}
						text, err := io.ReadAll(resp.Body)
						if text = refs.ReplaceAll(text, nil); kept == nil {
							kept = text
						}
						if lags {
							lags, text = false, kept
						}
						resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
						return resp, err
					}))
					made, err := s.pay.Create(t.Context(), "", moto(c.processing, 1000))
					require.NoError(t, err)
					require.Nil(t, made.Operation)
					kept = nil
					for range is.before {
						d, err := c.do(s, "", made.PaymentID)
						require.NoError(t, err)
						require.Nil(t, d.Operation, "it is done")
					}
					last, lags, sent = true, is.lags, 0
					d, err := c.do(s, "k", made.PaymentID)
					require.NoError(t, err)
					require.Equal(t, is.lost, d.Operation != nil)
					s.pass(5 * time.Minute)
					require.Equal(t, 1, sent, "it leaves once")
					ops := s.ops()
					require.Equal(t, is.want, ops[len(ops)-1].State, ops[len(ops)-1].Reason)
					again, err := c.do(s, "k", made.PaymentID)
					require.NoError(t, err)
					require.Equal(t, is.lost, again.TransactionRef == "L"+string(ops[len(ops)-1].Key), "its own name, where none was heard")
				})
			})
		}
	}
}

// TestField5_QueueWhatWasDoneAtOtherBooksIsNoneOfTheseHere: a transaction was given back in part, the provider
// changed, and there a transaction had the same number. Its refund's answer was lost; of what the reading
// showed as given back, as much was taken for the refund at the provider before. No effect was seen, and it
// was sent again: it went back twice. A number of the service's names a thing at one account (law III), and
// what was done to it belongs there (law IV). The kind: what is compared with the operations that are done on
// the same thing. What was made here has a local id of its own; the register's undos compare no others. Back
// at the provider before, what was done there counts again.
func TestField5_QueueWhatWasDoneAtOtherBooksIsNoneOfTheseHere(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		at := func(do func(tx store.Tx, service, place string) error, place string) {
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return do(tx, gateway.Paylinks, place) }))
		}
		refund := func(id int64) paylinks.Done {
			d, err := s.front.Transactions().Refund(t.Context(), "", id, paylinks.RefundRequest{Amount: cents(300)})
			require.NoError(t, err)
			return d
		}
		before := s.paid()
		require.Nil(t, refund(before.ID).Operation)
		s.stop()
		at0 := s.backend
		defer func() { require.NoError(t, at0.Close()) }()
		s.backend = openBackend(t)
		s.cable.to = wiretest.Direct(s.backend.Handler())
		s.start()
		s.pass(time.Second)
		at(gateway.Leave, "https://a.example")
		now := s.paid()
		require.Equal(t, before.ID, now.ID, "both count alike")
		sent := 0
		s.cable.set(false, without(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			resp, err := answer()
			if r.Method != http.MethodGet {
				sent++
				return nil, errNoAnswer
			}
			return resp, err
		}))
		d := refund(now.ID)
		require.NotNil(t, d.Operation)
		s.pass(5 * time.Minute)
		require.Equal(t, 1, sent, "it leaves once")
		s.is(d.Operation.Key, outbox.Done)
	})
}

// The same of what an answer names: the transactionRef of a refund at the provider before is none of the new one's, and one of the
// same books is another's answer. The payment is nobody's here.
func TestField5_QueueATransactionRefIsOfItsBooks(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return answer()
			}
			return page(200, `{"paymentId":"7","transactionRef":"1"}`), nil
		})
		at := func(do func(tx store.Tx, service, place string) error, place string) {
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return do(tx, gateway.Payments, place) }))
		}
		refund := func() *wire.Pending {
			d, err := s.pay.Refund(t.Context(), "", "7", payments.RefundRequest{Amount: some(100)})
			require.NoError(t, err)
			return d.Operation
		}
		require.Nil(t, refund())
		at(gateway.Leave, "https://a.example")
		require.Nil(t, refund(), "the first one of these books")
		at(gateway.Leave, "https://b.example")
		require.Nil(t, refund(), "the first one of these books")
		at(gateway.Leave, "https://c.example")
		at(gateway.Return, "https://a.example")
		require.NotNil(t, refund(), "it is the answer of then")
	})
}

// TestField5_QueueARepeatIsNoneOfWhatHasItsIdNow: a client repeated a write that was done at the provider
// before, and a thing that was made here at the new one had the number by then: the repeat was done to that.
// Another order's link was taken back, another customer's payment refunded. Under one key of the client's the
// same path is the same request (MONEY C.8). The kind: each write that names a thing of its own; under
// another key it is a new one, and under its own key the thing of now answers for itself.
func TestField5_QueueARepeatIsNoneOfWhatHasItsIdNow(t *testing.T) {
	for name, kind := range map[string]struct {
		make func(s *shop, key wire.Key) string
		do   func(s *shop, key wire.Key, id string) (any, error)
	}{
		"a link": {func(s *shop, key wire.Key) string {
			made, err := s.front.Links().Create(s.t.Context(), key, order())
			require.NoError(s.t, err)
			return fmt.Sprint(made.ID)
		}, func(s *shop, key wire.Key, id string) (any, error) {
			n, err := strconv.ParseInt(id, 10, 64)
			require.NoError(s.t, err)
			return s.front.Links().Delete(s.t.Context(), key, n)
		}},
		"a payment": {func(s *shop, key wire.Key) string {
			made, err := s.pay.Create(s.t.Context(), key, moto(payments.ProcessSale, 1000))
			require.NoError(s.t, err)
			return made.PaymentID
		}, func(s *shop, key wire.Key, id string) (any, error) {
			return s.pay.Refund(s.t.Context(), key, id, payments.RefundRequest{Amount: some(300)})
		}},
		"a stored card": {func(s *shop, key wire.Key) string {
			made, err := s.tok.CreateRecurring(s.t.Context(), key, tokens.RecurringRequest{TokenSecret: "secret"})
			require.NoError(s.t, err)
			return made.TokenizationID
		}, func(s *shop, key wire.Key, id string) (any, error) { return s.tok.Verify(s.t.Context(), key, id) }},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				var made []byte // the answer to the first create
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					resp, err := answer()
					if err != nil || r.Method != http.MethodPost || made != nil {
						return resp, err
					}
					made, err = io.ReadAll(resp.Body)
					resp.Body = io.NopCloser(bytes.NewReader(made))
					return resp, err
				})
				id := kind.make(s, "c1")
				told, err := kind.do(s, "k1", id)
				require.NoError(t, err)
				require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
					for _, service := range []string{gateway.Payments, gateway.Tokens, gateway.Paylinks} {
						if err := gateway.Leave(tx, service, "https://a.example"); err != nil {
							return err
						}
					}
					return nil
				}))
				creates := true // of another thing, which gets the same id
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method == http.MethodGet || !creates {
						return answer()
					}
					creates = false
					status := http.StatusCreated
					if name == "a link" {
						status = http.StatusOK
						made = regexp.MustCompile(`"referenceId":"[^"]*",?`).ReplaceAll(made, nil)
					}
					resp := page(status, string(made))
					resp.Header.Set("Content-Type", "application/json")
					resp.Header.Set(wire.KeyHeader, r.Header.Get(wire.KeyHeader))
					return resp, nil
				})
				require.Equal(t, id, kind.make(s, "c2"))
				sent := len(s.cable.writes())
				again, err := kind.do(s, "k1", id)
				require.NoError(t, err)
				require.Equal(t, told, again)
				require.Len(t, s.cable.writes(), sent, "nothing was sent")

				for range 2 {
					_, err = kind.do(s, "k2", id)
					require.Equal(t, name == "a link", wire.CodeOf(err) == wire.NotFound, "%v", err) // the link is gone there
					require.Len(t, s.cable.writes(), sent+1, "a new one, and its repeat")
				}
			})
		})
	}
}

// TestField5_QueueASuccessWithoutARecordIsAnAnswer: the service said that a link was made, and showed none, or
// not as a list. It was made again each minute for a day. The kind: what TestField2_M51 says of a record that
// is of no use.
func TestField5_QueueASuccessWithoutARecordIsAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		once bool
	}{
		"none":          {`{"status":"success","data":[]}`, true},
		"nothing":       {`{"status":"success"}`, true},
		"null":          {`{"status":"success","data":null}`, true},
		"an object":     {`{"status":"success","data":{"id":7}}`, true},
		"no success":    {`{"status":"fine","data":[]}`, false},
		"another thing": {`{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				calls := 0
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method == http.MethodGet {
						return answer()
					}
					calls++
					resp := page(200, c.body)
					resp.Header.Set("Content-Type", "application/json")
					return resp, nil
				})
				_, err := s.front.Links().Create(t.Context(), "k1", order())
				require.NoError(t, err)
				s.pass(10 * time.Minute)
				require.Equal(t, c.once, calls == 1, "%d", calls)
				require.Equal(t, c.once, s.ops()[0].State == outbox.Doubt, s.ops()[0].Reason)
			})
		})
	}
}

// TestField5_QueueARepeatIsAnsweredWithoutASpaceToWrite: a client repeated a refund under its key while the
// disk was full. It was told "unavailable", which says that nothing was sent and nothing will be, of a refund
// that was done: it gave the money back another way. What can be read is told (law I); where nothing can be
// read it is not known. What is new is refused as before. The kind: each write under a client's key, done or
// under way, by each of its errors.
func TestField5_QueueARepeatIsAnsweredWithoutASpaceToWrite(t *testing.T) {
	for name, way := range map[string]mode{"done": straight, "under way": lost} {
		for _, medium := range []error{store.ErrFull, store.ErrIO, store.ErrReadOnly} {
			t.Run(fmt.Sprint(name, ", ", medium), func(t *testing.T) {
				inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
					made, err := s.pay.Create(t.Context(), "c", moto(payments.ProcessSale, 1000))
					require.NoError(t, err)
					tx := s.paid()
					kind := map[string]func(key wire.Key) (any, *wire.Pending, error){
						"payment": func(key wire.Key) (any, *wire.Pending, error) {
							c, err := s.pay.Create(t.Context(), key, moto(payments.ProcessSale, 700))
							return c.PaymentID, c.Operation, err
						},
						"refund": func(key wire.Key) (any, *wire.Pending, error) {
							d, err := s.pay.Refund(t.Context(), key, made.PaymentID, payments.RefundRequest{Amount: some(300)})
							return d.TransactionRef, d.Operation, err
						},
						"refund of a payment by link": func(key wire.Key) (any, *wire.Pending, error) {
							d, err := s.front.Transactions().Refund(t.Context(), key, tx.ID, paylinks.RefundRequest{Amount: cents(300)})
							return d.Status, d.Operation, err
						},
					}
					s.cable.set(false, way)
					told := map[string]any{}
					for what, do := range kind {
						told[what], _, err = do("k")
						require.NoError(t, err, what)
					}
					s.db.stand(func(context.Context, func() error) error { return medium })
					for what, do := range kind {
						again, pending, err := do("k")
						require.NoError(t, err, what)
						require.Equal(t, name == "done", pending == nil, what)
						require.Equal(t, told[what], again, what)
						_, _, err = do("new")
						require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%s: %v", what, err)
					}
					_, err = s.pay.Refund(t.Context(), "k", made.PaymentID, payments.RefundRequest{Amount: some(400)})
					require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
					s.db.stand(nil)
				})
			})
		}
	}
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		o := s.opts
		o.DB, o.Payments = dead{s.db}, &payments.Client{BaseURL: "http://backend.test", Doer: s.cable}
		o.Vouched = []string{gateway.Payments}
		front := gateway.NewFront(o)
		front.Attach(s.box)
		for key, want := range map[wire.Key]wire.Code{"k": wire.UnknownOutcome, "": wire.Unavailable} {
			_, err := front.Payments().Create(t.Context(), key, moto(payments.ProcessSale, 1000))
			require.Equal(t, want, wire.CodeOf(err), "%v", err)
		}
		require.Empty(t, s.ops())
	})
}

// dead is a store that neither takes nor gives anything.
type dead struct{ store.DB }

func (dead) Write(context.Context, func(store.Tx) error) error    { return store.ErrIO }
func (dead) Read(context.Context, func(store.Reader) error) error { return store.ErrIO }
