package fleet_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

func ec(t *testing.T, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	require.NoError(t, err)
	return key
}

func edward(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

// request makes a certificate request with what a device must not ask for.
func request(t *testing.T, key crypto.Signer, change func(*x509.CertificateRequest)) string {
	t.Helper()
	r := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "PA-1"}}
	change(r)
	der, err := x509.CreateCertificateRequest(rand.Reader, r, key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func TestCertificateRequests(t *testing.T) {
	for _, key := range []crypto.Signer{ec(t, elliptic.P256()), ec(t, elliptic.P384()), edward(1)} {
		text, err := fleet.NewRequest(key, "PA-1")
		require.NoError(t, err)
		public, err := fleet.ParseRequest(text, "PA-1")
		require.NoError(t, err)
		require.Equal(t, fleet.Thumbprint(key.Public()), fleet.Thumbprint(public))
		require.Len(t, fleet.Thumbprint(public), 64)
		_, err = fleet.ParseRequest(text, "PA-2")
		require.ErrorContains(t, err, "another subject")
	}
	key := edward(1)
	good := request(t, key, func(*x509.CertificateRequest) {})
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	block, _ := pem.Decode([]byte(good))
	spoiled := bytes.Clone(block.Bytes)
	spoiled[len(spoiled)-1] ^= 1
	for name, c := range map[string][2]string{
		"empty":        {"", "one PEM block"},
		"not PEM":      {"cAnArY", "one PEM block"},
		"certificate":  {strings.ReplaceAll(good, "CERTIFICATE REQUEST", "CERTIFICATE"), "one PEM block"},
		"twice":        {good + good, "one PEM block"},
		"headers":      {strings.Replace(good, "REQUEST-----\n", "REQUEST-----\nA: b\n\n", 1), "one PEM block"},
		"rubbish":      {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("x")})), "not a certificate request"},
		"oversized":    {good + strings.Repeat("\n", 4<<10), "longer than 4096"},
		"RSA":          {request(t, weak, func(*x509.CertificateRequest) {}), "want a key of"},
		"P-224":        {request(t, ec(t, elliptic.P224()), func(*x509.CertificateRequest) {}), "want a key of"},
		"P-521":        {request(t, ec(t, elliptic.P521()), func(*x509.CertificateRequest) {}), "want a key of"},
		"signature":    {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: spoiled})), "not signed by its own key"},
		"other name":   {request(t, key, func(r *x509.CertificateRequest) { r.Subject.CommonName = "fleet" }), "another subject"},
		"organisation": {request(t, key, func(r *x509.CertificateRequest) { r.Subject.Organization = []string{"M1"} }), "another subject"},
		"two names": {request(t, key, func(r *x509.CertificateRequest) {
			r.Subject.ExtraNames = []pkix.AttributeTypeAndValue{{Type: []int{2, 5, 4, 3}, Value: "PA-1"}, {Type: []int{2, 5, 4, 3}, Value: "PA-1"}}
		}), "asks for names"},
		"DNS name": {request(t, key, func(r *x509.CertificateRequest) { r.DNSNames = []string{"bank.example"} }), "asks for names"},
		"address":  {request(t, key, func(r *x509.CertificateRequest) { r.IPAddresses = []net.IP{{127, 0, 0, 1}} }), "asks for names"},
		"authority": {request(t, key, func(r *x509.CertificateRequest) {
			r.ExtraExtensions = []pkix.Extension{{Id: []int{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 3, 1, 1, 0xff}}}
		}), "asks for names"},
	} {
		_, err := fleet.ParseRequest(c[0], "PA-1")
		require.ErrorContains(t, err, c[1], name)
		require.NotContains(t, err.Error(), "cAnArY")
	}
	_, err = fleet.ParseRequest(request(t, key, func(r *x509.CertificateRequest) { r.Subject = pkix.Name{} }), "PA-1")
	require.NoError(t, err, "a request without a name is good: the service chooses it")
}

func FuzzParseRequest(f *testing.F) {
	text, err := fleet.NewRequest(edward(7), "PA-0001")
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		if public, err := fleet.ParseRequest(text, "PA-0001"); err == nil {
			require.NotEmpty(t, fleet.Thumbprint(public))
		}
	})
}

