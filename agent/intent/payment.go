package intent

import (
	"strconv"

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

// Payment is what a payment was begun with.
type Payment struct {
	Reference  string // terminalReference
	Hundredths int64  // of the denomination, as the service counts
	Currency   string // ISO 4217
}

// Status judges a status by what it tells of the request: the receipt's reference, amount and
// currency (S1 2.4). A reference that is the reply's own name of its transaction says nothing.
func (p Payment) Status(st aapay.Status) Verdict {
	r := st.Receipt
	switch {
	case r == nil:
		return NotSaid
	case r.Amount != 0 && r.Amount != p.Hundredths, r.Currency != "" && r.Currency != p.Currency:
		return Anothers
	case r.Reference == p.Reference:
		return Ours
	case r.Reference == "", namesItself(st, r.Reference):
		return NotSaid
	}
	return Anothers
}

func namesItself(st aapay.Status, reference string) bool {
	return st.NAA2ECR != nil && st.NAA2ECR.PPRef == reference || st.TransactionID != 0 && strconv.FormatInt(st.TransactionID, 10) == reference
}
