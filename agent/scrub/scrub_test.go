package scrub_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/scrub"
)

// copies counts a text in the memory of this process. hidden is the text with every bit turned, so that it does not find itself.
func copies(t *testing.T, hidden []byte) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	mem, err := os.Open("/proc/self/mem")
	require.NoError(t, err)
	defer mem.Close()
	data := make([]byte, 1<<20)
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var mode string
		if k, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); k != 3 || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for at := from; at < to; at += uint64(len(data)) {
			k, _ := mem.ReadAt(data[:min(uint64(len(data)), to-at)], int64(at))
			for i := range k {
				data[i] = ^data[i] // what was read must not be found when it is read itself
			}
			n += bytes.Count(data[:k], hidden)
		}
	}
	clear(data)
	return n
}

// Of freed objects of every size, between others that live on, next to nothing is left, and neither of what ended goroutines had on their stacks.
func TestNowOverwritesWhatIsFree(t *testing.T) {
	hidden := make([]byte, 24)
	rand.Read(hidden)
	canary := func(to []byte) {
		for i := range hidden {
			to[i] = ^hidden[i]
		}
	}
	var live [][]byte
	var wg sync.WaitGroup
	ended := make(chan struct{})
	for round := range 300 {
		for size := 40; size <= 32_768; size += 1 + size/7 {
			b := make([]byte, size)
			canary(b)
			live = append(live, make([]byte, size/(1+round%3)))
		}
		wg.Go(func() {
			deep(canary, round%8)
			<-ended // as many stacks become free as there were rounds
		})
	}
	close(ended)
	wg.Wait()
	require.Greater(t, copies(t, hidden), 1000)
	scrub.Now()
	// What was a large stack before may lie at the end of eight smaller ones, where no call reaches: two copies in each.
	require.LessOrEqual(t, copies(t, hidden), 40, "on stacks that were taken over in between, and at the ends of stacks")
	require.NotEmpty(t, live)
}

// deep leaves a canary on the stack.
//
//go:noinline
func deep(canary func([]byte), more int) byte {
	var b [500]byte
	canary(b[100:])
	if more == 0 {
		return b[0]
	}
	return deep(canary, more-1) + b[1]
}
