package printer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// Conn is an open device. Read fails with os.ErrDeadlineExceeded when nothing has come by its deadline. A Write that may
// hang is bounded where the device has SetWriteDeadline, or bounds it itself.
type Conn = interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// Opener opens the device, and waits for it until ctx ends.
type Opener = func(ctx context.Context) (Conn, error)

// Config describes a printer.
type Config struct {
	Profile Profile
	Open    Opener
	Bound   time.Duration // of one Print or Check; 0 = 30 s
	Answer  time.Duration // for the device to be there, to take bytes or to answer; 0 = 5 s
	Sure    bool          // what the device has taken is kept: a file
	Torn    string        // printed below what is left of a document that was cut off, before the next one; "" = nothing
}

// Stats are the counters of a printer since New.
type Stats struct {
	Open    bool
	Printed uint64 // whole documents
	Failed  uint64 // others
	Torn    uint64 // of these, with ErrUnknownEnd
	NearEnd bool   // as it said last, the paper ends soon
	Blind   bool   // it does not tell when a document is on the paper
	Reason  error  // of the last Print or Check, nil after a success
}

// Printer prints one document after the other. Every method is safe for concurrent use.
type Printer struct {
	cfg  Config
	enc  encoder
	torn []byte // prints Config.Torn

	turn chan struct{} // held while something is done with the device

	// Of the holder of turn.
	talk   *dialogue // nil = the device is not open
	before before
	owed   int  // answers that a later dialogue may hear
	tells  bool // the printer has answered GS r, which it was asked on trial
	closed bool

	mu    sync.Mutex
	stats Stats
	hangs bool // a call of the device has not come back in time
}

// New describes a printer; it opens nothing. It fails on the faults of the profile, and on a Torn that is no line of text.
func New(cfg Config) (*Printer, error) {
	if err := cfg.Profile.Validate(); err != nil {
		return nil, fmt.Errorf("printer profile: %w", err)
	}
	if cfg.Bound <= 0 {
		cfg.Bound = 30 * time.Second
	}
	if cfg.Answer <= 0 {
		cfg.Answer = 5 * time.Second
	}
	p := &Printer{cfg: cfg, enc: newEncoder(cfg.Profile), turn: make(chan struct{}, 1), before: unknown, owed: owedAtFirst}
	end := Document{Lines: []Line{{Kind: Cut}}}
	if cfg.Torn != "" {
		end.Lines = append([]Line{{Text: cfg.Torn, Align: Centre, Bold: true}}, end.Lines...)
	}
	pieces, err := p.enc.pieces(end)
	if err != nil || len(pieces) > 1 {
		return nil, fmt.Errorf("torn: %d bytes, want one line", len(cfg.Torn))
	}
	p.torn = slices.Concat(pieces...)
	return p, nil
}

// Print prints a document. Before it the printer is asked how it is, during it after each kilobyte. Errors: ErrDocument, ErrPaperOut,
// ErrOffline, ErrStuck, os.ErrClosed and the context's: nothing was printed. With ErrUnknownEnd as well, some of it may have been.
func (p *Printer) Print(ctx context.Context, d Document) error {
	pieces, err := p.enc.pieces(d)
	if err == nil {
		err = p.do(ctx, func(ctx context.Context, j *job) error { return p.print(ctx, j, d, pieces) })
	}
	p.count(func(s *Stats) {
		switch s.Reason = err; {
		case err == nil:
			s.Printed++
		case errors.Is(err, ErrUnknownEnd):
			s.Torn++
			s.Failed++
		default:
			s.Failed++
		}
	})
	return err
}

// Check opens the device and asks the printer how it is; a printer without status commands is only opened. It prints nothing. Errors:
// as Print, but for ErrDocument and ErrUnknownEnd.
func (p *Printer) Check(ctx context.Context) error {
	err := p.do(ctx, func(ctx context.Context, j *job) error {
		return p.ready(ctx, j, func(context.Context) error { return nil })
	})
	p.count(func(s *Stats) { s.Reason = err })
	return err
}

// Stats returns the counters.
func (p *Printer) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *Printer) count(f func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.stats)
}

