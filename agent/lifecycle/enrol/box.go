package enrol

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Box is the enrolment of one terminal, in a directory of its own. Several processes may use one
// directory: each change holds a lock.
type Box struct {
	dir string
	now func() time.Time
}

// At returns the enrolment in dir. It makes and reads nothing.
func At(dir string, now func() time.Time) *Box { return &Box{dir, now} }

// What can be wrong with a call. Decide with errors.Is.
var (
	// ErrNone: nothing was enrolled here, and nothing was begun.
	ErrNone = errors.New("enrol: this terminal is not enrolled")
	// ErrUntrusted: what the service gave is not the operator's, or not for this box.
	ErrUntrusted = errors.New("enrol: what the service gave cannot be trusted")
	// ErrBusy: another process is at work on the enrolment.
	ErrBusy = errors.New("enrol: another program is at work on this enrolment")
)

// lock keeps other processes out. It makes the directory where it is missing.
func (b *Box) lock() (release func(), err error) {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(b.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // it says less than the lock
		return nil, ErrBusy
	}
	return func() { _ = f.Close() }, nil
}

// errSame ends a change that changes nothing.
var errSame = errors.New("enrol: nothing changes")

// change reads the record, lets fn change it, and makes it durable.
func (b *Box) change(fn func(*record) error) error {
	release, err := b.lock()
	if err != nil {
		return err
	}
	defer release()
	r, err := b.read()
	if err != nil {
		return err
	}
	if err := fn(&r); errors.Is(err, errSame) {
		return nil
	} else if err != nil {
		return err
	}
	return b.write(r)
}

// Begin takes a code up: a key is made, and both are durable. A code that is begun again, and one that
// follows a code which came to nothing, has the same key; one that was confirmed changes nothing. What
// was confirmed before stays in use.
func (b *Box) Begin(ticket fleet.Ticket, serialNumber string) error {
	if !fleet.SerialNumber(serialNumber) {
		return fmt.Errorf("enrol: serial number %q: want letters, digits, dots, dashes and underscores", serialNumber)
	}
	return b.change(func(r *record) error {
		next := r.Next
		if next == nil && r.Now != nil && r.Now.Code == ticket.Code && r.Now.URL == ticket.URL {
			if err := r.Now.known(ticket.Fingerprint); err != nil {
				return err
			}
			return errSame // it was confirmed, and who asks has not heard of it
		}
		if next == nil {
			key, err := newKey()
			if err != nil {
				return err
			}
			next = &Enrolment{State: Fresh, Key: key}
		}
		if next.State != Fresh && next.Code == ticket.Code && next.URL == ticket.URL && next.SerialNumber == serialNumber {
			if err := next.known(ticket.Fingerprint); err != nil {
				return err
			}
			if ticket.Fingerprint == next.Fingerprint {
				return errSame
			}
			next.Fingerprint = ticket.Fingerprint // who types it again says it anew: a mistyped one is not kept
			return nil
		}
		to, ok := Next(next.State, Begin)
		if !ok {
			return fmt.Errorf("enrol: no code is taken up in the state %s", next.State)
		}
		if e := r.unconfirmed(); e != nil {
			r.end(e, "another code was taken up in its place")
		}
		r.Next = &Enrolment{State: to, URL: ticket.URL, Fingerprint: ticket.Fingerprint, Code: ticket.Code, SerialNumber: serialNumber, Key: next.Key}
		return nil
	})
}

// known compares a fingerprint with the authority that an enrolment has; "" is not compared.
func (e *Enrolment) known(fingerprint string) error {
	if fingerprint == "" || e.Authority == "" {
		return nil
	}
	authority, err := fleet.ParseCertificate(e.Authority)
	if err != nil {
		return fmt.Errorf("%w: authority", ErrDamaged)
	}
	if have := fleet.Fingerprint(authority.Raw); !strings.EqualFold(have, fingerprint) {
		return fmt.Errorf("%w: the authority has the fingerprint %s", ErrUntrusted, have)
	}
	return nil
}

// Refused returns whether a code is the one that the service refused last.
func (b *Box) Refused(code wire.Secret) (bool, error) {
	r, err := b.read()
	return err == nil && r.Next != nil && r.Next.Refusal != "" && r.Next.Code == code, err
}

