package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"posagent/schemes/wire"
)

// Kind names what is wrong between the terminal and the backend. Each kind has a remedy of its own.
type Kind string

// The kinds.
const (
	NameService  Kind = "name_service" // no server answers questions for names
	NoName       Kind = "no_name"      // the host's name does not exist
	NoRoute      Kind = "no_route"     // the network is down, or does not lead there
	Refused      Kind = "refused"      // the host answers, nothing listens at the port
	Stall        Kind = "stall"        // no answer in time
	Broken       Kind = "broken"       // the connection breaks off
	Untrusted    Kind = "untrusted"    // the certificate comes from an authority that is not trusted
	NoChain      Kind = "no_chain"     // the certificate comes without that of the authority which has signed it
	Expired      Kind = "expired"      // a certificate is out of date, or not valid yet
	WrongName    Kind = "wrong_name"   // the certificate is for another host
	WrongPin     Kind = "wrong_pin"    // no pinned key in the chain
	WeakKey      Kind = "weak_key"     // an RSA key below 2048 bits in the chain
	BadTLS       Kind = "bad_tls"      // TLS fails otherwise
	ProxyLogin   Kind = "proxy_login"  // 407
	ProxyDown    Kind = "proxy_down"   // the proxy cannot be reached
	ProxyRefuses Kind = "proxy_refuses"
	Portal       Kind = "portal"      // a web page or a redirect in the backend's place
	Credentials  Kind = "credentials" // 401, 403
	NoService    Kind = "no_service"  // 404 that is not the service's own
	Failing      Kind = "failing"     // 5xx
	TooMany      Kind = "too_many"    // 429
)

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{NameService, NoName, NoRoute, Refused, Stall, Broken, Untrusted, NoChain, Expired, WrongName, WrongPin, WeakKey, BadTLS, ProxyLogin, ProxyDown, ProxyRefuses,
		Portal, Credentials, NoService, Failing, TooMany}
}

// Away says that the host itself was not reached, so that no service of it can be.
func (k Kind) Away() bool {
	return slices.Contains([]Kind{NameService, NoName, NoRoute, Refused, Stall, Broken}, k)
}

// Fault is what was wrong with the last call.
type Fault struct {
	Kind   Kind
	Detail string // "reply 500", the issuer of a certificate; no secrets, may be ""
	Since  time.Time
}

// faults remembers the fault that stands.
type faults struct {
	mu  sync.Mutex
	now *Fault
}

// set notes how a call went. A fault that goes on keeps its beginning.
func (f *faults) set(kind Kind, detail string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case kind == "":
		f.now = nil
	case f.now != nil && f.now.Kind == kind:
		f.now = &Fault{kind, detail, f.now.Since}
	default:
		f.now = &Fault{kind, detail, at}
	}
}

type questionKey struct{}

// Question marks a call that only asks whether the way to the backend is open, about something that does not exist: how the service
// refuses it is its own affair. A 404 of any kind then proves the way, and 5xx and 429 prove nothing.
func Question(ctx context.Context) context.Context {
	return context.WithValue(ctx, questionKey{}, true)
}

// FaultOfReply names the fault of a reply, "" when it has none: then it is the service that speaks.
func FaultOfReply(resp *http.Response) (Kind, string) {
	kind := faultOfStatus(resp.StatusCode)
	typ, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	own := typ == "application/json" || strings.HasSuffix(typ, "+json")
	switch {
	case kind == NoService && own: // the service's own word
		return "", ""
	case kind == Credentials && webPage(typ): // nobody's word about credentials: a firewall's, or a proxy's
		return Portal, "a web page, " + statusError(resp.StatusCode).Error()
	case kind != "":
		return kind, statusError(resp.StatusCode).Error()
	case resp.StatusCode < 300 && webPage(typ):
		return Portal, "a web page, reply " + strconv.Itoa(resp.StatusCode)
	}
	return "", ""
}

func webPage(typ string) bool { return typ == "text/html" || typ == "application/xhtml+xml" }

func faultOfStatus(status int) Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Credentials
	case status == http.StatusNotFound:
		return NoService
	case status == http.StatusProxyAuthRequired:
		return ProxyLogin
	case status == http.StatusNetworkAuthenticationRequired:
		return Portal
	case status == http.StatusTooManyRequests:
		return TooMany
	case status >= http.StatusInternalServerError:
		return Failing
	}
	return ""
}

