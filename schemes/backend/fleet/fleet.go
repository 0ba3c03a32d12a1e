package fleet

import (
	"context"
	"crypto"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Options are what Fleet needs; its own are required.
type Options struct {
	room.Options
	// Configuration writes the TOML of the terminal of an enrolment where the operator gives none. The error says what the slot lacks.
	Configuration func(enrolment string, slot fleet.Slot) (string, error)
}

// Fleet is the enrolment desk.
type Fleet struct {
	*room.Room
	opt    Options
	limit  *limiter
	mu     sync.Mutex
	signer *authority // nil until it is read
	purged time.Time  // when the sweep purged last
}

var (
	_ fleet.Service  = (*Fleet)(nil)
	_ fleet.Operator = (*Fleet)(nil)
)

// New makes the desk; it starts nothing.
func New(opt Options) (*Fleet, error) {
	if opt.Configuration == nil || opt.PublicURL == "" {
		return nil, errors.New("fleet: want a public URL and a configuration")
	}
	r, err := room.New("fleet", opt.Options)
	if err != nil {
		return nil, err
	}
	f := &Fleet{Room: r, opt: opt, limit: newLimiter(r.Now)}
	r.Sweeps(f.sweep)
	return f, nil
}

const (
	opRedeem        = "fleet.redeem"
	opConfiguration = "fleet.configuration"
	opConfirm       = "fleet.confirm"
	opRenew         = "fleet.renew"
	opCreate        = "fleet.create"
	opImport        = "fleet.import"
	opList          = "fleet.list"
	opConfigure     = "fleet.configure"
	opRevoke        = "fleet.revoke"
	opReport        = "fleet.report"
	opVersions      = "fleet.versions"
	opLift          = "fleet.lift"
	opStart         = "fleet.start"
	opRolls         = "fleet.rolls"
	opMove          = "fleet.move"
)

// digest is what the store has of a code. It is keyed: fifty bits could be tried out.
func (f *Fleet) digest(code wire.Secret) []byte {
	return f.DB.MAC("fleet_code", "digest", code.Reveal())
}

// notGood is the one answer to every code that is not good.
func notGood() error {
	return fleet.Refused(opRedeem, fleet.CodeNotGood, "the code is unknown, expired, revoked, burned or another box's (posagent backend fleet list shows which)")
}

// Redeem implements fleet.Service. The code is looked at first, whatever others tried before: only wrong ones are counted and
// limited, so no stranger keeps a good one out.
func (f *Fleet) Redeem(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
	if err := errors.Join(room.CheckKey(opRedeem, key), check.Request(opRedeem, req)); err != nil {
		return fleet.Issued{}, wire.AsError(opRedeem, err)
	}
	code, err := fleet.ParseCode(req.Code.Reveal())
	if err != nil {
		return fleet.Issued{}, wire.AsError(opRedeem, err)
	}
	public, err := fleet.ParseRequest(req.CSR, req.SerialNumber)
	if err != nil {
		return fleet.Issued{}, wire.Errorf(wire.Invalid, opRedeem, "csr: %v", err)
	}
	out, err := f.redeem(ctx, code, public, req)
	if wire.ReasonOf(err) == fleet.CodeNotGood {
		wait := f.limit.wrong(fleet.Address(ctx))
		if wait > 0 {
			e := fleet.Refused(opRedeem, fleet.LockedOut, "this code is not good, and too many such came before it: wait (a good code is taken at any time)")
			e.RetryAfter = wait
			return fleet.Issued{}, e
		}
		f.Log.Warn("wrong enrolment code", "address", fleet.Address(ctx))
	}
	if err != nil {
		return fleet.Issued{}, wire.AsError(opRedeem, err)
	}
	return out, nil
}

// looked reads the enrolment of a code before anything is made for it. It fails with CodeNotGood, after the same work whatever the
// cause, and with LockedOut where the code was tried with the serial numbers of too many boxes.
func (f *Fleet) looked(ctx context.Context, digest []byte, serial string) error {
	var r row
	if err := f.DB.Read(ctx, func(rd store.Reader) error { r = row{}; return r.shown(rd, digest) }); err != nil {
		return err
	}
	if !r.open(f.Now().UnixMilli()) {
		return notGood()
	}
	if !r.bound {
		return nil
	}
	right := r.serial == serial
	if wait := f.limit.box(r.id, right); wait > 0 {
		e := fleet.Refused(opRedeem, fleet.LockedOut, "the code was tried with the serial numbers of too many other boxes: wait")
		e.RetryAfter = wait
		return e
	}
	if !right {
		return notGood()
	}
	return nil
}

func (f *Fleet) redeem(ctx context.Context, code wire.Secret, public crypto.PublicKey, req fleet.RedeemRequest) (out fleet.Issued, err error) {
	digest := f.digest(code)
	if err := f.looked(ctx, digest, req.SerialNumber); err != nil {
		return out, err
	}
	ca, err := f.authority(ctx)
	if err != nil {
		return out, err
	}
	der, err := ca.issue(public, req.SerialNumber, f.Now())
	if err != nil {
		return out, fmt.Errorf("issue certificate: %w", err)
	}
	device := fleet.Thumbprint(public)
	err = f.DB.Write(ctx, func(tx store.Tx) error {
		var r row
		now := f.Now().UnixMilli()
		if err := r.shown(tx, digest); err != nil {
			return err
		}
		to, _ := fleet.Next(r.at(now), fleet.Redeem)
		switch {
		case !r.open(now), r.bound && r.serial != req.SerialNumber: // since it was looked at
			return notGood()
		case r.state == fleet.Fresh:
			r.serial, r.redeemed, r.device, r.certificate = req.SerialNumber, now, device, der
		case r.device != device, r.serial != req.SerialNumber:
			return fleet.Refused(opRedeem, fleet.CodeTaken, "another device has redeemed this code: make a new one for this device")
		}
		r.state, r.version = to, req.Version
		if err := r.save(tx); err != nil {
			return err
		}
		out, err = f.issued(tx, ca, &r)
		return err
	})
	return out, err
}

// issued is the answer to the device that has redeemed.
func (f *Fleet) issued(rd store.Reader, ca *authority, r *row) (out fleet.Issued, err error) {
	e, err := r.show(0)
	if err != nil {
		return out, err
	}
	out = fleet.Issued{EnrolmentID: r.id, Certificate: e.Certificate, Authority: fleet.CertificatePEM(ca.cert.Raw), ExpiresAt: e.CertificateExpiresAt}
	out.Configuration, err = f.newest(rd, r)
	return out, err
}

// proven reads the enrolment of a proof, which judge checks. An enrolment that does not exist, and one that no device has, are
// answered as a wrong signature is.
func (f *Fleet) proven(ctx context.Context, op string, by fleet.Proof, judge func(crypto.PublicKey, time.Time) error) (r row, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) error { r = row{}; return r.load(rd, "id", by.EnrolmentID) })
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, err
	}
	public, bad := r.key()
	if bad != nil {
		return r, bad
	}
	if err := judge(public, f.Now()); err != nil || public == nil {
		msg := "the device is not proven"
		if err != nil {
			msg = err.Error()
		}
		return r, fleet.Refused(op, fleet.NotProven, msg)
	}
	if r.state == fleet.Revoked {
		return r, fleet.Refused(op, fleet.CertRevoked, "the enrolment of this device was revoked: enrol it again with a new code")
	}
	return r, nil
}

