package journal

import (
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/store"
)

// Transit applies one event to a row inside a transaction and writes what belongs to the decision.
// The effects of the step are to be performed once the transaction is durable. It returns
// checkout.ErrRefused, and errors of the store.
func (j *Journal) Transit(tx store.Tx, r *Row, e checkout.Event) (Step, error) {
	var first []checkout.Effect
	if e.Name != checkout.ToldAborted && j.opt.Memory != nil && j.opt.Memory.GivenUp(r.Key) { // whatever has happened meanwhile
		var err error
		if first, err = j.transit(tx, r, checkout.Event{Name: checkout.ToldAborted}); err != nil {
			return Step{}, err
		}
	}
	rest, err := j.transit(tx, r, e)
	return j.Step(r, append(first, rest...)), err
}

func (j *Journal) transit(tx store.Tx, r *Row, e checkout.Event) ([]checkout.Effect, error) {
	before := *r
	e = j.complete(r, e)
	if e.Whose == intent.NotSaid && r.State.TransactionID == 0 {
		taken, err := taken(tx, r, e.Status.TransactionID)
		if err != nil {
			return nil, err
		}
		if taken {
			e.Whose = intent.Anothers
		}
	}
	next, effects, err := checkout.Next(r.State, e)
	if err != nil {
		return nil, fmt.Errorf("sale %s: %w", r.Key, err)
	}
	r.State, r.Boot = next, j.opt.BootID
	if r.DecidedMS == 0 && next.Result != "" {
		r.DecidedMS = j.opt.Now().UnixMilli()
	}
	if next.Phase != before.State.Phase {
		r.Resumes = 0
	}
	var rest []checkout.Effect
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse:
			err = j.acceptUndo(tx, r, f.Attempt, false)
		case checkout.RefundUndo:
			err = j.acceptUndo(tx, r, f.Attempt, true)
		case checkout.GiveReceipt:
			err = j.giveReceipt(tx, r)
		case checkout.Release:
			err = j.release(tx, r)
		case checkout.Exception:
			err = j.raise(tx, r, f.Short, f.Text)
		default:
			rest = append(rest, f)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := renamed(tx, before.State, r); err != nil {
		return nil, err
	}
	if checkout.Explained(before.State, r.State, e.Name) {
		if err := j.explained(tx, r); err != nil {
			return nil, err
		}
	}
	if before.State.Phase == checkout.Forward && r.Told == ToldInProgress { // until its register asks again
		if err := j.Unheard(tx, r); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(j.ended(tx, &before, r), j.holds(tx, &before, r, e)); err != nil {
		return nil, err
	}
	if text := describe(&before, r, e); text != "" {
		if err := j.Note(tx, r.Key, false, text); err != nil {
			return nil, err
		}
	}
	if err := j.Update(tx, r); err != nil {
		return nil, err
	}
	if j.opt.Record != nil && stepped(before.State, r.State) {
		err = j.opt.Record(tx, e.Name, &before, r)
	}
	return rest, err
}

// stepped says that a sale has come to another phase or outcome, or that its customer sees or does
// something else.
func stepped(was, now checkout.State) bool {
	return now.Result != was.Result || now.Phase != was.Phase || now.Shown != was.Shown || now.AwaitingApp != was.AwaitingApp || now.Engaged != was.Engaged
}

// ended does what the end of a sale asks for.
func (j *Journal) ended(tx store.Tx, before, r *Row) error {
	if r.State.Phase != checkout.Done || before.State.Phase == checkout.Done {
		return nil
	}
	r.request = nil
	if err := j.db.Shred(tx, "checkout_sales", string(r.Key)); err != nil {
		return fmt.Errorf("end sale %s: %w", r.Key, err)
	}
	open, err := Batch(tx)
	if err != nil {
		return err
	}
	if before.State.Phase == checkout.Reversing && r.Batch != open {
		return j.Note(tx, r.Key, true, fmt.Sprintf("%s: carried over from batch %d, undone", r.Title(), r.Batch))
	}
	return nil
}

// complete adds what every event carries.
func (j *Journal) complete(r *Row, e checkout.Event) checkout.Event {
	if e.Now == 0 {
		e.Now = j.opt.Boot()
	}
	e.TakenBack = r.Reversed
	e.Listening = j.opt.Memory != nil && j.opt.Memory.Listening(r.Key)
	if e.Name == checkout.StatusRead {
		e.Whose = whose(r, e)
	}
	e.Poll, e.Patient = checkout.PollOf(r.Method, j.opt.Poll), j.opt.Memory != nil && j.opt.Memory.Patient(r.Key)
	return e
}

// whose judges a status of a row by what it tells of the request.
func whose(r *Row, e checkout.Event) intent.Verdict {
	amount, err := r.Hundredths()
	if err != nil { // it was never sent
		return intent.Anothers
	}
	asked := intent.Request{Reference: r.Reference, Hundredths: amount.TotalAmount, Currency: r.Currency, Age: checkout.Age(r.State, e.Now)}
	return asked.Status(e.Status)
}

// taken returns whether a transaction number of a service stands under another sale of this journal, or its undo.
// Payment links have numbers of their own, and a refund by link shows the transaction that it gives
// back: agent/paylink compares what was given there.
func taken(tx store.Tx, r *Row, id int64) (bool, error) {
	if id == 0 || r.Method.Name == gateway.MethodPaylink && r.Kind != ecr.Payment {
		return false, nil
	}
	rows, err := many(nil, tx, byTransaction, id)
	if err == nil {
		var undone []*Row
		undone, err = many(nil, tx, byName, undoName(id))
		rows = append(rows, undone...)
	}
	if err == nil {
		rows, err = here(tx, rows)
	}
	if err != nil {
		return false, err
	}
	for _, other := range rows {
		if other.Key != r.Key && (other.Method.Name == gateway.MethodPaylink) == (r.Method.Name == gateway.MethodPaylink) {
			return true, nil
		}
	}
	return false, nil
}
