package prompts

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"posagent/agent/checkout/drive"
	"posagent/device/keypad/entry"
)

// Options make a Counter. Show and Stop are required.
type Options struct {
	// Show puts a face on the screen, in place of the one before. It must not block for long, and
	// may leave the face out where the sale is over.
	Show func(Face)
	// Stop asks to stop the sale that runs, if one does: the customer's wish. sale names the one that
	// is meant, "" = whichever runs. It must not block.
	Stop func(sale string)
	// Ready says whether somebody can answer: a pad is there. Nil = always.
	Ready func() bool
	Log   *slog.Logger
}

// Counter asks, one dialogue at a time. Its methods are safe for concurrent use.
type Counter struct {
	o Options

	mu   sync.Mutex
	now  *asked
	turn uint64 // of the face that was shown last
}

// asked is a dialogue and who waits for its end.
type asked struct {
	d    *dialogue
	over chan struct{} // closed when it has ended
}

var _ drive.Prompter = (*Counter)(nil)

// New makes a Counter.
func New(o Options) *Counter {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "counter")
	return &Counter{o: o}
}

// Ready implements drive.Prompter.
func (c *Counter) Ready() bool { return c.o.Ready == nil || c.o.Ready() }

// Ask implements drive.Prompter: it returns when a person has answered, has cancelled, or ctx has
// ended. The checkout has one sale at a time that asks; a second dialogue ends the first.
func (c *Counter) Ask(ctx context.Context, q drive.Question) (drive.Answer, error) {
	a := &asked{d: newDialogue(q), over: make(chan struct{})}
	c.mu.Lock()
	if c.now != nil {
		c.now.end(context.Canceled)
	}
	c.now = a
	c.shown(a)
	c.mu.Unlock()
	if q.After > 0 {
		defer time.AfterFunc(q.After, func() { c.unanswered(a) }).Stop()
	}
	select {
	case <-a.over:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.end(ctx.Err())
	if c.now == a {
		c.now = nil
	}
	ans, err := a.d.answer, a.d.err
	a.d.answer = drive.Answer{}
	if err != nil {
		return drive.Answer{}, err
	}
	return ans, nil
}

// unanswered takes the default of a dialogue that nobody has touched.
func (c *Counter) unanswered(a *asked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == a {
		a.d.takeDefault()
		c.shown(a)
	}
}

// end ends a dialogue that is not answered yet. The caller holds mu.
func (a *asked) end(err error) {
	if err != nil && !a.d.ended() {
		a.d.press(entry.Cancel) // what was typed is wiped
		a.d.err = err
	}
	a.closed()
}

// closed tells who waits, once. The caller holds mu.
func (a *asked) closed() {
	select {
	case <-a.over:
	default:
		if a.d.ended() {
			close(a.over)
		}
	}
}

// shown shows what is asked. The caller holds mu, so that a later face is never overtaken.
func (c *Counter) shown(a *asked) {
	if a.d.ended() {
		a.closed()
		return
	}
	c.turn++
	c.o.Show(c.face())
}

// face is what is asked now. The caller holds mu.
func (c *Counter) face() Face {
	f := c.now.d.face()
	f.Turn = c.turn
	return f
}

// Press takes a key of a person.
func (c *Counter) Press(k entry.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.now
	switch {
	case a != nil && !a.d.ended():
		a.d.press(k)
		c.shown(a)
	case k == entry.Cancel:
		c.o.Stop("")
	}
}

// Tap takes a key that a person presses on a picture of a face, or of a sale that runs (turn 0). It
// counts only for what the picture shows: once another key was pressed, or something else is asked,
// it does nothing.
func (c *Counter) Tap(sale string, turn uint64, k entry.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.now
	switch {
	case sale == "":
	case a != nil && !a.d.ended():
		if sale == a.d.q.Sale && turn == c.turn {
			a.d.press(k)
			c.shown(a)
		}
	case k == entry.Cancel && turn == 0:
		c.o.Stop(sale)
	}
}

// Face is what is asked now; false = nothing is.
func (c *Counter) Face() (Face, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || c.now.d.ended() {
		return Face{}, false
	}
	return c.face(), true
}
