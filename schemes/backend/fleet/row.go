package fleet

import (
	"crypto"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store"
)

// row is an enrolment as stored.
type row struct {
	seq                                            int64
	id, reason                                     string
	digest                                         []byte
	state                                          fleet.State
	slot                                           fleet.Slot
	serial                                         string
	bound                                          bool // serial is the one box that may redeem the code
	created, expires, redeemed, confirmed, revoked int64
	device                                         string
	certificate                                    []byte // DER, nil = none
	version                                        string
	revision, confirmedRevision                    int64
	superseded                                     int32
	bundle                                         bool // a bundle was made with the code
	refused                                        int64
	refusal                                        string // why the terminal does not work with the revision refused
}

const columns = `seq, id, digest, state, reason, merchant, terminal, bax, serial, bound, created_ms, expires_ms, redeemed_ms, confirmed_ms, revoked_ms,
	device, certificate, version, revision, confirmed_revision, superseded, bundle, refused, refusal`

func (r *row) scan(from store.Row) error {
	return from.Scan(&r.seq, &r.id, &r.digest, &r.state, &r.reason, &r.slot.MerchantID, &r.slot.TerminalID, &r.slot.BaxID, &r.serial, &r.bound,
		&r.created, &r.expires, &r.redeemed, &r.confirmed, &r.revoked, &r.device, &r.certificate, &r.version, &r.revision, &r.confirmedRevision, &r.superseded, &r.bundle, &r.refused, &r.refusal)
}

// load reads the enrolment whose column has the value. sql.ErrNoRows where there is none.
func (r *row) load(rd store.Reader, column string, value any) error {
	err := r.scan(rd.QueryRow(`SELECT `+columns+` FROM fleet_enrolment WHERE `+column+` = ?`, value))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read enrolment: %w", err)
	}
	return err
}

// shown reads the enrolment of a code by its digest. A code that was never made is a revoked enrolment without an id, so that
// the refusal of an unknown code takes the same way, and the same time, as every other.
func (r *row) shown(rd store.Reader, digest []byte) error {
	err := r.scan(rd.QueryRow(`SELECT `+columns+` FROM fleet_enrolment WHERE digest = ?
		UNION ALL SELECT 0, '', ?, 'REVOKED', 'never made', 'none', 'none', 'none', 'none', 1, ?, ?, 0, 0, 0, '', NULL, '', 1, 0, 0, 0, 0, '' LIMIT 1`,
		digest, digest, int64(math.MaxInt64), int64(math.MaxInt64)))
	if err != nil {
		return fmt.Errorf("read enrolment: %w", err)
	}
	return nil
}

func (r *row) insert(tx store.Tx) error {
	_, err := tx.Exec(`INSERT INTO fleet_enrolment (id, digest, state, reason, merchant, terminal, bax, serial, bound, created_ms, expires_ms, redeemed_ms,
		confirmed_ms, revoked_ms, device, certificate, version, revision, confirmed_revision, superseded, bundle)
		VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '', NULL, '', ?, 0, 0, ?)`,
		r.id, r.digest, string(r.state), r.slot.MerchantID, r.slot.TerminalID, r.slot.BaxID, r.serial, r.bound, r.created, r.expires, r.revision, r.bundle)
	if err != nil {
		return fmt.Errorf("store enrolment: %w", err)
	}
	return nil
}

func (r *row) save(tx store.Tx) error {
	_, err := tx.Exec(`UPDATE fleet_enrolment SET state = ?, reason = ?, serial = ?, redeemed_ms = ?, confirmed_ms = ?, revoked_ms = ?, device = ?,
		certificate = ?, version = ?, revision = ?, confirmed_revision = ?, superseded = ? WHERE id = ?`,
		string(r.state), r.reason, r.serial, r.redeemed, r.confirmed, r.revoked, r.device, r.certificate, r.version, r.revision, r.confirmedRevision, r.superseded, r.id)
	if err != nil {
		return fmt.Errorf("store enrolment: %w", err)
	}
	return nil
}

// at returns the state at a moment: time moves what nothing has moved since.
func (r *row) at(now int64) fleet.State {
	if now < r.expires {
		return r.state
	}
	to, _ := fleet.Next(r.state, fleet.Expire)
	return to
}

