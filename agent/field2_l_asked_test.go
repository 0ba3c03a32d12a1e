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
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// slowBackend answers for its list once it is let.
type slowBackend struct {
	oneMethod
	let chan struct{}
}

func (b slowBackend) List(ctx context.Context, q methods.Query) ([]methods.Definition, error) {
	select {
	case <-b.let:
		return nil, wire.Errorf(wire.Unavailable, "test", "no network")
	case <-ctx.Done():
		return nil, wire.Errorf(wire.Unavailable, "test", "no network")
	}
}

// TestField2_L10NotReadyBeforeItHasAsked: a terminal that starts held a list and a proof of an earlier run, and said READY to whoever asked
// until its own first question had failed. Until then it has not asked, and says so.
func TestField2_L10NotReadyBeforeItHasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := storetest.Open(t, agent.Schema()...)
		run := func(b interface {
			methods.Service
			upstreams
		}, during func(a *agent.Agent, reports <-chan ready.Report)) {
			reports := make(chan ready.Report, 100)
			a := agent.New(agent.Options{
				DB: db, Schemes: b, Methods: b, Refresh: time.Hour, Now: time.Now, Ways: agent.Ways{Settings: []byte("settings")},
				Boot: func() time.Duration { return time.Hour }, BootID: "boot", Report: func(r ready.Report) { reports <- r }, Log: slog.New(slog.DiscardHandler),
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- a.Run(ctx) }()
			during(a, reports)
			cancel()
			require.NoError(t, <-ended)
		}
		run(oneMethod{}, func(a *agent.Agent, reports <-chan ready.Report) {
			for !need.Receive(t, "a report", reports).Ready {
			}
			require.True(t, a.Judge(t.Context()).Ready)
		})
		slow := slowBackend{let: make(chan struct{})}
		run(slow, func(a *agent.Agent, reports <-chan ready.Report) {
			synctest.Wait()
			<-time.After(time.Second)
			r := a.Judge(t.Context())
			require.False(t, r.Ready)
			require.Equal(t, ready.Asking, r.NotReady.Cause)
			require.Empty(t, reports)
			close(slow.let)
			r = need.Receive(t, "a report", reports)
			require.NotNil(t, r.Offline, "%+v", r)
			require.NotNil(t, a.Judge(t.Context()).Offline)
		})
	})
}
