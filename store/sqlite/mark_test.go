package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

func marked(path string) sqlite.Options {
	return sqlite.Options{Path: path, Steps: []store.Step{rowsStep}, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: []string{store.MarkPath(path)}}
}

func openMarked(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), marked(path))
	require.NoError(t, err)
	return s
}

// frozen copies the journal and its mark as a kill -9 leaves them at this moment: what was written
// is there, synced or not.
func frozen(t testing.TB, path, dir string) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(path))
	for _, suffix := range []string{"", "-wal", ".mark"} {
		data, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+suffix, data, 0o600))
	}
	return to
}

func cutOf(t testing.TB, path string) *store.CutError {
	t.Helper()
	s, err := sqlite.Open(context.Background(), marked(path))
	if s != nil {
		require.NoError(t, s.Close())
	}
	var cut *store.CutError
	require.ErrorAs(t, err, &cut)
	return cut
}

// mutations is how many of each kind are tried.
func mutations() int {
	if n, err := strconv.Atoi(os.Getenv("POSAGENT_MUTATIONS")); err == nil {
		return n
	}
	return 25
}

// One damaged bit or sector of the log makes SQLite drop its end without a word: the start holds
// everything, or says that the journal was cut.
func TestField_J1ADamagedLogIsNoticed(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "agent.db")
	s := openMarked(t, path)
	defer func() { require.NoError(t, s.Close()) }()
	const rows = 60
	for id := range int64(rows) {
		require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint("row ", id))))
		if id == rows/3 {
			require.NoError(t, s.Truncate(t.Context()))
		}
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	cuts := 0
	for n := range 2 * mutations() {
		at := filepath.Join(dir, fmt.Sprint("m", n))
		require.NoError(t, os.Mkdir(at, 0o700))
		copied := frozen(t, path, at)
		log, err := os.ReadFile(copied + "-wal")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied+"-wal", crashfs.Spoiled(log, n%2 == 0, rng), 0o600))
		found, err := sqlite.Open(t.Context(), marked(copied))
		if err != nil {
			require.ErrorIs(t, err, store.ErrCut, "seed %d, mutation %d", seed, n)
			cuts++
			continue
		}
		require.Len(t, ids(t, found), rows, "seed %d, mutation %d: rows are missing, and nothing was said", seed, n)
		require.NoError(t, found.Close())
	}
	require.Positive(t, cuts, "the damage reached the log")
}

// A copy of the journal put back later, in the same run or after it, is known; so is its log alone,
// and a file without its log.
func TestField_J2ACopyPutBackIsNoticed(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "agent.db")
	s := openMarked(t, path)
	var copies []string
	for id := range int64(2 * mutations()) {
		require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint("row ", id))))
		at := filepath.Join(dir, fmt.Sprint("c", id))
		require.NoError(t, os.Mkdir(at, 0o700))
		copies = append(copies, frozen(t, path, at))
		if id%7 == 6 {
			require.NoError(t, s.Truncate(t.Context()))
		}
	}
	require.NoError(t, s.Write(t.Context(), insert(1000, "the last")))
	mark, err := os.ReadFile(store.MarkPath(path))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, c := range copies {
		require.NoError(t, os.WriteFile(store.MarkPath(c), mark, 0o600))
		cut := cutOf(t, c)
		require.False(t, cut.Missing)
		require.Contains(t, cut.Why, "it ends at commit")
		_, err := sqlite.OpenReader(t.Context(), c)
		require.ErrorIs(t, err, store.ErrCut, "a reader says it too")
	}
}

