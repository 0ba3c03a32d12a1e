package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/sqlite"
)

// TestPendingMoneyIsRefused: one stored payment is enough, and a journal of a newer program is no "nothing".
func TestPendingMoneyIsRefused(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	code, out, _ := ask(t, "journal", "pending", "--state", state)
	require.Equal(t, exitOK, code)
	require.Equal(t, "nothing is pending in "+state+"\n", out)

	keys, err := openKeys(callOn(t, state))
	require.NoError(t, err)
	write := func(sql string, more ...store.Step) {
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: append(agent.Schema(), more...), Wrapper: keys, Ballast: -1})
		require.NoError(t, err)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(sql)
			return err
		}))
		require.NoError(t, db.Close())
	}
	write(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts, created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
		VALUES ('01890000-0000-7000-8000-000000000000', 'payments.create', 'payment/1', 'PENDING', 'PENDING', '', 1250, 'EUR', x'00', '', 0, 1, 0, 0, 0, -1, 1, 1, x'00')`)
	code, out, talk := ask(t, "journal", "pending", "--state", state)
	require.Equal(t, exitRefused, code, out+talk)
	require.Contains(t, talk, "money is pending here: 1 operation(s) not at their end")

	write(`UPDATE outbox_ops SET open = 0, ready = 0, state = 'DONE'`)
	code, out, talk = ask(t, "journal", "pending", "--state", state)
	require.Equal(t, exitOK, code, out+talk)

	write(`UPDATE outbox_ops SET settled_ms = 2`, store.Step{Name: "agent/9 of a newer program", SQL: "CREATE TABLE agent_newer (id INTEGER PRIMARY KEY) STRICT;"})
	code, out, talk = ask(t, "journal", "pending", "--state", state)
	require.Equal(t, exitRefused, code, out+talk)
	require.Contains(t, talk, "a newer posagent wrote this journal")
}

// TestNoSandboxWhereNoneIsWanted: the terminal does not start, and makes no journal.
func TestNoSandboxWhereNoneIsWanted(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.toml")
	require.NoError(t, os.WriteFile(config, []byte("[port]\nlisten = \"127.0.0.1:0\"\n[ecr]\ntcp = \"127.0.0.1:0\"\n[backend]\nlisten = \"127.0.0.1:0\"\n[display]\nconsole = false\n"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	var out, talk strings.Builder
	code := execute(ctx, []string{"run", "--no-sandbox", "--config", config, "--state", filepath.Join(dir, "s")}, std{strings.NewReader(""), &out, &talk})
	require.Equal(t, exitNotEnrolled, code, out.String()+talk.String())
	require.NoDirExists(t, filepath.Join(dir, "s"))
}
