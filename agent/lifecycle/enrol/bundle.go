package enrol

import (
	"errors"
	"fmt"
	"time"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Bundled is what a bundle gave. The terminal works with it until the service has confirmed.
type Bundled struct {
	Revision   Revision `json:"revision"`
	MadeAt     string   `json:"madeAt"`               // RFC 3339
	Until      string   `json:"until"`                // RFC 3339, the code's last moment
	InUse      bool     `json:"inUse,omitempty"`      // the terminal works with it: the journal began with it
	Generation int64    `json:"generation,omitempty"` // of that journal, 0 = it has not begun
}

// Journal is what a bundle has to know of the box's journal.
type Journal struct {
	Generation int64 // 0 = there is none
	Untouched  bool  // no sale and no operation was ever in it
}

// What can be wrong with a bundle for this box. Decide with errors.Is.
var (
	// ErrOtherBox: it is for another box.
	ErrOtherBox = errors.New("enrol: the bundle is for another box")
	// ErrOlder: the box has what was made after it.
	ErrOlder = errors.New("enrol: the bundle is older than what this box has")
	// ErrExpired: its time is over.
	ErrExpired = errors.New("enrol: the bundle is not good any more")
)

// Take takes a bundle up whose signature the caller has checked, with its code. A device key is made, and all of it is durable; the
// service hears of it when Resume can reach it. Until then the terminal works with the configuration where the journal of the box
// has begun with it, and where nothing that was confirmed is in use: two boxes never live with one journal. The same bundle
// again changes nothing. ErrOtherBox, ErrOlder, ErrExpired, or *RefusedError where it is used up.
func (b *Box) Take(bundle fleet.Bundle, code wire.Secret, serialNumber string, j Journal) error {
	if bundle.SerialNumber != serialNumber {
		return fmt.Errorf("%w: for %s, and this is %s", ErrOtherBox, bundle.SerialNumber, serialNumber)
	}
	return b.change(func(r *record) error {
		if n := r.Next; n != nil && n.Bundle != nil && n.ID == bundle.EnrolmentID && n.State != Fresh {
			return errSame
		}
		if r.Now != nil && r.Now.ID == bundle.EnrolmentID && r.Now.Revoked == "" {
			return errSame // it was confirmed, and who asks has not heard of it
		}
		if err := r.takes(bundle, b.now()); err != nil {
			return err
		}
		next := &Enrolment{
			State: Keyed, URL: bundle.URL, Code: code, SerialNumber: serialNumber, ID: bundle.EnrolmentID, Authority: bundle.Authority,
			Bundle: &Bundled{Revision: Revision{bundle.Configuration.Number, bundle.Configuration.Text, stamp(b.now())}, MadeAt: bundle.MadeAt, Until: bundle.ExpiresAt},
		}
		authority, err := fleet.ParseCertificate(bundle.Authority)
		if err != nil {
			return fmt.Errorf("%w: authority: %w", ErrUntrusted, err)
		}
		next.Fingerprint = fleet.Fingerprint(authority.Raw)
		if r.Next != nil {
			next.Key = r.Next.Key
		} else if next.Key, err = newKey(); err != nil {
			return err
		}
		if was := r.unconfirmed(); was != nil {
			next.Bundle.Generation = was.Bundle.Generation
		}
		next.Bundle.InUse = (r.Now == nil || r.Now.Revoked != "") && next.Bundle.began(j)
		r.Next, r.Made = next, bundle.MadeAt
		r.note(b.now(), Entry{What: TakenFromBundle, Revision: bundle.Configuration.Number})
		return nil
	})
}

// takes judges a bundle by what the box has had.
func (r *record) takes(bundle fleet.Bundle, now time.Time) error {
	if r.Barred != "" && !bundle.Made().After(moment(r.Barred)) {
		return &RefusedError{errors.New("this bundle, or one that was made after it, was confirmed or refused before: it is used up")}
	}
	has := moment(r.Made)
	if r.Now != nil && r.Now.Certificate != "" {
		cert, err := fleet.ParseCertificate(r.Now.Certificate)
		if err != nil {
			return fmt.Errorf("%w: certificate", ErrDamaged)
		}
		if cert.NotBefore.After(has) {
			has = cert.NotBefore
		}
	}
	if bundle.Made().Before(has) {
		return fmt.Errorf("%w: made %s, and this box has what was made after %s", ErrOlder, bundle.MadeAt, has.UTC().Format(time.RFC3339))
	}
	if !now.Before(bundle.Until()) {
		return fmt.Errorf("%w: it was good until %s", ErrExpired, bundle.ExpiresAt)
	}
	return nil
}

// began returns whether a journal has begun with the bundle: it is not there yet, nothing was ever in it, or it is the one that was noted.
func (x *Bundled) began(j Journal) bool {
	return j.Generation == 0 || j.Untouched || x.Generation == j.Generation
}

// unconfirmed is the enrolment by a bundle that the terminal works with, nil = it works with none.
func (r *record) unconfirmed() *Enrolment {
	if n := r.Next; n != nil && n.State != Fresh && n.Bundle != nil && n.Bundle.InUse && (r.Now == nil || r.Now.Revoked != "") {
		return n
	}
	return nil
}

// Owns returns whether the terminal may work on a journal with the bundle in use, and notes the journal that begins with it. A journal
// that was put back from elsewhere has to wait for the confirmation. It is true where no bundle is in use.
func (b *Box) Owns(j Journal) (own bool, err error) {
	judge := func(r *record) (noted bool) {
		e := r.unconfirmed()
		own = e == nil || e.Bundle.began(j)
		return !own || e == nil || e.Bundle.Generation == j.Generation
	}
	r, err := b.read()
	if err != nil || judge(&r) {
		return own && err == nil, err
	}
	err = b.change(func(r *record) error {
		if judge(r) {
			return errSame
		}
		r.Next.Bundle.Generation = j.Generation
		return nil
	})
	return own && err == nil, err
}

// end makes an enrolment by a bundle one that is over: what is open is ended with its configuration, and nothing is begun with it.
func (r *record) end(e *Enrolment, why string) {
	over := *e
	over.Bundle, over.Offered, over.Revoked, over.Certificate, over.ExpiresAt = nil, fleet.Revision{}, why, "", ""
	rev := e.Bundle.Revision
	r.Now, r.Revisions, r.Active, r.Previous, r.Refused, r.Told = &over, []Revision{rev}, rev.Number, 0, 0, rev.Number
	r.Before, r.Waits, r.Proven, r.Starts, r.Gave = nil, false, true, 0, 0
}

// overdue is why a terminal stops that works with a bundle which was not confirmed in its time, "" = it goes on.
func (x *Bundled) overdue(now time.Time) string {
	if now.Before(moment(x.Until)) {
		return ""
	}
	return "its bundle was good until " + x.Until + " and was not confirmed"
}

func moment(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s) // the zero time is before all others
	return t
}
