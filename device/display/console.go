package display

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"posagent/device/display/scene"
	"posagent/device/qr"
)

// Options of a console.
type Options struct {
	Width  int  // characters in a line; 0 = 80
	Height int  // lines; 0 = no limit. Where a code needs the room, method and amount share a line and other texts go
	Color  bool // colours by escape sequences; without them the code is drawn in the terminal's own
	Plain  bool // no escape sequence at all: views follow each other, as in a log, and what is typed is not shown; overrides Color
	Light  bool // the terminal has dark characters on a light ground; matters without Color only
	Now    func() time.Time
	// Size is asked before each drawing for columns and lines, which a person may change; nil, or (0, 0), leaves Width and Height.
	Size func() (width, height int)
}

// Console draws views as text, in place unless Plain.
type Console struct {
	opts Options

	mu    sync.Mutex
	w     io.Writer
	view  View
	last  string // what was drawn last, without the seconds
	ended bool
}

var (
	_ Screen    = (*Console)(nil)
	_ Refresher = (*Console)(nil)
	_ Ender     = (*Console)(nil)
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
	if c.ended {
		return nil
	}
	c.view = v
	return c.draw()
}

// Refresh draws the current view again.
func (c *Console) Refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == "" || c.ended {
		return nil // nothing was shown yet
	}
	return c.draw()
}

// End implements Ender. A plain console is a log: what stands in it is over already.
func (c *Console) End() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == "" || c.ended || c.opts.Plain {
		return nil
	}
	c.view, c.ended = last(c.view), true
	return c.draw()
}

func (c *Console) draw() error {
	c.resize()
	now := c.opts.Now()
	v := c.view.At(now)
	if c.opts.Plain { // a log keeps what it is told
		v.Entry.Typed = ""
	}
	f := frame{Texts: v.Texts(now, false), code: v.Code, ground: v.Background}
	full := v.Texts(now, true)
	f.Room = full.Room
	small := c.trim(&f)
	still := strings.Join(c.cut(c.lines(f)), "\n") + "\n"
	if still == c.last && (c.opts.Plain || f.code == nil) {
		return small
	}
	if f.Valid != "" {
		f.Valid = full.Valid
	}
	lines := c.cut(c.lines(f))
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
	c.last = still
	return small
}

// frame is a view as a console draws it.
type frame struct {
	scene.Texts
	code   *qr.Code
	ground string // the method's colour
	flow   bool   // options stand beside each other
}

// trim leaves texts out until a frame fits the screen, the least important first. It returns ErrTooSmall where the code or an
// option had to go.
func (c *Console) trim(f *frame) (small error) {
	if f.code != nil && f.code.Size() > c.MaxModules() {
		f.code, small = nil, ErrTooSmall
		f.Headline, f.Valid, f.Room = f.TooSmall, "", ""
	}
	if c.opts.Height <= 0 {
		return small
	}
	fits := func() bool {
		full := *f
		if f.Valid != "" {
			full.Valid = f.Room
		}
		return len(c.lines(full)) < c.opts.Height
	}
	if !fits() {
		f.Note = ""
	}
	if one := f.Title + "  " + f.Amount; !fits() && utf8.RuneCountInString(one) <= c.opts.Width {
		f.Title, f.Amount = "", one
	}
	f.flow = !fits()
	for _, less := range []*string{&f.Hint, &f.Detail, &f.Title} {
		if !fits() {
			*less = ""
		}
	}
	if !fits() && f.code != nil {
		f.code, small = nil, ErrTooSmall
		f.Headline, f.Valid, f.Room = f.TooSmall, "", ""
	}
	for _, less := range []*string{&f.Label, &f.Headline} {
		if !fits() {
			*less, small = "", ErrTooSmall
		}
	}
	if !fits() {
		small = ErrTooSmall // cut takes the rest
	}
	return small
}

// cut takes lines that would push the first ones, SANDBOX and the amount, off the screen.
func (c *Console) cut(lines []string) []string {
	if c.opts.Height > 0 && len(lines) >= c.opts.Height {
		return lines[:max(1, c.opts.Height-1)]
	}
	return lines
}

// lines lays a frame out.
func (c *Console) lines(f frame) (lines []string) {
	add := func(s, before string) {
		after := reset
		if before == "" || !c.opts.Color {
			before, after = "", ""
		}
		for _, l := range wrap(s, c.opts.Width) {
			pad := (c.opts.Width - utf8.RuneCountInString(l)) / 2
			lines = append(lines, strings.Repeat(" ", pad)+before+l+after)
		}
	}
	if f.Banner != "" {
		add("*** "+f.Banner+" ***", yellowBar)
	}
	add(f.Title, c.titleColor(f.ground))
	add(f.Amount, bold)
	add(f.Note, "")
	if len(f.Options) > 0 {
		add(f.Headline, bold)
		f.Headline = ""
		lines = append(lines, c.options(f)...)
	}
	if f.code != nil {
		pad := strings.Repeat(" ", max(0, c.opts.Width-f.code.Size())/2)
		for _, l := range f.code.HalfBlocks(c.style()) {
			lines = append(lines, pad+l)
		}
	}
	add(f.Label, "")
	add(f.Value, bold)
	add(f.Hint, "")
	add(f.Valid, "")
	add(f.Headline, bold)
	if f.Headline == "" && len(f.Options) == 0 {
		add(f.Detail, bold)
	} else {
		add(f.Detail, "")
	}
	return lines
}

// options are the numbered methods of a choice, one a line, or as many in a line as there is room for.
func (c *Console) options(f frame) (lines []string) {
	const indent = "   " // as wide as a number
	var flow []string
	for i, o := range f.Options {
		if o == "" {
			continue
		}
		rows := wrap(o, max(1, c.opts.Width-len(indent)))
		for n, row := range rows {
			if n == 0 {
				lines = append(lines, strconv.Itoa(i+1)+"  "+row)
			} else {
				lines = append(lines, indent+row)
			}
		}
		flow = append(flow, strconv.Itoa(i+1)+"\u00a0"+strings.ReplaceAll(o, " ", "\u00a0"))
	}
	if f.flow || c.opts.Width < 8 {
		return wrap(strings.Join(flow, " "), c.opts.Width)
	}
	return lines
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
	bg, ok := scene.Color(background)
	if !ok {
		return bold
	}
	fg := scene.Ink(bg)
	return fmt.Sprintf("\x1b[1;38;2;%d;%d;%d;48;2;%d;%d;%dm", fg.R, fg.G, fg.B, bg.R, bg.G, bg.B)
}

// wrap breaks a text into lines of at most width characters, at spaces where it can.
func wrap(s string, width int) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Split(s, " ") {
		for word != "" {
			w := utf8.RuneCountInString(word)
			if n > 0 && n+1+w <= width {
				line, n = line+" "+word, n+1+w
				break
			}
			if n > 0 {
				lines, line, n = append(lines, line), "", 0
				continue
			}
			if w <= width {
				line, n = word, w
				break
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	if n > 0 {
		lines = append(lines, line)
	}
	return lines
}
