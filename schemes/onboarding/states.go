package onboarding

// Trigger moves an application (S0 3).
type Trigger string

// The triggers. Submit is the caller's; Sign, SignFail, Approve and Reject come from the signer and the review, in the
// sandbox from its own routes.
const (
	Initiate Trigger = "initiate"
	Submit   Trigger = "submit"
	Sign     Trigger = "sign"
	SignFail Trigger = "fail"
	Approve  Trigger = "approve"
	Reject   Trigger = "reject"
)

// Move is one row of S0 3.
type Move struct {
	From    Status
	Trigger Trigger
	To      Status
	Event   string // announces the move
}

// moves is the whole table of S0 3. Rejecting an application whose signature failed is giving it up.
var moves = [...]Move{
	{None, Initiate, Initiated, "onboarding.initiated"},
	{Initiated, Submit, AwaitingSignature, "onboarding.awaiting_signature"},
	{AwaitingSignature, SignFail, SignatureFailed, "onboarding.signature_failed"},
	{AwaitingSignature, Sign, Processing, "onboarding.processing"},
	{Processing, Approve, Approved, "onboarding.approved"},
	{SignatureFailed, Reject, Abandoned, "onboarding.abandoned"},
	{Processing, Reject, Abandoned, "onboarding.abandoned"},
}

// Moves lists the table.
func Moves() []Move { return append([]Move(nil), moves[:]...) }

// Next finds the move that a trigger makes from a status; ok is false where S0 3 has none.
func Next(from Status, t Trigger) (m Move, ok bool) {
	for _, m := range moves {
		if m.From == from && m.Trigger == t {
			return m, true
		}
	}
	return Move{}, false
}

// Editable says whether an application may still be changed.
func (s Status) Editable() bool { return s == Initiated }
