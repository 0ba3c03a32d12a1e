package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits in bytes.
const (
	MaxRequest = 256 << 10 // request bodies, unless a route says otherwise
	MaxReply   = 1 << 20   // reply bodies a Client reads, unless it says otherwise
)

// JSONType is the content type of a JSON body, where a service's own does not say more.
const JSONType = "application/json; charset=utf-8"

// MaxRetryAfter caps what a reply may ask us to wait.
const MaxRetryAfter = 5 * time.Minute

// ReadBody reads a request's body. Errors are *Error: TooLarge above limit (0 means MaxRequest), Invalid for a
// Content-Encoding other than identity and for a body that breaks off.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = MaxRequest
	}
	if err := Identity(r.Header); err != nil {
		return nil, err
	}
	if r.ContentLength > limit {
		return nil, Errorf(TooLarge, "", "body above %d bytes", limit)
	}
	if r.Body == nil {
		return nil, nil
	}
	data, err := readAll(io.LimitReader(r.Body, limit+1), r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), int64(len(data)) > limit:
		return nil, Errorf(TooLarge, "", "body above %d bytes", limit)
	case err != nil:
		return nil, &Error{Code: Invalid, Msg: "body not readable", Err: err}
	}
	return data, nil
}

// readAll reads to the end; size is how much that is, where it is known. It reads into one piece of memory: io.ReadAll would leave
// the body's beginning on the stack of a goroutine that goes on, and in every size it tried.
func readAll(from io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(from)
	}
	data := make([]byte, size)
	n, err := io.ReadFull(from, data)
	if err != nil {
		if errors.Is(err, io.EOF) && size > 0 || errors.Is(err, io.ErrUnexpectedEOF) {
			return data[:n], io.ErrUnexpectedEOF
		}
		return data[:n], err
	}
	if n, err := from.Read(make([]byte, 1)); n > 0 { // a reader that holds more than it said
		return data, errLonger
	} else if err != nil && !errors.Is(err, io.EOF) {
		return data, err
	}
	return data, nil
}

var errLonger = errors.New("the body is longer than it was said to be")

// Identity refuses a body that is compressed: *Error with code Invalid.
func Identity(h http.Header) error {
	if !identity(h) {
		return Errorf(Invalid, "", "compressed bodies are not accepted")
	}
	return nil
}

func identity(h http.Header) bool {
	for _, v := range h.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(v), "identity") && strings.TrimSpace(v) != "" {
			return false
		}
	}
	return true
}

// CheckJSON reads a Content-Type: application/json (or a +json type), with charset utf-8 if one is given.
// It returns the parameters in lower case ("version"), or an *Error with code Invalid.
func CheckJSON(contentType string) (map[string]string, error) {
	typ, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, Errorf(Invalid, "", "content type application/json is wanted")
	}
	if typ != "application/json" && !(strings.HasPrefix(typ, "application/") && strings.HasSuffix(typ, "+json")) {
		return nil, Errorf(Invalid, "", "content type application/json is wanted")
	}
	if cs, given := params["charset"]; given && !strings.EqualFold(cs, "utf-8") && !strings.EqualFold(cs, "utf8") {
		return nil, Errorf(Invalid, "", "charset utf-8 is wanted")
	}
	return params, nil
}

// WriteJSON answers with v. What cannot be marshalled becomes an empty 500, so that a reply is never
// half a document; the error is returned for the caller's log.
func WriteJSON(w http.ResponseWriter, status int, contentType string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return fmt.Errorf("marshal reply: %w", err)
	}
	return WriteBody(w, status, contentType, data)
}

// WriteBody answers with a body that is written already. The error is that of a lost connection.
func WriteBody(w http.ResponseWriter, status int, contentType string, data []byte) error {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err := w.Write(data)
	return err
}

// Reply is WriteJSON for a handler that cannot report an error any more: a failed write is a line in its log, which may be nil.
func Reply(w http.ResponseWriter, log *slog.Logger, op string, status int, contentType string, v any) {
	if err := WriteJSON(w, status, contentType, v); err != nil && log != nil {
		log.Warn("reply not written", "op", op, "err", err)
	}
}

// KeyFrom reads the Idempotency-Key header: exactly one, 1..64 visible ASCII characters. Errors are *Error
// with code Invalid; an absent header gives "" and no error.
func KeyFrom(h http.Header) (Key, error) {
	values := h.Values(KeyHeader)
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", Errorf(Invalid, "", "more than one %s", KeyHeader)
	}
	k, err := ParseKey(values[0])
	if err != nil {
		return "", &Error{Code: Invalid, Err: err}
	}
	return k, nil
}

// RetryAfter reads the header of the same name: seconds, or a date measured against the reply's own Date.
// Garbage, the past and absence give 0; the future is capped at MaxRetryAfter.
func RetryAfter(h http.Header) time.Duration { return RetryAfterWithin(h, MaxRetryAfter) }

// RetryAfterWithin is RetryAfter with a cap of the caller's own.
func RetryAfterWithin(h http.Header, most time.Duration) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		if n > uint64(most/time.Second) {
			return most
		}
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, min(at.Sub(date), most))
}

// Pending marks a body whose operation is stored and not yet answered by the backend.
type Pending struct {
	Key    Key    `json:"key"`
	Status string `json:"status"`         // PendingStatus until it is settled
	Note   string `json:"note,omitempty"` // for people: what may still become of it, and who bears the risk
}

// PendingStatus is the word of a pending operation.
const PendingStatus = "pending"

// Status gives the HTTP status of a code: one each, so that a code survives the wire both ways.
func (c Code) Status() int {
	for _, s := range statuses {
		if s.code == c {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// Codes lists every code in order.
func Codes() []Code {
	out := make([]Code, 0, len(statuses))
	for _, s := range statuses {
		out = append(out, s.code)
	}
	return out
}

var statuses = [...]struct {
	code   Code
	status int
}{
	{Invalid, http.StatusBadRequest},
	{Unauthorized, http.StatusUnauthorized},
	{Forbidden, http.StatusForbidden},
	{NotFound, http.StatusNotFound},
	{Conflict, http.StatusConflict},
	{KeyReused, http.StatusUnprocessableEntity},
	{TooLarge, http.StatusRequestEntityTooLarge},
	{TooMany, http.StatusTooManyRequests},
	{Unavailable, http.StatusServiceUnavailable},
	{UnknownOutcome, http.StatusGatewayTimeout},
	{Internal, http.StatusInternalServerError},
	{Gone, http.StatusGone},
}
