package paylinks

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// An error's body is {"status":"error","message","reason"} (S1 7). The reason carries our code, or the service's own word, so
// that both survive the wire:
//
//	reason            code             status  message
//	invalid           Invalid          400     which rule
//	unprocessable     Invalid          422     Unprocessable Content (no instance)
//	unauthorized      Unauthorized     401
//	forbidden         Forbidden        403     The API secret is not correct.
//	not_found         NotFound         404     No {resource} found with id {id}
//	wrong_status      Conflict         404     No {resource} found with id {id} and status: {status}
//	no_route          (no code)        404, 405
//	too_much          Conflict         409
//	conflict          Conflict         409
//	key_reused        KeyReused        422
//	too_large         TooLarge         413
//	too_many          TooMany          429
//	unavailable       Unavailable      503
//	unknown_outcome   UnknownOutcome   504
//	internal          Internal         500
//	gone              Gone             410
//
// Every message begins with "An error occurred: ". A foreign body without such a reason is judged by its message, then by its
// status; the real service answers many errors with 200, and its gateway answers 405 and 403 without this body to a
// caller that asks too often.

// The operations whose requests have rules, as errors name them.
const (
	opCreate  = "paylinks.create"
	opCapture = "paylinks.capture"
	opCancel  = "paylinks.cancel"
	opCharge  = "paylinks.charge"
	opRefund  = "paylinks.refund"
	opList    = "paylinks.list"
)

// The reasons of this service beside wire's codes (wire.Error.Reason).
const (
	WrongStatus = "wrong_status" // Conflict: the link's or transaction's status forbids it
	TooMuch     = "too_much"     // Conflict: more than there is left to charge or refund
)

// Problems is the service's catalogue, a fresh copy.
func Problems() wire.Catalogue {
	return wire.Catalogue{{Code: wire.Conflict, Reason: WrongStatus}, {Code: wire.Conflict, Reason: TooMuch}}
}

const (
	noRoute       = "no_route"
	unprocessable = "unprocessable"
	prefixText    = "An error occurred: "
	secretText    = "The API secret is not correct."
	emptyText     = "An ApiSignature of no parameters proves no write here (strict_link_signatures): sign the id, too, or use X-API-KEY."
	formText      = "Unprocessable Content"
	statusText    = " and status: "
)

type errorBody struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
}

// reasons are the rows of the table that are not a code and its own status.
var reasons = [...]struct {
	reason string
	code   wire.Code
	status int
}{
	{unprocessable, wire.Invalid, http.StatusUnprocessableEntity},
	{WrongStatus, wire.Conflict, http.StatusNotFound},
	{TooMuch, wire.Conflict, http.StatusConflict},
}

// WriteError answers with err in the service's shape. log may be nil; it gets Internal errors, which the caller does not see.
func WriteError(w http.ResponseWriter, log *slog.Logger, err *wire.Error) {
	status, reason, msg := err.Code.Status(), string(err.Code), err.Msg
	for _, r := range reasons {
		if err.Reason == r.reason && err.Code == r.code {
			status, reason = r.status, r.reason
		}
	}
	switch {
	case err.Code == wire.Internal:
		if log != nil {
			log.Error("request failed", "op", err.Op, "err", err)
		}
		msg = "internal error"
	case msg == "" && err.Code == wire.Forbidden:
		msg = secretText
	case msg == "" && err.Code == wire.Invalid && err.Err != nil:
		msg = err.Err.Error()
	case msg == "":
		msg = reason
	}
	if err.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((err.RetryAfter+time.Second-1)/time.Second), 10))
	}
	writeText(w, status, reason, msg)
}

func writeText(w http.ResponseWriter, status int, reason, msg string) {
	// A field's name is the caller's.
	msg = wire.MaskPANs(msg)
	_ = wire.WriteJSON(w, status, ContentType, errorBody{"error", prefixText + msg, reason}) // a fixed shape marshals; a lost connection has no reader
}

// readError says whether a reply is the service's own error body, and what it says.
func readError(a wire.Answer) (msg, reason string, own bool) {
	var b struct {
		Status  string          `json:"status"`
		Message json.RawMessage `json:"message"`
		Reason  json.RawMessage `json:"reason"`
	}
	if !a.JSON() || wire.Check(a.Body) != nil || json.Unmarshal(a.Body, &b) != nil || b.Status != "error" {
		return "", "", false
	}
	_, _ = json.Unmarshal(b.Message, &msg), json.Unmarshal(b.Reason, &reason) // another shape says nothing
	return wire.Clean(strings.TrimPrefix(msg, prefixText)), reason, true
}

// refusal judges a reply that is not a success. keyed says that the request carried a Key.
func refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	msg, reason, own := readError(a)
	e := &wire.Error{Op: c.Op, Msg: msg, RetryAfter: wire.RetryAfter(a.Header)}
	if !own || msg == "" {
		e.Msg = "reply " + strconv.Itoa(a.Status)
	}
	if own {
		for _, r := range reasons {
			if r.reason == reason && r.status == a.Status {
				e.Code, e.Reason = r.code, r.reason
				if reason == unprocessable {
					e.Reason = ""
				}
				return e
			}
		}
		for _, code := range wire.Codes() {
			if string(code) == reason && code.Status() == a.Status {
				e.Code = code
				return e
			}
		}
	}
	switch found := own && strings.HasPrefix(msg, "No ") && strings.Contains(msg, " found with id "); {
	case found && strings.Contains(msg, statusText):
		e.Code, e.Reason = wire.Conflict, WrongStatus
	case found:
		e.Code = wire.NotFound
	case own && strings.EqualFold(msg, secretText), a.Status == http.StatusForbidden:
		e.Code = wire.Forbidden
	case a.Status == http.StatusUnauthorized:
		e.Code = wire.Unauthorized
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusMethodNotAllowed && !own:
		e.Code = wire.TooMany
	case own && (reason == noRoute || a.Status == http.StatusNotFound):
		e.Code = wire.Unavailable // the route or its version is not there: nothing happened
	case !own || a.Status >= 500 || a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooEarly:
		e.Code = c.Lost("").Code
	case a.Status == http.StatusConflict && keyed:
		e.Code = wire.KeyReused
		e.Foreign409(msg)
	case a.Status == http.StatusConflict:
		e.Code = wire.Conflict
	case a.Status == http.StatusRequestEntityTooLarge:
		e.Code = wire.TooLarge
	default:
		e.Code = wire.Invalid
	}
	e.Nobody = c.Nobodys(e.Code, own)
	return e
}

// notFound gives what a service says about a thing it does not have, or not in the right status, the words clients know.
func notFound(err error, resource string, id int64, status string) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	text := "No " + resource + " found with id " + strconv.FormatInt(id, 10)
	c := *e
	switch {
	case e.Code == wire.NotFound:
		c.Msg = text
	case e.Code == wire.Conflict && e.Reason == WrongStatus:
		c.Msg = text + statusText + status
	default:
		return err
	}
	return &c
}
