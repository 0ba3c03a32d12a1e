package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField4_TillsAskedWhileItIsTaken: the disk hung while a request was stored, its connection was lost, and
// the register was told that there is no such sale, which was then begun: a refund went back beside the cash.
// A question waits for what its line has asked for: by the id, by how that begins, and for the last sale.
// What another line or another id has asked for holds nothing up. The suite of the protocols (ecr/ecrtest,
// "asked while it is taken") plays it for JSON lines and nexo.
func TestField4_TillsAskedWhileItIsTaken(t *testing.T) {
	for _, c := range []struct {
		line, sequence string
		waits          bool
	}{
		{"tcp", "A7/order", true}, {"tcp", "A7/" + ecr.AnyEnd, true}, {"tcp", "", true},
		{"tcp", "A7/", false}, {"tcp", "A8/" + ecr.AnyEnd, false}, {"tcp", "A8/order", false}, {"tcp/2", "A7/order", false}, {"tcp/2", "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := new(Session)
			over := s.takings.Take("tcp", "A7/order")
			time.AfterFunc(time.Minute, over)
			began := time.Now()
			require.NoError(t, s.decided(t.Context(), c.line, c.sequence))
			require.Equal(t, c.waits, time.Since(began) == time.Minute, "%+v", c)
			<-time.After(time.Hour)
			over() // again
			require.NoError(t, s.decided(t.Context(), c.line, c.sequence))
			require.Empty(t, s.takings.Open("tcp", ""))

			s.takings.Take("tcp", "A7/order")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.Equal(t, c.waits, s.decided(ctx, c.line, c.sequence) != nil, "a question is given up")
		})
	}
}