// A journal that is gone, emptied, or has lost its log is missing, not new.
func TestField_J3AMissingJournalIsNotANewOne(t *testing.T) {
	make := func(t *testing.T) string {
		dir := scratch(t)
		path := filepath.Join(dir, "agent.db")
		s := openMarked(t, path)
		require.NoError(t, s.Write(t.Context(), insert(1, "one")))
		at := filepath.Join(dir, "killed")
		require.NoError(t, os.Mkdir(at, 0o700))
		copied := frozen(t, path, at)
		require.NoError(t, s.Close())
		return copied
	}
	for name, c := range map[string]struct {
		spoil   func(path string) error
		missing bool
	}{
		"removed":             {func(p string) error { return os.Remove(p) }, true},
		"removed with log":    {func(p string) error { return os.Remove(p + "-wal") }, false},
		"emptied":             {func(p string) error { return os.Truncate(p, 0) }, true},
		"log emptied":         {func(p string) error { return os.Truncate(p+"-wal", 0) }, false},
		"mark removed":        {func(p string) error { return os.Remove(p + ".mark") }, false},
		"old counter, no jrn": {func(p string) error { return putOldCounter(p) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := make(t)
			require.NoError(t, c.spoil(path))
			before, _ := os.ReadFile(path)
			require.Equal(t, c.missing, cutOf(t, path).Missing)
			require.Equal(t, c.missing, cutOf(t, path).Missing, "and says so again")
			after, _ := os.ReadFile(path)
			require.Equal(t, before, after, "nothing was made or changed")
		})
	}
}

// TestField4_V5AJournalThatIsGoneWithItsMarkIsMissing: the mark lies beside the journal and went with it, as rm agent.db* takes both. A new
// journal was begun as the first one, under the secret that the lost one had used: nothing was read before an id was used again, and
// receipts began at 1. The kind: whatever tells that a journal was here. The mark and the old counter are in
// TestField_J3AMissingJournalIsNotANewOne; a box on which none has run has nothing of it; a journal that is there is judged by itself.
func TestField4_V5AJournalThatIsGoneWithItsMarkIsMissing(t *testing.T) {
	path := filepath.Join(scratch(t), "agent.db")
	opt := marked(path)
	opt.Outlived = filepath.Join(t.TempDir(), "callers.secret")
	open := func() (*sqlite.Store, error) { return sqlite.Open(t.Context(), opt) }
	s, err := open()
	require.NoError(t, err, "none has run here")
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(opt.Outlived, []byte("x"), 0o600))
	s, err = open()
	require.NoError(t, err, "it is there")
	require.NoError(t, s.Close())

	for _, name := range []string{path, store.MarkPath(path)} {
		require.NoError(t, os.Remove(name))
	}
	reader := opt
	reader.ReadOnly = true
	for range 2 { // and says so again
		var cut *store.CutError
		_, err = open()
		require.ErrorAs(t, err, &cut)
		require.True(t, cut.Missing)
		require.Contains(t, cut.Why, opt.Outlived)
		_, err = sqlite.Open(t.Context(), reader)
		require.ErrorIs(t, err, store.ErrCut)
	}
	require.NoFileExists(t, path)
	require.NoError(t, sqlite.Ended(path, opt.Marks, true, store.WasLost, "the card was wiped"))
	s, err = open()
	require.NoError(t, err)
	b, err := s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.WasLost, b.Kind)
	require.False(t, b.Known, "nothing says which numbers it gave")
	require.NoError(t, s.Close())
}

// TestField4_B10AMarkThatAVerbMadeKnowsNoNumbers: a power cut had torn both slots of the mark, or there was the old counter alone, and the
// journal was lost. The reset made a mark anew, which was taken for one that had seen the last of that journal: numbers began at 1, and a
// slip of before named another customer's payment. The kind: each mark that a verb finds whole, torn, or not there.
func TestField4_B10AMarkThatAVerbMadeKnowsNoNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		known bool
	}{
		"the mark is whole": {func(p string) error { return os.Remove(p) }, true},
		"both slots are torn": {func(p string) error {
			data, err := os.ReadFile(p + ".mark")
			if err != nil {
				return err
			}
			data[300]++
			data[512+300]++
			return errors.Join(os.WriteFile(p+".mark", data, 0o600), os.Remove(p))
		}, false},
		"an old counter": {putOldCounter, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := scratch(t)
			path := filepath.Join(dir, "agent.db")
			s := openMarked(t, path)
			require.NoError(t, s.Write(t.Context(), insert(1, "one")))
			copied := frozen(t, path, t.TempDir())
			require.NoError(t, s.Close())
			require.NoError(t, c.spoil(copied))
			require.True(t, cutOf(t, copied).Missing)
			for _, done := range []bool{false, true} {
				require.NoError(t, sqlite.Ended(copied, []string{store.MarkPath(copied)}, done, store.WasLost, "stolen"))
				require.NoError(t, sqlite.Remove(t.Context(), copied, true))
			}
			s = openMarked(t, copied)
			b, err := s.Before(t.Context())
			require.NoError(t, err)
			require.Equal(t, store.WasLost, b.Kind)
			require.Equal(t, c.known, b.Known)
			require.NoError(t, s.Close())
		})
	}
}

