package crashfs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
)

// accept writes sales from..to one by one and returns those acknowledged; every refusal must be named.
func accept(t *testing.T, s store.Journal, rec *crashfs.Recorder, from, to int64) (acked []int64) {
	t.Helper()
	for id := from; id < to; id++ {
		switch err := s.Write(t.Context(), put(s, id, lives[0])); {
		case err == nil:
			rec.Ack(sale{id, lives[0]})
			acked = append(acked, id)
		case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrIO), errors.Is(err, store.ErrReadOnly):
		default:
			require.NoError(t, err)
		}
	}
	return acked
}

func sales(ctx context.Context, s store.Journal) (out []int64, err error) {
	err = s.Read(ctx, func(r store.Reader) (err error) {
		out, err = store.Column[int64](r, "SELECT id FROM sales ORDER BY id")
		return err
	})
	return out, err
}

func TestFaultAtEveryWriteAndSync(t *testing.T) {
	for _, op := range []crashfs.Op{crashfs.Write, crashfs.Sync} {
		for _, errno := range []crashfs.Errno{crashfs.ENOSPC, crashfs.EIO, crashfs.EROFS} {
			for _, times := range []int{1, 3, -1} {
				if op == crashfs.Sync && errno == crashfs.EROFS {
					continue // a sync has nothing to refuse there
				}
				t.Run(fmt.Sprintf("%s/%v/x%d", op, errno, times), func(t *testing.T) {
					struck := 0
					for _, n := range []int{1, 2, 3, 5, 8, 13} {
						if faultRun(t, crashfs.Fault{On: op, N: n, Err: errno, Times: times}) {
							struck++
						}
					}
					require.GreaterOrEqual(t, struck, 4)
				})
			}
		}
	}
}

// faultRun arms the fault in the middle of a day's work and checks that exactly what was acknowledged is there, both
// in the running store, after a restart and after a power cut.
func faultRun(t *testing.T, fault crashfs.Fault) (struck bool) {
	t.Helper()
	rec, err := crashfs.New()
	require.NoError(t, err)
	path := filepath.Join(scratch(t), "agent.db")
	s, err := sqlite.Open(t.Context(), recorded(path, rec, "FULL"))
	require.NoError(t, err)
	from := rec.Len()
	acked := accept(t, s, rec, 1, 4)
	require.Len(t, acked, 3)

	rec.Arm(fault)
	during := accept(t, s, rec, 10, 16)
	acked = append(acked, during...)
	if fault.Times < 0 && len(during) < 6 {
		h := s.Health(t.Context())
		require.NotEqual(t, store.Ready, h.State)
		require.Error(t, h.Err)
	}
	struck = rec.Disarm()

	after := accept(t, s, rec, 20, 24)
	// A descriptor that was open when a sync failed hears of it once, as on Linux: where the folding of the log met the fault, that
	// may be the first write after it.
	if len(after) == 3 && after[0] == 21 && fault.On == crashfs.Sync {
		t.Log("write 20 heard of a sync that had failed before it")
	} else {
		require.Len(t, after, 4, "the store works again as soon as the disk does")
	}
	acked = append(acked, after...)
	require.Equal(t, store.Ready, s.Health(t.Context()).State)
	visible, err := sales(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, acked, visible)
	require.NoError(t, s.Check(t.Context()))
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())

	s, err = sqlite.Open(t.Context(), options(path, "", "FULL"))
	require.NoError(t, err)
	visible, err = sales(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, acked, visible)
	require.NoError(t, s.Close())

	rep, err := rec.Enumerate(crashfs.Plan{States: 2, Seed: newSeed(), Dir: scratch(t), From: from}, func(st crashfs.State) error {
		return verify(t.Context(), st)
	})
	require.NoError(t, err)
	for _, f := range rep.Failures {
		t.Errorf("seed %d, %+v, %v: %v", rep.Seed, fault, f.State, f.Err)
	}
	return struck
}

