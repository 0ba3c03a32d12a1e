package fleet

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Renew implements fleet.Service. The new certificate is for the key that the device has proven. A certificate that has ended is
// renewed, too: what takes a terminal away is a revocation.
func (f *Fleet) Renew(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.RenewRequest) (out fleet.Renewed, err error) {
	if err := errors.Join(room.CheckKey(opRenew, key), check.Request(opRenew, req)); err != nil {
		return out, wire.AsError(opRenew, err)
	}
	_, err = f.proven(ctx, opRenew, by, func(public crypto.PublicKey, now time.Time) error { return by.CheckRenewal(public, now, req) })
	ca, bad := f.authority(ctx)
	if err == nil {
		err = bad
	}
	if err == nil {
		err = f.DB.Write(ctx, func(tx store.Tx) (err error) { out, err = f.renew(tx, ca, by.EnrolmentID, req); return err })
	}
	if err != nil {
		return fleet.Renewed{}, wire.AsError(opRenew, err)
	}
	return out, nil
}

func (f *Fleet) renew(tx store.Tx, ca *authority, id string, req fleet.RenewRequest) (out fleet.Renewed, err error) {
	var r row
	if err := r.load(tx, "id", id); err != nil {
		return out, err
	}
	if r.state == fleet.Revoked { // since it was proven
		return out, fleet.Refused(opRenew, fleet.CertRevoked, "the enrolment of this device was revoked: enrol it again with a new code")
	}
	was, err := x509.ParseCertificate(r.certificate)
	if err != nil {
		return out, fmt.Errorf("read certificate: %w", err)
	}
	now := f.Now()
	if half := was.NotBefore.Add(was.NotAfter.Sub(was.NotBefore) / 2); stampTime(was.NotAfter) == req.ExpiresAt && !now.Before(half) && was.NotAfter.Before(ca.cert.NotAfter) {
		if r.certificate, err = ca.issue(was.PublicKey, r.serial, now); err != nil {
			return out, fmt.Errorf("issue certificate: %w", err)
		}
		if err := r.save(tx); err != nil {
			return out, err
		}
	}
	e, err := r.show(now.UnixMilli())
	return fleet.Renewed{Certificate: e.Certificate, ExpiresAt: e.CertificateExpiresAt}, err
}
