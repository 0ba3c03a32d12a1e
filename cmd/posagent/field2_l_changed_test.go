package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// TestField2_L7WhatDoesNotApplyIsNamed: a file was changed and the terminal not started again; each verb spoke as if it applied. The kind:
// the configuration, each file of a secret, the roots and the certificate that it names, changed, removed or come into being. What was
// only touched, or put back, is not named, and neither is the till's list, which is read anew each day. Status, doctor, page and port
// show the one condition; config check and config show say it.
func TestField2_L7WhatDoesNotApplyIsNamed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	for _, name := range []string{"bearer", "token", "roots.pem", "list.csv"} {
		write(name, "first-content-of-"+name)
	}
	text := fmt.Sprintf("[terminal]\nbax_id = \"1\"\nterminal_id = \"2\"\nmerchant_id = \"3\"\n[upstream]\nbase = \"https://x.example\"\nroots_file = %q\n[upstream.auth]\nbearer_file = %q\n"+
		"[port]\ntoken_file = %q\n[reconcile]\nfile = %q\n[ecr]\ntcp = \"127.0.0.1:0\"\n", at("roots.pem"), at("bearer"), at("token"), at("list.csv"))
	write("config.toml", text)
	c := &call{global: global{state: at("state"), config: at("config.toml")}, ctx: t.Context()}
	cfg, err := loadConfig(c)
	require.NoError(t, err)
	u := filesInUse(c, cfg)
	named := func() (list []string) {
		for _, w := range u.changed() {
			require.Equal(t, ready.ConfigChanged, w.Cause)
			require.False(t, w.Since.IsZero())
			list = append(list, filepath.Base(w.Where))
		}
		return list
	}
	require.Empty(t, named())
	for _, name := range []string{"config.toml", "bearer", "token", "roots.pem"} {
		was, err := os.ReadFile(at(name))
		require.NoError(t, err)
		require.NoError(t, os.Chtimes(at(name), time.Now(), time.Now().Add(time.Hour)))
		require.Empty(t, named(), "%s was only touched", name)
		write(name, string(was)+"\n# a password")
		require.Equal(t, []string{name}, named())
		require.NoError(t, os.Remove(at(name)))
		require.Equal(t, []string{name}, named())
		write(name, string(was))
		require.Empty(t, named(), "%s is as it was", name)
	}
	write("list.csv", "another day")
	require.Empty(t, named())

	c.config = at("none.toml") // a terminal on the defaults
	u = filesInUse(c, cfg)
	require.Empty(t, named())
	write("none.toml", text)
	require.Equal(t, []string{"none.toml"}, named())
}
