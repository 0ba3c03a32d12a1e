package intent

import (
	"strconv"
	"time"

	"posagent/schemes/aapay"
)

// Verdict says whose answer it is.
type Verdict string

// The verdicts.
const (
	NotSaid  Verdict = "not said"
	Ours     Verdict = "ours"
	Anothers Verdict = "another's"
)

// Request is what was asked of the scheme service: a payment, a refund or a reversal.
type Request struct {
	Reference  string        // terminalReference
	Original   string        // originalReference of a refund or reversal, "" = none
	OriginalID int64         // transactionId of what it takes back, 0 = not known
	Hundredths int64         // of the denomination, as the service counts
	Currency   string        // ISO 4217
	Age        time.Duration // since it can have left first, by a clock that runs evenly; 0 = not known
}

// clocks is how much the clocks of one service's machines may differ.
const clocks = time.Minute

// Status judges a status by what it tells of the request: the receipt's reference, amount and
// currency (S1 2.4), and when the transaction began. A reference that is the reply's own name of its
// transaction, or of the one that is taken back, says nothing. A status of what is taken back is another's.
func (q Request) Status(st aapay.Status) Verdict {
	if q.before(st) || q.OriginalID != 0 && st.TransactionID == q.OriginalID {
		return Anothers
	}
	r := st.Receipt
	switch {
	case r == nil:
		return NotSaid
	case r.Amount != 0 && r.Amount != q.Hundredths && (q.Original == "" || r.Amount != -q.Hundredths), r.Currency != "" && r.Currency != q.Currency:
		return Anothers
	case r.Reference == q.Reference:
		return Ours
	case r.Reference == "", r.Reference == q.Original, namesItself(st, r.Reference):
		return NotSaid
	}
	return Anothers
}

// before says that the transaction began before the request can have left. Both times are the
// service's own: when it answered, and when the transaction began. Our clocks only measure how long
// ago the request was.
func (q Request) before(st aapay.Status) bool {
	began, err := time.Parse(time.RFC3339, st.TimeStamp)
	return err == nil && q.Age > 0 && !st.Answered.IsZero() && st.Answered.Sub(began) > q.Age+clocks
}

func namesItself(st aapay.Status, reference string) bool {
	return st.NAA2ECR != nil && st.NAA2ECR.PPRef == reference || st.TransactionID != 0 && strconv.FormatInt(st.TransactionID, 10) == reference
}

// Names are what the service has called the transaction of a request so far.
type Names struct {
	ID          int64  `json:"id,omitempty"` // transactionId
	PPRef       string `json:"ppref,omitempty"`
	Shown       bool   `json:"shown,omitempty"`       // a status has shown the ppref; else it is from the answer to the request alone
	Contradicts int64  `json:"contradicts,omitempty"` // the transaction of a status that contradicted that answer
}

// Other says that a status speaks of another transaction than the one that has these names. One that
// contradicts the answer to the request counts where it tells our own reference, and the one before it
// has named the same transaction: then that answer was another's. verdict is what Request.Status says.
func (n *Names) Other(verdict Verdict, st aapay.Status) bool {
	if verdict == Anothers || n.ID != 0 && st.TransactionID != 0 && n.ID != st.TransactionID {
		return true
	}
	if n.PPRef == "" || st.NAA2ECR == nil || st.NAA2ECR.PPRef == "" || st.NAA2ECR.PPRef == n.PPRef {
		return false
	}
	if n.Shown || verdict != Ours || st.TransactionID == 0 {
		return true
	}
	again := n.Contradicts == st.TransactionID
	n.Contradicts = st.TransactionID
	return !again
}

// Learn keeps the names of a status that is of this transaction.
func (n *Names) Learn(st aapay.Status) {
	if n.ID == 0 {
		n.ID = st.TransactionID
	}
	if st.NAA2ECR != nil && st.NAA2ECR.PPRef != "" {
		n.PPRef, n.Shown = st.NAA2ECR.PPRef, true
	}
}
