package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
	"posagent/store/sqlite"
)

// lateRooms brought their first tables after the others had most of their steps.
var lateRooms = []string{"audit", "owned"}

// older is the schema as it was when no room had more than most steps.
func older(most int) (list []store.Step, all bool) {
	all = true
	for _, st := range agent.Schema() {
		room, rest, _ := strings.Cut(st.Name, "/")
		if slices.Contains(lateRooms, room) {
			continue
		}
		number, _, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			n = 1
		}
		if n > most {
			all = false
			continue
		}
		list = append(list, st)
	}
	return list, all
}

// ask runs a verb in this process.
func ask(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e strings.Builder
	code = execute(t.Context(), args, std{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

// A journal that an earlier program wrote, and that no run has migrated yet, is read by every read-only verb, and is not changed by it.
func TestField_J5ReadOnlyVerbsUnderstandOlderSchemas(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	schemas := 0
	for most := 1; ; most++ {
		steps, all := older(most)
		if all {
			break
		}
		schemas++
		state := filepath.Join(t.TempDir(), fmt.Sprint("s", most))
		keys, err := openKeys(callOn(t, state))
		require.NoError(t, err)
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: steps, Wrapper: keys, Ballast: -1})
		require.NoError(t, err)
		const key = "01890000-0000-7000-8000-00000000000"
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			for i := range 2 {
				_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts, created_ms, settled_ms,
					accepted_run, next_run, sent_age, open, ready, mac) VALUES (?, 'payments.create', ?, 'PENDING', 'PENDING', '', 1250, 'EUR', x'00', '', 0, 1, 0, 0, 0, -1, 1, 1, x'00')`,
					key+strconv.Itoa(i), "payment/"+strconv.Itoa(i))
				if err != nil {
					return err
				}
			}
			return nil
		}))
		require.NoError(t, db.Close())
		before, err := os.ReadFile(filepath.Join(state, "agent.db"))
		require.NoError(t, err)

		code, out, talk := ask(t, "ops", "list", "--open", "--json", "--state", state)
		require.Equal(t, exitOK, code, "schema %d: %s", most, talk)
		var list struct {
			Operations []struct{ Key, State string } `json:"operations"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		require.Len(t, list.Operations, 2)
		require.Equal(t, key+"0", list.Operations[0].Key)
		require.Equal(t, "PENDING", list.Operations[0].State)
		code, out, talk = ask(t, "ops", "report", "--state", state)
		require.Equal(t, exitOK, code, talk)
		require.Contains(t, out, "25.00")
		code, out, talk = ask(t, "ops", "show", key+"1", "--state", state)
		require.Equal(t, exitOK, code, talk)
		require.Contains(t, out, "payments.create")
		code, _, talk = ask(t, "sale", "list", "--state", state)
		require.Equal(t, exitOK, code, talk)
		code, out, talk = ask(t, "status", "--state", state)
		require.Equal(t, exitNoDaemon, code, talk)
		require.Contains(t, out, "2 pending")
		code, _, talk = ask(t, "reset", "--yes", "--state", state)
		require.Equal(t, exitRefused, code, talk)
		require.Contains(t, talk, "2 operation(s) not at their end")
		after, err := os.ReadFile(filepath.Join(state, "agent.db"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after), "reading changes nothing")
		export := filepath.Join(t.TempDir(), "export.jsonl")
		code, _, talk = ask(t, "backup", "--export", export, "--state", state)
		require.Equal(t, exitOK, code, talk)
		text, err := os.ReadFile(export)
		require.NoError(t, err)
		require.Contains(t, string(text), key+"1")
	}
	require.Greater(t, schemas, 4)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	for _, f := range left {
		require.NotContains(t, f.Name(), "posagent-read", "no copy is left")
	}
}

// Where no copy can be made the answer names the way, and a newer journal is not called damaged. Nothing says to begin another state.
func TestField_J5NoAdviceToAbandonMoney(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	keys, err := device.OpenKeys(filepath.Join(state, "keys"))
	require.NoError(t, err)
	steps, _ := older(1)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: steps, Wrapper: keys, Ballast: -1})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	code, _, talk := ask(t, "ops", "list", "--state", state)
	require.Equal(t, exitFailed, code)
	require.Contains(t, talk, "posagent run brings the journal up to date")

	newer := append(agent.Schema(), store.Step{Name: "future/1", SQL: "CREATE TABLE future (id INTEGER PRIMARY KEY) STRICT"})
	db, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: newer, Wrapper: keys, Ballast: -1})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	code, _, newerTalk := ask(t, "ops", "list", "--state", state)
	require.Equal(t, exitRefused, code)
	require.Contains(t, newerTalk, "install that program")

	require.NoError(t, os.WriteFile(filepath.Join(state, "agent.db"), []byte("not a database, but as long as one\n"), 0o600))
	_, _, broken := ask(t, "ops", "list", "--state", state)
	for _, talk := range []string{talk, newerTalk, broken} {
		require.NotContains(t, talk, "--state DIR")
		require.NotContains(t, talk, "new one starts")
	}
}
