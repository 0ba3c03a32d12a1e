package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
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

// authority is one with the certificate of a server or client.
type authority struct {
	root string // file
	cert string // file
	key  string // file
	pin  string
	pair tls.Certificate
}

// newAuthority makes an authority, and a certificate for a host that ends at a time.
func newAuthority(t *testing.T, host string, until time.Time) authority {
	t.Helper()
	dir := t.TempDir()
	sign := func(tmpl, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		if signer == nil {
			parent, signer = tmpl, key
		}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
		require.NoError(t, err)
		cert, err := x509.ParseCertificate(der)
		require.NoError(t, err)
		return cert, key
	}
	root, rootKey := sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Shop Router CA"}, NotBefore: time.Now().Add(-96 * time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-72 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{host}
	}
	leaf, key := sign(tmpl, root, rootKey)
	a := authority{root: filepath.Join(dir, "root.pem"), cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	for path, block := range map[string]*pem.Block{
		a.root: {Type: "CERTIFICATE", Bytes: root.Raw}, a.cert: {Type: "CERTIFICATE", Bytes: leaf.Raw}, a.key: {Type: "EC PRIVATE KEY", Bytes: keyDER},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	a.pin = base64.StdEncoding.EncodeToString(sum[:])
	a.pair = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
	return a
}

// serveTLS puts a server in the backend's place that shows the authority's certificate.
func (b *box) serveTLS(a authority, h http.HandlerFunc) {
	srv := httptest.NewUnstartedServer(h)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{a.pair}}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	b.t.Cleanup(srv.Close)
	b.base(srv.URL)
	b.set["upstream.roots_file"] = fmt.Sprintf("%q", a.root)
}
