package cert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Suffix is what libraries of tills expect behind MODEL-SERIAL in a certificate's name.
const Suffix = ".test.terminal.adyen.com"

const (
	// maxName is the longest common name of a certificate.
	maxName = 64
	years   = 10
	// early is how long before its end a certificate is made anew.
	early = 30 * 24 * time.Hour
)

// since is when every certificate begins: a terminal's clock may be behind, and a till's as well.
func since() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Valid says whether a certificate can have a name: that of a host, of at least two parts.
func Valid(name string) error {
	parts := strings.Split(name, ".")
	bad := len(name) > maxName || len(parts) < 2
	for _, p := range parts {
		bad = bad || p == "" || len(p) > 63 || p[0] == '-' || p[len(p)-1] == '-'
	}
	if bad || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" {
		return fmt.Errorf("%q is no host name of at most %d characters", name, maxName)
	}
	return nil
}

// Make makes an authority and a certificate below it, and returns both and the certificate's private
// key as PEM. The authority's private key is forgotten.
func Make(name string, addresses []netip.Addr, now time.Time) ([]byte, error) {
	if err := Valid(name); err != nil {
		return nil, err
	}
	if now.Before(since()) {
		now = since()
	}
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: since(), NotAfter: now.AddDate(years, 0, 0),
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	authority := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "Registers of " + name[:min(len(name), maxName-len("Registers of "))]},
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign, ExtKeyUsage: leaf.ExtKeyUsage,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: leaf.DNSNames,
	}
	for _, a := range addresses {
		ip := net.IP(a.Unmap().AsSlice())
		leaf.IPAddresses = append(leaf.IPAddresses, ip)
		authority.PermittedIPRanges = append(authority.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
	above, err := x509.CreateCertificate(rand.Reader, authority, authority, root.Public(), root)
	if err != nil {
		return nil, err
	}
	if authority, err = x509.ParseCertificate(above); err != nil {
		return nil, err
	}
	below, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), root)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, block := range []pem.Block{{Type: "CERTIFICATE", Bytes: below}, {Type: "CERTIFICATE", Bytes: above}, {Type: "PRIVATE KEY", Bytes: private}} {
		if err := pem.Encode(&b, &block); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func serial() *big.Int {
	b := make([]byte, 16)
	rand.Read(b)
	b[0] = b[0]&0x7f | 0x40 // positive, and of one length
	return new(big.Int).SetBytes(b)
}

// ErrAnew means that a kept certificate is another terminal's, or near its end.
var ErrAnew = errors.New("the certificate has to be made anew")

// Open reads what Make returned. It fails with ErrAnew where the name or an address is not in it, or
// where it ends soon. past is a time that is certainly over: by a clock that is wrong for one start no
// certificate is thrown away that every till has to trust.
func Open(data []byte, name string, addresses []netip.Addr, past time.Time) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf := pair.Leaf
	if len(pair.Certificate) != 2 || leaf.Subject.CommonName != name || past.Add(early).After(leaf.NotAfter) {
		return tls.Certificate{}, ErrAnew
	}
	for _, a := range addresses {
		if leaf.VerifyHostname(a.Unmap().String()) != nil {
			return tls.Certificate{}, ErrAnew
		}
	}
	return pair, nil
}

// Trusted is what a till has to trust of what Make returned: the authority, as PEM.
func Trusted(data []byte) ([]byte, error) {
	_, rest := pem.Decode(data)
	block, _ := pem.Decode(rest)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no certificate of an authority")
	}
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !authority.IsCA {
		return nil, errors.New("no certificate of an authority")
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}), nil
}