func putOldCounter(p string) error {
	for _, name := range []string{p, p + "-wal", p + ".mark"} {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return os.WriteFile(p+".generation", []byte("posagent-generation-1 4\n"), 0o600)
}

// A person accepts a cut journal: the next generation begins, and the owner is told what is
// missing.
func TestACutJournalIsAccepted(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "agent.db")
	opt := marked(path)
	opt.Note = func(r store.Reader, last [32]byte) ([32]byte, error) {
		return [32]byte{last[0] + 1}, nil
	}
	opt.AtCommit = func(store.Tx) ([32]byte, error) { return [32]byte{77}, nil }
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	older := frozen(t, path, t.TempDir())
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	last, err := s.End(t.Context())
	require.NoError(t, err)
	require.Equal(t, [32]byte{77}, last.Head)
	require.NoError(t, s.Close())
	data, err := os.ReadFile(older)
	require.NoError(t, err)
	log, err := os.ReadFile(older + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	require.Equal(t, last, cutOf(t, path).Before)

	accept := opt
	accept.Accept = "the box was swapped"
	for range 2 { // broken off before the owner has done its part, it is told again
		s, err = sqlite.Open(t.Context(), accept)
		require.NoError(t, err)
		accept = opt
		require.Equal(t, []int64{1}, ids(t, s))
		b, err := s.Before(t.Context())
		require.NoError(t, err)
		require.Equal(t, store.WasAccepted, b.Kind)
		require.Equal(t, last, b.End)
		require.Contains(t, b.Why, "the box was swapped")
		g, err := s.Generation(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(2), g)
		require.NoError(t, s.Close())
	}
	s, err = sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Advance(t.Context()))
	b, err := s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Before{}, b)
	require.NoError(t, s.Close())
	accept.Accept = "again"
	_, err = sqlite.Open(t.Context(), accept)
	require.ErrorIs(t, err, store.ErrNotCut)
}

// A reset says that the journal has ended; a kill in the middle of it is no cut, and a copy put
// back after it is one.
func TestEnded(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "agent.db")
	marks := []string{store.MarkPath(path)}
	s := openMarked(t, path)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.NoError(t, s.Close())
	older := frozen(t, path, t.TempDir())

	require.NoError(t, sqlite.Ended(path, marks, false, store.WasReset, ""))
	s = openMarked(t, path) // killed before anything was removed
	require.Equal(t, []int64{1}, ids(t, s))
	require.NoError(t, s.Close())

	require.NoError(t, sqlite.Ended(path, marks, false, store.WasReset, ""))
	require.NoError(t, sqlite.Remove(t.Context(), path, false))
	s = openMarked(t, path) // killed before the last word
	require.Empty(t, ids(t, s))
	require.NoError(t, s.Close())

	require.NoError(t, sqlite.Ended(path, marks, false, store.WasReset, ""))
	require.NoError(t, sqlite.Remove(t.Context(), path, false))
	require.NoError(t, sqlite.Ended(path, marks, true, store.WasReset, ""))
	data, err := os.ReadFile(older)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	require.Contains(t, cutOf(t, path).Why, "reset")
	require.NoError(t, os.Remove(path))

	s = openMarked(t, path)
	b, err := s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.WasReset, b.Kind)
	require.Positive(t, b.End.Sequence)
	why, err := s.Past(t.Context())
	require.NoError(t, err)
	require.Empty(t, why, "a reset left nothing open")
	require.NoError(t, s.Write(t.Context(), insert(5, "five")))
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(path))
	require.True(t, cutOf(t, path).Missing)

	// The journal is lost: a person says so, with a reason.
	require.NoError(t, sqlite.Ended(path, marks, true, store.WasLost, "stolen"))
	s = openMarked(t, path)
	b, err = s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.WasLost, b.Kind)
	require.Contains(t, b.Why, "stolen")
	require.NoError(t, s.Write(t.Context(), insert(6, "six")))
	require.NoError(t, s.Close())

	// No key opens it: it is put aside whole, and the one that follows says so.
	aside := filepath.Join(filepath.Dir(path), "aside.db")
	require.NoError(t, sqlite.Ended(path, marks, false, store.WasLocked, "the key broke"))
	require.NoError(t, sqlite.PutAside(t.Context(), path, aside))
	require.NoError(t, sqlite.Ended(path, marks, true, store.WasLocked, "the key broke"))
	s = openMarked(t, path)
	b, err = s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.WasLocked, b.Kind)
	require.Contains(t, b.Why, "the key broke")
	require.NoError(t, s.Close())
	kept, err := sqlite.Open(t.Context(), sqlite.Options{Path: aside, ReadOnly: true, IgnoreMark: true})
	require.NoError(t, err)
	defer kept.Close()
	n := 0
	require.NoError(t, kept.Read(t.Context(), func(r store.Reader) error { return r.QueryRow("SELECT count(*) FROM rows WHERE id = 6").Scan(&n) }))
	require.Equal(t, 1, n, "nothing of it was lost on the way")
}

