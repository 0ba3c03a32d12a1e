package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/schemes/wire"
)

// ownDir refuses a directory in which another account than uid or root can put files: the journal, the box's key and the token of
// the local port are trusted because they lie there. Root may work on any account's.
func ownDir(dir string, uid int) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case !info.IsDir():
		return fail(exitRefused, "%s is not a directory (--state or POSAGENT_STATE names the state directory)", dir)
	case owner != uid && owner != 0 && uid != 0:
		return fail(exitRefused, "%s belongs to uid %d, and this is uid %d: what lies in it cannot be trusted (run as its owner)", dir, owner, uid)
	case info.Mode().Perm()&0o022 != 0:
		return fail(exitRefused, "%s can be written by other accounts (mode %04o), so what lies in it cannot be trusted: look whether anything in it is not yours, then chmod go-w %s",
			dir, info.Mode().Perm(), dir)
	}
	return nil
}

// readOwn reads a file of the terminal's own, of most bytes. It follows no link, and waits for no other program: root reads there, too,
// and what lies there is another account's. fs.ErrNotExist where there is none.
func readOwn(path string, most int64) ([]byte, error) {
	return readRegular(path, file.NoFollow, most)
}

// readPlain is readOwn, and follows a link: for a path that a person has named.
func readPlain(path string, most int64) ([]byte, error) { return readRegular(path, file.Follow, most) }

func readRegular(path string, links file.Links, most int64) ([]byte, error) {
	data, _, err := file.Read(path, links, most)
	return data, err
}

// maxToken is the longest file of a token, maxConfig that of a configuration.
const (
	maxToken  = 4 << 10
	maxConfig = 1 << 20
)

// portToken reads the token of the local port, and makes it when there is none: 128 random bits, readable by its owner. It
// refuses a file that another account may have put there or can read. A group gets a token by [port] token_file.
func portToken(path string) (wire.Secret, error) {
	s, err := readToken(path, os.Geteuid())
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	token := rand.Text()
	return wire.Secret(token), file.Replace(path, 0o600, file.Bytes([]byte(token+"\n")))
}

// readToken reads a token that uid or root has put there. fs.ErrNotExist where there is none.
func readToken(path string, uid int) (wire.Secret, error) {
	const remedy = "remove it, and the next start makes one; or name a file by [port] token_file"
	s, err := readSecret(path, uid, 0o037, remedy)
	if err == nil && len(s) < 16 {
		return "", fmt.Errorf("%s holds no token of 16 characters or more: %s", path, remedy)
	}
	return wire.Secret(s), err
}

// readPIN reads what is stored of the PIN. fs.ErrNotExist where none was set.
func readPIN(path string, uid int) (string, error) {
	return readSecret(path, uid, 0o077, "posagent config pin sets a new one")
}

// readSecret reads a file that uid or root has put there, and that has none of some modes. It follows no link, and waits for no pipe.
// fs.ErrNotExist where there is none.
func readSecret(path string, uid int, none os.FileMode, remedy string) (string, error) {
	f, info, err := file.Open(path, file.NoFollow)
	switch {
	case errors.Is(err, unix.ELOOP):
		return "", fmt.Errorf("%s is a symbolic link, and is not followed: %s", path, remedy)
	case errors.Is(err, file.ErrIrregular):
		return "", fmt.Errorf("%w: %s", err, remedy)
	case err != nil:
		return "", err
	}
	defer f.Close()
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case int(st.Uid) != uid && st.Uid != 0:
		return "", fmt.Errorf("%s belongs to uid %d and may have been planted: %s", path, st.Uid, remedy)
	case st.Nlink != 1:
		return "", fmt.Errorf("%s has %d names, and another of them may be in another's reach: %s", path, st.Nlink, remedy)
	case info.Mode().Perm()&none != 0:
		return "", fmt.Errorf("%s may be read or written by others (mode %04o): %s", path, info.Mode().Perm(), remedy)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	return strings.TrimSpace(string(data)), err
}
