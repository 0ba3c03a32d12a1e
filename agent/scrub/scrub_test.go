package scrub_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

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

// What a call has left below its caller on the stack is gone, as deep as it went.
func TestStackOverwritesWhatIsBelow(t *testing.T) {
	hidden := make([]byte, 24)
	rand.Read(hidden)
	counted := make(chan [2]int)
	go func() {
		deep(hidden, 40)
		before := below(hidden)
		deep(hidden, 40)
		scrub.Stack()
		counted <- [2]int{before, below(hidden)}
	}()
	n := <-counted
	require.Greater(t, n[0], 20)
	require.Zero(t, n[1])
}

// below counts the text in 24 KiB of the stack below its caller.
//
//go:noinline
func below(hidden []byte) (n int) {
	const reach = 24 << 10
	var b [1]byte
	stack := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&b), -reach)), reach)
	for at := 0; at+len(hidden) <= reach; at++ {
		for i, c := range hidden {
			if stack[at+i] != ^c {
				break
			}
			if i == len(hidden)-1 {
				n++
			}
		}
	}
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
			deep(hidden, round%8)
			<-ended // as many stacks become free as there were rounds
		})
	}
	close(ended)
	wg.Wait()
	before := copies(t, hidden)
	require.Greater(t, before, 1000)
	scrub.Now()
	// Stacks that live goroutines took over in between, and what lies behind the last object of a span.
	require.LessOrEqual(t, copies(t, hidden), before/100)
	require.NotEmpty(t, live)
}

// deep leaves a canary in each of its frames.
//
//go:noinline
func deep(hidden []byte, more int) byte {
	var b [500]byte
	for i, c := range hidden {
		b[100+i] = ^c
	}
	if more == 0 {
		return b[0]
	}
	return deep(hidden, more-1) + b[1]
}
