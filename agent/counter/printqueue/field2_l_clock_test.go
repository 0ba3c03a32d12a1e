package printqueue_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/counter/printqueue"
)

// TestField2_L5AWrongClockThrowsNoPaperAway: one start with the clock ahead let every paper go that waited, the end-of-day slip with the
// day's only sums among them. A paper's age is running time (MONEY B.12). The kind of what the wall clock threw away: papers; the
// certificate of a nexo line (by a time that the backend has told); the day on which a payment link ends (likewise, or none).
func TestField2_L5AWrongClockThrowsNoPaperAway(t *testing.T) {
	for name, shift := range map[string]time.Duration{"two days ahead": 48 * time.Hour, "ten years ahead": 10 * 365 * 24 * time.Hour, "behind": -1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
			x, stop := s.start(broken{})
			s.confirm(x, "k42")
			require.Len(t, s.waiting(), 2)
			stop()
			s.run.Add(time.Minute.Milliseconds())
			s.start(toFile(t, path), func(o *printqueue.Options) { o.Now = func() time.Time { return time.Now().Add(shift) } })
			s.allPrinted()
			require.Equal(t, 1, strings.Count(listing(t, path), "Customer receipt"))
		})
	}
}
