package disputes

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/disputes"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// row is a case as stored: the columns, and the exported fields as JSON.
type row struct {
	number, group     int64
	queue             disputes.Queue
	card, purchase    string
	created, modified string // days
	due               int64  // unix ms, as stored; 0 = nothing happens by itself
	sealed            []byte
	secret            private // once it was opened

	Straight  bool              `json:"straight,omitempty"`
	Reasons   []disputes.Reason `json:"reasons,omitempty"`
	Amount    money.Minor       `json:"amount,omitempty"` // disputed
	Blocked   string            `json:"blocked,omitempty"`
	Handler   string            `json:"handler,omitempty"`
	Super     string            `json:"super,omitempty"`
	Issuers   string            `json:"issuers,omitempty"` // its id of the transaction
	More      []disputes.Pair   `json:"more,omitempty"`
	Reference string            `json:"reference"` // of the purchase, and what follows
	Masked    string            `json:"masked"`
	Scheme    string            `json:"scheme"`
	Total     money.Minor       `json:"total"`
	Currency  string            `json:"currency"`
	AtMS      int64             `json:"at_ms"`
}

// private is what of a case is sealed.
type private struct {
	Holder  string   `json:"holder,omitempty"`
	Expiry  string   `json:"expiry,omitempty"`
	Account string   `json:"account,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// fill makes a case of a request; rule 2 of S1 2.3 gives it its reason.
func fill(req disputes.CreateRequest, p Purchase) row {
	r := row{
		Straight: req.Straight(), Blocked: req.CardBlocked, Handler: req.CaseHandlerID, Super: req.IssuerSuperCaseID, Issuers: req.IssuerTransactionID,
		More: req.AdditionalDataList, Reference: p.Reference, Masked: p.Masked, Scheme: p.Brand, Total: p.Amount, Currency: p.Currency, AtMS: p.AtMS,
	}
	r.Amount, _ = disputes.Amount(req.DisputeAmount) // Validate has read it
	if req.OperatorDisputeReasonCode+req.OperatorFraudReasonCode+req.OperatorRetrievalRequestReasonCode == "" {
		req.OperatorDisputeReasonCode = disputes.DefaultReason
	}
	for _, reason := range [...]disputes.Reason{
		{CardScheme: req.CardSchemeDisputeReasonCode, Operator: req.OperatorDisputeReasonCode, Type: disputes.ReasonDispute},
		{CardScheme: req.CardSchemeFraudReasonCode, Operator: req.OperatorFraudReasonCode, Type: disputes.ReasonFraud},
		{CardScheme: req.CardSchemeRetrvRequestReasonCode, Operator: req.OperatorRetrievalRequestReasonCode, Type: disputes.ReasonRetrieval},
	} {
		if reason.CardScheme+reason.Operator != "" {
			r.Reasons = append(r.Reasons, reason)
		}
	}
	return r
}

func cell(number int64) store.Cell {
	return store.Cell{Table: "cases_case", Key: strconv.FormatInt(number, 10), Column: "private"}
}

func (r *row) fields() store.Fields {
	return store.Fields{"number", &r.number, "grp", &r.group, "queue", &r.queue, "card", &r.card, "purchase", &r.purchase, "created_day", &r.created,
		"modified_day", &r.modified, "due_ms", store.OrNull(&r.due), "data", store.JSON(r), "private", &r.sealed}
}

var (
	caseTable = store.NewTable("cases_case", (*row).fields)
	saveCase  = caseTable.Update("queue", "modified_day", "due_ms", "data", "private")
)

// pack seals what is sealed of a case and says when it is due.
func (c *Cases) pack(tx store.Tx, r *row, now time.Time) error {
	plain, err := json.Marshal(r.secret)
	if err == nil {
		r.sealed, err = c.DB.Seal(tx, cell(r.number), plain)
	}
	if r.due = 0; r.queue == disputes.FirstLineIssuer || r.queue == disputes.FirstLineOperator {
		r.due = now.Add(answerTime).UnixMilli()
	}
	return err
}

// resource is what the owner of a case is stored under.
const resource = "cases_case"

// insert stores a case, which belongs to the merchant that has sold, whoever opens it.
func (c *Cases) insert(tx store.Tx, r *row, owner string, now time.Time) error {
	err := c.pack(tx, r, now)
	if err == nil {
		err = caseTable.Insert(tx, r)
	}
	if err == nil {
		err = room.Give(tx, resource, strconv.FormatInt(r.number, 10), owner)
	}
	if err != nil {
		return fmt.Errorf("store case %d: %w", r.number, err)
	}
	return nil
}

func (c *Cases) save(tx store.Tx, r *row, now time.Time) error {
	err := c.pack(tx, r, now)
	if err == nil {
		err = saveCase(tx, r)
	}
	if err != nil {
		return fmt.Errorf("store case %d: %w", r.number, err)
	}
	return nil
}

// open reads what of a case is sealed.
func (c *Cases) open(rd store.Reader, r *row) (s private, err error) {
	plain, err := c.DB.Unseal(rd, cell(r.number), r.sealed)
	if err == nil {
		err = json.Unmarshal(plain, &s)
	}
	if err != nil {
		return s, fmt.Errorf("unseal case %d: %w", r.number, err)
	}
	return s, nil
}

// find reads a case, or wire.NotFound.
func (c *Cases) find(rd store.Reader, op, caseNumber string) (*row, error) {
	var r row
	n, err := strconv.ParseInt(caseNumber, 10, 64)
	if err == nil && strconv.FormatInt(n, 10) == caseNumber {
		r, err = caseTable.One(rd, `WHERE number = ?`, n)
	} else {
		err = sql.ErrNoRows
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, wire.Errorf(wire.NotFound, op, "no such case")
	case err != nil:
		return nil, fmt.Errorf("read case: %w", err)
	}
	if err := room.Reaches(rd, op, resource, caseNumber); err != nil {
		return nil, err
	}
	return &r, nil
}

// tell adds a line to the case's history.
func (r *row) tell(tx store.Tx, user, notes, action string, now time.Time) error {
	_, err := tx.Exec(`INSERT INTO cases_status (number, queue, user, notes, action, at_ms) VALUES (?, ?, ?, ?, ?, ?)`,
		r.number, int64(r.queue), user, notes, action, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("store status of %d: %w", r.number, err)
	}
	return nil
}

// none says that nothing has this id.
func none(op, what string) error { return wire.Errorf(wire.NotFound, op, "no such %s", what) }

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// number writes minor units.
func number(m money.Minor) json.Number { return json.Number(strconv.FormatInt(int64(m), 10)) }
