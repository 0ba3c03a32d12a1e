package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Doer sends one HTTP request. The agent's upstream client and http.Client are Doers.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Code is the reason of an error: a closed, append-only list shared by every service contract.
// Decide by code (errors.Is against the sentinels below), never by text.
type Code string

// The codes. A service's errors.go says which of them it uses and how each one looks on its wire.
const (
	Invalid        Code = "invalid"         // the request breaks a stateless rule; never sent again unchanged
	Unauthorized   Code = "unauthorized"    // credentials missing or wrong
	Forbidden      Code = "forbidden"       // credentials good, operation not allowed
	NotFound       Code = "not_found"       // the service itself says so, in its own body
	Conflict       Code = "conflict"        // the state of the thing forbids it
	KeyReused      Code = "key_reused"      // same Idempotency-Key, other body
	TooLarge       Code = "too_large"       // body, header or depth limit
	TooMany        Code = "too_many"        // 429; RetryAfter may be set
	Unavailable    Code = "unavailable"     // provably not sent, or refused before any effect (503)
	UnknownOutcome Code = "unknown_outcome" // sent, reply lost or unreadable: look it up or send again under the same Key
	Internal       Code = "internal"        // the service failed (500); the effect is unknown on a write
	Gone           Code = "gone"            // the Idempotency-Key named an operation that ended and was deleted since (410)
)

// Error is what every contract method returns when it fails.
type Error struct {
	Code       Code
	Reason     string        // a service's own closed word beside the code ("OverCharge"), or ""
	Op         string        // "aapay.initialize"
	Msg        string        // for people; carries no secret
	RetryAfter time.Duration // 0 = not said
	Unsent     bool          // of a write: no try of the call ever had a connection to the service
	Nobody     bool          // of a 401, 403 or 429 to a write: it came without the service's own body, so it is nobody's word
	MayRun     bool          // of a KeyReused: only a foreign 409 says it, which may mean that the first request still runs
	Runs       bool          // with MayRun: it does run, the service says so by a Retry-After or in words
	Answered   bool          // of a write with an unknown outcome: the service did answer with a success, of which no use can be made
	Err        error         // cause, may be nil
}

// Error implements error.
func (e *Error) Error() string {
	s := string(e.Code)
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Code: c}) compare codes, and reasons where the target has one.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Op == "" && t.Msg == "" && (t.Reason == "" || t.Reason == e.Reason)
}

// Errorf makes an Error of code c.
func Errorf(c Code, op, format string, args ...any) *Error {
	return &Error{Code: c, Op: op, Msg: fmt.Sprintf(format, args...)}
}

// AsError gives any error the shape of the contracts: a *Error stays, a *FieldError keeps its code, one that says
// UnknownOutcome() of itself is that (a commit whose answer was lost), everything else is Internal. op is filled in where it is missing. nil stays nil.
func AsError(op string, err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		c := *e
		if c.Op == "" {
			c.Op = op
		}
		return &c
	}
	var fe *FieldError
	if errors.As(err, &fe) {
		return &Error{Code: fe.Code, Op: op, Msg: strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	var unknown interface{ UnknownOutcome() bool }
	if errors.As(err, &unknown) && unknown.UnknownOutcome() {
		return &Error{Code: UnknownOutcome, Op: op, Err: err}
	}
	var nothing interface{ NothingDone() bool }
	if errors.As(err, &nothing) && nothing.NothingDone() {
		return &Error{Code: Unavailable, Op: op, Msg: "the books are out of reach, and nothing was begun", Err: err, RetryAfter: outOfReach}
	}
	return &Error{Code: Internal, Op: op, Err: err}
}

// outOfReach is how long a caller waits before he asks again where a store was out of reach.
const outOfReach = 2 * time.Second

// CodeOf returns err's code, or "" when err carries none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Foreign409 notes what a 409 that is not ours says of the Key of a write: the first request under it may still run, and does where the
// reply asks to come back, or says so in its texts.
func (e *Error) Foreign409(texts ...string) {
	e.MayRun, e.Runs = true, e.RetryAfter > 0
	for _, text := range append(texts, e.Msg) {
		text = strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(text))
		for _, word := range []string{"in progress", "inprogress", "processing", "being processed", "in flight", "still running", "concurrent"} {
			e.Runs = e.Runs || strings.Contains(text, word)
		}
	}
}

// MayRun reports whether err is a 409 that is not ours to a write under a Key: it proves nothing of the write. runs says that the
// service itself says that it still works on it.
func MayRun(err error) (may, runs bool) {
	var e *Error
	if !errors.As(err, &e) || e.Code != KeyReused || !e.MayRun {
		return false, false
	}
	return true, e.Runs
}

// ProvesNothing reports whether err, whatever its code says, leaves open whether the write had its effect: it is nobody's word, or a 409
// that is not ours.
func ProvesNothing(err error) bool {
	var e *Error
	may, _ := MayRun(err)
	return may || errors.As(err, &e) && e.Nobody
}

// OtherBody reports whether err proves that the Key of a write names a request with another body.
func OtherBody(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == KeyReused && !e.MayRun
}

// NeverSent says whether err proves that the write never had a connection to its service. A reply of
// the service, even a refusal, is no such proof.
func NeverSent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Unsent
}

// Answered says whether err is of a success that no use can be made of: the service has made something, and asked again without a Key
// that it honours it makes another one.
func Answered(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Answered
}

// ReasonOf returns err's reason, or "" when err carries none.
func ReasonOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// FieldError names the place in a JSON text that was refused.
type FieldError struct {
	Path   string // "purchaseAmount.totalAmount", "params[2].key"; "" is the whole text
	Reason string
	Code   Code // Invalid, or TooLarge for a depth limit
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Path == "" {
		return "body: " + e.Reason
	}
	return e.Path + ": " + e.Reason
}

func bad(format string, args ...any) *FieldError {
	return &FieldError{Reason: fmt.Sprintf(format, args...), Code: Invalid}
}

// under prepends one path element to an error on its way up.
func under(err error, elem string) error {
	var fe *FieldError
	if !errors.As(err, &fe) {
		return err
	}
	switch {
	case fe.Path == "":
		fe.Path = elem
	case fe.Path[0] == '[':
		fe.Path = elem + fe.Path
	default:
		fe.Path = elem + "." + fe.Path
	}
	return fe
}
