package enrol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Trial is a configuration that is to be tried.
type Trial struct {
	Revision    int64
	Text        wire.Secret // TOML, signed by the operator
	Certificate *tls.Certificate
}

// ErrNotHere is for a Try to wrap: the configuration can never be this box's. What was begun ends.
var ErrNotHere = errors.New("this box is another terminal")

// Driver is what takes an enrolment on. All fields but Said are required.
type Driver struct {
	Service func(url string) (fleet.Service, error)
	// Try returns nil once the backend has answered with the configuration. It changes nothing.
	Try     func(context.Context, Trial) error
	Version string
	Said    func(State) // what has become durable; nil = nobody listens
	// Time is the service's own time, as its last reply has told it over a proven connection; false = none has. nil = it is not known.
	Time func() (time.Time, bool)
}

// proven makes a call with a proof of the box's time. Where the service refuses it, and its own time is another one, it is made once more
// by that: a box whose clock is wrong hears what the operator says, that it was revoked above all.
func (d Driver) proven(now time.Time, call func(at time.Time) error) error {
	err := call(now)
	if wire.ReasonOf(err) != fleet.NotProven || d.Time == nil {
		return err
	}
	at, known := d.Time()
	if !known || at.Sub(now).Abs() < sameTime {
		return err
	}
	return call(at)
}

// sameTime is how far two clocks are apart that say the same.
const sameTime = time.Minute

// RefusedError is the service's last word about a code or a device: asking again changes nothing.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives what the service said.
func (e *RefusedError) Unwrap() error { return e.Err }

// AwayError is for a Try to return: nothing is said of the configuration, the one that is in use does not reach its backend either.
type AwayError struct{ Err error }

func (e *AwayError) Error() string { return e.Err.Error() }

// Unwrap gives what the trial met.
func (e *AwayError) Unwrap() error { return e.Err }

// last returns whether an error of the service is its last word.
func last(err error) bool {
	switch wire.ReasonOf(err) {
	case fleet.CodeNotGood, fleet.CodeTaken, fleet.CertRevoked:
		return true
	}
	return false
}

// words are what the service said.
func words(err error) string {
	if msg := wire.AsError("", err).Msg; msg != "" {
		return msg
	}
	return err.Error()
}

// Resume takes what was begun to its end. ErrNone where nothing was begun, ErrBusy where another
// process does it, *RefusedError where it has ended for good, else the error of the step that has to
// be repeated: of the service (wire codes), or of Try.
func (b *Box) Resume(ctx context.Context, d Driver) error {
	release, err := b.lock()
	if err != nil {
		return err
	}
	defer release()
	for tried := false; ; {
		r, err := b.read()
		if err != nil {
			return err
		}
		if r.Next == nil || r.Next.State == Fresh {
			return ErrNone
		}
		s := step{Driver: d, now: b.now, e: r.Next, tried: tried}
		event, err := s.take(ctx)
		tried = s.tried
		if last(err) || errors.Is(err, ErrNotHere) {
			r.refuse(b.now(), words(err))
			return errors.Join(&RefusedError{err}, b.write(r))
		}
		if err != nil {
			return err
		}
		to, ok := Next(s.e.State, event)
		if !ok {
			return fmt.Errorf("enrol: %s does not happen in the state %s", event, s.e.State)
		}
		s.e.State = to
		if to == Confirmed {
			next := record{Now: s.e, Before: r.before(), Made: r.Made, Barred: r.Barred, Entries: r.Entries}
			if s.e.Bundle != nil {
				next.Barred = s.e.Bundle.MadeAt
			}
			next.activate(Revision{Number: s.e.Offered.Number, Text: s.e.Offered.Text, At: stamp(b.now())})
			next.Told, s.e.Offered, s.e.Bundle = next.Active, fleet.Revision{}, nil
			next.note(b.now(), Entry{What: Enrolled, Revision: next.Active, Text: s.e.ID})
			r = next
		}
		if err := b.write(r); err != nil {
			return err
		}
		if d.Said != nil {
			d.Said(to)
		}
		if to == Confirmed {
			return nil
		}
	}
}

// refuse ends what was begun by the service's words. What a terminal has done with a bundle meanwhile is ended with its configuration.
func (r *record) refuse(now time.Time, words string) {
	n := r.Next
	if e := r.unconfirmed(); e != nil {
		r.end(e, words)
	}
	if n.Bundle != nil {
		r.Barred = n.Bundle.MadeAt
	}
	to, _ := Next(n.State, Refuse)
	r.Next = &Enrolment{State: to, URL: n.URL, Key: n.Key, Code: n.Code, Refusal: words} // key and address may serve another code
	r.note(now, Entry{What: RefusedCode, Text: words})
}

// step is one enrolment on its way.
type step struct {
	Driver
	now   func() time.Time
	e     *Enrolment
	tried bool // the configuration, in this run
}

// take performs what a state asks for, and returns the event that it ended in.
func (s *step) take(ctx context.Context) (Event, error) {
	svc, err := s.Service(s.e.URL)
	if err != nil {
		return "", err
	}
	switch s.e.State {
	case Keyed:
		return Redeem, s.redeem(ctx, svc)
	case Issued:
		return Try, s.try(ctx, svc)
	}
	if !s.tried { // it was some time ago: what has been sold since may not fit any more
		if err := s.try(ctx, svc); err != nil {
			return "", err
		}
	}
	return Confirm, s.confirm(ctx, svc, s.e.Offered.Number)
}

