package fleet

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

const (
	requestBlock     = "CERTIFICATE REQUEST"
	certificateBlock = "CERTIFICATE"
)

// errKey is the answer to a key that is too weak or of another kind.
var errKey = errors.New("want a key of ECDSA P-256 or P-384, or Ed25519")

// NewRequest makes the certificate request of a device key, in PEM.
func NewRequest(key crypto.Signer, serialNumber string) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: serialNumber}}, key)
	if err != nil {
		return "", fmt.Errorf("certificate request: %w", err)
	}
	return toPEM(requestBlock, der), nil
}

// ParseRequest reads a certificate request: its public key, which has signed it. It fails on any other
// text, on a weak key, and on a request for a name besides the box's own serial number.
func ParseRequest(text, serialNumber string) (crypto.PublicKey, error) {
	req, err := readRequest(text, serialNumber)
	if err != nil {
		return nil, err
	}
	if req.CheckSignature() != nil {
		return nil, errors.New("not signed by its own key")
	}
	return req.PublicKey, nil
}

// readRequest is ParseRequest without the signature.
func readRequest(text, serialNumber string) (*x509.CertificateRequest, error) {
	if len(text) > maxCSR {
		return nil, fmt.Errorf("longer than %d bytes", maxCSR)
	}
	der, err := fromPEM(requestBlock, text)
	if err != nil {
		return nil, err
	}
	req, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, errors.New("not a certificate request")
	}
	if err := strong(req.PublicKey); err != nil {
		return nil, err
	}
	for _, name := range req.Subject.Names {
		if !name.Type.Equal([]int{2, 5, 4, 3}) || name.Value != serialNumber {
			return nil, errors.New("names another subject than the serial number")
		}
	}
	if len(req.Subject.Names) > 1 || len(req.Extensions) > 0 || len(req.ExtraExtensions) > 0 {
		return nil, errors.New("asks for names or extensions: the service chooses them")
	}
	return req, nil
}

// strong refuses a public key that is weak, or of a kind that the service does not check.
func strong(public crypto.PublicKey) error {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() || k.Curve == elliptic.P384() {
			return nil
		}
	}
	return errKey
}

// Thumbprint names a public key: SHA-256 of its PKIX form in hexadecimal, "" for a key that has none.
func Thumbprint(public crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return ""
	}
	return Fingerprint(der)
}

// Fingerprint is the SHA-256 of a certificate's DER in hexadecimal.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// CertificatePEM writes a certificate as the answers hold it.
func CertificatePEM(der []byte) string { return toPEM(certificateBlock, der) }

// ParseCertificate reads one.
func ParseCertificate(text string) (*x509.Certificate, error) {
	der, err := fromPEM(certificateBlock, text)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, errors.New("not a certificate")
	}
	return cert, nil
}

func toPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// fromPEM reads the one block of a text.
func fromPEM(kind, text string) ([]byte, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != kind || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("want one PEM block " + kind)
	}
	return block.Bytes, nil
}
