package control

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/control/socket"
	"posagent/agent/support/record"
	"posagent/cross/need"
)

// A recording has every line of the log without the terminal's secrets, and figures at its beginning and again. When its reader leaves,
// the log is quiet again.
func TestARecordingFollowsTheLog(t *testing.T) {
	r := record.New()
	log := slog.New(r.Handler(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn})))
	path := filepath.Join(t.TempDir(), Name)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	what := &Recording{
		Of:      r,
		Figures: func(context.Context) record.Figures { return record.Figures{Files: 7} },
		Clean:   func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("hush"), []byte("***")) },
	}
	go func() { ended <- New(Options{Path: path, Ops: &fake{}, House: &fake{}, Record: what}).Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })

	client := &Client{Path: path}
	need.Until(t, "the service answers", func() bool {
		conn, err := socket.Dial(t.Context(), path)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	var once sync.Once
	figures, lines := 0, []string{}
	err := client.Record(t.Context(), func() { once.Do(func() { log.Debug("message", "token", "hush") }) }, func(it record.Item) bool {
		switch {
		case it.Figures != nil:
			require.Equal(t, 7, it.Figures.Files)
			figures++
		default:
			lines = append(lines, string(it.Log))
		}
		return figures == 2 && len(lines) == 1
	})
	require.NoError(t, err)
	require.Contains(t, lines[0], `"msg":"message","token":"***"`)
	need.Until(t, "the log is as quiet as before", func() bool { return !log.Enabled(t.Context(), slog.LevelDebug) })
}

// A terminal that records nothing, and one of an older version, say so.
func TestAnOlderTerminalIsNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	serve(t, path, &fake{})
	err := (&Client{Path: path}).Record(t.Context(), func() {}, func(record.Item) bool { return true })
	require.EqualError(t, err, "the terminal answered 404 Not Found")
	gone := &Client{Path: filepath.Join(t.TempDir(), Name)}
	require.ErrorIs(t, gone.Record(t.Context(), func() {}, func(record.Item) bool { return true }), ErrNoDaemon)
}
