package session

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
	register "posagent/ecr/till/zvt"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/ecr/zvt/protocol"
)

// setup is what a test gives a session: its options, and those of ZVT.
type setup struct {
	Options
	zvt   zvt.Config
	frame frame.Config
	t3    time.Duration
}

// set prepares a session on a desk.
func set(line string, d *desk.Desk) setup {
	return setup{Options: Options{Line: line, Desk: d, Till: d, Memory: d}, zvt: terminal()}
}

func (s setup) session() *Session {
	s.Protocol = protocol.New(protocol.Options{ZVT: s.zvt, Frame: s.frame, T3: s.t3})
	return New(s.Options)
}

func terminal() zvt.Config {
	return zvt.Config{TerminalID: "52500038", Currency: "EUR", MerchantName: "Corner Shop", Device: "posagent", Version: "1.2.3", Language: "en"}
}

// serveTCP runs a session on a real socket until the test ends.
func serveTCP(t *testing.T, d *desk.Desk, change func(*setup)) (address string, s *Session) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o := set("tcp", d)
	if change != nil {
		change(&o)
	}
	s = o.session()
	serve(t, func(ctx context.Context) error { return s.ServeTCP(ctx, listener) })
	return listener.Addr().String(), s
}

func serve(t *testing.T, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, need.Receive(t, "the end of the service", ended), context.Canceled)
	})
}

// cablePair is a pseudo-terminal pair: the register's end and the terminal's path.
func cablePair(t *testing.T) (registerEnd ecr.Conn, path string) {
	t.Helper()
	registerEnd, path, err := lines.PTY()
	require.NoError(t, err)
	return registerEnd, path
}

// ttys opens the paths given, one after the other, and then waits.
type ttys struct {
	paths  chan string
	opened chan struct{}
}

func newTTYs(paths ...string) *ttys {
	p := &ttys{paths: make(chan string, 8), opened: make(chan struct{}, 8)}
	for _, one := range paths {
		p.paths <- one
	}
	return p
}

func (p *ttys) Open(ctx context.Context) (ecr.Conn, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case path := <-p.paths:
		if path == "" {
			return nil, os.ErrNotExist
		}
		conn, err := lines.OpenRaw(path)
		if err != nil {
			return nil, err
		}
		p.opened <- struct{}{}
		return conn, nil
	}
}

func serveSerial(t *testing.T, d *desk.Desk, opener Opener, f frame.Config) *Session {
	t.Helper()
	o := set("serial", d)
	o.frame = f
	s := o.session()
	serve(t, func(ctx context.Context) error { return s.ServeSerial(ctx, opener) })
	return s
}

// TestHabits: every kind of register completes its day, on TCP and on a serial line.
func TestHabits(t *testing.T) {
	for _, habit := range register.Habits() {
		for _, line := range []string{"tcp", "serial"} {
			t.Run(habit.Name+"/"+line, func(t *testing.T) {
				d := desk.New()
				var trace strings.Builder
				var mu sync.Mutex
				opt := register.Options{Habit: habit, Tap: func(dir string, data []byte) {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintf(&trace, "%s % x\n", dir, data)
				}}
				defer func() {
					if t.Failed() {
						t.Log(trace.String())
					}
				}()
				var r *register.Register
				var err error
				if line == "tcp" {
					address, _ := serveTCP(t, d, nil)
					r, err = register.Dial(t.Context(), "tcp:"+address, opt)
				} else {
					end, path := cablePair(t)
					p := newTTYs(path)
					serveSerial(t, d, p, frame.Config{})
					<-p.opened
					r, err = register.New(frame.New(end, habit.FrameConfig(frame.Config{})), opt)
				}
				require.NoError(t, err)
				defer func() { _ = r.Close() }()
				day(t, d, r, habit, func() bool { // the register has its 80 00 00 to the sale that stays open
					mu.Lock()
					defer mu.Unlock()
					_, after, _ := strings.Cut(trace.String(), "04 00 00 00 00 99 00")
					return strings.Contains(after, "in 80 00 00")
				})
			})
		}
	}
}