// A mark on another medium knows that a whole directory was put back; its absence is shown and
// stops nothing.
func TestASecondMark(t *testing.T) {
	dir, far := scratch(t), filepath.Join(t.TempDir(), "mark")
	path := filepath.Join(dir, "agent.db")
	opt := marked(path)
	opt.Marks = append(opt.Marks, far)
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	older := frozen(t, path, t.TempDir())
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	require.NoError(t, s.Close())

	opt.Path, opt.Marks[0] = older, store.MarkPath(older)
	require.NoError(t, openMarked(t, frozen(t, older, t.TempDir())).Close(), "beside itself the copy is whole")
	_, err = sqlite.Open(t.Context(), opt)
	require.ErrorIs(t, err, store.ErrCut)

	opt = marked(path)
	opt.Marks = append(opt.Marks, filepath.Join(t.TempDir(), "unplugged", "mark"))
	s, err = sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, ids(t, s))
	h := s.Health(t.Context())
	require.NoError(t, h.Marks[0].Err)
	require.ErrorIs(t, h.Marks[1].Err, os.ErrNotExist)
	require.NoError(t, s.Close())
}

// A journal from before the mark is taken on without an alarm, and its counter goes.
func TestTheOldCounterIsTakenOver(t *testing.T) {
	path := filepath.Join(scratch(t), "agent.db")
	s := storetest.OpenAt(t, path, rowsStep)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		if err := insert(1, "one")(tx); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO store_meta (name, value) VALUES ('generation', CAST('5' AS BLOB))")
		return err
	}))
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(path+".generation", []byte("posagent-generation-1 5\n"), 0o600))
	s = openMarked(t, path)
	require.Equal(t, []int64{1}, ids(t, s))
	g, err := s.Generation(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(6), g)
	why, err := s.Past(t.Context())
	require.NoError(t, err)
	require.Empty(t, why)
	require.NoError(t, s.Close())
	require.NoFileExists(t, path+".generation")
	require.NoError(t, openMarked(t, path).Close())
}

// The mark costs no sync of its own: as many commits, as many syncs.
func TestAMarkCostsNoSync(t *testing.T) {
	const commits = 20
	rec, err := crashfs.New()
	require.NoError(t, err)
	opt := marked(filepath.Join(scratch(t), "agent.db"))
	opt.VFS, opt.OpenMark, opt.CheckpointEvery = rec.VFS(), rec.OpenMark, time.Hour
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insert(1000, "the first may make the log")))
	before := rec.Count(crashfs.Sync)
	for id := range int64(commits) {
		require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint(id))))
	}
	require.Equal(t, commits, rec.Count(crashfs.Sync)-before)
	end, err := s.End(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE rows SET text = 'x' WHERE id = -1")
		return err
	}))
	after, err := s.End(t.Context())
	require.NoError(t, err)
	require.Equal(t, end, after, "what changes nothing is no commit")
	require.Equal(t, commits, rec.Count(crashfs.Sync)-before)
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())
}

