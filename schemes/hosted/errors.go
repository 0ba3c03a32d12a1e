package hosted

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// The reasons: the code values of S2 7's error list. The real service's own (PS…, GW…) where it has one. Every one has the
// status 400; a code without a reason stands in the list by its own name in capitals, with its usual status.
const (
	BadMerchantURL      = "GW0001" // Invalid: merchantUrl
	BadInstallments     = "PS0005" // Invalid: installments, or their sum
	AmountAboveOrder    = "PS0007" // Invalid: the session's amount is above the order's
	BadDate             = "PS0008" // Invalid
	BadCurrency         = "PS0009" // Invalid
	BadContract         = "PS0017" // Conflict: no such contract, or it does not allow this
	VoidedNoCapture     = "PS0022" // Conflict
	ExecutedNoCapture   = "PS0023" // Conflict: nothing is left to capture, or more than is left
	RefundedNoCapture   = "PS0024" // Conflict
	BadKey              = "PS0025" // Invalid: Idempotency-Key missing or malformed; KeyReused: used with another body (422)
	BadParameter        = "PS0026" // Invalid: every other field
	AlreadyRefunded     = "PS0027" // Conflict
	AlreadyVoided       = "PS0028" // Conflict
	RefundAboveCaptured = "PS0029" // Conflict
	BadJSON             = "PS0035" // Invalid
	AmountNotNumeric    = "PS0036" // Invalid
	Javascript          = "PS0041" // Invalid: a text that would run in a page

	SessionExpired  = "SESSION_EXPIRED"   // Conflict: its five minutes are over
	SessionCanceled = "SESSION_CANCELED"  // Conflict: it was cancelled
	SessionNotReady = "SESSION_NOT_READY" // Conflict: the customer has not filled in everything
	SessionComplete = "SESSION_COMPLETE"  // Conflict: cancel of what is paid or refused already
	OrderPaid       = "ORDER_PAID"        // Conflict: another session of the order was paid
	OrderDiffers    = "ORDER_DIFFERS"     // Conflict: the order exists in another currency, or a session of it may still be paid with another amount
	NotPossible     = "NOT_POSSIBLE"      // Conflict: an operation of this type or result cannot be captured, refunded or cancelled
	BankRefused     = "BANK_REFUSED"      // Conflict: the bank refused a capture, refund or cancel
)

// genericError is the real service's word for our Internal.
const genericError = "PS0000"

var reasons = wire.Catalogue{
	{Code: wire.Invalid, Reason: BadMerchantURL, Title: "Invalid merchant URL"},
	{Code: wire.Invalid, Reason: BadInstallments, Title: "Invalid installments"},
	{Code: wire.Invalid, Reason: AmountAboveOrder, Title: "Session amount above order amount"},
	{Code: wire.Invalid, Reason: BadDate, Title: "Invalid date"},
	{Code: wire.Invalid, Reason: BadCurrency, Title: "Invalid currency"},
	{Code: wire.Conflict, Reason: BadContract, Title: "Invalid contract"},
	{Code: wire.Conflict, Reason: VoidedNoCapture, Title: "Voided, cannot be captured"},
	{Code: wire.Conflict, Reason: ExecutedNoCapture, Title: "Executed, cannot be captured"},
	{Code: wire.Conflict, Reason: RefundedNoCapture, Title: "Refunded, cannot be captured"},
	{Code: wire.Invalid, Reason: BadKey, Title: "Idempotency key wrong or missing"},
	{Code: wire.KeyReused, Reason: BadKey, Title: "Idempotency key wrong: it was used with another body"},
	{Code: wire.Invalid, Reason: BadParameter, Title: "Invalid parameter"},
	{Code: wire.Conflict, Reason: AlreadyRefunded, Title: "Already refunded"},
	{Code: wire.Conflict, Reason: AlreadyVoided, Title: "Already voided"},
	{Code: wire.Conflict, Reason: RefundAboveCaptured, Title: "Refund above captured amount"},
	{Code: wire.Invalid, Reason: BadJSON, Title: "JSON not readable"},
	{Code: wire.Invalid, Reason: AmountNotNumeric, Title: "Amount not numeric"},
	{Code: wire.Invalid, Reason: Javascript, Title: "Embedded javascript"},
	{Code: wire.Conflict, Reason: SessionExpired, Title: "Session expired"},
	{Code: wire.Conflict, Reason: SessionCanceled, Title: "Session canceled"},
	{Code: wire.Conflict, Reason: SessionNotReady, Title: "Session not ready for payment"},
	{Code: wire.Conflict, Reason: SessionComplete, Title: "Payment complete"},
	{Code: wire.Conflict, Reason: OrderPaid, Title: "Order already paid"},
	{Code: wire.Conflict, Reason: OrderDiffers, Title: "Order exists in another currency, or a session of it may still be paid with another amount"},
	{Code: wire.Conflict, Reason: NotPossible, Title: "Not possible for this operation"},
	{Code: wire.Conflict, Reason: BankRefused, Title: "Refused by the bank"},
	{Code: wire.Internal, Reason: genericError, Title: "Generic API error"},
}

// ContentType of requests and answers, errors too.
const ContentType = wire.JSONType

// Reasons lists every code with each of its reasons, in order.
func Reasons() wire.Catalogue { return slices.Clone(reasons[:len(reasons)-1]) } // without genericError

// Refused makes a Conflict with one of the reasons above; its text is the table's.
func Refused(op, reason string) *wire.Error {
	for _, r := range reasons {
		if r.Reason == reason && r.Code == wire.Conflict {
			return &wire.Error{Code: wire.Conflict, Reason: reason, Op: op, Msg: r.Title}
		}
	}
	return &wire.Error{Code: wire.Conflict, Op: op}
}

