package wire

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The scheme and terminal services share one error body (S1 2.4, 7): valid=false and an error object whose
// list of faults is spelled componsiteFault. Our own Code stands in the params of the first fault,
// so that it survives the wire; a foreign service's body has none and is judged by its status.

// codeParam is the key of our Code in a fault's params.
const codeParam = "code"

// noRoute marks a 404 that speaks of the route and not of a thing: it must never read as NotFound.
const noRoute = "no_route"

type faultItem struct {
	ExplanationText string            `json:"explanationText"`
	Params          map[string]string `json:"params,omitempty"`
}

type faultList struct {
	Faults []faultItem `json:"faults"`
}

type faultError struct {
	ComponsiteFault *faultList `json:"componsiteFault"`
	Message         string     `json:"message"`
}

type faultBody struct {
	Valid    bool        `json:"valid"`
	Error    *faultError `json:"error"`
	Response *struct{}   `json:"response"`
}

// WriteFault answers with err in the shape of the scheme services. Card numbers in texts are masked. Causes (Err) stay
// inside; the text of Internal errors does too. log may be nil; it gets Internal errors, which no client sees.
func WriteFault(w http.ResponseWriter, log *slog.Logger, contentType string, err *Error) {
	msg := err.Msg
	if err.Code == Internal {
		if log != nil {
			log.Error("request failed", "op", err.Op, "err", err)
		}
		msg = "internal error"
	} else if msg == "" {
		if msg = string(err.Code); err.Code == Invalid && err.Err != nil {
			msg = err.Err.Error()
		}
	}
	if err.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((err.RetryAfter+time.Second-1)/time.Second), 10))
	}
	writeFault(w, err.Code.Status(), contentType, string(err.Code), msg)
}

// WriteNoRoute answers 404 for a path the service does not have.
func WriteNoRoute(w http.ResponseWriter, contentType string) {
	writeFault(w, http.StatusNotFound, contentType, noRoute, "no such route")
}

// WriteMethodNotAllowed answers 405 and names the method the route has.
func WriteMethodNotAllowed(w http.ResponseWriter, contentType, allow string) {
	w.Header().Set("Allow", allow)
	writeFault(w, http.StatusMethodNotAllowed, contentType, string(Invalid), "method not allowed, use "+allow)
}

func writeFault(w http.ResponseWriter, status int, contentType, code, msg string) {
	// A field's name is the caller's.
	msg = MaskPANs(msg)
	_ = WriteJSON(w, status, contentType, faultBody{Error: &faultError{ // a fixed shape marshals; a lost connection has no reader
		ComponsiteFault: &faultList{Faults: []faultItem{{ExplanationText: msg, Params: map[string]string{codeParam: code}}}},
		Message:         msg,
	}})
}

// readFault says whether a reply carries the service's own error body, and what it says.
func readFault(a Answer) (code, msg string, own bool) {
	if !a.JSON() || Check(a.Body) != nil {
		return "", "", false
	}
	var body struct {
		Valid *bool           `json:"valid"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return "", "", false
	}
	type list struct {
		Faults []struct {
			ExplanationText string         `json:"explanationText"`
			Params          map[string]any `json:"params"`
		} `json:"faults"`
	}
	var e *struct {
		Composite  *list  `json:"compositeFault"`
		Componsite *list  `json:"componsiteFault"`
		Message    string `json:"message"`
	}
	if len(body.Error) > 0 && json.Unmarshal(body.Error, &e) != nil {
		e = nil // an error object of another kind; a text is none
	}
	own = e != nil || body.Valid != nil && !*body.Valid
	if e == nil {
		return "", "", own
	}
	msg = e.Message
	for _, l := range []*list{e.Componsite, e.Composite} {
		if l == nil || len(l.Faults) == 0 {
			continue
		}
		if msg == "" {
			msg = l.Faults[0].ExplanationText
		}
		if c, ok := l.Faults[0].Params[codeParam].(string); ok && code == "" {
			code = c
		}
	}
	return code, Clean(msg), own
}

// Clean makes a foreign text fit for a log line or a screen: printable, and at most 200 characters.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return strings.TrimSpace(s)
}

// Refusal reads a reply that is not a success. keyed says that the request carried a Key, which is what 409 and 422
// then speak of. A code that the service itself wrote decides where it fits the status; otherwise the status does, and
// 400, 404, 409, 413, 422 and other 4xx count only with the service's own body: on a write the rest is UnknownOutcome,
// on a read Unavailable.
func (c Call) Refusal(a Answer, keyed bool) *Error {
	code, msg, own := readFault(a)
	e := &Error{Op: c.Op, Msg: msg, RetryAfter: RetryAfter(a.Header)}
	if code != "" {
		own = own && code != noRoute
		for _, known := range Codes() {
			if string(known) == code && known.Status() == a.Status {
				e.Code = known
				return e
			}
		}
	}
	e.Code = c.byStatus(a.Status, own, keyed)
	e.Nobody = c.Nobodys(e.Code, own)
	if e.Code == KeyReused && a.Status == http.StatusConflict {
		e.Foreign409()
	}
	if !own || e.Msg == "" {
		e.Msg = "reply " + strconv.Itoa(a.Status)
	}
	return e
}

// Nobodys is Error.Nobody of a reply. own says that it has the service's own body.
func (c Call) Nobodys(code Code, own bool) bool {
	return c.Write && !own && (code == Unauthorized || code == Forbidden || code == TooMany)
}

func (c Call) byStatus(status int, own, keyed bool) Code {
	switch status {
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusForbidden:
		return Forbidden
	case http.StatusTooManyRequests:
		return TooMany
	case http.StatusInternalServerError:
		if own && !c.Write {
			return Internal
		}
	case http.StatusRequestTimeout, http.StatusTooEarly:
	default:
		if !own || status < 400 || status > 499 {
			break
		}
		switch {
		case status == http.StatusNotFound:
			return NotFound
		case keyed && (status == http.StatusConflict || status == http.StatusUnprocessableEntity):
			return KeyReused
		case status == http.StatusConflict:
			return Conflict
		case status == http.StatusRequestEntityTooLarge:
			return TooLarge
		}
		return Invalid
	}
	return c.Lost("").Code
}

// Segments splits what follows prefix in a request's path, unescaping each piece once; ok is false when the
// path does not begin with prefix or a piece is empty or broken. One trailing slash is allowed.
func Segments(r *http.Request, prefix string) (pieces []string, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !ok {
		return nil, false
	}
	for _, p := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
		s, err := url.PathUnescape(p)
		if err != nil || s == "" {
			return nil, false
		}
		pieces = append(pieces, s)
	}
	return pieces, true
}

// PathWord checks a text that becomes one piece of a path or a stored reference: 1..limit bytes of UTF-8 without
// control characters, and not a dot name.
func PathWord(s string, limit int) bool {
	return s != "" && s != "." && s != ".." && PlainText(s, limit)
}

// PlainText says that s is at most limit bytes of UTF-8 without control characters.
func PlainText(s string, limit int) bool {
	if len(s) > limit || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, unicode.IsControl) < 0
}
