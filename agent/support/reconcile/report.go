package reconcile

import (
	"time"

	"posagent/schemes/wire"
)

// Period is the time in which sales of the journal are compared; both ends are part of it. Zero = from the first, up to the last.
type Period struct{ From, To time.Time }

func (p Period) has(ms int64) bool {
	return (p.From.IsZero() || ms >= p.From.UnixMilli()) && (p.To.IsZero() || ms <= p.To.UnixMilli())
}

// Report is the result (posagent.reconcile/1).
type Report struct {
	Schema   string        `json:"schema"`
	Agree    bool          `json:"agree"`             // nothing was found
	From     *time.Time    `json:"from,omitempty"`    // of the journal's sales that are compared; absent = from its first
	To       *time.Time    `json:"to,omitempty"`      // absent = up to its last
	Lines    []string      `json:"lines"`             // whose sales the list is taken to have
	Rows     int           `json:"rows"`              // of the list
	Sales    int           `json:"sales"`             // of the journal, compared
	Asked    int           `json:"asked"`             // questions to the backend
	Unused   []string      `json:"unused,omitempty"`  // columns of the list that are not understood
	Counts   map[Class]int `json:"counts"`            // by class, each class
	Outside  []Outside     `json:"outside,omitempty"` // paid sales that the list was not looked through for
	Through  int64         `json:"-"`                 // number of the newest sale up to which nothing was left out
	Findings []Finding     `json:"findings"`          // all but those that agree: the list's in its order, then sales that it does not have
}

// Outside are the paid sales of one line and kind that came before what is compared, or after it: no list was looked through for them.
type Outside struct {
	After    bool   `json:"after"` // after it; else before
	Line     string `json:"line"`
	Kind     string `json:"kind"`
	Currency string `json:"currency"`
	Sales    int    `json:"sales"`
	Amount   int64  `json:"amount"` // minor units, all of them
}

// Finding is one sale about which not all agree.
type Finding struct {
	Class   Class        `json:"class"`
	Title   string       `json:"title"`
	Row     *RowSays     `json:"till,omitempty"`    // absent = the list has no such row
	Journal *JournalSays `json:"journal,omitempty"` // absent = the journal has no such sale
	Backend BackendSays  `json:"backend"`
	Twice   bool         `json:"twice,omitempty"` // another row of the list has the same sale
	Remedy  string       `json:"remedy"`
}

// RowSays is a row of the list.
type RowSays struct {
	Line        int        `json:"line"`
	Type        string     `json:"type"`
	Amount      int64      `json:"amount"` // minor units
	Currency    string     `json:"currency"`
	Paid        bool       `json:"paid"`
	At          *time.Time `json:"time,omitempty"`
	ID          string     `json:"id,omitempty"`
	Reference   string     `json:"reference,omitempty"`
	Receipt     int        `json:"receipt,omitempty"`
	Transaction int64      `json:"transaction,omitempty"`
}

// JournalSays is a sale of the journal.
type JournalSays struct {
	Sale     wire.Key  `json:"sale"`
	Kind     string    `json:"kind"`
	Line     string    `json:"line"`
	Amount   int64     `json:"amount"` // minor units
	Currency string    `json:"currency"`
	Receipt  int       `json:"receipt,omitempty"`
	Says     string    `json:"says"` // paid, not paid, open, altered
	Created  time.Time `json:"created"`
}

// BackendSays is what the status of the sale's reference says.
type BackendSays struct {
	Reference    string `json:"reference,omitempty"` // absent = there was nothing to ask for
	Says         string `json:"says"`                // paid, not paid, open, not known, not asked
	State        string `json:"state,omitempty"`     // its own word
	AccountState string `json:"accountState,omitempty"`
	Undone       bool   `json:"undone,omitempty"` // it was paid, and the terminal's undo gave it back
	Why          string `json:"why,omitempty"`    // it was not asked
}

func rowSays(r Row) *RowSays {
	v := &RowSays{
		Line: r.Line, Type: string(r.Kind), Amount: int64(r.Amount), Currency: r.Currency, Paid: r.Paid,
		ID: wire.MaskPANs(r.ID), Reference: wire.MaskPANs(r.Reference), Receipt: r.Receipt, Transaction: r.Transaction,
	}
	if !r.At.IsZero() {
		at := r.At.UTC()
		v.At = &at
	}
	return v
}

func journalSays(s *sale) *JournalSays {
	return &JournalSays{
		Sale: s.key, Kind: string(s.kind), Line: s.line, Amount: int64(s.amount), Currency: s.currency, Receipt: s.receipt, Says: string(s.says),
		Created: time.UnixMilli(s.createdMS).UTC(),
	}
}
