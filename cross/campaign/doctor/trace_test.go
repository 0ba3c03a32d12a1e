package doctor

import (
	"crypto/sha256"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/program"
)

// TestDoctorLeavesNoTrace: an examination changes no file but its own, asks the backend by GET alone, and does not open the register's
// line. The terminal starts afterwards as before.
func TestDoctorLeavesNoTrace(t *testing.T) {
	bin := program.Path(t, "posagent")
	b := newBox(t, bin, realBackend(t, bin))
	var mu sync.Mutex
	var asked []string
	b.serve(b.through(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.UserAgent(), " doctor") {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.Method)
		}
		return false
	}))
	b.stopped()
	c := b.cable()
	require.NoError(t, unix.IoctlSetPointerInt(int(c.Far.Fd()), unix.TIOCSPTLCK, 1)) // opening it would fail
	b.write()

	before := b.files()
	require.Contains(t, before, "agent.db")
	require.Contains(t, before, "agent.db.mark")
	for range 2 {
		require.Equal(t, []string{"PA-SYS-003"}, b.examine().fails())
	}
	after := b.files()
	require.Contains(t, after, "doctor.json")
	delete(after, "doctor.json")
	require.Equal(t, before, after)

	mu.Lock()
	require.Equal(t, slices.Repeat([]string{"GET"}, 2*5), asked, "the list, the schemes, payments, tokens and disputes, twice: nothing is written")
	mu.Unlock()
	require.NoError(t, unix.IoctlSetPointerInt(int(c.Far.Fd()), unix.TIOCSPTLCK, 0))
	b.run(isReady)
}

// files are the digests of what lies in the state directory, but for what a reader of the journal makes and leaves.
func (b *box) files() map[string][32]byte {
	b.t.Helper()
	list := map[string][32]byte{}
	require.NoError(b.t, filepath.WalkDir(b.state(), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(b.state(), path)
		list[name] = sha256.Sum256(data)
		return err
	}))
	return list
}
