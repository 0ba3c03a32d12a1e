package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
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

// alert raises the alert of a sale. One that stands, and that this one does not prove wrong, goes on beside
// it: a sale has one alert, and what a person has not seen yet must not be lost with the next one.
func (j *Journal) alert(tx store.Tx, r *Row, short checkout.Short, text string) error {
	if j.opt.Outbox == nil {
		return nil
	}
	a, err := outbox.AlertOf(tx, r.Key)
	switch {
	case errors.Is(err, outbox.ErrNoAlert):
	case err != nil:
		return fmt.Errorf("alert of %s: %w", r.Key, err)
	case stands(a, short):
		text = partsOf(a.Reason).and(text, short == checkout.NotKnown, a.Short == string(checkout.NotKnown)).reason()
		if short != checkout.NotKnown {
			short = checkout.Short(a.Short)
		}
	}
	return j.opt.Outbox.Raise(tx, outbox.Alert{
		Key: r.Key, Kind: outbox.AboutSale, Subject: r.Title(), State: outbox.State(r.State.Phase), AmountMin: int64(r.Amount), Currency: r.Currency,
		Reason: text, Short: string(short),
	})
}

// stands says of an alert that one by which somebody else is short does not prove it wrong. What was said of a held sale is replaced
// by what is known since.
func stands(a outbox.Alert, short checkout.Short) bool {
	switch {
	case a.Short == string(checkout.Nobody), a.State == outbox.State(checkout.Held):
		return false
	case a.Short == string(checkout.NotKnown): // it ends by a person alone
		return true
	}
	return a.Short != string(short)
}

// besides stands in a reason between what came first and what came to it.
const besides = "; besides: "

// said is what the reason of an alert tells: what came first, and what came to it. What ends by a person
// alone stands first.
type said struct {
	first string
	more  []string
}

func partsOf(reason string) said {
	list := strings.Split(reason, besides)
	return said{list[0], list[1:]}
}

// and adds a text, once. person says that it ends by a person alone, and before that what stands first does.
func (s said) and(text string, person, before bool) said {
	switch {
	case strings.Contains(s.first, text), slices.Contains(s.more, text):
	case person && before:
		s.first += "; " + text
	case person:
		return said{text, append([]string{s.first}, s.more...)}
	default:
		s.more = append(s.more, text)
	}
	return s
}

func (s said) reason() string { return strings.Join(append([]string{s.first}, s.more...), besides) }

// explained takes the alert of a sale back, and its line in the end-of-day report: the money is where
// the register was told. What is no matter of its money a person still has to see.
func (j *Journal) explained(tx store.Tx, r *Row) error {
	if j.opt.Outbox == nil {
		return nil
	}
	a, err := j.opt.Outbox.WithdrawAlert(tx, r.Key, string(checkout.NotKnown))
	wrong := said{}
	switch {
	case err == nil:
		wrong = partsOf(a.Reason)
	case !errors.Is(err, outbox.ErrNoAlert):
		return fmt.Errorf("alert of %s: %w", r.Key, err)
	default:
		if a, err = outbox.AlertOf(tx, r.Key); errors.Is(err, outbox.ErrNoAlert) { // a person has acknowledged it, or there was none
			return nil
		}
		if err != nil {
			return err
		}
		wrong.more = partsOf(a.Reason).more
		if err := j.without(tx, a, wrong.more...); err != nil {
			return err
		}
	}
	for _, text := range append([]string{wrong.first}, wrong.more...) {
		if text == "" {
			continue
		}
		a.Reason = text
		if err := j.unsay(tx, r, a); err != nil {
			return err
		}
	}
	return nil
}

