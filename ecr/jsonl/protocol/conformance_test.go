package protocol

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"posagent/ecr/ecrtest"
	"posagent/ecr/jsonl"
	"posagent/ecr/till"
	"posagent/schemes/money"
)

func config() jsonl.Config {
	return jsonl.Config{TerminalID: "52500038", Currency: "EUR", MerchantName: "Corner Shop", Language: "en", Version: "1.2.3", Sandbox: true}
}

// TestConformance holds JSON lines to the suite with a register that was written from the README:
// with checksums, and on TCP and a trusted cable without.
func TestConformance(t *testing.T) {
	hostile := []string{
		`{"op":"sale","id":"7","amount":1250,"currency":"EUR"`, `{"op":"sale","id":"7","amount":1250.0,"currency":"EUR"}` + "\n",
		`{"op":"sale","id":"7","amount":12e2}` + "\n", `{"op":"sale","id":"7","amount":"1250"}` + "\n", `{"op":"sale","id":"7","amount":-1250}` + "\n",
		`{"op":"sale","id":"7","amount":1250,"amount":1}` + "\n", `{"op":"sale","id":"7","amount":1250,"Amount":1}` + "\n",
		`{"op":"sale","id":"7","Amount":1250}` + "\n", `{"op":"sale","id":null,"amount":1250}` + "\n", `{"op":"sale","amount":1250}` + "\n",
		`{"op":"sale","id":"7","amount":1250}{"op":"sale","id":"8","amount":1250}` + "\n", `[{"op":"sale","id":"7","amount":1250}]` + "\n",
		`{"op":"sale","id":"7","amount":1250}*0000` + "\n", "{\"op\":\"sale\",\"id\":\"7\xff\",\"amount\":1250}\n",
		`{"op":"sale","id":"7","amount":9999999999999}` + "\n", `{"op":"ack","id":"7"}` + "\n", `{"id":"7","outcome":"approved","amount":1250}` + "\n",
		strings.Repeat("{", 70000), strings.Repeat(`{"a":`, 9000) + "\n", `{"op":"` + strings.Repeat("x", 70000) + "\"}\n", "\n\n \t{}\n",
	}
	can := ecrtest.Can{Abort: true, EndOfDay: true, IDs: true, Repeats: true, Names: true}
	for name, c := range map[string]struct{ bare bool }{"with checksums": {false}, "without": {true}} {
		t.Run(name, func(t *testing.T) {
			ecrtest.Run(t, ecrtest.Fixture{
				Protocol: New(Options{JSONL: config(), NoChecksum: c.bare}), Hostile: hostile, Can: can, Connect: connect(till.JSONLOptions{Bare: c.bare}),
			})
		})
	}
}

// one is a register of package till, which shares no code with the terminal.
type one struct {
	*till.JSONL
	days *int
}

func connect(opt till.JSONLOptions) func(context.Context, ecrtest.Kind, net.Conn, string) (ecrtest.Register, error) {
	days := 0
	return func(ctx context.Context, _ ecrtest.Kind, conn net.Conn, name string) (ecrtest.Register, error) {
		z := one{till.NewJSONL(conn, opt), &days}
		_, _, err := z.JSONL.Ask(ctx, map[string]any{"op": "hello", "till": name})
		return z, err
	}
}

// said reads the line that ended a question.
func said(l till.JSONLine, err error) (ecrtest.Answer, error) {
	a := ecrtest.Answer{Said: map[string]ecrtest.Said{
		"approved": ecrtest.Approved, "declined": ecrtest.Declined, "aborted": ecrtest.Aborted, "refused": ecrtest.Refused, "not_found": ecrtest.NotFound,
	}[l.Outcome]}
	switch {
	case l.Outcome == "refused" && l.Code == "busy":
		a.Said = ecrtest.Busy
	case l.Outcome == "approved":
		a.Amount = money.Minor(l.Amount)
	case l.Error != nil && err == nil:
		err = errors.New(l.Error.Code + ": " + l.Error.Text)
	}
	return a, err
}

func (z one) Pay(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	l, _, err := z.JSONL.Ask(ctx, map[string]any{"op": "sale", "id": id, "amount": int64(amount), "currency": "EUR"})
	return said(l, err)
}

func (z one) Again(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	return z.Pay(ctx, amount, id)
}

// Ask implements ecrtest.Asker: a sale of which nothing but progress comes for a while runs.
func (z one) Ask(ctx context.Context, id string) (ecrtest.Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 25*time.Second, errRuns)
	defer cancel()
	l, _, err := z.JSONL.Ask(ctx, map[string]any{"op": "status", "id": id})
	if err != nil && errors.Is(context.Cause(ctx), errRuns) {
		return ecrtest.Answer{Said: ecrtest.Running}, nil
	}
	return said(l, err)
}

var errRuns = errors.New("nothing but progress")

func (z one) Abort(ctx context.Context) (bool, error) { return z.JSONL.Abort(ctx, "") }

func (z one) EndOfDay(ctx context.Context) (bool, int, money.Minor, error) {
	*z.days++
	l, _, err := z.JSONL.Ask(ctx, map[string]any{"op": "totals", "close": true, "id": "day-" + strings.Repeat("x", *z.days)})
	if l.Totals == nil {
		return false, 0, 0, err
	}
	return l.Totals.Closed, l.Totals.Count, money.Minor(l.Totals.Net), err
}
