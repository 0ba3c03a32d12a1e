package journal

import (
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/store"
)

// looked is how many of the newest sales a start verifies besides those that are open.
const looked = 1000

// raise tells the merchant what is wrong with a sale: a line of the end-of-day report, and an alert
// that stays until a person acknowledges it. A sale has one alert, with what was told of it last.
func (j *Journal) raise(tx store.Tx, r *Row, short checkout.Short, text string) error {
	if err := j.Note(tx, r.Key, true, reportLine(r.Title(), text)); err != nil {
		return err
	}
	return j.alert(tx, r, short, text)
}

func (j *Journal) alert(tx store.Tx, r *Row, short checkout.Short, text string) error {
	if j.opt.Outbox == nil {
		return nil
	}
	return j.opt.Outbox.Raise(tx, outbox.Alert{
		Key: r.Key, Kind: outbox.AboutSale, Subject: r.Title(), State: outbox.State(r.State.Phase), AmountMin: int64(r.Amount), Currency: r.Currency,
		Reason: text, Short: string(short),
	})
}

// explained takes the alert of a sale back, and its line in the end-of-day report: the money is where
// the register was told. What is no matter of its money a person still has to see.
func (j *Journal) explained(tx store.Tx, r *Row) error {
	if j.opt.Outbox == nil {
		return nil
	}
	a, err := j.opt.Outbox.WithdrawAlert(tx, r.Key, string(checkout.NotKnown))
	if errors.Is(err, outbox.ErrNoAlert) { // a person has acknowledged it, or there was none
		return nil
	}
	if err != nil {
		return fmt.Errorf("alert of %s: %w", r.Key, err)
	}
	return j.unsay(tx, r, a)
}

// unsay takes a line of the report back that has proven wrong. It stays in the sale's history; where it
// is in the report of a closed batch, the open one says so.
func (j *Journal) unsay(tx store.Tx, r *Row, a outbox.Alert) error {
	line := reportLine(a.Subject, a.Reason)
	open, err := Batch(tx)
	if err != nil {
		return err
	}
	var printed int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE sale = ?1 AND loud = 1 AND text = ?2 AND batch != ?3`, string(r.Key), line, open).Scan(&printed); err != nil {
		return fmt.Errorf("withdraw %s: %w", r.Key, err)
	}
	if _, err := tx.Exec(`UPDATE checkout_entries SET loud = 0 WHERE sale = ?1 AND loud = 1 AND text = ?2 AND batch = ?3`, string(r.Key), line, open); err != nil {
		return fmt.Errorf("withdraw %s: %w", r.Key, err)
	}
	return j.Note(tx, r.Key, printed > 0, reportLine(a.Subject, "withdrawn, it has proven wrong: "+a.Reason))
}

// reportLine is a sale and what is wrong with it.
func reportLine(title, text string) string { return title + ": " + text }

// Parked tells the merchant of a sale that is left alone after too many starts.
func (j *Journal) Parked(tx store.Tx, r *Row) error {
	return j.raise(tx, r, checkout.NotKnown, "resumed too often, left alone")
}

// Quarantine tells the merchant once about a row that does not verify.
func (j *Journal) Quarantine(tx store.Tx, r *Row) error {
	if said, err := quarantineSaid(tx, r); err != nil || said {
		return err
	}
	if err := j.Note(tx, r.Key, true, fmt.Sprintf("%s: the row of sale %s was changed from outside", quarantineMark, r.Key)); err != nil {
		return err
	}
	return j.alert(tx, r, checkout.NotKnown, "its row was changed from outside: what it says may be wrong")
}

// quarantineSaid says whether the merchant was told of a quarantined row.
func quarantineSaid(r store.Reader, row *Row) (bool, error) {
	var said int
	if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE sale = ? AND text LIKE ?`, string(row.Key), quarantineMark+"%").Scan(&said); err != nil {
		return false, fmt.Errorf("history of %s: %w", row.Key, err)
	}
	return said > 0, nil
}

// Changed reads the newest sales whose rows do not verify and of which the merchant was not told,
// those of closed batches included.
func (j *Journal) Changed(r store.Reader) (list []*Row, err error) {
	rows, err := j.many(r, `1 = 1 ORDER BY id DESC LIMIT ?`, looked)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if !row.altered {
			continue
		}
		said, err := quarantineSaid(r, row)
		if err != nil {
			return nil, err
		}
		if !said {
			list = append(list, row)
		}
	}
	return list, nil
}