// Close lets the device go; every later call fails with os.ErrClosed. It fails with ErrStuck when the device does not come back.
func (p *Printer) Close() error {
	return p.do(context.Background(), func(context.Context, *job) error {
		p.closed = true
		p.drop()
		return nil
	})
}

// job is what is done with the device for one caller, who may have gone.
type job struct {
	mu          sync.Mutex
	begun, left bool
	conn        Conn

	over bool // under Printer.mu
}

// begin says that something of the document is sent from now on, unless the caller has gone.
func (j *job) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun = !j.left
	return j.begun
}

// leave says that the caller goes, and whether something of the document may have been sent.
func (j *job) leave() (begun bool, conn Conn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = true
	return j.begun, j.conn
}

func (j *job) use(c Conn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.conn = c
}

// grace is how long after its bound something may take that does not hang.
const grace = 500 * time.Millisecond

// do works with the device, alone, for at most Config.Bound. Work that hangs in a call of the device is left to itself, and keeps
// the device until that call comes back.
func (p *Printer) do(caller context.Context, work func(context.Context, *job) error) error {
	ctx, cancel := context.WithTimeout(caller, p.cfg.Bound)
	defer cancel()
	late := func(err error) error {
		if caller.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrOffline) {
			return fmt.Errorf("%w: not done within %v: %w", ErrStuck, p.cfg.Bound, err)
		}
		return err
	}
	if p.hanging() { // waited for once already
		return fmt.Errorf("%w: an earlier call of the device has not come back", ErrStuck)
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return late(ctx.Err())
	}
	j, done := &job{}, make(chan error, 1)
	go func() {
		err := os.ErrClosed
		if !p.closed {
			err = work(ctx, j)
		}
		p.mu.Lock()
		j.over, p.hangs = true, false
		p.mu.Unlock()
		done <- err
		<-p.turn
	}()
	select {
	case err := <-done:
		return late(err)
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return late(err)
	case <-timer.C:
	}
	begun, conn := j.leave()
	p.mu.Lock()
	over := j.over
	p.hangs = !over
	p.mu.Unlock()
	if over {
		return late(<-done)
	}
	if conn != nil {
		go func() { _ = conn.Close() }() // it may hang as well
	}
	err := fmt.Errorf("%w: a call of the device has not come back: %w", ErrStuck, ctx.Err())
	if begun {
		err = fmt.Errorf("%w: %w", ErrUnknownEnd, err)
	}
	return err
}

func (p *Printer) hanging() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hangs
}

// print prints a document, of which pieces are the bytes.
func (p *Printer) print(ctx context.Context, j *job, d Document, pieces [][]byte) error {
	if err := p.ready(ctx, j, p.start); err != nil {
		return err
	}
	if !j.begin() {
		p.drop()
		return ErrStuck
	}
	p.before = cutOff
	printed := p.send
	if len(d.Short) > 0 && !p.talk.tells() && !p.cfg.Sure {
		printed = func(ctx context.Context, _ [][]byte) error { return p.twice(ctx, d) }
	}
	if err := printed(ctx, pieces); err != nil {
		return err
	}
	p.before = ended
	p.note(nil)
	return nil
}

// twice prints a document on a printer that does not tell when it is on the paper: the short form follows once the printer has had the
// time for the rest, set up anew. Of a document that lost its middle it says what matters; one that tells after all needs none.
func (p *Printer) twice(ctx context.Context, d Document) error {
	body, end := d.split()
	first, err := p.enc.pieces(Document{Lines: body})
	if err != nil {
		return err
	}
	if err := p.send(ctx, first); err != nil {
		return err
	}
	told, err := p.talk.settled(ctx, worked(first))
	if err == nil && !told {
		err = p.talk.check(ctx)
	}
	if err != nil {
		p.note(err)
		return fmt.Errorf("%w, before its end: %w", ErrUnknownEnd, err)
	}
	p.tells = told
	p.count(func(s *Stats) { s.Blind = !told })
	if !told {
		end = slices.Concat([]Line{{Kind: Rule}}, d.Short, end)
	}
	last, err := p.enc.pieces(Document{Lines: end})
	if err != nil {
		return err
	}
	return p.send(ctx, append([][]byte{p.enc.start()}, last...))
}