// A proof is good for one call of one enrolment, with one body, at about one time, by one key.
func TestProofs(t *testing.T) {
	now := time.UnixMilli(1795392000000)
	for _, key := range []crypto.Signer{edward(1), ec(t, elliptic.P256()), ec(t, elliptic.P384())} {
		p, err := fleet.ProveConfirmation(key, "e1", now, fleet.ConfirmRequest{Revision: 1})
		require.NoError(t, err)
		good := func(p fleet.Proof, at time.Time, revision int64) error {
			return p.CheckConfirmation(key.Public(), at, fleet.ConfirmRequest{Revision: revision})
		}
		require.NoError(t, good(p, now, 1))
		require.NoError(t, good(p, now.Add(5*time.Minute), 1))
		require.NoError(t, good(p, now.Add(-5*time.Minute), 1))
		require.ErrorContains(t, good(p, now.Add(5*time.Minute+1), 1), "five minutes")
		require.ErrorContains(t, good(p, now.Add(-5*time.Minute-1), 1), "five minutes")
		require.Error(t, good(p, now, 2), "another body")
		require.Error(t, p.CheckConfiguration(key.Public(), now), "another call")
		renewal := fleet.RenewRequest{ExpiresAt: "2028-11-23T10:00:00Z"}
		require.Error(t, p.CheckRenewal(key.Public(), now, renewal), "another call")
		r, err := fleet.ProveRenewal(key, "e1", now, renewal)
		require.NoError(t, err)
		require.NoError(t, r.CheckRenewal(key.Public(), now, renewal))
		require.Error(t, r.CheckRenewal(key.Public(), now, fleet.RenewRequest{ExpiresAt: "2029-11-23T10:00:00Z"}), "another body")
		require.Error(t, r.CheckRenewal(edward(2).Public(), now, renewal), "another key")
		require.Error(t, p.CheckConfirmation(edward(2).Public(), now, fleet.ConfirmRequest{Revision: 1}), "another key")
		for _, change := range []func(*fleet.Proof){
			func(p *fleet.Proof) { p.EnrolmentID = "e2" }, func(p *fleet.Proof) { p.AtMS++ },
			func(p *fleet.Proof) { p.Signature = "" }, func(p *fleet.Proof) { p.Signature = "!" }, func(p *fleet.Proof) { p.Signature += "AAAA" },
		} {
			other := p
			change(&other)
			require.Error(t, good(other, now, 1))
		}
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, err = fleet.ProveConfiguration(weak, "e1", now)
	require.ErrorContains(t, err, "want a key of")
}

// asked is a service that notes what the Handler hands it.
type asked struct {
	fleet.Service
	proof   fleet.Proof
	address string
}

func (a *asked) Configuration(ctx context.Context, by fleet.Proof) (fleet.Revision, error) {
	a.proof, a.address = by, fleet.Address(ctx)
	return fleet.Revision{Number: 1, Text: "x", Signature: "y"}, nil
}

// The Handler hands proof and address on; a header that is no proof is none.
func TestHandlerReadsProofAndAddress(t *testing.T) {
	svc := &asked{}
	h := fleet.Handler(svc, fleet.HandlerOptions{})
	for header, want := range map[string]fleet.Proof{
		"":                                    {},
		"Device e1.17.c2ln":                   {EnrolmentID: "e1", AtMS: 17, Signature: "c2ln"},
		"Device e1.-17.c2ln":                  {EnrolmentID: "e1", AtMS: -17, Signature: "c2ln"},
		"Device e1.+17.c2ln":                  {},
		"Device e1.017.c2ln":                  {},
		"Device e1.17":                        {},
		"Device e1.17.c2ln.x":                 {},
		"Device .17.c2ln":                     {},
		"Device ...17.c2ln":                   {},
		"Device e1.99999999999999999999.c2ln": {},
		"Bearer e1.17.c2ln":                   {},
		"Device e1.17." + strings.Repeat("a", 512): {},
	} {
		*svc = asked{}
		resp, _ := wiretest.Raw(t, wiretest.Direct(h), http.MethodGet, "http://x/fleet/v1/configuration", "", "", "Authorization", header)
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, want, svc.proof, header)
	}
	for remote, want := range map[string]string{
		"192.0.2.7:1234": "192.0.2.7", "[::ffff:192.0.2.7]:1": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:9": "2001:db8:1:2::",
		"[2001:db8:1:2:ffff::1]:9": "2001:db8:1:2::", "[fe80::1%eth0]:9": "fe80::", "@": "other", "": "other",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x/fleet/v1/configuration", nil)
		r.RemoteAddr = remote
		h.ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, want, svc.address, remote)
	}
	for _, path := range []string{"/fleet/v1/codes", "/fleet/v1/imports", "/fleet/v1", "/fleet/v1/other"} {
		resp, _ := wiretest.Raw(t, wiretest.Direct(h), http.MethodGet, "http://x"+path, "", "")
		require.Equal(t, 404, resp.StatusCode, "the half of the devices serves none of the operator's routes: %s", path)
		require.Equal(t, path == "/fleet/v1/codes" || path == "/fleet/v1/imports", fleet.ForDesk(httptest.NewRequest("GET", "http://x"+path, nil)))
	}
}

