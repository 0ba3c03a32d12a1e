package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pathKeys are the keys whose values are paths, with a name that the key may have.
func pathKeys() map[string]string {
	return map[string]string{
		"store.mark": "mark", "display.file": "screen.png", "display.framebuffer": "fb", "printer.device": "receipts", "keypad.device": "keys", "ecr.serial": "line",
		"backend.data": "data", "backend.seed": "seed", "reconcile.file": "list", "upstream.roots_file": "roots", "upstream.client_cert": "cert", "upstream.client_key": "key",
	}
}

// text is a file that sets keys.
func text(keys ...[2]string) []byte {
	sections := map[string]string{}
	for _, k := range keys {
		section, name, _ := strings.Cut(k[0], ".")
		sections[section] += fmt.Sprintf("%s = %q\n", name, k[1])
	}
	var b strings.Builder
	for name, lines := range sections {
		fmt.Fprintf(&b, "[%s]\n%s", name, lines)
	}
	return []byte(b.String())
}

// Every key that holds a path is one of the table: a new key whose example or doc speaks of a file has to be.
func TestField2_D1EveryPathIsKnown(t *testing.T) {
	c := Default()
	got := map[string]bool{}
	for _, f := range fields(&c) {
		if f.use != "" {
			got[f.path] = true
		}
		last := f.path[strings.LastIndexByte(f.path, '.')+1:]
		switch last {
		case "file", "device", "serial", "mark", "framebuffer", "data", "seed", "roots_file", "client_cert", "client_key", "path", "dir":
			require.NotEmpty(t, f.use, f.path)
		}
	}
	require.Len(t, got, len(pathKeys()))
	for key := range pathKeys() {
		require.True(t, got[key], key)
	}
}

// What was given names no path of the box, by any key; a serial line or a converter has the same name on every box.
func TestField2_D1WhatWasGivenNamesNoPath(t *testing.T) {
	for key := range pathKeys() {
		for _, value := range []string{
			"/var/lib/posagent/keys/device.key", "/var/lib/posagent/agent.db", "/var/lib/posagent/port.token", "/var/lib/posagent/agent.sock", "/mnt/card/posagent.mark", "/etc/posagent/config.toml", "/dev/fb0", "/dev/../etc/passwd", "/dev/ttyS1/../../etc/x", "/dev/serial/by-id/../../x",
		} {
			_, err := parse("", nil, false, nil, Layer{Name: "revision 3", Text: text([2]string{key, value})})
			require.ErrorContains(t, err, key+": a configuration that is given to the terminal names none of its files", "%s = %s", key, value)
		}
	}
	for key, values := range map[string][]string{
		"ecr.serial":     {"/dev/ttyS1", "/dev/ttyUSB0", "/dev/serial/by-id/usb-FTDI_FT232R-if00-port0", "usb:0403:6001", ""},
		"printer.device": {"/dev/ttyS1", "/dev/usb/lp0", "usb:0403:6001", ""},
	} {
		for _, value := range values {
			_, err := parse("", nil, false, nil, Layer{Name: "revision 3", Text: text([2]string{key, value})})
			require.NoError(t, err, "%s = %s", key, value)
		}
	}
}

// Each key that is written, or has a device for itself, beside each other key of the same file: by one name, by a link, through a
// linked directory, there and not there.
func TestField2_D1NoTwoKeysHaveOneFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "way")))
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token-of-a-client"), 0o600))
	config := Default()
	for _, a := range fields(&config) {
		if a.use != owns && a.use != plugs {
			continue
		}
		for key := range pathKeys() {
			if key == a.path {
				continue
			}
			for _, there := range []bool{true, false} {
				one := filepath.Join(dir, fmt.Sprint(there)+".png")
				if there {
					require.NoError(t, os.WriteFile(one, nil, 0o600))
				}
				linked := filepath.Join(dir, "way", filepath.Base(one))
				for _, other := range []string{one, linked} {
					c, err := parse("c.toml", text([2]string{a.path, one}, [2]string{key, other}), true, nil)
					err = errors.Join(err, c.Twice())
					require.Error(t, err, "%s and %s", a.path, key)
					require.Contains(t, err.Error(), "name another", "%s and %s: %v", a.path, key, err)
				}
			}
		}
	}
	two := "[[ecr]]\nserial = \"" + token + "\"\nname = \"a\"\n[[ecr]]\nserial = \"" + filepath.Join(dir, "way", "token") + "\"\nname = \"b\"\n[printer]\ndevice = \"" + token + "\"\n"
	c, err := parse("c.toml", []byte(two), true, nil)
	require.NoError(t, err, "the terminal sells over the line that has it")
	require.Len(t, Problems(c.Twice()), 3, "each two of the three")
	_, err = parse("c.toml", []byte("[store]\nmark = \""+token+"\"\n[port]\ntoken_file = \""+token+"\"\n"), true, nil)
	require.ErrorContains(t, err, "is what store.mark names, too")
}

// Nothing is written into the state directory or over the configuration, by any name of it.
func TestField2_D1TheStateDirectoryIsTheTerminals(t *testing.T) {
	dir := t.TempDir()
	state, file := filepath.Join(dir, "state"), filepath.Join(dir, "c.toml.png")
	require.NoError(t, os.MkdirAll(filepath.Join(state, "keys"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(state, "keys", "device.key"), []byte("key"), 0o600))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(state, filepath.Join(dir, "way")))
	require.NoError(t, os.Symlink(filepath.Join(state, "keys", "device.key"), filepath.Join(dir, "direct.png")))
	for key := range pathKeys() {
		c := Default()
		var f field
		for _, f = range fields(&c) {
			if f.path == key {
				break
			}
		}
		for _, path := range []string{
			file, filepath.Join(state, "keys", "device.key"), filepath.Join(state, "agent.db"), filepath.Join(state, "new.png"), filepath.Join(dir, "way", "socket"),
			filepath.Join(dir, "way", "keys", "new"), filepath.Join(dir, "direct.png"), filepath.Join(state), filepath.Join(dir, "free.png"),
		} {
			f.v.SetString(path)
			err := c.Apart(state, file)
			in := path != file && path != filepath.Join(dir, "free.png")
			switch own := f.use == owns || f.use == plugs; {
			case own && path == file:
				require.ErrorContains(t, err, "is the configuration itself", key)
			case own && in && key == "backend.data" && strings.Contains(filepath.Base(path), ".") && path != state:
				require.ErrorContains(t, err, "has a name as the terminal's own files", path)
			case own && in && (key != "backend.data" && key != "display.file" || path == state):
				require.ErrorContains(t, err, key, path)
				require.ErrorContains(t, err, "lies in the state directory", path)
			default:
				require.NoError(t, err, "%s = %s", key, path)
			}
		}
	}
}
