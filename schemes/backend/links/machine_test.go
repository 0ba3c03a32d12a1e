package links

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	allStatus = []Status{Waiting, Confirmed, Authorized, Reserved, Declined, Cancelled, Failed, Partly, Refunded}
	allEvents = []event{evApprove, evAuthorize, evReserve, evDecline, evCancel, evFail, evCharge, evCapture, evRefund, evRemove}
)

// The whole state × event matrix: what is not written here is refused and changes nothing.
func TestMatrix(t *testing.T) {
	want := map[Status]map[event]Status{
		Waiting:    {evApprove: Confirmed, evAuthorize: Authorized, evReserve: Reserved, evDecline: Declined, evCancel: Cancelled, evFail: Failed},
		Authorized: {evCharge: Confirmed, evCapture: Confirmed, evRemove: Cancelled},
		Reserved:   {evCharge: Confirmed, evCapture: Confirmed, evRemove: Cancelled},
		Confirmed:  {evRefund: Partly},
		Partly:     {evRefund: Partly},
	}
	for _, s := range allStatus {
		for _, e := range allEvents {
			to, ok := next(s, e)
			expect, listed := want[s][e]
			require.Equal(t, listed, ok, "%s %s", s, e)
			if !listed {
				expect = s
			}
			require.Equal(t, expect, to, "%s %s", s, e)
		}
	}
}

// Once a transaction took money or ended, no event leads back to a word under which it could take money again.
func TestNoWayBackOverTheCommitPoint(t *testing.T) {
	after := map[Status]bool{Confirmed: true, Partly: true, Refunded: true, Declined: true, Cancelled: true, Failed: true}
	for s := range after {
		for _, e := range allEvents {
			to, _ := next(s, e)
			require.True(t, after[to], "%s %s %s", s, e, to)
			require.False(t, to == Confirmed && s != Confirmed, "%s %s", s, e)
		}
	}
	for _, s := range allStatus {
		require.Equal(t, s != Declined && s != Cancelled && s != Failed, s.holds())
	}
}

func TestPeriods(t *testing.T) {
	start := time.Date(2026, 1, 31, 10, 30, 0, 0, time.UTC)
	for text, want := range map[string][]string{
		"P1M": {"2026-02-28", "2026-03-31", "2026-04-30"}, "P1Y": {"2027-01-31", "2028-01-31", "2029-01-31"},
		"P2W": {"2026-02-14", "2026-02-28", "2026-03-14"}, "P1D": {"2026-02-01", "2026-02-02", "2026-02-03"},
		"P1Y1M1D": {"2027-03-01", "2028-04-02", "2029-05-03"}, "P18M": {"2027-07-31", "2029-01-31", "2030-07-31"},
	} {
		p, err := parsePeriod(text)
		require.NoError(t, err, text)
		for i, day := range want {
			at := p.after(start, i+1)
			require.Equal(t, day+" 10:30:00", at.Format(time.DateTime), "%s %d", text, i+1)
		}
	}
	for _, bad := range []string{"", "P", "1M", "p1m", "P0D", "P1", "PM", "P1M1Y", "PT1H", "P1DT1H", "P-1M", "P1.5M", "P99999D", "P1M ", "P1M1M"} {
		_, err := parsePeriod(bad)
		require.Error(t, err, bad)
	}
}

func FuzzPeriod(f *testing.F) {
	for _, s := range []string{"P1M", "P2W", "P1Y6M3D", "P0D", "PT5M", "P9999Y9999M9999W9999D"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePeriod(s)
		if err != nil {
			return
		}
		start := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
		require.True(t, p.after(start, 1).After(start), s)
		require.True(t, p.after(start, 2).After(p.after(start, 1)), s)
	})
}

func TestTongues(t *testing.T) {
	for _, row := range []struct{ asked, accepted, want string }{
		{"", "", "en"}, {"de", "fr", "de"}, {"", "de-CH,fr;q=0.8", "de"}, {"xx", "it", "it"}, {"", "nl, fr;q=0.5", "fr"}, {"../../etc", "*", "en"},
		{"FR", "", "fr"}, {"deutsch", "", "en"},
	} {
		require.Equal(t, row.want, tongueOf(row.asked, row.accepted).code(), "%+v", row)
	}
	for w := range words {
		for l := range languages {
			require.NotEmpty(t, words[w][l], "word %d in %s", w, languages[l])
		}
	}
}
