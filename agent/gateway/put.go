package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// put stores a write, and listens for its end from before it can be sent. It makes the Key again where the thing that the write names
// became known meanwhile as one that was made here.
func (f *Front) put(ctx context.Context, w *write, st *acceptance, down bool) (told <-chan struct{}, leave func() bool, err error) {
	caller := wire.CallerOf(ctx)
	for {
		var subject string
		if w.key != "" && !w.row.Makes {
			err = f.o.DB.Read(ctx, func(r store.Reader) (err error) { _, _, subject, err = f.subject(r, w, caller.Name); return err })
		}
		key := f.ourKey(w, caller.Name, subject)
		told, leave = f.listen(key)
		var n outbox.New
		if err == nil {
			n, err = f.newOperation(w, key, false)
		}
		if err == nil {
			n.Trace = wire.TraceOf(ctx)
			err = f.box.Seal(&n) // beside others that do; the writer is one
		}
		if err == nil {
			err = f.o.DB.Write(ctx, func(tx store.Tx) (err error) {
				*st, err = f.accept(tx, w, n, caller, subject, down)
				return err
			})
		}
		if st.heard = key; err == nil {
			return told, leave, nil
		}
		if st.lent { // what another caller has lent under this key stays
			f.dropBody(key)
		}
		if !errors.Is(err, errMoved) {
			return told, leave, f.unstored(ctx, w, st, caller, err)
		}
		leave()
	}
}

// unstored is the error of a write that cannot be stored. "Unavailable" says that nothing was sent: what came under the client's key
// before, and can be read, has its answer, and where nothing can be read it is not known whether there is one.
func (f *Front) unstored(ctx context.Context, w *write, st *acceptance, caller wire.Caller, why error) error {
	var told *wire.Error
	if w.key == "" || errors.As(why, &told) {
		return why
	}
	var was acceptance
	err := f.o.DB.Read(context.WithoutCancel(ctx), func(r store.Reader) error {
		t, known, subject, err := f.subject(r, w, caller.Name)
		about := ""
		var strange error
		if err == nil && !w.row.Makes {
			_, strange = f.ownerOf(r, w.row.Kind, w.row.Thing, w.id, t, known, caller)
			about = f.aggregateOf(w.row.Thing, w.id, t, known)
		}
		if err == nil {
			was, _, _, _, err = f.before(r, w, f.ourKey(w, caller.Name, subject), caller, t, known, about, strange)
		}
		return err
	})
	switch {
	case errors.As(err, &told):
		return told
	case err != nil && !errors.Is(err, errThing): // an altered row is used for nothing
		f.o.Log.Error("journal not read", "kind", w.row.Kind, "err", err)
		return wire.Errorf(wire.UnknownOutcome, w.row.Kind, "the terminal cannot read its journal now, and an earlier call may have come under this Idempotency-Key: ask again under it")
	case was.key == "":
		return why
	}
	was.heard = st.heard
	*st = was
	return nil
}

// before is what came under a client's key before; fresh = nothing did. It has no key where that was withdrawn: it was never sent, and
// its caller knows. strange is why the caller does not reach what the write is about.
func (f *Front) before(r store.Reader, w *write, key wire.Key, caller wire.Caller, t thing, known bool, about string, strange error) (st acceptance, u used, op outbox.Op, fresh bool, err error) {
	if u, fresh, err = f.claim(r, w, key, caller.Name, about); err == nil && fresh {
		other, found, failed := f.claimOther(r, w, caller.Name, t, known)
		if err = failed; found {
			u, fresh = other, false
		}
	}
	if err != nil || fresh {
		return st, u, op, fresh, err
	}
	if op, err = f.load(r, u.key); err == nil && caller.Own && op.Owner != caller.Name { // it was given to another client since
		err = strange
	}
	if err == nil && !keptOf(op).Withdrawn {
		var made thing
		made, _, err = f.made(r, w.row, u.key)
		st = acceptance{key: u.key, local: made.local, now: nowOf(op), held: op.State == outbox.Held}
	}
	return st, u, op, false, err
}

// errMoved says that it became known what a write is about while it was prepared.
var errMoved = errors.New("the thing has a Key now")

