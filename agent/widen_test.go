package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField3_E6TheFirstTrueTimeWidensTheSpan: the terminal compares the lost numbers with the first time that an authenticated reply tells.
func TestField3_E6TheFirstTrueTimeWidensTheSpan(t *testing.T) {
	backup := time.Unix(1_800_000_000, 0)
	db := storetest.Open(t, agent.Schema()...)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return journal.GoOn(tx, db, journal.Past{LastMS: backup.UnixMilli()}, backup.Add(time.Minute))
	}))
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Now: time.Now, Local: agent.Local{Token: readyToken},
		Trusted: func() (time.Time, bool) { return backup.Add(900 * 24 * time.Hour), true },
		Boot:    func() time.Duration { return time.Hour }, BootID: "boot", Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	need.Until(t, "the span to be compared", func() (done bool) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			assumed, err := journal.Assumed(r)
			done = !assumed
			return err
		}))
		return done
	})
	cancel()
	require.NoError(t, <-ended)
}
