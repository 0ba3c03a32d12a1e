package till

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"posagent/schemes/money"
)

// silence is how long a register of JSON lines waits for the next line, which comes at least every 15 s.
const silence = 30 * time.Second

// jsonl is a register of JSON lines.
func jsonl(s Settings) (Protocol, error) {
	return Protocol{
		Name: "jsonl", Can: Can{Asks: true, IDs: true, Names: true, Abort: true, Acks: true, Totals: true},
		Hostile: []string{
			`{"op":"sale","id":"h1","amount":1250,"currency":"EUR"`, `{"op":"sale","id":"h2","amount":12e2}` + "\n", `{"op":"sale","id":"h3","amount":-1250}` + "\n",
			`{"op":"sale","id":"h4","amount":1250,"amount":1}` + "\n", `{"op":"sale","amount":1250}` + "\n", `{"op":"sale","id":"h5","amount":1250}*0000` + "\n",
			`{"op":"ack","id":"h6"}` + "\n", `{"id":"h7","outcome":"approved","amount":1250}` + "\n", strings.Repeat("{", 70000), strings.Repeat(`{"a":`, 9000) + "\n",
		},
		New: func(line Line) (Till, error) {
			o := JSONLOptions{Name: line.Name, Password: s.Password, Currency: line.Currency, Wait: min(cmp.Or(line.Wait, silence), silence)}
			if line.Running != nil {
				o.Note = func(l JSONLine) {
					if l.Accepted || l.Step != "" {
						line.Running()
					}
				}
			}
			return NewJSONL(line.Conn, o), nil
		},
	}, nil
}

// Greet implements Till: it says who the register is.
func (t *JSONL) Greet(ctx context.Context) (bool, error) {
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
	return hello.Sandbox, err
}

// sale asks about a sale.
func (t *JSONL) sale(ctx context.Context, message map[string]any) (Answer, error) {
	l, acknowledged, err := t.Ask(ctx, message)
	a := Answer{
		Text: l.Text, Firm: acknowledged, Raw: fmt.Sprintf("%+v", l),
		Said: map[string]Said{"approved": Approved, "declined": Declined, "aborted": Aborted, "refused": Refused, "not_found": NotFound}[l.Outcome],
	}
	switch {
	case a.Said == Approved:
		a.Amount, a.Receipt = money.Minor(l.Amount), l.Receipt
	case a.Said != Nothing || err != nil:
	case l.Error != nil:
		err = errors.New(l.Error.Code + ": " + l.Error.Text)
	default:
		err = errors.New("the outcome is " + l.Outcome)
	}
	return a, err
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
