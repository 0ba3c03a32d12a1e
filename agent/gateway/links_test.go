package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/backend"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
)

func linkClient(base string, d wire.Doer) *paylinks.Client {
	who := backend.DemoCredentials()
	return &paylinks.Client{BaseURL: base, Instance: who.Instance, Secret: who.Secret, Doer: d}
}

func order(change ...func(*paylinks.CreateRequest)) paylinks.CreateRequest {
	req := paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: string(wire.NewKey()), Purpose: "Order 7", Amount: 1250, Currency: "EUR"}
	for _, c := range change {
		c(&req)
	}
	return req
}

func reserve(r *paylinks.CreateRequest)   { r.Reservation = true }
func authorize(r *paylinks.CreateRequest) { r.PreAuthorization = true }

func file(name string, data []byte) paylinks.Attachment {
	sum := sha256.Sum256(data)
	return paylinks.Attachment{Name: name, ContentType: "text/plain", Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// paid makes a link, lets its customer pay, and finds his transaction.
func (s *shop) paid(change ...func(*paylinks.CreateRequest)) paylinks.Transaction {
	s.t.Helper()
	made, err := s.front.Links().Create(s.t.Context(), "", order(change...))
	require.NoError(s.t, err)
	require.Nil(s.t, made.Operation)
	s.customer(made.ID)
	return s.txn(made.ReferenceID)
}

// customer pays a link by its backend's id.
func (s *shop) customer(id int64) {
	s.t.Helper()
	l, err := s.backend.Links().Read(s.t.Context(), id)
	require.NoError(s.t, err)
	payLink(s.t, s.cable.to, l)
}

// payLink lets the customer of a link pay, as its page does.
func payLink(t *testing.T, d wire.Doer, l paylinks.Link) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://backend.test/pay/"+*l.Hash+"/pay", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	resp, err := d.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

func (s *shop) txn(reference string) paylinks.Transaction {
	s.t.Helper()
	all, err := s.backend.Transactions().List(s.t.Context(), paylinks.Filter{})
	require.NoError(s.t, err)
	for _, t := range all {
		if t.ReferenceID == reference {
			return t
		}
	}
	require.Fail(s.t, "no transaction")
	return paylinks.Transaction{}
}

func cents(n int64) *int64 { return &n }

// missed loses requests: the backend never sees them.
func missed(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return nil, &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	}
	return answer()
}

func (s *shop) is(key wire.Key, state outbox.State) {
	s.t.Helper()
	op := s.op(key)
	require.Equal(s.t, state, op.State, "%s: %s", op.Kind, op.Reason)
}

// A link is made while the backend is away: 202 with a local id, a place to ask, and what the request said; later both ids name one
// link, and by the local one it is taken back.
func TestLinkIsStoredAndDelivered(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		h := paylinks.Handler(s.front.Links(), s.front.Transactions(), paylinks.HandlerOptions{
			Secret:       func(string) (wire.Secret, error) { return "port", nil },
			OperationURL: func(k wire.Key) string { return "/agent/v1/operations/" + string(k) },
		})
		var last *http.Response
		var text string
		port := &paylinks.Client{BaseURL: "http://port.test", Instance: "shop", Secret: "port", Doer: way(func(r *http.Request) (*http.Response, error) {
			resp, err := wiretest.Direct(h).Do(r)
			require.NoError(t, err)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			last, text, resp.Body = resp, string(data), io.NopCloser(bytes.NewReader(data))
			return resp, nil
		})}
		s.cut()
		req := order(func(r *paylinks.CreateRequest) {
			r.VatRate, r.PM, r.PSP = "7.7", []string{"visa"}, []int64{36}
			r.Fields = map[string]paylinks.Contact{"email": {Mandatory: true, DefaultValue: "a@b.example"}}
		})
		made, err := port.Links().Create(t.Context(), "order-7", req)
		require.NoError(t, err)
		require.NotNil(t, made.Operation)
		require.Equal(t, http.StatusAccepted, last.StatusCode)
		require.Equal(t, "/agent/v1/operations/"+string(made.Operation.Key), last.Header.Get("Location"))
		require.Contains(t, text, `"status":"success"`)
		require.Contains(t, text, `"hash":null`)
		require.Contains(t, text, `"link":null`)
		require.GreaterOrEqual(t, made.ID, int64(paylinks.FirstLocalID))
		require.Equal(t, wire.PendingStatus, made.Operation.Status)
		again, err := port.Links().Create(t.Context(), "order-7", req)
		require.NoError(t, err)
		require.Equal(t, made, again, "one key, one link")
		other := req
		other.Amount++
		_, err = port.Links().Create(t.Context(), "order-7", other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err))

		read, err := port.Links().Read(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, made.ID, read.ID)
		require.Equal(t, []any{paylinks.Waiting, req.ReferenceID, int64(1250), paylinks.Percent("7.7"), paylinks.Provider(36), []string{"visa"}},
			[]any{read.Status, read.ReferenceID, read.Amount, read.VatRate, read.PSP, read.PM})
		require.Nil(t, read.Hash)
		require.Nil(t, read.Link)
		require.Equal(t, paylinks.Field{Active: true, Mandatory: true}, read.Fields.Email)

		s.pass(3 * time.Hour)
		s.is(made.Operation.Key, outbox.Pending)
		s.mend()
		s.pass(time.Minute)
		final, err := port.Links().Create(t.Context(), "order-7", req)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, last.StatusCode)
		require.Nil(t, final.Operation)
		require.NotNil(t, final.Link.Link)
		require.Less(t, final.ID, int64(paylinks.FirstLocalID))
		for _, id := range []int64{made.ID, final.ID} {
			read, err := port.Links().Read(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, id, read.ID, "the id asked is the id answered")
			require.Equal(t, *final.Hash, *read.Hash)
		}
		s.cut()
		_, err = port.Links().Read(t.Context(), made.ID)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "only the backend knows whether it was paid")
		s.mend()
		s.pass(time.Minute)
		gone, err := port.Links().Delete(t.Context(), "", made.ID)
		require.NoError(t, err)
		require.Nil(t, gone.Operation)
		require.Equal(t, made.ID, gone.ID)
		for _, id := range []int64{made.ID, final.ID} {
			_, err = port.Links().Read(t.Context(), id)
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
			_, err = port.Links().Delete(t.Context(), "", id)
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
		}
		for _, op := range s.ops() {
			require.Equal(t, "link/"+strconv.FormatInt(made.ID, 10), op.Aggregate, "one link, one line, by whatever id")
		}
		for _, w := range s.cable.writes() {
			require.NotContains(t, w.path, strconv.FormatInt(made.ID, 10), "the backend's id is sent")
			require.NotEmpty(t, w.key)
		}
	})
}

