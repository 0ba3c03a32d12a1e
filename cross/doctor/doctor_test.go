package doctor

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// TestField_U2OneFaultOneName seeds each fault into a terminal of its own: doctor names its id, nothing else fails, and it takes less than ten
// seconds. DOCTOR=full plays every row.
func TestField_U2OneFaultOneName(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "posagent")
	require.NoError(t, program.Build(bin, nil))
	backend := realBackend(t, bin)
	full := os.Getenv("DOCTOR") == "full"
	slots := make(chan struct{}, 4)
	var mu sync.Mutex
	named, played := 0, 0
	t.Run("faults", func(t *testing.T) {
		for _, f := range faults() {
			if !full && !f.quick {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				if f.root && os.Geteuid() != 0 {
					need.Missing(t, "mounts and users of its own", "run as root")
					return
				}
				mu.Lock()
				played++
				mu.Unlock()
				b := newBox(t, bin, backend)
				f.seed(b)
				e := b.examine()
				want := []string(nil)
				if f.want != "" {
					want = []string{f.want}
				}
				t.Logf("%-55s %-11s %5d ms", f.name, strings.Join(e.fails(), " "), e.took.Milliseconds())
				require.Equal(t, want, e.fails(), e.text)
				require.Equal(t, f.code, e.code, e.text)
				require.Less(t, e.took, 10*time.Second)
				for _, c := range e.checks {
					switch {
					case c.ID == f.want:
						all := c.Remedy.Text + " " + c.Remedy.Command
						for _, text := range c.Evidence {
							all += " " + text
						}
						require.Contains(t, all, f.seen)
						require.NotEmpty(t, c.Remedy.Command)
					case c.Evidence["waits_for"] != "":
						require.Equal(t, f.want, c.Evidence["waits_for"], c.ID)
					}
				}
				mu.Lock()
				named++
				mu.Unlock()
			})
		}
	})
	t.Logf("%d of %d faults named, each as the only failure", named, played)
}

// futureBuild is the program as if it had been built in 2099, so that the clock stands before that.
func futureBuild(t *testing.T) string {
	bin := filepath.Join(t.TempDir(), "posagent")
	require.NoError(t, program.Build(bin, []string{"-ldflags=-X main.linked=2099.01.01"}))
	return bin
}

// resolver lets the box's processes ask a name server that knows no name, or one that does not answer.
func (b *box) resolver(answers bool) {
	unshare := need.Tool(b.t, "unshare")
	require.NotEmpty(b.t, unshare)
	address := "127.0.0.97"
	if answers {
		address = "127.0.0.98"
		conn, err := net.ListenPacket("udp", address+":53")
		require.NoError(b.t, err)
		b.t.Cleanup(func() { _ = conn.Close() })
		go func() {
			buf := make([]byte, 1500)
			for {
				n, from, err := conn.ReadFrom(buf)
				if err != nil {
					return
				}
				if n > 12 {
					buf[2], buf[3] = 0x81, 0x83 // a reply: no such name
					clear(buf[6:12])
					_, _ = conn.WriteTo(buf[:12+question(buf[12:n])], from)
				}
			}
		}()
	}
	file := filepath.Join(b.dir, "resolv.conf")
	require.NoError(b.t, os.WriteFile(file, []byte(fmt.Sprintf("nameserver %s\noptions timeout:1 attempts:1\n", address)), 0o644))
	b.wrap = []string{unshare, "--mount", "sh", "-c", "mount --bind " + file + ` /etc/resolv.conf && exec "$@"`, "sh"}
}

// question is the length of the question behind a name server's header.
func question(p []byte) int {
	i := 0
	for i < len(p) && p[i] != 0 {
		i += int(p[i]) + 1
	}
	return min(i+5, len(p))
}
