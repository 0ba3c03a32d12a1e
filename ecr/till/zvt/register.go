package zvt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// Options of a Register. The zero value is a steady register.
type Options struct {
	Habit    Habit  // Steady() if it has no name
	Password string // six digits for every command; "" = the habit's
	Config   byte   // config byte of the registration; 0 = the habit's
	Currency string // ISO 4217 alpha of the register; "" = EUR
	Charset  *apdu.Charset

	Sequence bool // offer message sequence ids (TLV 1F73) at registration

	React React                               // how to answer the terminal; nil = 80 00 00 always
	Tap   func(direction string, apdu []byte) // sees every APDU, "in" or "out"; called from several goroutines
	Note  func(line string)                   // sees every intermediate status as it comes

	OpenSerial func(ctx context.Context, path string) (frame.Conn, error)
	Frame      frame.Config  // serial; AckWait, Repeats and NoNak come from the habit where they are zero
	T3         time.Duration // command to 80 00; 5 s if 0
	T4         time.Duration // 80 00 to completion, restarted by 04 FF and 04 0F; 180 s if 0
	Log        *slog.Logger
}

// Errors of a command. After any of them its outcome is not known here.
var (
	ErrNoAnswer     = errors.New("register: terminal does not answer") // T3
	ErrNoCompletion = errors.New("register: terminal does not finish") // T4
	ErrDisconnected = errors.New("register: disconnected as told")     // by a Reaction
	ErrUnknown      = errors.New("register: message not understood")   // by habit
)

// Register is a connected cash register. Its commands are safe for concurrent use and run one after the other;
// Abort alone runs beside them.
type Register struct {
	opt      Options
	habit    Habit
	target   string
	currency money.Currency
	charset  apdu.Charset

	turn chan struct{} // holds one token while no command runs

	mu       sync.Mutex
	line     frame.Transport
	react    React
	running  bool
	waiting  []chan apdu.Message // who waits for an 80 00 or 84 xx, oldest first
	useSeq   bool
	sequence int
}

// Dial makes a register for a target: "tcp:HOST:PORT" or the path of a serial device, which OpenSerial opens. Unless
// its habit is to connect late it connects at once. Errors: a bad target or option, a line that cannot be opened.
func Dial(ctx context.Context, target string, opt Options) (*Register, error) {
	r, err := newRegister(target, opt)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(target, "tcp:") && opt.OpenSerial == nil {
		return nil, fmt.Errorf("register: %s: nothing given to open a serial line with", target)
	}
	if r.habit.Lazy {
		return r, nil
	}
	_, err = r.connect(ctx)
	return r, err
}

// New makes a register on an open line, which it owns. It cannot connect again.
func New(line frame.Transport, opt Options) (*Register, error) {
	r, err := newRegister("", opt)
	if err == nil {
		r.habit.NewConnection = false
		r.line = line
	}
	return r, err
}

func newRegister(target string, opt Options) (*Register, error) {
	if opt.Habit.Name == "" {
		opt.Habit = Steady()
	}
	if opt.Currency == "" {
		opt.Currency = "EUR"
	}
	if opt.T3 <= 0 {
		opt.T3 = 5 * time.Second
	}
	if opt.T4 <= 0 {
		opt.T4 = 180 * time.Second
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	cur, ok := money.Lookup(opt.Currency)
	if !ok {
		return nil, fmt.Errorf("register: currency %q is not known", opt.Currency)
	}
	r := &Register{opt: opt, habit: opt.Habit, target: target, currency: cur, charset: opt.Habit.Charset,
		react: opt.React, turn: make(chan struct{}, 1)}
	if opt.Charset != nil {
		r.charset = *opt.Charset
	}
	for _, pw := range []string{r.password(false), r.password(true)} {
		if _, err := packPassword(pw); err != nil {
			return nil, err
		}
	}
	r.turn <- struct{}{}
	return r, nil
}

// FrameConfig is the serial link's configuration of a habit.
func (h Habit) FrameConfig(base frame.Config) frame.Config {
	if base.T2 == 0 {
		base.T2 = h.AckWait
	}
	if base.Repeats == 0 {
		base.Repeats = h.Repeats
	}
	base.NoNak = base.NoNak || h.SilentOnBad
	return base
}

// connect gives the open line, opening it if there is none.
func (r *Register) connect(ctx context.Context) (frame.Transport, error) {
	r.mu.Lock()
	line := r.line
	r.mu.Unlock()
	if line != nil {
		return line, nil
	}
	address, tcp := strings.CutPrefix(r.target, "tcp:")
	switch {
	case r.target == "":
		return nil, frame.ErrClosed
	case tcp:
		dialer := net.Dialer{Timeout: 10 * time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
		line = frame.NewTCP(conn, r.opt.T3)
	default:
		conn, err := r.opt.OpenSerial(ctx, r.target)
		if err != nil {
			return nil, fmt.Errorf("register: open %s: %w", r.target, err)
		}
		line = frame.New(conn, r.habit.FrameConfig(r.opt.Frame))
	}
	r.mu.Lock()
	r.line = line
	r.mu.Unlock()
	return line, nil
}

// Disconnect closes the line; the next command opens it again.
func (r *Register) Disconnect() {
	r.mu.Lock()
	line := r.line
	r.line = nil
	r.mu.Unlock()
	if line != nil {
		line.Close()
	}
}

// Close ends the register.
func (r *Register) Close() error {
	r.Disconnect()
	return nil
}

func (r *Register) tap(direction string, data []byte) {
	if r.opt.Tap != nil {
		r.opt.Tap(direction, data)
	}
}

// password of a command, undo: of 06 30 and 06 50.
func (r *Register) password(undo bool) string {
	switch {
	case r.opt.Password != "":
		return r.opt.Password
	case undo && r.habit.UndoPassword != "":
		return r.habit.UndoPassword
	case r.habit.Password != "":
		return r.habit.Password
	}
	return "000000"
}

func packPassword(digits string) ([]byte, error) {
	if len(digits) != 6 || strings.Trim(digits, "0123456789") != "" {
		return nil, fmt.Errorf("register: password must be six digits")
	}
	var n int64
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	return apdu.PackBCD(n, 3)
}

// pw is the packed password; newRegister checked it.
func (r *Register) pw(undo bool) []byte {
	b, err := packPassword(r.password(undo))
	if err != nil {
		return []byte{0, 0, 0}
	}
	return b
}
