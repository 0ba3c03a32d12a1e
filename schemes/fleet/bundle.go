package fleet

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Bundle is an enrolment for a box without a network: its configuration, and the service at which it redeems the code once
// there is one. The authority has signed it for one box. A bundle file is sealed under the code: the code opens it, and shows
// that it comes from whoever made the code.
type Bundle struct {
	EnrolmentID   string   `json:"enrolmentId" wire:"required"`
	SerialNumber  string   `json:"serialNumber" wire:"required"` // of the one box
	URL           string   `json:"url" wire:"required"`          // of the service
	Authority     string   `json:"authority" wire:"required"`    // PEM, of the fleet
	MadeAt        string   `json:"madeAt" wire:"required"`       // RFC 3339, by the service's clock
	ExpiresAt     string   `json:"expiresAt" wire:"required"`    // RFC 3339, the code's last moment
	Configuration Revision `json:"configuration" wire:"required"`
	Signature     string   `json:"signature" wire:"required"` // of all of it, base64
}

// BundleHead stands readable at the head of a bundle file. It is believed only once the file was opened.
type BundleHead struct {
	SerialNumber string `json:"serialNumber" wire:"required"`
	MadeAt       string `json:"madeAt" wire:"required"`
	ExpiresAt    string `json:"expiresAt" wire:"required"`
	Salt         string `json:"salt" wire:"required"` // hexadecimal
}

// What can be wrong with a bundle file. Decide with errors.Is.
var (
	// ErrBundle: it is no bundle, or incomplete, or changed.
	ErrBundle = errors.New("not a whole bundle")
	// ErrBundleCode: another code opens it, or its content was changed.
	ErrBundleCode = errors.New("the code does not open the bundle")
	// ErrBundleNewer: a newer program made it.
	ErrBundleNewer = errors.New("the bundle was made by a newer program")
	// ErrBundleSigner: the fleet's authority has not signed it.
	ErrBundleSigner = errors.New("the bundle is not the operator's")
)

// BundleSuffix ends the name of a bundle's file.
const BundleSuffix = ".pabundle"

const (
	// MaxBundle is the longest bundle file, in bytes.
	MaxBundle        = 512 << 10
	bundleMagic      = "posagent-enrolment-bundle "
	bundleVersion    = "1"
	bundleHeadMost   = 1 << 10
	bundleIterations = 300_000
	bundleDomain     = "posagent fleet bundle 1"
	bundleMoment     = "2006-01-02T15:04:05.000Z07:00"
)

// BundleMoment writes a moment as a bundle has it, to the millisecond.
func BundleMoment(t time.Time) string { return t.UTC().Format(bundleMoment) }

// SignBundle returns the bundle with the authority's signature.
func SignBundle(authority ed25519.PrivateKey, b Bundle) Bundle {
	b.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(authority, b.signedText()))
	return b
}

// signedText is what is signed. The configuration is there by its number and digest: its own signature has its text.
func (b Bundle) signedText() []byte {
	sum := sha256.Sum256([]byte(b.Configuration.Text.Reveal()))
	var text strings.Builder
	text.WriteString(bundleDomain)
	for _, s := range []string{
		b.EnrolmentID, b.SerialNumber, b.URL, b.Authority, b.MadeAt, b.ExpiresAt, strconv.FormatInt(b.Configuration.Number, 10), hex.EncodeToString(sum[:]),
	} {
		text.WriteString("\n" + strconv.Itoa(len(s)) + ":" + s)
	}
	return []byte(text.String())
}

// Verify checks that one authority has signed the bundle and its configuration, and that this authority has the fingerprint
// ("" = it is not known, and not compared). ErrBundleSigner.
func (b Bundle) Verify(fingerprint string) error {
	authority, err := ParseCertificate(b.Authority)
	if err != nil {
		return fmt.Errorf("%w: authority: %w", ErrBundleSigner, err)
	}
	if have := Fingerprint(authority.Raw); fingerprint != "" && !strings.EqualFold(have, fingerprint) {
		return fmt.Errorf("%w: its authority has the fingerprint %s, the operator's is %s", ErrBundleSigner, have, fingerprint)
	}
	public, ok := authority.PublicKey.(ed25519.PublicKey)
	if !ok {
		return fmt.Errorf("%w: the authority's key is not Ed25519", ErrBundleSigner)
	}
	sig, err := base64.StdEncoding.DecodeString(b.Signature)
	if err != nil || !ed25519.Verify(public, b.signedText(), sig) {
		return fmt.Errorf("%w: the fleet's authority has not signed it", ErrBundleSigner)
	}
	if err := VerifyRevision(authority, b.EnrolmentID, b.Configuration); err != nil {
		return fmt.Errorf("%w: %w", ErrBundleSigner, err)
	}
	return nil
}

// Until is the bundle's last moment.
func (b Bundle) Until() time.Time { return instant(b.ExpiresAt) }

// Made is when it was made.
func (b Bundle) Made() time.Time { return instant(b.MadeAt) }

func instant(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s) // OpenBundle has checked it
	return t
}

