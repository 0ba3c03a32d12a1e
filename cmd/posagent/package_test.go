package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/sqlite"
)

// storedPayment is an operation that is not at its end.
const storedPayment = `INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts, created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
	VALUES ('01890000-0000-7000-8000-000000000000', 'payments.create', 'payment/1', 'PENDING', 'PENDING', '', 1250, 'EUR', x'00', '', 0, 1, 0, 0, 0, -1, 1, 1, x'00')`

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
	write(storedPayment)
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

// TestNoSandboxWhereNoneIsWanted: the terminal waits, makes no journal, and begins as soon as its file names a backend.
func TestNoSandboxWhereNoneIsWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, state := filepath.Join(dir, "config.toml"), filepath.Join(dir, "s")
	own := "[port]\nlisten = \"127.0.0.1:0\"\n[ecr]\ntcp = \"127.0.0.1:0\"\n[display]\nconsole = false\n"
	require.NoError(t, os.WriteFile(config, []byte(own), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, ended := handed{make(chan string, 8)}, make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"run", "--no-sandbox", "--config", config, "--state", state}, std{strings.NewReader(""), said, io.Discard})
	}()
	require.Contains(t, <-said.to, "not ready: the terminal is not enrolled, and no [upstream] is set: posagent enroll ")
	require.NoFileExists(t, filepath.Join(state, "agent.db"))
	code, out, _ := ask(t, "status", "--check", "--config", config, "--state", state)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "NOT READY: the terminal is not enrolled")

	address := need.ClosedPort(t)
	named := own + "[terminal]\nbax_id = \"B1\"\nterminal_id = \"T1\"\nmerchant_id = \"M1\"\n[upstream]\nbase = \"http://" + address + "\"\n"
	require.NoError(t, os.WriteFile(config+".new", []byte(named), 0o600))
	require.NoError(t, os.Rename(config+".new", config))
	for line := ""; !strings.Contains(line, address+" refuses the connection"); line = <-said.to {
	}
	require.FileExists(t, filepath.Join(state, "agent.db"))
	stop()
	require.Equal(t, exitOK, <-ended)
}

// TestAFileThatChangesAtOnce: a configuration that is written before the terminal has said that it waits is taken up, too.
func TestAFileThatChangesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, state := filepath.Join(dir, "config.toml"), filepath.Join(dir, "s")
	own := "[port]\nlisten = \"127.0.0.1:0\"\n[ecr]\ntcp = \"127.0.0.1:0\"\n[display]\nconsole = false\n"
	require.NoError(t, os.WriteFile(config, []byte(own), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, ended := handed{make(chan string)}, make(chan int, 1) // who says something waits until it is read
	go func() {
		ended <- execute(ctx, []string{"run", "--no-sandbox", "--config", config, "--state", state}, std{strings.NewReader(""), said, io.Discard})
	}()
	need.Until(t, "the terminal to wait", func() bool { _, err := os.Stat(filepath.Join(state, "waiting.lock")); return err == nil })
	address := need.ClosedPort(t)
	named := own + "[terminal]\nbax_id = \"B1\"\nterminal_id = \"T1\"\nmerchant_id = \"M1\"\n[upstream]\nbase = \"http://" + address + "\"\n"
	require.NoError(t, os.WriteFile(config+".new", []byte(named), 0o600))
	require.NoError(t, os.Rename(config+".new", config))
	for line := ""; !strings.Contains(line, address+" refuses the connection"); {
		line = need.Receive(t, "the new file to be read", said.to)
	}
	stop()
	for {
		select {
		case <-said.to:
		case code := <-ended:
			require.Equal(t, exitOK, code)
			return
		}
	}
}

// TestAStoppedBoxIsNotCalledASandbox: without an enrolment and without [upstream] it waits for one of them, until a sandbox has run there.
func TestAStoppedBoxIsNotCalledASandbox(t *testing.T) {
	dir := t.TempDir()
	config, state := filepath.Join(dir, "config.toml"), filepath.Join(dir, "s")
	require.NoError(t, os.WriteFile(config, []byte("[terminal]\nlanguage = \"de\"\n"), 0o600))
	said := func(want int, verb ...string) string {
		code, out, talk := ask(t, append(verb, "--config", config, "--state", state)...)
		require.Equal(t, want, code, out+talk)
		return out + talk
	}
	text := said(exitNoDaemon, "status")
	require.Contains(t, text, "NOT READY: the terminal is not enrolled, and no [upstream] is set: posagent enroll --config ")
	require.NotContains(t, text, "SANDBOX")
	require.NotContains(t, text, "posagent run", "that would be a sandbox")
	require.Contains(t, said(exitNotEnrolled, "upstream", "check"), "posagent enroll")
	require.Contains(t, said(exitNotEnrolled, "net", "check"), "posagent enroll")

	require.NoError(t, os.MkdirAll(filepath.Join(state, "backend"), 0o700)) // a sandbox has run
	require.Contains(t, said(exitNoDaemon, "status"), "SANDBOX")
	require.Contains(t, said(exitUsage, "upstream", "check"), "a SANDBOX")
}