// Configuration implements fleet.Service.
func (f *Fleet) Configuration(ctx context.Context, by fleet.Proof) (rev fleet.Revision, err error) {
	r, err := f.proven(ctx, opConfiguration, by, by.CheckConfiguration)
	if err == nil {
		err = f.DB.Read(ctx, func(rd store.Reader) error {
			number, err := r.offered(rd)
			if err == nil {
				rev, err = f.revision(rd, r.id, number)
			}
			return err
		})
	}
	if err != nil {
		return fleet.Revision{}, wire.AsError(opConfiguration, err)
	}
	return rev, nil
}

// Confirm implements fleet.Service.
func (f *Fleet) Confirm(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ConfirmRequest) (out fleet.ConfirmReply, err error) {
	if err := errors.Join(room.CheckKey(opConfirm, key), check.Request(opConfirm, req)); err != nil {
		return out, wire.AsError(opConfirm, err)
	}
	_, err = f.proven(ctx, opConfirm, by, func(public crypto.PublicKey, now time.Time) error { return by.CheckConfirmation(public, now, req) })
	if err == nil {
		err = f.DB.Write(ctx, func(tx store.Tx) (err error) { out, err = f.confirm(tx, by.EnrolmentID, req); return err })
	}
	if err != nil {
		return fleet.ConfirmReply{}, wire.AsError(opConfirm, err)
	}
	return out, nil
}

func (f *Fleet) confirm(tx store.Tx, id string, req fleet.ConfirmRequest) (out fleet.ConfirmReply, err error) {
	var r row
	if err := r.load(tx, "id", id); err != nil {
		return out, err
	}
	to, ok := fleet.Next(r.state, fleet.Confirm)
	switch {
	case !ok: // revoked since it was proven
		return out, fleet.Refused(opConfirm, fleet.CertRevoked, "the enrolment of this device was revoked: enrol it again with a new code")
	case req.Revision > r.revision:
		return out, wire.Errorf(wire.Invalid, opConfirm, "revision: the newest is %d", r.revision)
	}
	if now := f.Now().UnixMilli(); r.state != fleet.Confirmed {
		if r.superseded, err = supersede(tx, &r, now); err != nil {
			return out, err
		}
		r.confirmed = now
	}
	r.state, r.confirmedRevision = to, req.Revision
	if err := r.save(tx); err != nil {
		return out, err
	}
	if err := f.hear(tx, id, fleet.Applied{Revision: req.Revision}); err != nil {
		return out, err
	}
	return fleet.ConfirmReply{EnrolmentID: r.id, State: r.state, Revision: req.Revision, Superseded: r.superseded}, nil
}
