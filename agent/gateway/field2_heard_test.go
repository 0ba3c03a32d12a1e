package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// What came to nothing is an alert from the commit on that ends it. It is taken back once the answer has reached a caller, and stays where
// the answer has met a dead connection, whichever call that was: the first, a repeat while it runs, one that found it ended, or that of
// a write which is not stored. A caller that was told before that nothing is stored needs no alert.
func TestField2_M48ARefusalThatIsNotHeardIsAnAlert(t *testing.T) {
	bad := moto(payments.ProcessSale, 700)
	bad.CardDetails.PAN = wire.NewPAN(declined)
	secret := moto(payments.ProcessSale, 700)
	secret.CardDetails.PAN, secret.CardDetails.ValidationCode = wire.NewPAN(declined), "123"
	for name, ask := range map[string]func(s *shop, ctx context.Context) error{
		"the first call": func(s *shop, ctx context.Context) error {
			_, err := s.pay.Create(ctx, "k", bad)
			return err
		},
		"a call whose write is never stored": func(s *shop, ctx context.Context) error {
			_, err := s.pay.Create(ctx, "k", secret)
			return err
		},
		"a repeat while it runs": func(s *shop, ctx context.Context) error {
			s.cut()
			c, err := s.pay.Create(s.t.Context(), "k", bad)
			require.NoError(s.t, err)
			require.NotNil(s.t, c.Operation)
			time.AfterFunc(time.Second, s.mend)
			_, err = s.pay.Create(ctx, "k", bad)
			if err == nil { // still stored: it ends unheard
				s.pass(time.Minute)
				require.Len(s.t, s.alerts(), 1)
				_, err = s.pay.Create(ctx, "k", bad)
			}
			return err
		},
		"a repeat after its end": func(s *shop, ctx context.Context) error {
			s.cut()
			_, err := s.pay.Create(s.t.Context(), "k", bad)
			require.NoError(s.t, err)
			s.mend()
			s.pass(time.Minute)
			require.Len(s.t, s.alerts(), 1)
			_, err = s.pay.Create(ctx, "k", bad)
			return err
		},
	} {
		for _, heard := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
					ctx, answers := wire.WithAnswers(t.Context())
					err := ask(s, ctx)
					require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
					require.Len(t, s.alerts(), 1, "the answer is not written yet")
					answers.Heard(func() bool { return heard })
					if heard {
						require.Empty(t, s.alerts())
						return
					}
					require.Len(t, s.alerts(), 1)
					s.off(time.Minute)
					require.Len(t, s.alerts(), 1)
					_, err = s.pay.Create(t.Context(), "k", bad)
					if name != "a call whose write is never stored" { // another body
						require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
						require.Empty(t, s.alerts(), "its caller has asked again and heard it")
					}
				})
			})
		}
	}
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) { // withdrawn: never sent, never stored
		s.cut()
		ctx, answers := wire.WithAnswers(t.Context())
		_, err := s.pay.Create(ctx, "k", secret)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		answers.Heard(func() bool { t.Fatal("nothing has to be heard"); return false })
		require.Empty(t, s.alerts())
		for _, op := range s.ops() {
			require.Equal(t, outbox.Expired, op.State)
		}
	})
}
