package salesapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"posagent/ecr"
	"posagent/schemes/wire"
)

// retryAfter is when to come back after a refusal that passes.
const retryAfter = 2 * time.Second

// tooLate is the reason of an abort that came after the end.
const tooLate = "TooLate"

// catalogue is what a refusal looks like on the wire, by its reason: the code of the register's side
// in camel case. 409 and 503 pass by themselves: a till repeats the request under its key. 422 never does.
func catalogue() wire.Catalogue {
	row := func(code ecr.Code, title string, status int) wire.Problem {
		kind := wire.Conflict
		if status == http.StatusServiceUnavailable {
			kind = wire.Unavailable
		}
		return wire.Problem{Code: kind, Reason: reason(code), Title: title, Status: status}
	}
	return wire.Catalogue{
		row(ecr.Busy, "Another sale runs", http.StatusConflict),
		row(ecr.EODImpossible, "The day cannot be closed yet", http.StatusConflict),
		row(ecr.Impossible, "Not possible in this state", http.StatusUnprocessableEntity),
		row(ecr.AlreadyReversed, "Already reversed", http.StatusUnprocessableEntity),
		row(ecr.NotReversible, "Cannot be taken back", http.StatusUnprocessableEntity),
		row(ecr.StillRunning, "Runs under another key", http.StatusUnprocessableEntity),
		row(ecr.Replaced, "The number may be another payment's", http.StatusUnprocessableEntity),
		row(ecr.SystemError, "The terminal cannot do it", http.StatusUnprocessableEntity),
		row(tooLate, "Too late to abort", http.StatusUnprocessableEntity),
		row(ecr.NoMethod, "No payment method fits", http.StatusUnprocessableEntity),
		row(ecr.AmountWrong, "Amount not accepted", http.StatusUnprocessableEntity),
		row(ecr.WrongCurrency, "Currency not accepted", http.StatusUnprocessableEntity),
		row(ecr.NoOriginal, "Original not named", http.StatusUnprocessableEntity),
		row(ecr.Processing, "Cannot be processed", http.StatusUnprocessableEntity),
		row(ecr.NotReady, "Not ready", http.StatusServiceUnavailable),
		row(ecr.NotStored, "Nothing can be stored", http.StatusServiceUnavailable),
		row(ecr.Resuming, "Older sales are being resumed", http.StatusServiceUnavailable),
	}
}

// reason writes a code as the reason of a problem: no_method is NoMethod.
func reason(code ecr.Code) string {
	text := ""
	for word := range strings.SplitSeq(string(code), "_") {
		if word != "" {
			text += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return text
}

// refused turns an error of the desk into one of the port.
func refused(op string, err error) *wire.Error {
	var no *ecr.Refusal
	switch {
	case errors.As(err, &no):
		e := &wire.Error{Code: wire.Conflict, Reason: reason(no.Code), Op: op, Msg: no.Text}
		switch no.Code {
		case ecr.NotReady, ecr.NotStored, ecr.Resuming:
			e.Code, e.RetryAfter = wire.Unavailable, retryAfter
		case ecr.Busy, ecr.EODImpossible:
			e.RetryAfter = retryAfter
		}
		return e
	case errors.Is(err, ecr.ErrTooLate):
		return &wire.Error{Code: wire.Conflict, Reason: tooLate, Op: op, Msg: "the sale has ended, or its approval came first: read its outcome"}
	}
	return wire.AsError(op, err)
}