// authority makes a fleet's authority as a service does.
func authority(t testing.TB, key ed25519.PrivateKey) *x509.Certificate {
	t.Helper()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, NotAfter: time.Date(2046, 1, 1, 0, 0, 0, 0, time.UTC), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert
}

func leaf(t *testing.T, ca *x509.Certificate, key ed25519.PrivateKey, public crypto.PublicKey, usage x509.ExtKeyUsage) string {
	t.Helper()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC), ExtKeyUsage: []x509.ExtKeyUsage{usage}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca, public, key)
	require.NoError(t, err)
	return fleet.CertificatePEM(der)
}

// What a device was given is trusted as a whole, or not at all.
func TestVerify(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	root, device := edward(1), edward(2)
	ca, other := authority(t, root), authority(t, edward(3))
	good := fleet.Issued{
		EnrolmentID: "e1", Certificate: leaf(t, ca, root, device.Public(), x509.ExtKeyUsageClientAuth), Authority: fleet.CertificatePEM(ca.Raw),
		Configuration: fleet.SignRevision(root, "e1", 2, "a = 1\n"),
	}
	print := fleet.Fingerprint(ca.Raw)
	require.NoError(t, fleet.Verify(good, print, device.Public(), now))
	require.NoError(t, fleet.Verify(good, strings.ToUpper(print), device.Public(), now))
	require.NoError(t, fleet.Verify(good, "", device.Public(), now))
	require.ErrorContains(t, fleet.Verify(good, fleet.Fingerprint(other.Raw), device.Public(), now), "another service")
	require.ErrorContains(t, fleet.Verify(good, print, edward(4).Public(), now), "another key")
	require.ErrorContains(t, fleet.Verify(good, print, device.Public(), now.AddDate(2, 0, 0)), "expired")
	for says, change := range map[string]func(*fleet.Issued){
		"authority: ":               func(i *fleet.Issued) { i.Authority = "x" },
		"certificate: want one PEM": func(i *fleet.Issued) { i.Certificate = "" },
		"unknown authority": func(i *fleet.Issued) {
			i.Certificate = leaf(t, other, edward(3), device.Public(), x509.ExtKeyUsageClientAuth)
		},
		"incompatible key usage":   func(i *fleet.Issued) { i.Certificate = leaf(t, ca, root, device.Public(), x509.ExtKeyUsageServerAuth) },
		"revision 2 is not signed": func(i *fleet.Issued) { i.Configuration.Text += "b = 2\n" },
		"revision 3 is not signed": func(i *fleet.Issued) { i.Configuration.Number++ },
		"revision 4 is not signed": func(i *fleet.Issued) { i.Configuration = fleet.SignRevision(root, "e2", 4, "a = 1\n") },
		"revision 5 is not signed": func(i *fleet.Issued) { i.Configuration = fleet.SignRevision(edward(3), "e1", 5, "a = 1\n") },
		"revision 6 is not signed": func(i *fleet.Issued) { i.Configuration = fleet.Revision{Number: 6, Text: "a", Signature: "!"} },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, fleet.Verify(bad, print, device.Public(), now), says)
	}
}

func TestTickets(t *testing.T) {
	ticket := fleet.Ticket{URL: "https://fleet.example/a?b=c&d", Code: "7K3M9QXD2PV", Fingerprint: strings.Repeat("ab", 32)}
	text := ticket.Text()
	require.Equal(t, "posagent:enroll?ca="+strings.Repeat("ab", 32)+"&code=7K3M9QXD2PV&url=https%3A%2F%2Ffleet.example%2Fa%3Fb%3Dc%26d", text)
	got, err := fleet.ParseTicket(" " + text + "\n")
	require.NoError(t, err)
	require.Equal(t, ticket, got)
	for _, bad := range []string{
		"", "https://fleet.example/", strings.Replace(text, "2PV", "2PW", 1), strings.Replace(text, "https", "file", 1), text + "&code=7K3M9QXD2PV",
		text + "&x=1", strings.Replace(text, "abab", "ab", 1), strings.Replace(text, "%3A", "%zz", 1),
	} {
		_, err := fleet.ParseTicket(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "7K3M")
	}
}

func TestAReasonIsOfTheCatalogue(t *testing.T) {
	require.Equal(t, wire.NotFound, fleet.Refused("op", fleet.CodeNotGood, "x").Code)
	require.Panics(t, func() { _ = fleet.Refused("op", "Other", "x") })
}
