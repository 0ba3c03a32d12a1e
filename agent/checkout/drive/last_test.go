package drive_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

// MONEY F.4: a register that asks for its last sale is told how long ago it acknowledged the outcome.
func TestMoneyF4_LastSaysHowLongAgoItWasTold(t *testing.T) {
	terminal(t, func(r *rig) {
		asked := func() ecr.Outcome {
			t.Helper()
			s := r.Again()
			out := <-s.Outcome
			r.Told(s, ecr.Lost) // what it was told stays told
			return out
		}
		of := func() time.Duration {
			t.Helper()
			out := asked()
			require.False(t, out.ToldLeast)
			return out.ToldFor
		}
		least := func() time.Duration {
			t.Helper()
			out := asked()
			require.True(t, out.ToldLeast, "nobody can say for how long the box was off")
			return out.ToldFor
		}
		first := r.unconfirmed(500)
		require.Zero(t, first.ToldFor)
		pass(5 * time.Minute)
		require.Zero(t, of(), "no register has acknowledged it")
		again := r.Again()
		require.Zero(t, (<-again.Outcome).ToldFor)
		r.Told(again, ecr.Told)
		pass(time.Minute)
		require.Equal(t, time.Minute, of())
		r.jump(24 * time.Hour)
		require.Equal(t, time.Minute, of(), "a jump of the clock is no age")
		r.jump(0)
		r.Restart(false)
		pass(time.Minute)
		require.Equal(t, 2*time.Minute, of(), "over a restart of the program")
		for _, jump := range []time.Duration{-50 * 365 * 24 * time.Hour, -time.Hour, 0, 90 * 365 * 24 * time.Hour} { // whatever the wall clock says after another boot
			r.jump(jump)
			r.untrue = false
			r.Restart(true)
			require.GreaterOrEqual(t, of(), 2*time.Minute, "over a restart of the box by the true time")
			require.Less(t, of(), 3*time.Minute)
			r.untrue = true
			require.Positive(t, least())
			require.Less(t, least(), time.Minute, "no service has told the time yet: as old as this boot, and maybe older")
		}
		r.declined()
		require.NotZero(t, of())
		require.Less(t, of(), time.Minute)
		r.untrue = false
		r.Restart(true)
		require.Positive(t, least(), "no true time was known when it was told")
	})
}

// TestAReversalOfTheLinesLastPayment: a register that knows no receipt numbers takes its own last
// payment back, whatever other lines have sold since, once.
func TestAReversalOfTheLinesLastPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		sell := func(line string, amount int64, how ecr.Delivery) ecr.Outcome {
			t.Helper()
			return r.Approved(r.Accepted(ecr.Request{Line: line, Amount: minor(amount)}), how)
		}
		back := func(original string) (ecr.Sale, error) {
			return r.Ask(ecr.Request{Kind: ecr.Reversal, Line: "one", Original: original})
		}
		_, err := back("L")
		refused(t, err, ecr.NotReversible)
		first := sell("one", 300, ecr.Told)
		own := sell("one", 500, ecr.Told)
		other := sell("two", 700, ecr.Told)
		for _, wrong := range []int{first.Trace, other.Trace, 999999} {
			_, err = back("L" + strconv.Itoa(wrong))
			refused(t, err, ecr.NotReversible)
		}
		r.world.mute = true
		s, err := back("L" + strconv.Itoa(own.Trace))
		require.NoError(t, err)
		require.Equal(t, ecr.InProgress, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		joined, err := back("L" + strconv.Itoa(own.Trace))
		require.NoError(t, err)
		require.Equal(t, s.ID, joined.ID, "it runs: the same again joins it")
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		r.settle()
		require.EqualValues(t, 300+700, r.world.net())
		r.Told(joined, ecr.Lost)
		done, err := back("L" + strconv.Itoa(own.Trace))
		require.NoError(t, err)
		require.Equal(t, s.ID, done.ID, "its end was not heard yet")
		out := <-done.Outcome
		require.Equal(t, []any{ecr.Approved, own.Trace}, []any{out.Result, out.OriginalTrace})
		require.EqualValues(t, 500, out.Amount)
		r.Told(done, ecr.Told)
		_, err = back("L")
		refused(t, err, ecr.AlreadyReversed)
		for _, c := range r.world.sent(aapay.Reversal) {
			require.Equal(t, done.ID, string(c.key), "sent again under its key alone")
		}
		require.EqualValues(t, 300+700, r.world.net())
	})
}