// redeem shows the code, and checks what it is given before any of it is kept.
func (s *step) redeem(ctx context.Context, svc fleet.Service) error {
	key, err := s.e.signer()
	if err != nil {
		return err
	}
	csr, err := fleet.NewRequest(key, s.e.SerialNumber)
	if err != nil {
		return err
	}
	got, err := svc.Redeem(ctx, wire.NewKey(), fleet.RedeemRequest{Code: s.e.Code, CSR: csr, SerialNumber: s.e.SerialNumber, Version: s.Version})
	if err != nil {
		return err
	}
	if err := fleet.Verify(got, s.e.Fingerprint, key.Public(), s.now()); err != nil {
		return fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	if s.e.Bundle != nil && got.EnrolmentID != s.e.ID {
		return fmt.Errorf("%w: the bundle is of the enrolment %s, the code of %s", ErrUntrusted, s.e.ID, got.EnrolmentID)
	}
	s.e.ID, s.e.Certificate, s.e.Authority, s.e.ExpiresAt, s.e.Offered = got.EnrolmentID, got.Certificate, got.Authority, got.ExpiresAt, got.Configuration
	return nil
}

// try fetches the newest configuration, which an operator may have mended since, and tries it.
func (s *step) try(ctx context.Context, svc fleet.Service) error {
	rev, err := s.newest(ctx, svc)
	if err != nil {
		return err
	}
	s.e.Offered = rev
	pair, err := s.e.pair()
	if err != nil {
		return err
	}
	err = s.Try(ctx, Trial{Revision: rev.Number, Text: rev.Text, Certificate: pair})
	s.tried = err == nil
	return err
}

// newest reads the newest configuration, and checks its signature.
func (s *step) newest(ctx context.Context, svc fleet.Service) (rev fleet.Revision, err error) {
	key, err := s.e.signer()
	if err != nil {
		return rev, err
	}
	err = s.proven(s.now(), func(at time.Time) error {
		proof, err := fleet.ProveConfiguration(key, s.e.ID, at)
		if err == nil {
			rev, err = svc.Configuration(ctx, proof)
		}
		return err
	})
	if err != nil {
		return rev, err
	}
	authority, err := fleet.ParseCertificate(s.e.Authority)
	if err == nil {
		err = fleet.VerifyRevision(authority, s.e.ID, rev)
	}
	if err != nil {
		return fleet.Revision{}, fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	return rev, nil
}

// confirm says that a configuration works.
func (s *step) confirm(ctx context.Context, svc fleet.Service, number int64) error {
	key, err := s.e.signer()
	if err != nil {
		return err
	}
	req := fleet.ConfirmRequest{Revision: number}
	return s.proven(s.now(), func(at time.Time) error {
		proof, err := fleet.ProveConfirmation(key, s.e.ID, at, req)
		if err == nil {
			_, err = svc.Confirm(ctx, wire.NewKey(), proof, req)
		}
		return err
	})
}

// Refresh fetches the newest configuration of an enrolled terminal, tries it, confirms it, and makes it
// the one in use. It returns its number, 0 = there is no newer one. A revoked device is remembered as
// that (*RefusedError). Other errors are those of Resume.
func (b *Box) Refresh(ctx context.Context, d Driver) (number int64, err error) {
	release, err := b.lock()
	if err != nil {
		return 0, err
	}
	defer release()
	r, err := b.read()
	if err != nil {
		return 0, err
	}
	if r.Now == nil {
		return 0, ErrNone
	}
	if r.Now.Certificate == "" { // a bundle that was never redeemed
		return 0, &RefusedError{errors.New(r.Now.Revoked)}
	}
	s := step{Driver: d, now: b.now, e: r.Now}
	svc, err := d.Service(s.e.URL)
	if err != nil {
		return 0, err
	}
	rev, err := s.newest(ctx, svc)
	switch {
	case last(err):
		r.revoke(b.now(), words(err))
		return 0, errors.Join(&RefusedError{err}, b.write(r))
	case err != nil:
		return 0, err
	case rev.Number <= max(r.Active, r.Refused):
		return 0, b.tell(ctx, &s, svc, r)
	}
	pair, err := s.e.pair()
	if err != nil {
		return 0, err
	}
	if err := d.Try(ctx, Trial{Revision: rev.Number, Text: rev.Text, Certificate: pair}); err != nil {
		return 0, errors.Join(fmt.Errorf("revision %d: %w", rev.Number, err), b.reject(ctx, r, rev.Number, err))
	}
	if err := s.confirm(ctx, svc, rev.Number); err != nil {
		return 0, err
	}
	r.activate(Revision{Number: rev.Number, Text: rev.Text, At: stamp(b.now())})
	r.Told = r.Active
	r.note(b.now(), Entry{What: TakenUp, Revision: rev.Number})
	if err := b.write(r); err != nil {
		return 0, err
	}
	if d.Said != nil {
		d.Said(Confirmed)
	}
	return rev.Number, nil
}

// reject notes that a revision does not work here, once: it is tried again with every Refresh. An outage counts against none.
func (b *Box) reject(ctx context.Context, r record, number int64, why error) error {
	var away *AwayError
	if ctx.Err() != nil || errors.As(why, &away) || r.Rejected != nil && r.Rejected.Number == number {
		return nil
	}
	r.Rejected = &Rejected{Number: number, Since: stamp(b.now()), Why: fleet.Reason(why.Error())}
	return b.write(r)
}

// tell says to the service which revision is in use, where it was told of another one: one was given up, or a person has gone back.
func (b *Box) tell(ctx context.Context, s *step, svc fleet.Service, r record) error {
	if r.Told == r.Active || r.Waits {
		return nil
	}
	if err := s.confirm(ctx, svc, r.Active); err != nil {
		return err
	}
	r.Told = r.Active
	return b.write(r)
}
