package printertest

import (
	"io"
	"sync"
	"time"
)

// Config describes the printer.
type Config struct {
	Columns, Dots int  // of a line
	RealTime      bool // it answers DLE EOT
	InOrder       bool // it answers GS r
	AutoBack      bool // it answers GS a
	Kanji         bool // from power-on it takes two high bytes for one character
	Buffer        int  // bytes it takes beyond what it has worked through; 0 = 4096
	Stops         bool // with a full buffer it takes nothing, as on USB; otherwise what it has no room for is lost while it cannot print
	Rate          int  // bytes it works through in a second; 0 = any number
}

// Fault is what keeps a printer from printing.
type Fault int

// The faults.
const (
	PaperOut Fault = iota
	CoverOpen
	CutterStuck
	faults
)

// Printer is a printer and the paper that came out of it. Every method is safe for concurrent use.
type Printer struct {
	cfg   Config
	cable chan struct{} // held while a cable is served

	mu      sync.Mutex
	wake    *sync.Cond // something of what is below has changed
	queue   []byte     // received, not worked through
	scan    []byte     // the beginning of a real-time command
	answers []byte     // not sent yet
	faulty  [faults]bool
	nearEnd bool
	mute    bool
	left    int  // bytes until the paper ends, negative = never
	dip     int  // bytes until its power fails for a moment; 0 = it does not
	busy    int  // bytes until it stops, and seems to be well; negative = never
	auto    bool // GS a is switched on
	worked  int
	machine machine
}

// New returns a printer that is switched on and has paper.
func New(cfg Config) *Printer {
	if cfg.Buffer == 0 {
		cfg.Buffer = 4096
	}
	p := &Printer{cfg: cfg, cable: make(chan struct{}, 1), left: -1, busy: -1}
	p.wake = sync.NewCond(&p.mu)
	p.machine = machine{columns: cfg.Columns, dots: cfg.Dots, kanjiFirst: cfg.Kanji, answer: p.command}
	p.machine.reset()
	return p
}

// Take works through bytes at once and returns the answers.
func (p *Printer) Take(data []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range data {
		p.receive(b)
		for p.work() {
		}
	}
	out := p.answers
	p.answers = nil
	return out
}

// Serve is the printer at the end of a cable until reading from it fails. The printer goes on with what it has received when it is
// served again; an earlier cable is read to its end before the next.
func (p *Printer) Serve(cable io.ReadWriter) {
	p.cable <- struct{}{}
	defer func() { <-p.cable }()
	ended := false
	var done sync.WaitGroup
	done.Go(func() { p.print(&ended) })
	done.Go(func() { p.reply(&ended, cable) })
	buf := make([]byte, 256)
	for {
		n, err := cable.Read(buf)
		p.mu.Lock()
		for _, b := range buf[:n] {
			for len(p.queue)+len(p.scan) >= p.cfg.Buffer && (p.ready() || p.cfg.Stops) {
				p.wake.Wait()
			}
			p.receive(b)
		}
		ended = err != nil
		p.wake.Broadcast()
		p.mu.Unlock()
		if err != nil {
			break
		}
	}
	done.Wait()
}

// print works through what has been received.
func (p *Printer) print(ended *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.queue) == 0 || !p.works() {
			if *ended {
				return
			}
			p.wake.Wait()
		}
		if p.cfg.Rate > 0 {
			p.mu.Unlock()
			<-time.After(time.Second / time.Duration(p.cfg.Rate))
			p.mu.Lock()
		}
		p.work()
		p.wake.Broadcast()
	}
}

// reply sends the answers.
func (p *Printer) reply(ended *bool, cable io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.answers) == 0 {
			if *ended {
				return
			}
			p.wake.Wait()
		}
		out := p.answers
		p.answers = nil
		p.mu.Unlock()
		_, err := cable.Write(out)
		p.mu.Lock()
		if err != nil {
			return
		}
	}
}

// receive takes a byte from the cable. A real-time command is obeyed at once, wherever it stands.
func (p *Printer) receive(b byte) {
	p.scan = append(p.scan, b)
	switch {
	case p.scan[0] != 0x10, len(p.scan) == 2 && b != 0x04:
	case len(p.scan) < 3:
		return
	default:
		p.realTime(b)
		p.scan = p.scan[:0]
		return
	}
	if len(p.queue)+len(p.scan) <= p.cfg.Buffer {
		p.queue = append(p.queue, p.scan...)
	}
	p.scan = p.scan[:0]
	p.wake.Broadcast()
}

