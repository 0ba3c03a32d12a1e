package room_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

func open(t *testing.T) (*room.Room, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.db")
	db := storetest.OpenAt(t, path, append(room.Schema(), store.Step{Name: "note/1", SQL: `CREATE TABLE note (text TEXT NOT NULL) STRICT;`})...)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	r, err := room.New("test", room.Options{DB: db})
	require.NoError(t, err)
	return r, path
}

// notes are what was recorded besides the answers.
func notes(t *testing.T, r *room.Room) (list []string) {
	t.Helper()
	require.NoError(t, r.DB.Read(t.Context(), func(rd store.Reader) (err error) {
		list, err = store.Column[string](rd, `SELECT text FROM note ORDER BY rowid`)
		return err
	}))
	return list
}

func note(tx store.Tx, text string) error {
	_, err := tx.Exec(`INSERT INTO note (text) VALUES (?)`, text)
	return err
}

type answer struct{ N int }

func TestAnswersAreGivenAgain(t *testing.T) {
	r, path := open(t)
	ran := 0
	do := func(op string, key wire.Key, body string, fails error) (got answer, err error) {
		err = r.Once(t.Context(), room.Keyed{Op: op, Key: key, Body: []byte(body)}, &got, func(store.Tx, int64) (scenario.Do, error) {
			ran++
			got.N = ran
			return "", fails
		})
		return got, err
	}
	first, err := do("a", "k", "secret-body", nil)
	require.NoError(t, err)
	again, err := do("a", "k", "secret-body", nil)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, 1, ran)
	_, err = do("a", "k", "other", nil)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
	other, err := do("b", "k", "other", nil)
	require.NoError(t, err)
	require.Equal(t, 2, other.N)
	_, err = do("a", "", "x", nil)
	require.NoError(t, err)
	_, err = do("a", "", "x", nil)
	require.NoError(t, err)
	require.Equal(t, 4, ran)

	no := &wire.Error{Code: wire.Conflict, Reason: "OverCharge", Op: "op", Msg: "more than is there"}
	for range 2 {
		_, err = do("a", "no", "b", no)
		require.Equal(t, no, err)
	}
	require.Equal(t, 5, ran)
	for i, fails := range []error{wire.Errorf(wire.NotFound, "", ""), wire.Errorf(wire.Invalid, "", ""), errors.New("disk")} {
		_, err = do("a", "bad", "b", fails)
		require.ErrorIs(t, err, fails)
		require.Equal(t, 6+i, ran)
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NotContains(t, string(data), "secret-body")
	}
}

// What act recorded stays with its refusal, and nothing of a write that failed.
func TestARefusalKeepsWhatWasRecorded(t *testing.T) {
	r, _ := open(t)
	for text, fails := range map[string]error{"refused": wire.Errorf(wire.Conflict, "", "no"), "failed": errors.New("disk")} {
		err := r.Once(t.Context(), room.Keyed{Op: "a", Key: wire.Key(text)}, &answer{}, func(tx store.Tx, _ int64) (scenario.Do, error) {
			require.NoError(t, note(tx, text))
			return "", fails
		})
		require.Error(t, err)
	}
	require.Equal(t, []string{"refused"}, notes(t, r))
}

// A refusal of First stays recorded and takes no key; its error undoes everything.
func TestFirstComesBeforeTheKey(t *testing.T) {
	r, _ := open(t)
	busy := &wire.Error{Code: wire.TooMany, Op: "a"}
	var got []string
	for _, row := range []struct {
		refusal *wire.Error
		err     error
	}{{busy, nil}, {nil, errors.New("disk")}, {nil, nil}, {nil, nil}} {
		var out answer
		err := r.Once(t.Context(), room.Keyed{Op: "a", Key: "k", First: func(tx store.Tx, _ int64) (*wire.Error, error) {
			require.NoError(t, note(tx, "first"))
			return row.refusal, row.err
		}}, &out, func(tx store.Tx, _ int64) (scenario.Do, error) {
			out.N = 7
			return "", note(tx, "act")
		})
		got = append(got, string(wire.CodeOf(err)))
		require.Equal(t, err == nil, out.N == 7)
	}
	require.Equal(t, []string{string(wire.TooMany), string(wire.Internal), "", ""}, got)
	require.Equal(t, []string{"first", "first", "act", "first"}, notes(t, r))
}

// A key that is none is refused before anything is done, with the service's reason.
func TestAKeyThatIsNone(t *testing.T) {
	r, _ := open(t)
	err := r.Once(t.Context(), room.Keyed{Op: "a", Key: "no key\n", BadKey: "PS1"}, &answer{}, func(store.Tx, int64) (scenario.Do, error) {
		t.Error("the write ran")
		return "", nil
	})
	require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: "PS1"})
	require.Equal(t, wire.Invalid, wire.CodeOf(room.CheckKey("a", "no key\n")))
	require.NoError(t, room.CheckKey("a", ""))
}

// A reply that the scenario table spoils is lost after its effect; the next call gets it.
func TestASpoiltReplyIsKept(t *testing.T) {
	r, _ := open(t)
	once := func() (out answer, err error) {
		err = r.Once(t.Context(), room.Keyed{Op: "a", Key: "k"}, &out, func(tx store.Tx, _ int64) (scenario.Do, error) {
			out.N = 7
			return scenario.Cut, note(tx, "act")
		})
		return out, err
	}
	_, err := once()
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
	out, err := once()
	require.NoError(t, err)
	require.Equal(t, answer{N: 7}, out)
	require.Equal(t, []string{"act"}, notes(t, r))
}

func TestOneEffectHoweverManyAsk(t *testing.T) {
	r, _ := open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen, ran := map[int]int{}, 0
	for range 64 {
		wg.Go(func() {
			var got answer
			err := r.Once(t.Context(), room.Keyed{Op: "s", Key: "k"}, &got, func(store.Tx, int64) (scenario.Do, error) {
				ran++ // inside the one writer
				got.N = 7
				return "", nil
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen[got.N]++
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{7: 64}, seen)
	require.Equal(t, 1, ran)
}