// SetAside puts a record that is damaged, and its key, under other names, so that the box can be enrolled again.
func (b *Box) SetAside() error {
	release, err := b.lock()
	if err != nil {
		return err
	}
	defer release()
	if _, err := b.read(); !errors.Is(err, ErrDamaged) {
		return err
	}
	for _, name := range []string{fileName, "device.key"} {
		old := filepath.Join(b.dir, name)
		if err := os.Rename(old, old+".damaged"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func newKey() (wire.Secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return wire.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// signer is the device key.
func (e *Enrolment) signer() (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(e.Key.Reveal()))
	if block == nil {
		return nil, fmt.Errorf("%w: no device key", ErrDamaged)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: device key", ErrDamaged)
	}
	s, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%w: device key", ErrDamaged)
	}
	return s, nil
}

// pair is the certificate with its key, for the connections to the backend.
func (e *Enrolment) pair() (*tls.Certificate, error) {
	p, err := tls.X509KeyPair([]byte(e.Certificate), []byte(e.Key.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("%w: certificate", ErrDamaged)
	}
	return &p, nil
}

// Active is what a terminal runs on.
type Active struct {
	ID          string
	Revision    int64
	Text        wire.Secret // TOML
	Certificate *tls.Certificate
	Revoked     string // why the terminal must not sell any more, "" = it may
	Unconfirmed bool   // it was given by a bundle, and the service has not confirmed it: the terminal is not READY
	Until       string // of an unconfirmed one: its last moment, RFC 3339
	URL         string // of the service
}

// Active returns what the terminal runs on; ErrNone where no enrolment was confirmed.
func (b *Box) Active() (Active, error) { return b.active(true) }

// Chosen returns what the terminal is to run on: Active, but for one that waits (Hold).
func (b *Box) Chosen() (Active, error) { return b.active(false) }

func (b *Box) active(waits bool) (Active, error) {
	r, err := b.read()
	if err != nil {
		return Active{}, err
	}
	if e := r.unconfirmed(); e != nil {
		rev := e.Bundle.Revision
		return Active{ID: e.ID, Revision: rev.Number, Text: rev.Text, Revoked: e.Bundle.overdue(b.now()), Unconfirmed: true, Until: e.Bundle.Until, URL: e.URL}, nil
	}
	if r.Now == nil {
		return Active{}, ErrNone
	}
	e, number := r.Now, r.Active
	if waits && r.Waits && r.Before != nil && r.Gave == 0 {
		return r.Before.Enrolment.on(r.Before.Revision)
	}
	if waits && r.Waits {
		number = cmp.Or(r.Gave, r.Previous)
	}
	rev, ok := r.find(number)
	if !ok {
		return Active{}, fmt.Errorf("%w: revision %d is missing", ErrDamaged, number)
	}
	return e.on(rev)
}

func (e *Enrolment) on(rev Revision) (Active, error) {
	a := Active{ID: e.ID, Revision: rev.Number, Text: rev.Text, Revoked: e.Revoked, URL: e.URL}
	if e.Certificate == "" && e.Revoked != "" { // a bundle that was never redeemed
		return a, nil
	}
	pair, err := e.pair()
	if err != nil {
		return Active{}, err
	}
	a.Certificate = pair
	return a, nil
}

// before is what a terminal ran on, for the enrolment that follows: the last one that was proven.
func (r *record) before() *Kept {
	if e := r.unconfirmed(); e != nil {
		was := *e
		was.Bundle = nil
		return &Kept{was, e.Bundle.Revision}
	}
	if r.Now == nil || !r.Proven && r.Before != nil {
		return r.Before
	}
	rev, ok := r.find(r.Active)
	if !ok || r.Now.Revoked != "" {
		return nil
	}
	return &Kept{*r.Now, rev}
}

// Hold lets the terminal run on what it ran on before, as long as money is open there; false ends that.
func (b *Box) Hold(waits bool) error {
	return b.change(func(r *record) error {
		if r.Now == nil || r.Waits == waits || waits && r.Before == nil && r.Previous == 0 && r.Gave == 0 {
			return errSame
		}
		r.Waits = waits
		return nil
	})
}

// Summary is what people are shown: no code, no key, no configuration.
type Summary struct {
	State       State   `json:"state"` // of the one that is being made, else of the confirmed one
	ID          string  `json:"id,omitempty"`
	URL         string  `json:"url,omitempty"` // of the service; where nothing was begun since a refusal, of the one that refused
	Certificate string  `json:"certificateExpiresAt,omitempty"`
	Revision    int64   `json:"revision,omitempty"` // in use
	Previous    int64   `json:"previous,omitempty"`
	Refused     int64   `json:"refused,omitempty"` // given up
	Revisions   []int64 `json:"revisions,omitempty"`
	Proven      bool    `json:"proven"`
	Refusal     string  `json:"refusal,omitempty"` // of the last code, where nothing was begun since
	Revoked     string  `json:"revoked,omitempty"`
	Enrolled    bool    `json:"enrolled"`              // one is confirmed
	Waits       bool    `json:"waits"`                 // what was chosen is not in use yet: money is open under the one before
	Bundle      string  `json:"bundle,omitempty"`      // the last moment of a bundle that was taken up and is not confirmed
	InUse       bool    `json:"bundleInUse,omitempty"` // the terminal works with it
}

// Summary reads it. A box that was never enrolled is Fresh.
func (b *Box) Summary() (Summary, error) {
	r, err := b.read()
	if err != nil {
		return Summary{}, err
	}
	s := Summary{State: Fresh, Revision: r.Active, Previous: r.Previous, Refused: r.Refused, Proven: r.Proven, Enrolled: r.Now != nil, Waits: r.Waits}
	for _, e := range []*Enrolment{r.Now, r.Next} {
		if e != nil && e.State != Fresh {
			s.State, s.ID, s.URL = e.State, e.ID, e.URL
		}
	}
	if r.Now != nil {
		s.Certificate, s.Revoked = r.Now.ExpiresAt, r.Now.Revoked
	}
	if r.Next != nil {
		s.Refusal, s.URL = r.Next.Refusal, cmp.Or(s.URL, r.Next.URL)
		if x := r.Next.Bundle; x != nil {
			s.Bundle = x.Until
		}
	}
	if e := r.unconfirmed(); e != nil {
		s.InUse, s.Revision, s.Previous, s.Proven = true, e.Bundle.Revision.Number, 0, false
	}
	for _, rev := range r.Revisions {
		s.Revisions = append(s.Revisions, rev.Number)
	}
	return s, nil
}
