package gateway

import "posagent/agent/outbox"

// More names of services in the outbox's list.
const (
	Payments = "payments"
	Tokens   = "tokens"
	Paylinks = "paylinks"
)

// Policy says whether a write is stored when the backend does not answer.
type Policy string

// The policies.
const (
	Limited Policy = "within limits" // Limits decide; one with a validation code, or above them, is answered now or not at all
	Counted Policy = "by count"      // Limits.Count decides: it promises no money that a customer has not granted, or gives some back
	Always  Policy = "always"        // money that goes back is never refused
	Refused Policy = "no"            // needs an answer at once: 503 without a backend
)

// Row is one line of the operation table.
type Row struct {
	Kind    string // "" where nothing is stored
	Service string
	Thing   string // what it is about; "Thing/local id" is the aggregate, before and after the backend's id is known
	Makes   bool   // it makes the thing, whose local id is "L" and the Key
	Number  bool   // its local id is a number from 2,000,000,000 up instead
	Offline Policy
	Replay  outbox.Replay // if a reply was lost, where the backend honours Keys
	Keyless outbox.Replay // the same, where it does not
	Breaks  bool          // what is behind a failed one cannot succeed
	Note    string        // two words for people
	Pending string        // what the answer 202 says beside the operation
	Risk    string        // said with it: what may still become of it

	adapt func(f *Front) adapter // what it does with its service; nil where no local client's write is stored
}

// bounded is what an operation's amount counts against the limits.
func (r Row) bounded(amount int64) int64 {
	if r.Offline == Counted {
		return 0
	}
	return amount
}

// laterYes is the Risk of a write that may still be refused.
const laterYes = "stored, not yet accepted: it may still be refused"

// linkThing is the table's word for a payment link, whose local ids are numbers.
const linkThing = "link"
