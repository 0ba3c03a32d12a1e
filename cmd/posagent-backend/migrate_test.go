package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/postgres/pgtest"
	"posagent/store/sqlite"
)

// perTable is how many rows each table has in TestEveryTable.
const perTable = 3

// rowsOf puts rows into a table: each column of the i-th row has the i-th value of its kind, so that rows refer to each other.
func rowsOf(tx store.Tx, t store.Catalog) error {
	if strings.HasPrefix(t.Table, "store_") {
		return nil
	}
	for i := 1; i <= perTable; i++ {
		var values []any
		for _, column := range t.Columns {
			switch {
			case slices.Contains(t.Bytes, column):
				values = append(values, []byte{0, 255, byte(i)})
			case slices.Contains(t.Texts, column):
				values = append(values, fmt.Sprint("é\U0001F4B6", i))
			default:
				values = append(values, i)
			}
		}
		if _, err := tx.Exec(`INSERT INTO "`+t.Table+`" ("`+strings.Join(t.Columns, `", "`)+`") VALUES (?`+strings.Repeat(", ?", len(t.Columns)-1)+")", values...); err != nil {
			return err
		}
	}
	return nil
}

// TestEveryTable: books with rows in every table are moved there and back, and each table has the same digest.
func TestEveryTable(t *testing.T) {
	db := pgtest.Open(t)
	dir, state := t.TempDir(), t.TempDir()
	keys, err := backend.OpenKey(dir)
	require.NoError(t, err)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "backend.db"), Steps: backend.Schema(), Wrapper: keys, Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		tables, err := sqlite.Catalog(tx)
		if err != nil {
			return err
		}
		for there := map[string]bool{}; len(tables) > 0; {
			i := slices.IndexFunc(tables, func(t store.Catalog) bool {
				return !slices.ContainsFunc(t.Parents, func(p string) bool { return !there[p] })
			})
			if err := rowsOf(tx, tables[i]); err != nil {
				return fmt.Errorf("%s: %w", tables[i].Table, err)
			}
			there[tables[i].Table] = true
			tables = slices.Delete(tables, i, i+1)
		}
		return nil
	}))
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := s.Seal(tx, store.Cell{Table: "t", Key: "k", Column: "c"}, []byte("x"))
		return err
	}))
	require.NoError(t, s.Close())
	place, back := db.Place(), "sqlite:"+t.TempDir()
	var views []migrationView
	for _, way := range [][2]string{{"sqlite:" + dir, place}, {place, back}} {
		code, out, talk := ask("migrate", "--from", way[0], "--to", way[1], "--state", state, "--tolerate", "no-fsync", "--json")
		require.Equal(t, usage.ExitOK, code, talk)
		var v migrationView
		require.NoError(t, json.Unmarshal([]byte(out), &v))
		views = append(views, v)
	}
	var tables []string
	for _, one := range views[0].Tables {
		tables = append(tables, one.Name)
		require.Positive(t, one.Rows, one.Name)
	}
	require.Subset(t, tables, []string{"deliver_attempt", "deliver_hook", "deliver_message", "merchants_move", "store_keys", "store_meta", "store_number"})
	text := schemaText()
	made := strings.Count(text, "CREATE TABLE") - strings.Count(text, store.NumberTable) - strings.Count(text, "DROP TABLE")
	require.Len(t, tables, made-1+3, "all of the rooms but the leases, and the store's keys, secrets and counts")
	require.Equal(t, views[0].Tables, views[1].Tables)
}

// schemaText is all steps of all rooms.
func schemaText() (all string) {
	for _, step := range backend.Schema() {
		all += step.SQL
	}
	return all
}

// number is a size of the campaign, from the environment.
func number(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// copies makes n more of the only payment of the books, each with all its rows under ids of its own.
var copies = []string{
	`INSERT INTO books_ledger (service, payment, currency, amount, reserved, committed, returned, reversed, closed, under_way, fee, charged)
		SELECT service, printf('%s%08d', substr(payment, 1, 24), n), currency, amount, reserved, committed, returned, reversed, closed, under_way, fee, charged FROM books_ledger, more`,
	`INSERT INTO books_posting (service, txn, seq, payment, account, amount, currency, at_ms)
		SELECT service, printf('%s%08d', substr(txn, 1, 24), n), seq, printf('%s%08d', substr(payment, 1, 24), n), account, amount, currency, at_ms FROM books_posting, more`,
	`INSERT INTO cards_op (ref, payment, kind, amount, state, description, terminal, at_ms, due_ms)
		SELECT printf('%s%08d', substr(ref, 1, 24), n), printf('%s%08d', substr(payment, 1, 24), n), kind, amount, state, description, terminal, at_ms, due_ms FROM cards_op, more`,
	`INSERT INTO cards_payment (id, created_ms, state, next_ms, data, private)
		SELECT printf('%s%08d', substr(id, 1, 24), n), created_ms, state, next_ms, data, private FROM cards_payment, more`,
}

// filled makes the books of a backend on a file, with so many sales. It returns one of them that can still be refunded.
func filled(t *testing.T, n int) (dir, payment string) {
	t.Helper()
	dir = t.TempDir()
	b, err := backend.Open(t.Context(), backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF"})
	require.NoError(t, err)
	made, err := b.Payments().Create(t.Context(), wire.NewKey(), sale(""))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	keys, err := backend.OpenKey(dir)
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "backend.db"), Steps: backend.Schema(), Wrapper: keys, Synchronous: "OFF"})
	require.NoError(t, err)
	for _, statement := range copies {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(fmt.Sprintf("WITH RECURSIVE more (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < %d) ", n-1) + statement)
			return err
		}))
	}
	require.NoError(t, db.Close())
	return dir, made.PaymentID
}

