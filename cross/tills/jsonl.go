package tills

import (
	"context"
	"fmt"
	"net"
	"time"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// silence is how long a till waits for a line, which comes at least every 15 s (rule 2 of the protocol).
const silence = 20 * time.Second

// jsonl asks with the same id again.
type jsonl struct{ Way }

func newJSONL(w Way) Till { return jsonl{w} }

// Pay implements Till.
func (z jsonl) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	return z.ask(ctx, map[string]any{"op": "sale", "id": id, "amount": amount, "currency": "EUR", "reference": "order " + id})
}

// Again implements Till.
func (z jsonl) Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error) {
	if resend {
		return z.Pay(ctx, amount, id)
	}
	return z.ask(ctx, map[string]any{"op": "status", "id": id})
}

func (z jsonl) ask(ctx context.Context, message map[string]any) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		t := till.NewJSONL(conn, till.JSONLOptions{Wait: min(z.Wait, silence)})
		defer t.Close()
		l, acknowledged, err := t.Ask(ctx, message)
		a := Answer{Amount: money.Minor(l.Amount), Firm: acknowledged, Text: fmt.Sprintf("%+v", l)}
		switch {
		case l.Outcome == "approved":
			a.Word = Approved
		case l.Outcome == "declined", l.Outcome == "aborted":
			a.Word = NotPaid
		case l.Outcome == "not_found":
			a.Word = Unknown
		case err != nil:
			return Answer{}, err
		case l.Outcome == "refused" && l.Code != "processing_error", l.Error != nil && l.Error.Code == "busy":
			a.Word = Busy
		default:
			return Answer{}, fmt.Errorf("the terminal says %+v, error %+v", l, l.Error)
		}
		return a, nil // the line may have broken after it, before the terminal recorded the ack
	})
}
