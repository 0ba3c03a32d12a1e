package enrol

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// calls are the system calls at which an enrolment is killed: what becomes durable, and what leaves or arrives.
var calls = []string{"flock", "openat", "fsync", "renameat", "connect", "write", "read"}

// most is how many calls of one kind in one thread are tried, before the kill that misses.
const most = 40

// kill runs a verb and kills it at a call of one kind, counted in each thread. It returns what the verb said, and whether it has survived:
// it makes no so many calls.
func kill(t *testing.T, strace, call string, at int, verb []string) (said []byte, survived bool) {
	t.Helper()
	first := exec.Command(strace, append([]string{"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, at)}, verb...)...)
	said, err := first.CombinedOutput()
	if err != nil {
		require.NotContains(t, string(said), "posagent: ", "%s %d: it was killed, and has not failed", call, at)
	}
	return said, err == nil
}

// size is how many rounds a campaign has, and how far apart its kills are. In `make verify` it tries every fourth call.
func size(share int) (rounds, step int) {
	if n, err := strconv.Atoi(os.Getenv("N")); err == nil {
		return (n + share - 1) / share, 1
	}
	return 1, 4
}

// TestAKilledEnrolmentGoesOn: whatever call it is killed at, the same command ends it; the code is burned once, by this box.
func TestAKilledEnrolmentGoesOn(t *testing.T) {
	need.Verify(t, "kills at each system call")
	strace := need.Tool(t, "strace")
	rounds, step := size(1)
	dir := t.TempDir()
	bin := program.Path(t, "posagent")
	desk := filepath.Join(dir, "backend")
	backend, _, err := program.Start(exec.Command(bin, "backend", "--fleet", "--listen", "127.0.0.1:0", "--state", desk), "listening on ")
	require.NoError(t, err)
	t.Cleanup(backend.Kill)
	config := filepath.Join(dir, "box.toml")
	require.NoError(t, os.WriteFile(config, []byte("[ecr]\ntcp = \"127.0.0.1:0\"\n[display]\nconsole = false\n"), 0o600))

	boxes, killed, mended := 0, 0, 0
	for range rounds {
		for _, call := range calls {
			for at := 1; at <= most; at += step {
				boxes++
				serial := fmt.Sprintf("PA-%d", boxes)
				var made struct {
					Ticket    string
					Enrolment struct{ ID string }
				}
				out, err := exec.Command(bin, "backend", "fleet", "create", "--merchant", "M1", "--terminal", serial, "--bax", "B1", "--state", desk, "--json").Output()
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(out, &made))
				verb := []string{bin, "enroll", made.Ticket, "--serial", serial, "--config", config, "--state", filepath.Join(dir, serial), "--json"}
				said, survived := kill(t, strace, call, at, verb)
				if !survived {
					killed++
				}
				again, err := exec.Command(verb[0], verb[1:]...).CombinedOutput()
				require.NoError(t, err, "%s %d: %s\n%s", call, at, said, again)
				mended++
				var got struct {
					State, ID string
					Enrolled  bool
				}
				require.NoError(t, json.Unmarshal(again[strings.IndexByte(string(again), '{'):], &got), "%s", again)
				require.True(t, got.Enrolled)
				require.Equal(t, made.Enrolment.ID, got.ID, "%s %d: the code of this box", call, at)
				require.NoError(t, os.RemoveAll(filepath.Join(dir, serial)))
				if survived {
					break
				}
			}
		}
	}
	var list struct {
		Enrolments []struct{ State string }
	}
	out, err := exec.Command(bin, "backend", "fleet", "list", "--state", desk, "--json").Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &list))
	require.Len(t, list.Enrolments, min(boxes, 1000))
	for _, e := range list.Enrolments {
		require.Equal(t, "CONFIRMED", e.State)
	}
	require.Equal(t, boxes, mended)
	require.Greater(t, killed, 20*rounds/step, "the kills met their calls")
	t.Logf("%d boxes, %d killed: 0 lost, 0 codes burned for nobody", boxes, killed)
}
