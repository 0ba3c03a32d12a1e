package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// A configuration of the box that names one of the terminal's own files by a key that is a path: each key beside the device
// key, the journal, both marks, both tokens, the socket and the configuration. It is refused before anything is opened, or
// the terminal runs and the file is what it was: keys and tokens byte by byte, the journal with its sale, the marks as marks
// of it, the configuration as it was written. Keys that the terminal writes, or has for itself, are refused by config check.
func TestField2_D1NoKeyTouchesTheTerminalsFiles(t *testing.T) {
	dir := t.TempDir()
	state, file := filepath.Join(dir, "s"), filepath.Join(dir, "c.toml")
	mark, token := filepath.Join(dir, "medium", "mark"), filepath.Join(dir, "token")
	require.NoError(t, os.Mkdir(filepath.Dir(mark), 0o700))
	require.NoError(t, os.WriteFile(token, []byte("a-token-of-the-shop-0123456789\n"), 0o600))
	base := map[string]map[string]string{
		"port": {"listen": "127.0.0.1:0", "token_file": token}, "store": {"mark": mark}, "ecr": {"tcp": "127.0.0.1:0"}, "backend": {"listen": "127.0.0.1:0", "wallet_delay": "50ms"},
		"methods": {"poll": "50ms"},
	}
	written := func(key, value string) {
		t.Helper()
		text := "[display]\nconsole = false\n"
		section, name, _ := strings.Cut(key, ".")
		if section == "display" {
			text += fmt.Sprintf("%s = %q\n", name, value)
		} else if key != "" && base[section] == nil {
			text = fmt.Sprintf("[%s]\n%s = %q\n%s", section, name, value, text)
		}
		for _, s := range slices.Sorted(maps.Keys(base)) {
			keys := maps.Clone(base[s])
			if s == section {
				if name == "serial" { // in place of the other line
					delete(keys, "tcp")
				}
				keys[name] = value
			}
			text += "[" + s + "]\n"
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				text += fmt.Sprintf("%s = %q\n", k, keys[k])
			}
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	ran := func() (ready bool, talk string) {
		in, out := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended, log := make(chan int, 1), &bytes.Buffer{}
		go func() {
			ended <- execute(ctx, []string{"run", "--config", file, "--state", state}, std{strings.NewReader(""), out, log})
			_ = out.Close()
		}()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "ready ") {
				ready = true
				stop()
			}
		}
		code := need.Receive(t, "the end of the terminal", ended)
		require.True(t, ready || code != exitOK, log)
		return ready, log.String()
	}
	verb := func(args ...string) (int, string) {
		var out, talk bytes.Buffer
		code := execute(t.Context(), append(args, "--config", file, "--state", state), std{strings.NewReader(""), &out, &talk})
		return code, out.String() + talk.String()
	}

	written("", "")
	p := runProgramIn(t, dir)
	require.Contains(t, p.verb("register", "pay", "12.50", "--line", "tcp:"+p.register), "approved")
	p.end()
	files := map[string]string{
		"the device key": filepath.Join(state, "keys", "device.key"), "the journal": filepath.Join(state, "agent.db"), "its mark": filepath.Join(state, "agent.db.mark"), "the other mark": mark,
		"the token": token, "the socket": filepath.Join(state, "posagent.sock"), "the configuration": file,
	}
	kept := []string{files["the device key"], token}
	was := map[string][]byte{}
	for _, path := range kept {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		was[path] = data
	}
	writes := []string{"store.mark", "display.framebuffer", "printer.device", "keypad.device", "ecr.serial"}
	keys := append([]string{"display.file", "backend.data", "backend.seed", "reconcile.file", "upstream.roots_file", "upstream.client_cert", "upstream.client_key"}, writes...)
	checked, refused, ranOn := 0, 0, 0
	runs := need.Size(0, 1) > 0 // make test asks config check alone
	for _, key := range keys {
		for name, path := range files {
			if key == "store.mark" && path == mark {
				continue // it is the mark
			}
			what := key + " = " + name
			written(key, path)
			config, err := os.ReadFile(file)
			require.NoError(t, err)
			code, talk := verb("config", "check")
			checked++
			if code != exitOK {
				refused++
			}
			if slices.Contains(writes, key) {
				require.NotEqual(t, exitOK, code, "%s: %s", what, talk)
				require.Contains(t, talk, key, what)
			}
			if runs {
				ready, talk := ran()
				if ready {
					ranOn++
				}
				for _, path := range kept {
					data, err := os.ReadFile(path)
					require.NoError(t, err, what)
					require.Equal(t, was[path], data, "%s: %s has changed: %s", what, path, talk)
				}
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err, what)
			require.Equal(t, config, data, what)
		}
		written("", "")
		if runs {
			ready, talk := ran()
			require.True(t, ready, "after %s: %s", key, talk)
			require.NotContains(t, talk, "took another's place", key)
		}
		code, list := verb("sale", "list")
		require.Equal(t, exitOK, code, list)
		require.Equal(t, 1, strings.Count(list, "approved"), list)
	}
	t.Logf("%d configurations: %d refused by config check; of those that were run %d began to sell", checked, refused, ranOn)
}
