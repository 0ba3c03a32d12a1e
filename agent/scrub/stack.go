package scrub

import (
	"runtime"
	"sync"
)

const (
	spare   = 8    // goroutines of each size beside those that free stacks are for
	frame   = 320  // bytes of one call of grow
	reach   = 1600 // bytes at a stack's end that grow leaves, so that it needs no larger one
	deepest = 32 << 10
)

// below overwrites the caller's stack from its lowest byte up to the call itself. Nothing else lies there while it runs: it is
// assembly, which the runtime does not interrupt to move a stack.
func below()

// Stack overwrites the part of the caller's stack that is not in use.
func Stack() { below() }

// stacks overwrites the stacks of goroutines that have ended. They are kept for others, by size, and are not cleared: so more
// goroutines than there can be free stacks are made to use, and to hold, a stack of each size.
func stacks() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for size := 2 << 10; size <= deepest; size *= 2 {
		n := spare + int(m.StackInuse)/size
		hold := make(chan struct{})
		var ready, running sync.WaitGroup
		ready.Add(n)
		for range n {
			running.Go(func() { grow((size-reach)/frame, &[256]byte{}, &ready, hold) })
		}
		ready.Wait()
		close(hold)
		running.Wait()
	}
}

// grow makes its stack as large as it is to be by calling itself, overwrites what is below, says that it is ready, and waits.
//
//go:noinline
func grow(left int, above *[256]byte, ready *sync.WaitGroup, hold <-chan struct{}) byte {
	var b [256]byte
	b[left%len(b)] = above[left%len(above)]
	if left > 0 {
		return grow(left-1, &b, ready, hold) + b[1]
	}
	below()
	ready.Done()
	<-hold
	return b[0]
}
