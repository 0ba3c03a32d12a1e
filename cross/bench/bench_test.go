package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/store/postgres/pgserver"
)

// TestChild is this program as a child of itself; on its own it does nothing.
func TestChild(t *testing.T) {
	if task := os.Getenv(envChild); task != "" {
		require.NoError(t, child(task, os.Stdout))
	}
}

// TestRuns: every row is there. Its counts are too small to judge by.
func TestRuns(t *testing.T) {
	need.Verify(t, "measures, for a minute")
	b := &bench{
		ctx: t.Context(), dir: t.TempDir(), bin: program.Path(t, "posagent"), self: []string{os.Args[0], "-test.run=^TestChild$"},
		strace: need.Tool(t, "strace"),
		peer:   "peer",
		counts: counts{turns: 1, ops: 8, slow: 4, queued: 8, queuedSlow: 4, sales: 2, starts: 1, old: 20, echoes: 5, codes: 2, frames: 2, paid: 4, many: 300, poll: 10 * time.Millisecond, pause: 20 * time.Millisecond},
	}
	var out strings.Builder
	_, err := b.run(&out)
	t.Log(out.String())
	require.NoError(t, err)
	rows := map[string]row{}
	for _, r := range b.table.rows {
		require.NotEmpty(t, r.ours, r.what)
		rows[r.what] = r
	}
	require.Len(t, rows, len(b.table.rows), "every row has a name of its own")
	want := []string{
		"journal write, 64 callers, throughput", "operation accepted, 256 callers, throughput", "an operation's life, flushes",
		"operation accepted, 8 callers, beside bbolt", "06 01 -> first byte at the backend", "backend says COMMIT -> 04 0F", "bytes the program writes",
		"20 old sales: 06 01 -> first byte at the backend", "memory after one sale", "message of 64 bytes and one back, 115200 baud",
		"payment POSTed, 1 callers, p50", "payment POSTed, 64 callers, flushes", "payment POSTed, 256 callers, beside HTTP alone",
		"payment POSTed, 8 callers, beside one refused", "payment link POSTed, 8 callers, throughput",
		"payment accepted, 8 callers, backend stalls in TLS, p99", "code encoded and drawn, beside encoded",
		"payload -> 800x480 panel, first code", "payload -> 800x480 panel, next code", "second of the countdown, bytes allocated", "start to ready, 20 old sales",
		"create + authorize + capture over loopback, 16 at once",
		"link create + read over loopback, 1 at once", "link create + read over loopback, 16 at once",
		"dispute create + read over loopback, 1 at once", "dispute create + read over loopback, 16 at once",
		"hosted build + 5 fields + finalize over loopback, 1 at once", "hosted build + 5 fields + finalize over loopback, 16 at once",
	}
	if b.strace != "" {
		want = append(want, "+5 ms: journal write, 8 callers, p50", "+5 ms: operation accepted, 64 callers, throughput", "+5 ms: payment POSTed, 8 callers, p50", "+5 ms: 06 01 -> first byte at the backend", "flushes of a sale")
	}
	need.Tool(t, "redis-server")
	want = append(want, "operation accepted, 64 callers, beside redis")
	if pgserver.Programs() != "" {
		want = append(want, "payment commits, 1 callers, beside pgbench", "payment commits, 64 callers, beside pgbench", "payment commits, 256 callers, beside five rows",
			"payment commits, two backends beside one", "payment commits, 30 payments in the books", "payment commits, 300 payments in the books")
	}
	for _, name := range want {
		require.Contains(t, rows, name)
		require.NotZero(t, rows[name].ratio, name) // a difference of two small samples may be below zero
	}
}

func TestTheScreensFiguresAreRead(t *testing.T) {
	got, err := drawnOf(`goos: linux
BenchmarkFirstPixel/first         	     100	  17497121 ns/op	  205947 B/op	    3693 allocs/op
BenchmarkFirstPixel/next-2        	     100	   1335680.5 ns/op	  164333 B/op	    3572 allocs/op
BenchmarkFirstPixel/frame-16      	     100	   531786 ns/op	   32688 B/op	     140 allocs/op
PASS
`)
	require.NoError(t, err)
	require.Equal(t, map[string]drawn{"first": {17497121, 205947, 3693}, "next": {1335680, 164333, 3572}, "frame": {531786, 32688, 140}}, got)
	_, err = drawnOf("PASS\n")
	require.ErrorContains(t, err, "want first, next and frame")
}

func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		row    row
		failed bool
	}{
		{row{ratio: 0.8, atLeast: 0.8}, false},
		{row{ratio: 0.79, atLeast: 0.8}, true},
		{row{ratio: 1, atMost: 1}, false},
		{row{ratio: 1.01, atMost: 1}, true},
		{row{ratio: 100}, false},
	} {
		require.Equal(t, tc.failed, tc.row.failed(), "%+v", tc.row)
	}
	var out strings.Builder
	tab := &table{}
	tab.add(row{what: "slow", ours: "1", limit: "2", ratio: 0.5, atLeast: 0.8})
	tab.missing("a part needs a tool")
	tab.flush(&out, "part")
	require.False(t, tab.end(&out))
	require.Contains(t, out.String(), "FAIL")
	require.Contains(t, out.String(), "not run: a part needs a tool")
	require.Contains(t, out.String(), "1 failed")
	require.True(t, (&table{}).end(&out))
}