// accept does everything that has to be one commit.
func (f *Front) accept(tx store.Tx, w *write, n outbox.New, caller wire.Caller, subject string, down bool) (st acceptance, err error) {
	key, trace := n.Key, n.Trace
	t, known, now, err := f.subject(tx, w, caller.Name)
	if err != nil {
		return st, err
	}
	owner, about := caller.Name, ""
	var strange error // the caller does not reach the thing; what it asked of it before has its answer
	if !w.row.Makes {
		if owner, err = f.ownerOf(tx, w.row.Kind, w.row.Thing, w.id, t, known, caller); err != nil {
			var refused *wire.Error
			if w.key == "" || !errors.As(err, &refused) {
				return st, err
			}
			strange = refused
		}
		about = f.aggregateOf(w.row.Thing, w.id, t, known)
	}
	again, since := false, false // it was withdrawn; it may have been sent all the same, after a copy of this journal was made
	var u used
	if w.key != "" {
		if now != subject {
			return st, errMoved
		}
		var op outbox.Op
		fresh := false
		if st, u, op, fresh, err = f.before(tx, w, key, caller, t, known, about, strange); err != nil || st.key != "" {
			return st, err
		}
		if !fresh {
			if err := w.notThere(tx, op); err != nil && strange == nil {
				return st, err
			}
			again, since = true, op.SentSince
			if key = u.key; key != n.Key { // from before our Keys were made of the callers'
				if n, err = f.newOperation(w, key, false); err != nil {
					return st, err
				}
			}
		}
	}
	if refusal := cmp.Or(strange, w.refusal); refusal != nil {
		return st, refusal
	}
	if !known && !w.row.Makes && isLocal(w.row, w.id) {
		return st, f.lost(tx, w.row.Kind, w.row.Thing, "this terminal has not made %s", w.id)
	}
	if err := t.elsewhere(w.row.Kind); err != nil {
		return st, err
	}
	if known && t.backend == "" {
		if err := f.refuseUnmade(tx, w, t); err != nil {
			return st, err
		}
	}
	if known && w.currency == "" {
		w.currency = seenOf(t).Currency
	}
	if known && w.unknown {
		ops, err := f.box.List(tx, outbox.Filter{Aggregate: about, Limit: 1000})
		if err != nil {
			return st, err
		}
		amount, sure := f.rest(w.row, t, ops)
		w.amount, w.unknown = amount, !sure
	}
	st = acceptance{key: key, fresh: true}
	all, sum, err := addTotals(tx, w.currency, 1, w.row.bounded(w.amount))
	if err != nil {
		return st, err
	}
	hold := ""
	if w.key != "" && (!again || since) {
		if hold, err = f.mayRepeat(tx, w, known); err != nil {
			return st, err
		}
	}
	if st.now = f.mustBeNow(w, all, sum); st.now != "" {
		switch {
		case hold != "":
			return st, wire.Errorf(wire.Unavailable, w.row.Kind, "%s; a person releases such writes (posagent ops release --all), and this is not stored: %s", hold, st.now)
		case down:
			return st, &wire.Error{Code: wire.Unavailable, Op: w.row.Kind, Err: errAway, Msg: "the backend does not answer, and this is not stored: " + st.now}
		}
		f.holdBody(key, w.body)
		st.lent = true
	}
	if w.row.Makes {
		if st.local, err = f.localID(tx, w, key, caller.Name, again); err != nil {
			return st, err
		}
		about = w.row.Thing + "/" + st.local
	}
	if st.now != "" {
		if n, err = f.newOperation(w, key, true); err != nil {
			return st, err
		}
	}
	n.Trace = trace
	n.Owner, n.Aggregate, n.AmountMin, n.Currency = owner, about, w.amount, w.currency
	switch {
	case again:
		revive := f.box.Revive
		if hold != "" {
			st.held = true
			revive = func(tx store.Tx, n outbox.New) error { return f.box.ReviveHeld(tx, n, hold) }
		}
		err = revive(tx, n)
		if errors.Is(err, outbox.ErrState) {
			err = &wire.Error{Code: wire.Unavailable, Op: w.row.Kind, Err: err, Msg: "an earlier operation on it is not at its end: ask again"}
		}
	case hold != "":
		st.held = true
		err = f.box.AcceptHeld(tx, n, hold)
	default:
		err = f.box.Accept(tx, n)
	}
	if err == nil && w.key != "" && !again {
		err = f.keepKey(tx, w, u, caller.Name)
	}
	return st, err
}

