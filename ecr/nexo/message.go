package nexo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// header is the MessageHeader of a request.
type header struct {
	class, category, service, sale, poi, version string

	sent object // as it came, nil in an answer that makes one of its own
}

// The error conditions that this terminal sends.
const (
	aborted     = "Aborted"
	busy        = "Busy"
	cancel      = "Cancel"
	inProgress  = "InProgress"
	badMessage  = "MessageFormat"
	notAllowed  = "NotAllowed"
	notFound    = "NotFound"
	restriction = "PaymentRestriction"
	refusal     = "Refusal"
	noDevice    = "UnavailableDevice"
	noService   = "UnavailableService"
	unreachable = "UnreachableHost"
)

// failure is why a request is answered without being done. pairs is AdditionalResponse.
type failure struct {
	condition string
	pairs     []string
}

func (f *failure) Error() string { return f.condition }

// fail is a failure with a text for people.
func fail(condition, format string, args ...any) *failure {
	return &failure{condition, []string{"message", fmt.Sprintf(format, args...)}}
}

// at is what a till is told of a member that is not there, or not what it has to be.
func at(where, field, what string) *failure {
	text := fmt.Sprintf("At %s, field %s: %s", where, field, what)
	return &failure{badMessage, []string{"message", text, "errors", text}}
}

// form writes names and values as AdditionalResponse, without the empty ones.
func form(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i]+"="+escape(pairs[i+1]))
		}
	}
	return strings.Join(out, "&")
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// Limits of names in a message. The schema allows ten characters of a ServiceID.
const (
	maxService = 10
	maxName    = 64
	maxOrder   = 256
)

var errNoHeader = errors.New("no header")

// headerOf reads a header. The error is errNoHeader where none can be answered, or a *failure.
func headerOf(request object) (header, error) {
	var fault *failure
	h := fields{"SaleToPOIRequest.MessageHeader", objectAt(request, "MessageHeader"), &fault}
	text := func(name string, longest int) string {
		s := h.word(name)
		switch {
		case s == "":
			h.wrong(name, "Missing")
		case len(s) > longest:
			h.wrong(name, "it has at most %d characters", longest)
		}
		return s
	}
	got := header{category: textAt(h.o, "MessageCategory"), sent: h.o}
	if got.category == "" || len(got.category) > 32 || strings.ContainsFunc(got.category, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		return got, errNoHeader
	}
	got.class, got.sale, got.poi = text("MessageClass", maxName), text("SaleID", maxName), text("POIID", maxName)
	got.version, got.service = text("ProtocolVersion", 16), text("ServiceID", maxService)
	if strings.ContainsFunc(got.service, func(r rune) bool { return r <= ' ' || r > '~' }) {
		h.wrong("ServiceID", "1 to %d printable ASCII characters are wanted", maxService)
	}
	if kind := text("MessageType", maxName); kind != "Request" {
		h.wrong("MessageType", "%q is sent, \"Request\" is wanted", kind)
	}
	if fault != nil {
		return got, fault
	}
	return got, nil
}

// echo is the header of an answer: that of the request, as it was sent.
func (h header) echo() object {
	o := object{
		"MessageClass": h.class, "MessageCategory": h.category, "ServiceID": h.service, "SaleID": h.sale, "POIID": h.poi, "ProtocolVersion": h.version,
	}
	for _, name := range []string{"MessageClass", "ServiceID", "SaleID", "POIID", "ProtocolVersion", "DeviceID"} {
		if v, ok := h.sent[name]; ok {
			o[name] = v
		}
	}
	o["MessageType"] = "Response"
	return o
}

// envelope writes an answer with the body of its category.
func envelope(h header, body object) []byte {
	return ascii(object{"SaleToPOIResponse": object{"MessageHeader": h.echo(), h.category + "Response": body}})
}
