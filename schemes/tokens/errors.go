package tokens

import (
	"errors"
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

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

// Texts are a foreign system's words in it.
func (f *Fault) Texts() []string {
	return []string{f.ErrorMessage, f.Detail, f.ErrorCode, f.IssuerID, f.Source}
}

// shape is problem bodies, and for Internal the token error body.
type shape struct{ rest.Problems }

// Refuse implements rest.Shape.
func (s shape) Refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, e *wire.Error) {
	if e.Code != wire.Internal {
		s.Problems.Refuse(w, r, log, e)
		return
	}
	if log != nil {
		log.Error("request failed", "op", e.Op, "err", e)
	}
	var f *Fault
	if !errors.As(e.Err, &f) {
		f = &Fault{System: Netaxept, ErrorMessage: "internal error", Detail: "the service failed, the effect is not known", ErrorCode: string(wire.Internal), Source: "tokens"}
	}
	wire.Reply(w, log, e.Op, http.StatusInternalServerError, wire.JSONType, f)
}

// maxForeign is how much of another service's text is kept, in characters.
const maxForeign = 200

// Refusal implements rest.Shape.
func (s shape) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	e := s.Problems.Refusal(c, a, keyed)
	if a.Status != http.StatusInternalServerError || !a.JSON() {
		return e
	}
	var f Fault
	if wire.Decode(a.Body, &f) != nil || f.System != Netaxept && f.System != CCV {
		return e
	}
	for _, text := range []*string{&f.ErrorMessage, &f.Detail, &f.ErrorCode, &f.IssuerID, &f.Source} {
		if r := []rune(wire.MaskPANs(*text)); len(r) <= maxForeign {
			*text = string(r)
		} else {
			*text = string(r[:maxForeign]) + "…"
		}
	}
	e.Err = &f
	e.Msg = "the service failed"
	if !c.Write || f.ErrorCode == string(wire.Internal) {
		e.Code = wire.Internal
	}
	return e
}
