package disputes

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/store"
)

// action names a move in a case's history.
func action(m disputes.Move) string {
	switch m {
	case disputes.Submit:
		return "submit"
	case disputes.Close:
		return "close"
	case disputes.Acknowledge:
		return "acknowledge closure"
	case disputes.Reject:
		return "reject closure"
	case disputes.Answer:
		return "answer"
	}
	return "update"
}

// advance lets everything happen that is due by now: the operator's answers.
func advance(tx store.Tx, now time.Time) error {
	at := now.UnixMilli()
	_, err := tx.Exec(`INSERT INTO cases_status (number, queue, user, notes, action, at_ms)
		SELECT number, ?, ?, '', ?, due_ms FROM cases_case WHERE due_ms <= ? ORDER BY due_ms, number`,
		int64(disputes.AwaitingFeedback), operator, action(disputes.Answer), at)
	if err == nil {
		_, err = tx.Exec(`UPDATE cases_case SET queue = ?, modified_day = ?, due_ms = NULL WHERE due_ms <= ?`,
			int64(disputes.AwaitingFeedback), now.UTC().Format(disputes.DateLayout), at)
	}
	if err != nil {
		return fmt.Errorf("advance cases: %w", err)
	}
	return nil
}

// look reads; what is due happens first.
func (c *Cases) look(ctx context.Context, op string, use func(store.Reader) error) error {
	now, due := c.Now(), int64(0)
	err := c.DB.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM cases_case WHERE due_ms <= ?`, now.UnixMilli()).Scan(&due)
	})
	if err == nil && due > 0 {
		err = c.DB.Write(ctx, func(tx store.Tx) error { return advance(tx, now) })
	}
	if err == nil {
		err = c.DB.Read(ctx, use)
	}
	if err != nil {
		return wire.AsError(op, err)
	}
	return nil
}
