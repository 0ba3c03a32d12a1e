package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

func (s *shop) alerts() (list []outbox.Alert) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) (err error) { list, _, err = outbox.Alerts(r, 100); return err }))
	return list
}

// A payment that is declined after 202 is an alert until a person acknowledges it, over a restart too, and is readable by its id. What
// its caller was told is none.
func TestField_P9ADeclineAfterStoredIsAnAlert(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		bad := moto(payments.ProcessSale, 700)
		bad.CardDetails.PAN = wire.NewPAN(declined)
		_, err := s.pay.Create(t.Context(), "", bad)
		require.Equal(t, wire.Conflict, wire.CodeOf(err), "its caller was told")
		require.Empty(t, s.alerts())

		s.cut()
		c, err := s.pay.Create(t.Context(), "", bad)
		require.NoError(t, err)
		good, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 500))
		require.NoError(t, err)
		s.mend()
		s.pass(time.Minute)
		require.Equal(t, outbox.Done, s.op(good.Operation.Key).State)
		s.stop()
		s.start()
		s.pass(time.Second)
		alerts := s.alerts()
		require.Len(t, alerts, 1)
		require.Equal(t, c.Operation.Key, alerts[0].Key)
		require.Equal(t, c.PaymentID, alerts[0].Subject)
		require.Equal(t, outbox.Failed, alerts[0].State)
		require.EqualValues(t, 700, alerts[0].AmountMin)
		require.NotEmpty(t, alerts[0].Reason)
		p, err := s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err)
		require.Equal(t, "failed", p.Operation.Status)
		require.ErrorIs(t, s.box.Acknowledge(t.Context(), good.Operation.Key), outbox.ErrNoAlert)
		require.NoError(t, s.box.Acknowledge(t.Context(), c.Operation.Key))
		require.Empty(t, s.alerts())
		require.ErrorIs(t, s.box.Acknowledge(t.Context(), c.Operation.Key), outbox.ErrNoAlert)
	})
}

// Whoever goes away just as the answer comes leaves an alert, or is told: a decline that nobody hears of is what this is about.
func TestField_P9NoDeclineIsUnheard(t *testing.T) {
	bad := moto(payments.ProcessSale, 700)
	bad.CardDetails.PAN = wire.NewPAN(declined)
	for at := 15; at < 25; at++ { // milliseconds around the end of the wait
		inShop(t, gateway.Options{Within: 20 * time.Millisecond}, func(t *testing.T, s *shop) {
			s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
				<-time.After(time.Duration(at) * time.Millisecond)
				return answer()
			})
			c, err := s.pay.Create(t.Context(), "", bad)
			s.pass(time.Minute)
			if err != nil {
				require.Equal(t, wire.Conflict, wire.CodeOf(err))
				require.Empty(t, s.alerts(), "told after %d ms", at)
				return
			}
			require.Len(t, s.alerts(), 1, "told %q after %d ms", c.Operation.Status, at)
		})
	}
}

// What expired unsent, and what depended on it, are alerts too.
func TestField_P9ExpiredIsAnAlert(t *testing.T) {
	inShop(t, gateway.Options{MaxAge: 2 * time.Hour}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		_, err = s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		s.pass(3 * time.Hour)
		require.Len(t, s.alerts(), 2)
		p, err := s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err)
		require.Equal(t, "expired", p.Operation.Status)
	})
}

// browse gets a page as a browser does.
func (s *shop) browse(page, language string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, page, nil)
	r.Header.Set("Accept-Language", language)
	w := httptest.NewRecorder()
	s.front.Pages().ServeHTTP(w, r)
	return w
}

