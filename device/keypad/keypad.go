package keypad

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"posagent/device/keypad/entry"
)

const (
	backoffMin = 100 * time.Millisecond
	backoffMax = 2 * time.Second
	maxEvents  = 64 // of one read
)

// Config describes a keypad.
type Config struct {
	Path   string        // /dev/input/by-id/…-event-kbd, which follows the pad; /dev/input/event3 may be another device tomorrow
	Map    Map           // keys besides the usual ones, or instead of them; entry.None takes one away
	Bounce time.Duration // a key that closes again within it is still the same press; 0 = 30 ms. Less for a pad whose key 00 types two zeros
}

// Status is what is known of a pad.
type Status struct {
	Path  string
	Name  string      // what the device calls itself
	Open  bool        // its keys are read
	Since time.Time   // when it was opened, or found to be away; zero before the first look
	Opens uint64      // how often it was opened
	Lacks []entry.Key // keys that a person will miss: Correct, Cancel

	Presses     uint64    // delivered or waiting
	Bounced     uint64    // contacts that closed again at once
	Flooded     uint64    // presses of a contact that floods: more than 8 in a second
	Overflows   uint64    // the kernel's queue ran over
	Lost        uint64    // presses that their reader did not take, or that waited when the pad was pulled
	Unknown     uint64    // presses of keys that are nothing here
	UnknownCode uint16    // the last of them, for map
	Held        time.Time // since when a key is down; zero = none is

	LastError string // why it is not open
	Reason    error  // the same, to be judged by errors.Is; nil while it is open
}

// Stuck says whether a key has been down for longer than a person holds one.
func (s Status) Stuck(now time.Time) bool { return !s.Held.IsZero() && now.Sub(s.Held) >= heldTooLong }

// Pad is a keypad that may or may not be there.
type Pad struct {
	cfg   Config
	keys  Map
	open  func(path string) (device, error)
	queue *queue

	mu     sync.Mutex
	status Status
	past   counts // of the openings before this one
}

// New describes a pad; it opens nothing. It fails when no key of the map confirms, or a digit has none.
func New(cfg Config) (*Pad, error) {
	if cfg.Path == "" {
		return nil, errors.New("keypad: no device is named")
	}
	if cfg.Bounce <= 0 {
		cfg.Bounce = defaultBounce
	}
	all := bits{}
	for i := range all {
		all[i] = 0xff
	}
	keys := usual().with(cfg.Map)
	if lacks := keys.lacks(&all, needed()); len(lacks) > 0 {
		return nil, fmt.Errorf("keypad: map leaves no key for %s", list(lacks))
	}
	return &Pad{cfg: cfg, keys: keys, open: openEvdev, queue: newQueue(), status: Status{Path: cfg.Path}}, nil
}

// Look returns what the device calls itself, and what would keep Run from reading it: os.ErrNotExist, os.ErrPermission,
// ErrNotInput, ErrNoKeys. It takes no key from whoever reads the device.
func (c Config) Look() (name string, err error) {
	p, err := New(c)
	if err != nil {
		return "", err
	}
	d, err := p.open(c.Path)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", c.Path, err)
	}
	defer d.Close()
	name, _, err = p.examine(d)
	return name, err
}

// Status returns what is known of the pad.
func (p *Pad) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Lacks = slices.Clone(s.Lacks)
	s.Lost = p.queue.losses()
	return s
}

// Run reads the pad and calls press with each key, one at a time, until ctx ends; it returns nil then, once press has returned.
// Where the pad is away, is no keypad or is taken, it waits and tries again. report, which may be nil, is called when the pad was
// opened, when it went away, when there is another reason why it is not open and, once a second at most, when keys were
// lost. A pad is run once at a time.
func (p *Pad) Run(ctx context.Context, press func(entry.Key), report func(Status)) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.keepOpen(ctx, func() {
			if report != nil {
				report(p.Status())
			}
		})
	}()
	for {
		k, ok := p.queue.next(ctx)
		if !ok {
			<-ended
			return nil
		}
		press(k)
	}
}