// Seal writes the bundle as a file: a readable line, the sealed content, and the digest of both. The same bundle and code
// make the same file.
func (b Bundle) Seal(code wire.Secret) ([]byte, error) {
	salt := sha256.Sum256([]byte(bundleDomain + "\n" + b.EnrolmentID + "\n" + b.SerialNumber))
	head, err := wire.Encode(BundleHead{SerialNumber: b.SerialNumber, MadeAt: b.MadeAt, ExpiresAt: b.ExpiresAt, Salt: hex.EncodeToString(salt[:16])})
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	plain, err := wire.Encode(b)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	keys, err := bundleKeys(code, salt[:16])
	if err != nil {
		return nil, err
	}
	first := []byte(bundleMagic + bundleVersion + "\n" + string(head) + "\n")
	nonce := keys.nonce(first, plain)
	out := keys.aead.Seal(append(bytes.Clone(first), nonce...), nonce, plain, first)
	sum := sha256.Sum256(out)
	if out = append(out, sum[:]...); len(out) > MaxBundle {
		return nil, fmt.Errorf("bundle: longer than %d bytes", MaxBundle)
	}
	return out, nil
}

// sealing is what a code and a salt make.
type sealing struct {
	aead cipher.AEAD
	mac  []byte // makes the nonce of the content, so that one nonce never serves two contents
}

func bundleKeys(code wire.Secret, salt []byte) (sealing, error) {
	key, err := pbkdf2.Key(sha256.New, code.Reveal(), salt, bundleIterations, 64)
	if err != nil {
		return sealing{}, fmt.Errorf("bundle: %w", err)
	}
	block, err := aes.NewCipher(key[:32])
	if err != nil {
		return sealing{}, fmt.Errorf("bundle: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return sealing{}, fmt.Errorf("bundle: %w", err)
	}
	return sealing{aead, key[32:]}, nil
}

func (s sealing) nonce(first, plain []byte) []byte {
	h := hmac.New(sha256.New, s.mac)
	h.Write([]byte(strconv.Itoa(len(first)) + ":"))
	h.Write(first)
	h.Write(plain)
	return h.Sum(nil)[:s.aead.NonceSize()]
}

// ReadBundleHead reads what stands readable at the head of a whole bundle file. ErrBundle or ErrBundleNewer.
func ReadBundleHead(file []byte) (BundleHead, error) {
	head, _, _, err := splitBundle(file)
	return head, err
}

// splitBundle takes a bundle file apart: its head, the lines with which it begins, and the sealed content.
func splitBundle(file []byte) (head BundleHead, first, sealed []byte, err error) {
	none := func(why string) (BundleHead, []byte, []byte, error) {
		return BundleHead{}, nil, nil, fmt.Errorf("%w: %s", ErrBundle, why)
	}
	if len(file) > MaxBundle {
		return none("longer than " + strconv.Itoa(MaxBundle) + " bytes")
	}
	version, rest, ok := bytes.Cut(bytes.TrimPrefix(file, []byte(bundleMagic)), []byte("\n"))
	if !ok || !bytes.HasPrefix(file, []byte(bundleMagic)) {
		return none("it begins otherwise")
	}
	if string(version) != bundleVersion {
		if n, err := strconv.Atoi(string(version)); err == nil && n > 1 && n < 1000 {
			return BundleHead{}, nil, nil, fmt.Errorf("%w: format %d", ErrBundleNewer, n)
		}
		return none("it begins otherwise")
	}
	text, rest, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || len(text) > bundleHeadMost || len(rest) < sha256.Size {
		return none("it is cut off")
	}
	whole := len(file) - sha256.Size
	if sum := sha256.Sum256(file[:whole]); !bytes.Equal(sum[:], file[whole:]) {
		return none("it is cut off, or was changed")
	}
	if err := wire.DecodeReply(text, &head); err != nil {
		return none("its head cannot be read")
	}
	if !SerialNumber(head.SerialNumber) || !moment(head.MadeAt) || !moment(head.ExpiresAt) {
		return none("its head names no box")
	}
	first = file[:len(file)-len(rest)]
	return head, first, rest[:len(rest)-sha256.Size], nil
}

// OpenBundle reads a bundle file by its code. It checks the form, and not the signature: Verify does. ErrBundle, ErrBundleNewer
// or ErrBundleCode.
func OpenBundle(file []byte, code wire.Secret) (b Bundle, err error) {
	head, first, sealed, err := splitBundle(file)
	if err != nil {
		return b, err
	}
	salt, err := hex.DecodeString(head.Salt)
	if err != nil || len(salt) != 16 {
		return b, fmt.Errorf("%w: its head cannot be read", ErrBundle)
	}
	keys, err := bundleKeys(code, salt)
	if err != nil {
		return b, err
	}
	if len(sealed) < keys.aead.NonceSize() {
		return b, fmt.Errorf("%w: it is cut off", ErrBundle)
	}
	plain, err := keys.aead.Open(nil, sealed[:keys.aead.NonceSize()], sealed[keys.aead.NonceSize():], first)
	if err != nil {
		return b, ErrBundleCode
	}
	if err := wire.DecodeReply(plain, &b); err != nil {
		return Bundle{}, fmt.Errorf("%w: its content cannot be read", ErrBundle)
	}
	if flaw := b.flaw(head); flaw != "" {
		return Bundle{}, fmt.Errorf("%w: %s", ErrBundle, flaw)
	}
	return b, nil
}

// flaw says what a bundle must not be.
func (b Bundle) flaw(head BundleHead) string {
	switch {
	case head.SerialNumber != b.SerialNumber, head.MadeAt != b.MadeAt, head.ExpiresAt != b.ExpiresAt:
		return "head and content differ"
	case !wire.PathWord(b.EnrolmentID, maxName), !wire.WebURL(b.URL), b.Configuration.Number < 1:
		return "it names no enrolment"
	case b.Configuration.Text == "", len(b.Configuration.Text) > MaxConfiguration:
		return "it has no configuration"
	}
	return ""
}
