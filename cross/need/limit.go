package need

import (
	"crypto/sha256"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is what a test waits on an idle machine before it calls something missing.
const patience = time.Minute

// Limit is how long a test waits for what must come: a minute on an idle machine, more on a busy or slow one. It is no
// measure of speed: a test that has waited for it has found something that never comes.
func Limit() time.Duration { return time.Duration(load() * float64(patience)) }

// Deadline is the moment at which Limit ends.
func Deadline() time.Time { return time.Now().Add(Limit()) }

// Until waits until ok reports true. It fails the test after Limit, naming what it waited for.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := Deadline(); !ok(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for: %s", Limit(), what)
		}
	}
}

// Receive returns the next value of a channel. It fails the test after Limit, naming what it waited for. A closed channel
// gives the zero value.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(Limit()):
		t.Fatalf("waited %s for: %s", Limit(), what)
	}
	panic("unreachable")
}

// load is how many times slower than an idle machine this one was when the test binary first waited, 1 to 20. A binary that is run as
// the program under test does not wait, and is not held up by it.
var load = sync.OnceValue(func() float64 { return min(20, max(contention(), waiting())+delayed()) })

// contention is how often slower a piece of work was than on an idle machine of the usual kind, others' work included.
func contention() float64 {
	const idle = 20 * time.Millisecond
	return max(1, float64(elapsed(func() {
		block := make([]byte, 64<<10)
		for range 192 {
			sha256.Sum256(block)
		}
	}))/float64(idle))
}

// waiting is how many processes stood in line for a processor in the last minute, by processor.
func waiting() float64 {
	line, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 1
	}
	first, _, _ := strings.Cut(string(line), " ")
	average, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 1
	}
	return average / float64(runtime.NumCPU())
}

// delayed is how often slower a sync of a file was than on an idle machine of the usual kind, less one.
func delayed() float64 {
	const idle, syncs = 10 * time.Millisecond, 3
	f, err := os.CreateTemp("", "posagent-load")
	if err != nil {
		return 0 // a disk that takes no file is not slow; the test will say what it misses
	}
	defer f.Close()
	_ = os.Remove(f.Name()) // at once: whoever is killed meanwhile leaves nothing
	return max(0, float64(elapsed(func() {
		for range syncs {
			_, _ = f.WriteString("x")
			_ = f.Sync()
		}
	}))/float64(syncs*idle)-1)
}

func elapsed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}
