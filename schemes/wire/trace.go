package wire

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// TraceHeader carries a Trace over HTTP (W3C Trace Context, 3.2).
const TraceHeader = "traceparent"

// Trace is a trace id: 32 lower-case hexadecimal digits that are not all zero. It names one sale, or one request, in every program
// that has to do with it. "" = none.
type Trace string

const (
	traceLength  = 32
	spanLength   = 16
	headerLength = 55 // of version 00, and at least of later ones
)

// Valid reports whether t is a trace id that may be stored. One that reads like a card number may not.
func (t Trace) Valid() bool { return isID(string(t), traceLength) && !likePAN(string(t)) }

// TraceFrom returns the trace id of a header, "" where there is none, more than one, or none that may be stored. A header that cannot be
// read is ignored, as W3C Trace Context has it: it never refuses a request.
func TraceFrom(h http.Header) Trace {
	values := h.Values(TraceHeader)
	if len(values) != 1 {
		return ""
	}
	s := values[0]
	switch {
	case len(s) < headerLength, s[2] != '-', s[35] != '-', s[52] != '-':
		return ""
	case !isHexText(s[:2]) || s[:2] == "ff" || !isHexText(s[53:55]) || !isID(s[36:52], spanLength):
		return ""
	case len(s) > headerLength && (s[:2] == "00" || s[headerLength] != '-'): // a later version may go on
		return ""
	}
	if t := Trace(s[3:35]); t.Valid() {
		return t
	}
	return ""
}

// TraceOfKey returns the trace id that a Key always makes, for what came without one: a repeat has the same. "" for no Key.
func TraceOfKey(k Key) Trace {
	if k == "" {
		return ""
	}
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte("trace of a key, 1\x00" + strconv.Itoa(n) + "\x00" + string(k)))
		if t := Trace(hex.EncodeToString(sum[:traceLength/2])); t.Valid() {
			return t
		}
	}
}

// Parent returns the header of one request of the trace, with a span id of its own.
func (t Trace) Parent() string {
	for {
		var raw [spanLength / 2]byte
		_, _ = rand.Read(raw[:]) // never fails
		if span := hex.EncodeToString(raw[:]); isID(span, spanLength) && !likePAN(span) {
			return "00-" + string(t) + "-" + span + "-01"
		}
	}
}

type traceKey struct{}

// WithTrace returns a context whose requests belong to a trace. t may be "".
func WithTrace(ctx context.Context, t Trace) context.Context {
	if t == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of a context, "" = it has none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// isID reports whether s is that many lower-case hexadecimal digits that are not all zero.
func isID(s string, length int) bool {
	return len(s) == length && isHexText(s) && strings.Trim(s, "0") != ""
}

func isHexText(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) || s[i] >= 'A' && s[i] <= 'F' {
			return false
		}
	}
	return true
}

// likePAN reports whether 13 to 19 digits in a row of s pass the check of card numbers.
func likePAN(s string) bool {
	for from := range len(s) {
		for n := 13; n <= 19 && from+n <= len(s); n++ {
			if luhn(s[from : from+n]) {
				return true
			}
		}
	}
	return false
}
