package enrol

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// due is when a certificate is renewed: after two thirds of its time.
func due(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) / 3 * 2)
}

// Renew asks for the certificate that follows the terminal's own, once that one is due, and keeps it. It returns the new one's last
// moment, "" = none was due, or the service has none yet. A kill at any point leaves the old certificate or the new one, and
// who asks again is given the same. A revoked device is remembered as that (*RefusedError). ErrNone, ErrBusy, ErrUntrusted, or
// the service's error.
func (b *Box) Renew(ctx context.Context, d Driver) (until string, err error) {
	release, err := b.lock()
	if err != nil {
		return "", err
	}
	defer release()
	r, err := b.read()
	switch {
	case err != nil:
		return "", err
	case r.Now == nil:
		return "", ErrNone
	case r.Now.Revoked != "" || r.Now.Certificate == "":
		return "", nil
	}
	has, err := fleet.ParseCertificate(r.Now.Certificate)
	if err != nil {
		return "", fmt.Errorf("%w: certificate", ErrDamaged)
	}
	if b.now().Before(due(has)) {
		return "", nil
	}
	svc, err := d.Service(r.Now.URL)
	if err != nil {
		return "", err
	}
	got, err := r.Now.renewed(ctx, d, svc, has, b.now())
	if last(err) {
		r.revoke(b.now(), words(err))
		return "", errors.Join(&RefusedError{err}, b.write(r))
	}
	if err != nil {
		return "", err
	}
	cert, err := fleet.ParseCertificate(got)
	if err != nil {
		return "", fmt.Errorf("%w: certificate: %w", ErrUntrusted, err)
	}
	if !cert.NotAfter.After(has.NotAfter) {
		return "", nil
	}
	r.Now.Certificate, r.Now.ExpiresAt = got, stamp(cert.NotAfter)
	r.note(b.now(), Entry{What: Renewed, Text: r.Now.ExpiresAt})
	return r.Now.ExpiresAt, b.write(r)
}

// renewed asks for the certificate that follows one, and checks that it is the authority's for the device key.
func (e *Enrolment) renewed(ctx context.Context, d Driver, svc fleet.Service, has *x509.Certificate, now time.Time) (string, error) {
	key, err := e.signer()
	if err != nil {
		return "", err
	}
	req := fleet.RenewRequest{ExpiresAt: stamp(has.NotAfter)}
	var got fleet.Renewed
	err = d.proven(now, func(at time.Time) error {
		now = at
		proof, err := fleet.ProveRenewal(key, e.ID, at, req)
		if err == nil {
			got, err = svc.Renew(ctx, wire.NewKey(), proof, req)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	authority, err := fleet.ParseCertificate(e.Authority)
	if err == nil {
		err = fleet.VerifyCertificate(got.Certificate, authority, key.Public(), now)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	return got.Certificate, nil
}
