package offline_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
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
		do         func(s *shop, id string) (payments.Done, error)
	}{
		"capture": {payments.ProcessAuthorize, func(s *shop, id string) (payments.Done, error) {
			return s.pay.Capture(s.t.Context(), "", id, payments.CaptureRequest{Amount: some(300)})
		}},
		"refund": {payments.ProcessSale, func(s *shop, id string) (payments.Done, error) {
			return s.pay.Refund(s.t.Context(), "", id, payments.RefundRequest{Amount: some(300)})
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
				inShop(t, offline.Options{Keyless: []string{offline.Payments}}, func(t *testing.T, s *shop) {
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
						d, err := c.do(s, made.PaymentID)
						require.NoError(t, err)
						require.Nil(t, d.Operation, "it is done")
					}
					last, lags, sent = true, is.lags, 0
					d, err := c.do(s, made.PaymentID)
					require.NoError(t, err)
					require.Equal(t, is.lost, d.Operation != nil)
					s.pass(5 * time.Minute)
					require.Equal(t, 1, sent, "it leaves once")
					ops := s.ops()
					require.Equal(t, is.want, ops[len(ops)-1].State, ops[len(ops)-1].Reason)
				})
			})
		}
	}
}
