package till

import (
	"context"
	"errors"

	register "posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// zvt is a register of ZVT over TCP, without message ids, as almost every register speaks it.
func zvt() Protocol {
	return Protocol{
		Name: "zvt", Can: Can{Asks: true, Abort: true, Acks: true, Totals: true},
		Hostile: []string{
			"\x06\x01\x07\x04\x00", "\x06\x01\xff\xff\xff\x01", "\x06\x01\x07\x04\x00\x00\x00\x00\x1a\x50", "\x06\x01\x03\x06\x05\x1f",
			"\x80\x00\x00\x80\x00\x00\x84\x00\x00", "\x06\x0f\x00\x06\x1e\x01\x6c", "\x06\xc0\x00", "\x04\x0f\x02\x27\x00",
		},
		Dial: func(ctx context.Context, l Line) (Till, error) {
			habit := register.Steady()
			habit.Config = 0x08 // the terminal may print itself: a sale is short
			r, err := register.New(frame.NewTCP(l.Conn, 0), register.Options{Habit: habit, Currency: l.Currency, Tap: func(direction string, data []byte) {
				if m, err := apdu.Decode(data); err == nil && direction == "in" && (m.Cmd.IsOK() || m.Cmd == apdu.Intermediate) {
					l.Running()
				}
			}})
			if err != nil {
				return nil, err
			}
			res, err := r.Register(ctx)
			if err == nil && !res.OK() {
				err = errors.New("the terminal refuses the registration: " + res.CodeText)
			}
			if err != nil {
				_ = r.Close()
				return nil, err
			}
			return zvtTill{r}, nil
		},
	}
}

type zvtTill struct{ r *register.Register }

// zvtSaid reads a result; impossible is what 84 83 stands for.
func zvtSaid(res register.Result, impossible Said) Answer {
	switch {
	case res.Approved:
		return Answer{Said: Approved, Amount: res.Amount, Receipt: res.Receipt}
	case res.Refused && res.Code == register.CodeImpossible:
		return Answer{Said: impossible, Text: res.CodeText}
	case res.Refused:
		return Answer{Said: Refused, Text: res.CodeText}
	case res.Code == register.CodeAborted:
		return Answer{Said: Aborted, Text: res.Text}
	}
	return Answer{Said: Declined, Text: res.Text}
}

// Pay implements Till.
func (t zvtTill) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	res, err := t.r.Pay(ctx, amount, "", register.PayOptions{})
	if err != nil {
		return Answer{Said: Nothing}, err
	}
	return zvtSaid(res, Refused), nil
}

// Again implements Till.
func (t zvtTill) Again(ctx context.Context, _ money.Minor, _ string) (Answer, error) {
	res, err := t.r.Repeat(ctx, register.RepeatStatus)
	if err != nil {
		return Answer{Said: Nothing}, err
	}
	return zvtSaid(res, NotFound), nil
}

// Abort implements Till.
func (t zvtTill) Abort(ctx context.Context, _ string) (bool, error) {
	res, err := t.r.Abort(ctx)
	return !res.Refused, err
}

// Totals implements Till.
func (t zvtTill) Totals(ctx context.Context) (Totals, error) {
	res, err := t.r.Turnover(ctx)
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

// Test implements Till: ZVT has no word for it.
func (t zvtTill) Test() bool { return false }

// Close implements Till.
func (t zvtTill) Close() error { return t.r.Close() }
