package record_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/support/record"
)

func logs(w *bytes.Buffer) (*record.Recorder, *slog.Logger) {
	r := record.New()
	return r, slog.New(r.Handler(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

// A reader sees every level, with the attributes of the logger; the log itself stays as quiet as it was.
func TestAReaderSeesWhatTheLogDoesNot(t *testing.T) {
	var out bytes.Buffer
	r, log := logs(&out)
	log = log.With("sys", "ecr")
	require.False(t, log.Enabled(t.Context(), slog.LevelDebug))
	log.Debug("before")

	reader, err := r.Follow()
	require.NoError(t, err)
	require.True(t, log.Enabled(t.Context(), slog.LevelDebug))
	log.Debug("message", "bytes", 7)
	log.WithGroup("line").Warn("lost", "err", errors.New("gone"))
	it, err := reader.Next(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `^\{"time":"[^"]+","level":"DEBUG","msg":"message","sys":"ecr","bytes":7\}$`, string(it.Log))
	it, err = reader.Next(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(it.Log), `"msg":"lost","sys":"ecr","line":{"err":"gone"}`)

	reader.Close()
	require.False(t, log.Enabled(t.Context(), slog.LevelDebug))
	log.Debug("after")
	require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	require.Contains(t, out.String(), `level=WARN msg=lost sys=ecr line.err=gone`)
}

// Nothing that logs waits for a reader: what does not fit is counted, and told behind what did.
func TestASlowReaderLosesLinesAndIsTold(t *testing.T) {
	r, log := logs(&bytes.Buffer{})
	reader, err := r.Follow()
	require.NoError(t, err)
	const lines = 3000
	for range lines {
		log.Debug(strings.Repeat("x", 1000))
	}
	log.Debug(strings.Repeat("x", 9000)) // longer than a line may be
	seen, held := 0, 0
	for {
		it, err := reader.Next(t.Context())
		require.NoError(t, err)
		if it.Lost > 0 {
			require.Equal(t, lines+1-seen, it.Lost)
			break
		}
		seen, held = seen+1, held+len(it.Log)
	}
	require.LessOrEqual(t, held, 1<<20)
	require.Greater(t, held, 1<<19)
	log.Debug("again")
	it, err := reader.Next(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(it.Log), "again")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = reader.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestThereAreFourReaders(t *testing.T) {
	r := record.New()
	var list []*record.Reader
	for range 4 {
		one, err := r.Follow()
		require.NoError(t, err)
		list = append(list, one)
	}
	_, err := r.Follow()
	require.ErrorIs(t, err, record.ErrBusy)
	list[2].Close()
	_, err = r.Follow()
	require.NoError(t, err)
}

func TestFiguresOfThisProcess(t *testing.T) {
	at := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	f := record.Self(at)
	require.Equal(t, at, f.At)
	require.Greater(t, f.RSS, int64(1<<20))
	require.Less(t, f.RSS, int64(4<<30))
	require.GreaterOrEqual(t, f.Files, 3)
	require.Positive(t, f.Threads)
	require.Positive(t, f.Goroutines)
}
