package methods

import (
	"slices"
	"strconv"
	"time"
)

const (
	staleAgePercent  = 300 // S1 2.5
	defaultMeanDelay = 10  // seconds
	defaultTimeOut   = 5 * time.Minute
	maxTimeOut       = 365 * 24 * time.Hour
)

// Units of staleTimeOut and finalizeTimeOut.
const (
	UnitMinutes      = "m"
	UnitSeconds      = "s"
	UnitMilliseconds = "ms"
)

// StaleAge is how long a transaction may stay INITIALIZED: 300·meanDelay·1000/100 ms (S1 2.5).
// A meanDelay of zero or less counts as 10, that is 30 s.
func StaleAge(d Definition) time.Duration {
	delay := int64(d.MeanDelay)
	if delay <= 0 {
		delay = defaultMeanDelay
	}
	return time.Duration(staleAgePercent*delay*1000/100) * time.Millisecond
}

// MeanDelay is the usual time until a customer has paid; zero or less counts as 10 s.
func MeanDelay(d Definition) time.Duration {
	if d.MeanDelay <= 0 {
		return defaultMeanDelay * time.Second
	}
	return time.Duration(d.MeanDelay) * time.Second
}

// TimeOuts gives how long a transaction may stay STALE or PENDING (stale) and RESERVED (finalize) before
// it is TIMEDOUT. unit is "m", "s" or "ms"; any other word counts as "m". Absent, zero or
// negative means 5 minutes; a year is the most.
func TimeOuts(d Definition, unit string) (stale, finalize time.Duration) {
	return timeOut(d.StaleTimeOut, unit), timeOut(d.FinalizeTimeOut, unit)
}

func timeOut(n *int32, unit string) time.Duration {
	if n == nil || *n <= 0 {
		return defaultTimeOut
	}
	one := time.Minute
	switch unit {
	case UnitSeconds:
		one = time.Second
	case UnitMilliseconds:
		one = time.Millisecond
	}
	if int64(*n) > int64(maxTimeOut/one) {
		return maxTimeOut
	}
	return time.Duration(*n) * one
}

// never are the words that no okCodes list can turn into success.
func never(word string) bool {
	switch word {
	case "", "INITIALIZED", "PENDING", "STALE", "REJECTED", "CANCELLED", "FAILED", "TIMEDOUT":
		return true
	}
	return false
}

// OK says whether word is listed in the definition's okCodes for typ. It looks at okCodes only;
// that FINALIZED with COMMIT is success too is the checkout's rule.
func OK(d Definition, typ TransactionType, word string) bool {
	return !never(word) && slices.Contains(d.OKCodes, OKCode{Type: typ, Value: word})
}

// Supports says whether the method can do transactions of typ.
func Supports(d Definition, typ TransactionType) bool {
	return slices.Contains(d.TransactionTypes, typ)
}

// HasTrigger says whether transactions can start with trig. A definition without triggers is MANUAL.
func HasTrigger(d Definition, trig Trigger) bool {
	if len(d.Trigger) == 0 {
		return trig == Manual
	}
	return slices.Contains(d.Trigger, trig)
}

// Undoable says whether a payment by the method can be taken back; one that cannot is not offered.
func Undoable(d Definition) bool { return Supports(d, Reversal) || Supports(d, Refund) }

// StartsWithoutAmount says whether choice and prompts may begin before the amount is known.
func StartsWithoutAmount(d Definition) bool { return d.DelayedAmount == 1 }

// ReceiptRequired says whether a merchant receipt must be printed after a transaction of typ.
func ReceiptRequired(d Definition, typ TransactionType) bool {
	return slices.Contains(d.MerchRcptReq, ReceiptRule{FiTxnTypes: typ, Req: Required})
}

// The words of ReceiptRule.Req.
const (
	Required    = "REQUIRED"
	NotRequired = "NOT_REQUIRED"
)

// Prompt is one question to ask before a transaction.
type Prompt struct {
	ID int32
	QueryPrompt
}

// Prompts lists what to ask for a transaction of typ started by trig, in the order of the flow, each once.
// A flow without triggers is for every trigger. Ids without a query are left out (Usable refuses
// such definitions).
func Prompts(d Definition, typ TransactionType, trig Trigger) []Prompt {
	var out []Prompt
	for _, flow := range d.TxnQueryFlow {
		if flow.TransactionType != typ || len(flow.Triggers) > 0 && !slices.Contains(flow.Triggers, trig) {
			continue
		}
		for _, id := range flow.QueryIDs {
			q, ok := query(d, id)
			if ok && !slices.ContainsFunc(out, func(p Prompt) bool { return p.ID == id }) {
				out = append(out, Prompt{ID: id, QueryPrompt: q})
			}
		}
	}
	return out
}

func query(d Definition, id int32) (QueryPrompt, bool) {
	key := strconv.FormatInt(int64(id), 10)
	for _, m := range d.Queries {
		if q, ok := m[key]; ok {
			return q, true
		}
	}
	return QueryPrompt{}, false
}

// EMVQR says whether the method's QR payload is an EMV QR code (S1 2.5, type 1).
func EMVQR(d Definition) bool {
	return d.TriggerParams != nil && d.TriggerParams.Qr != nil && d.TriggerParams.Qr.Type == "1"
}
