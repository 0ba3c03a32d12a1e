package nexo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// header is the MessageHeader of a request.
type header struct {
	class, category, service, sale, poi, version, device string
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

// missing is what a till is told of a member that is not there, or not what it has to be.
func missing(where, field string) *failure {
	text := fmt.Sprintf("At %s, field %s: Missing", where, field)
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
	h := objectAt(request, "MessageHeader")
	text := func(name string, longest int) string {
		s := textAt(h, name)
		if len(s) > longest {
			return ""
		}
		return s
	}
	got := header{
		class: text("MessageClass", maxName), category: text("MessageCategory", 32), service: text("ServiceID", maxService),
		sale: text("SaleID", maxName), poi: text("POIID", maxName), version: text("ProtocolVersion", 16), device: text("DeviceID", 16),
	}
	word := got.category != "" && !strings.ContainsFunc(got.category, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
	if h == nil || !word {
		return got, errNoHeader
	}
	const where = "SaleToPOIRequest.MessageHeader"
	for _, one := range [][2]string{{"MessageClass", got.class}, {"SaleID", got.sale}, {"POIID", got.poi}, {"ProtocolVersion", got.version}} {
		if one[1] == "" {
			return got, missing(where, one[0])
		}
	}
	if got.service == "" || strings.ContainsFunc(got.service, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return got, fail(badMessage, "ServiceID has 1 to %d characters", maxService)
	}
	if textAt(h, "MessageType") != "Request" {
		return got, missing(where, "MessageType")
	}
	return got, nil
}

// echo is the header of an answer.
func (h header) echo() object {
	o := object{
		"MessageClass": h.class, "MessageCategory": h.category, "MessageType": "Response", "ServiceID": h.service,
		"SaleID": h.sale, "POIID": h.poi, "ProtocolVersion": h.version,
	}
	if h.device != "" {
		o["DeviceID"] = h.device
	}
	return o
}

// envelope writes an answer with the body of its category.
func envelope(h header, body object) []byte {
	return ascii(object{"SaleToPOIResponse": object{"MessageHeader": h.echo(), h.category + "Response": body}})
}
