package tokens

import "posagent/schemes/wire"

// The codes of this service: every code and reason survives its wire, because the problem's type names it
// (wire.WriteProblem lists the types of the codes), and Internal has the token error body (Fault). The reasons:
//
//	Reason               status  when
//	CardNotAccepted      400     the card, or its bank, does not let it be stored
//	CardExpired          400     the card's expiry date is past
//	ArrangementExpired   400     recurringExpiryDate is past
//	CardMissing          400     the tokenization has no card yet, so there is no token
//
// From a foreign service, by status: 400 Invalid, 401 Unauthorized, 403 Forbidden, 404 NotFound, 409 KeyReused with a key
// and Conflict without, 413 TooLarge, 422 Conflict, 429 TooMany, 500 Internal on a read. 401, 403 and 429 count without,
// the others only with the service's own body. Everything else, and every body that is not what the status promises, is
// UnknownOutcome on a write and Unavailable on a read.
const (
	CardNotAccepted    = "CardNotAccepted"
	CardExpired        = "CardExpired"
	ArrangementExpired = "ArrangementExpired"
	CardMissing        = "CardMissing"
)

// Problems is the service's catalogue, a fresh copy.
func Problems() wire.Catalogue {
	return wire.Catalogue{
		{Code: wire.Invalid, Reason: CardNotAccepted, Title: "Card not accepted"},
		{Code: wire.Invalid, Reason: CardExpired, Title: "Card expired"},
		{Code: wire.Invalid, Reason: ArrangementExpired, Title: "Recurring arrangement is over"},
		{Code: wire.Invalid, Reason: CardMissing, Title: "No card yet"},
	}
}

const (
	opCreate    = "tokens.create"
	opRecurring = "tokens.recurring"
	opVerify    = "tokens.verify"
	opToken     = "tokens.token"
)

// ContentType is sent with requests and successes.
const ContentType = wire.JSONType

// Refused makes an Invalid with one of the reasons above.
func Refused(op, reason, msg string) *wire.Error {
	return &wire.Error{Code: wire.Invalid, Reason: reason, Op: op, Msg: msg}
}

// Names of the two systems behind the service (S0 7).
const (
	Netaxept = "Netaxept"
	CCV      = "CCV"
)

// Fault is the token error body of a 500 (S0 7). As the cause (Err) of a wire.Internal error it is written out and read
// back; an Internal error without one is written as a Fault that says nothing.
type Fault struct {
	_ [0]func() // nobody compares two: == would be code in every binary

	System       string `json:"system"` // Netaxept or CCV
	ErrorMessage string `json:"errorMessage" wire:"nullable"`
	Detail       string `json:"detail" wire:"nullable"`
	ErrorCode    string `json:"errorCode" wire:"nullable"`
	IssuerID     string `json:"issuerId" wire:"nullable"`
	Source       string `json:"source" wire:"nullable"`
}

// Error implements error.
func (f *Fault) Error() string {
	s := f.System + " " + f.ErrorCode
	if f.ErrorMessage != "" {
		s += ": " + f.ErrorMessage
	}
	return s
}
