package outbox

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

const table = "outbox_ops"

// ErrUnknown is the answer to a Key that no operation has.
var ErrUnknown = errors.New("no such operation")

// ErrAltered is the answer to an operation whose row was changed behind the outbox's back.
var ErrAltered = errors.New("the stored operation was altered")

// row is one line of outbox_ops.
type row struct {
	id                            int64
	key, kind, aggregate          string
	state, resume                 State
	note, currency, reason        string
	amount                        int64
	digest, payload, memo, result []byte
	attempts                      int64
	createdMS, settledMS          int64
	acceptedRun, nextRun, sentAge int64
	revivedRun                    int64
	mac, dataKey                  []byte
	owner, trace                  string
	altered                       bool  // the row did not verify when it was read
	was                           State // in the table; "" = not there yet
}

func (r *row) fields() store.Fields {
	return store.Fields{"id", &r.id, "key", &r.key, "kind", &r.kind, "aggregate", &r.aggregate, "state", &r.state, "resume", &r.resume, "note", &r.note,
		"amount", &r.amount, "currency", &r.currency, "digest", &r.digest, "payload", &r.payload, "memo", &r.memo, "result", &r.result,
		"reason", &r.reason, "attempts", &r.attempts, "created_ms", &r.createdMS, "settled_ms", &r.settledMS, "accepted_run", &r.acceptedRun,
		"next_run", &r.nextRun, "sent_age", &r.sentAge, "mac", &r.mac, "data_key", &r.dataKey, "owner", &r.owner, "revived_run", &r.revivedRun, "trace", &r.trace}
}

var (
	operations = store.NewTable(table, (*row).fields)
	columns    = operations.Columns()
)

type scanner interface{ Scan(dest ...any) error }

func scan(s scanner) (row, error) {
	var r row
	err := operations.Scan(s, &r)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, ErrUnknown
	}
	r.was = r.state
	return r, store.Unreadable(err)
}

func (r *row) position() position { return position{r.state, r.resume} }

func byID(r store.Reader, id int64) (row, error) {
	return scan(r.QueryRow(`SELECT `+columns+` FROM outbox_ops WHERE id = ?`, id))
}

func byKey(r store.Reader, key wire.Key) (row, error) {
	return scan(r.QueryRow(`SELECT `+columns+` FROM outbox_ops WHERE key = ?`, string(key)))
}

// blob keeps empty and absent apart from nothing: both are NULL.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// sum authenticates what decides about money: what is sent, to whom it belongs, and how far it is.
func (o *Outbox) sum(r *row) []byte {
	fields := []any{r.id, r.kind, r.aggregate, string(r.state), string(r.resume), r.amount, r.currency,
		blob(r.digest), blob(r.payload), blob(r.memo), blob(r.result), r.attempts, r.sentAge}
	if r.owner != "" { // a row from before there were owners has the sum it had
		fields = append(fields, r.owner)
	}
	return o.db.MAC(table, r.key, fields...)
}

func (o *Outbox) verify(r *row) error {
	if !bytes.Equal(o.sum(r), r.mac) {
		r.altered, r.mac = true, []byte{} // a later save must not make it good again
		return fmt.Errorf("operation %s: %w", r.key, ErrAltered)
	}
	return nil
}

// save writes a row back and keeps its aggregate's first sendable operation marked.
func (o *Outbox) save(tx store.Tx, r *row) error {
	open, sendable := 1, 0
	if r.state.Final() {
		open = 0
	}
	if r.state == Pending || r.state == Sent {
		sendable = 1
	}
	if !r.altered {
		r.mac = o.sum(r)
	}
	settled := int64(0)
	if r.state.Final() {
		settled = o.clock.run()
	}
	err := moved(r)(tx.Exec(updateRow,
		settled, string(r.state), string(r.resume), blob(r.payload), blob(r.memo), blob(r.result), r.reason, r.attempts,
		r.settledMS, r.nextRun, r.sentAge, open, r.mac, blob(r.dataKey), sendable, r.id, string(r.was)))
	if err != nil {
		return err
	}
	if err := o.changed(tx, r); err != nil {
		return err
	}
	if open == 1 { // it keeps its place: no other operation's turn has come
		return nil
	}
	return mark(tx, r.aggregate)
}

