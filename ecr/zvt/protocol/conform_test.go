package protocol

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"

	"posagent/ecr/ecrtest"
	register "posagent/ecr/till/zvt"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// TestConformance holds ZVT to the suite: without ids, as almost every register speaks it, and with
// the message sequence ids of TLV 1F73, which hold as long as a registration.
func TestConformance(t *testing.T) {
	p := New(Options{ZVT: zvt.Config{TerminalID: "52500038", Currency: "EUR", MerchantName: "Corner Shop", Version: "1.2.3", Language: "en"}})
	hostile := []string{
		"\x06\x01\x07\x04\x00", "\x06\x01\xff\xff\xff\x01", "\x06\x01\x07\x04\x00\x00\x00\x00\x1a\x50", "\x06\x01\x08\x04\x00\x00\x00\x00\x00\x12\x50",
		"\x06\x01\x03\x06\x05\x1f", "\x80\x00\x00\x80\x00\x00\x84\x00\x00", "\x06\x0f\x00\x06\x1e\x01\x6c", "\x06\xc0\x00", "\x04\x0f\x02\x27\x00",
		string(frame.EncodeBlock([]byte{0x06, 0x01, 0x07, 0x04, 0, 0, 0, 0, 0x12, 0x50})[:12]),
	}
	t.Run("without ids", func(t *testing.T) {
		ecrtest.Run(t, ecrtest.Fixture{
			Protocol: p, Hostile: hostile, Connect: connect(register.Options{Habit: habit()}),
			Can: ecrtest.Can{Abort: true, EndOfDay: true},
		})
	})
	t.Run("with ids", func(t *testing.T) {
		ecrtest.Run(t, ecrtest.Fixture{
			Protocol: p, Hostile: hostile, Connect: connect(register.Options{Habit: habit(), Sequence: true}),
			Can: ecrtest.Can{Abort: true, EndOfDay: true, IDs: true},
		})
	})
}

// habit is a register that prints nothing, so that a sale is short.
func habit() register.Habit {
	h := register.Steady()
	h.Config = 0x08
	return h
}

// till is a register of package register, which shares the codec with the terminal and no dialogue.
type till struct {
	*register.Register
	ids   bool
	heard *heard
}

// heard is the last approval that a register has received.
type heard struct {
	mu     sync.Mutex
	answer ecrtest.Answer
}

func (h *heard) take(direction string, data []byte) {
	m, err := apdu.Decode(data)
	if code, ok := m.Result(); err != nil || direction != "in" || m.Cmd != apdu.StatusInfo || !ok || code != register.CodeOK {
		return
	}
	amount, _, _ := m.Amount()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = ecrtest.Answer{Said: ecrtest.Approved, Amount: money.Minor(amount)}
}

// reset returns what was heard, and forgets it.
func (h *heard) reset() ecrtest.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.answer
	h.answer = ecrtest.Answer{}
	return a
}

func connect(opt register.Options) func(context.Context, ecrtest.Kind, net.Conn, string) (ecrtest.Register, error) {
	return func(ctx context.Context, kind ecrtest.Kind, conn net.Conn, _ string) (ecrtest.Register, error) {
		var line frame.Transport
		if kind == ecrtest.Serial {
			line = frame.New(conn, frame.Config{})
		} else {
			line = frame.NewTCP(conn, 0)
		}
		h := &heard{}
		opt.Tap = h.take
		r, err := register.New(line, opt)
		if err == nil {
			_, err = r.Register(ctx)
		}
		return till{r, opt.Sequence, h}, err
	}
}

func (z till) Pay(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	opt := register.PayOptions{}
	if z.ids {
		n, err := strconv.Atoi(id)
		if err != nil {
			return ecrtest.Answer{}, err
		}
		opt.Sequence = 100 * n // the ids of both sides are one count
	}
	z.heard.reset()
	res, err := z.Register.Pay(ctx, amount, "", opt)
	if err != nil {
		return z.heard.reset(), err // it may have lost the link's acknowledgement, or the completion
	}
	return said(res, ecrtest.Refused), nil
}

func (z till) Again(ctx context.Context, _ money.Minor, _ string) (ecrtest.Answer, error) {
	res, err := z.Repeat(ctx, register.RepeatStatus)
	if err != nil {
		return ecrtest.Answer{}, err
	}
	return said(res, ecrtest.NotFound), nil
}

func (z till) Abort(ctx context.Context) (bool, error) {
	res, err := z.Register.Abort(ctx)
	return !res.Refused, err
}

func (z till) EndOfDay(ctx context.Context) (bool, int, money.Minor, error) {
	res, err := z.Register.EndOfDay(ctx)
	if !res.OK() || res.Totals == nil {
		return false, 0, 0, err
	}
	wallets := res.Totals.Groups[6]
	return true, wallets.Count, money.Minor(wallets.Sum), err
}

// said reads a result; impossible is what 84 83 stands for.
func said(res register.Result, impossible ecrtest.Said) ecrtest.Answer {
	switch {
	case res.Approved:
		return ecrtest.Answer{Said: ecrtest.Approved, Amount: res.Amount}
	case res.Code == register.CodeBusy:
		return ecrtest.Answer{Said: ecrtest.Busy}
	case res.Refused && res.Code == register.CodeImpossible:
		return ecrtest.Answer{Said: impossible}
	case res.Code == register.CodeAborted:
		return ecrtest.Answer{Said: ecrtest.Aborted}
	case res.Code == 0x05:
		return ecrtest.Answer{Said: ecrtest.Declined}
	}
	return ecrtest.Answer{Said: ecrtest.Refused}
}
