package hosted

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// order is an order as stored: the columns, and the exported fields as JSON.
type order struct {
	id       string
	created  int64
	currency string
	payment  string
	private  []byte // sealed

	Order  hosted.Order `json:"order"`             // without the customer
	Tries  int          `json:"tries,omitempty"`   // payments that were declined
	Spoilt bool         `json:"spoilt,omitempty"`  // its card's reply was spoilt already
	HoldMS int64        `json:"hold_ms,omitempty"` // the authorization is over then
}

// session is a payment session as stored.
type session struct {
	id, order string
	created   int64
	ends      int64 // 0 = its state is final
	state     State
	private   []byte // sealed

	Amount     money.Minor        `json:"amount"`
	Action     string             `json:"action"`
	Explicit   bool               `json:"explicit,omitempty"`
	Origin     string             `json:"origin"` // of the platform's pages
	Result     string             `json:"result,omitempty"`
	Cancel     string             `json:"cancel,omitempty"`
	Notify     bool               `json:"notify,omitempty"`
	Language   string             `json:"language,omitempty"`
	Ask        bool               `json:"ask,omitempty"` // CHALLENGE_REQUESTED
	Recurrence *hosted.Recurrence `json:"recurrence,omitempty"`
	Got        []string           `json:"got,omitempty"` // fields that are good
	Card       *card              `json:"card,omitempty"`
	Other      string             `json:"other,omitempty"`     // alternative method
	Merchant   bool               `json:"merchant,omitempty"`  // initiated by the merchant
	Operation  string             `json:"operation,omitempty"` // of the payment
}

// card is what is kept of one.
type card struct {
	Row     string `json:"row"` // of the table of test cards
	Circuit string `json:"circuit"`
	Country string `json:"country"`
	BIN     string `json:"bin"`
	Last    string `json:"last"`
	Year    int32  `json:"year,omitempty"`
	Month   int32  `json:"month,omitempty"`
}

// contract is a card kept for later payments.
type contract struct {
	Card   card   `json:"card"`
	Type   string `json:"type"`
	Expiry string `json:"expiry,omitempty"`
	Days   int64  `json:"days,omitempty"`
	LastMS int64  `json:"last_ms"` // of its last payment
}

// operation is an operation as stored.
type operation struct {
	id, order, session, payment, kind, result, cancels string
	amount                                             money.Minor
	at, due                                            int64

	Channel    string `json:"channel"`
	Method     string `json:"method"`
	Circuit    string `json:"circuit"`
	Instrument string `json:"instrument,omitempty"`
	EndToEnd   string `json:"end_to_end,omitempty"`
	Row        string `json:"row,omitempty"`
	Country    string `json:"country,omitempty"`
	Code       string `json:"code,omitempty"`     // authorization code
	ThreeDS    string `json:"three_ds,omitempty"` // FULL_SECURE, or NO_3DS
}

// good says that it moved what it was to move.
func (o *operation) good() bool {
	return o.result == hosted.Authorized || o.result == hosted.Executed
}

func orderCell(id string) store.Cell {
	return store.Cell{Table: "sessions_order", Key: id, Column: "private"}
}

func sessionCell(id string) store.Cell {
	return store.Cell{Table: "sessions_session", Key: id, Column: "private"}
}

// What the owners of orders and contracts are stored under. A session and an operation belong to their order.
const (
	orderResource    = "sessions_order"
	contractResource = "sessions_contract"
)

