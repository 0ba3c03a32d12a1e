package spool_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire/spool"
)

func TestAKeptContentHasNoName(t *testing.T) {
	dir := t.TempDir()
	f, read, kept := spool.Keep(dir, "document-*", strings.NewReader("abc"))
	require.NoError(t, errors.Join(read, kept))
	defer f.Close()
	require.EqualValues(t, 3, f.Size)
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", f.SHA256) // FIPS 180-2, B.1
	data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	require.NoError(t, err)
	require.Equal(t, "abc", string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestWhoseFailureItIs(t *testing.T) {
	lost := errors.New("connection lost")
	_, read, kept := spool.Keep(t.TempDir(), "document-*", iotest.ErrReader(lost))
	require.ErrorIs(t, read, lost)
	require.NoError(t, kept)
	_, read, kept = spool.Keep(filepath.Join(t.TempDir(), "none"), "document-*", strings.NewReader("abc"))
	require.NoError(t, read)
	require.ErrorIs(t, kept, os.ErrNotExist)
}
