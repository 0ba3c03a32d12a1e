package devices

import (
	"context"
	"strings"
	"sync"
	"time"

	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
	"posagent/ecr"
)

// Options make a Panel.
type Options struct {
	// Screen is what the customer sees; nil = nothing.
	Screen display.Screen
	// Ready says whether a person can press keys; nil = no.
	Ready func() bool
	// Print stores lines for the printer; nil = there is none. Its errors are those of
	// ecr.Panel.Print.
	Print    func(ctx context.Context, lines []ecr.PrintLine) error
	Language string
	Sandbox  bool
}

// Panel is the screen of the checkout, and an ecr.Panel of its registers.
type Panel struct {
	o Options

	mu   sync.Mutex
	base display.View // of the checkout
	now  *notice      // of a register, on the screen; nil = none
	turn uint64       // of what was shown last
}

var (
	_ display.Screen = (*Panel)(nil)
	_ ecr.Panel      = (*Panel)(nil)
)

// name stands in a scene in the place of a sale's: a register's question has keys, too.
const name = "register"

// notice is what a register shows or asks.
type notice struct {
	ecr.Notice
	typing  *entry.Entry // of WantsDigits
	over    chan struct{}
	pressed ecr.Pressed
	err     error
	timer   *time.Timer // of a notice that wants nothing; nil = it stays
}

// New makes a Panel.
func New(o Options) *Panel { return &Panel{o: o} }

// Show implements display.Screen: it takes a view of the checkout.
func (p *Panel) Show(v display.View) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = v
	if p.now != nil && free(v) {
		return nil // what a register shows stays
	}
	p.end(busy())
	return p.o.Screen.Show(v)
}

// free says that a view of the checkout speaks of no sale, nor of how one ended.
func free(v display.View) bool {
	return v.Kind == scene.Idle || v.Kind == scene.Starting || v.Kind == scene.NotReady || v.Kind == scene.Message && v.Title == "" && v.Of.Sale == "" && v.Code == nil
}

func busy() error       { return &ecr.Refusal{Code: ecr.Busy} }
func impossible() error { return &ecr.Refusal{Code: ecr.Impossible} }

// Notify implements ecr.Panel.
func (p *Panel) Notify(ctx context.Context, n ecr.Notice) (ecr.Pressed, error) {
	one := &notice{Notice: n, over: make(chan struct{})}
	if n.Wants == ecr.WantsDigits {
		e, err := entry.New(entry.Prompt{Kind: entry.Digits, Min: int64(n.Min), Max: int64(n.Max), Mask: n.Masked})
		if err != nil {
			return ecr.Pressed{}, impossible()
		}
		one.typing = e
	}
	if err := p.put(one); err != nil || n.Wants == ecr.WantsNothing {
		return ecr.Pressed{}, err
	}
	late := time.NewTimer(n.For)
	defer late.Stop()
	select {
	case <-one.over:
	case <-ctx.Done():
	case <-late.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == one {
		one.pressed = ecr.Pressed{Key: ecr.KeyTimeout}
		p.end(ctx.Err())
		_ = p.o.Screen.Show(p.base) // its error is the screen's own
	}
	return one.pressed, one.err
}

// put puts a notice on the screen, in place of the one before.
func (p *Panel) put(n *notice) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.o.Screen == nil, n.Wants != ecr.WantsNothing && (p.o.Ready == nil || !p.o.Ready()):
		return impossible()
	case !free(p.base):
		return busy()
	}
	p.end(busy())
	if n.Wants == ecr.WantsNothing && len(n.Lines) == 0 {
		return p.o.Screen.Show(p.base)
	}
	p.now = n
	if n.Wants == ecr.WantsNothing && n.For > 0 {
		n.timer = time.AfterFunc(n.For, func() { p.expire(n) })
	}
	return p.draw()
}

// expire takes a notice off whose time is over.
func (p *Panel) expire(n *notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == n {
		p.end(nil)
		_ = p.o.Screen.Show(p.base) // its error is the screen's own
	}
}

// end ends the notice on the screen, if there is one. The caller holds mu, and shows something else.
func (p *Panel) end(err error) {
	n := p.now
	if n == nil {
		return
	}
	p.now = nil
	if n.typing != nil {
		n.typing.Expire() // what was typed is wiped
	}
	if n.timer != nil {
		n.timer.Stop()
	}
	n.err = err
	close(n.over)
}

// draw shows the notice. The caller holds mu.
func (p *Panel) draw() error {
	n := p.now
	p.turn++
	v := display.View{Sandbox: p.o.Sandbox, Language: p.o.Language}
	if n.Wants != ecr.WantsNothing {
		v.Of = scene.Origin{Sale: name, Turn: p.turn, Answer: true}
	}
	if n.typing != nil {
		v.Kind = scene.Prompt
		typed := n.typing.View()
		v.Entry = scene.Entry{Label: strings.Join(n.Lines, " "), Typed: typed.Text, Min: n.Min, Max: n.Max, Masked: n.Masked, Fault: FaultOf(typed.Note)}
	} else if len(n.Lines) > 0 {
		v.Title, v.Text = n.Lines[0], strings.Join(n.Lines[1:], " ")
	}
	return p.o.Screen.Show(v)
}

// FaultOf is what a screen says of a note. A digit that was not taken is none: the entry has all that it can have.
func FaultOf(note entry.Note) scene.Fault {
	switch note {
	case entry.TooShort:
		return scene.TooFew
	case entry.TooSmall:
		return scene.TooLittle
	case entry.TooLarge:
		return scene.TooMuch
	case entry.Lost:
		return scene.Again
	}
	return scene.NoFault
}

// Press takes a key of the pad. It reports false where no register asks: then it is the checkout's.
func (p *Panel) Press(k entry.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.press(k)
}

// Tap takes a key of a picture: of a sale, at a turn. It reports false where the picture is the
// checkout's. A key of an older picture does nothing.
func (p *Panel) Tap(sale string, turn uint64, k entry.Key) bool {
	if sale != name {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn == p.turn {
		p.press(k)
	}
	return true
}

// press takes a key. The caller holds mu.
func (p *Panel) press(k entry.Key) bool {
	n := p.now
	if n == nil || n.Wants == ecr.WantsNothing {
		return false
	}
	if n.typing != nil {
		n.typing.Press(k)
		switch n.typing.View().Phase {
		case entry.Typing:
			_ = p.draw() // its error is the screen's own
			return true
		case entry.Accepted:
			v, _ := n.typing.Take()
			n.pressed = ecr.Pressed{Key: ecr.KeyConfirm, Digits: string(v.Digits)}
			v.Wipe()
		default:
			n.pressed = ecr.Pressed{Key: ecr.KeyStop}
		}
	} else {
		keys := map[entry.Key]ecr.PanelKey{entry.Confirm: ecr.KeyConfirm, entry.Correct: ecr.KeyCorrect, entry.Cancel: ecr.KeyStop}
		if n.pressed.Key = keys[k]; n.pressed.Key == ecr.KeyNone {
			return true
		}
	}
	p.end(nil)
	_ = p.o.Screen.Show(p.base) // its error is the screen's own
	return true
}

// Print implements ecr.Panel.
func (p *Panel) Print(ctx context.Context, lines []ecr.PrintLine) error {
	if p.o.Print == nil {
		return impossible()
	}
	return p.o.Print(ctx, lines)
}
