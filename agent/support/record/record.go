package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Item is one thing that a recorded terminal tells. One of its fields is set.
type Item struct {
	Log     json.RawMessage `json:"log,omitempty"` // a line of the log: time, level, msg and attributes
	Figures *Figures        `json:"figures,omitempty"`
	Lost    int             `json:"lost,omitempty"` // lines that were too long, or that the reader was too slow for
}

const (
	mostReaders = 4
	mostBytes   = 1 << 20 // that wait for one reader
	longestLine = 8 << 10
)

// ErrBusy: there are as many readers as there may be. Decide with errors.Is.
var ErrBusy = errors.New("record: four recordings run already")

// Recorder passes a log on to its readers. It is safe for concurrent use.
type Recorder struct {
	reading atomic.Int32

	mu      sync.Mutex
	readers map[*Reader]bool
}

// New makes a Recorder that nobody reads.
func New() *Recorder { return &Recorder{readers: map[*Reader]bool{}} }

// Handler returns next, which goes on as before, and lets readers see every line at every level.
func (r *Recorder) Handler(next slog.Handler) slog.Handler {
	return handler{next, slog.NewJSONHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}), r}
}

// Follow returns a reader of everything that is logged from now on. It fails with ErrBusy. Close ends it.
func (r *Recorder) Follow() (*Reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.readers) >= mostReaders {
		return nil, ErrBusy
	}
	to := &Reader{of: r, news: make(chan struct{}, 1)}
	r.readers[to] = true
	r.reading.Store(int32(len(r.readers)))
	return to, nil
}

// Write takes one line of JSON from the handler. It always succeeds.
func (r *Recorder) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for to := range r.readers {
		to.take(line)
	}
	return len(line), nil
}

// handler is a log's handler with a second one for readers.
type handler struct {
	next, lines slog.Handler
	to          *Recorder
}

// Enabled implements slog.Handler.
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.to.reading.Load() > 0 || h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if h.to.reading.Load() > 0 {
		_ = h.lines.Handle(ctx, r.Clone()) // its writer does not fail
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(list []slog.Attr) slog.Handler {
	return handler{h.next.WithAttrs(list), h.lines.WithAttrs(list), h.to}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.next.WithGroup(name), h.lines.WithGroup(name), h.to}
}

// Reader reads what one recording is told. One goroutine may use it.
type Reader struct {
	of   *Recorder
	news chan struct{} // holds a token while something waits

	mu    sync.Mutex
	lines [][]byte
	bytes int
	lost  int
}

func (r *Reader) take(line []byte) {
	line = bytes.TrimSpace(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(line) > longestLine || r.bytes+len(line) > mostBytes {
		r.lost++
	} else {
		r.lines, r.bytes = append(r.lines, bytes.Clone(line)), r.bytes+len(line)
	}
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// Next waits for the next item. It fails with ctx.Err() alone.
func (r *Reader) Next(ctx context.Context) (Item, error) {
	for {
		if it, ok := r.pop(); ok {
			return it, nil
		}
		select {
		case <-r.news:
		case <-ctx.Done():
			return Item{}, ctx.Err()
		}
	}
}

func (r *Reader) pop() (it Item, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.lines) > 0:
		it.Log, r.lines = r.lines[0], r.lines[1:]
		r.bytes -= len(it.Log)
	case r.lost > 0:
		it.Lost, r.lost = r.lost, 0
	default:
		return it, false
	}
	return it, true
}

// Close ends the reader.
func (r *Reader) Close() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	delete(r.of.readers, r)
	r.of.reading.Store(int32(len(r.of.readers)))
}
