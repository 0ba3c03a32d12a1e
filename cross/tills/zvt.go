package tills

import (
	"context"
	"fmt"
	"net"
	"time"

	register "posagent/ecr/till/zvt"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// zvt asks by 06 20: the protocol has no id of a sale.
type zvt struct{ Way }

func newZVT(w Way) Till { return zvt{w} }

func (z zvt) ask(ctx context.Context, do func(*register.Register) (register.Result, error)) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		r, err := register.New(frame.NewTCP(conn, 5*time.Second), register.Options{T4: z.Wait, Sequence: z.Counts})
		if err != nil {
			return Answer{}, err
		}
		defer r.Close()
		if z.Counts {
			if _, err := r.Register(ctx); err != nil {
				return Answer{}, err
			}
		}
		res, err := do(r)
		a := Answer{Word: NotPaid, Amount: res.Amount, Firm: true, Text: fmt.Sprintf("%+v", res)}
		switch {
		case err != nil:
			return Answer{}, err
		case res.Refused && (res.Code == register.CodeBusy || res.Code == register.CodeWait):
			a.Word, a.Firm = Busy, false
		case res.Refused && res.Code == register.CodeImpossible:
			a.Word = Unknown
		case res.Approved:
			a.Word = Approved
		}
		return a, nil
	})
}

// Pay implements Till.
func (z zvt) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	return z.ask(ctx, func(r *register.Register) (register.Result, error) {
		return r.Pay(ctx, amount, "EUR", register.PayOptions{})
	})
}

// Again implements Till.
func (z zvt) Again(ctx context.Context, _ money.Minor, _ string, _ bool) (Answer, error) {
	return z.ask(ctx, func(r *register.Register) (register.Result, error) { return r.Repeat(ctx, register.RepeatStatus) })
}
