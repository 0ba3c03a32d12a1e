package tills

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"posagent/schemes/money"
)

// web asks for sales over HTTP: its id is the Idempotency-Key.
type web struct{ Way }

func newHTTP(w Way) Till { return web{w} }

const salesPath = "/agent/v1/sales"

// Pay implements Till.
func (z web) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	body := fmt.Sprintf(`{"amount":%d,"currency":"EUR","type":"payment","reference":"order %s"}`, amount, id)
	return z.ask(ctx, http.MethodPost, salesPath+"?wait=25s", id, body)
}

// Again implements Till.
func (z web) Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error) {
	if resend {
		return z.Pay(ctx, amount, id)
	}
	return z.ask(ctx, http.MethodGet, salesPath+"?key="+url.QueryEscape(id), "", "")
}

func (z web) ask(ctx context.Context, method, path, key, body string) (Answer, error) {
	header := map[string]string{"Authorization": "Bearer " + z.Token}
	if key != "" {
		header["Idempotency-Key"], header["Content-Type"] = key, "application/json"
	}
	status, data, err := z.call(ctx, method, path, header, []byte(body))
	if err != nil {
		return Answer{}, err
	}
	var sale struct {
		State, Outcome string
		Amount         int64
	}
	a := Answer{Text: fmt.Sprintf("%d %s", status, data)}
	switch status {
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
	if err := json.Unmarshal(data, &sale); err != nil {
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
