package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
)

// frozen FROM TO copies a state directory as a kill -9 leaves it at this moment.
func frozen(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(freeze(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

func freeze(from, to string) error {
	if err := os.MkdirAll(filepath.Join(to, "keys"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db.mark", "keys/device.key"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mutations is how many single bits, and how many single sectors, are changed.
func mutations() int {
	if n, err := strconv.Atoi(os.Getenv("POSAGENT_MUTATIONS")); err == nil {
		return n
	}
	return 15
}

// damaged STATE changes bits and sectors of the log: each time the journal holds everything, or is cut. One that is cut is left
// in the directory "damaged".
func damaged(ts *testscript.TestScript, neg bool, args []string) {
	from := ts.MkAbs(args[0])
	work := ts.MkAbs("mutation")
	ts.Check(freeze(from, work))
	whole, err := held(work)
	ts.Check(err)
	if len(whole) < 3 {
		ts.Fatalf("only %d sales and operations", len(whole))
	}
	log, err := os.ReadFile(filepath.Join(from, "agent.db-wal"))
	ts.Check(err)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	cuts := 0
	for n := range 2 * mutations() {
		ts.Check(os.RemoveAll(work))
		ts.Check(freeze(from, work))
		bad := crashfs.Spoiled(log, n%2 == 0, rng)
		ts.Check(os.WriteFile(filepath.Join(work, "agent.db-wal"), bad, 0o600))
		list, err := held(work)
		switch {
		case errors.Is(err, store.ErrCut):
			if cuts++; cuts == 1 {
				ts.Check(freeze(work, ts.MkAbs("damaged")))
				ts.Check(os.WriteFile(ts.MkAbs("damaged/agent.db-wal"), bad, 0o600))
			}
		case err != nil:
			ts.Fatalf("seed %d, mutation %d: %v", seed, n, err)
		case fmt.Sprint(list) != fmt.Sprint(whole):
			ts.Fatalf("seed %d, mutation %d: nothing was said, and it holds %v instead of %v", seed, n, list, whole)
		}
	}
	if cuts == 0 {
		ts.Fatalf("no damage was met")
	}
}

// held opens a journal as the terminal does, and lists its sales and operations with their states.
func held(state string) (list []string, err error) {
	keys, err := device.OpenKeys(filepath.Join(state, "keys"))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(state, "agent.db")
	db, err := agent.Open(context.Background(), sqlite.Options{Path: path, Wrapper: keys, Ballast: -1, Marks: []string{store.MarkPath(path)}})
	if err != nil {
		return nil, err
	}
	err = db.Read(context.Background(), func(r store.Reader) (err error) {
		list, err = store.Column[string](r, `SELECT 'sale ' || key || ' ' || phase || ' ' || receipt FROM checkout_sales UNION ALL
			SELECT 'operation ' || key || ' ' || state FROM outbox_ops ORDER BY 1`)
		return err
	})
	return list, errors.Join(err, db.Close())
}

// killed STATE VERB [ARG...] kills a verb with -9 at random moments, each time on a fresh copy of STATE in the directory "work": no
// start says afterwards that the journal was cut.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	program, err := exec.LookPath("posagent")
	ts.Check(err)
	kills := need.Size(2, 6)
	if n, err := strconv.Atoi(os.Getenv("POSAGENT_KILLS")); err == nil {
		kills = n
	}
	work := ts.MkAbs("work")
	var whole time.Duration // how long the verb takes
	for n := range kills + 1 {
		ts.Check(os.RemoveAll(work))
		ts.Check(freeze(ts.MkAbs(args[0]), work))
		cmd := exec.Command(program, append(args[1:len(args):len(args)], "--state", work)...)
		cmd.Dir = ts.MkAbs(".")
		began := time.Now()
		ts.Check(cmd.Start())
		if n > 0 {
			<-time.After(rand.N(whole + whole/8))
			_ = cmd.Process.Kill()
		}
		err := cmd.Wait()
		if n == 0 {
			ts.Check(err)
			whole = time.Since(began)
		}
		if _, err := held(work); err != nil {
			ts.Fatalf("%v, killed after %v of %v: %v", args[1:], time.Since(began), whole, err)
		}
	}
}

// TestField_J6EachCauseIsNamed: what keeps the journal from being opened is said as what it is; nothing of it is called damage.
func TestField_J6EachCauseIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"read-only file system": {&fs.PathError{Op: "open", Path: "/s/agent.db.lock", Err: unix.EROFS}, 1, "read-only"},
		"read-only database":    {store.ErrReadOnly, 1, "read-only"},
		"permission":            {&fs.PathError{Op: "open", Path: "/s/agent.db", Err: unix.EACCES}, 1, "run as the owner"},
		"another key":           {fmt.Errorf("row key: %w", device.ErrWrongKey), 9, "not the one of this journal"},
		"cut":                   {&store.CutError{Why: "it ends at commit 1, and commit 2 was made"}, 9, "posagent journal accept"},
		"missing":               {&store.CutError{Why: "there is no journal", Missing: true}, 9, "posagent restore"},
		"no space":              {store.ErrFull, 1, "df -h shows the full disk"},
	} {
		t.Run(name, func(t *testing.T) {
			var coded *exit
			require.ErrorAs(t, storeError(c.err), &coded)
			require.Equal(t, c.code, coded.Code)
			require.ErrorContains(t, coded, c.says)
			require.NotContains(t, coded.Error(), "damaged")
			require.NotContains(t, coded.Error(), "--state")
		})
	}
}

// spoil STATE TABLE overwrites the first page of a table.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	path := filepath.Join(ts.MkAbs(args[0]), "agent.db")
	db, err := sqlite.OpenReader(context.Background(), path)
	ts.Check(err)
	var page int64
	ts.Check(db.Read(context.Background(), func(r store.Reader) error {
		return r.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", args[1]).Scan(&page)
	}))
	ts.Check(db.Close())
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 1024), (page-1)*1024)
	ts.Check(errors.Join(err, f.Close()))
}
