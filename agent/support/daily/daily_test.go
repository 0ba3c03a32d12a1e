package daily

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// A day is compared once: at its time, not at the first start, and not again after a restart.
func TestADayIsComparedOnce(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250), x.sell(800))
		x.start()
		require.Empty(t, x.said(), "what was before the setting is not looked at")
		x.until(at(1, 2, 59))
		require.Empty(t, x.said())
		x.until(at(1, 3, 5))
		require.Equal(t, []string{"the till's list of 2026-11-27 was compared: 2 row(s), 2 sale(s), all agree"}, x.said())
		require.Empty(t, x.waits())
		asked := x.asked
		require.Equal(t, 2, asked)
		for range 3 {
			x.stop()
			x.start()
		}
		x.until(at(2, 2, 59))
		require.Empty(t, x.said())
		require.Equal(t, asked, x.asked)
		x.write(x.sell(500))
		x.until(at(2, 3, 5))
		require.Equal(t, []string{"the till's list of 2026-11-28 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
	})
}

// A time that was missed is caught up once, and of several days only the newest.
func TestAMissedDayIsCaughtUp(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250))
		x.start()
		x.stop()
		x.pass(at(1, 10, 0).Sub(x.now()))
		x.start()
		require.Equal(t, []string{"the till's list of 2026-11-27 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
		x.stop()
		x.pass(5 * 24 * time.Hour)
		x.write(x.sell(900))
		x.start()
		x.pass(10 * time.Hour)
		require.Equal(t, []string{"the till's list of 2026-12-02 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
	})
}

// A clock that jumps makes no day twice, and stops none of those that come. One that cannot be right is not believed.
func TestAClockThatJumps(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250))
		x.start()
		x.until(at(1, 4, 0))
		require.Len(t, x.said(), 1)
		x.set(func() { x.jump += 4 * 365 * 24 * time.Hour })
		x.write(x.sell(900))
		x.pass(2 * time.Hour)
		require.Equal(t, []string{"the till's list of 2030-11-26 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
		x.set(func() { x.jump -= 4 * 365 * 24 * time.Hour })
		x.pass(12 * time.Hour)
		require.Empty(t, x.said(), "that day has its result")
		x.set(func() { x.jump -= 24 * time.Hour })
		x.pass(2 * time.Minute)
		x.set(func() { x.jump += 24 * time.Hour })
		require.Empty(t, x.said(), "so has the one before")
		x.write(x.sell(700))
		x.until(at(2, 3, 5))
		require.Equal(t, []string{"the till's list of 2026-11-28 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
		require.Equal(t, "2026-11-28", x.last().Day)

		x.set(func() { x.sane = false })
		x.write(x.sell(600))
		x.pass(30 * time.Hour)
		require.Empty(t, x.said())
		x.set(func() { x.sane = true })
		x.pass(2 * time.Minute)
		require.Len(t, x.said(), 1)
	})
}

// A sale comes first: while one waits for its outcome, the backend is not asked.
func TestASaleComesFirst(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250), x.sell(800), x.sell(900))
		x.start()
		x.set(func() { x.busy = true })
		x.until(at(1, 5, 0))
		require.Zero(t, x.asked)
		require.Empty(t, x.said())
		x.set(func() { x.busy = false })
		x.pass(5 * time.Second)
		require.Equal(t, 3, x.asked)
		require.Len(t, x.said(), 1)
	})
}

// A list that cannot be used is one finding a day. It is looked for again, and the finding goes when it can be used.
func TestAListThatCannotBeUsed(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		row := x.sell(1250)
		x.start()
		x.until(at(1, 4, 0))
		gone := "list_unusable: the list of 2026-11-27: the till's list " + x.file + " is not there"
		require.Equal(t, []string{gone}, x.waits())
		require.Equal(t, []string{"the till's list of 2026-11-27 is not compared yet, the till's list " + x.file + " is not there"}, x.said())
		key := x.findings()[0].Key
		x.until(at(1, 23, 0))
		require.Equal(t, key, x.findings()[0].Key, "it was looked for again and again")
		require.Empty(t, x.said())
		require.NoError(t, x.d.Acknowledge(t.Context(), key))
		require.Equal(t, []string{"reconcile.acknowledged list_unusable: the list of 2026-11-27 0"}, x.audit)
		require.ErrorIs(t, x.d.Acknowledge(t.Context(), key), ErrNone)
		x.until(at(2, 2, 59))
		require.Empty(t, x.waits(), "a person knows")

		x.text("time,minor,paid,id\n2026-11-27T10:00:00Z,12 50,yes,order-1\n")
		x.until(at(2, 4, 0))
		require.Len(t, x.waits(), 1)
		require.Contains(t, x.waits()[0], "list_unusable: the list of 2026-11-28: the till's list "+x.file+" has an error, line 2: minor \"12 50\" is no whole number")
		require.Len(t, x.said(), 1)
		x.write(row)
		x.until(at(2, 5, 0))
		require.Empty(t, x.waits())
		require.Equal(t, []string{"the till's list of 2026-11-28 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
		require.Zero(t, len(x.audit)-1)
	})
}