// TestALaterPaymentIsNotTheOneThatWasReversed: "the last one" is another payment by now, although the
// register never heard of its reversal's end.
func TestALaterPaymentIsNotTheOneThatWasReversed(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(300)
		r.world.lock(func() { r.world.mute = true })
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Original: "L"})
		require.Equal(t, ecr.InProgress, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		r.approved(500)
		next := r.Accepted(ecr.Request{Kind: ecr.Reversal, Original: "L"})
		require.NotEqual(t, s.ID, next.ID)
		out := <-next.Outcome
		require.Equal(t, ecr.Approved, out.Result)
		require.EqualValues(t, 500, out.Amount)
		r.Told(next, ecr.Told)
		require.EqualValues(t, 0, r.world.net())
	})
}

// TestAReversalOfWhatIsUndone: a payment that the register never acknowledged is undone by its
// reversal, once.
func TestAReversalOfWhatIsUndone(t *testing.T) {
	terminal(t, func(r *rig) {
		first := r.unconfirmed(500)
		_, err := r.Ask(ecr.Request{Kind: ecr.Reversal, Original: "L"})
		refused(t, err, ecr.AlreadyReversed)
		require.Equal(t, checkout.Reversing, r.phase(first.Sale))
		r.settle()
		require.EqualValues(t, 0, r.world.net())
		require.Len(t, r.world.sent(aapay.Reversal), 1)
	})
}

// TestAClosedBatchIsNotReversed: the register's last payment is of an earlier day.
func TestAClosedBatchIsNotReversed(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(500)
		_, err := r.Close(context.Background())
		require.NoError(t, err)
		_, err = r.Ask(ecr.Request{Kind: ecr.Reversal, Original: "L"})
		refused(t, err, ecr.NotReversible)
	})
}

// TestHealthSaysTheTime: a register sets its clock by it.
func TestHealthSaysTheTime(t *testing.T) {
	terminal(t, func(r *rig) {
		require.Equal(t, drivetest.Now(), r.Health(context.Background()).Time)
	})
}

// The last payment is the last one of the till that asks, whatever another till has sold since. The
// kind: a refund without an original (ZVT 06 31, Caisse-AP, nexo), a reversal of the last (ECR17 S), and
// the last outcome (06 20, G, JSON lines); a till that has sold nothing has no last payment.
func TestField2_M24TheLastPaymentIsTheTillsOwn(t *testing.T) {
	for name, req := range map[string]ecr.Request{
		"a refund": {Kind: ecr.Refund, Amount: 300}, "a reversal": {Kind: ecr.Reversal, Original: "L"},
	} {
		terminal(t, func(r *rig) {
			r.cfg.RefundLast = true
			r.Restart(false)
			r.world.onStatus = approveAfter(r.world, 1)
			sold := map[string]string{}
			for line, amount := range map[string]int64{"one": 1000, "two": 2000} {
				sold[line] = r.Approved(r.Accepted(ecr.Request{Line: line, Amount: minor(amount)}), ecr.Told).Sale
			}
			for _, line := range []string{"one", "two"} {
				require.Equal(t, sold[line], r.last(line).Sale, name)
				give := req
				give.Line = line
				s := r.Accepted(give)
				r.Approved(s, ecr.Told)
				row, _ := r.show(s.ID)
				require.Equal(t, sold[line], string(row.Original), "%s by %s", name, line)
			}
			req.Line = "three"
			_, err := r.Ask(req)
			refused(t, err, ecr.NotReversible)
			_, err = r.Last(context.Background(), "three")
			require.ErrorIs(t, err, ecr.ErrNone)
		})
	}
}
