package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/storetest"
)

// progressing asks for progress in another goroutine and returns where its end is told.
func progressing(a *agent.Agent, ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- a.Progress(ctx) }()
	return ended
}

// TestProgressIsThatOfEachLoop: no progress before the outbox runs, none while the journal's writer stands still, and the sign of
// life itself writes nothing into the journal.
func TestProgressIsThatOfEachLoop(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ready := make(chan struct{})
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Now: time.Now,
		Boot: func() time.Duration { return time.Hour }, BootID: "boot", Up: func() { close(ready) }, Log: slog.New(slog.DiscardHandler),
	})
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, <-progressing(a, short), context.DeadlineExceeded, "the outbox does not run yet")

	ctx, stop := context.WithCancel(t.Context())
	run := make(chan error, 1)
	go func() { run <- a.Run(ctx) }()
	<-ready
	require.NoError(t, <-progressing(a, t.Context()))
	need.Until(t, "an idle terminal's flash is not worn", func() bool { // what a start writes may come late
		commits := db.Commits()
		for range 3 {
			if a.Progress(t.Context()) != nil {
				return false
			}
		}
		return db.Commits() == commits
	})

	hung, release := make(chan struct{}), make(chan struct{})
	wrote := make(chan error, 1)
	go func() {
		wrote <- db.Write(t.Context(), func(store.Tx) error {
			close(hung)
			<-release
			return errors.New("nothing is written")
		})
	}()
	<-hung
	ended := progressing(a, t.Context())
	early := false
	select {
	case <-ended:
		early = true
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	require.Error(t, <-wrote)
	require.False(t, early, "progress while the writer stands still")
	require.NoError(t, <-ended)
	stop()
	require.NoError(t, <-run)
}
