package wire

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The payment, token and onboarding services share one error body, the problem (S0 7): type, title, status, detail,
// instance. `type` is "urn:problem:" and a name; the name alone tells code and reason, so both survive the wire:
//
//	type                          code              reason           status
//	urn:problem:invalid           Invalid           -                400
//	urn:problem:unauthorized      Unauthorized      -                401
//	urn:problem:forbidden         Forbidden         -                403
//	urn:problem:not-found         NotFound          -                404
//	urn:problem:no-route          (no code)         -                404, 405
//	urn:problem:conflict          Conflict          -                422
//	urn:problem:key-reused        KeyReused         -                422
//	urn:problem:too-large         TooLarge          -                413
//	urn:problem:too-many          TooMany           -                429
//	urn:problem:unavailable       Unavailable       -                503
//	urn:problem:unknown-outcome   UnknownOutcome    -                504
//	urn:problem:internal          Internal          -                500
//	urn:problem:gone              Gone              -                410
//	urn:problem:over-charge …     a row of the service's own Catalogue

// ProblemType is the content type of a problem body.
const ProblemType = "application/problem+json; charset=utf-8"

const problemPrefix = "urn:problem:"

// Problem is one row of a service's catalogue: what a reason means on the wire. Its type is "urn:problem:" and the
// reason in kebab case ("OverCharge" is urn:problem:over-charge); its status is the code's (see ProblemStatus) or its own.
type Problem struct {
	Code   Code
	Reason string // CamelCase, ASCII letters and digits
	Title  string // for people
	Status int    // HTTP status, 0 = ProblemStatus of the code
}

func (p Problem) status() int {
	if p.Status != 0 {
		return p.Status
	}
	return ProblemStatus(p.Code)
}

// Catalogue is a service's closed, append-only list of reasons.
type Catalogue []Problem

// Type is the row's type value on the wire.
func (p Problem) Type() string { return problemPrefix + kebab(p.Reason) }

// ProblemStatus is the HTTP status of a code where errors are problem bodies: a Conflict is a business refusal,
// which S0 4.1 calls 422; every other code has its usual status.
func ProblemStatus(c Code) int {
	if c == Conflict {
		return http.StatusUnprocessableEntity
	}
	return c.Status()
}