func day(t *testing.T, d *desk.Desk, r *register.Register, habit register.Habit, accepted func() bool) {
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	res, err := r.Register(ctx)
	require.NoError(t, err)
	require.True(t, res.OK(), res)
	require.Equal(t, "52500038", res.TerminalID)

	res, err = r.Status(ctx)
	require.NoError(t, err)
	require.Zero(t, res.Status)
	require.Equal(t, habit.StatusService < 0, res.Version == "1.2.3", "no version where none is wanted")

	res, err = r.Repeat(ctx, -1)
	require.NoError(t, err)
	require.True(t, res.Refused, "nothing to repeat yet")

	res, err = r.Pay(ctx, 1250, "", register.PayOptions{})
	require.NoError(t, err)
	require.True(t, res.OK() && res.Approved && res.Completed, res)
	require.EqualValues(t, 1250, res.Amount)
	require.Equal(t, 1, res.Receipt)
	require.Equal(t, 101, res.Trace)
	require.Equal(t, "WeChat Pay", res.CardName)
	require.Equal(t, []string{"told s1"}, d.Recorded())
	if printed := strings.Join(res.Printed, "\n"); habit.Config&0x82 == 0x82 {
		require.Contains(t, printed, "12.50 EUR")
		require.Contains(t, printed, "Corner Shop")
		require.Equal(t, "7001", res.TransactionID)
	} else {
		require.Empty(t, printed)
	}

	res, err = r.Pay(ctx, desk.Declines, "", register.PayOptions{})
	require.NoError(t, err)
	require.True(t, res.Aborted && !res.Approved, res)
	require.EqualValues(t, 0x05, res.Code)

	res, err = r.Pay(ctx, desk.NoMethod, "", register.PayOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 0xC5, res.Code)

	res, err = r.Pay(ctx, 100, "USD", register.PayOptions{})
	require.NoError(t, err)
	require.Equal(t, register.CodeWrongMoney, res.Code)

	res, err = r.Reverse(ctx, 1, 0)
	require.NoError(t, err)
	require.True(t, res.Approved, res)
	require.Equal(t, 101, res.OriginalTrace)
	res, err = r.Reverse(ctx, 99, 0)
	require.NoError(t, err)
	require.Equal(t, register.CodeNotReversed, res.Code)

	res, err = r.Refund(ctx, 500, "", "R1")
	require.NoError(t, err)
	require.True(t, res.Approved, res)
	require.Equal(t, "R1", d.Begun[len(d.Begun)-1].Original)

	res, err = r.Repeat(ctx, register.RepeatStatus)
	require.NoError(t, err)
	require.True(t, res.Approved && res.Completed, res)
	require.EqualValues(t, 500, res.Amount)

	// An abort beside a running sale.
	type paid struct {
		res register.Result
		err error
	}
	done := make(chan paid, 1)
	go func() {
		res, err := r.Pay(ctx, desk.StaysOpen, "", register.PayOptions{})
		done <- paid{res, err}
	}()
	require.NoError(t, d.Until(ctx, "the sale", func() bool { return len(d.Sales) > 0 && d.Sales[len(d.Sales)-1].Open }))
	need.Until(t, "the register has the acceptance of its sale", accepted)
	if habit.Name != "reconnecting" { // its abort would need a second connection, see TestAnotherConnection
		res, err = r.Abort(ctx)
		require.NoError(t, err)
		require.False(t, res.Refused)
	} else {
		require.NoError(t, d.Abort(ctx, d.Sales[len(d.Sales)-1].ID))
	}
	p := <-done
	require.NoError(t, p.err)
	require.Equal(t, register.CodeAborted, p.res.Code)
	require.True(t, p.res.Aborted)

	res, err = r.Turnover(ctx)
	require.NoError(t, err)
	require.True(t, res.OK(), res)
	res, err = r.EndOfDay(ctx)
	require.NoError(t, err)
	require.True(t, res.OK() && res.Completed, res)
	require.NotNil(t, res.Totals)
	require.Equal(t, 1, d.Closed)
	password := []byte{0, 0, 0}
	for _, m := range []apdu.Message{apdu.New(apdu.Diagnosis), apdu.NewPrefixed(apdu.Initialisation, password), apdu.New(apdu.Reset)} {
		res, err = r.Command(ctx, m, true)
		require.NoError(t, err)
		require.True(t, res.Completed, res)
	}
	res, err = r.Command(ctx, apdu.New(apdu.DisplayText, apdu.Bytes(0xF0, 3), apdu.Text(0xF1, apdu.CP437, "Hello")), false)
	require.NoError(t, err)
	require.Equal(t, register.CodeImpossible, res.Code)
	res, err = r.Command(ctx, apdu.New(apdu.LogOff), false)
	require.NoError(t, err)
	require.False(t, res.Refused)
	for _, x := range d.Recorded() {
		require.True(t, strings.HasPrefix(x, "told "), x)
	}
}