// A link that was not sent yet is sent, and then taken back: two operations in their order.
func TestLinkTakenBackBeforeItIsSent(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		made, err := s.front.Links().Create(t.Context(), "", order())
		require.NoError(t, err)
		gone, err := s.front.Links().Delete(t.Context(), "", made.ID)
		require.NoError(t, err)
		require.Equal(t, made.ID, gone.ID)
		require.NotNil(t, gone.Operation)
		s.mend()
		s.pass(time.Minute)
		s.is(made.Operation.Key, outbox.Done)
		s.is(gone.Operation.Key, outbox.Done)
		require.Equal(t, []string{string(made.Operation.Key), string(gone.Operation.Key)}, keysOf(s.cable.writes()))
		_, err = s.front.Links().Read(t.Context(), made.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
	})
}

// A link that the backend refuses takes its deletion along, visibly, and its local id says so.
func TestRefusedLinkFailsItsDeletion(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		made, err := s.front.Links().Create(t.Context(), "c", order())
		require.NoError(t, err)
		gone, err := s.front.Links().Delete(t.Context(), "d", made.ID)
		require.NoError(t, err)
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return answer()
			}
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(`{"status":"error","message":"An error occurred: not this amount","reason":"invalid"}`))}, nil
		})
		s.box.Online()
		s.pass(time.Minute)
		s.is(made.Operation.Key, outbox.Failed)
		s.is(gone.Operation.Key, outbox.Failed)
		require.Len(t, s.cable.writes(), 1, "the deletion was never sent")
		_, err = s.front.Links().Create(t.Context(), "c", order())
		require.Equal(t, wire.KeyReused, wire.CodeOf(err))
		refused, err := s.front.Links().Read(t.Context(), made.ID)
		require.NoError(t, err, "readable by its id for ever")
		require.Equal(t, paylinks.Declined, refused.Status)
		require.Contains(t, s.ops()[0].Reason, "not this amount")
		_, err = s.front.Links().Delete(t.Context(), "", made.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "nothing is stored behind it")
		require.Len(t, s.ops(), 2)
	})
}

