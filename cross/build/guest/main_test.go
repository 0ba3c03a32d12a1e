package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPack reads the archive back by the rules of its format: a header of 110 characters, then name and data, each padded to
// four bytes.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "posagent")
	want := map[string]string{"init": "12345", "posagent": "12345678"}
	require.NoError(t, os.WriteFile(first, []byte(want["init"]), 0o600))
	require.NoError(t, os.WriteFile(second, []byte(want["posagent"]), 0o600))
	var out bytes.Buffer
	require.NoError(t, pack(&out, first, second))
	r, err := gzip.NewReader(&out)
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	got, dirs := map[string]string{}, 0
	for at := 0; ; {
		var f [13]int
		require.Equal(t, "070701", string(all[at:at+6]))
		for i := range f {
			_, err := fmt.Sscanf(string(all[at+6+8*i:at+14+8*i]), "%08X", &f[i])
			require.NoError(t, err)
		}
		mode, size, nameLen := f[1], f[6], f[11]
		name := string(all[at+110 : at+110+nameLen-1])
		at = (at + 110 + nameLen + 3) &^ 3
		if name == "TRAILER!!!" {
			break
		}
		switch mode {
		case 0o100755:
			got[name] = string(all[at : at+size])
		case 0o040755:
			dirs++
		default:
			t.Fatalf("%s has mode %o", name, mode)
		}
		at = (at + size + 3) &^ 3
	}
	require.Equal(t, want, got)
	require.Equal(t, 3, dirs)
}

func TestField(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(path, []byte("VmPeak:\t  99 kB\nVmRSS:\t  17 kB\n"), 0o600))
	require.EqualValues(t, 17, field(path, "VmRSS"))
	require.Zero(t, field(path, "RssAnon"))
	require.Zero(t, field(path+"x", "VmRSS"))
}