// insert stores a new row, unless its Key is there already.
func (o *Outbox) insert(tx store.Tx, r *row) (fresh bool, err error) {
	r.mac = o.sum(r)
	res, err := tx.Exec(insertRow, r.id, r.key, r.kind, r.aggregate, r.note, r.amount, r.currency, r.digest, blob(r.payload), r.createdMS, r.acceptedRun, r.mac,
		blob(r.dataKey), r.owner, string(r.state), string(r.resume), leads(r.aggregate, r.key), r.trace)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// saveRevived writes back a row that another content was given to. It is one statement: the sums
// are of the amount it had.
func (o *Outbox) saveRevived(tx store.Tx, r *row) error {
	r.mac = o.sum(r)
	err := moved(r)(tx.Exec(`UPDATE outbox_ops SET aggregate = ?, leads = ?, owner = ?, note = ?, amount = ?, currency = ?, digest = ?, payload = ?, data_key = ?,
		memo = NULL, result = NULL, reason = '', state = ?, resume = ?, attempts = 0, settled_ms = 0, settled_run = 0, next_run = ?, revived_run = ?,
		sent_age = ?, open = 1, ready = 0, mac = ? WHERE id = ? AND state = ?`,
		r.aggregate, leads(r.aggregate, r.key), r.owner, r.note, r.amount, r.currency, r.digest, blob(r.payload), blob(r.dataKey), string(r.state), string(r.resume), r.nextRun,
		r.revivedRun, r.sentAge, r.mac, r.id, string(r.was)))
	if err != nil {
		return err
	}
	return mark(tx, r.aggregate)
}

// moved makes the result of writing a row an error where the row was not in the state any more in
// which it was read.
func moved(r *row) func(sql.Result, error) error {
	return func(res sql.Result, err error) error {
		var n int64
		if err == nil {
			n, err = res.RowsAffected()
		}
		if err == nil && n == 0 {
			err = fmt.Errorf("it is not %s any more", r.was)
		}
		if err != nil {
			return fmt.Errorf("save operation %s: %w", r.key, err)
		}
		return nil
	}
}

// changed tells Options.Record of another state.
func (o *Outbox) changed(tx store.Tx, r *row) error {
	was := r.was
	if r.was = r.state; o.record == nil || was == r.state {
		return nil
	}
	if err := o.record(tx, was, o.op(r)); err != nil {
		return fmt.Errorf("record operation %s: %w", r.key, err)
	}
	return nil
}

// mark sets ready on the first open operation of an aggregate when it can be sent.
func mark(tx store.Tx, aggregate string) error {
	if _, err := tx.Exec(markFirst, aggregate); err != nil {
		return fmt.Errorf("order of %s: %w", aggregate, err)
	}
	return nil
}

// traceID is the trace that an operation's requests belong to. What is no trace was put there by someone else: it is not sent.
func (r *row) traceID() wire.Trace {
	if t := wire.Trace(r.trace); t.Valid() {
		return t
	}
	return wire.TraceOfKey(wire.Key(r.key))
}

// op is the row as others see it, without payload and memo, and without the next try.
func (r *row) op() Op {
	op := Op{
		New: New{Key: wire.Key(r.key), Kind: r.kind, Aggregate: r.aggregate, Note: r.note, AmountMin: r.amount, Currency: r.currency, Owner: r.owner, Trace: r.traceID()},
		ID:  r.id, State: r.state, Attempts: int(r.attempts), Created: time.UnixMilli(r.createdMS),
		Result: r.result, Reason: r.reason, SentSince: r.state == Expired && r.resume == Sent,
	}
	if r.settledMS != 0 {
		op.Settled = time.UnixMilli(r.settledMS)
	}
	return op
}

// op is the row as others see it, without payload and memo.
func (o *Outbox) op(r *row) Op {
	op := r.op()
	if r.state == Pending || r.state == Sent {
		wait := time.Duration(r.nextRun-o.clock.run()) * time.Millisecond
		op.NextTry = o.now().Add(max(wait, 0))
	}
	return op
}

func cell(key, column string) store.Cell { return store.Cell{Table: table, Key: key, Column: column} }

// open adds payload and memo to an operation.
func (o *Outbox) open(rd store.Reader, r *row, op *Op) (err error) {
	if op.Payload, err = o.unseal(rd, r, "payload", r.payload); err != nil {
		return err
	}
	op.Memo, err = o.unseal(rd, r, "memo", r.memo)
	return err
}

func (o *Outbox) unseal(rd store.Reader, r *row, column string, sealed []byte) (plain []byte, err error) {
	switch {
	case len(sealed) == 0:
		return nil, nil
	case r.dataKey != nil:
		plain, err = o.db.UnsealOwn(r.dataKey, cell(r.key, column), sealed)
	default: // accepted before rows kept their keys
		plain, err = o.db.Unseal(rd, cell(r.key, column), sealed)
	}
	if err != nil {
		return nil, fmt.Errorf("operation %s: %s: %w", r.key, column, err)
	}
	return plain, nil
}

// sealMemo replaces what a sender wants to remember.
func (o *Outbox) sealMemo(tx store.Tx, r *row, memo []byte) (err error) {
	switch {
	case len(memo) == 0:
		r.memo = nil
	case r.dataKey == nil && len(r.payload) > 0: // accepted before rows kept their keys
		r.memo, err = o.db.Seal(tx, cell(r.key, "memo"), memo)
	default:
		r.memo, r.dataKey, err = o.db.SealOwn(r.dataKey, cell(r.key, "memo"), memo)
	}
	return err
}
