package line

import (
	"io"
	"sync"
	"time"
)

// Conn is an open serial line. Read and Write may be called by one goroutine each; Close and SetReadDeadline by any.
// After Close, or after the device was lost, every call gives os.ErrClosed.
type Conn = interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// Config describes a line.
type Config struct {
	Path         string        // /dev/serial/by-id/... (followed at each opening), or usb:VID:PID[:SERIAL]
	Baud         int           // 0 = 9600
	StopBits     int           // 1 or 2; 0 = 2. Always 8 data bits, no parity
	WriteTimeout time.Duration // beyond the time the bytes themselves take; 0 = 5 s
	LockDir      string        // "" = /run/lock
	SysDir       string        // where the kernel describes USB devices; "" = /sys
}

// Stats are the counters of a port since New.
type Stats struct {
	Path           string
	Open           bool
	OpenedAt       time.Time // of the current or the last connection
	Opens          uint64
	ReadBytes      uint64
	WrittenBytes   uint64
	Errors         uint64 // connections lost to an error
	WriteTimeouts  uint64
	Altered        uint64 // how often another program had changed speed or modes of the open line; they were set again
	AlteredAt      time.Time
	AbandonedNow   int    // writes that have not come back
	LastError      string // why the line is or was not open
	Reason         error  // the same, to be judged by errors.Is; nil while it is open
	WaitingForLock bool
}

// Port is a serial line that may or may not be there.
type Port struct {
	cfg Config

	mu    sync.Mutex
	stats Stats
}

// New describes a port; it opens nothing.
func New(cfg Config) *Port {
	if cfg.Baud == 0 {
		cfg.Baud = 9600
	}
	if cfg.StopBits == 0 {
		cfg.StopBits = 2
	}
	if cfg.WriteTimeout <= 0 {
		cfg.WriteTimeout = 5 * time.Second
	}
	if cfg.LockDir == "" {
		cfg.LockDir = "/run/lock"
	}
	return &Port{cfg: cfg, stats: Stats{Path: cfg.Path}}
}

// Stats returns the counters.
func (p *Port) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *Port) count(f func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.stats)
}
