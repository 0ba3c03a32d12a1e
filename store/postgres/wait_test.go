package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

var waitStep = store.Step{Name: "wait/1 rows", SQL: "CREATE TABLE wait_rows (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;"}

// counted is a connection that counts what is sent.
type counted struct {
	net.Conn
	sent *atomic.Int64
}

// Write implements net.Conn.
func (c counted) Write(p []byte) (int, error) {
	c.sent.Add(1)
	return c.Conn.Write(p)
}

// waiting opens a store on a new place that counts what it sends.
func waiting(t *testing.T) (*postgres.Store, *atomic.Int64) {
	server := pgtest.Open(t)
	sent := new(atomic.Int64)
	s, err := postgres.Open(t.Context(), postgres.Options{
		Tolerate: postgres.Tolerated{NoFsync: true}, URL: server.Place(), Steps: []store.Step{waitStep}, Wrapper: storetest.Wrapper{}, Beat: -1, Conns: 2,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", server.Socket())
			return counted{conn, sent}, err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, sent
}

func count(t *testing.T, s store.DB) (n int) {
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow("SELECT count(*) FROM wait_rows").Scan(&n)
	}))
	return n
}

// TestStatementsTravelTogether: what a closure does not ask about goes with its next question, and COMMIT alone.
func TestStatementsTravelTogether(t *testing.T) {
	s, sent := waiting(t)
	write := func(first int64) {
		require.NoError(t, s.WriteOwn(t.Context(), func(tx store.Tx) error {
			for id := range int64(6) {
				if _, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (?, ?)", first+id, id); err != nil {
					return err
				}
			}
			var n int64
			if err := tx.QueryRow("SELECT n FROM wait_rows WHERE id = ?", first+5).Scan(&n); err != nil {
				return err
			}
			require.EqualValues(t, 5, n)
			_, err := tx.Exec("UPDATE wait_rows SET n = n + 1 WHERE id = ?", first)
			return err
		}))
	}
	write(0) // it is prepared now
	raw, is := []byte("as it was"), ""
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		copy(raw, "as it was")
		if _, err := tx.Exec("INSERT INTO store_meta (name, value) VALUES ('wait', ?)", raw); err != nil {
			return err
		}
		copy(raw, "not so!!!")
		return tx.QueryRow("SELECT convert_from(value, 'UTF8') FROM store_meta WHERE name = 'wait'").Scan(&is)
	}))
	require.Equal(t, "as it was", is)
	before := sent.Load()
	write(10)
	require.EqualValues(t, 3, sent.Load()-before, "a question with what waited, what waited at the end, COMMIT")
	before = sent.Load()
	require.Equal(t, 12, count(t, s))
	before = sent.Load()
	require.Equal(t, 12, count(t, s))
	require.EqualValues(t, 2, sent.Load()-before, "a snapshot with its question, and its end")
	before = sent.Load()
	mine := errors.New("mine")
	require.ErrorIs(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("DELETE FROM wait_rows")
		return errors.Join(mine, err)
	}), mine)
	require.Zero(t, sent.Load()-before, "a closure that gave up before a question")
	require.Equal(t, 12, count(t, s))
}

// TestAStatementThatWaitedFails: its error is the closure's, whether the closure asks, ends, or does not listen. It is none of COMMIT, and
// nothing was done.
func TestAStatementThatWaitedFails(t *testing.T) {
	s, _ := waiting(t)
	twice := func(tx store.Tx) error {
		for range 2 {
			if _, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (1, 1)"); err != nil {
				return err
			}
		}
		return nil
	}
	ask := func(tx store.Tx) error {
		return tx.QueryRow("SELECT count(*) FROM wait_rows").Scan(new(int))
	}
	for name, fn := range map[string]func(store.Tx) error{
		"ends": twice,
		"asks": func(tx store.Tx) error { return errors.Join(twice(tx), ask(tx)) },
		"asks and does not listen": func(tx store.Tx) error {
			_ = twice(tx)
			_ = ask(tx)
			return nil
		},
		"asks twice": func(tx store.Tx) error {
			_ = twice(tx)
			_ = ask(tx)
			return ask(tx)
		},
		"asks how many": func(tx store.Tx) error {
			if err := twice(tx); err != nil {
				return err
			}
			res, err := tx.Exec("UPDATE wait_rows SET n = 2")
			if err == nil {
				if n, e := res.RowsAffected(); e == nil {
					return fmt.Errorf("%d rows after an error", n)
				}
			}
			return err
		},
		"writes after it": func(tx store.Tx) error {
			_, _ = twice(tx), ask(tx)
			_, _ = tx.Exec("INSERT INTO wait_rows (id, n) VALUES (3, 3)")
			return nil
		},
		"is wrong on this side": func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (2, ?)", "no number")
			return err
		},
	} {
		for _, write := range []func(context.Context, func(store.Tx) error) error{s.Write, s.WriteOwn} {
			err := write(t.Context(), fn)
			require.Error(t, err, name)
			require.NotErrorIs(t, err, store.ErrCommitUnknown, name)
			require.NotErrorIs(t, err, store.ErrIO, name)
			require.Zero(t, count(t, s), name)
			require.Equal(t, store.Ready, s.Health(t.Context()).State, name)
		}
	}
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (1, 1)"); return err }))
	require.Equal(t, 1, count(t, s), "the connection is as good as before")
}