// localID is the local id of what a write makes: a new one, or the one it got when it was asked for first.
func (f *Front) localID(tx store.Tx, w *write, key wire.Key, owner string, again bool) (string, error) {
	if again {
		if made, found, err := f.made(tx, w.row, key); err != nil || found {
			return made.local, err
		}
	}
	if !again && w.young() {
		return "L" + string(key), nil
	}
	return f.addThing(tx, w.row.Number, thing{about: w.row.Thing, key: key, seen: string(w.seen), owner: owner})
}

// refuseUnmade refuses an operation on a thing that never came to be, or whose id at the backend is not to be known any more.
func (f *Front) refuseUnmade(tx store.Tx, w *write, t thing) error {
	_, e, err := f.madeBy(tx, t)
	switch {
	case err != nil:
		return err
	case e.State == outbox.Done:
		return wire.Errorf(wire.Conflict, w.row.Kind, "%s", e.text())
	case e.State != "":
		return wire.Errorf(wire.NotFound, w.row.Kind, "%s", e.text())
	}
	return nil
}

// addTotals keeps the totals. It returns how many operations are stored now in all, and what those in the currency come to.
func addTotals(tx store.Tx, currency string, n, amount int64) (all, sum int64, err error) {
	err = tx.QueryRow(`INSERT INTO offline_totals (currency, count, amount) VALUES (?1, MAX(?2, 0), MAX(?3, 0))
		ON CONFLICT (currency) DO UPDATE SET count = MAX(count + ?2, 0), amount = MAX(amount + ?3, 0)
		RETURNING (SELECT SUM(count) FROM offline_totals), amount`, currency, n, amount).Scan(&all, &sum)
	if err != nil {
		err = fmt.Errorf("count operations: %w", err)
	}
	return all, sum, err
}

// errAway says that a write needs its answer now, of a service that did not answer last time.
var errAway = errors.New("not there")

// newOperation is a write as the outbox takes it. now = not without somebody who waits for its answer.
func (f *Front) newOperation(w *write, key wire.Key, now bool) (outbox.New, error) {
	data, err := json.Marshal(payload{Thing: w.id, Now: now, Part: w.part, Body: w.keep})
	if err != nil {
		return outbox.New{}, fmt.Errorf("store %s: %w", w.row.Kind, err)
	}
	return outbox.New{Key: key, Kind: w.row.Kind, Payload: data, Note: w.row.Note}, nil
}

// load reads an operation; one whose row was altered is held, whatever it says.
func (f *Front) load(r store.Reader, key wire.Key) (outbox.Op, error) {
	op, err := f.box.Get(r, key)
	if errors.Is(err, outbox.ErrAltered) {
		op.State, err = outbox.Held, nil
	}
	return op, err
}

const partial = "it carries what is never stored (a validation code, or a card number where [offline] card_data is refuse)"

// nowOf says why an operation that an earlier call made is answered now or never, "" = it is not.
func nowOf(op outbox.Op) string {
	var p payload
	if err := json.Unmarshal(op.Payload, &p); err == nil && p.Now && !op.State.Final() { // at its end the payload is gone
		return "an earlier call under the same Idempotency-Key was not"
	}
	return ""
}

// mustBeNow says why a write may not be stored, "" = it may. all and sum are the totals with it.
func (f *Front) mustBeNow(w *write, all, sum int64) string {
	switch {
	case w.part && w.why != "":
		return w.why
	case w.part:
		return partial
	}
	if slices.Contains(f.o.Unstored, w.row.Service) {
		return "[offline] services does not name " + w.row.Service
	}
	l, amount := f.o.Limits, w.row.bounded(w.amount)
	if w.unknown {
		return "its amount is not known here: name it"
	}
	cur, _ := money.Lookup(w.currency)
	show := func(m money.Minor) string {
		if cur.Alpha == "" {
			return fmt.Sprint(int64(m))
		}
		return money.Format(m, cur)
	}
	if l.Amount != nil && amount > 0 {
		most, ok := l.Amount(w.currency)
		switch {
		case !ok:
			return fmt.Sprintf("no operation in %q is ([offline] max_amount)", w.currency)
		case money.Minor(amount) > most:
			return fmt.Sprintf("above %s for one operation ([offline] max_amount)", show(most))
		}
	}
	if all > l.Count {
		return fmt.Sprintf("%d operations are stored already ([offline] max_count)", all-1)
	}
	if l.Total != nil && amount > 0 {
		most, ok := l.Total(w.currency)
		if !ok || money.Minor(sum) > most {
			return fmt.Sprintf("above %s for all operations together ([offline] max_total)", show(most))
		}
	}
	return ""
}