// reason names what is wrong with a request.
func reason(err error) string {
	var f *wire.FieldError
	switch {
	case errors.Is(err, rest.ErrNoKey), errors.Is(err, wire.ErrKey):
		return BadKey
	case errors.As(err, &f) && f.Path == "":
		return BadJSON
	}
	return BadParameter
}

// refused is the error of a request, with its reason; nil stays nil.
func refused(op string, err error) error {
	if err == nil {
		return nil
	}
	e := wire.AsError(op, err)
	if e.Code == wire.Invalid && e.Reason == "" {
		e.Reason = reason(err)
	}
	return e
}

type item struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

type errorBody struct {
	Errors []item `json:"errors"`
}

// onWire is the status and the code value of an error.
func onWire(err *wire.Error) (int, item) {
	it := item{strings.ToUpper(string(err.Code)), err.Msg}
	status := err.Code.Status()
	reason := err.Reason
	switch err.Code {
	case wire.KeyReused:
		reason = BadKey
	case wire.Internal:
		reason = genericError
	case wire.Invalid:
		if reason == "" {
			reason = BadParameter
		}
	case wire.Conflict:
		status = http.StatusConflict
	}
	for _, r := range reasons {
		if r.Code == err.Code && r.Reason == reason {
			it.Code = reason
			if it.Description == "" {
				it.Description = r.Title
			}
			if r.Code == wire.Conflict {
				status = http.StatusBadRequest
			}
		}
	}
	return status, it
}

// WriteError answers with err in the shape of S2 7. Card numbers in texts are masked; causes stay inside, and so does the text
// of Internal errors, which log gets (nil drops them).
func WriteError(w http.ResponseWriter, log *slog.Logger, err *wire.Error) {
	c := *err
	switch {
	case c.Code == wire.Internal:
		if log != nil {
			log.Error("request failed", "op", c.Op, "err", err)
		}
		c.Msg = ""
	case c.Msg == "" && c.Code == wire.Invalid && c.Err != nil:
		c.Msg = strings.ReplaceAll(c.Err.Error(), "\n", "; ")
	}
	status, it := onWire(&c)
	if it.Description == "" {
		it.Description = strings.ToLower(it.Code)
	}
	it.Description = wire.MaskPANs(it.Description) // a field's name is the caller's
	if c.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((c.RetryAfter+time.Second-1)/time.Second), 10))
	}
	_ = wire.WriteJSON(w, status, ContentType, errorBody{[]item{it}}) // a fixed shape marshals; a lost connection has no reader
}

// noRoute is the code value of a path or method that is not there.
const noRoute = "NO_ROUTE"

// shape is the errors of S2 7.
type shape struct{}

// Refuse implements rest.Shape.
func (shape) Refuse(w http.ResponseWriter, _ *http.Request, log *slog.Logger, err *wire.Error) {
	if err.Msg == rest.ErrNoKey.Error() {
		err.Msg = wire.KeyHeader + " missing"
	}
	WriteError(w, log, err)
}

// NoRoute implements rest.Shape.
func (shape) NoRoute(w http.ResponseWriter, _ *http.Request, allow string) {
	status, text := http.StatusNotFound, "no such route"
	if allow != "" {
		w.Header().Set("Allow", allow)
		status, text = http.StatusMethodNotAllowed, "method not allowed, use "+allow
	}
	_ = wire.WriteJSON(w, status, ContentType, errorBody{[]item{{noRoute, text}}}) // a lost connection has no reader
}

// Refusal implements rest.Shape. A code value of the table decides
// where it fits the status, a foreign one of a 400 is Invalid. 401, 403 and 429 count without a body; on a write the rest is
// UnknownOutcome, on a read Unavailable.
func (shape) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	e := &wire.Error{Op: c.Op, RetryAfter: wire.RetryAfter(a.Header)}
	var body errorBody
	own := a.JSON() && wire.Check(a.Body) == nil && json.Unmarshal(a.Body, &body) == nil && len(body.Errors) > 0 && body.Errors[0].Code != ""
	value := ""
	if own {
		value = body.Errors[0].Code
		e.Msg = wire.MaskPANs(wire.Clean(body.Errors[0].Description))
		for _, r := range reasons {
			if status, it := onWire(&wire.Error{Code: r.Code, Reason: r.Reason}); it.Code == value && status == a.Status {
				if e.Code, e.Reason = r.Code, r.Reason; r.Code == wire.KeyReused || r.Code == wire.Internal {
					e.Reason = ""
				}
				return e
			}
		}
		for _, code := range wire.Codes() {
			if status, it := onWire(&wire.Error{Code: code}); it.Code == value && status == a.Status {
				e.Code = code
				return e
			}
		}
	}
	if !own || e.Msg == "" {
		e.Msg = "reply " + strconv.Itoa(a.Status)
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		e.Code = wire.Unauthorized
	case a.Status == http.StatusForbidden:
		e.Code = wire.Forbidden
	case a.Status == http.StatusTooManyRequests:
		e.Code = wire.TooMany
	case !own || value == noRoute || a.Status < 400 || a.Status >= 500 || a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooEarly:
		e.Code = c.Lost("").Code
	case a.Status == http.StatusNotFound:
		e.Code = wire.NotFound
	case a.Status == http.StatusRequestEntityTooLarge:
		e.Code = wire.TooLarge
	case a.Status == http.StatusConflict && !keyed:
		e.Code = wire.Conflict
	case keyed && (a.Status == http.StatusConflict || a.Status == http.StatusUnprocessableEntity):
		e.Code = wire.KeyReused
	default:
		e.Code = wire.Invalid
	}
	e.Nobody = c.Nobodys(e.Code, own)
	if e.Code == wire.KeyReused && a.Status == http.StatusConflict {
		e.Foreign409(value)
	}
	return e
}
