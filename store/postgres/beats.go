package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"posagent/store"
)

// beatStep counts the beats of each process that remembers its server. A copy of the server that was put back lacks some of them, however
// long its log has grown since, because each count is raised by its own process alone.
func beatStep() store.Step {
	return store.Step{Name: "store/4 beats", SQL: `
CREATE TABLE store_beat (
	process TEXT    NOT NULL PRIMARY KEY,
	n       INTEGER NOT NULL
) STRICT;`}
}

// newProcess names whoever holds a memory, for as long as that is not forgotten.
func newProcess() string { return strings.ToLower(rand.Text()) }

// isProcess says whether a name is one of newProcess: it is written into statements.
func isProcess(name string) bool {
	return len(name) == 26 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// beatsOf returns how many beats of a process a server has. A schema without tables has none.
func beatsOf(ctx context.Context, conn *pgx.Conn, process string) (n int64, err error) {
	err = conn.QueryRow(ctx, "SELECT n FROM store_beat WHERE process = $1", process).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) || codeOf(err) == undefinedTable {
		return 0, nil
	}
	return n, classify(err)
}

// beat commits something, and returns how many beats of the process the server has with it; 0 where nothing is remembered. It is one simple
// query: its answer comes after its commit.
func beat(ctx context.Context, conn *pgx.Conn, process string) (n int64, err error) {
	text := "SELECT pg_logical_emit_message(true, 'posagent', '')"
	if process != "" {
		text = fmt.Sprintf("INSERT INTO store_beat (process, n) VALUES ('%s', 1) ON CONFLICT (process) DO UPDATE SET n = store_beat.n + 1 RETURNING n", process)
	}
	all, err := conn.PgConn().Exec(ctx, text).ReadAll()
	if err != nil || process == "" {
		return 0, err
	}
	if len(all) != 1 || len(all[0].Rows) != 1 {
		return 0, errors.New("store: a beat has no answer")
	}
	return strconv.ParseInt(string(all[0].Rows[0][0]), 10, 64)
}
