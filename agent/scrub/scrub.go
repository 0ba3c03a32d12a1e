package scrub

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	quiet = 5 * time.Second  // after the last Touch
	again = 30 * time.Second // twice more: connections and pools let go later
	most  = time.Minute      // also where it is never quiet
)

// Scrubber overwrites freed memory after it was touched.
type Scrubber struct {
	touched chan struct{}
	within  func(fn func())
}

// New makes a Scrubber; it starts nothing. within runs a function on a goroutine that lives on and works for others, nil = there is
// none.
func New(within func(fn func())) *Scrubber {
	if within == nil {
		within = func(func()) {}
	}
	return &Scrubber{touched: make(chan struct{}, 1), within: within}
}

// Touch says that something which must not stay was in memory, and overwrites what is left of it on the caller's stack. It never
// blocks.
func (s *Scrubber) Touch() {
	Stack()
	select {
	case s.touched <- struct{}{}:
	default:
	}
}

// Run overwrites freed memory after each Touch until ctx ends. It returns nil then.
func (s *Scrubber) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	var since time.Time // of the first Touch that nothing followed; zero = none
	rounds := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.touched:
			if since.IsZero() {
				since = time.Now()
			}
			rounds = 3
			timer.Reset(max(min(quiet, most-time.Since(since)), 0))
		case <-timer.C:
			s.within(Stack)
			Now()
			since = time.Time{}
			if rounds--; rounds > 0 {
				timer.Reset(again)
			}
		}
	}
}

// Now overwrites everything that is unreachable now.
func Now() {
	stacks()
	runtime.GC() // finalizers, and the first half of what pools keep; stacks that are too large move to smaller ones
	runtime.GC()
	debug.FreeOSMemory() // whole free pages go back to the kernel
	fill(new(room))
	stacks()
	release()
	interrupt()
}

// release gives free pages back to the kernel and overwrites those that the runtime keeps: each processor has up to 64 for itself,
// and what is freed beside the background scavenger may be passed over. Pages are handed out from the lowest address up.
func release() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the other processors let go of theirs
	debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is taken must not be collected meanwhile
	defer func() { sink = nil }()
	var m runtime.MemStats
	for taken := 0; taken < releaseMost; {
		if runtime.ReadMemStats(&m); m.HeapIdle <= m.HeapReleased {
			return
		}
		for range 64 {
			sink = make([]byte, page)
			taken += page
		}
	}
}

// sink keeps the compiler from taking the stack instead.
var sink []byte

// interrupt makes the kernel write the frame of a signal on each thread's signal stack again: the one before holds what was in the
// processor's registers when the runtime last interrupted the thread, which may have been the middle of a copy.
func interrupt() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG) // the runtime's own signal; a thread that has ended needs none
		}
	}
}

// sizes are the heap's size classes and the spans they are cut from, in bytes (internal/runtime/gc/sizeclasses.go of
// Go 1.26). Another Go may have others: then some free memory is left out, and the test of this package sees it.
var sizes = [...]struct{ size, span int }{
	{8, 8192}, {16, 8192}, {24, 8192}, {32, 8192}, {48, 8192}, {64, 8192}, {80, 8192}, {96, 8192}, {112, 8192},
	{128, 8192}, {144, 8192}, {160, 8192}, {176, 8192}, {192, 8192}, {208, 8192}, {224, 8192}, {240, 8192},
	{256, 8192}, {288, 8192}, {320, 8192}, {352, 8192}, {384, 8192}, {416, 8192}, {448, 8192}, {480, 8192},
	{512, 8192}, {576, 8192}, {640, 8192}, {704, 8192}, {768, 8192}, {896, 8192}, {1024, 8192}, {1152, 8192},
	{1280, 8192}, {1408, 16384}, {1536, 8192}, {1792, 16384}, {2048, 8192}, {2304, 16384}, {2688, 8192},
	{3072, 24576}, {3200, 16384}, {3456, 24576}, {4096, 8192}, {4864, 24576}, {5376, 16384}, {6144, 24576},
	{6528, 32768}, {6784, 40960}, {6912, 49152}, {8192, 8192}, {9472, 57344}, {9728, 49152}, {10240, 40960},
	{10880, 32768}, {12288, 24576}, {13568, 40960}, {14336, 57344}, {16384, 16384}, {18432, 73728},
	{19072, 57344}, {20480, 40960}, {21760, 65536}, {24576, 24576}, {27264, 81920}, {28672, 57344},
	{32768, 32768},
}

const (
	fillMost    = 8 << 20  // bytes that one size may take
	releaseMost = 32 << 20 // bytes that release may take
	spans       = 2        // handed out whole before a size is full
	page        = 8 << 10  // where a span begins
	inlineBits  = 256      // bytes at the end of a span of small objects that the collector may use
	inlineMost  = 512      // bytes of such an object
)

// room keeps what was allocated last, so that the compiler does not take the stack instead.
type room struct {
	plain    []byte
	pointers []*byte
}

// text allocates an object without pointers and returns where its slot begins.
func (r *room) text(size int) uintptr {
	r.plain = make([]byte, size)
	return uintptr(unsafe.Pointer(unsafe.SliceData(r.plain)))
}

// list allocates an object with pointers. A larger slot begins with a word of the collector's.
func (r *room) list(size int) uintptr {
	const word = int(unsafe.Sizeof(uintptr(0)))
	head := 0
	if size > word*word*8 {
		head = 8
	}
	r.pointers = make([]*byte, (size-head)/word)
	return uintptr(unsafe.Pointer(unsafe.SliceData(r.pointers))) - uintptr(head)
}

// fill allocates each size until whole spans are handed out for it: every free slot was handed out, and cleared, before. A span is
// cut from pages that are not cleared, so that also one for objects with pointers has free slots in which old texts are.
func fill(r *room) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is filled must not be collected meanwhile
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // each processor has free slots of its own; those of the others are given back
	for _, c := range sizes {
		full(c.size, c.span, r.text)
		full(c.size, c.span, r.list)
	}
	*r = room{}
}

func full(size, span int, allocate func(size int) uintptr) {
	whole := span / size
	if size <= inlineMost {
		whole = (span - inlineBits) / size
	}
	var last uintptr
	run, seen := 0, 0 // objects in a row from a span's beginning; spans
	for taken := 0; taken < fillMost && seen < spans; taken += size {
		at := allocate(size)
		switch {
		case run > 0 && at == last+uintptr(size):
			run++
		case at%page == 0:
			run = 1
		default:
			run = 0
		}
		if last = at; run >= whole {
			seen, run = seen+1, 0
		}
	}
}
