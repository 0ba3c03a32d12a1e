package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/agent/port/login"
	"posagent/device/file"
)

// The token is made once, for its owner, and never replaced; a file that holds none is not taken for one.
func TestPortToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port.token")
	first, err := portToken(path)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(first.Reveal()), 26, "128 bits")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	again, err := portToken(path)
	require.NoError(t, err)
	require.Equal(t, first.Reveal(), again.Reveal())
	for _, text := range []string{"", "\n", "short\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
		_, err = portToken(path)
		require.ErrorContains(t, err, "holds no token")
	}
}

// A token that another account put there, or can read, is not the port's: neither behind a link nor under a second name.
func TestField_P12PlantedTokenIsRefused(t *testing.T) {
	const text = "planted-token-0123456789"
	for what, plant := range map[string]func(t *testing.T, path, other string){
		"symbolic link":      func(t *testing.T, path, other string) { require.NoError(t, os.Symlink(other, path)) },
		"2 names":            func(t *testing.T, path, other string) { require.NoError(t, os.Link(other, path)) },
		"not a regular file": func(t *testing.T, path, _ string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"mode 0644":          func(t *testing.T, path, _ string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) },
		"mode 0660": func(t *testing.T, path, _ string) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o660))
			require.NoError(t, os.Chmod(path, 0o660))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "port.token"), filepath.Join(dir, "other")
			require.NoError(t, os.WriteFile(other, []byte(text), 0o600))
			plant(t, path, other)
			_, err := portToken(path)
			require.ErrorContains(t, err, what)
			require.ErrorContains(t, err, "remove it")
		})
	}
	path := filepath.Join(t.TempDir(), "port.token")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	_, err := readToken(path, os.Geteuid())
	require.NoError(t, err)
	if os.Geteuid() != 0 { // root's are everybody's
		_, err = readToken(path, os.Geteuid()+1)
		require.ErrorContains(t, err, "may have been planted")
	}
	// Nor is a link followed when the token is made.
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	require.NoError(t, os.WriteFile(target, []byte("precious"), 0o600))
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "port.token.new")))
	_, err = portToken(filepath.Join(dir, "port.token"))
	require.NoError(t, err)
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "precious", string(data))
}

// What is stored of a PIN is taken from a private file of the terminal's account alone. A link, a pipe and a second name are refused,
// and a new PIN takes the place of each without following it.
func TestPINFile(t *testing.T) {
	kept, err := login.Keep("482915")
	require.NoError(t, err)
	for what, plant := range map[string]func(t *testing.T, path, other string){
		"symbolic link":      func(t *testing.T, path, other string) { require.NoError(t, os.Symlink(other, path)) },
		"2 names":            func(t *testing.T, path, other string) { require.NoError(t, os.Link(other, path)) },
		"not a regular file": func(t *testing.T, path, _ string) { require.NoError(t, unix.Mkfifo(path, 0o600)) },
		"mode 0640":          func(t *testing.T, path, _ string) { require.NoError(t, os.WriteFile(path, []byte(kept.Text()), 0o640)) },
		"mode 0604":          func(t *testing.T, path, _ string) { require.NoError(t, os.WriteFile(path, []byte(kept.Text()), 0o604)) },
		"mode 0620": func(t *testing.T, path, _ string) {
			require.NoError(t, os.WriteFile(path, []byte(kept.Text()), 0o600))
			require.NoError(t, os.Chmod(path, 0o620))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "port.pin"), filepath.Join(dir, "other")
			require.NoError(t, os.WriteFile(other, []byte("precious"), 0o600))
			plant(t, path, other)
			_, err := readPIN(path, os.Geteuid())
			require.ErrorContains(t, err, what)
			require.ErrorContains(t, err, "posagent config pin sets a new one")
			require.NoError(t, file.Replace(path, 0o600, file.Bytes([]byte(kept.Text()+"\n"))))
			text, err := readPIN(path, os.Geteuid())
			require.NoError(t, err)
			require.Equal(t, kept.Text(), text)
			data, err := os.ReadFile(other)
			require.NoError(t, err)
			require.Equal(t, "precious", string(data))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		})
	}
	path := filepath.Join(t.TempDir(), "port.pin")
	_, err = readPIN(path, os.Geteuid())
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, file.Replace(path, 0o600, file.Bytes([]byte(kept.Text()+"\n"))))
	require.NoFileExists(t, path+".new", "nothing is left behind")
}

// A state directory in which others can put files is refused, by its mode and by its owner.
func TestField_P12StateDirectoryOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	uid := os.Geteuid()
	for mode, good := range map[os.FileMode]bool{0o700: true, 0o750: true, 0o755: true, 0o770: false, 0o702: false, 0o777: false, 0o777 | os.ModeSticky: false} {
		require.NoError(t, os.Chmod(dir, mode))
		err := ownDir(dir, uid)
		if good {
			require.NoError(t, err, "%o", mode)
			continue
		}
		var coded *exit
		require.ErrorAs(t, err, &coded)
		require.Equal(t, exitRefused, coded.Code)
		require.ErrorContains(t, err, "chmod go-w "+dir)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	c := &call{global: global{state: dir}}
	_, err := openKeys(c)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = openKeys(c)
	require.ErrorContains(t, err, "can be written by other accounts")

	require.NoError(t, os.Chmod(dir, 0o700))
	if uid == 0 {
		require.NoError(t, os.Chown(dir, 4711, -1))
		require.NoError(t, ownDir(dir, 0))
		require.ErrorContains(t, ownDir(dir, 4712), "belongs to uid 4711")
		return
	}
	require.ErrorContains(t, ownDir(dir, uid+1), "belongs to uid")
}

// Local software gets a token by a file that its group can read, wherever that lies; the default one is the terminal's own.
func TestField_P10TokenFileAGroupCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kiosk.token")
	require.NoError(t, os.WriteFile(path, []byte("group-token-0123456789\n"), 0o640))
	require.NoError(t, os.Chmod(path, 0o640))
	file := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(file, []byte("[port]\ntoken_file = \""+path+"\"\n"), 0o600))
	cfg, err := loadConfig(&call{global: global{config: file}})
	require.NoError(t, err)
	require.Equal(t, "group-token-0123456789", cfg.Port.Token.Reveal())
	require.NoError(t, os.Chmod(path, 0o644))
	_, err = loadConfig(&call{global: global{config: file}})
	require.ErrorContains(t, err, "can be read by others")
}