// without takes what came to an alert out of it again.
func (j *Journal) without(tx store.Tx, a outbox.Alert, texts ...string) error {
	s := partsOf(a.Reason)
	was := len(s.more)
	s.more = slices.DeleteFunc(s.more, func(text string) bool { return slices.Contains(texts, text) })
	if len(s.more) == was {
		return nil
	}
	a.Reason = s.reason()
	return j.opt.Outbox.Raise(tx, a)
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

// unheardMark begins the line of a sale's history that tells of the alert of Unheard.
const unheardMark = "its end was not told"

// Unheard raises the alert about the end of a refund or reversal that its register has not
// acknowledged (MONEY A.9), in the caller's commit. It does nothing where that was told, or where
// there is no end.
func (j *Journal) Unheard(tx store.Tx, r *Row) error {
	if r.Kind == ecr.Payment || r.State.Phase != checkout.Done || r.State.Result == "" || r.Told == string(ecr.Told) || r.Quarantined {
		return nil
	}
	if err := j.Note(tx, r.Key, false, unheardMark+": "+r.unheard()); err != nil {
		return err
	}
	return j.alert(tx, r, checkout.Nobody, r.unheard())
}

// UnheardBefore raises the alerts of Unheard that a process before this one has not raised: it ended
// before any telling did.
func (j *Journal) UnheardBefore(tx store.Tx) error {
	rows, err := j.Untold(tx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		said, err := noted(tx, r, unheardMark)
		if err == nil && !said { // else a person may have acknowledged it
			err = j.Unheard(tx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Heard takes the alert of Unheard back, in the caller's commit: the register has acknowledged the end
// after all. Any other alert of the sale stays.
func (j *Journal) Heard(tx store.Tx, r *Row) error {
	if r.Kind == ecr.Payment || j.opt.Outbox == nil {
		return nil
	}
	a, err := outbox.AlertOf(tx, r.Key)
	switch {
	case err != nil:
	case a.Short == string(checkout.Nobody):
		_, err = j.opt.Outbox.WithdrawAlert(tx, r.Key, "")
	default:
		err = j.without(tx, a, r.unheard())
	}
	if err != nil && !errors.Is(err, outbox.ErrNoAlert) {
		return fmt.Errorf("alert of %s: %w", r.Key, err)
	}
	return nil
}

// reportLine is a sale and what is wrong with it.
func reportLine(title, text string) string { return title + ": " + text }

// Parked tells the merchant of a sale that is left alone after too many starts.
func (j *Journal) Parked(tx store.Tx, r *Row) error {
	return j.raise(tx, r, checkout.NotKnown, "resumed too often, left alone")
}

// GivenBackAfterLoss tells the merchant of what is given back of a payment from before this journal took
// a lost one's place: the ledger went back with the journal, so that one may have given it back as well.
// It stays until a person has looked; once one has released the lost numbers nothing is said.
func (j *Journal) GivenBackAfterLoss(tx store.Tx, r, orig *Row) error {
	old, err := BeforeLoss(tx, orig)
	if err != nil || !old {
		return err
	}
	lost, err := LostNumbers(tx)
	if err != nil || !lost.Open() {
		return err
	}
	return j.raise(tx, r, checkout.NotKnown, "of a payment from before the journal was replaced: the one before it may have given it back already, compare the backend's portal")
}

// Quarantine tells the merchant once about a row that does not verify.
func (j *Journal) Quarantine(tx store.Tx, r *Row) error {
	if said, err := noted(tx, r, quarantineMark); err != nil || said {
		return err
	}
	if err := j.Note(tx, r.Key, true, fmt.Sprintf("%s: the row of sale %s was changed from outside", quarantineMark, r.Key)); err != nil {
		return err
	}
	return j.alert(tx, r, checkout.NotKnown, "its row was changed from outside: what it says may be wrong")
}

// noted says whether a line of a sale's history begins so.
func noted(r store.Reader, row *Row, mark string) (bool, error) {
	var said int
	if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE sale = ? AND text LIKE ?`, string(row.Key), mark+"%").Scan(&said); err != nil {
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
		said, err := noted(r, row, quarantineMark)
		if err != nil {
			return nil, err
		}
		if !said {
			list = append(list, row)
		}
	}
	return list, nil
}
