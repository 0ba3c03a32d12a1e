package tills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// caisseAP reads once and closes. Its protocol has no question about an earlier payment.
type caisseAP struct{ Way }

func newCaisseAP(w Way) Till { return caisseAP{w} }

// Pay implements Till. An answer whose echoes are not those of the request is none.
func (z caisseAP) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		debit := till.Debit{Till: z.Name, Amount: int64(amount), Currency: 978}
		if _, err := io.WriteString(conn, debit.Request()); err != nil {
			return Answer{}, err
		}
		buf := make([]byte, 1024)
		n, err := conn.Read(buf)
		if n == 0 {
			return Answer{}, err
		}
		got, err := till.Fields(string(buf[:n]))
		if err != nil {
			return Answer{}, err
		}
		if paid, err := debit.Answered(got); err != nil || paid != int64(amount) {
			return Answer{}, fmt.Errorf("%w: %s", till.ErrForeign, buf[:n])
		}
		a := Answer{Amount: amount, Text: string(buf[:n])}
		switch got["AE"] + got["AF"] {
		case "10":
			a.Word = Approved
		case "0104", "0106", "0108":
			a.Word = NotPaid
		case "0111":
			a.Word = Busy
		default:
			return Answer{}, fmt.Errorf("the terminal says %s", a.Text)
		}
		return a, nil
	})
}

// ErrNoQuestion is what a till says whose protocol cannot ask.
var ErrNoQuestion = errors.New("the protocol has no question about an earlier payment")

// Again implements Till.
func (z caisseAP) Again(context.Context, money.Minor, string, bool) (Answer, error) {
	return Answer{}, ErrNoQuestion
}
