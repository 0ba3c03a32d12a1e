package doctor

import (
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

// sample is the fault that make test seeds, beside none at all.
const sample = "backend: refuses connections"

// TestField_U2OneFaultOneName seeds each fault into a terminal of its own: doctor names its id, and nothing else fails. DOCTOR=full plays
// every row, and takes less than ten seconds for each.
func TestField_U2OneFaultOneName(t *testing.T) {
	bin := program.Path(t, "posagent")
	backend := realBackend(t, bin)
	full := os.Getenv("DOCTOR") == "full"
	short := !full && need.Size(1, 0) == 1
	slots := make(chan struct{}, 4)
	var mu sync.Mutex
	named, played, listed := 0, 0, map[string]time.Duration{}
	t.Run("faults", func(t *testing.T) {
		for _, f := range faults() {
			if !full && !f.quick || short && (f.root || f.want != "" && f.name != sample) {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				if f.root && os.Geteuid() != 0 {
					need.Missing(t, "mounts and users of its own", "run as root")
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
				if screen := b.status(); f.want != "" { // U4: no failure is missing there
					require.True(t, strings.HasPrefix(screen, "NOT READY: ") || strings.Contains(screen, "READY, offline") || strings.Contains(screen, "\n! "), screen)
				} else {
					require.True(t, strings.HasPrefix(screen, "NOT READY: ") || !strings.Contains(screen, "(PA-"), screen)
				}
				if full { // make doctor-bench
					require.Less(t, e.took, 10*time.Second)
				}
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
				if f.as != "" {
					listed[f.as] = e.took
				}
				mu.Unlock()
			})
		}
	})
	for _, name := range append(paper(), field()...) {
		if took, ok := listed[name]; ok {
			t.Logf("%-45s %5d ms", name, took.Milliseconds())
		}
	}
	if full && os.Geteuid() == 0 {
		require.Len(t, listed, len(paper())+len(field()))
	}
	t.Logf("%d of %d of the two lists named; %d of %d faults in all, each as the only failure", len(listed), len(paper())+len(field()), named, played)
}

// futureBuild is the program as if it had been built in 2099, so that the clock stands before that.
func futureBuild(t *testing.T) string {
	bin := filepath.Join(t.TempDir(), "posagent")
	require.NoError(t, program.Build(bin, []string{"-ldflags=-X main.linked=2099.01.01"}))
	return bin
}
