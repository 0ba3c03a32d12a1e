package fleet

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Proof shows that a call comes from the device of an enrolment. It travels as
//
//	Authorization: Device ENROLMENT.MILLISECONDS.SIGNATURE
//
// where the signature, in unpadded base64url, is the device key's over signedText.
type Proof struct {
	EnrolmentID string
	AtMS        int64
	Signature   wire.Secret
}

const (
	proofScheme = "Device"
	proofDomain = "posagent fleet proof 1"
	// MaxSkew is how far the device's clock may be from the service's. The Date header of a refusal
	// tells the device the service's time.
	MaxSkew  = 5 * time.Minute
	maxProof = 512 // of the header's value, in bytes
)

// ProveConfiguration makes the proof of a call of Configuration.
func ProveConfiguration(key crypto.Signer, enrolmentID string, at time.Time) (Proof, error) {
	return prove(key, configuration.Op, enrolmentID, at, nil)
}

// ProveConfirmation makes the proof of a call of Confirm with req.
func ProveConfirmation(key crypto.Signer, enrolmentID string, at time.Time, req ConfirmRequest) (Proof, error) {
	body, err := wire.Encode(req)
	if err != nil {
		return Proof{}, fmt.Errorf("prove confirmation: %w", err)
	}
	return prove(key, confirm.Op, enrolmentID, at, body)
}

// CheckConfiguration checks the proof of a call of Configuration. It fails on another key, another
// call, and more than MaxSkew from now.
func (p Proof) CheckConfiguration(public crypto.PublicKey, now time.Time) error {
	return p.check(public, configuration.Op, nil, now)
}

// CheckConfirmation checks the proof of a call of Confirm with req, as CheckConfiguration does.
func (p Proof) CheckConfirmation(public crypto.PublicKey, now time.Time, req ConfirmRequest) error {
	body, err := wire.Encode(req)
	if err != nil {
		return errProof
	}
	return p.check(public, confirm.Op, body, now)
}

// ProveRenewal makes the proof of a call of Renew with req.
func ProveRenewal(key crypto.Signer, enrolmentID string, at time.Time, req RenewRequest) (Proof, error) {
	body, err := wire.Encode(req)
	if err != nil {
		return Proof{}, fmt.Errorf("prove renewal: %w", err)
	}
	return prove(key, renew.Op, enrolmentID, at, body)
}

// CheckRenewal checks the proof of a call of Renew with req, as CheckConfiguration does.
func (p Proof) CheckRenewal(public crypto.PublicKey, now time.Time, req RenewRequest) error {
	body, err := wire.Encode(req)
	if err != nil {
		return errProof
	}
	return p.check(public, renew.Op, body, now)
}

// ProveReport makes the proof of a call of Report with req.
func ProveReport(key crypto.Signer, enrolmentID string, at time.Time, req ReportRequest) (Proof, error) {
	body, err := wire.Encode(req)
	if err != nil {
		return Proof{}, fmt.Errorf("prove report: %w", err)
	}
	return prove(key, report.Op, enrolmentID, at, body)
}

// CheckReport checks the proof of a call of Report with req, as CheckConfiguration does.
func (p Proof) CheckReport(public crypto.PublicKey, now time.Time, req ReportRequest) error {
	body, err := wire.Encode(req)
	if err != nil {
		return errProof
	}
	return p.check(public, report.Op, body, now)
}

var (
	errProof = errors.New("the device is not proven")
	errSkew  = errors.New("the proof's time is more than five minutes from the service's (its Date header says it)")
)

func prove(key crypto.Signer, op, enrolmentID string, at time.Time, body []byte) (Proof, error) {
	p := Proof{EnrolmentID: enrolmentID, AtMS: at.UnixMilli()}
	sig, err := sign(key, p.signedText(op, body))
	if err != nil {
		return Proof{}, fmt.Errorf("prove %s: %w", op, err)
	}
	p.Signature = wire.Secret(base64.RawURLEncoding.EncodeToString(sig))
	return p, nil
}

func (p Proof) check(public crypto.PublicKey, op string, body []byte, now time.Time) error {
	sig, err := base64.RawURLEncoding.DecodeString(p.Signature.Reveal())
	if err != nil || !signed(public, p.signedText(op, body), sig) {
		return errProof
	}
	if d := now.Sub(time.UnixMilli(p.AtMS)); d > MaxSkew || d < -MaxSkew {
		return errSkew
	}
	return nil
}

// signedText is what the key signs: the call by its name, not its path, because a proxy may change
// paths; and the digest of the body as wire.Encode writes it.
func (p Proof) signedText(op string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return []byte(strings.Join([]string{proofDomain, op, p.EnrolmentID, strconv.FormatInt(p.AtMS, 10), hex.EncodeToString(sum[:]), ""}, "\n"))
}

// sign signs with a device's key, or with the authority's.
func sign(key crypto.Signer, text []byte) ([]byte, error) {
	if err := strong(key.Public()); err != nil {
		return nil, err
	}
	if _, ok := key.Public().(ed25519.PublicKey); ok {
		return key.Sign(rand.Reader, text, crypto.Hash(0))
	}
	sum := sha256.Sum256(text)
	return key.Sign(rand.Reader, sum[:], crypto.SHA256)
}

func signed(public crypto.PublicKey, text, sig []byte) bool {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(k, text, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(text)
		return ecdsa.VerifyASN1(k, sum[:], sig)
	}
	return false
}

// put writes the proof into a request's header; no proof writes none.
func (p Proof) put(h http.Header) {
	if p != (Proof{}) {
		h.Set("Authorization", proofScheme+" "+p.EnrolmentID+"."+strconv.FormatInt(p.AtMS, 10)+"."+p.Signature.Reveal())
	}
}

// proofOf reads the proof of a request; the zero Proof, which proves nothing, where there is none.
func proofOf(h http.Header) Proof {
	values := h.Values("Authorization")
	if len(values) != 1 || len(values[0]) > maxProof {
		return Proof{}
	}
	text, ok := strings.CutPrefix(values[0], proofScheme+" ")
	parts := strings.Split(text, ".")
	if !ok || len(parts) != 3 || !wire.PathWord(parts[0], maxName) {
		return Proof{}
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || strconv.FormatInt(at, 10) != parts[1] {
		return Proof{}
	}
	return Proof{parts[0], at, wire.Secret(parts[2])}
}

// caller is who asks, as the Handler saw it.
type caller struct {
	proof   Proof
	address string
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// Address returns the network that a call came from: an IPv4 address, or the first 64 bits of an IPv6
// address. "" is a call in process.
func Address(ctx context.Context) string { return callerOf(ctx).address }

// From returns ctx for a call that came from a network address, as http.Request has it.
func From(ctx context.Context, remote string) context.Context {
	c := callerOf(ctx)
	c.address = network(remote)
	return context.WithValue(ctx, callerKey{}, c)
}

// network is the part of an address that one attacker has: in IPv6 a whole /64 is handed out.
func network(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return "other"
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr().String()
		}
	}
	return ip.String()
}

// called gives a request's context the caller.
func called(r *http.Request) *http.Request {
	ctx := context.WithValue(r.Context(), callerKey{}, caller{proof: proofOf(r.Header)})
	return r.WithContext(From(ctx, r.RemoteAddr))
}