// Times that a slow printer takes for a line of text and for a row of dots, and bounds of what is waited for.
const (
	lineTime = 80 * time.Millisecond
	dotTime  = 2500 * time.Microsecond
	minWork  = 500 * time.Millisecond
	maxWork  = 4 * time.Second
)

// worked is how long a printer works on pieces.
func worked(pieces [][]byte) (long time.Duration) {
	for _, piece := range pieces {
		if bytes.HasPrefix(piece, []byte{gs, 'v', '0'}) {
			long += time.Duration(int(piece[6])|int(piece[7])<<8) * dotTime
		} else {
			long += time.Duration(bytes.Count(piece, []byte{lf})) * lineTime
		}
	}
	return min(max(long, minWork), maxWork)
}

// send sends pieces, and asks after each of them how the printer is.
func (p *Printer) send(ctx context.Context, pieces [][]byte) error {
	for i, piece := range pieces {
		last, ahead := i == len(pieces)-1, 0
		if !last && p.talk.status&InOrder != 0 {
			ahead = 1 // the printer has something to do while the next piece comes
		}
		err := p.talk.write(ctx, piece)
		if err == nil {
			err = p.talk.mark(ctx, 1)
		}
		if err == nil {
			err = p.talk.await(ctx, ahead, false)
		}
		if err == nil && !last {
			err = ctx.Err()
		}
		if err != nil {
			p.note(err)
			return fmt.Errorf("%w, in part %d of %d: %w", ErrUnknownEnd, i+1, len(pieces), err)
		}
	}
	return nil
}

// note keeps what the printer said, and closes the device after an error of its own.
func (p *Printer) note(err error) {
	if p.talk != nil {
		p.count(func(s *Stats) { s.NearEnd = p.talk.now.nearEnd })
	}
	if err != nil && !usable(err) {
		p.tells = false // another printer may hang there
		p.drop()
	}
}

// ready opens the device if need be, asks how the printer is, and does then. A device that was open and turns out to be lost is opened
// again, once: nothing is printed yet.
func (p *Printer) ready(ctx context.Context, j *job, then func(context.Context) error) error {
	for again := p.talk != nil; ; again = false {
		err := p.greet(ctx, j)
		if err == nil {
			err = then(ctx)
		}
		p.note(err)
		if err == nil || !again || !errors.Is(err, errLost) && !errors.Is(err, errSilent) {
			return err
		}
	}
}

// greet opens the device and asks at once how the printer is.
func (p *Printer) greet(ctx context.Context, j *job) error {
	if p.talk == nil {
		opening, cancel := context.WithTimeout(ctx, p.cfg.Answer)
		defer cancel()
		conn, err := p.cfg.Open(opening)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotOpen, err)
		}
		status := p.cfg.Profile.Status
		if p.tells {
			status |= InOrder
		}
		p.talk = &dialogue{conn: conn, status: status, wait: p.cfg.Answer, owed: p.owed}
		p.count(func(s *Stats) { s.Open, s.Blind = true, !p.talk.tells() && !p.cfg.Sure })
	}
	j.use(p.talk.conn)
	if p.cfg.Profile.Status == NoStatus {
		return nil
	}
	if err := p.talk.drain(ctx, quiet); err != nil {
		return err
	}
	if p.cfg.Profile.Status&RealTime != 0 {
		return p.talk.check(ctx)
	}
	return p.talk.reach(ctx)
}

// start sets the printer up, after it has ended what an earlier document left unended.
func (p *Printer) start(ctx context.Context) error {
	out := p.enc.start()
	switch p.before {
	case unknown:
		out = slices.Concat(p.enc.rest(), out)
	case cutOff:
		out = slices.Concat(p.enc.rest(), out, p.torn, out)
	}
	if err := p.talk.write(ctx, out); err != nil {
		return err
	}
	return p.talk.reach(ctx)
}

// drop closes the device.
func (p *Printer) drop() {
	if p.talk != nil {
		p.owed = min(p.talk.owed, owedAtMost)
		_ = p.talk.conn.Close()
		p.talk = nil
		p.count(func(s *Stats) { s.Open = false })
	}
}
