package scenario

import (
	"slices"
	"strconv"
)

// On says which call or actor a row is about.
type On string

// The things a row can be about.
const (
	Initialize On = "initialize" // the reply to the initialize of a payment
	Wallet     On = "wallet"     // what the customer and the provider do
	Status     On = "status"     // the reply to a status read of a payment
	Reversal   On = "reversal"   // a reversal that names the payment
	Refund     On = "refund"     // a refund that names the payment
)

// Do is what a row does.
type Do string

// What the wallet does (On Wallet). None of them ends the row's own request badly.
const (
	Approve         Do = "approve"
	Decline         Do = "decline"
	Cancel          Do = "cancel"
	Fail            Do = "fail"
	SlowCommit      Do = "slow-commit"
	StaleCommit     Do = "stale-commit"
	Never           Do = "never"
	ReserveFinalize Do = "reserve-finalize"
	ReserveTimeout  Do = "reserve-timeout"
	ProviderWord    Do = "provider-word"
	LateCommit      Do = "late-commit"
	BadWordCommit   Do = "bad-word-commit"
	Rollback        Do = "rollback"
	UnknownWord     Do = "unknown-word"
)

// How a service answers in its own words (On Initialize, Status, Reversal, Refund).
const (
	SayReject      Do = "say-reject"       // 201, -1
	SayCancel      Do = "say-cancel"       // 201, -2
	SayRejectValid Do = "say-reject-valid" // 201, -1, valid true
	SayNotValid    Do = "say-not-valid"    // 202, valid false
	SayOddCode     Do = "say-odd-code"     // 202, responseCode 42
	SayResend      Do = "say-resend"       // 202, 1, no effect, once
	SayPending     Do = "say-pending"      // 202, -3
	SayLink        Do = "say-link"         // nextLink to a foreign host
	SayHugeQR      Do = "say-huge-qr"      // qrCodePayload of 100 KB
	SayOtherAmount Do = "say-other-amount" // receipt with another amount and currency
	SayOtherID     Do = "say-other-id"     // status of another transaction, once
	FailOnce       Do = "fail-once"        // the first undo ends FAILED
	TimeOutOnce    Do = "time-out-once"    // the first undo ends TIMEDOUT
	SlowUndo       Do = "slow-undo"        // the undo is PENDING for the method's mean delay
)

// How the reply is spoilt on its way, once (any On but Wallet).
const (
	RefuseInternal Do = "500-before"  // 500, no effect
	RefuseTooMany  Do = "429"         // 429, Retry-After: 2, no effect
	SpoilInternal  Do = "500-after"   // 500 after the effect
	Cut            Do = "cut"         // the connection is closed without an answer
	Garbage        Do = "garbage"     // 200 with an HTML page
	Truncated      Do = "truncated"   // half of the body
	Empty          Do = "empty"       // 200 without a body
	NoContent      Do = "no-content"  // 204
	WrongType      Do = "wrong-type"  // JSON of another shape
	Redirect       Do = "redirect"    // 302 to a foreign host
	BigHeader      Do = "big-header"  // a 1 MiB header
	Cookies        Do = "cookies"     // 200 Set-Cookie headers, reply intact
	OldDate        Do = "old-date"    // Date in 1970, reply intact
	PlainOK        Do = "plain-200"   // 200 where 202 is due, body intact
	Slow           Do = "slow-reply"  // the reply comes after SlowReply
	Composite      Do = "say-reject2" // 201, -1, fault spelled compositeFault
)

// Row is one line of the table.
type Row struct {
	Name             string `json:"name"`
	AmountHundredths int64  `json:"amountHundredths"` // 90001 = 900.01; whole yen cannot be meant, use ConsumerID
	ConsumerID       string `json:"consumerId"`
	On               On     `json:"kind"`
	Do               Do     `json:"do"`
	What             string `json:"what"`
}

// first is the amount of the row before the first one.
const first = 90000

// consumerPrefix begins the consumerIds of the table; the row's number follows.
const consumerPrefix = "+467000900"