// A till that writes no list, or an empty one, while the terminal sells is found out. One that had nothing to write is not.
func TestAListThatIsNotWrittenAgain(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250))
		x.start()
		x.until(at(1, 4, 0))
		require.Empty(t, x.waits())
		x.until(at(2, 4, 0))
		require.Empty(t, x.waits(), "nothing was sold")
		x.sell(900)
		x.until(at(3, 4, 0))
		require.Equal(t, []string{"list_unusable: the list of 2026-11-29: the till's list " + x.file + " was not written again since the one of 2026-11-28, and the terminal was asked for 1 sale(s) since"}, x.waits())
		x.write()
		x.until(at(3, 5, 0))
		require.Equal(t, []string{"list_unusable: the list of 2026-11-29: the till's list " + x.file + " has no sale, and the terminal was asked for 1 since 2026-11-28"}, x.waits())
	})
	open(t, func(t *testing.T, x *shop) {
		x.write(x.sell(1250))
		x.start()
		x.until(at(1, 4, 0))
		x.write()
		x.until(at(2, 4, 0))
		require.Empty(t, x.waits(), "a day without a sale")
		require.Equal(t, "the till's list of 2026-11-28 was compared: 0 row(s), 0 sale(s), all agree", x.last().Sentence())
	})
}

// A difference is raised once. Acknowledged, it is raised again only when it says something else; where all agree, it goes.
func TestADifferenceIsRaisedOnce(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		good, bad := x.sell(1250), strings.Replace(x.sell(800), ",yes,", ",no,", 1)
		x.write(good, bad)
		x.start()
		x.until(at(1, 4, 0))
		require.Len(t, x.waits(), 1)
		require.Regexp(t, `^paid_till_no: payment of 8\.00 EUR, receipt 2, .*: paid, till says no; till: line 3, 8\.00, not paid; journal: paid \(.*\); backend: paid \(FINALIZED COMMIT\)$`, x.waits()[0])
		first := x.findings()[0]
		require.Equal(t, []any{int64(800), "EUR"}, []any{first.Amount, first.Currency})
		require.Contains(t, first.Remedy, "the customer has paid: book it at the till as paid")
		require.Equal(t, []string{"the till's list of 2026-11-27 was compared: 2 row(s), 2 sale(s), 1 difference(s)"}, x.said())

		x.write(bad, good)
		x.until(at(2, 4, 0))
		require.Equal(t, first.Key, x.findings()[0].Key, "it stands")
		require.NoError(t, x.d.Acknowledge(t.Context(), first.Key))
		require.Regexp(t, `^reconcile\.acknowledged paid_till_no: payment of 8\.00 EUR, .* 800EUR$`, x.audit[0])
		x.write(good, bad)
		x.until(at(3, 4, 0))
		require.Empty(t, x.waits(), "a person knows")

		x.write(good, strings.Replace(bad, ",800,no,", ",700,yes,", 1))
		x.until(at(4, 4, 0))
		require.Len(t, x.waits(), 1)
		require.Contains(t, x.waits()[0], "other_amount: payment of 8.00 EUR")
		x.write(good, strings.Replace(bad, ",no,", ",yes,", 1))
		x.until(at(5, 4, 0))
		require.Empty(t, x.waits(), "all agree now")
		x.write(good, bad)
		x.until(at(6, 4, 0))
		require.Len(t, x.waits(), 1, "and do so no more")
	})
}

// A backend that is away is asked again that day. A day on which it never answered is a finding.
func TestABackendThatIsAway(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		row := x.sell(1250)
		x.write(row)
		x.start()
		x.set(func() { x.away = wire.Errorf(wire.Unavailable, "aapay.status", "no route") })
		x.until(at(1, 4, 0))
		require.Equal(t, []string{"the till's list of 2026-11-27 is not compared yet, the backend does not answer: no route"}, x.said())
		require.Empty(t, x.waits())
		x.set(func() { x.away = nil })
		x.until(at(1, 5, 0))
		require.Equal(t, []string{"the till's list of 2026-11-27 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())

		x.set(func() { x.away = wire.Errorf(wire.Unavailable, "aapay.status", "no route") })
		x.write(row)
		x.until(at(3, 2, 59))
		require.Len(t, x.said(), 1)
		require.Empty(t, x.waits())
		x.set(func() { x.away = nil })
		x.write(row)
		x.until(at(3, 4, 0))
		require.Equal(t, []string{"not_compared: the list of 2026-11-28: it was not compared, the backend did not answer that day"}, x.waits())
		require.Equal(t, []string{"the till's list of 2026-11-29 was compared: 1 row(s), 1 sale(s), all agree"}, x.said())
	})
}

