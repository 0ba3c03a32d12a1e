package display_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
)

// A picture that cannot be written leaves none of an earlier sale, and says why in the same words each time, so that the log has it
// once. The kind: no room for a name (as for a file, on a full disk), a place that is taken, a directory that is gone. A file system
// that is read-only keeps the old picture, which the error says; a console and a panel are drawn over, and a panel whose driver
// refuses is made dark.
func TestField2_P2NoPictureOfAnEarlierSaleStays(t *testing.T) {
	t.Chdir(t.TempDir())
	d := func(n int) string { return strings.Repeat("d", n) + "/" }
	far := strings.Repeat(d(253), 15) + d(200) + d(75) // 4,087 bytes: of a path's 4,095 they leave a picture its name, and none to what is to be renamed
	require.NoError(t, os.MkdirAll(far, 0o755))
	refused := func(path, want string) {
		t.Helper()
		f, err := display.NewFile(path)
		require.NoError(t, err)
		first := f.Show(display.View{Text: "the next sale"})
		require.ErrorContains(t, first, want)
		require.EqualError(t, f.Refresh(), first.Error(), "the log has it once")
	}
	path := far + "p.png"
	require.NoError(t, os.WriteFile(path, []byte("the code of a sale that is over"), 0o644))
	refused(path, "file name too long")
	require.NoFileExists(t, path)

	taken := filepath.Join(t.TempDir(), "taken.png")
	require.NoError(t, os.Mkdir(taken, 0o755))
	refused(taken, "file exists, and the old picture stays: ")
	require.DirExists(t, taken, "what is no picture is left alone")
	refused(filepath.Join(t.TempDir(), "none", "p.png"), "no such file or directory")
}