// keepOpen opens the pad again and again until ctx ends.
func (p *Pad) keepOpen(ctx context.Context, report func()) {
	for wait := backoffMin; ctx.Err() == nil; wait = min(wait*2, backoffMax) {
		d, err := p.open(p.cfg.Path)
		if err == nil {
			began := time.Now()
			stop := context.AfterFunc(ctx, func() { _ = d.Close() })
			err = p.read(d, report)
			stop()
			_ = d.Close()
			if time.Since(began) > backoffMax { // it was not only opened to be lost again
				wait = backoffMin
			}
		}
		if ctx.Err() != nil {
			break
		}
		if p.away(fmt.Errorf("keypad %s: %w", p.cfg.Path, err)) {
			report()
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	p.away(errStopped)
}

// examine says what the device is, and fails with ErrNoKeys where nothing can be typed on it.
func (p *Pad) examine(d device) (name string, lacks []entry.Key, err error) {
	name, err = d.Name()
	if err != nil {
		return "", nil, err
	}
	has, err := d.Has()
	if err != nil {
		return name, nil, err
	}
	if missing := p.keys.lacks(has, needed()); len(missing) > 0 {
		return name, nil, fmt.Errorf("%q has no key for %s: %w", name, list(missing), ErrNoKeys)
	}
	return name, p.keys.lacks(has, useful()), nil
}

// read takes a device into use and reads it until it fails, or is closed.
func (p *Pad) read(d device, report func()) error {
	name, lacks, err := p.examine(d)
	if err != nil {
		return err
	}
	if err := d.Own(); err != nil {
		return err
	}
	// What was pressed before the keys were ours may stand on the console too, and answers nothing that is asked now.
	if err := d.Flush(); err != nil {
		return translate(err)
	}
	f := newFilter(p.keys, p.cfg.Bounce)
	if err := p.resync(d, f); err != nil {
		return err
	}
	p.opened(name, lacks, f)
	report()
	buf, told := make([]byte, maxEvents*int(native)), time.Time{}
	for {
		n, err := d.Read(buf)
		if err != nil {
			return translate(err)
		}
		if n == 0 {
			return translate(io.EOF)
		}
		events, err := decode(buf[:n], native)
		if err != nil {
			return err
		}
		clear(buf[:n])
		gaps, err := p.feed(d, f, events)
		if err != nil {
			return err
		}
		if now := time.Now(); gaps && now.Sub(told) >= rateWindow {
			told = now
			report()
		}
	}
}

func (p *Pad) resync(d device, f *filter) error {
	closed, err := d.Closed()
	if err != nil {
		return err
	}
	f.resync(closed, time.Now())
	return nil
}

// feed turns events into keys of the queue. gaps says whether keys were lost.
func (p *Pad) feed(d device, f *filter, events []event) (gaps bool, err error) {
	defer p.count(f)
	now := time.Now()
	for _, e := range events {
		k, again := f.feed(e, now)
		if again {
			// The state is newer than the events that were read with this one: they are lost with those before them.
			err := p.resync(d, f)
			p.queue.add(entry.Gap)
			return true, err
		}
		if k != entry.None {
			p.queue.add(k)
		}
		gaps = gaps || k == entry.Gap
	}
	return gaps, nil
}

func (p *Pad) opened(name string, lacks []entry.Key, f *filter) {
	p.mu.Lock()
	s := &p.status
	s.Name, s.Lacks, s.Open, s.Since, s.LastError, s.Reason = name, lacks, true, time.Now(), "", nil
	s.Opens++
	p.past = counts{s.Presses, s.Bounced, s.Flooded, s.Overflows, s.Unknown, s.UnknownCode}
	p.mu.Unlock()
	p.count(f)
}

// count brings the status up to date.
func (p *Pad) count(f *filter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, c := &p.status, f.counts
	s.Presses, s.Bounced = p.past.presses+c.presses, p.past.bounced+c.bounced
	s.Flooded, s.Overflows = p.past.flooded+c.flooded, p.past.overflows+c.overflows
	s.Unknown = p.past.unknown + c.unknown
	if c.unknown > 0 {
		s.UnknownCode = c.unknownCode
	}
	s.Held = f.held()
}

// away notes that the pad is not read, and why. It returns whether that is news.
func (p *Pad) away(err error) (news bool) {
	p.mu.Lock()
	s := &p.status
	was, why := s.Open, s.LastError
	if was || s.Since.IsZero() {
		s.Since = time.Now()
	}
	s.Open, s.Held, s.LastError, s.Reason = false, time.Time{}, err.Error(), err
	news = was || why != s.LastError
	p.mu.Unlock()
	if was {
		p.queue.drop()
	}
	return news
}
