package agent_test

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/cross/need"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/store/storetest"
)

// film is a screen that remembers which kinds of scenes it has shown, one after the other.
type film struct {
	mu    sync.Mutex
	kinds []scene.Kind
}

func (f *film) Show(v display.View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kinds) == 0 || f.kinds[len(f.kinds)-1] != v.Kind {
		f.kinds = append(f.kinds, v.Kind)
	}
	return nil
}

func (f *film) shown() []scene.Kind {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.kinds)
}

// TestField2_D9TheScreenSaysReadyOnlyWhereTheTerminalIs: at a start the customer's screen says that the terminal starts, until it was judged;
// then what the first line of status says: ready, or not.
func TestField2_D9TheScreenSaysReadyOnlyWhereTheTerminalIs(t *testing.T) {
	for name, tc := range map[string]struct {
		backend upstreams
		want    []scene.Kind
	}{
		"a backend that is not reached": {noBackend{}, []scene.Kind{scene.Starting, scene.NotReady}},
		"a backend that answers":        {noRoutes{}, []scene.Kind{scene.Starting, scene.Idle}},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			f := &film{}
			ctx, cancel := context.WithCancel(t.Context())
			a := agent.New(agent.Options{
				DB: storetest.Open(t, agent.Schema()...), Drive: drive.Config{Currency: "EUR"}, Schemes: tc.backend, Methods: tc.backend, Refresh: time.Hour, Port: ln, Now: time.Now,
				Local: agent.Local{Token: readyToken}, Screen: f, Boot: func() time.Duration { return time.Hour }, BootID: "boot", Log: slog.New(slog.DiscardHandler),
			})
			require.Empty(t, f.shown(), "nothing is started yet")
			ended := make(chan error, 1)
			go func() { ended <- a.Run(ctx) }()
			need.Until(t, "the terminal was judged", func() bool { return len(f.shown()) >= len(tc.want) })
			cancel()
			require.NoError(t, <-ended)
			require.Equal(t, tc.want, f.shown())
		})
	}
}
