package paylink

import (
	"net/http"

	"posagent/agent/gateway"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the table of this package.
func Schema() []store.Step {
	return []store.Step{{Name: "paylink/1 entries", SQL: `
CREATE TABLE paylink_entries (
	reference TEXT PRIMARY KEY, -- terminalReference
	key       TEXT NOT NULL,    -- '' on the plain route, and where only the undo of a payment came
	link      INTEGER NOT NULL, -- of a payment; 0 = none
	original  TEXT NOT NULL,    -- of an undo: the payment's reference
	data      BLOB NOT NULL,    -- JSON
	mac       BLOB NOT NULL
) STRICT;
CREATE INDEX paylink_entries_key ON paylink_entries (key) WHERE key != '';
CREATE INDEX paylink_entries_link ON paylink_entries (link) WHERE link != 0;
CREATE INDEX paylink_entries_original ON paylink_entries (original) WHERE original != '';`}}
}

// entry is one transaction as the terminal journals it. Amounts are hundredths.
type entry struct {
	Reference string   `json:"-"`
	Key       wire.Key `json:"-"`
	Link      int64    `json:"-"`
	Original  string   `json:"-"`

	Type      aapay.Type
	Method    string
	Body      []byte // MAC of what was asked; nil = only its undo came
	Amount    int64
	Currency  string
	CreatedMS int64
	End       aapay.State        `json:",omitempty"` // the final word; "" = not ended
	Account   aapay.AccountState `json:",omitempty"` // with End

	// Of a payment.
	Ask      *paylinks.CreateRequest `json:",omitempty"`
	Instance string                  `json:",omitempty"` // the account the link belongs to
	Hash     string                  `json:",omitempty"`
	URL      string                  `json:",omitempty"`
	Made     int64                   `json:",omitempty"` // unix s by the service's clock, 0 = not said
	Undoing  bool                    `json:",omitempty"` // a reversal of it was accepted
	Deleted  bool                    `json:",omitempty"` // its delete was sent to a service that had just shown it

	// Of an undo: the snapshot before the first send.
	Txn    int64  `json:",omitempty"` // the transaction that is refunded; 0 = nothing was sent
	Word   string `json:",omitempty"` // its status then
	Before int64  `json:",omitempty"` // what had been refunded then; -1 = not said
	Told   bool   `json:",omitempty"` // it was answered as done, by an answer that names nothing of the request

	Refused bool `json:",omitempty"` // a no was heard behind an attempt whose answer was lost

	Counted []string `json:",omitempty"` // references of the refunds that had ended then, and are in Before or Word

	why string // it is in doubt now
}

// intended says that a link was asked for, or is about to be, and is not known yet.
func (e *entry) intended() bool {
	return e.Type == aapay.Payment && e.Body != nil && e.Link == 0 && e.End == ""
}

// macOf authenticates a row.
func macOf(db store.DB, e *entry, data []byte) []byte {
	return db.MAC("paylink_entries", e.Reference, string(e.Key), e.Link, e.Original, data)
}

const (
	byReference = `reference = ?`
	byKey       = `key = ? AND key != ''`
	byLink      = `link = ? AND link != 0`
	byOriginal  = `original = ? AND original != ''`
)

// reply is the answer to the request of an entry, the same every time.
func (e *entry) reply() aapay.Reply {
	r := aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true, Response: &aapay.Response{NAA2ECR: e.names()}}
	if e.End == aapay.Rejected || e.intended() { // or undone before its link was known
		r.HTTPStatus, r.Valid, r.Error = http.StatusCreated, false, &aapay.Fault{Message: "rejected"}
		r.Response.ResponseCode = aapay.CodeReject
	}
	return r
}

func (e *entry) names() *aapay.NAA2ECR { return &aapay.NAA2ECR{SchemeID: e.Method, PPRef: e.Reference} }

// The ends of an undo beside those of aapay.
const (
	reversed aapay.State = "REVERSED"
	refunded aapay.State = "REFUNDED"
	inDoubt              = gateway.InDoubt
)