// A payment that is stored has a page: it says that the shop is offline, and leads on once the backend has answered.
func TestField_P3AStoredPaymentHasAPage(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.front.PagesAt("http://127.0.0.1:8480/")
		s.cut()
		hosted := payments.CreateRequest{Type: payments.ProviderHosted, Amount: 100, CurrencyCode: "EUR", Processing: payments.ProcessSale}
		c, err := s.pay.Create(t.Context(), "k", hosted)
		require.NoError(t, err)
		require.Equal(t, "L"+string(c.Operation.Key), c.PaymentID)
		require.NotEmpty(t, c.PayPageURL)
		require.Equal(t, "http://127.0.0.1:8480/pay/"+c.PaymentID, c.PayPageURL)
		page := s.browse(c.PayPageURL, "en-GB")
		require.Equal(t, 200, page.Code)
		require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
		require.Contains(t, page.Body.String(), "The shop is offline")
		require.Contains(t, page.Body.String(), `http-equiv="refresh"`)
		require.Contains(t, s.browse(c.PayPageURL, "de-DE,de;q=0.9").Body.String(), "Das Geschäft ist offline")
		require.Equal(t, 404, s.browse("http://127.0.0.1:8480/pay/L00000000-0000-8000-8000-000000000000", "").Code)
		require.Equal(t, 404, s.browse("http://127.0.0.1:8480/pay/"+string(c.Operation.Key), "").Code)

		s.mend()
		s.pass(time.Minute)
		made, err := s.pay.Create(t.Context(), "k", hosted)
		require.NoError(t, err)
		page = s.browse(c.PayPageURL, "")
		require.Equal(t, 303, page.Code)
		require.Equal(t, made.PayPageURL, page.Header().Get("Location"))
		require.False(t, strings.HasPrefix(made.PayPageURL, "http://127.0.0.1:8480/"))

		s.cut()
		bad := moto(payments.ProcessSale, 700)
		bad.CardDetails.PAN = wire.NewPAN(declined)
		d, err := s.pay.Create(t.Context(), "", bad)
		require.NoError(t, err)
		require.NotEmpty(t, d.PayPageURL, "always a text")
		s.mend()
		s.pass(time.Minute)
		require.Contains(t, s.browse(d.PayPageURL, "").Body.String(), "The payment was not made")
	})
}

// A link that is deleted offline shows the deletion beside itself, whether the backend knows it or not. It is not cancelled: it can be paid
// until the backend has taken it back.
func TestField_P4AReadShowsThePendingDeletion(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		links := s.front.Links()
		req := paylinks.CreateRequest{Amount: 1000, Currency: "EUR", Purpose: "shoes", ReferenceID: "R1", Title: "t", Description: "d", PSP: []int64{44}}
		known, err := links.Create(t.Context(), "", req)
		require.NoError(t, err)
		require.Nil(t, known.Operation)
		status := func(id int64) paylinks.Status {
			t.Helper()
			l, err := links.Read(t.Context(), id)
			require.NoError(t, err)
			return l.Status
		}
		deleted := func(id int64) bool {
			t.Helper()
			l, err := links.Read(t.Context(), id)
			require.NoError(t, err)
			return l.Operation != nil && strings.Contains(l.Operation.Note, "can be paid until the backend has taken it back")
		}
		require.Equal(t, paylinks.Waiting, status(known.ID))
		require.False(t, deleted(known.ID))
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method != http.MethodGet {
				return nil, fmt.Errorf("lost")
			}
			return answer()
		})
		d, err := links.Delete(t.Context(), "", known.ID)
		require.NoError(t, err)
		require.NotNil(t, d.Operation)
		require.Equal(t, paylinks.Waiting, status(known.ID))
		require.True(t, deleted(known.ID))
		fresh, err := links.Create(t.Context(), "", req)
		require.NoError(t, err)
		require.Equal(t, paylinks.Waiting, status(fresh.ID))
		require.False(t, deleted(fresh.ID))
		_, err = links.Delete(t.Context(), "", fresh.ID)
		require.NoError(t, err)
		require.Equal(t, paylinks.Waiting, status(fresh.ID))
		require.True(t, deleted(fresh.ID))
		s.mend()
		s.pass(time.Minute)
		_, err = links.Read(t.Context(), known.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	})
}