// A write that failed may lie complete in the log. Once the store has recovered, no power cut brings it up any more.
func TestUnacknowledgedNeverTurnsUp(t *testing.T) {
	s, rec := unfolded(t)
	require.Len(t, accept(t, s, rec, 1, 4), 3)
	require.NoError(t, s.Truncate(t.Context()))
	require.Len(t, accept(t, s, rec, 4, 6), 2)

	rec.Arm(crashfs.Fault{On: crashfs.Sync, N: 1, Times: -1, Err: crashfs.EIO})
	require.ErrorIs(t, s.Write(t.Context(), put(s, 66, lives[0])), store.ErrIO)
	failed := rec.Len()
	require.True(t, rec.Disarm())
	nothing := errors.New("nothing")
	require.ErrorIs(t, s.Write(t.Context(), func(store.Tx) error { return nothing }), nothing)
	require.Equal(t, store.Ready, s.Health(t.Context()).State)
	recovered := rec.Len()
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())

	turnedUp := func(from, to int) (n int) {
		rep, err := rec.Enumerate(crashfs.Plan{States: 40, Seed: newSeed(), Dir: scratch(t), From: from, To: to}, func(st crashfs.State) error {
			s, err := sqlite.Open(t.Context(), options(filepath.Join(st.Dir, "agent.db"), "", "FULL"))
			if err != nil {
				return err
			}
			found, err := sales(t.Context(), s)
			if len(found) > 5 {
				n++
			}
			return errors.Join(err, s.Close())
		})
		require.NoError(t, err)
		require.Empty(t, rep.Failures)
		return n
	}
	require.Positive(t, turnedUp(failed, failed), "before the recovery it may, or this test proves nothing")
	require.Zero(t, turnedUp(recovered, 0))
}

// A log that is folded after each commit starts anew with the next one, which then has to sync twice.
func TestQuietCommitIsOneSync(t *testing.T) {
	const commits = 12
	syncs := func(worth int64) int {
		rec, err := crashfs.New()
		require.NoError(t, err)
		opt := recorded(filepath.Join(scratch(t), "agent.db"), rec, "FULL")
		opt.CheckpointEvery, opt.CheckpointWrites = 20*time.Millisecond, worth
		s, err := sqlite.Open(t.Context(), opt)
		require.NoError(t, err)
		before := rec.Count(crashfs.Sync)
		for id := range int64(commits) {
			require.Len(t, accept(t, s, rec, id+1, id+2), 1)
			if worth == 0 {
				<-time.After(40 * time.Millisecond) // twice as long as the log would lie
				continue
			}
			need.Until(t, "the log to be folded", func() bool { return rec.Count(crashfs.Sync)-before >= 2*int(id+1) })
		}
		n := rec.Count(crashfs.Sync) - before
		require.NoError(t, s.Close())
		require.NoError(t, rec.Close())
		return n
	}
	require.LessOrEqual(t, syncs(0), commits+1, "one for the log's header")
	require.Greater(t, syncs(1), commits+commits/2, "the log was folded in between")
}

// A data key that was deleted leaves the log by a truncation a minute later: until then a terminal's commits are as cheap as ever.
func TestADeletedKeyFoldsNothing(t *testing.T) {
	const commits = 6
	rec, err := crashfs.New()
	require.NoError(t, err)
	opt := recorded(filepath.Join(scratch(t), "agent.db"), rec, "FULL")
	opt.CheckpointEvery, opt.CheckpointWrites = 5*time.Millisecond, 1000
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	before := rec.Count(crashfs.Sync)
	for id := range int64(commits) {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			if err := put(s, id+1, lives[0])(tx); err != nil {
				return err
			}
			return s.Shred(tx, "sales", fmt.Sprint(id+1))
		}))
		<-time.After(30 * time.Millisecond)
	}
	require.LessOrEqual(t, rec.Count(crashfs.Sync)-before, commits+1, "one for the log's header")
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())
}

// A batch of more pages than the cache has is written to the log once, by its commit.
func TestALargeBatchIsWrittenOnce(t *testing.T) {
	const pages = 1500
	rec, err := crashfs.New()
	require.NoError(t, err)
	opt := recorded(filepath.Join(scratch(t), "agent.db"), rec, "FULL")
	opt.CheckpointEvery = time.Hour
	opt.Steps = []store.Step{{Name: "crash/1 big", SQL: `CREATE TABLE big (id INTEGER PRIMARY KEY, text BLOB NOT NULL) STRICT;`}}
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	all := func(query string, args ...any) int {
		before := rec.Count(crashfs.Write)
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			for id := range pages {
				if _, err := tx.Exec(query, append(args, id)...); err != nil {
					return err
				}
			}
			for id := range pages {
				if _, err := tx.Exec(`UPDATE big SET text = zeroblob(701) WHERE id = ?`, id); err != nil {
					return err
				}
			}
			return nil
		}))
		return rec.Count(crashfs.Write) - before
	}
	all(`INSERT INTO big (text, id) VALUES (?, ?)`, make([]byte, 700))
	require.Less(t, all(`UPDATE big SET text = ? WHERE id = ?`, make([]byte, 702)), 2*pages+200, "a frame is its head and its page")
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())
}
