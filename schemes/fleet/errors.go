package fleet

import (
	"net/http"

	"posagent/schemes/wire"
)

// The codes of this service: every code and reason survives its wire, because the problem's type names it. The reasons:
//
//	Reason        status  when
//	CodeNotGood   404     the code is unknown, expired, revoked or burned, or another box's: one answer for all
//	CodeTaken     409     another device key has redeemed the code
//	LockedOut     429     a wrong code after too many from this address, or altogether; Retry-After says how long
//	NotProven     401     the proof is missing, wrong, or more than five minutes from the service's clock
//	CertRevoked   403     the proof is good, and the enrolment was revoked
//	Ended         409     the enrolment has expired or was revoked: there is nothing to revoke or to configure
//	StillLive     409     a bundle is wanted for a terminal or a box that another enrolment still is: revoke that first
//	RollOpen      409     another roll-out of settings is not ended: one goes out at a time
//	RollEnded     409     the roll-out has ended, and can only be taken back
const (
	CodeNotGood = "CodeNotGood"
	CodeTaken   = "CodeTaken"
	LockedOut   = "LockedOut"
	NotProven   = "NotProven"
	CertRevoked = "CertRevoked"
	Ended       = "Ended"
	StillLive   = "StillLive"
	RollOpen    = "RollOpen"
	RollEnded   = "RollEnded"
)

// Problems is the service's catalogue, a fresh copy.
func Problems() wire.Catalogue {
	return wire.Catalogue{
		{Code: wire.NotFound, Reason: CodeNotGood, Title: "Code not good"},
		{Code: wire.Conflict, Reason: CodeTaken, Title: "Code taken by another device", Status: http.StatusConflict},
		{Code: wire.TooMany, Reason: LockedOut, Title: "Too many wrong codes"},
		{Code: wire.Unauthorized, Reason: NotProven, Title: "Device not proven"},
		{Code: wire.Forbidden, Reason: CertRevoked, Title: "Enrolment revoked"},
		{Code: wire.Conflict, Reason: Ended, Title: "Enrolment has ended", Status: http.StatusConflict},
		{Code: wire.Conflict, Reason: StillLive, Title: "Terminal is another enrolment's", Status: http.StatusConflict},
		{Code: wire.Conflict, Reason: RollOpen, Title: "Another roll-out is open", Status: http.StatusConflict},
		{Code: wire.Conflict, Reason: RollEnded, Title: "Roll-out has ended", Status: http.StatusConflict},
	}
}

// Refused makes an error with one of the reasons above. It panics on any other.
func Refused(op, reason, msg string) *wire.Error {
	for _, p := range Problems() {
		if p.Reason == reason {
			return &wire.Error{Code: p.Code, Reason: reason, Op: op, Msg: msg}
		}
	}
	panic("fleet: no reason " + reason)
}
