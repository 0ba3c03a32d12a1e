package tills

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"posagent/schemes/money"
)

// caisseAP reads once and closes. Its protocol has no question about an earlier payment.
type caisseAP struct{ Way }

func newCaisseAP(w Way) Till { return caisseAP{w} }

// Pay implements Till. An answer whose echoes are not those of the request is none.
func (z caisseAP) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		cb := strconv.FormatInt(int64(amount), 10)
		if _, err := fmt.Fprintf(conn, "CZ0040300CJ012012345678901CA%03d%sCE003978BF0010CD0010CB%03d%s", len(z.Name), z.Name, len(cb), cb); err != nil {
			return Answer{}, err
		}
		buf := make([]byte, 1024)
		n, err := conn.Read(buf)
		if n == 0 {
			return Answer{}, err
		}
		got, err := fields(string(buf[:n]))
		if err != nil {
			return Answer{}, err
		}
		for tag, want := range map[string]string{"CA": z.Name, "CB": cb, "CD": "0", "CE": "978"} {
			if got[tag] != want {
				return Answer{}, fmt.Errorf("an answer to another request: %s", buf[:n])
			}
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

var errPart = errors.New("an answer that is not whole")

// fields takes an answer apart: two letters, three digits, the value.
func fields(text string) (map[string]string, error) {
	got := map[string]string{}
	for text != "" {
		if len(text) < 5 {
			return nil, errPart
		}
		n, err := strconv.Atoi(text[2:5])
		if err != nil || n < 1 || len(text) < 5+n {
			return nil, errPart
		}
		got[text[:2]], text = text[5:5+n], text[5+n:]
	}
	return got, nil
}

// ErrNoQuestion is what a till says whose protocol cannot ask.
var ErrNoQuestion = errors.New("the protocol has no question about an earlier payment")

// Again implements Till.
func (z caisseAP) Again(context.Context, money.Minor, string, bool) (Answer, error) {
	return Answer{}, ErrNoQuestion
}