// work works through one byte; it returns false when there is none, or it cannot.
func (p *Printer) work() bool {
	if len(p.queue) == 0 || !p.works() {
		return false
	}
	b := p.queue[0]
	p.queue = p.queue[1:]
	p.machine.take(b)
	p.worked++
	if p.busy > 0 {
		p.busy--
	}
	if p.left > 0 {
		p.left--
	}
	if p.left == 0 {
		p.left = -1
		p.set(PaperOut, true)
	}
	if p.dip > 0 {
		if p.dip--; p.dip == 0 {
			p.restart()
		}
	}
	return true
}

func (p *Printer) ready() bool { return p.faulty == [faults]bool{} }

func (p *Printer) works() bool { return p.ready() && p.busy != 0 }

func bit(on bool, value byte) byte {
	if on {
		return value
	}
	return 0
}

// realTime answers DLE EOT n.
func (p *Printer) realTime(n byte) {
	if !p.cfg.RealTime {
		return
	}
	const fixed = 0x12
	switch n {
	case 1:
		p.say(fixed | bit(!p.ready(), 0x08))
	case 2:
		p.say(fixed | bit(p.faulty[CoverOpen], 0x04) | bit(p.faulty[PaperOut], 0x20) | bit(p.faulty[CutterStuck], 0x40))
	case 3:
		p.say(fixed | bit(p.faulty[CutterStuck], 0x08))
	case 4:
		p.say(fixed | bit(p.nearEnd || p.faulty[PaperOut], 0x0c) | bit(p.faulty[PaperOut], 0x60))
	}
}

// command obeys a command that asks something, in its turn.
func (p *Printer) command(name string, n byte) {
	switch {
	case name == "GS r" && n == 1 && p.cfg.InOrder:
		p.say(bit(p.nearEnd, 0x03))
	case name == "GS a" && p.cfg.AutoBack:
		p.auto = n != 0
		p.block()
	case name == "ESC @":
		p.auto = false
	}
}

// block sends the four bytes of GS a.
func (p *Printer) block() {
	if p.auto {
		p.say(0x10|bit(!p.ready(), 0x08)|bit(p.faulty[CoverOpen], 0x20), bit(p.faulty[CutterStuck], 0x08),
			bit(p.nearEnd || p.faulty[PaperOut], 0x03)|bit(p.faulty[PaperOut], 0x0c), 0x0f)
	}
}

func (p *Printer) say(b ...byte) {
	if !p.mute {
		p.answers = append(p.answers, b...)
	}
	p.wake.Broadcast()
}

func (p *Printer) set(f Fault, on bool) {
	if p.faulty[f] != on {
		p.faulty[f] = on
		p.block()
		p.wake.Broadcast()
	}
}

// Set makes a fault, or ends it.
func (p *Printer) Set(f Fault, on bool) { p.locked(func() { p.set(f, on) }) }

// BusyAfter keeps the printer from working when it has worked through n more bytes, without a fault; it works on for a negative n.
func (p *Printer) BusyAfter(n int) { p.locked(func() { p.busy = n }) }

// PaperOutAfter ends the paper when n more bytes have been worked through; it does not end for a negative n.
func (p *Printer) PaperOutAfter(n int) { p.locked(func() { p.left = n }) }

// NearEnd says that the paper ends soon.
func (p *Printer) NearEnd(is bool) { p.locked(func() { p.nearEnd = is; p.block() }) }

// Mute keeps the printer from answering anything.
func (p *Printer) Mute(is bool) { p.locked(func() { p.mute = is }) }

// PowerCycle switches the printer off and on: it forgets everything but its paper.
func (p *Printer) PowerCycle() { p.locked(p.restart) }

func (p *Printer) restart() {
	p.queue, p.scan, p.answers, p.auto = nil, nil, nil, false
	p.machine.reset()
}

// DipAfter lets the power fail for a moment when n more bytes have been worked through: what it has received and not worked through is lost.
func (p *Printer) DipAfter(n int) { p.locked(func() { p.dip = n }) }

// Worked is how many bytes have been worked through.
func (p *Printer) Worked() (n int) {
	p.locked(func() { n = p.worked })
	return n
}

// Idle says whether all that was received has been worked through.
func (p *Printer) Idle() (is bool) {
	p.locked(func() { is = len(p.queue) == 0 })
	return is
}

func (p *Printer) locked(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.wake.Broadcast()
}