// An answer to a deletion that is lost: the repeat finds nothing, and that is its proof, where the backend honours no Keys.
func TestDeletionWhoseAnswerIsLost(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		made, err := s.front.Links().Create(t.Context(), "", order())
		require.NoError(t, err)
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			r.Header.Del(wire.KeyHeader)
			return lost(r, answer)
		})
		gone, err := s.front.Links().Delete(t.Context(), "k", made.ID)
		require.NoError(t, err)
		require.NotNil(t, gone.Operation)
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			r.Header.Del(wire.KeyHeader)
			return answer()
		})
		s.box.Online()
		s.pass(time.Minute)
		s.is(gone.Operation.Key, outbox.Done)
		gone, err = s.front.Links().Delete(t.Context(), "k", made.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.Deleted{ID: made.ID}, gone)
		_, err = s.front.Links().Delete(t.Context(), "", made.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "asked for the first time, nothing was there")
	})
}

// Ids from 2,000,000,000 up are ours: one that was never given is not asked for, and one of the backend's is refused.
func TestIDsThatAreOurs(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		before := s.cable.calls
		const id = paylinks.FirstLocalID + 77
		l, x := s.front.Links(), s.front.Transactions()
		_, a := l.Read(t.Context(), id)
		_, b := l.Delete(t.Context(), "", id)
		_, c := x.Read(t.Context(), id)
		_, d := x.Charge(t.Context(), "", id, paylinks.ChargeRequest{})
		_, e := x.Capture(t.Context(), "", id)
		_, f := x.Refund(t.Context(), "", id, paylinks.RefundRequest{})
		_, g := x.Delete(t.Context(), "", id)
		for _, err := range []error{a, b, c, d, e, f, g} {
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		}
		require.Equal(t, before, s.cable.calls)
		require.Empty(t, s.ops())
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			resp, err := answer()
			if err == nil && r.Method == http.MethodPost {
				resp.Body = io.NopCloser(strings.NewReader(`{"status":"success","data":[{"id":2000000001}]}`))
			}
			return resp, err
		})
		made, err := l.Create(t.Context(), "", order())
		require.NoError(t, err)
		require.NotNil(t, made.Operation)
		s.off(25 * time.Hour)
		s.pass(time.Hour)
		s.is(made.Operation.Key, outbox.Doubt)
		read, err := s.front.Links().Read(t.Context(), made.ID)
		require.NoError(t, err)
		require.Nil(t, read.Hash)
	})
}

