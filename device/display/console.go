package display

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"posagent/device/qr"
)

// Options of a console.
type Options struct {
	Width  int  // characters in a line; 0 = 80
	Height int  // lines; 0 = no limit. Where a code needs the room, method and amount share a line and other texts go
	Color  bool // colours by escape sequences; without them the code is drawn in the terminal's own
	Plain  bool // no escape sequence at all: views follow each other, as in a log; overrides Color
	Light  bool // the terminal has dark characters on a light ground; matters without Color only
	Now    func() time.Time
	// Size is asked before each drawing for columns and lines, which a person may change; nil, or (0, 0), leaves Width and Height.
	Size func() (width, height int)
}

// Console draws views as text, in place unless Plain.
type Console struct {
	opts Options

	mu   sync.Mutex
	w    io.Writer
	view View
	last string // what was drawn last, without the seconds
}

var (
	_ Screen    = (*Console)(nil)
	_ Refresher = (*Console)(nil)
)

const (
	clearScreen = "\x1b[2J\x1b[H"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
	yellowBar   = "\x1b[1;38;5;16;48;5;226m"
	bold        = "\x1b[1m"
	reset       = "\x1b[0m"
)

// NewConsole returns a screen that writes to w. It writes nothing before the first Show.
func NewConsole(w io.Writer, opts Options) *Console {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Plain {
		opts.Color, opts.Height = false, 0
	}
	return &Console{opts: opts, w: w}
}

// around is the least that stands around a code in lines: SANDBOX, the amount, how long it is valid, and the cursor.
const around = 4

// resize asks how large the screen is now.
func (c *Console) resize() {
	if c.opts.Size == nil || c.opts.Plain {
		return
	}
	if w, h := c.opts.Size(); w > 0 && h > 0 {
		if w != c.opts.Width || h != c.opts.Height {
			c.last = "" // what was drawn lies elsewhere now
		}
		c.opts.Width, c.opts.Height = w, h
	}
}

// MaxModules is the largest code that fits, for qr.Options.
func (c *Console) MaxModules() int {
	if c.opts.Height <= 0 {
		return c.opts.Width
	}
	return min(c.opts.Width, max(0, 2*(c.opts.Height-around)))
}

// Show draws v. A plain console that would repeat itself but for the countdown stays silent.
func (c *Console) Show(v View) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view = v
	return c.draw()
}

// Refresh draws the current view again.
func (c *Console) Refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == "" {
		return nil // nothing was shown yet
	}
	return c.draw()
}

func (c *Console) draw() error {
	c.resize()
	now := c.opts.Now()
	v := c.view.at(now)
	v = c.trim(v, now)
	lines, tooSmall := c.lines(v, now, false)
	frame := strings.Join(lines, "\n") + "\n"
	same := frame == c.last
	if same && (c.opts.Plain || v.Code == nil) {
		return tooSmall
	}
	lines, _ = c.lines(v, now, true)
	var out string
	switch {
	case c.opts.Plain:
		out = strings.Join(lines, "\n") + "\n\n" // an empty line between views
	case c.last == "":
		out = clearScreen + strings.Join(lines, "\n") + "\n"
	default:
		out = home + strings.Join(lines, clearLine+"\n") + clearLine + "\n" + clearBelow
	}
	if _, err := io.WriteString(c.w, out); err != nil {
		return fmt.Errorf("draw on the console: %w", err)
	}
	c.last = frame
	return tooSmall
}

// trim leaves texts out until the code fits the height, the least important first. Method and amount stay.
func (c *Console) trim(v View, now time.Time) View {
	if c.opts.Height <= 0 || v.Code == nil {
		return v
	}
	fits := func() bool {
		lines, _ := c.lines(v, now, true)
		return len(lines) < c.opts.Height
	}
	if !fits() {
		v.PushText = ""
	}
	if one := v.Title + "  " + v.Amount; !fits() && utf8.RuneCountInString(Clean(one)) <= c.opts.Width {
		v.Title, v.Amount = "", one
	}
	if !fits() {
		v.Text = ""
	}
	if !fits() {
		v.Title = ""
	}
	return v
}

// lines lays a view out; tooSmall is ErrTooSmall when its code does not fit.
func (c *Console) lines(v View, now time.Time, seconds bool) (lines []string, tooSmall error) {
	add := func(s, before string) {
		after := reset
		if before == "" || !c.opts.Color {
			before, after = "", ""
		}
		for _, l := range wrap(Clean(s), c.opts.Width) {
			pad := (c.opts.Width - utf8.RuneCountInString(l)) / 2
			lines = append(lines, strings.Repeat(" ", pad)+before+l+after)
		}
	}
	if v.Sandbox {
		add("*** "+wordsFor(v.Language).sandbox+" ***", yellowBar)
	}
	add(v.Title, c.titleColor(v.Background))
	add(v.Amount, bold)
	add(v.PushText, "")
	switch {
	case v.Code == nil:
	case v.Code.Size() > c.MaxModules():
		add(wordsFor(v.Language).tooSmall, "")
		tooSmall = ErrTooSmall
	default:
		pad := strings.Repeat(" ", (c.opts.Width-v.Code.Size())/2)
		for _, l := range v.Code.HalfBlocks(c.style()) {
			lines = append(lines, pad+l)
		}
	}
	add(v.validUntil(now, seconds), "")
	add(v.Text, bold)
	return lines, tooSmall
}

func (c *Console) style() qr.Style {
	switch {
	case c.opts.Color:
		return qr.ANSI
	case c.opts.Light:
		return qr.OnLight
	}
	return qr.OnDark
}

// titleColor is the method's own colour behind its label.
func (c *Console) titleColor(background string) string {
	bg, ok := Color(background)
	if !ok {
		return bold
	}
	fg := ink(bg)
	return fmt.Sprintf("\x1b[1;38;2;%d;%d;%d;48;2;%d;%d;%dm", fg.R, fg.G, fg.B, bg.R, bg.G, bg.B)
}
