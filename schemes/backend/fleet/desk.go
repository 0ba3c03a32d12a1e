package fleet

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// seeded makes the code that a seed always makes. The seed has the caller's key, so that a repeated call is answered with the
// same code though the code stands nowhere; without a key it is random.
func (f *Fleet) seeded(op string, key wire.Key) func(about string) wire.Secret {
	seed := "key " + string(key)
	if key == "" {
		seed = "random " + room.Name(16)
	}
	return func(about string) wire.Secret { return fleet.MakeCode(f.DB.MAC("fleet_code", "text", op, seed, about)) }
}

// draft is a new enrolment with its first configuration.
type draft struct {
	row  row
	text wire.Secret
}

// draft makes one, for the code.
func (f *Fleet) draft(code wire.Secret, slot fleet.Slot, serial string, configuration wire.Secret) (d draft, err error) {
	id := room.Name(8)
	if configuration == "" {
		text, err := f.opt.Configuration(id, slot)
		if err != nil {
			return d, err
		}
		configuration = wire.Secret(text)
	}
	d.row = row{id: id, digest: f.digest(code), state: fleet.Fresh, slot: slot, serial: serial, bound: serial != "", revision: 1}
	d.text = configuration
	return d, nil
}

// put stores a draft, whose code is good from now on.
func (f *Fleet) put(tx store.Tx, ca *authority, d draft, ttl int32, now int64) (fleet.Enrolment, error) {
	if ttl == 0 {
		ttl = fleet.DefaultTTL
	}
	d.row.created, d.row.expires = now, now+int64(ttl)*int64(time.Second/time.Millisecond)
	if err := d.row.insert(tx); err != nil {
		return fleet.Enrolment{}, err
	}
	if err := f.keep(tx, d.row.id, fleet.SignRevision(ca.key, d.row.id, 1, d.text), now); err != nil {
		return fleet.Enrolment{}, err
	}
	return d.row.show(now)
}

// Create implements fleet.Desk.
func (f *Fleet) Create(ctx context.Context, key wire.Key, req fleet.CodeRequest) (out fleet.CodeReply, err error) {
	ca, body, err := f.ready(ctx, opCreate, req)
	if err != nil {
		return out, err
	}
	code := f.seeded(opCreate, key)("")
	d, err := f.draft(code, req.Slot, req.SerialNumber, req.Configuration)
	if err != nil {
		return out, wire.Errorf(wire.Invalid, opCreate, "slot: %v", err)
	}
	d.row.bundle = req.Bundle
	err = f.Once(ctx, room.Keyed{Op: opCreate, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		if req.Bundle {
			if err := stillLive(tx, &d.row, now); err != nil {
				return none, err
			}
		}
		out = fleet.CodeReply{URL: f.opt.PublicURL, Fingerprint: ca.fingerprint()}
		if out.Enrolment, err = f.put(tx, ca, d, req.TTLSeconds, now); err == nil {
			out.Unused, err = unused(tx, &d.row, now)
		}
		return none, err
	})
	if err != nil {
		return fleet.CodeReply{}, err
	}
	out.Code = code
	if req.Bundle {
		if out.Bundle, err = f.bundle(ctx, ca, out.Enrolment.ID, code); err != nil {
			return fleet.CodeReply{}, wire.AsError(opCreate, err)
		}
	}
	return out, nil
}