// FaultOf names the fault of a call that failed, "" where the error says nothing about the way to the backend.
func FaultOf(err error) (Kind, string) {
	var status statusError
	var proxied proxyError
	var own *wire.Error
	switch {
	case err == nil:
		return "", ""
	case errors.As(err, &proxied):
		if proxied == http.StatusProxyAuthRequired {
			return ProxyLogin, proxied.Error()
		}
		return ProxyRefuses, proxied.Error()
	case errors.As(err, &status):
		return faultOfStatus(int(status)), status.Error()
	case errors.Is(err, errPin):
		return WrongPin, ""
	case errors.Is(err, errWeak):
		return WeakKey, ""
	case errors.Is(err, ErrRedirect):
		return Portal, "a redirect"
	case errors.Is(err, errPage):
		return Portal, "a web page"
	case errors.As(err, &own) && own.Code == wire.Unauthorized:
		return Credentials, ""
	}
	if kind, detail := faultOfCertificate(err); kind != "" {
		return kind, detail
	}
	return faultOfNetwork(err)
}

func faultOfCertificate(err error) (Kind, string) {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unverified) && errors.As(err, &unknown) && leafAlone(unverified.UnverifiedCertificates):
		return NoChain, "issuer " + issuer(unverified.UnverifiedCertificates[0])
	case errors.As(err, &unknown):
		if unknown.Cert != nil {
			return Untrusted, "issuer " + issuer(unknown.Cert)
		}
		return Untrusted, ""
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert != nil {
			return Expired, "valid " + day(invalid.Cert.NotBefore) + " to " + day(invalid.Cert.NotAfter)
		}
		return Expired, ""
	case errors.As(err, &name):
		return WrongName, shownFor(name.Certificate)
	case errors.As(err, &unverified):
		return BadTLS, plainDetail(unverified.Err)
	}
	return "", ""
}

// leafAlone says that a server has shown one certificate, which another authority has signed.
func leafAlone(shown []*x509.Certificate) bool {
	return len(shown) == 1 && !bytes.Equal(shown[0].RawIssuer, shown[0].RawSubject)
}

// shownFor is for whom a certificate is, and who has signed it.
func shownFor(cert *x509.Certificate) string {
	if cert == nil {
		return ""
	}
	name := cert.Subject.CommonName
	if len(cert.DNSNames) > 0 {
		name = cert.DNSNames[0]
	}
	if name == "" {
		return "issuer " + issuer(cert)
	}
	return strconv.Quote(short(name)) + ", issuer " + issuer(cert)
}

// elsewhere says of a fault that another host may have answered in the place of the right one.
func (k Kind) elsewhere() bool {
	return slices.Contains([]Kind{Untrusted, WrongName, Portal}, k)
}

// answeredBefore is the end of such a fault's detail where the right host has answered in this run.
const answeredBefore = "it answered before, so something on the way answers in its place"

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15.04 UTC") }

// issuer is who signed a certificate, as text that cannot break a line or a sentence.
func issuer(cert *x509.Certificate) string {
	name := cert.Issuer.CommonName
	if name == "" && len(cert.Issuer.Organization) > 0 {
		name = cert.Issuer.Organization[0]
	}
	if name == "" {
		return "without a name"
	}
	return strconv.Quote(short(name))
}

func faultOfNetwork(err error) (Kind, string) {
	var op *net.OpError
	var dns *net.DNSError
	var timeout net.Error
	var alert tls.AlertError
	var record tls.RecordHeaderError
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")):
		if strings.Contains(op.Error(), "authentication") {
			return ProxyLogin, ""
		}
		return ProxyDown, ""
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return NoName, ""
		}
		return NameService, ""
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETDOWN):
		return NoRoute, ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused, ""
	case errors.Is(err, http.ErrSchemeMismatch):
		return BadTLS, "it answers without TLS"
	case errors.As(err, &alert), errors.As(err, &record), strings.Contains(err.Error(), "tls: "):
		return BadTLS, plainDetail(err)
	case late:
		return Stall, ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.As(err, &op):
		return Broken, ""
	}
	return "", ""
}

// plainDetail is the last part of an error, which names no address.
func plainDetail(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "tls: "); i >= 0 {
		text = text[i+len("tls: "):]
	}
	return short(strings.ReplaceAll(text, ": ", ", "))
}

// short bounds a text from outside, and takes what would break a line out of it.
func short(s string) string {
	s = wire.MaskPANs(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == ':' {
			return ' '
		}
		return r
	}, s)) // masked as it is shown, and before it is cut
	if r := []rune(s); len(r) > 80 {
		return string(r[:80])
	}
	return s
}