// A mark that cannot be written is shown, and fails no commit.
func TestAFailingMarkFailsNoCommit(t *testing.T) {
	rec, err := crashfs.New()
	require.NoError(t, err)
	opt := marked(filepath.Join(scratch(t), "agent.db"))
	opt.VFS, opt.OpenMark, opt.CheckpointEvery = rec.VFS(), rec.OpenMark, time.Hour
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	rec.Arm(crashfs.Fault{On: crashfs.Write, N: 1, Times: -1, Err: crashfs.EIO, File: ".mark"})
	for id := range int64(3) {
		require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint(id))))
	}
	require.True(t, rec.Disarm())
	require.Error(t, s.Health(t.Context()).Marks[0].Err)
	require.NoError(t, s.Truncate(t.Context()), "folding tries the mark again")
	require.NoError(t, s.Health(t.Context()).Marks[0].Err)
	require.NoError(t, s.Close())
	require.NoError(t, openMarked(t, opt.Path).Close())
	require.NoError(t, rec.Close())
}

func scratch(t testing.TB) string {
	t.Helper()
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// A journal whose mark could not be made does not say that it has one: the next start makes it, and
// misses nothing.
func TestAMarkThatCannotBeMadeIsNotClaimed(t *testing.T) {
	path := filepath.Join(scratch(t), "agent.db")
	opt := marked(path)
	opt.OpenMark = func(string, bool) (store.MarkFile, error) { return nil, os.ErrNotExist }
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.ErrorIs(t, s.Health(t.Context()).Marks[0].Err, os.ErrNotExist)
	require.NoError(t, s.Close())
	s = openMarked(t, path)
	require.Equal(t, []int64{1}, ids(t, s))
	require.NoError(t, s.Close())
	require.FileExists(t, store.MarkPath(path))
}

// hooked calls a function before each sync of a mark.
type hooked struct {
	store.MarkFile
	before func()
}

func (h hooked) Sync() error {
	h.before()
	return h.MarkFile.Sync()
}

// While a log is being folded, and until the mark has forgotten it durably, no commit starts the
// log anew: a power cut just then would leave a mark that names a log which is gone.
func TestTheLogStaysWhileTheMarkNamesIt(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "agent.db")
	opt := marked(path)
	opt.CheckpointEvery, opt.CheckpointWrites = time.Millisecond, 3
	var s *sqlite.Store
	var named []byte
	syncs, armed, done := 0, make(chan struct{}), make(chan string, 1)
	opt.OpenMark = func(path string, create bool) (store.MarkFile, error) {
		flag := os.O_RDWR
		if create {
			flag |= os.O_CREATE
		}
		f, err := os.OpenFile(path, flag, 0o600)
		return hooked{f, func() {
			select {
			case <-armed:
			default:
				return
			}
			switch syncs++; syncs {
			case 1: // the mark names the log
				named, err = os.ReadFile(path)
			case 2: // the log is folded, and the mark is about to forget it
				for id := range int64(3) {
					if err := s.Write(context.Background(), insert(500+id, fmt.Sprint("meanwhile ", id))); err != nil {
						t.Error(err)
					}
				}
				at := filepath.Join(dir, "cut")
				if err := os.Mkdir(at, 0o700); err != nil {
					t.Error(err)
				}
				done <- frozen(t, filepath.Join(dir, "agent.db"), at)
			}
		}}, err
	}
	var err error
	s, err = sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	close(armed)
	for id := range int64(3) {
		require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint("row ", id))))
	}
	copied := need.Receive(t, "the log to be folded", done)
	require.NoError(t, os.WriteFile(store.MarkPath(copied), named, 0o600))
	found := openMarked(t, copied)
	require.Subset(t, ids(t, found), []int64{500, 501, 502})
	require.NoError(t, found.Close())
	require.NoError(t, s.Close())
}
