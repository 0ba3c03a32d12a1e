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

// maxToken is the longest file of a token.
const maxToken = 4 << 10

// portToken reads the token of the local port, and makes it when there is none: 128 random bits, readable by its owner. It
// refuses a file that another account may have put there or can read. A group gets a token by [port] token_file.
func portToken(path string) (wire.Secret, error) {
	s, err := readToken(path, os.Geteuid())
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	token := rand.Text()
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	return wire.Secret(token), err
}

// readToken reads a token that uid or root has put there. fs.ErrNotExist where there is none.
func readToken(path string, uid int) (wire.Secret, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return "", fmt.Errorf("%s is a symbolic link, and is not followed: remove it, and the next start makes a token; or name the file by [port] token_file", path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file: remove it, and the next start makes one", path)
	case int(st.Uid) != uid && st.Uid != 0:
		return "", fmt.Errorf("%s belongs to uid %d and may have been planted: remove it, and the next start makes one", path, st.Uid)
	case st.Nlink != 1:
		return "", fmt.Errorf("%s has %d names, and another of them may be in another's reach: remove it, and the next start makes one", path, st.Nlink)
	case info.Mode().Perm()&0o037 != 0:
		return "", fmt.Errorf("%s may be read or written by others (mode %04o): remove it, and the next start makes a new one", path, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", err
	}
	s := strings.TrimSpace(string(data))
	if len(s) < 16 {
		return "", fmt.Errorf("%s holds no token of 16 characters or more: remove it, and the next start makes one", path)
	}
	return wire.Secret(s), nil
}
