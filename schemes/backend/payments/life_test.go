package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// Whatever merchant, customer and time do to a payment, in any order: its state only moves along the table, its books sum
// to zero and agree with what is read, each success is told once, and nothing answers with an internal error.
func TestAnyLife(t *testing.T) {
	b := newBank(t)
	names := []string{"visa", "visa", "mastercard", "hard-decline", "soft-decline", "challenge", "challenge-bad", "capture-fails", "refund-fails", "refund-refused", "cancel-fails", "lapse"}
	rapid.Check(t, func(t *rapid.T) {
		ctx := b.t.Context()
		name := rapid.SampledFrom(names)
		processing := rapid.SampledFrom([]string{"", payments.ProcessVerify, payments.ProcessAuthorize, payments.ProcessSale})
		req := hosted(processing.Draw(t, "processing"))
		if rapid.Bool().Draw(t, "moto") {
			req = moto(b.t, name.Draw(t, "card"), processing.Draw(t, "processing"))
		}
		out, err := b.Create(ctx, "", req)
		if err != nil {
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
			b.told()
			return
		}
		id := out.PaymentID
		told := map[string]int{}
		count := func() {
			for _, e := range b.told() {
				told[e]++
			}
		}
		count()
		done := map[string]int{}
		last := b.state(id)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			part := amount(rapid.Int32Range(1, 12_000).Draw(t, "part"))
			if rapid.IntRange(0, 3).Draw(t, "whole") == 0 {
				part = nil
			}
			what := rapid.SampledFrom([]string{"authorize", "capture", "capture", "cancel", "refund", "refund", "pay", "pay", "answer", "leave", "pass", "pass"}).Draw(t, "what")
			var err error
			switch what {
			case "authorize":
				_, err = b.Authorize(ctx, "", id, payments.AuthorizeRequest{Amount: part})
			case "capture":
				_, err = b.Capture(ctx, "", id, payments.CaptureRequest{Amount: part})
			case "cancel":
				_, err = b.Cancel(ctx, "", id, payments.CancelRequest{})
			case "refund":
				_, err = b.Refund(ctx, "", id, payments.RefundRequest{Amount: part})
			case "pay":
				_, err = b.pay(ctx, id, given{Card: plastic(b.t, name.Draw(t, "card"))}, nil)
			case "answer":
				_, err = b.answer(ctx, id, b.asked(id), rapid.Bool().Draw(t, "passed"), nil)
			case "leave":
				_, err = b.leave(ctx, id, nil)
			default:
				b.Pass(rapid.SampledFrom([]time.Duration{time.Second, 3 * time.Second, time.Hour, 25 * time.Hour, holdTime}).Draw(t, "time"))
			}
			if err == nil {
				done[what]++
			} else {
				require.Equal(t, wire.Conflict, wire.CodeOf(err), "%s: %v", what, err)
			}
			now := b.state(id)
			require.True(t, reachable(last, now), "%s: %s to %s", what, last, now)
			last = now
			count()
		}
		b.Pass(time.Hour)
		sums := b.sums(id)
		count()
		b.balanced(id)
		require.NoError(t, b.DB.Read(ctx, func(r store.Reader) error {
			l, err := ledger(r, id)
			require.NoError(t, err)
			require.Equal(t, [3]int32{int32(l.Reserved + l.Committed), int32(l.Committed), int32(l.Returned)}, sums)
			require.Zero(t, l.Returning)
			return nil
		}))
		require.LessOrEqual(t, told["created"], 1)
		require.LessOrEqual(t, told["reservation.created"], 1)
		require.Equal(t, told["reservation.created"], told["reservation.created.v2"])
		require.GreaterOrEqual(t, told["charge.created.v2"], done["capture"])
		require.Equal(t, done["cancel"], told["cancel.created"])
		require.Equal(t, done["refund"], told["refund.initiated.v2"])
		require.LessOrEqual(t, told["refund.completed"], done["refund"])
		require.GreaterOrEqual(t, told["refund.completed"]+told["refund.failed"], done["refund"])
	})
}

// reachable says whether some events of the table lead from one state to the other.
func reachable(from, to State) bool {
	seen := map[State]bool{from: true}
	for again := true; again && !seen[to]; {
		again = false
		for s := range seen {
			for _, e := range events() {
				if n, _ := next(s, e); !seen[n] {
					seen[n], again = true, true
				}
			}
		}
	}
	return seen[to]
}