// TestSequenceIDs: with message ids both sides carry, a sale asked for twice is one sale.
func TestSequenceIDs(t *testing.T) {
	d := desk.New()
	address, _ := serveTCP(t, d, nil)
	r, err := register.Dial(t.Context(), "tcp:"+address, register.Options{Sequence: true})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	res, err := r.Register(t.Context())
	require.NoError(t, err)
	require.True(t, res.OK())
	first, err := r.Pay(t.Context(), 1250, "", register.PayOptions{Sequence: 501})
	require.NoError(t, err)
	require.True(t, first.Approved)
	r.Disconnect() // and the register is not sure
	again, err := r.Pay(t.Context(), 1250, "", register.PayOptions{Sequence: 501})
	require.NoError(t, err)
	require.True(t, again.Approved)
	require.Equal(t, first.Receipt, again.Receipt)
	require.Len(t, d.Sales, 1)
	next, err := r.Pay(t.Context(), 1250, "", register.PayOptions{Sequence: 601})
	require.NoError(t, err)
	require.Equal(t, 2, next.Receipt)
}

// TestReactions: what a register may answer to 04 0F, end to end.
func TestReactions(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   []register.Reaction
		code     byte
		approved bool
		want     []string
	}{
		{"goods failed", []register.Reaction{{Code: 0x66}}, register.CodeAborted, false, []string{"refused s1"}},
		{"printer fails", nil, 0, true, []string{"told s1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := desk.New()
			address, _ := serveTCP(t, d, nil)
			react := register.On(apdu.StatusInfo, c.answer...)
			if c.answer == nil {
				react = register.On(apdu.PrintLine, register.Reaction{Code: 0xCC})
			}
			r, err := register.Dial(t.Context(), "tcp:"+address, register.Options{Habit: register.Plain(), React: react})
			require.NoError(t, err)
			defer func() { _ = r.Close() }()
			res, err := r.Pay(t.Context(), 1250, "", register.PayOptions{})
			require.NoError(t, err)
			require.Equal(t, c.approved, res.Approved, res)
			require.Equal(t, c.code, res.Code)
			require.Equal(t, c.want, d.Recorded())
		})
	}
}

// TestRegistrationSurvivesARestart: what a register said once holds for the next process.
func TestRegistrationSurvivesARestart(t *testing.T) {
	d := desk.New()
	address, _ := serveTCP(t, d, nil)
	h := register.Steady()
	h.Config = 0x08 // prints nothing
	r, err := register.Dial(t.Context(), "tcp:"+address, register.Options{Habit: h})
	require.NoError(t, err)
	_, err = r.Register(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NotEmpty(t, d.Memory["tcp"])

	other, _ := serveTCP(t, d, nil)
	r, err = register.Dial(t.Context(), "tcp:"+other, register.Options{Habit: h})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	res, err := r.Pay(t.Context(), 1250, "", register.PayOptions{})
	require.NoError(t, err)
	require.True(t, res.Approved)
	require.Empty(t, res.Printed)
	require.False(t, d.Begun[0].Progress, "no intermediate status was acknowledged yet")
	require.Equal(t, ecr.Payment, d.Begun[0].Kind)
}
