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

// Alert is a sale or an operation whose money is not where its register or client was told. It stays
// until a person acknowledges it, or until it is proven wrong, also after what it is about was purged.
// There is one at most about a sale, and one about an operation.
type Alert struct {
	Key       wire.Key // of the operation, or of the sale
	Kind      string   // of the operation; AboutSale
	Subject   string   // the local id of what it was about, or the sale in words
	State     State    // Failed or Expired; the phase of a sale
	AmountMin int64    // minor units, 0 where none
	Currency  string
	Reason    string
	Short     string // who is short of the amount, a checkout.Short; "" = nobody
	Owner     string // the local client that it belongs to; "" = the terminal
	At        time.Time
}

// AboutSale is the kind of an alert about a sale.
const AboutSale = "sale"

// What becomes of an alert, for Options.Alerted.
const (
	AlertRaised       = "raised"
	AlertAcknowledged = "acknowledged" // by a person
	AlertWithdrawn    = "withdrawn"    // proven wrong, or nothing that a person has to see
)

// Alert raises one for op, in the commit that ends it. A second one for the same operation changes
// nothing. short is who is short of the amount.
func (o *Outbox) Alert(tx store.Tx, op Op, subject, short string) error {
	var known int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM outbox_alerts WHERE key = ?`, string(op.Key)).Scan(&known); err != nil || known > 0 {
		return wrapAlert(op.Key, err)
	}
	return o.Raise(tx, Alert{
		Key: op.Key, Kind: op.Kind, Subject: subject, State: op.State, AmountMin: op.AmountMin, Currency: op.Currency, Reason: op.Reason,
		Short: short, Owner: op.Owner,
	})
}

// Raise raises an alert in the commit of what it is about. It replaces an earlier one of the same
// Key; its At is now.
func (o *Outbox) Raise(tx store.Tx, a Alert) error {
	a.At = o.now()
	_, err := tx.Exec(`INSERT OR REPLACE INTO outbox_alerts (`+alertColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(a.Key), a.Kind, a.Subject, string(a.State), a.AmountMin, a.Currency, a.Reason, a.Short, a.Owner, a.At.UnixMilli())
	if err == nil && o.alerted != nil {
		err = o.alerted(tx, a, AlertRaised)
	}
	return wrapAlert(a.Key, err)
}

func wrapAlert(key wire.Key, err error) error {
	if err != nil {
		err = fmt.Errorf("alert of %s: %w", key, err)
	}
	return err
}

// ErrNoAlert is the answer to an acknowledgement of what has no alert.
var ErrNoAlert = errors.New("no alert of this sale or operation waits for an acknowledgement")

// Acknowledge ends an alert by a person's decision, which stands in the audit log in the same commit.
// ErrNoAlert.
func (o *Outbox) Acknowledge(ctx context.Context, key wire.Key) error {
	return o.db.Write(ctx, func(tx store.Tx) error {
		a, err := o.endAlert(tx, key, "", AlertAcknowledged)
		if err != nil || o.audit == nil {
			return err
		}
		deed := "operation.acknowledged"
		if a.Kind == AboutSale {
			deed = "sale.acknowledged"
		}
		return o.audit(tx, deed, string(key), a.Kind, a.AmountMin, a.Currency)
	})
}

// TakeAlertBack ends an alert that needs no person any more. ErrNoAlert.
func (o *Outbox) TakeAlertBack(ctx context.Context, key wire.Key) error {
	return o.db.Write(ctx, func(tx store.Tx) error {
		_, err := o.WithdrawAlert(tx, key, "")
		return err
	})
}

// WithdrawAlert is TakeAlertBack in the caller's commit, and returns the alert. One whose Short is keep
// stays; "" = none does. ErrNoAlert.
func (o *Outbox) WithdrawAlert(tx store.Tx, key wire.Key, keep string) (Alert, error) {
	return o.endAlert(tx, key, keep, AlertWithdrawn)
}

// endAlert deletes an alert and returns it. ErrNoAlert.
func (o *Outbox) endAlert(tx store.Tx, key wire.Key, keep, how string) (a Alert, err error) {
	err = a.scan(tx.QueryRow(`DELETE FROM outbox_alerts WHERE key = ?1 AND (?2 = '' OR short <> ?2) RETURNING `+alertColumns, string(key), keep))
	if errors.Is(err, sql.ErrNoRows) {
		return a, fmt.Errorf("%s: %w", key, ErrNoAlert)
	}
	if err == nil && o.alerted != nil {
		err = o.alerted(tx, a, how)
	}
	return a, wrapAlert(key, err)
}

const alertColumns = `key, kind, subject, state, amount, currency, reason, short, owner, at_ms`

func (a *Alert) scan(row store.Row) error {
	var at int64
	err := row.Scan(&a.Key, &a.Kind, &a.Subject, &a.State, &a.AmountMin, &a.Currency, &a.Reason, &a.Short, &a.Owner, &at)
	a.At = time.UnixMilli(at)
	return err
}

// AlertOf reads the alert of a sale or an operation. ErrNoAlert.
func AlertOf(r store.Reader, key wire.Key) (a Alert, err error) {
	err = a.scan(r.QueryRow(`SELECT `+alertColumns+` FROM outbox_alerts WHERE key = ?`, string(key)))
	if errors.Is(err, sql.ErrNoRows) {
		return a, fmt.Errorf("%s: %w", key, ErrNoAlert)
	}
	return a, wrapAlert(key, err)
}

// Alerts reads the oldest alerts, at most limit, and how many there are.
func Alerts(r store.Reader, limit int) (list []Alert, all int, err error) {
	if err := r.QueryRow(`SELECT COUNT(*) FROM outbox_alerts`).Scan(&all); err != nil || all == 0 {
		return nil, all, err
	}
	err = store.Each(r, func(row store.Row) error {
		var a Alert
		err := a.scan(row)
		list = append(list, a)
		return err
	}, `SELECT `+alertColumns+` FROM outbox_alerts ORDER BY at_ms, key LIMIT ?`, limit)
	if err != nil {
		return nil, all, fmt.Errorf("alerts: %w", err)
	}
	return list, all, nil
}
