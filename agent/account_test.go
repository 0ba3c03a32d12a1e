package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/ready"
	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// oneMethod is a backend whose list has one method, and which tells each question about a transaction.
type oneMethod struct {
	noBackend
	asked chan struct{}
}

func (oneMethod) List(context.Context, methods.Query) ([]methods.Definition, error) {
	qr := methods.QR
	return []methods.Definition{{
		Priority: 1, PaymentProviderID: 7, Name: "WALLET", Label: "Wallet", MeanDelay: 10,
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal}, Trigger: []methods.Trigger{methods.QR}, DefaultTrigger: &qr,
	}}, nil
}

func (b oneMethod) Status(context.Context, string, string) (aapay.Status, error) {
	select {
	case b.asked <- struct{}{}:
	default:
	}
	return aapay.Status{}, wire.Errorf(wire.NotFound, "test", "none")
}

// judging runs an agent with these ways until the test ends, and gives its reports.
func judging(t *testing.T, b oneMethod, w agent.Ways) <-chan ready.Report {
	t.Helper()
	reports := make(chan ready.Report, 100)
	a := agent.New(agent.Options{
		DB: storetest.Open(t, agent.Schema()...), Schemes: b, Methods: b, Refresh: time.Hour, Now: time.Now, Ways: w,
		Boot: func() time.Duration { return time.Hour }, BootID: "boot", Report: func(r ready.Report) { reports <- r }, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return reports
}

// TestTheMethodsServiceIsAsked: the service of the terminal's own method is asked at the start, and again while it refuses. The terminal
// is ready by its other method.
func TestTheMethodsServiceIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 100)
		reports := judging(t, oneMethod{}, agent.Ways{
			AskMethod: func(context.Context) { asked <- struct{}{} },
			Method:    func() *ready.Trouble { return &ready.Trouble{Cause: ready.ServiceRefused, Where: "pay.example"} },
		})
		require.True(t, need.Receive(t, "a report", reports).Ready)
		need.Receive(t, "the question to the service", asked)
		need.Receive(t, "the question to the service", asked)
	})
}

// TestADoubtIsAskedAtOnce: a terminal that is ready asks the schemes while another service of their host was not reached, and never else.
func TestADoubtIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := oneMethod{asked: make(chan struct{}, 1)}
		doubt := make(chan struct{})
		reports := judging(t, b, agent.Ways{
			Troubles: func() []ready.Trouble { return nil },
			Doubt: func() bool {
				select {
				case <-doubt:
					return true
				default:
					return false
				}
			},
		})
		require.True(t, need.Receive(t, "a report", reports).Ready)
		require.Empty(t, b.asked)
		close(doubt)
		need.Receive(t, "the question to the schemes", b.asked)
	})
}
