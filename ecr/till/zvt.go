package till

import (
	"context"
	"errors"
	"fmt"

	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// overZVT is a register of ZVT over TCP, as almost every register speaks it: without message ids, unless it counts.
func overZVT(s Settings) (Protocol, error) {
	return Protocol{
		Name: "zvt", Can: Can{Asks: true, Abort: true, Acks: true, Totals: true},
		Hostile: []string{
			"\x06\x01\x07\x04\x00", "\x06\x01\xff\xff\xff\x01", "\x06\x01\x07\x04\x00\x00\x00\x00\x1a\x50", "\x06\x01\x03\x06\x05\x1f",
			"\x80\x00\x00\x80\x00\x00\x84\x00\x00", "\x06\x0f\x00\x06\x1e\x01\x6c", "\x06\xc0\x00", "\x04\x0f\x02\x27\x00",
		},
		New: func(l Line) (Till, error) {
			o := zvt.Options{Habit: zvt.Steady(), Currency: l.Currency, Sequence: s.Counts, T4: l.Wait}
			if !s.Prints {
				o.Habit.Config = 0x08 // the terminal may print itself: a sale is short
			}
			if l.Running != nil {
				o.Tap = func(direction string, data []byte) {
					if m, err := apdu.Decode(data); err == nil && direction == "in" && (m.Cmd.IsOK() || m.Cmd == apdu.Intermediate) {
						l.Running()
					}
				}
			}
			r, err := zvt.New(frame.NewTCP(l.Conn, 0), o)
			if err != nil {
				return nil, err
			}
			return zvtTill{r}, nil
		},
	}, nil
}

type zvtTill struct{ *zvt.Register }

// Greet implements Till: it registers. ZVT has no word for a terminal for tests.
func (t zvtTill) Greet(ctx context.Context) (bool, error) {
	res, err := t.Register.Register(ctx)
	if err == nil && !res.OK() {
		err = errors.New("the terminal refuses the registration: " + res.CodeText)
	}
	return false, err
}

// said reads a result; impossible is what 84 83 stands for.
func (zvtTill) said(res zvt.Result, err error, impossible Said) (Answer, error) {
	a := Answer{Raw: fmt.Sprintf("%+v", res)}
	switch {
	case err != nil:
		return Answer{}, err
	case res.Approved:
		a.Said, a.Amount, a.Receipt, a.Firm = Approved, res.Amount, res.Receipt, true
	case res.Refused && (res.Code == zvt.CodeBusy || res.Code == zvt.CodeWait):
		a.Said, a.Text = Busy, res.CodeText
	case res.Refused && res.Code == zvt.CodeImpossible:
		a.Said, a.Text = impossible, res.CodeText
	case res.Refused:
		a.Said, a.Text = Refused, res.CodeText
	case res.Code == zvt.CodeAborted:
		a.Said, a.Text = Aborted, res.Text
	default:
		a.Said, a.Text = Declined, res.Text
	}
	return a, nil
}

// Pay implements Till.
func (t zvtTill) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	res, err := t.Register.Pay(ctx, amount, "", zvt.PayOptions{})
	return t.said(res, err, Refused)
}

// Again implements Till.
func (t zvtTill) Again(ctx context.Context, _ money.Minor, _ string) (Answer, error) {
	res, err := t.Repeat(ctx, zvt.RepeatStatus)
	return t.said(res, err, NotFound)
}

// Abort implements Till.
func (t zvtTill) Abort(ctx context.Context, _ string) (bool, error) {
	res, err := t.Register.Abort(ctx)
	return !res.Refused, err
}

// Totals implements Till.
func (t zvtTill) Totals(ctx context.Context) (Totals, error) {
	res, err := t.Turnover(ctx)
	if err == nil && (!res.OK() || res.Totals == nil) {
		err = errors.New("06 10 is answered without BMP 60")
	}
	if err != nil {
		return Totals{}, err
	}
	var sums Totals
	for _, g := range res.Totals.Groups {
		sums.Count, sums.Sum = sums.Count+g.Count, sums.Sum+money.Minor(g.Sum)
	}
	return sums, nil
}
