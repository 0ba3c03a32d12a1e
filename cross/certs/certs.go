package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority signs certificates.
type Authority struct {
	Cert *x509.Certificate
	Key  crypto.Signer
	File string // PEM of the root's certificate
}

// New makes an authority with a root of its own.
func New(t testing.TB, name string) Authority {
	t.Helper()
	self := Authority{Key: NewKey(t)}
	self.Cert = authority(name)
	a := Authority{Cert: self.sign(t, authority(name), self.Key.Public()), Key: self.Key}
	a.File = file(t, "root.pem", "CERTIFICATE", a.Cert.Raw)
	return a
}

// Below makes an authority below a, whose own certificate change spoils.
func (a Authority) Below(t testing.TB, change func(*x509.Certificate)) Authority {
	t.Helper()
	key, tmpl := NewKey(t), authority("between")
	if change != nil {
		change(tmpl)
	}
	return Authority{a.sign(t, tmpl, key.Public()), key, a.File}
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().AddDate(0, 0, -4), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

// Leaf is a certificate of a server or client.
type Leaf struct {
	tls.Certificate
	Cert *x509.Certificate
}

// Leaf makes a certificate with a key of its own; change spoils it.
func (a Authority) Leaf(t testing.TB, change func(*x509.Certificate)) Leaf {
	t.Helper()
	return a.LeafFor(t, NewKey(t), change)
}

// LeafFor makes a certificate for a key.
func (a Authority) LeafFor(t testing.TB, key crypto.Signer, change func(*x509.Certificate)) Leaf {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "backend"}, NotBefore: time.Now().AddDate(0, 0, -3), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(tmpl)
	}
	cert := a.sign(t, tmpl, key.Public())
	return Leaf{tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}, cert}
}

// Config is that of a server which shows the certificate.
func (l Leaf) Config() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{l.Certificate}}
}

// Pin names the certificate's key as the configuration does.
func (l Leaf) Pin() string { return Pin(l.Cert.PublicKey) }

// Files writes the certificate and its key into files of PEM.
func (l Leaf) Files(t testing.TB) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(l.PrivateKey)
	require.NoError(t, err)
	return file(t, "cert.pem", "CERTIFICATE", l.Cert.Raw), file(t, "key.pem", "PRIVATE KEY", der)
}

// Pin names a public key as the configuration does: Base64 of the SHA-256 of its PKIX form.
func Pin(public crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// NewKey makes a key on the curve P-256.
func NewKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// Serve starts a server until the test ends, and returns its address. What its clients do wrong is logged nowhere.
func Serve(t testing.TB, cfg *tls.Config, h http.HandlerFunc) (url string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.TLS, srv.Config.ErrorLog = cfg, log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL
}

func (a Authority) sign(t testing.TB, tmpl *x509.Certificate, public crypto.PublicKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.Cert, public, a.Key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert
}

func serial() *big.Int { return big.NewInt(time.Now().UnixNano()) }

func file(t testing.TB, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}