// Table returns the rows in order. The caller may keep it.
func Table() []Row {
	rows := []Row{
		{Name: "reject", On: Initialize, Do: SayReject, What: "initialize answers 201 with responseCode -1; the transaction exists as REJECTED"},
		{Name: "cancel", On: Initialize, Do: SayCancel, What: "initialize answers 201 with responseCode -2; the transaction exists as CANCELLED"},
		{Name: "declined", On: Wallet, Do: Decline, What: "the customer declines: REJECTED"},
		{Name: "cancelled", On: Wallet, Do: Cancel, What: "the provider cancels: CANCELLED"},
		{Name: "failed", On: Wallet, Do: Fail, What: "the provider fails: FAILED"},
		{Name: "slow", On: Wallet, Do: SlowCommit, What: "the customer pays at four fifths of the stale age"},
		{Name: "stale-commit", On: Wallet, Do: StaleCommit, What: "the customer pays while the transaction is STALE"},
		{Name: "never", On: Wallet, Do: Never, What: "nobody scans: STALE, then TIMEDOUT"},
		{Name: "reserve", On: Wallet, Do: ReserveFinalize, What: "RESERVED, later FINALIZED with COMMIT"},
		{Name: "reserve-timeout", On: Wallet, Do: ReserveTimeout, What: "RESERVED, then TIMEDOUT with ROLLBACK"},
		{Name: "provider-word", On: Wallet, Do: ProviderWord, What: "the method's own success word (PAID, APPROVED), later FINALIZED with COMMIT"},
		{Name: "late-commit", On: Wallet, Do: LateCommit, What: "TIMEDOUT, and 2 s later accountState COMMIT"},
		{Name: "bad-word-commit", On: Wallet, Do: BadWordCommit, What: "FAILED with accountState COMMIT: the money has moved"},
		{Name: "rollback", On: Wallet, Do: Rollback, What: "FINALIZED with accountState ROLLBACK: no money has moved"},
		{Name: "unknown-word", On: Wallet, Do: UnknownWord, What: "a state word nobody knows, then FINALIZED with COMMIT"},
		{Name: "reversal-fails", On: Reversal, Do: FailOnce, What: "the first reversal ends FAILED, a new one succeeds"},
		{Name: "reversal-times-out", On: Reversal, Do: TimeOutOnce, What: "the first reversal ends TIMEDOUT, a new one succeeds"},
		{Name: "refund-fails", On: Refund, Do: FailOnce, What: "the first refund ends FAILED, a new one succeeds"},
		{Name: "reversal-slow", On: Reversal, Do: SlowUndo, What: "the reversal is PENDING for the mean delay; until then the payment may still commit"},
		{Name: "refund-slow", On: Refund, Do: SlowUndo, What: "the refund is PENDING for the mean delay"},
		{Name: "lost-initialize", On: Initialize, Do: Cut, What: "the payment begins, the connection is cut without an answer"},
		{Name: "lost-status", On: Status, Do: Cut, What: "the first status read is cut without an answer"},
		{Name: "lost-reversal", On: Reversal, Do: Cut, What: "the reversal happens, the connection is cut without an answer"},
		{Name: "500-before", On: Initialize, Do: RefuseInternal, What: "500 and no effect"},
		{Name: "500-after", On: Initialize, Do: SpoilInternal, What: "500 although the payment begins"},
		{Name: "429", On: Initialize, Do: RefuseTooMany, What: "429 with Retry-After: 2 and no effect"},
		{Name: "garbage", On: Initialize, Do: Garbage, What: "200 with an HTML page although the payment begins"},
		{Name: "truncated", On: Initialize, Do: Truncated, What: "half of the JSON reply"},
		{Name: "odd-code", On: Initialize, Do: SayOddCode, What: "202 with responseCode 42; the payment is live"},
		{Name: "not-valid", On: Initialize, Do: SayNotValid, What: "202 with valid false; the payment is live"},
		{Name: "resend", On: Initialize, Do: SayResend, What: "202 with responseCode 1 and no effect; the same Key again begins the payment"},
		{Name: "pending", On: Initialize, Do: SayPending, What: "202 with responseCode -3, state PENDING, then paid"},
		{Name: "slow-reply", On: Initialize, Do: Slow, What: "the reply comes after 10 s"},
		{Name: "reject-valid", On: Initialize, Do: SayRejectValid, What: "201 with responseCode -1 and valid true"},
		{Name: "composite-fault", On: Initialize, Do: Composite, What: "201 with responseCode -1, the fault spelled compositeFault"},
		{Name: "plain-200", On: Initialize, Do: PlainOK, What: "200 where 202 is due; the payment is live"},
		{Name: "empty", On: Initialize, Do: Empty, What: "200 without a body although the payment begins"},
		{Name: "no-content", On: Initialize, Do: NoContent, What: "204 although the payment begins"},
		{Name: "wrong-type", On: Initialize, Do: WrongType, What: "JSON of another shape although the payment begins"},
		{Name: "redirect", On: Initialize, Do: Redirect, What: "302 to a foreign host although the payment begins"},
		{Name: "big-header", On: Initialize, Do: BigHeader, What: "a reply with a header of 1 MiB"},
		{Name: "cookies", On: Initialize, Do: Cookies, What: "a good reply with 200 cookies"},
		{Name: "old-date", On: Initialize, Do: OldDate, What: "a good reply dated 1970"},
		{Name: "foreign-link", On: Initialize, Do: SayLink, What: "a good reply with a nextLink to a foreign host"},
		{Name: "huge-qr", On: Status, Do: SayHugeQR, What: "qrCodePayload of 100 KB, which no code can hold"},
		{Name: "other-amount", On: Status, Do: SayOtherAmount, What: "the receipt carries another amount and currency"},
		{Name: "other-id", On: Status, Do: SayOtherID, What: "the first status read shows another transaction, finalized"},
		{Name: "status-500", On: Status, Do: RefuseInternal, What: "the first status read answers 500"},
		{Name: "status-429", On: Status, Do: RefuseTooMany, What: "the first status read answers 429 with Retry-After: 2"},
		{Name: "status-garbage", On: Status, Do: Garbage, What: "the first status read answers 200 with an HTML page"},
		{Name: "status-truncated", On: Status, Do: Truncated, What: "the first status read answers half of the JSON reply"},
		{Name: "reversal-500", On: Reversal, Do: SpoilInternal, What: "500 although the reversal happens"},
		{Name: "reversal-429", On: Reversal, Do: RefuseTooMany, What: "the reversal is answered 429 with Retry-After: 2 and no effect"},
		{Name: "lost-refund", On: Refund, Do: Cut, What: "the refund happens, the connection is cut without an answer"},
	}
	for i := range rows {
		n := i + 1
		rows[i].AmountHundredths = first + int64(n)
		rows[i].ConsumerID = consumerPrefix + pad(n)
	}
	return rows
}

