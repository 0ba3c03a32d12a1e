package till

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

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
			t := NewJSONL(line.Conn, JSONLOptions{Name: line.Name, Password: s.Password, Currency: line.Currency, Note: func(l JSONLine) {
				if l.Accepted || l.Step != "" {
					line.Running()
				}
			}})
			if err := t.greet(ctx); err != nil {
				_ = t.Close()
				return nil, err
			}
			return t, nil
		},
	}
}

// greet says who the register is.
func (t *JSONL) greet(ctx context.Context) error {
	greeting := map[string]any{"op": "hello", "till": t.opt.Name}
	if t.opt.Password != "" {
		greeting["password"] = string(t.opt.Password)
	}
	l, _, err := t.Ask(ctx, greeting)
	if err == nil && l.Error != nil {
		err = errors.New(l.Error.Code + ": " + l.Error.Text)
	}
	var hello struct {
		Sandbox bool `json:"sandbox"`
	}
	_ = json.Unmarshal(l.Hello, &hello) // a terminal that says nothing is not one for tests
	t.sandbox = hello.Sandbox
	return err
}

// sale asks about a sale.
func (t *JSONL) sale(ctx context.Context, message map[string]any) (Answer, error) {
	l, _, err := t.Ask(ctx, message)
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
func (t *JSONL) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	return t.sale(ctx, map[string]any{"op": "sale", "id": id, "amount": int64(amount), "currency": t.opt.Currency})
}

// Again implements Till.
func (t *JSONL) Again(ctx context.Context, _ money.Minor, id string) (Answer, error) {
	return t.sale(ctx, map[string]any{"op": "status", "id": id})
}

// Totals implements Till.
func (t *JSONL) Totals(ctx context.Context) (Totals, error) {
	l, _, err := t.Ask(ctx, map[string]any{"op": "totals", "id": "totals"})
	if err == nil && l.Totals == nil {
		err = errors.New("no totals")
	}
	if err != nil {
		return Totals{}, err
	}
	return Totals{l.Totals.Count, money.Minor(l.Totals.Net)}, nil
}

// Test implements Till.
func (t *JSONL) Test() bool { return t.sandbox }