// bundle makes the bundle file of an enrolment, always the same: with the configuration that the code was made with.
func (f *Fleet) bundle(ctx context.Context, ca *authority, id string, code wire.Secret) (wire.Secret, error) {
	var r row
	var rev fleet.Revision
	err := f.DB.Read(ctx, func(rd store.Reader) (err error) {
		r = row{}
		if err = r.load(rd, "id", id); err == nil {
			rev, err = f.revision(rd, id, 1)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	file, err := fleet.SignBundle(ca.key, fleet.Bundle{
		EnrolmentID: id, SerialNumber: r.serial, URL: f.opt.PublicURL, Authority: fleet.CertificatePEM(ca.cert.Raw),
		MadeAt: fleet.BundleMoment(time.UnixMilli(r.created)), ExpiresAt: stamp(r.expires), Configuration: rev,
	}).Seal(code)
	return wire.Secret(base64.StdEncoding.EncodeToString(file)), err
}

// ready applies the contract's rules, and writes the request out again, for the key.
func (f *Fleet) ready(ctx context.Context, op string, req check.Checked) (*authority, []byte, error) {
	if err := check.Request(op, req); err != nil {
		return nil, nil, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return nil, nil, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	ca, err := f.authority(ctx)
	if err != nil {
		return nil, nil, wire.AsError(op, err)
	}
	return ca, body, nil
}

// Import implements fleet.Desk.
func (f *Fleet) Import(ctx context.Context, key wire.Key, req fleet.ImportRequest) (out fleet.ImportReply, err error) {
	ca, body, err := f.ready(ctx, opImport, req)
	if err != nil {
		return out, err
	}
	code := f.seeded(opImport, key)
	drafts := make([]draft, len(req.Boxes))
	for i, b := range req.Boxes {
		if drafts[i], err = f.draft(code(b.SerialNumber), b.Slot, b.SerialNumber, ""); err != nil {
			return out, wire.Errorf(wire.Invalid, opImport, "boxes[%d].slot: %v", i, err)
		}
	}
	err = f.Once(ctx, room.Keyed{Op: opImport, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		out = fleet.ImportReply{URL: f.opt.PublicURL, Fingerprint: ca.fingerprint(), Codes: make([]fleet.ImportedCode, 0, len(drafts))}
		for i, d := range drafts {
			c := fleet.ImportedCode{SerialNumber: d.row.serial}
			var r row
			err := r.scan(tx.QueryRow(`SELECT `+columns+` FROM fleet_enrolment WHERE serial = ? AND bound = 1 AND state = ? AND expires_ms > ? ORDER BY seq DESC LIMIT 1`,
				d.row.serial, string(fleet.Fresh), now))
			switch {
			case err == nil && r.slot != d.row.slot:
				return none, wire.Errorf(wire.Invalid, opImport, "boxes[%d]: %s has a fresh code for another terminal, %s: revoke that first", i, r.serial, r.id)
			case err == nil:
				c.EnrolmentID, c.ExpiresAt = r.id, stamp(r.expires)
			case errors.Is(err, sql.ErrNoRows):
				e, err := f.put(tx, ca, d, req.TTLSeconds, now)
				if err != nil {
					return none, err
				}
				c.EnrolmentID, c.ExpiresAt, c.Code = e.ID, e.ExpiresAt, "made" // what is stored is a mask
				if c.Unused, err = unused(tx, &d.row, now); err != nil {
					return none, err
				}
			default:
				return none, err
			}
			out.Codes = append(out.Codes, c)
		}
		return none, nil
	})
	if err != nil {
		return fleet.ImportReply{}, err
	}
	for i, c := range out.Codes {
		if c.Code != "" {
			out.Codes[i].Code = code(c.SerialNumber)
		}
	}
	return out, nil
}

// List implements fleet.Desk.
func (f *Fleet) List(ctx context.Context, req fleet.ListRequest) (out fleet.ListReply, err error) {
	if err := check.Request(opList, req); err != nil {
		return out, err
	}
	err = f.DB.Read(ctx, func(rd store.Reader) error {
		out.Enrolments, err = Read(rd, req, f.Now())
		return err
	})
	if err != nil {
		return fleet.ListReply{}, wire.AsError(opList, err)
	}
	return out, nil
}

// Configure implements fleet.Desk.
func (f *Fleet) Configure(ctx context.Context, key wire.Key, req fleet.ConfigureRequest) (out fleet.Enrolment, err error) {
	ca, body, err := f.ready(ctx, opConfigure, req)
	if err != nil {
		return out, err
	}
	return f.change(ctx, room.Keyed{Op: opConfigure, About: req.ID, Key: key, Body: body}, func(tx store.Tx, r *row, now int64) error {
		if state := r.at(now); state == fleet.Revoked || state == fleet.Expired {
			return fleet.Refused(opConfigure, fleet.Ended, "the enrolment has ended: "+string(state))
		}
		r.revision++
		return f.keep(tx, r.id, fleet.SignRevision(ca.key, r.id, r.revision, req.Configuration), now)
	})
}

// change performs a keyed write on one enrolment in one commit, and returns it as it is then.
func (f *Fleet) change(ctx context.Context, k room.Keyed, act func(tx store.Tx, r *row, now int64) error) (out fleet.Enrolment, err error) {
	err = f.Once(ctx, k, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		var r row
		err = r.load(tx, "id", k.About)
		if errors.Is(err, sql.ErrNoRows) {
			return none, wire.Errorf(wire.NotFound, k.Op, "no such enrolment")
		}
		if err == nil {
			err = act(tx, &r, now)
		}
		if err == nil {
			err = r.save(tx)
		}
		if err == nil {
			out, err = r.show(now)
		}
		return none, err
	})
	if err != nil {
		return fleet.Enrolment{}, err
	}
	return out, nil
}

// Revoke implements fleet.Desk.
func (f *Fleet) Revoke(ctx context.Context, key wire.Key, req fleet.RevokeRequest) (out fleet.Enrolment, err error) {
	if err := check.Request(opRevoke, req); err != nil {
		return out, err
	}
	k := room.Keyed{Op: opRevoke, About: req.ID, Key: key, Body: []byte(strconv.Quote(req.Reason))}
	return f.change(ctx, k, func(_ store.Tx, r *row, now int64) error {
		to, ok := fleet.Next(r.at(now), fleet.Revoke)
		switch {
		case !ok:
			return fleet.Refused(opRevoke, fleet.Ended, "the code has expired, and no device has it")
		case r.state != fleet.Revoked:
			r.state, r.reason, r.revoked = to, req.Reason, now
		}
		return nil
	})
}
