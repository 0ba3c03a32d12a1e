package sweep_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/sweep"
)

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var looks []time.Duration
		l := sweep.New(time.Now, slog.New(slog.DiscardHandler), func(context.Context) (int64, error) {
			looks = append(looks, time.Since(start))
			switch len(looks) {
			case 1:
				return time.Now().Add(300 * time.Millisecond).UnixMilli(), nil // due before the second is over
			case 2:
				return time.Now().Add(time.Hour).UnixMilli(), nil // due late, looked for all the same
			case 3:
				return 0, errors.New("disk")
			}
			return 0, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.AfterFunc(2500*time.Millisecond, l.Poke)
		require.ErrorIs(t, l.Run(ctx), context.DeadlineExceeded)
		ms := time.Millisecond
		require.Equal(t, []time.Duration{0, 300 * ms, 1300 * ms, 2300 * ms, 2500 * ms}, looks)
	})
}
