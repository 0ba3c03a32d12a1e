package crashfs_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

var (
	states = flag.Int("states", envInt("POSAGENT_STATES", 400), "power cuts to try")
	seed   = flag.Uint64("seed", 0, "seed of the power cuts, 0 = a new one")
)

func envInt(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func newSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func scratch(t *testing.T) string {
	t.Helper()
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

var schema = []store.Step{{Name: "crash/1 sales", SQL: `CREATE TABLE sales (
	id     INTEGER PRIMARY KEY,
	key    TEXT NOT NULL UNIQUE,
	state  TEXT NOT NULL,
	secret BLOB NOT NULL,
	mac    BLOB NOT NULL
) STRICT;
CREATE INDEX sales_open ON sales (state) WHERE state <> 'done';`}}

// sale is what an acknowledgement promises: this row has reached at least this state.
type sale struct {
	id    int64
	state string
}

var lives = []string{"accepted", "sent", "done"}

func options(path, vfs, synchronous string) sqlite.Options {
	return sqlite.Options{
		Path: path, VFS: vfs, Synchronous: synchronous, Steps: schema, Wrapper: storetest.Wrapper{},
		Ballast: -1, Readers: 1, CheckpointEvery: 2 * time.Millisecond, CheckpointWrites: 1,
		Marks: []string{store.MarkPath(path)},
	}
}

func recorded(path string, rec *crashfs.Recorder, synchronous string) sqlite.Options {
	opt := options(path, rec.VFS(), synchronous)
	opt.OpenMark = rec.OpenMark
	return opt
}

// unfolded opens a recorded journal that folds its log when it is told to.
func unfolded(t *testing.T) (store.Journal, *crashfs.Recorder) {
	t.Helper()
	rec, err := crashfs.New()
	require.NoError(t, err)
	opt := recorded(filepath.Join(scratch(t), "agent.db"), rec, "FULL")
	opt.CheckpointEvery = time.Hour
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	return s, rec
}

func put(s store.Journal, id int64, state string) func(store.Tx) error {
	return func(tx store.Tx) error {
		mac := s.MAC("sales", fmt.Sprint(id), state)
		if state != lives[0] {
			res, err := tx.Exec("UPDATE sales SET state = ?, mac = ? WHERE id = ?", state, mac, id)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); n != 1 || err != nil {
				return fmt.Errorf("sale %d: %d rows, %w", id, n, err)
			}
			return nil
		}
		secret, err := s.Seal(tx, store.Cell{Table: "sales", Key: fmt.Sprint(id), Column: "secret"}, fmt.Append(nil, "secret of ", id))
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO sales (id, key, state, secret, mac) VALUES (?, ?, ?, ?, ?)", id, fmt.Sprintf("key-%d", id), state, secret, mac)
		return err
	}
}

// record runs sales through their lives on several goroutines, with checkpoints, truncations and a restart among them.
func record(t *testing.T, rec *crashfs.Recorder, synchronous string) (from int) {
	path := filepath.Join(scratch(t), "agent.db")
	const clerks, sales = 6, 8
	for run := range int64(2) {
		s, err := sqlite.Open(t.Context(), recorded(path, rec, synchronous))
		require.NoError(t, err)
		if run == 0 {
			from = rec.Len()
		}
		var wg sync.WaitGroup
		for c := range int64(clerks) {
			wg.Go(func() {
				for i := range int64(sales) {
					id := run*1000 + c*100 + i
					for _, state := range lives {
						if err := s.Write(t.Context(), put(s, id, state)); err != nil {
							t.Errorf("sale %d: %v", id, err)
							return
						}
						rec.Ack(sale{id, state})
					}
				}
			})
		}
		wg.Go(func() {
			for range 3 {
				if err := s.Truncate(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		require.NoError(t, s.Close())
	}
	require.NoError(t, rec.Close())
	return from
}

// lostError names what a state does not hold any more.
type lostError struct{ lost []sale }

func (e *lostError) Error() string {
	return fmt.Sprintf("lost %d, the first is %v", len(e.lost), e.lost[0])
}

// verify opens a state with the real store and compares it with what was acknowledged.
func verify(ctx context.Context, st crashfs.State) (err error) {
	s, err := sqlite.Open(ctx, options(filepath.Join(st.Dir, "agent.db"), "", "FULL"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Check(ctx); err != nil {
		return err
	}
	found := make(map[int64]string)
	if err := s.Read(ctx, func(r store.Reader) error { return load(s, r, found) }); err != nil {
		return err
	}
	var lost []sale
	for _, a := range st.Acked {
		want := a.(sale)
		if slices.Index(lives, found[want.id]) < slices.Index(lives, want.state) {
			lost = append(lost, want)
		}
	}
	if len(lost) > 0 {
		return &lostError{lost}
	}
	// What is found can be worked with.
	return s.Write(ctx, put(s, 99999, lives[0]))
}

func load(s store.Journal, r store.Reader, found map[int64]string) error {
	return store.Each(r, func(row store.Row) error {
		var id int64
		var state string
		var secret, mac []byte
		if err := row.Scan(&id, &state, &secret, &mac); err != nil {
			return err
		}
		if string(mac) != string(s.MAC("sales", fmt.Sprint(id), state)) {
			return fmt.Errorf("sale %d: row does not verify", id)
		}
		if id%7 == 0 {
			plain, err := s.Unseal(r, store.Cell{Table: "sales", Key: fmt.Sprint(id), Column: "secret"}, secret)
			if err != nil {
				return err
			}
			if string(plain) != fmt.Sprint("secret of ", id) {
				return fmt.Errorf("sale %d: wrong secret", id)
			}
		}
		found[id] = state
		return nil
	}, "SELECT id, state, secret, mac FROM sales")
}

func TestPowerCutLosesNothing(t *testing.T) {
	rec, err := crashfs.New()
	require.NoError(t, err)
	record(t, rec, "FULL")
	rep, err := rec.Enumerate(crashfs.Plan{States: *states, Seed: newSeed(), Dir: scratch(t)}, func(st crashfs.State) error {
		return verify(t.Context(), st)
	})
	require.NoError(t, err)
	t.Log(rep)
	for _, f := range rep.Failures {
		t.Errorf("%v: %v", f.State, f.Err)
	}
	require.Equal(t, *states, rep.States)
	require.Equal(t, 2*6*8*3, rep.Acks)
}

// With synchronous=NORMAL acknowledged rows are lost, or the harness could not tell. The mark then says that the journal is cut.
func TestPowerCutHasTeeth(t *testing.T) {
	rec, err := crashfs.New()
	require.NoError(t, err)
	from := record(t, rec, "NORMAL")
	rep, err := rec.Enumerate(crashfs.Plan{States: 60, Seed: newSeed(), Dir: scratch(t), From: from}, func(st crashfs.State) error {
		return verify(t.Context(), st)
	})
	require.NoError(t, err)
	t.Log(rep)
	cuts := 0
	for _, f := range rep.Failures {
		var lost *lostError
		if errors.Is(f.Err, store.ErrCut) {
			cuts++
			continue
		}
		require.ErrorAs(t, f.Err, &lost, "NORMAL loses the latest, but damages nothing: %v", f.State)
	}
	require.NotZero(t, cuts)
	require.Less(t, cuts, len(rep.Failures), "the mark is not synced either: it cannot see every loss")
}
