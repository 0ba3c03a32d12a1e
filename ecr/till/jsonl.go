package till

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"posagent/ecr/jsonl/till"
	"posagent/schemes/money"
)

// jsonl is a register of JSON lines.
func jsonl(s Settings) Protocol {
	return Protocol{
		Name: "jsonl", Can: Can{Asks: true, IDs: true, Names: true, Abort: true, Acks: true, Totals: true},
		Hostile: []string{
			`{"op":"sale","id":"h1","amount":1250,"currency":"EUR"`, `{"op":"sale","id":"h2","amount":12e2}` + "\n", `{"op":"sale","id":"h3","amount":-1250}` + "\n",
			`{"op":"sale","id":"h4","amount":1250,"amount":1}` + "\n", `{"op":"sale","amount":1250}` + "\n", `{"op":"sale","id":"h5","amount":1250}*0000` + "\n",
			`{"op":"ack","id":"h6"}` + "\n", `{"id":"h7","outcome":"approved","amount":1250}` + "\n", strings.Repeat("{", 70000), strings.Repeat(`{"a":`, 9000) + "\n",
		},
		Dial: func(ctx context.Context, line Line) (Till, error) {
			t := jsonTill{currency: line.Currency}
			t.t = till.New(line.Conn, till.Options{Note: func(l till.Line) {
				if l.Accepted || l.Step != "" {
					line.Running()
				}
			}})
			greeting := map[string]any{"op": "hello", "till": line.Name}
			if s.Password != "" {
				greeting["password"] = string(s.Password)
			}
			l, _, err := t.t.Ask(ctx, greeting)
			if err == nil && l.Error != nil {
				err = errors.New(l.Error.Code + ": " + l.Error.Text)
			}
			if err != nil {
				_ = t.t.Close()
				return nil, err
			}
			var hello struct {
				Sandbox bool `json:"sandbox"`
			}
			_ = json.Unmarshal(l.Hello, &hello) // a terminal that says nothing is not one for tests
			t.sandbox = hello.Sandbox
			return t, nil
		},
	}
}

type jsonTill struct {
	t        *till.Till
	currency string
	sandbox  bool
}

func (t jsonTill) ask(ctx context.Context, message map[string]any) (Answer, error) {
	l, _, err := t.t.Ask(ctx, message)
	if l.Outcome == "" && err == nil && l.Error != nil {
		err = errors.New(l.Error.Code + ": " + l.Error.Text)
	}
	if err != nil {
		return Answer{Said: Nothing}, err
	}
	a := Answer{Text: l.Text, Said: map[string]Said{"approved": Approved, "declined": Declined, "aborted": Aborted, "refused": Refused, "not_found": NotFound}[l.Outcome]}
	if a.Said == "" {
		return Answer{Said: Nothing}, errors.New("the outcome is " + l.Outcome)
	}
	if a.Said == Approved {
		a.Amount, a.Receipt = money.Minor(l.Amount), l.Receipt
	}
	return a, nil
}

// Pay implements Till.
func (t jsonTill) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	return t.ask(ctx, map[string]any{"op": "sale", "id": id, "amount": int64(amount), "currency": t.currency})
}

// Again implements Till.
func (t jsonTill) Again(ctx context.Context, _ money.Minor, id string) (Answer, error) {
	return t.ask(ctx, map[string]any{"op": "status", "id": id})
}

// Abort implements Till.
func (t jsonTill) Abort(ctx context.Context, id string) (bool, error) { return t.t.Abort(ctx, id) }

// Totals implements Till.
func (t jsonTill) Totals(ctx context.Context) (Totals, error) {
	l, _, err := t.t.Ask(ctx, map[string]any{"op": "totals", "id": "totals"})
	if err == nil && l.Totals == nil {
		err = errors.New("no totals")
	}
	if err != nil {
		return Totals{}, err
	}
	return Totals{l.Totals.Count, money.Minor(l.Totals.Net)}, nil
}

// Test implements Till.
func (t jsonTill) Test() bool { return t.sandbox }

// Close implements Till.
func (t jsonTill) Close() error { return t.t.Close() }
