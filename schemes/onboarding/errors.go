package onboarding

import "posagent/schemes/wire"

// The codes of this service: every code and reason survives its wire, because the problem's type names it
// (wire.WriteProblem lists the types of the codes). The reasons:
//
//	Reason           status  when
//	NotEditable      422     an update after the application was submitted
//	NotSubmittable   422     a second submit
//	WrongStatus      422     a trigger of the sandbox that S0 3 has no row for
//
// From a foreign service, by status: 400 Invalid, 401 Unauthorized, 403 Forbidden, 404 NotFound, 409 KeyReused with a key
// and Conflict without, 413 TooLarge, 422 Conflict, 429 TooMany, 500 Internal on a read. 401, 403 and 429 count without,
// the others only with the service's own body. Everything else, and every body that is not what the status promises, is
// UnknownOutcome on a write and Unavailable on a read.
const (
	NotEditable    = "NotEditable"
	NotSubmittable = "NotSubmittable"
	WrongStatus    = "WrongStatus"
)

// Problems is the service's catalogue, a fresh copy.
func Problems() wire.Catalogue {
	return wire.Catalogue{
		{Code: wire.Conflict, Reason: NotEditable, Title: "Application can no longer be edited"},
		{Code: wire.Conflict, Reason: NotSubmittable, Title: "Application was already submitted"},
		{Code: wire.Conflict, Reason: WrongStatus, Title: "Not possible in this status"},
	}
}

// Refused makes a Conflict with one of the reasons above.
func Refused(op, reason, msg string) *wire.Error {
	return &wire.Error{Code: wire.Conflict, Reason: reason, Op: op, Msg: msg}
}
