package disk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/schemes/money"
	"posagent/store/crashfs"
)

// healed is how long a disk that fails until space returns goes on failing.
const healed = 40 * time.Second

// disk is one that fails, as the story sees it.
type disk interface {
	vfs() string
	spoil()
	heal() (struck bool)
}

// result is what a story came to.
type result struct {
	stories, sales, approved, during, struck int
	wrong                                    []string
}

func (r *result) add(o result) {
	r.stories, r.sales, r.approved, r.during, r.struck = r.stories+o.stories, r.sales+o.sales, r.approved+o.approved, r.during+o.during, r.struck+o.struck
	r.wrong = append(r.wrong, o.wrong...)
}

func (r *result) report(t *testing.T, what string, seed uint64) {
	t.Helper()
	env.Report(t, seed, r.wrong)
	t.Logf("seed %d, %s: %d stories (%d faults struck), %d sales, %d approved (%d of those the fault met), %d violations: at most %.1e at 95 %%", seed, what,
		r.stories, r.struck, r.sales, r.approved, r.during, len(r.wrong), 3/float64(r.stories))
}

// options are those of every story.
func options() stack.Options {
	return stack.Options{Methods: stack.ShortTimeouts, Unit: "ms", WalletDelay: time.Second, Poll: time.Second, ByteTime: 20 * time.Microsecond}
}

// story makes a sale, one while the disk fails, and one after it works again; then it opens the journal anew and compares. The
// register of the second sale asks until it knows. early spoils the disk before the terminal starts.
func story(t *testing.T, o stack.Options, d disk, early bool, amount money.Minor, between func(s *stack.Stack)) (r result) {
	t.Helper()
	o.VFS = d.vfs()
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s, err := stack.Open(ctx, o)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		var beliefs []stack.Belief
		sell := func(p stack.Plan) bool {
			b, err := s.Sell(ctx, p)
			if err != nil {
				wrong("%v", err)
			}
			beliefs = append(beliefs, b)
			return b.Approved
		}
		if early {
			d.spoil()
			err := s.Start(ctx)
			if err == nil { // it was not met, or met later
				r.struck = boolean(d.heal())
			} else {
				r.struck = boolean(d.heal())
				require.NoError(t, s.Start(ctx), "after %v", err)
			}
		} else {
			require.NoError(t, s.Start(ctx))
			if !sell(stack.Plan{Amount: 1000}) {
				wrong("the sale before was not approved: %+v", beliefs)
			}
			d.spoil()
			over := time.AfterFunc(healed, func() { r.struck = boolean(d.heal()) })
			if sell(stack.Plan{Amount: amount}) {
				r.during++
			}
			if over.Stop() {
				r.struck = boolean(d.heal())
			}
		}
		<-time.After(30 * time.Second) // the store looks at its disk again by itself
		if between != nil {
			between(s)
		}
		if !sell(stack.Plan{Amount: 3000}) {
			wrong("the sale after was not approved: %+v", beliefs[len(beliefs)-1])
		}
		if _, err := s.Settle(ctx, time.Hour); err != nil {
			wrong("%v", err)
		}
		require.NoError(t, s.Stop())
		require.NoError(t, s.Start(ctx))
		if _, err := s.Settle(ctx, time.Hour); err != nil {
			wrong("after a restart: %v", err)
		}
		r.judge(ctx, t, s, beliefs)
	})
	return r
}

