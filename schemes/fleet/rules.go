package fleet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request.
const (
	MaxTTL           = 30 * 24 * 3600 // seconds that a code is good for
	DefaultTTL       = 3600
	minTTL           = 60
	MaxBoxes         = 500
	MaxConfiguration = 64 << 10 // bytes
	maxCSR           = 4 << 10
	maxName          = 64 // of a serial number, an id of the slot, a version
	maxReason        = 200
)

// Check implements check.Checked.
func (r RedeemRequest) Check(l *check.List) {
	if _, err := ParseCode(r.Code.Reveal()); err != nil {
		l.Add("code", err.Error())
	}
	serial(l, "serialNumber", r.SerialNumber)
	l.Text("version", r.Version, maxName)
	if _, err := readRequest(r.CSR, r.SerialNumber); err != nil { // its signature costs more, and is the service's to check
		l.Add("csr", err.Error())
	}
}

// Check implements check.Checked.
func (r RenewRequest) Check(l *check.List) {
	if !moment(r.ExpiresAt) {
		l.Add("expiresAt", "want a moment as in 2028-11-23T10:00:00Z")
	}
}

// Check implements check.Checked.
func (r ConfirmRequest) Check(l *check.List) {
	if r.Revision < 1 {
		l.Add("revision", "want a whole number from 1")
	}
}

// Check implements check.Checked.
func (r CodeRequest) Check(l *check.List) {
	r.Slot.check(l, "slot")
	if r.SerialNumber != "" {
		serial(l, "serialNumber", r.SerialNumber)
	}
	if r.Bundle && r.SerialNumber == "" {
		l.Add("serialNumber", "a bundle is for one box: want its serial number")
	}
	ttl(l, r.TTLSeconds)
	configured(l, r.Configuration)
}

// Check implements check.Checked.
func (r ConfigureRequest) Check(l *check.List) {
	if r.Configuration == "" {
		l.Add("configuration", "empty")
	}
	configured(l, r.Configuration)
}

func configured(l *check.List, text wire.Secret) {
	if len(text) > MaxConfiguration || strings.ContainsRune(text.Reveal(), 0) {
		l.Add("configuration", "longer than "+strconv.Itoa(MaxConfiguration)+" bytes, or a zero byte")
	}
}

// Check implements check.Checked.
func (r ImportRequest) Check(l *check.List) {
	ttl(l, r.TTLSeconds)
	if len(r.Boxes) == 0 {
		l.Add("boxes", "want at least one")
	}
	if !l.Count("boxes", len(r.Boxes), MaxBoxes) {
		return
	}
	seen := map[string]bool{}
	for i, b := range r.Boxes {
		at := "boxes[" + strconv.Itoa(i) + "]"
		serial(l, at+".serialNumber", b.SerialNumber)
		if seen[b.SerialNumber] {
			l.Add(at+".serialNumber", "twice in the list")
		}
		seen[b.SerialNumber] = true
		b.Slot.check(l, at+".slot")
	}
}

// Check implements check.Checked.
func (r ListRequest) Check(l *check.List) {
	if r.State != "" && !slices.Contains(States(), r.State) {
		l.Add("state", "want FRESH, REDEEMED, CONFIRMED, REVOKED or EXPIRED")
	}
}

// Check implements check.Checked.
func (r RevokeRequest) Check(l *check.List) { l.Text("reason", r.Reason, maxReason) }

func (s Slot) check(l *check.List, at string) {
	l.Text(at+".merchantId", s.MerchantID, maxName)
	l.Text(at+".terminalId", s.TerminalID, maxName)
	l.Text(at+".baxId", s.BaxID, maxName)
}

func ttl(l *check.List, seconds int32) {
	if seconds != 0 && (seconds < minTTL || seconds > MaxTTL) {
		l.Add("ttlSeconds", "want "+strconv.Itoa(minTTL)+" to "+strconv.Itoa(MaxTTL))
	}
}

// serial refuses what is no serial number of a box: it becomes the name of a certificate.
func serial(l *check.List, at, s string) {
	if !SerialNumber(s) {
		l.Add(at, "want 1 to "+strconv.Itoa(maxName)+" letters, digits, dots, dashes and underscores, the first a letter or digit")
	}
}

// SerialNumber returns whether a text can be the serial number of a box.
func SerialNumber(s string) bool {
	if s == "" || len(s) > maxName || strings.ContainsRune("._-", rune(s[0])) {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Flaw says what a reply must not be: one whose parts are not what they are called.
func (i Issued) Flaw() string {
	if !wire.PathWord(i.EnrolmentID, maxName) || i.Certificate == "" || i.Authority == "" || !moment(i.ExpiresAt) {
		return "reply has no certificate"
	}
	return i.Configuration.Flaw()
}

// Flaw says what a reply must not be: a revision without a number or a text.
func (r Revision) Flaw() string {
	if r.Number < 1 || r.Text == "" || r.Signature == "" {
		return "reply has no configuration"
	}
	return ""
}

// Flaw says what a reply must not be: one without a certificate.
func (r Renewed) Flaw() string {
	if r.Certificate == "" || !moment(r.ExpiresAt) {
		return "reply has no certificate"
	}
	return ""
}

// Flaw says what a reply must not be: one that confirms nothing.
func (r ConfirmReply) Flaw() string {
	if r.State != Confirmed || r.Revision < 1 {
		return "reply does not confirm"
	}
	return ""
}

// Flaw says what a reply must not be: one without a code that can be typed.
func (r CodeReply) Flaw() string {
	if _, err := ParseCode(r.Code.Reveal()); err != nil || r.URL == "" || r.Fingerprint == "" {
		return "reply has no code"
	}
	return r.Enrolment.Flaw()
}

// Flaw says what a reply must not be: an enrolment without a name or a known state.
func (e Enrolment) Flaw() string {
	if !wire.PathWord(e.ID, maxName) || !slices.Contains(States(), e.State) {
		return "reply names no enrolment"
	}
	return ""
}

// of says what a reply about the enrolment id must not be.
func (e Enrolment) of(id string) string {
	if e.ID != id {
		return "reply is about another enrolment"
	}
	return ""
}

func moment(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