type problemBody struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`
}

// titles of the codes that have no reason, in the order of Codes.
func codeTitle(c Code) string {
	switch c {
	case Invalid:
		return "Bad request"
	case Conflict:
		return "Not possible in this state"
	case KeyReused:
		return "Idempotency-Key was used with another body"
	case TooLarge:
		return "Too large"
	case TooMany:
		return "Too many requests"
	case UnknownOutcome:
		return "Outcome unknown"
	case Unavailable:
		return "Not available"
	case Internal:
		return "Internal error"
	case Gone:
		return "The operation of this Idempotency-Key was deleted"
	}
	return http.StatusText(c.Status())
}

// WriteProblem answers with err in the shape of S0 7; instance is the path that was asked for. Card numbers in texts are
// masked. Causes (Err) stay inside; the text of Internal errors does too. log may be nil; it gets Internal errors, which
// no client sees. A reason that the catalogue does not have is left out.
func WriteProblem(w http.ResponseWriter, r *http.Request, log *slog.Logger, err *Error, c Catalogue) {
	body := problemBody{
		Type: problemPrefix + kebab(string(err.Code)), Title: codeTitle(err.Code), Status: ProblemStatus(err.Code), Detail: err.Msg,
	}
	for _, p := range c {
		if err.Reason != "" && p.Reason == err.Reason && p.Code == err.Code {
			body.Type, body.Title, body.Status = p.Type(), p.Title, p.status()
		}
	}
	switch {
	case err.Code == Internal:
		if log != nil {
			log.Error("request failed", "op", err.Op, "err", err)
		}
		body.Detail = "internal error"
	case body.Detail == "" && err.Code == Invalid && err.Err != nil:
		body.Detail = err.Err.Error()
	case body.Detail == "":
		body.Detail = body.Title
	}
	body.Detail = MaskPANs(body.Detail) // a field's name is the caller's
	if err.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((err.RetryAfter+time.Second-1)/time.Second), 10))
	}
	body.write(w, r)
}

func (b problemBody) write(w http.ResponseWriter, r *http.Request) {
	if b.Instance = MaskPANs(r.URL.EscapedPath()); len(b.Instance) > 255 {
		b.Instance = b.Instance[:255]
	}
	_ = WriteJSON(w, b.Status, ProblemType, b) // a fixed shape marshals; a lost connection has no reader
}

// WriteProblemNoRoute answers 404 for a path the service does not have, and 405 where allow names the methods it has.
func WriteProblemNoRoute(w http.ResponseWriter, r *http.Request, allow string) {
	b := problemBody{Type: problemPrefix + "no-route", Title: "No such route", Status: http.StatusNotFound, Detail: "no such route"}
	if allow != "" {
		w.Header().Set("Allow", allow)
		b.Title, b.Status, b.Detail = "Method not allowed", http.StatusMethodNotAllowed, "method not allowed, use "+allow
	}
	b.write(w, r)
}

// Problem reads a reply that is not a success of a service that answers with problem bodies; keyed says that the request
// carried a Key. A type of ours, or of the catalogue, decides where it fits the status. Otherwise the status does: 400, 404,
// 409, 413, 422 and other 4xx count only with the service's own body (one with a title, or a type, and the reply's own
// status if it names one); a foreign 422 is a Conflict, a foreign 409 KeyReused when keyed. On a write the rest
// is UnknownOutcome, on a read Unavailable.
func (c Call) Problem(a Answer, keyed bool, cat Catalogue) *Error {
	e := &Error{Op: c.Op, RetryAfter: RetryAfter(a.Header)}
	b, own := readProblem(a)
	name, ours := strings.CutPrefix(b.Type, problemPrefix)
	if own {
		if e.Msg = MaskPANs(Clean(b.Detail)); e.Msg == "" {
			e.Msg = MaskPANs(Clean(b.Title))
		}
	}
	if own && ours {
		if name == "no-route" {
			own = false
		}
		for _, p := range cat {
			if kebab(p.Reason) == name && p.status() == a.Status {
				e.Code, e.Reason = p.Code, p.Reason
				return e
			}
		}
		for _, code := range Codes() {
			if kebab(string(code)) == name && ProblemStatus(code) == a.Status {
				e.Code = code
				return e
			}
		}
	}
	e.Code = c.byStatus(a.Status, own, keyed)
	e.Nobody = c.Nobodys(e.Code, own)
	if e.Code == KeyReused && a.Status == http.StatusConflict {
		e.Foreign409(b.Title, b.Type)
	}
	if own && a.Status == http.StatusUnprocessableEntity {
		e.Code = Conflict
	}
	if !own || e.Msg == "" {
		e.Msg = "reply " + strconv.Itoa(a.Status)
	}
	return e
}

// readProblem says whether a reply carries the service's own problem body.
func readProblem(a Answer) (b problemBody, own bool) {
	if !a.JSON() || Check(a.Body) != nil {
		return problemBody{}, false
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(a.Body, &raw) != nil {
		return problemBody{}, false
	}
	for name, into := range map[string]any{"type": &b.Type, "title": &b.Title, "detail": &b.Detail, "status": &b.Status} {
		if v, ok := raw[name]; ok && json.Unmarshal(v, into) != nil {
			return problemBody{}, false
		}
	}
	return b, (b.Type != "" || b.Title != "") && (b.Status == 0 || b.Status == a.Status)
}

// kebab writes OverCharge, over_charge and 3DSMissing as over-charge and 3-d-s-missing.
func kebab(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_':
			c = '-'
		case c >= 'A' && c <= 'Z':
			if i > 0 {
				b.WriteByte('-')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// FoldSegments is Segments for a service whose clients differ in the case of its paths: prefix ("/api/v1/payments", no
// slash at its end) is compared without regard to case, and nothing may follow it. The pieces keep their case.
func FoldSegments(r *http.Request, prefix string) (pieces []string, ok bool) {
	path := r.URL.EscapedPath() // ASCII only, so folding keeps lengths
	if len(path) < len(prefix) || !strings.EqualFold(path[:len(prefix)], prefix) {
		return nil, false
	}
	if rest := path[len(prefix):]; rest == "" || rest == "/" {
		return nil, true
	}
	return Segments(r, path[:len(prefix)]+"/")
}
