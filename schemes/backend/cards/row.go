package cards

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// payment is a payment as stored: the columns, and the exported fields as JSON.
type payment struct {
	id      string
	created int64
	state   State
	private []byte // sealed

	Type       string `json:"type"`
	Amount     int32  `json:"amount"`
	Currency   string `json:"currency"`
	Processing string `json:"processing,omitempty"`
	Exemption  string `json:"exemption,omitempty"`
	Number     string `json:"number,omitempty"`
	Reference  string `json:"reference,omitempty"`  // reconciliationReference
	Details    string `json:"details,omitempty"`    // type of paymentMethodDetails
	Hooks      int    `json:"hooks,omitempty"`      // endpoints that want to be told
	Pressed    bool   `json:"pressed,omitempty"`    // payment.created was sent
	Page       bool   `json:"page,omitempty"`       // has a page
	PageMS     int64  `json:"page_ms,omitempty"`    // until then
	HoldMS     int64  `json:"hold_ms,omitempty"`    // the reservation is over then
	Refunding  int    `json:"refunding,omitempty"`  // refunds under way
	RefundMS   int64  `json:"refund_ms,omitempty"`  // the first of them is due
	Tries      int    `json:"tries,omitempty"`      // reservations that were refused
	Spoilt     bool   `json:"spoilt,omitempty"`     // its row's reply was spoilt already
	Flow       string `json:"flow,omitempty"`       // the 3-D Secure outcome: Y passed, A spared
	IP         string `json:"ip,omitempty"`         // of the customer
	Days       int32  `json:"days,omitempty"`       // intervalDays of an initial tokenization
	Until      string `json:"until,omitempty"`      // its expiryDate
	Reason     string `json:"reason,omitempty"`     // why the last try was refused
	Fee        int32  `json:"fee,omitempty"`        // of the chosen method
	Charge     string `json:"charge,omitempty"`     // the first capture
	Subscribed string `json:"subscribed,omitempty"` // the recurring tokenization it belongs to
	Means      *means `json:"means,omitempty"`      // nil until known
	Order      order  `json:"order"`
}

// means is what a payment is paid with, as far as it is kept.
type means struct {
	Method  string `json:"method"`           // as payments names it, or invoice
	PayType string `json:"pay_type"`         // CARD, INVOICE, A2A, WALLET
	Row     string `json:"row,omitempty"`    // of the table of test cards
	Card    string `json:"card,omitempty"`   // keyed hash of the number
	Masked  string `json:"masked,omitempty"` // number, or the end of an IBAN
	Year    int32  `json:"year,omitempty"`
	Month   int32  `json:"month,omitempty"`
	Token   string `json:"token,omitempty"` // the tokenization it came from, or that came from it
}

// order is what the merchant said about the purchase and the page.
type order struct {
	Return      string                         `json:"return,omitempty"`
	Checkout    string                         `json:"checkout,omitempty"`
	Description string                         `json:"description,omitempty"`
	Basket      []payments.BasketItem          `json:"basket,omitempty"`
	Config      *payments.PayPageConfiguration `json:"config,omitempty"`
}

// private is what of a payment is sealed.
type private struct {
	Customer *payments.Customer `json:"customer,omitempty"`
	Email    string             `json:"email,omitempty"`
	Mandate  string             `json:"mandate,omitempty"`
	IBAN     string             `json:"iban,omitempty"`
}

// do is what the bank does for this payment.
func (p *payment) do() scenario.Do {
	row := ""
	if p.Means != nil {
		row = p.Means.Row
	}
	return scenario.CardDo(row, p.Amount)
}

func (p *payment) subject() string { return Service + " " + p.id }

// name is the merchant's own name for p, or ours.
func (p *payment) name() string {
	for _, s := range [...]string{p.Reference, p.Number} {
		if s != "" {
			return s
		}
	}
	return p.id
}

func (p *payment) cell() store.Cell {
	return store.Cell{Table: "cards_payment", Key: p.id, Column: "private"}
}

// due is the moment the next thing happens by itself, 0 = never.
func (p *payment) due() int64 {
	var soonest int64
	for _, at := range [...]int64{p.HoldMS, p.PageMS, p.RefundMS} {
		if at != 0 && (soonest == 0 || at < soonest) {
			soonest = at
		}
	}
	return soonest
}

func (p *payment) nextMS() any {
	if at := p.due(); at != 0 {
		return at
	}
	return nil
}

// find reads a payment, or wire.NotFound.
func find(r store.Reader, op, id string) (*payment, error) {
	p := &payment{id: id}
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
	return nil
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

// post lets an event happen in the books under o's name.
func post(tx store.Tx, o *operation, at int64, kind books.Kind, amount int32) error {
	_, err := journal.Post(tx, journal.Ref{Service: Service, Payment: o.payment, Txn: o.ref, AtMS: at}, books.Event{Kind: kind, Amount: money.Minor(amount)})
	return err
}

// newID makes an id: 32 lower hex digits, in the order of time, and not to be guessed.
func newID() string { return strings.ReplaceAll(string(wire.NewKey()), "-", "") }