// open reports whether a code can be redeemed at a moment.
func (r *row) open(now int64) bool {
	_, ok := fleet.Next(r.at(now), fleet.Redeem)
	return ok && now < r.expires
}

// key is the public key of the device that has redeemed the code; nil where none has.
func (r *row) key() (crypto.PublicKey, error) {
	if len(r.certificate) == 0 {
		return nil, nil
	}
	cert, err := x509.ParseCertificate(r.certificate)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return cert.PublicKey, nil
}

// show is the enrolment for the operator.
func (r *row) show(now int64) (fleet.Enrolment, error) {
	e := fleet.Enrolment{
		ID: r.id, State: r.at(now), Reason: r.reason, Slot: r.slot, SerialNumber: r.serial, CreatedAt: stamp(r.created), ExpiresAt: stamp(r.expires),
		RedeemedAt: stamp(r.redeemed), ConfirmedAt: stamp(r.confirmed), RevokedAt: stamp(r.revoked), Device: r.device, Version: r.version,
		Revision: r.revision, ConfirmedRevision: r.confirmedRevision, Bundle: r.bundle, RefusedRevision: r.refused, Refusal: r.refusal,
	}
	if len(r.certificate) > 0 {
		cert, err := x509.ParseCertificate(r.certificate)
		if err != nil {
			return fleet.Enrolment{}, fmt.Errorf("read certificate: %w", err)
		}
		e.Certificate, e.CertificateExpiresAt = fleet.CertificatePEM(r.certificate), stampTime(cert.NotAfter)
	}
	return e, nil
}

func stamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return stampTime(time.UnixMilli(ms))
}

func stampTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// most is how many enrolments a list has.
const most = 1000

// Read lists enrolments, the newest first. It needs no key of the store.
func Read(rd store.Reader, req fleet.ListRequest, now time.Time) ([]fleet.Enrolment, error) {
	list, ms := []fleet.Enrolment{}, now.UnixMilli()
	ended, err := outcomes(rd)
	if err != nil {
		return nil, err
	}
	err = store.Each(rd, func(from store.Row) error {
		var r row
		if err := r.scan(from); err != nil {
			return err
		}
		e, err := r.show(ms)
		e.Update = ended[r.id]
		list = append(list, e)
		return err
	}, `SELECT `+columns+` FROM fleet_enrolment WHERE (? = '' OR serial = ?)
		AND (? = '' OR ? = CASE WHEN state = 'FRESH' AND expires_ms <= ? THEN 'EXPIRED' ELSE state END) ORDER BY seq DESC LIMIT ?`,
		req.SerialNumber, req.SerialNumber, string(req.State), string(req.State), ms, most)
	if err != nil {
		return nil, fmt.Errorf("list enrolments: %w", err)
	}
	return list, nil
}

func revisionCell(id string, number int64) store.Cell {
	return store.Cell{Table: "fleet_revision", Key: id + "/" + strconv.FormatInt(number, 10), Column: "text"}
}

// keep stores a revision.
func (f *Fleet) keep(tx store.Tx, id string, rev fleet.Revision, now int64) error {
	sealed, err := f.DB.Seal(tx, revisionCell(id, rev.Number), []byte(rev.Text.Reveal()))
	if err == nil {
		_, err = tx.Exec(`INSERT INTO fleet_revision (enrolment, number, text, signature, at_ms) VALUES (?, ?, ?, ?, ?)`, id, rev.Number, sealed, rev.Signature, now)
	}
	if err != nil {
		return fmt.Errorf("store revision: %w", err)
	}
	return nil
}

// newest reads the newest revision of an enrolment.
func (f *Fleet) newest(rd store.Reader, r *row) (fleet.Revision, error) {
	return f.revision(rd, r.id, r.revision)
}

// revision reads one.
func (f *Fleet) revision(rd store.Reader, id string, number int64) (fleet.Revision, error) {
	rev := fleet.Revision{Number: number}
	var sealed []byte
	err := rd.QueryRow(`SELECT text, signature FROM fleet_revision WHERE enrolment = ? AND number = ?`, id, number).Scan(&sealed, &rev.Signature)
	if err != nil {
		return fleet.Revision{}, fmt.Errorf("read revision: %w", err)
	}
	text, err := f.DB.Unseal(rd, revisionCell(id, number), sealed)
	rev.Text = wire.Secret(text)
	return rev, err
}
