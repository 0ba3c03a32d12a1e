package device_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device"
)

func TestKeysAreMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	const openers = 8
	ids := make([]string, openers)
	var wg sync.WaitGroup
	for i := range openers {
		wg.Go(func() {
			k, err := device.OpenKeys(dir)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = k.ID()
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
	fi, err := os.Stat(filepath.Join(dir, "device.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
}

func TestWrap(t *testing.T) {
	k, err := device.OpenKeys(t.TempDir())
	require.NoError(t, err)
	plain := []byte("a data key of thirty-two bytes..")
	wrapped, err := k.Wrap(plain)
	require.NoError(t, err)
	again, err := k.Wrap(plain)
	require.NoError(t, err)
	require.NotEqual(t, wrapped, again)
	got, err := k.Unwrap(wrapped)
	require.NoError(t, err)
	require.Equal(t, plain, got)
	for i := range wrapped {
		bad := append([]byte{}, wrapped...)
		bad[i] ^= 1
		want := device.ErrUnwrap
		if i >= 1 && i <= 8 {
			want = device.ErrWrongKey
		}
		_, err := k.Unwrap(bad)
		require.ErrorIs(t, err, want, "byte %d", i)
		_, err = k.Unwrap(wrapped[:i])
		require.ErrorIs(t, err, device.ErrUnwrap, "length %d", i)
	}
	other, err := device.OpenKeys(t.TempDir())
	require.NoError(t, err)
	_, err = other.Unwrap(wrapped)
	require.ErrorIs(t, err, device.ErrWrongKey)
	require.ErrorContains(t, err, k.ID())
	require.ErrorContains(t, err, other.ID())
	require.Equal(t, "device key "+k.ID(), fmt.Sprint(k))
	require.Equal(t, "device key "+k.ID(), fmt.Sprintf("%#v", k))
}

func TestKeyFileIsRefused(t *testing.T) {
	good := t.TempDir()
	_, err := device.OpenKeys(good)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(good, "device.key"))
	require.NoError(t, err)
	for name, spoil := range map[string]func(path string) error{
		"group":     func(p string) error { return writeMode(p, content, 0o640) },
		"world":     func(p string) error { return writeMode(p, content, 0o604) },
		"symlink":   func(p string) error { return os.Symlink(filepath.Join(good, "device.key"), p) },
		"dangling":  func(p string) error { return os.Symlink("nowhere", p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"empty":     func(p string) error { return writeMode(p, nil, 0o600) },
		"short":     func(p string) error { return writeMode(p, content[:len(content)-3], 0o600) },
		"long": func(p string) error {
			return writeMode(p, append(content[:len(content)-1:len(content)-1], "00\n"...), 0o600)
		},
		"other": func(p string) error { return writeMode(p, append([]byte("x"), content...), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, spoil(filepath.Join(dir, "device.key")))
			_, err := device.OpenKeys(dir)
			require.ErrorIs(t, err, device.ErrKeyFile)
		})
	}
}

func writeMode(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func TestBoot(t *testing.T) {
	require.NotEmpty(t, device.BootID())
	require.Equal(t, device.BootID(), device.BootID())
	first := device.BootTime()
	require.Positive(t, first)
	require.GreaterOrEqual(t, device.BootTime(), first)
}

func TestClockSane(t *testing.T) {
	build := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		now  time.Time
		sane bool
	}{
		{time.Unix(0, 0), false},
		{build.AddDate(0, 0, -3), false},
		{build.AddDate(0, 0, -1), true},
		{build, true},
		{build.AddDate(10, 0, 0), true},
		{build.AddDate(25, 0, 0), false},
	} {
		require.Equal(t, c.sane, device.ClockSane(c.now, build), "%v", c.now)
	}
	require.False(t, device.ClockSane(time.Unix(0, 0), time.Time{}))
	require.True(t, device.ClockSane(build, time.Time{}))
}