// TestAConflictOfAStatementThatWaits: a row that another commit changed since the snapshot is a conflict, and the closure is run again, also
// where the conflict shows only when the statement is sent.
func TestAConflictOfAStatementThatWaits(t *testing.T) {
	server := pgtest.Open(t)
	s, err := open(t.Context(), server.Place(), []store.Step{waitStep}, storetest.Wrapper{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (1, 100)")
		return err
	}))
	for _, write := range []func(context.Context, func(store.Tx) error) error{s.Write, s.WriteOwn} {
		runs := 0
		var was int64
		require.NoError(t, write(t.Context(), func(tx store.Tx) error {
			runs++
			if err := tx.QueryRow("SELECT n FROM wait_rows WHERE id = 1").Scan(&was); err != nil {
				return err
			}
			if runs == 1 { // another process takes 30 meanwhile
				require.NoError(t, s.WriteOwn(context.Background(), func(tx store.Tx) error {
					_, err := tx.Exec("UPDATE wait_rows SET n = n - 30 WHERE id = 1")
					return err
				}))
			}
			_, err := tx.Exec("UPDATE wait_rows SET n = ? WHERE id = 1", was-10)
			return err
		}))
		require.Equal(t, 2, runs)
	}
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		var n int64
		err := r.QueryRow("SELECT n FROM wait_rows WHERE id = 1").Scan(&n)
		require.EqualValues(t, 20, n, "100 less twice 30 and twice 10")
		return err
	}))
}

// TestAKeyTakenAfterConflicts: a closure that met conflicts first and finds its key taken only then has not yet seen the row that has it: it is
// run again, and sees it.
func TestAKeyTakenAfterConflicts(t *testing.T) {
	const conflicts = 4 // more than an unseen key is met by itself
	for name, write := range map[string]func(store.DB, context.Context, func(store.Tx) error) error{"Write": store.DB.Write, "WriteOwn": store.DB.WriteOwn} {
		s, err := open(t.Context(), pgtest.Open(t).Place(), []store.Step{waitStep}, storetest.Wrapper{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		other := func(text string) {
			require.NoError(t, s.WriteOwn(context.Background(), func(tx store.Tx) error { _, err := tx.Exec(text); return err }))
		}
		other("INSERT INTO wait_rows (id, n) VALUES (1, 100)")
		runs, seen := 0, 0
		require.NoError(t, write(s, t.Context(), func(tx store.Tx) error {
			runs++
			if err := tx.QueryRow("SELECT COUNT(*) FROM wait_rows WHERE id = 2").Scan(&seen); err != nil || seen > 0 {
				return err
			}
			switch {
			case runs <= conflicts:
				other("UPDATE wait_rows SET n = n - 1 WHERE id = 1")
			case runs == conflicts+1:
				other("INSERT INTO wait_rows (id, n) VALUES (2, 2)")
			}
			_, err := tx.Exec("UPDATE wait_rows SET n = n - 1 WHERE id = 1")
			if err == nil {
				_, err = tx.Exec("INSERT INTO wait_rows (id, n) VALUES (2, 1)")
			}
			return err
		}), name)
		require.Equal(t, conflicts+2, runs, name)
		require.Equal(t, 1, seen, "%s: the row of the other", name)
	}
}
