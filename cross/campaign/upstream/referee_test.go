package upstream

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/schemes/money"
)

// TestTheRefereeIsContent: a sale whose customer takes his time, one whose initialize is not answered, and one whose backend has the
// plain route alone and does not answer there. Nothing but the referee judges: no reference under two Keys, no resend on the plain
// route, no read too early.
func TestTheRefereeIsContent(t *testing.T) {
	lose := func(where string, times int) func(r *http.Request) stack.Act {
		return func(r *http.Request) (act stack.Act) {
			if strings.HasSuffix(r.URL.Path, where) && times > 0 {
				times--
				act.Lost = true
			}
			return act
		}
	}
	plain := func(r *http.Request) stack.Act {
		switch {
		case strings.HasSuffix(r.URL.Path, "payment/initializeWithIdempotency"):
			return stack.Act{Status: http.StatusNotFound}
		case strings.HasSuffix(r.URL.Path, "payment/initialize"):
			return stack.Act{Lost: true}
		}
		return stack.Act{}
	}
	for name, fate := range map[string]func(r *http.Request) stack.Act{
		"a customer who takes his time":      nil,
		"no answer to initialize":            lose("/initializeWithIdempotency", 4),
		"no answer on the plain route":       plain,
		"no answer to the first two reads":   lose("/status", 2),
		"no answer to initialize, then none": lose("/initializeWithIdempotency", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			o := stack.Options{Seed: 1, Methods: stack.FieldTimeouts, WalletDelay: 20 * time.Second, ByteTime: 20 * time.Microsecond}
			stacktest.Life(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) {
				s.Network.Decide(fate)
				_, err := s.Sell(ctx, stack.Plan{Amount: money.Minor(1250)})
				require.NoError(t, err)
				s.Network.Decide(nil)
				_, err = s.Settle(ctx, 2*time.Hour)
				require.NoError(t, err)
				stacktest.Content(ctx, t, s)
				require.Greater(t, s.Referee.Arrivals(), 3)
			})
		})
	}
}
