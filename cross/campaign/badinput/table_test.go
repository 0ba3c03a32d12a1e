package badinput

import (
	"crypto/ecdsa"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
	"posagent/cross/need"
	"posagent/cross/program"
)

const workers = 28

// scene is one terminal's life: one or several rows, checked together at the end.
type scene struct {
	name string
	rare bool // in the full run only
	cold bool // play starts the terminal itself
	make func(k *kit) options
	play func(k *kit)
}

// row is one line of the table.
type row struct {
	number, input, outcome string
	ok                     bool
	scene                  int
}

// kit is what a scene works with.
type kit struct {
	*rig
	t     testing.TB
	ca    certs.Authority
	scene int
	rows  []row
	line  *cable            // of scenes with a serial line
	key   *ecdsa.PrivateKey // of scenes with TLS
	after []func()          // judged when all is over
	took  atomic.Int64      // nanoseconds of the last answer
}

// row plays one bad input: f attacks and says what came back.
func (k *kit) row(number, input string, f func() string) {
	before := len(k.problems)
	out := f()
	if k.rig != nil && k.process != nil && !k.alive() {
		k.bad("the process has ended")
	}
	k.rows = append(k.rows, row{number, input, out, len(k.problems) == before, k.scene})
}

func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano() & 0xffffff)
}

// TestBadInput plays every scene, make test one of eight, and prints the table.
func TestBadInput(t *testing.T) {
	t.Parallel()
	full, seedNo := os.Getenv("BADINPUT") == "full", seed()
	bin := program.Path(t, "posagent")
	began := time.Now()

	ca := certs.New(t, "root")
	var all []scene
	drawn := 0
	for _, s := range append(append(upstreamScenes(), lineScenes(seedNo)...), append(portScenes(), inboxScene())...) {
		if (full || !s.rare) && strings.Contains(s.name, os.Getenv("SCENE")) {
			if drawn++; drawn%need.Size(8, 1) == 0 { // make test plays one of eight, the same each time
				all = append(all, s)
			}
		}
	}
	var mu sync.Mutex
	var table []row
	var problems []string
	var peak, deeds int64
	next := atomic.Int64{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				k, sum := playScene(t, bin, ca, full, i, all[i])
				mu.Lock()
				table = append(table, k.rows...)
				for _, p := range k.problems {
					problems = append(problems, all[i].name+": "+p)
				}
				if k.rig != nil {
					peak = max(peak, k.peakRSS)
					deeds += int64(len(k.be.deeds))
				}
				t.Logf("%-62s %s", all[i].name, sum)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	sort.SliceStable(table, func(a, b int) bool { return order(table[a].number) < order(table[b].number) })
	failed := 0
	var lines strings.Builder
	for _, r := range table {
		word := "ok"
		if !r.ok {
			word = "FAILED"
			failed++
		}
		fmt.Fprintf(&lines, "%-4s %-86s %-60s %s\n", r.number, r.input, r.outcome, word)
	}
	t.Logf("bad input, what came back\n%s", lines.String())
	t.Logf("seed %d, %d rows, %d terminals, %d transactions at the backends, peak %d MiB, %d violations in %v (%.1f s): at most 3/%d at 95 %%",
		seedNo, len(table), len(all), deeds, peak>>20, len(problems), time.Since(began).Round(time.Millisecond), time.Since(began).Seconds(), len(table))
	for _, p := range problems {
		t.Error(p)
	}
	require.Zero(t, failed)
	require.NotEmpty(t, table)
}

// order sorts A1 before A12 before D69.
func order(number string) string {
	digits := strings.TrimLeft(number, "ABCDE")
	return number[:len(number)-len(digits)] + strings.Repeat("0", max(0, 3-len(digits))) + digits
}

// playScene gives a scene its terminal, plays it, and judges what is left.
func playScene(t testing.TB, bin string, ca certs.Authority, full bool, number int, s scene) (k *kit, sum string) {
	k = &kit{t: t, ca: ca, scene: number, rig: &rig{full: full}}
	dir, err := os.MkdirTemp(t.TempDir(), "terminal")
	if err != nil {
		k.bad("%v", err)
		return k, ""
	}
	o := options{}
	if s.make != nil {
		o = s.make(k)
	}
	x, err := newRig(bin, dir, full, o)
	if err != nil {
		k.bad("%v", err)
		return k, ""
	}
	k.rig = x
	k.patient = strings.Contains(s.name, "Retry-After")
	began := time.Now()
	played := func() {
		if !s.cold {
			if err := k.start(); err != nil {
				k.bad("%v", err)
				return
			}
		}
		s.play(k)
		if !k.alive() {
			k.bad("the process has ended: %.2000s", k.out)
			return
		}
		if k.line != nil {
			k.normal(k.paySerial)
		}
		k.normal(k.rig.pay)
	}
	played()
	after := time.Since(began)
	list := k.settle()
	k.stop()
	sum = k.agree(list)
	k.secrets(list)
	for _, f := range k.after {
		f()
	}
	if k.peakRSS > rssLimit {
		k.bad("%d MiB of memory", k.peakRSS>>20)
	}
	if len(k.problems) > 0 {
		for i := range k.rows {
			k.rows[i].ok = false
		}
	}
	if k.line != nil {
		k.line.close()
	}
	return k, fmt.Sprintf("%5.1f s + %4.1f s, %2d MiB, %s", after.Seconds(), (time.Since(began) - after).Seconds(), k.peakRSS>>20, sum)
}