// judge compares belief, books and the journal that was opened anew.
func (r *result) judge(ctx context.Context, t *testing.T, s *stack.Stack, beliefs []stack.Belief) {
	t.Helper()
	list, err := s.Compare(ctx, beliefs)
	require.NoError(t, err)
	verdict, err := s.Verdict(ctx)
	require.NoError(t, err)
	r.wrong = append(append(r.wrong, list...), verdict...)
	sales, err := s.Journal(ctx)
	require.NoError(t, err)
	r.stories++
	for _, b := range beliefs {
		r.sales++
		if !b.Approved {
			continue
		}
		r.approved++
		found := 0
		for _, x := range sales {
			if x.Amount == b.Amount && x.Receipt == b.Receipt && x.Result == "approved" {
				found++
			}
		}
		if found != 1 {
			r.wrong = append(r.wrong, fmt.Sprintf("told approved of %d, receipt %d, but the journal has %+v", b.Amount, b.Receipt, sales))
		}
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// faulty is a disk whose nth operation fails.
type faulty struct {
	rec   *crashfs.Recorder
	fault crashfs.Fault
}

func (f faulty) vfs() string { return f.rec.VFS() }
func (f faulty) spoil()      { f.rec.Arm(f.fault) }
func (f faulty) heal() bool  { return f.rec.Disarm() }

// withRecorder runs f on a fresh directory and a fresh VFS.
func withRecorder(t *testing.T, f func(o stack.Options, rec *crashfs.Recorder)) {
	t.Helper()
	o := options()
	o.Unpaced = true // what the journal could not keep is asked again at once
	stacktest.Scratch(t, o, func(o stack.Options) {
		rec, err := crashfs.New()
		require.NoError(t, err)
		f(o, rec)
		require.NoError(t, rec.Close())
	})
}

// healthy is a disk that never fails; it counts instead.
type healthy struct {
	rec   *crashfs.Recorder
	first map[crashfs.Op]int
	count map[crashfs.Op]int
}

func (h healthy) vfs() string { return h.rec.VFS() }
func (h healthy) spoil() {
	for _, op := range ops() {
		h.first[op] = h.rec.Count(op)
	}
}

func (h healthy) heal() bool {
	for _, op := range ops() {
		h.count[op] = h.rec.Count(op) - h.first[op]
	}
	return false
}

// drawn puts N of all in front, drawn by chance, and returns how many there are.
func drawn[T any](rng *rand.Rand, all []T) int {
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return min(len(all), env.Number("N", need.Size(10, 60)))
}

func ops() []crashfs.Op { return []crashfs.Op{crashfs.Write, crashfs.Sync, crashfs.Open} }

// TestEveryOperationFails: each write, sync and open of a sale, and of a start, in each way.
func TestEveryOperationFails(t *testing.T) {
	seed := env.Seed()
	type one struct {
		fault crashfs.Fault
		early bool
	}
	var all []one
	for _, early := range []bool{false, true} {
		h := healthy{first: map[crashfs.Op]int{}, count: map[crashfs.Op]int{}}
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			h.rec = rec
			r := story(t, o, h, early, 2000, nil)
			require.Empty(t, r.wrong)
		})
		t.Logf("operations, at a start %v: %v", early, h.count)
		for _, op := range ops() {
			for n := range h.count[op] + 1 {
				for _, errno := range []crashfs.Errno{crashfs.ENOSPC, crashfs.EIO, crashfs.EROFS} {
					for _, times := range []int{1, 3, -1} {
						all = append(all, one{crashfs.Fault{On: op, N: n + 1, Err: errno, Times: times}, early})
					}
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	n := drawn(rng, all)
	var sum result
	for _, x := range all[:n] {
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			// Some of the sales under the fault get a no, and one is paid after it.
			amount := []money.Minor{2000, 2000, 2000, 90003, 90012, 90013}[rng.IntN(6)]
			r := story(t, o, faulty{rec, x.fault}, x.early, amount, nil)
			for i := range r.wrong {
				r.wrong[i] = fmt.Sprintf("%+v, at the start %v: %s", x.fault, x.early, r.wrong[i])
			}
			sum.add(r)
		})
	}
	sum.report(t, fmt.Sprintf("%d of %d faults", n, len(all)), seed)
	require.Positive(t, sum.struck)
	if n >= 60 {
		require.Greater(t, sum.struck, sum.stories/2)
	}
	if n >= 600 { // about one fault in twenty spares its sale
		require.Greater(t, sum.approved, sum.stories)
	}
}

// full is a file system of its own that somebody else fills up.
type full struct {
	dir  string
	left int64 // bytes left free
}

func (f full) vfs() string { return "" }

func (f full) spoil() {
	var st unix.Statfs_t
	if unix.Statfs(f.dir, &st) != nil {
		return
	}
	if n := int64(st.Bavail)*st.Bsize - f.left; n > 0 {
		_ = os.WriteFile(filepath.Join(f.dir, "junk"), make([]byte, n), 0o600) // as much as there is room for
	}
}

func (f full) heal() bool { return os.Remove(filepath.Join(f.dir, "junk")) == nil }

// TestFullDisk: a tmpfs of 2 MiB runs full to the last few pages in the middle of the day.
func TestFullDisk(t *testing.T) {
	need.Verify(t, "mounts a file system")
	seed, runs := env.Seed(), max(3, env.Number("N", 60)/10)
	rng := rand.New(rand.NewPCG(seed, 2))
	var sum result
	for range runs {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
			if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
				require.NoError(t, err)
			}
			need.Missing(t, "a mount of its own", "run as root")
		}
		func() {
			defer func() { require.NoError(t, unix.Unmount(dir, 0)) }()
			stacktest.Scratch(t, options(), func(o stack.Options) {
				o.TerminalDir, o.Ballast = dir, int64(-rng.IntN(2)) // with a reserve beside the file, or without one
				sum.add(story(t, o, full{dir, rng.Int64N(64) * 4096}, false, 2000, nil))
			})
		}()
	}
	sum.report(t, "full disks", seed)
	require.Equal(t, sum.stories, sum.struck)
}

// A disk that loses what was acknowledged must be caught.
func TestTeethDiskThatForgets(t *testing.T) {
	withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
		h := healthy{rec, map[crashfs.Op]int{}, map[crashfs.Op]int{}}
		r := story(t, o, h, false, 2000, func(s *stack.Stack) {
			ctx := context.Background()
			require.NoError(t, s.Stop())
			path := filepath.Join(o.Dir, "terminal", "agent.db")
			require.NoError(t, os.Remove(path)) // the file is gone, and a new one begins empty
			_ = os.Remove(path + "-wal")
			require.NoError(t, s.Start(ctx))
		})
		require.Contains(t, strings.Join(r.wrong, "\n"), "which the journal does not know")
	})
}
