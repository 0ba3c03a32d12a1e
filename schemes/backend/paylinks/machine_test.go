package paylinks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/paylinks"
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
	roomtest.Matrix(t, allStatus, allEvents, want, next)
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
		p, ok := paylinks.ParsePeriod(text)
		require.True(t, ok, text)
		for i, day := range want {
			require.Equal(t, day+" 10:30:00", after(start, p, i+1).Format(time.DateTime), "%s %d", text, i+1)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.IntRange(0, 999)
		p := paylinks.Period{Years: part.Draw(t, "years"), Months: part.Draw(t, "months"), Days: part.Draw(t, "days")}
		begun := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "start"))
		if p != (paylinks.Period{}) && (p.Days == 0 || p.Months == 0 && p.Years == 0 || p.Days > 3) {
			require.True(t, after(begun, p, 2).After(after(begun, p, 1)), "%+v", p)
		}
		require.Equal(t, begun.UTC(), after(begun, p, 0))
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
