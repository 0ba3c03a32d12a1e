package paylinks

// The reasons of this service beside wire's codes (wire.Error.Reason).
const (
	WrongStatus = "wrong_status" // Conflict: the link's or transaction's status forbids it
	TooMuch     = "too_much"     // Conflict: more than there is left to charge or refund
)
