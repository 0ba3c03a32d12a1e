package payments

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

func (p *payment) cell() store.Cell {
	return store.Cell{Table: "cards_payment", Key: p.id, Column: "private"}
}

func (p *payment) nextMS() any {
	if at := p.due(); at != 0 {
		return at
	}
	return nil
}

// paymentResource is what the owner of a payment is stored under.
const paymentResource = "cards_payment"

// find reads a payment of the caller, or wire.NotFound.
func find(r store.Reader, op, id string) (*payment, error) {
	p := &payment{id: id}
	if err := room.Reaches(r, op, paymentResource, id); err != nil {
		return nil, err
	}
	var state, data string
	err := r.QueryRow(`SELECT created_ms, state, data, private FROM cards_payment WHERE id = ?`, id).Scan(&p.created, &state, &data, &p.private)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, wire.Errorf(wire.NotFound, op, "no such payment")
	}
	if err != nil {
		return nil, fmt.Errorf("read payment %s: %w", id, err)
	}
	p.state = State(state)
	if err := json.Unmarshal([]byte(data), p); err != nil {
		return nil, fmt.Errorf("read payment %s: %w", id, err)
	}
	return p, nil
}

func (c *Cards) insert(tx store.Tx, p *payment, secret private) error {
	if secret != (private{}) {
		plain, err := json.Marshal(secret)
		if err == nil {
			p.private, err = c.DB.Seal(tx, p.cell(), plain)
		}
		if err != nil {
			return fmt.Errorf("seal payment %s: %w", p.id, err)
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("store payment %s: %w", p.id, err)
	}
	_, err = tx.Exec(`INSERT INTO cards_payment (id, created_ms, state, next_ms, data, private) VALUES (?, ?, ?, ?, ?, ?)`,
		p.id, p.created, string(p.state), p.nextMS(), string(data), p.private)
	if err != nil {
		return fmt.Errorf("store payment %s: %w", p.id, err)
	}
	return room.Claim(tx, paymentResource, p.id)
}

func save(tx store.Tx, p *payment) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("store payment %s: %w", p.id, err)
	}
	if _, err = tx.Exec(`UPDATE cards_payment SET state = ?, next_ms = ?, data = ? WHERE id = ?`, string(p.state), p.nextMS(), string(data), p.id); err != nil {
		return fmt.Errorf("store payment %s: %w", p.id, err)
	}
	return nil
}

// open reads what of a payment is sealed.
func (c *Cards) open(r store.Reader, p *payment) (s private, err error) {
	if p.private == nil {
		return s, nil
	}
	plain, err := c.DB.Unseal(r, p.cell(), p.private)
	if err == nil {
		err = json.Unmarshal(plain, &s)
	}
	if err != nil {
		return s, fmt.Errorf("unseal payment %s: %w", p.id, err)
	}
	return s, nil
}

// operation is one line of a payment's history.
type operation struct {
	ref, payment, kind, state, description, terminal string
	amount                                           int32
	at, due                                          int64
}

func newOp(p *payment, kind string, amount int32, description, terminal string, at int64) *operation {
	return &operation{ref: newID(), payment: p.id, kind: kind, state: done, amount: amount, description: description, terminal: terminal, at: at}
}

func (o *operation) fields() store.Fields {
	return store.Fields{"ref", &o.ref, "payment", &o.payment, "kind", &o.kind, "amount", &o.amount, "state", &o.state, "description", &o.description,
		"terminal", &o.terminal, "at_ms", &o.at, "due_ms", store.OrNull(&o.due)}
}

var operationTable = store.NewTable("cards_op", (*operation).fields)

func (o *operation) insert(tx store.Tx) error {
	if err := operationTable.Insert(tx, o); err != nil {
		return fmt.Errorf("store %s of %s: %w", o.kind, o.payment, err)
	}
	return nil
}

// operations reads those of one payment, or of all, in the order they were made.
func operations(r store.Reader, payment string) ([]operation, error) {
	where, args := "", []any{}
	if payment != "" {
		where, args = "WHERE payment = ? ", append(args, payment)
	}
	list, err := operationTable.All(r, where+"ORDER BY at_ms, ref", args...)
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	return list, nil
}

// ledger reads a payment's; one that never moved money has the zero value.
func ledger(r store.Reader, id string) (books.Ledger, error) {
	l, _, err := journal.Load(r, Service, id)
	if errors.Is(err, journal.ErrUnknown) {
		return books.Ledger{}, nil
	}
	return l, err
}

// causes is what the books know an operation by.
func (o *operation) causes(at int64) journal.Ref {
	return journal.Ref{Service: Service, Payment: o.payment, Txn: o.ref, AtMS: at}
}

// account reads the ledger that an operation is to move.
func account(r store.Reader, o *operation, at int64) (*journal.Account, error) {
	a, err := journal.Of(r, o.causes(at))
	if errors.Is(err, journal.ErrUnknown) {
		return new(journal.Account), nil // nothing is left of it, so the books move nothing
	}
	return a, err
}

// post lets an event happen in the books under o's name.
func post(tx store.Tx, o *operation, at int64, kind books.Kind, amount int32) error {
	_, err := journal.Post(tx, o.causes(at), books.Event{Kind: kind, Amount: money.Minor(amount)})
	return err
}

// newID makes an id: 32 lower hex digits, in the order of time, and not to be guessed.
func newID() string { return strings.ReplaceAll(string(wire.NewKey()), "-", "") }
