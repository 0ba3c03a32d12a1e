package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// Alert is an operation whose client was told "stored", and which then came to nothing. It stays
// until a person acknowledges it, also after the operation was purged.
type Alert struct {
	Key       wire.Key
	Kind      string
	Subject   string // the local id of what it was about
	State     State  // Failed or Expired
	AmountMin int64  // minor units, 0 where none
	Currency  string
	Reason    string
	At        time.Time
}

// Alert raises one for op, in the commit that ends it. A second one for the same operation changes
// nothing.
func (o *Outbox) Alert(tx store.Tx, op Op, subject string) error {
	_, err := tx.Exec(`INSERT INTO outbox_alerts (key, kind, subject, state, amount, currency, reason, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO NOTHING`,
		string(op.Key), op.Kind, subject, string(op.State), op.AmountMin, op.Currency, op.Reason, o.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("alert of %s: %w", op.Key, err)
	}
	return nil
}

// ErrNoAlert is the answer to an acknowledgement of an operation without an alert.
var ErrNoAlert = errors.New("no alert of this operation waits for an acknowledgement")

// Acknowledge ends the alert of an operation by a person's decision, which stands in the audit log
// in the same commit. ErrNoAlert.
func (o *Outbox) Acknowledge(ctx context.Context, key wire.Key) error {
	return o.db.Write(ctx, func(tx store.Tx) error {
		kind, amount, currency, err := endAlert(tx, key)
		if err != nil || o.audit == nil {
			return err
		}
		return o.audit(tx, "operation.acknowledged", string(key), kind, amount, currency)
	})
}

// TakeAlertBack ends an alert that needs no person any more. ErrNoAlert.
func (o *Outbox) TakeAlertBack(ctx context.Context, key wire.Key) error {
	return o.db.Write(ctx, func(tx store.Tx) error {
		_, _, _, err := endAlert(tx, key)
		return err
	})
}

// endAlert deletes the alert of an operation, and returns what it was about. ErrNoAlert.
func endAlert(tx store.Tx, key wire.Key) (kind string, amount int64, currency string, err error) {
	err = tx.QueryRow(`DELETE FROM outbox_alerts WHERE key = ? RETURNING kind, amount, currency`, string(key)).Scan(&kind, &amount, &currency)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = fmt.Errorf("operation %s: %w", key, ErrNoAlert)
	case err != nil:
		err = fmt.Errorf("acknowledge %s: %w", key, err)
	}
	return kind, amount, currency, err
}

// Alerts reads the oldest alerts, at most limit, and how many there are.
func Alerts(r store.Reader, limit int) (list []Alert, all int, err error) {
	if err := r.QueryRow(`SELECT COUNT(*) FROM outbox_alerts`).Scan(&all); err != nil || all == 0 {
		return nil, all, err
	}
	err = store.Each(r, func(row store.Row) error {
		var a Alert
		var at int64
		err := row.Scan(&a.Key, &a.Kind, &a.Subject, &a.State, &a.AmountMin, &a.Currency, &a.Reason, &at)
		a.At = time.UnixMilli(at)
		list = append(list, a)
		return err
	}, `SELECT key, kind, subject, state, amount, currency, reason, at_ms FROM outbox_alerts ORDER BY at_ms, key LIMIT ?`, limit)
	if err != nil {
		return nil, all, fmt.Errorf("alerts: %w", err)
	}
	return list, all, nil
}