// Links promise no money, so amounts do not limit them and they use no room of those that do; their number is limited.
func TestLinksAreLimitedByCount(t *testing.T) {
	most := func(string) (money.Minor, bool) { return 1000, true }
	inShop(t, gateway.Options{Limits: gateway.Limits{Count: 3, Amount: most, Total: most}}, func(t *testing.T, s *shop) {
		s.cut()
		for range 2 {
			made, err := s.front.Links().Create(t.Context(), "", order(func(r *paylinks.CreateRequest) { r.Amount = 900_000 }))
			require.NoError(t, err)
			require.NotNil(t, made.Operation)
			require.EqualValues(t, 900_000, s.op(made.Operation.Key).AmountMin, "the report counts it")
		}
		_, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		_, err = s.front.Links().Create(t.Context(), "", order())
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.ErrorContains(t, err, "max_count")
		s.mend()
		s.pass(time.Minute)
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
			var count, amount int64
			require.NoError(t, r.QueryRow(`SELECT SUM(count), SUM(amount) FROM offline_totals`).Scan(&count, &amount))
			require.Zero(t, count)
			require.Zero(t, amount)
			return nil
		}))
	})
}

// Small attachments are stored, sealed, and arrive as they were; large ones are sent while their caller waits, or refused.
func TestAttachmentsOfStoredLinks(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		small, large := []byte("the small invoice"), bytes.Repeat([]byte("large "), 20_000)
		with := func(files ...paylinks.Attachment) func(*paylinks.CreateRequest) {
			return func(r *paylinks.CreateRequest) { r.Attachments = files }
		}
		page := func(l paylinks.Link) string {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://backend.test/pay/"+*l.Hash+"/file/0", nil)
			require.NoError(t, err)
			resp, err := s.cable.to.Do(req)
			require.NoError(t, err)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return string(data)
		}
		s.cut()
		made, err := s.front.Links().Create(t.Context(), "k", order(with(file("a.txt", small))))
		require.NoError(t, err)
		_, err = s.front.Links().Create(t.Context(), "", order(with(file("b.txt", large))))
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.ErrorContains(t, err, "attachments are above 64 KiB")
		require.Len(t, s.ops(), 1)
		s.stop()
		s.start()
		s.mend()
		s.pass(time.Minute)
		s.is(made.Operation.Key, outbox.Done)
		l, err := s.front.Links().Read(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, string(small), page(l))

		now, err := s.front.Links().Create(t.Context(), "", order(with(file("b.txt", large), file("c.txt", large))))
		require.NoError(t, err)
		require.Nil(t, now.Operation)
		require.Equal(t, string(large), page(now.Link))

		// An answer that is lost is asked for again, with the attachments.
		req := order(with(file("b.txt", large)))
		s.cable.set(false, lost)
		_, err = s.front.Links().Create(t.Context(), "again", req)
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
		s.mend()
		again, err := s.front.Links().Create(t.Context(), "again", req)
		require.NoError(t, err)
		require.Equal(t, string(large), page(again.Link))
		links := map[string]bool{}
		for _, key := range keysOf(s.cable.writes()) {
			links[key] = true
		}
		require.Len(t, links, 3, "one Key for each, however often its answer was lost")
	})
}

type way func(*http.Request) (*http.Response, error)

// Do implements wire.Doer.
func (d way) Do(r *http.Request) (*http.Response, error) { return d(r) }

// A card number where a reference belongs reaches the backend as it is, and lies nowhere in clear.
func TestALinksReferenceHoldsNoCardNumber(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		made, err := s.front.Links().Create(t.Context(), "", order(func(r *paylinks.CreateRequest) { r.ReferenceID, r.SKU = visa, visa }))
		require.NoError(t, err)
		require.NotNil(t, made.Operation)
		require.Empty(t, s.stored(visa))
		require.Contains(t, string(s.op(made.Operation.Key).Payload), visa, "sealed")
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return answer()
			}
			return &http.Response{StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(`{"status":"error","message":"An error occurred: referenceId ` + visa + ` is not free"}`))}, nil
		})
		s.box.Online()
		s.pass(time.Minute)
		op := s.op(made.Operation.Key)
		require.Equal(t, outbox.Failed, op.State)
		require.Contains(t, string(op.Result), "411111******1111 is not free")
		require.NotContains(t, op.Reason, visa)
		require.Empty(t, s.stored(visa))
	})
}