func pad(n int) string {
	s := strconv.Itoa(n)
	if n < 10 {
		s = "0" + s
	}
	return s
}

// Default is the row of everything the table does not name.
func Default() Row {
	return Row{Name: "approve", On: Wallet, Do: Approve, What: "the customer pays after the wallet delay: FINALIZED with COMMIT, or as the method's own flow has it"}
}

// Pick finds the row of a payment: by consumer, then by amount, else Default.
func Pick(amountHundredths int64, consumerID string) Row {
	rows := Table()
	if consumerID != "" {
		if i := slices.IndexFunc(rows, func(r Row) bool { return r.ConsumerID == consumerID }); i >= 0 {
			return rows[i]
		}
	}
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.AmountHundredths == amountHundredths }); i >= 0 {
		return rows[i]
	}
	return Default()
}

// Named finds a row by name; unknown names are Default's, so that an old row in a database stays readable.
func Named(name string) Row {
	for _, r := range Table() {
		if r.Name == name {
			return r
		}
	}
	return Default()
}

// Refuses says that the row answers badly before there is any effect.
func (d Do) Refuses() bool { return d == RefuseInternal || d == RefuseTooMany || d == SayResend }

// Spoils says that Perform spoils the reply after the effect.
func (d Do) Spoils() bool {
	switch d {
	case SpoilInternal, Cut, Garbage, Truncated, Empty, NoContent, WrongType, Redirect, BigHeader, Cookies, OldDate, PlainOK, Slow, Composite:
		return true
	}
	return false
}

// Readable says that a spoilt reply still carries its answer.
func (d Do) Readable() bool {
	return d == Cookies || d == OldDate || d == PlainOK || d == Slow || d == Composite
}
