package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// crashStates are the power cuts that the suite looks at; the campaign of crashfs tries more.
const crashStates = 60

func suiteOptions(place string, steps []store.Step, w store.Wrapper) sqlite.Options {
	path := filepath.Join(place, "suite.db")
	return sqlite.Options{Path: path, Steps: steps, Wrapper: w, Ballast: -1, Marks: []string{store.MarkPath(path)}}
}

func recordedOptions(place string, steps []store.Step, rec *crashfs.Recorder) sqlite.Options {
	opt := suiteOptions(place, steps, storetest.Wrapper{})
	opt.VFS, opt.OpenMark = rec.VFS(), rec.OpenMark
	opt.CheckpointEvery, opt.CheckpointWrites = 2*time.Millisecond, 1
	return opt
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Engine{
		Place: func(tb testing.TB) string { return tb.TempDir() },
		Open: func(ctx context.Context, place string, steps []store.Step, w store.Wrapper) (store.Store, error) {
			s, err := sqlite.Open(ctx, suiteOptions(place, steps, w))
			if err != nil {
				return nil, err
			}
			return s, nil
		},
		Crash: func(tb testing.TB, c storetest.Crash) {
			rec, err := crashfs.New()
			require.NoError(tb, err)
			s, err := sqlite.Open(tb.Context(), recordedOptions(scratch(tb), c.Steps, rec))
			require.NoError(tb, err)
			from := rec.Len()
			require.NoError(tb, c.Work(s, rec.Ack))
			require.NoError(tb, s.Close())
			rep, err := rec.Enumerate(crashfs.Plan{States: crashStates, Dir: scratch(tb), From: from}, func(st crashfs.State) error {
				s, err := sqlite.Open(tb.Context(), suiteOptions(st.Dir, c.Steps, storetest.Wrapper{}))
				if err != nil {
					return err
				}
				return errors.Join(c.Check(s, st.Acked), s.Close())
			})
			require.NoError(tb, err)
			require.Empty(tb, rep.Failures, "seed %d", rep.Seed)
			require.Equal(tb, crashStates, rep.States)
		},
		Faulty: func(tb testing.TB, steps []store.Step) storetest.Faulty {
			rec, err := crashfs.New()
			require.NoError(tb, err)
			place := scratch(tb)
			s, err := sqlite.Open(tb.Context(), recordedOptions(place, steps, rec))
			require.NoError(tb, err)
			return storetest.Faulty{DB: s,
				Fault: func(as error) {
					fault := crashfs.Fault{On: crashfs.Sync, N: 1, Err: crashfs.EIO, Times: -1}
					if errors.Is(as, store.ErrFull) {
						fault = crashfs.Fault{On: crashfs.Write, N: 1, Err: crashfs.ENOSPC, Times: -1}
					}
					rec.Arm(fault)
				},
				Heal: func() { rec.Disarm() },
				Reopen: func() store.Store {
					require.NoError(tb, s.Close())
					require.NoError(tb, rec.Close())
					s, err := sqlite.Open(tb.Context(), suiteOptions(place, steps, storetest.Wrapper{}))
					require.NoError(tb, err)
					return s
				},
			}
		},
	})
}
