package hosted

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
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

type row struct {
	code   wire.Code
	reason string
	text   string
}

var reasons = [...]row{
	{wire.Invalid, BadMerchantURL, "Invalid merchant URL"},
	{wire.Invalid, BadInstallments, "Invalid installments"},
	{wire.Invalid, AmountAboveOrder, "Session amount above order amount"},
	{wire.Invalid, BadDate, "Invalid date"},
	{wire.Invalid, BadCurrency, "Invalid currency"},
	{wire.Conflict, BadContract, "Invalid contract"},
	{wire.Conflict, VoidedNoCapture, "Voided, cannot be captured"},
	{wire.Conflict, ExecutedNoCapture, "Executed, cannot be captured"},
	{wire.Conflict, RefundedNoCapture, "Refunded, cannot be captured"},
	{wire.Invalid, BadKey, "Idempotency key wrong or missing"},
	{wire.KeyReused, BadKey, "Idempotency key wrong: it was used with another body"},
	{wire.Invalid, BadParameter, "Invalid parameter"},
	{wire.Conflict, AlreadyRefunded, "Already refunded"},
	{wire.Conflict, AlreadyVoided, "Already voided"},
	{wire.Conflict, RefundAboveCaptured, "Refund above captured amount"},
	{wire.Invalid, BadJSON, "JSON not readable"},
	{wire.Invalid, AmountNotNumeric, "Amount not numeric"},
	{wire.Invalid, Javascript, "Embedded javascript"},
	{wire.Conflict, SessionExpired, "Session expired"},
	{wire.Conflict, SessionCanceled, "Session canceled"},
	{wire.Conflict, SessionNotReady, "Session not ready for payment"},
	{wire.Conflict, SessionComplete, "Payment complete"},
	{wire.Conflict, OrderPaid, "Order already paid"},
	{wire.Conflict, OrderDiffers, "Order exists in another currency, or a session of it may still be paid with another amount"},
	{wire.Conflict, NotPossible, "Not possible for this operation"},
	{wire.Conflict, BankRefused, "Refused by the bank"},
	{wire.Internal, genericError, "Generic API error"},
}

const (
	opBuild    = "hosted.build"
	opFinalize = "hosted.finalize"
	opEnd      = "hosted.cancel"
	opState    = "hosted.state"
	opCard     = "hosted.card"
	opMethods  = "hosted.methods"
	opOrder    = "hosted.order"
	opCapture  = "hosted.capture"
	opRefund   = "hosted.refund"
	opUndo     = "hosted.undo"
)

// ContentType of requests and answers, errors too.
const ContentType = wire.JSONType

// Reasons lists every code with each of its reasons, in order.
func Reasons() (list []wire.Error) {
	for _, r := range reasons {
		if r.reason != genericError {
			list = append(list, wire.Error{Code: r.code, Reason: r.reason})
		}
	}
	return list
}

// Refused makes a Conflict with one of the reasons above; its text is the table's.
func Refused(op, reason string) *wire.Error {
	for _, r := range reasons {
		if r.reason == reason && r.code == wire.Conflict {
			return &wire.Error{Code: wire.Conflict, Reason: reason, Op: op, Msg: r.text}
		}
	}
	return &wire.Error{Code: wire.Conflict, Op: op}
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
		if r.code == err.Code && r.reason == reason {
			it.Code = reason
			if it.Description == "" {
				it.Description = r.text
			}
			if r.code == wire.Conflict {
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

func writeNoRoute(w http.ResponseWriter, allow string) {
	status, text := http.StatusNotFound, "no such route"
	if allow != "" {
		w.Header().Set("Allow", allow)
		status, text = http.StatusMethodNotAllowed, "method not allowed, use "+allow
	}
	_ = wire.WriteJSON(w, status, ContentType, errorBody{[]item{{noRoute, text}}}) // a lost connection has no reader
}

// refusal judges a reply that is not a success; keyed says that the request carried a Key. A code value of the table decides
// where it fits the status, a foreign one of a 400 is Invalid. 401, 403 and 429 count without a body; on a write the rest is
// UnknownOutcome, on a read Unavailable.
func refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	e := &wire.Error{Op: c.Op, RetryAfter: wire.RetryAfter(a.Header)}
	var body errorBody
	own := a.JSON() && wire.Check(a.Body) == nil && json.Unmarshal(a.Body, &body) == nil && len(body.Errors) > 0 && body.Errors[0].Code != ""
	value := ""
	if own {
		value = body.Errors[0].Code
		e.Msg = wire.MaskPANs(wire.Clean(body.Errors[0].Description))
		for _, r := range reasons {
			if status, it := onWire(&wire.Error{Code: r.code, Reason: r.reason}); it.Code == value && status == a.Status {
				if e.Code, e.Reason = r.code, r.reason; r.code == wire.KeyReused || r.code == wire.Internal {
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
	return e
}