// findOrder reads an order of the caller, or wire.NotFound.
func findOrder(r store.Reader, op, id string) (*order, error) {
	if err := room.Reaches(r, op, orderResource, id); err != nil {
		return nil, err
	}
	o := &order{id: id}
	err := find(r, op, "order", o, `SELECT data, created_ms, currency, payment, private FROM sessions_order WHERE id = ?`, id,
		&o.created, &o.currency, &o.payment, &o.private)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// find reads the row of an id: its data into a struct, its other columns into dest.
func find(r store.Reader, op, what string, into any, query, id string, dest ...any) error {
	var data string
	err := r.QueryRow(query, id).Scan(append([]any{&data}, dest...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return wire.Errorf(wire.NotFound, op, "no such %s", what)
	}
	if err == nil {
		err = json.Unmarshal([]byte(data), into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

func saveOrder(tx store.Tx, o *order) error {
	data, err := json.Marshal(o)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO sessions_order (id, created_ms, currency, payment, data, private) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET payment = excluded.payment, data = excluded.data, private = excluded.private`,
			o.id, o.created, o.currency, o.payment, string(data), o.private)
	}
	if err != nil {
		return fmt.Errorf("store order: %w", err)
	}
	return nil
}

func findSession(r store.Reader, op, id string) (*session, error) {
	s := &session{id: id}
	var state string
	err := find(r, op, "session", s, `SELECT data, order_id, created_ms, state, COALESCE(next_ms, 0), private FROM sessions_session WHERE id = ?`, id,
		&s.order, &s.created, &state, &s.ends, &s.private)
	if err == nil {
		err = room.Reaches(r, op, orderResource, s.order)
	}
	if err != nil {
		return nil, err
	}
	s.state = State(state)
	return s, nil
}

// due is when the session expires, nil when it does not any more.
func (s *session) due() any {
	switch s.state {
	case Complete, Expired, Cancelled:
		return nil
	}
	return s.ends
}

func saveSession(tx store.Tx, s *session) error {
	data, err := json.Marshal(s)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO sessions_session (id, order_id, created_ms, state, next_ms, data, private) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state, next_ms = excluded.next_ms, data = excluded.data`,
			s.id, s.order, s.created, string(s.state), s.due(), string(data), s.private)
	}
	if err != nil {
		return fmt.Errorf("store session: %w", err)
	}
	return nil
}

func (o *operation) fields() store.Fields {
	return store.Fields{"id", &o.id, "order_id", &o.order, "session", &o.session, "payment", &o.payment, "kind", &o.kind, "result", &o.result,
		"amount", &o.amount, "cancels", &o.cancels, "at_ms", &o.at, "due_ms", store.OrNull(&o.due), "data", store.JSON(o)}
}

var (
	operationTable = store.NewTable("sessions_operation", (*operation).fields)
	putOperation   = operationTable.Put("kind", "result", "at_ms", "due_ms", "data")
)

// operations reads those that a condition of ours picks, the oldest first.
func operations(r store.Reader, where string, args ...any) (list []*operation, err error) {
	all, err := operationTable.All(r, "WHERE "+where+" ORDER BY n", args...)
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	for i := range all {
		list = append(list, &all[i])
	}
	return list, nil
}

func findOperation(r store.Reader, op, id string) (*operation, error) {
	list, err := operations(r, `id = ?`, id)
	if err == nil && len(list) == 0 {
		return nil, wire.Errorf(wire.NotFound, op, "no such operation")
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func saveOperation(tx store.Tx, o *operation) error {
	if err := putOperation(tx, o); err != nil {
		return fmt.Errorf("store operation: %w", err)
	}
	return nil
}

// ledger reads the money of a payment; a payment that moved none has none.
func ledger(r store.Reader, payment string) (books.Ledger, error) {
	l, _, err := journal.Load(r, Service, payment)
	if errors.Is(err, journal.ErrUnknown) {
		return l, nil
	}
	return l, err
}

// post moves money of an operation's payment.
func post(tx store.Tx, o *operation, kind books.Kind, amount money.Minor) error {
	_, err := journal.Post(tx, journal.Ref{Service: Service, Payment: o.payment, Txn: o.id, AtMS: o.at}, books.Event{Kind: kind, Amount: amount})
	return err
}

func findContract(r store.Reader, id string) (c *contract, err error) {
	var data string
	err = r.QueryRow(`SELECT data FROM sessions_contract WHERE id = ?`, id).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(data), &c)
	}
	if err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	return c, nil
}

func saveContract(tx store.Tx, id string, c *contract) error {
	data, err := json.Marshal(c)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO sessions_contract (id, data) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data`, id, string(data))
	}
	if err != nil {
		return fmt.Errorf("store contract: %w", err)
	}
	return nil
}

// Report lists every operation, the oldest first. A payment is of type payment and names no other.
func Report(r store.Reader) (out []room.Line, err error) {
	list, err := operations(r, `1 = 1`)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		l := room.Line{ID: o.id, Reference: o.order, Original: o.payment, Type: word(o.kind), State: o.result, Amount: o.amount}
		if o.payment == o.id {
			l.Original, l.Type = "", "payment"
		}
		if err := r.QueryRow(`SELECT currency FROM sessions_order WHERE id = ?`, o.order).Scan(&l.Currency); err != nil {
			return nil, fmt.Errorf("read operations: %w", err)
		}
		out = append(out, l)
	}
	return out, nil
}

func word(kind string) string {
	switch kind {
	case hosted.Capture:
		return "capture"
	case hosted.Refund:
		return "refund"
	case hosted.Void:
		return "void"
	}
	return "cancel"
}
