package tills

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// overHTTP asks for sales over HTTP: its id is the Idempotency-Key.
type overHTTP struct{ Way }

func newHTTP(w Way) Till { return overHTTP{w} }

// Pay implements Till.
func (z overHTTP) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	return z.ask(ctx, http.MethodPost, till.SalesPath+"?wait=25s", id, till.HTTPPayment(int64(amount), "EUR", "order "+id))
}

// Again implements Till.
func (z overHTTP) Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error) {
	if resend {
		return z.Pay(ctx, amount, id)
	}
	return z.ask(ctx, http.MethodGet, till.SalesPath+"?key="+url.QueryEscape(id), "", nil)
}

func (z overHTTP) ask(ctx context.Context, method, path, key string, body []byte) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		got, err := till.NewHTTP(conn, z.Addr, till.Secret(z.Token)).Ask(ctx, method, path, key, body)
		if err != nil {
			return Answer{}, err
		}
		return heard(got)
	})
}

// heard is what an answer means.
func heard(got till.HTTPAnswer) (Answer, error) {
	a := Answer{Text: got.String()}
	switch got.Status {
	case http.StatusNotFound:
		a.Word = Unknown
		return a, nil
	case http.StatusConflict, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		a.Word = Busy
		return a, nil
	case http.StatusOK, http.StatusAccepted:
	default:
		return Answer{}, fmt.Errorf("the terminal says %s", a.Text)
	}
	sale, err := got.Sale()
	if err != nil {
		return Answer{}, err
	}
	a.Amount = money.Minor(sale.Amount)
	switch sale.State + " " + sale.Outcome {
	case "running ":
		a.Word = Busy
	case "ended approved":
		a.Word = Approved
	case "ended declined", "ended aborted":
		a.Word = NotPaid
	default:
		return Answer{}, fmt.Errorf("the terminal says %s", a.Text)
	}
	return a, nil
}
