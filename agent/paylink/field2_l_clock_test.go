package paylink_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/paylink"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
)

// TestField2_L5ALinkEndsByATrueTime: a box whose clock was days behind asked for links that had ended before they were made, and one
// ahead for links that stay for years. The day is that of a time that the backend has told; before it has, a link has none.
func TestField2_L5ALinkEndsByATrueTime(t *testing.T) {
	service(t, func(d *desk) {
		truth, known := drivetest.Now(), false
		for i, wrong := range []time.Duration{-10 * 24 * time.Hour, 0, 400 * 24 * time.Hour} {
			var got paylinks.CreateRequest
			d.svc = paylink.New(paylink.Options{
				DB: d.db, Links: spy{linkHalf{d.bank}, &got}, Transactions: txnHalf{d.bank}, Instance: "demo", Title: "Shop",
				Now: func() time.Time { return truth.Add(wrong) }, Trusted: func() (time.Time, bool) { return truth, known },
			})
			known = false
			d.must(aapay.Payment, "before"+string(rune('a'+i)), "", 1250)
			require.Empty(t, got.ExpirationDate)
			known = true
			d.must(aapay.Payment, "after"+string(rune('a'+i)), "", 1250)
			require.Equal(t, truth.AddDate(0, 0, 2).UTC().Format(time.DateOnly), got.ExpirationDate)
		}
	})
}
