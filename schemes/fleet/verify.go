package fleet

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

const revisionDomain = "posagent fleet configuration 1"

// SignRevision makes the revision number of an enrolment's configuration.
func SignRevision(authority ed25519.PrivateKey, enrolmentID string, number int64, text wire.Secret) Revision {
	sig := ed25519.Sign(authority, revisionText(enrolmentID, number, text))
	return Revision{Number: number, Text: text, Signature: base64.StdEncoding.EncodeToString(sig)}
}

// revisionText is what is signed: a revision of another terminal, and an older one under a newer
// number, have another text.
func revisionText(enrolmentID string, number int64, text wire.Secret) []byte {
	return []byte(revisionDomain + "\n" + enrolmentID + "\n" + strconv.FormatInt(number, 10) + "\n" + text.Reveal())
}

// VerifyRevision checks that the authority has signed a revision for an enrolment. The caller compares
// the number with the one it has: an older revision has a good signature, too.
func VerifyRevision(authority *x509.Certificate, enrolmentID string, r Revision) error {
	public, ok := authority.PublicKey.(ed25519.PublicKey)
	if !ok {
		return errors.New("the authority's key is not Ed25519")
	}
	sig, err := base64.StdEncoding.DecodeString(r.Signature)
	if err != nil || !ed25519.Verify(public, revisionText(enrolmentID, r.Number, r.Text), sig) {
		return fmt.Errorf("configuration revision %d is not signed by the fleet's authority", r.Number)
	}
	return nil
}

// Verify checks what a device was given, before it trusts any of it: the authority has the ticket's
// fingerprint ("" = it is not known, and not compared), the certificate is the authority's for this key
// and good at now, and the configuration is signed for this enrolment.
func Verify(got Issued, fingerprint string, key crypto.PublicKey, now time.Time) error {
	authority, err := ParseCertificate(got.Authority)
	if err != nil {
		return fmt.Errorf("authority: %w", err)
	}
	if have := Fingerprint(authority.Raw); fingerprint != "" && !strings.EqualFold(have, fingerprint) {
		return fmt.Errorf("the authority has the fingerprint %s, wanted is %s: this is another service, or the fingerprint was mistyped", have, fingerprint)
	}
	if err := VerifyCertificate(got.Certificate, authority, key, now); err != nil {
		return err
	}
	return VerifyRevision(authority, got.EnrolmentID, got.Configuration)
}

// VerifyCertificate checks that a certificate is the authority's for a device's key, and good at now.
func VerifyCertificate(certificate string, authority *x509.Certificate, key crypto.PublicKey, now time.Time) error {
	cert, err := ParseCertificate(certificate)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if Thumbprint(cert.PublicKey) != Thumbprint(key) {
		return errors.New("the certificate is for another key")
	}
	return nil
}

// Ticket is what a QR code for a new terminal holds.
type Ticket struct {
	URL         string
	Code        wire.Secret
	Fingerprint string
}

const ticketScheme = "posagent:enroll?"

// Text writes the ticket: posagent:enroll?ca=FINGERPRINT&code=CODE&url=URL. It holds the code.
func (t Ticket) Text() string {
	return ticketScheme + url.Values{"ca": {t.Fingerprint}, "code": {t.Code.Reveal()}, "url": {t.URL}}.Encode()
}

// ParseTicket reads one. It fails on a text that is none, and on a code with a typing mistake.
func ParseTicket(text string) (Ticket, error) {
	query, ok := strings.CutPrefix(strings.TrimSpace(text), ticketScheme)
	values, err := url.ParseQuery(query)
	if !ok || err != nil || len(values) != 3 || len(values["ca"]) != 1 || len(values["code"]) != 1 || len(values["url"]) != 1 {
		return Ticket{}, errors.New("not a ticket of posagent backend fleet create")
	}
	code, err := ParseCode(values.Get("code"))
	if err != nil {
		return Ticket{}, fmt.Errorf("ticket: code: %w", err)
	}
	if !wire.WebURL(values.Get("url")) || len(values.Get("ca")) != 64 {
		return Ticket{}, errors.New("ticket: want an absolute http or https address, and a fingerprint of 64 characters")
	}
	return Ticket{values.Get("url"), code, values.Get("ca")}, nil
}
