package check

import (
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// Limits of single fields, in bytes, and of a webhook's headers, in pairs.
const (
	MaxEmail      = 255
	MaxHeaderName = 64
	MaxHeader     = 4 << 10
	MaxHeaders    = 16
	MaxEvent      = 128
)

// DateLayout is how a day is written.
const DateLayout = time.DateOnly

// PageLanguages are those of the hosted page (S0 2.4.3).
func PageLanguages() []string {
	return strings.Fields("EN DK NL ET FI FR DE IT LV LT NO PL PT RU ES SE")
}

// ReturnURL refuses an address that a customer may not be sent to: see wire.ReturnURL. "" is absent.
func (l *List) ReturnURL(path, s string) {
	if s != "" && !wire.ReturnURL(s) {
		l.Add(path, "want an https address, or http to this machine, of at most "+strconv.Itoa(wire.MaxURL)+" bytes")
	}
}

// WebURL refuses what is no address of the web: see wire.WebURL. It must be there.
func (l *List) WebURL(path, s string) {
	if !wire.WebURL(s) {
		l.Add(path, "want an absolute http or https address of at most "+strconv.Itoa(wire.MaxURL)+" bytes")
	}
}

// Email refuses what is no e-mail address, and two; "" is absent.
func (l *List) Email(path, s string) {
	l.Text(path, s, MaxEmail)
	name, host, ok := strings.Cut(s, "@")
	if s != "" && (!ok || name == "" || host == "" || strings.ContainsAny(s, " ,;<>\"")) {
		l.Add(path, "want an e-mail address")
	}
}

// Country refuses what is no country of ISO 3166-1 alpha-2; "" is absent.
func (l *List) Country(path, s string) {
	if s != "" && !Country2(s) {
		l.Add(path, "want an ISO 3166-1 alpha-2 code in capitals")
	}
}

// Country3 refuses what is no country of ISO 3166-1 alpha-3; "" is absent.
func (l *List) Country3(path, s string) {
	if s != "" && !Country3(s) {
		l.Add(path, "want an ISO 3166-1 alpha-3 code in capitals")
	}
}

// Language refuses what is no language of ISO 639-2; "" is absent.
func (l *List) Language(path, s string) {
	if s != "" && !Language(s) {
		l.Add(path, "want an ISO 639-2 code, three letters")
	}
}

// PageLanguage refuses a language that the hosted page does not have; "" is absent.
func (l *List) PageLanguage(path, s string) { l.OneOf(path, s, PageLanguages()...) }

// Currency refuses what is no currency of ISO 4217. It must be there.
func (l *List) Currency(path, s string) {
	if !money.Nameable(s) {
		l.Add(path, "want an ISO 4217 code in capitals")
	}
}

// Payable refuses what is no currency that is paid with, and returns the one that it is. It must be there.
func (l *List) Payable(path, s string) (money.Currency, bool) {
	cur, ok := money.Lookup(s)
	if ok = ok && cur.Payable(); !ok {
		l.Add(path, "want an ISO 4217 code in capitals that can be paid with")
	}
	return cur, ok
}

// Date refuses what is no day as 2026-11-21; "" is absent.
func (l *List) Date(path, s string) {
	if _, err := time.Parse(DateLayout, s); s != "" && (err != nil || s < "1000") {
		l.Add(path, "want a date as 2026-11-21")
	}
}

// Card refuses a card that none can be: its number, its last month, and the validation code where there is one. Whether it is
// past is the service's to say.
func (l *List) Card(at string, pan wire.PAN, year, month int32, code wire.Secret) {
	if !pan.Valid() {
		l.Add(at+".pan", "want 13 to 19 digits with a good check digit")
	}
	if year < 2000 || year > 2099 {
		l.Add(at+".expiryYear", "want four digits, 2000 to 2099")
	}
	if month < 1 || month > 12 {
		l.Add(at+".expiryMonth", "want 1 to 12")
	}
	if s := code.Reveal(); s != "" && (len(s) < 3 || len(s) > 4 || strings.Trim(s, "0123456789") != "") {
		l.Add(at+".validationCode", "want 3 or 4 digits")
	}
}

// Hook refuses a webhook that cannot be delivered. Whether its address may be reached is the sender's business.
func (l *List) Hook(at, event, url string, authorization wire.Secret, headers []map[string]string) {
	l.Word(at+".eventName", event, MaxEvent)
	l.WebURL(at+".url", url)
	if !HeaderValue(authorization.Reveal()) {
		l.Add(at+".authorization", "cannot be sent as a header")
	}
	n := 0
	for _, pairs := range headers {
		n += len(pairs)
		for name, value := range pairs {
			if !HeaderName(name) || !HeaderValue(value) {
				l.Add(at+".headers", "one cannot be sent")
			}
		}
	}
	l.Count(at+".headers", max(n, len(headers)), MaxHeaders)
}

// HeaderName returns whether a merchant may choose a header of this name: letters, digits, - and _, at most MaxHeaderName of
// them, and not a header that frames or routes the delivery.
func HeaderName(s string) bool {
	if s == "" || len(s) > MaxHeaderName {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	switch name := textproto.CanonicalMIMEHeaderKey(s); name {
	case "Host", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Accept-Encoding", "Transfer-Encoding",
		"Trailer", "Te", "Upgrade", "Expect", "Keep-Alive":
		return false
	default:
		return !strings.HasPrefix(name, "Proxy-")
	}
}

// HeaderValue returns whether a header can have this value: at most MaxHeader visible ASCII characters and blanks, none of
// them at its ends, where HTTP drops them.
func HeaderValue(s string) bool {
	for _, c := range []byte(s) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return len(s) <= MaxHeader && strings.TrimSpace(s) == s
}