// A list of another shop is no flood of findings: the first stand, the others are counted.
func TestManyDifferencesAreNoFlood(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		var rows []string
		for range 70 {
			rows = append(rows, strings.Replace(x.sell(1250), ",yes,", ",no,", 1))
			x.pass(time.Minute)
		}
		x.write(rows...)
		x.start()
		x.until(at(1, 4, 0))
		list := x.waits()
		require.Len(t, list, 51)
		require.Contains(t, list, "more: the list of 2026-11-27: 20 more difference(s) are not listed")
		require.Equal(t, 70, x.last().Found)
		x.write(rows[:40]...)
		x.until(at(2, 4, 0))
		require.Len(t, x.waits(), 50)
	})
}

// What stands in the file is not trusted: a card number is masked, a pipe is not waited for, and a list that is too long is not read.
func TestTheFileIsNotTrusted(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		x.text("time,minor,paid,id\n2026-11-26T10:00:00Z,4111111111111111x,yes,order-1\n")
		err := Look(x.file, "EUR", time.UTC)
		require.ErrorContains(t, err, "411111")
		require.NotContains(t, err.Error(), "4111111111111111")
		x.text("minor,paid,id\n1250,yes,order-1\n")
		require.ErrorContains(t, Look(x.file, "EUR", time.UTC), "has no times: let the till write the time of each sale")
		x.text(strings.Repeat("x", MaxList+1))
		require.ErrorContains(t, Look(x.file, "EUR", time.UTC), "has more than 2 MiB: let the till write the sales since its list before")
		require.NoError(t, os.Remove(x.file))
		require.ErrorContains(t, Look(x.file, "EUR", time.UTC), "is not there: let the till write its list there")
		require.NoError(t, syscall.Mkfifo(x.file, 0o600))
		require.ErrorContains(t, Look(x.file, "EUR", time.UTC), "is no file: set [reconcile] file to the file that the till writes")
		require.NoError(t, os.Remove(x.file))
		x.write("2026-11-26T10:00:00Z,100,yes,order-1")
		require.NoError(t, Look(x.file, "EUR", time.UTC))
	})
}

// A day is due from its time on, also where the clock is changed that night.
func TestDue(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	three, half := 3*time.Hour, 2*time.Hour+30*time.Minute
	for now, want := range map[string]string{
		"2026-11-26T01:59:59Z": "2026-11-25", "2026-11-26T02:00:00Z": "2026-11-26", "2026-11-26T22:59:59Z": "2026-11-26", "2026-11-26T23:00:00Z": "2026-11-26",
		"2026-01-01T01:00:00Z": "2025-12-31", "2026-03-01T01:00:00Z": "2026-02-28",
	} {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		require.Equal(t, want, Day(at, three, zone), now)
	}
	spring := time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC) // 01:59, before 02:00 becomes 03:00
	require.Equal(t, "2026-03-28", Day(spring, half, zone))
	require.Equal(t, "2026-03-29", Day(spring.Add(2*time.Hour), half, zone))
	autumn := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC) // 02:00, before 03:00 becomes 02:00
	require.Equal(t, "2026-10-24", Day(autumn, half, zone))
	require.Equal(t, "2026-10-25", Day(autumn.Add(2*time.Hour), half, zone))
	for text, want := range map[string]time.Duration{"03:00": three, "00:00": 0, "23:59": 23*time.Hour + 59*time.Minute} {
		got, err := ParseAt(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "3:00", "24:00", "03:60", "03:00:00", "3 am"} {
		_, err := ParseAt(text)
		require.ErrorContains(t, err, "is no time of day such as \"03:00\"", text)
	}
}

// TestField2_M35ASaleBetweenTwoListsIsLookedFor: a sale that the till lost at the end of a list's time stood in neither list, and
// both "all agree". The kind: behind the last row of a list; before the first row of the next one; written before the list and after;
// while a day had no list.
func TestField2_M35ASaleBetweenTwoListsIsLookedFor(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		first := x.sell(1000)
		x.pass(time.Minute)
		x.sell(2000) // lost by the till, before it writes its list
		x.pass(time.Minute)
		x.write(first)
		x.pass(time.Minute)
		x.sell(3000) // lost, too, behind the list
		x.start()
		x.until(at(1, 4, 0))
		require.Len(t, x.waits(), 1)
		require.Contains(t, x.waits()[0], "20.00 EUR")
		x.pass(time.Minute)
		second := x.sell(4000)
		x.write(second)
		x.until(at(2, 4, 0))
		list := strings.Join(x.waits(), "\n")
		require.Contains(t, list, "30.00 EUR")
		require.NotContains(t, list, "40.00 EUR")
		require.Len(t, x.waits(), 2, "each is a finding once")

		x.sell(5000) // on a day without a list
		require.NoError(t, os.Remove(x.file))
		x.until(at(3, 4, 0))
		third := x.sell(6000)
		x.write(third)
		x.until(at(4, 4, 0))
		require.Contains(t, strings.Join(x.waits(), "\n"), "50.00 EUR")
	})
}