// TestMigration moves books from a file to a server and back, killed at random moments: N sales, KILLS kills.
func TestMigration(t *testing.T) {
	pgtest.Need(t) // before the file is filled
	n, kills := number(t, "N", 2000), number(t, "KILLS", 6)
	began := time.Now()
	dir, payment := filled(t, n)
	t.Logf("%d sales on a file: %.0f s", n, time.Since(began).Seconds())
	db := pgtest.Start(t, "max_wal_size=2GB")
	place, state := db.Place(), t.TempDir()
	args := func(from, to string) []string {
		return []string{"migrate", "--from", from, "--to", to, "--state", state, "--tolerate", "no-fsync", "--json"}
	}
	file := "sqlite:" + dir

	// Whoever works on the books stands in the way.
	b, err := backend.Open(t.Context(), backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	code, _, talk := ask(args(file, place)...)
	require.Equal(t, usage.ExitRefused, code, talk)
	require.NoError(t, b.Close())

	counted := func(args []string) int64 {
		code, out, talk := ask(append(args, "--dry-run")...)
		require.Equal(t, usage.ExitOK, code, talk)
		var dry migrationView
		require.NoError(t, json.Unmarshal([]byte(out), &dry))
		return dry.Rows
	}
	rows := counted(args(file, place))
	began = time.Now()
	migrated(t, n, kills/2, args(file, place))
	require.Equal(t, rows, counted(args(place, "sqlite:"+t.TempDir())))
	t.Logf("%d sales, %d rows to the server: %.0f s", n, rows, time.Since(began).Seconds())

	_, err = backend.Open(t.Context(), backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1"})
	require.ErrorContains(t, err, "the books were moved to postgres://")
	code, _, talk = ask(args(file, place)...)
	require.Equal(t, usage.ExitRefused, code, talk)

	// It works there: what was sold before is refunded, and something is sold.
	require.Equal(t, n, captured(t, place))
	p := begin(t, place, &process{dir: state}, "")
	_, err = p.payments().Refund(t.Context(), wire.NewKey(), payment, payments.RefundRequest{})
	require.NoError(t, err)
	_, err = p.payments().Create(t.Context(), wire.NewKey(), sale(""))
	require.NoError(t, err)
	code, _, talk = ask(args(place, "sqlite:"+t.TempDir())...)
	require.Equal(t, usage.ExitRefused, code, "a process works on it: %s", talk)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	before := booksOf(t, "--db", place, "--tolerate", "no-fsync")

	back := t.TempDir()
	began = time.Now()
	migrated(t, n, kills-kills/2, args(place, "sqlite:"+back))
	t.Logf("back to a file: %.0f s", time.Since(began).Seconds())
	never := -time.Second // nobody pays by himself
	again, err := backend.Open(t.Context(), backend.Config{Dir: back, WalletDelay: &never, PublicURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	list, err := again.Books(t.Context())
	require.NoError(t, err)
	after, err := json.Marshal(list)
	require.NoError(t, err)
	require.JSONEq(t, before, string(after))
	began = time.Now()
	conform(t, again)
	t.Logf("the suites on them: %.0f s", time.Since(began).Seconds())
	require.NoError(t, again.Close())
}

// conform runs the contracts' own suites on a backend.
func conform(t *testing.T, b *backend.Backend) {
	t.Run("wallets", func(t *testing.T) { aapaytest.Run(t, backendtest.Aapay(b)) })
	t.Run("payments", func(t *testing.T) { paymentstest.Run(t, backendtest.Payments(b)) })
	t.Run("tokens", func(t *testing.T) { tokenstest.Run(t, backendtest.Tokens(b)) })
	t.Run("hosted", func(t *testing.T) { hostedtest.Run(t, backendtest.Hosted(b)) })
	t.Run("links", func(t *testing.T) { paylinkstest.Run(t, backendtest.Links(b)) })
	t.Run("onboarding", func(t *testing.T) { onboardingtest.Run(t, backendtest.Onboarding(b)) })
}

func booksOf(t *testing.T, args ...string) string {
	t.Helper()
	code, out, talk := ask(append([]string{"books", "--json"}, args...)...)
	require.Equal(t, usage.ExitOK, code, talk)
	return out
}

// migrated runs a migration in processes that are killed, until one ends by itself.
func migrated(t *testing.T, n, kills int, args []string) {
	t.Helper()
	longest := 400*time.Millisecond + time.Duration(n)*10*time.Microsecond // how long one lives that is to be killed
	for killed := 0; ; {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProcess+"=1")
		var talk bytes.Buffer
		cmd.Stderr = &talk
		require.NoError(t, cmd.Start())
		if killed < kills {
			kill := time.AfterFunc(rand.N(longest), func() { _ = cmd.Process.Kill() }) // it may have ended
			err := cmd.Wait()
			kill.Stop()
			var exit *exec.ExitError
			if errors.As(err, &exit) && !exit.Exited() {
				killed++
				continue
			}
		} else {
			_ = cmd.Wait() // its code is looked at
		}
		if code := cmd.ProcessState.ExitCode(); code == usage.ExitRefused && strings.Contains(talk.String(), "nothing is left to copy") {
			t.Logf("killed when all was done")
			return
		}
		require.Equal(t, usage.ExitOK, cmd.ProcessState.ExitCode(), talk.String())
		t.Logf("killed %d times", killed)
		return
	}
}
