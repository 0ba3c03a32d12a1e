package fleettest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven.
type Fixture struct {
	Service fleet.Service
	Desk    fleet.Operator
	Now     func() time.Time    // the service's clock
	Pass    func(time.Duration) // lets time pass at the service
	// Advance lets the service do what time asks of a roll-out of settings.
	Advance func(context.Context) error
	// Wire is the same service over HTTP, and its Doer shows the operator's credentials; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.NotNil(t, f.Desk)
	wiretest.Groups{
		{"enrol", f.enrol}, {"lost replies", f.lost}, {"another device", f.another}, {"not good", f.notGood}, {"revoked", f.revoked}, {"configure", f.configure},
		{"swapped box", f.swapped}, {"proofs", f.proofs}, {"lists", f.lists}, {"idempotency", f.idempotency}, {"validation", f.validation},
		{"bundles", f.bundles}, {"unused", f.unused}, {"renewal", f.renewal}, {"rollouts", f.rollouts}, {"rolls", f.rolls}, {"paused rolls", f.paused},
		{"locked out", f.lockedOut},
	}.Run(t, f.Wire != nil, f.wire)
}

// Device is a terminal that enrols.
type Device struct {
	f      Fixture
	Key    crypto.Signer
	Serial string
	Got    fleet.Issued
}

// Device makes a terminal with a key of its own.
func (f Fixture) Device(t *testing.T, serial string) *Device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return &Device{f: f, Key: key, Serial: serial}
}

// Request is what the device sends to redeem a code.
func (d *Device) Request(t *testing.T, code wire.Secret) fleet.RedeemRequest {
	t.Helper()
	csr, err := fleet.NewRequest(d.Key, d.Serial)
	require.NoError(t, err)
	return fleet.RedeemRequest{Code: code, CSR: csr, SerialNumber: d.Serial, Version: "1.2"}
}

// Redeem redeems a code.
func (d *Device) Redeem(t *testing.T, code wire.Secret) error {
	t.Helper()
	got, err := d.f.Service.Redeem(t.Context(), "", d.Request(t, code))
	if err == nil {
		d.Got = got
	}
	return err
}

// Confirm confirms a revision.
func (d *Device) Confirm(t *testing.T, revision int64) (fleet.ConfirmReply, error) {
	t.Helper()
	req := fleet.ConfirmRequest{Revision: revision}
	by, err := fleet.ProveConfirmation(d.Key, d.Got.EnrolmentID, d.f.Now(), req)
	require.NoError(t, err)
	return d.f.Service.Confirm(t.Context(), "", by, req)
}

// Configuration reads the newest one.
func (d *Device) Configuration(t *testing.T) (fleet.Revision, error) {
	t.Helper()
	by, err := fleet.ProveConfiguration(d.Key, d.Got.EnrolmentID, d.f.Now())
	require.NoError(t, err)
	return d.f.Service.Configuration(t.Context(), by)
}

// serial is a serial number of its own.
func (f Fixture) serial() string { return "PA-" + string(wire.NewKey()) }

// slot is a terminal of its own.
func slot() fleet.Slot {
	return fleet.Slot{MerchantID: "M1", TerminalID: "T" + string(wire.NewKey()), BaxID: "B1"}
}

// Code makes a code.
func (f Fixture) Code(t *testing.T, req fleet.CodeRequest) fleet.CodeReply {
	t.Helper()
	if req.Slot == (fleet.Slot{}) {
		req.Slot = slot()
	}
	got, err := f.Desk.Create(t.Context(), "", req)
	require.NoError(t, err)
	return got
}

// at is an enrolment as the operator sees it.
func (f Fixture) at(t *testing.T, id string) fleet.Enrolment {
	t.Helper()
	got, err := f.Desk.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	for _, e := range got.Enrolments {
		if e.ID == id {
			return e
		}
	}
	require.Fail(t, "the enrolment is not in the list")
	panic("unreachable")
}

func refused(t *testing.T, err error, code wire.Code, reason string) {
	t.Helper()
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
}

// enrol is the whole way.
func (f Fixture) enrol(t *testing.T) {
	want := slot()
	made := f.Code(t, fleet.CodeRequest{Slot: want, TTLSeconds: 600})
	require.Equal(t, fleet.Fresh, made.Enrolment.State)
	require.Equal(t, want, made.Enrolment.Slot)
	_, err := fleet.ParseCode(made.Code.Reveal())
	require.NoError(t, err)
	require.Equal(t, f.at(t, made.Enrolment.ID), made.Enrolment)
	other := f.Code(t, fleet.CodeRequest{})
	require.NotEqual(t, made.Code, other.Code)
	require.Equal(t, made.Fingerprint, other.Fingerprint, "a fleet has one authority")

	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, wire.Secret(fleet.ShowCode(made.Code))), "as a person types it")
	require.Equal(t, made.Enrolment.ID, d.Got.EnrolmentID)
	require.NoError(t, fleet.Verify(d.Got, made.Fingerprint, d.Key.Public(), f.Now()))
	cert, err := fleet.ParseCertificate(d.Got.Certificate)
	require.NoError(t, err)
	require.Equal(t, "CN="+d.Serial, cert.Subject.String())
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, cert.ExtKeyUsage)
	require.Empty(t, cert.DNSNames)
	require.False(t, cert.IsCA)
	require.Equal(t, d.Got.ExpiresAt, cert.NotAfter.UTC().Format(time.RFC3339))
	require.EqualValues(t, 1, d.Got.Configuration.Number)
	require.Contains(t, d.Got.Configuration.Text.Reveal(), want.TerminalID)
	seen := f.at(t, made.Enrolment.ID)
	require.Equal(t, fleet.Redeemed, seen.State)
	require.Equal(t, fleet.Thumbprint(d.Key.Public()), seen.Device)
	require.Equal(t, []string{d.Serial, "1.2", d.Got.Certificate, d.Got.ExpiresAt}, []string{seen.SerialNumber, seen.Version, seen.Certificate, seen.CertificateExpiresAt})

	rev, err := d.Configuration(t)
	require.NoError(t, err)
	require.Equal(t, d.Got.Configuration, rev)
	done, err := d.Confirm(t, 1)
	require.NoError(t, err)
	require.Equal(t, fleet.ConfirmReply{EnrolmentID: made.Enrolment.ID, State: fleet.Confirmed, Revision: 1}, done)
	seen = f.at(t, made.Enrolment.ID)
	require.Equal(t, fleet.Confirmed, seen.State)
	require.EqualValues(t, 1, seen.ConfirmedRevision)
	refused(t, d.Redeem(t, made.Code), wire.NotFound, fleet.CodeNotGood) // it is burned now, for its own device too
	_, err = d.Configuration(t)
	require.NoError(t, err, "a confirmed device reads on")

	const own = "# the operator's own\n[terminal]\nbax_id = \"B9\"\n"
	e := f.Device(t, f.serial())
	require.NoError(t, e.Redeem(t, f.Code(t, fleet.CodeRequest{Configuration: own}).Code))
	require.Equal(t, wire.Secret(own), e.Got.Configuration.Text)
	ed := f.Device(t, f.serial())
	_, ed.Key, err = ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	require.NoError(t, ed.Redeem(t, other.Code), "an Ed25519 key")
	_, err = ed.Confirm(t, 1)
	require.NoError(t, err)
}

// lost: each reply may be lost, and is asked for again.
func (f Fixture) lost(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{TTLSeconds: 600})
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, made.Code))
	first := d.Got
	for range 3 {
		require.NoError(t, d.Redeem(t, made.Code), "the same key may redeem again")
		require.Equal(t, first, d.Got)
	}
	answers := wiretest.AtOnce(func(int) string {
		got, err := f.Service.Redeem(t.Context(), wire.NewKey(), d.Request(t, made.Code))
		if err != nil {
			return err.Error()
		}
		return got.Certificate
	})
	require.Equal(t, map[string]int{first.Certificate: wiretest.Callers}, answers)
	for range 3 {
		done, err := d.Confirm(t, 1)
		require.NoError(t, err)
		require.Equal(t, fleet.Confirmed, done.State)
	}
	late := f.Code(t, fleet.CodeRequest{TTLSeconds: 600})
	e := f.Device(t, f.serial())
	require.NoError(t, e.Redeem(t, late.Code))
	f.Pass(11 * time.Minute)
	require.Equal(t, fleet.Redeemed, f.at(t, late.Enrolment.ID).State)
	refused(t, e.Redeem(t, late.Code), wire.NotFound, fleet.CodeNotGood)
	_, err := e.Confirm(t, 1)
	require.NoError(t, err, "a device that has redeemed confirms when it can")
}

// another device gets nothing for a code that one has redeemed.
func (f Fixture) another(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{})
	d, e := f.Device(t, f.serial()), f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, made.Code))
	refused(t, e.Redeem(t, made.Code), wire.Conflict, fleet.CodeTaken)
	e.Serial = d.Serial
	refused(t, e.Redeem(t, made.Code), wire.Conflict, fleet.CodeTaken)
	d.Serial = f.serial()
	refused(t, d.Redeem(t, made.Code), wire.Conflict, fleet.CodeTaken) // its key, another box
	race := f.Code(t, fleet.CodeRequest{})
	devices := make([]*Device, wiretest.Callers)
	requests := make([]fleet.RedeemRequest, wiretest.Callers)
	for i := range devices {
		devices[i] = f.Device(t, f.serial())
		requests[i] = devices[i].Request(t, race.Code)
	}
	answers := wiretest.AtOnce(func(i int) string {
		_, err := f.Service.Redeem(fleet.From(t.Context(), "192.0.2."+strconv.Itoa(i)), "", requests[i])
		return string(wire.CodeOf(err)) + wire.ReasonOf(err)
	})
	require.Equal(t, 1, answers[""], "one of them has it: %v", answers)
	delete(answers, "")
	delete(answers, "conflictCodeTaken")
	require.Empty(t, answers)
}

// notGood: one answer, whatever is wrong with the code.
func (f Fixture) notGood(t *testing.T) {
	expired, revoked, burned := f.Code(t, fleet.CodeRequest{TTLSeconds: 60}), f.Code(t, fleet.CodeRequest{}), f.Code(t, fleet.CodeRequest{})
	bound := f.Code(t, fleet.CodeRequest{SerialNumber: f.serial()})
	_, err := f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: revoked.Enrolment.ID, Reason: "lost"})
	require.NoError(t, err)
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, burned.Code))
	_, err = d.Confirm(t, 1)
	require.NoError(t, err)
	f.Pass(16 * time.Minute) // for the limits, too
	said := map[string]bool{}
	for name, code := range map[string]wire.Secret{
		"unknown": Unknown(0), "expired": expired.Code, "revoked": revoked.Code, "burned": burned.Code, "another box's": bound.Code,
	} {
		e := f.Device(t, f.serial())
		err := e.Redeem(t, code)
		refused(t, err, wire.NotFound, fleet.CodeNotGood)
		require.NotContains(t, err.Error(), code.Reveal(), name)
		said[err.Error()] = true
	}
	require.Len(t, said, 1, "the refusals tell the causes apart: %v", said)
	require.Equal(t, fleet.Expired, f.at(t, expired.Enrolment.ID).State)
	box := f.Device(t, bound.Enrolment.SerialNumber)
	require.NoError(t, box.Redeem(t, bound.Code))
	f.Pass(16 * time.Minute)
}

// Unknown is a code that none is, with a good check digit; n makes more of them.
func Unknown(n int) wire.Secret {
	return fleet.MakeCode([]byte{0, 0, 0xde, 0xad, 0, 0, byte(n >> 8), byte(n)})
}

// revoked: an operator takes a code and its certificate back.
func (f Fixture) revoked(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{})
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, made.Code))
	_, err := d.Confirm(t, 1)
	require.NoError(t, err)
	req := fleet.RevokeRequest{ID: made.Enrolment.ID, Reason: "stolen"}
	got, err := f.Desk.Revoke(t.Context(), "", req)
	require.NoError(t, err)
	require.Equal(t, fleet.Revoked, got.State)
	require.Equal(t, "stolen", got.Reason)
	require.NotEmpty(t, got.RevokedAt)
	again, err := f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: made.Enrolment.ID, Reason: "another"})
	require.NoError(t, err)
	require.Equal(t, got, again, "revoked once")
	_, err = d.Configuration(t)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
	_, err = d.Confirm(t, 1)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: "none"})
	refused(t, err, wire.NotFound, "")
	over := f.Code(t, fleet.CodeRequest{TTLSeconds: 60})
	f.Pass(time.Minute)
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: over.Enrolment.ID})
	refused(t, err, wire.Conflict, fleet.Ended)
}

// swapped: a new box in an old one's place ends the old one's certificate, and not before it works.
func (f Fixture) swapped(t *testing.T) {
	place := slot()
	enrolled := func(serial string, s fleet.Slot, bound bool) *Device {
		d, req := f.Device(t, serial), fleet.CodeRequest{Slot: s}
		if bound {
			req.SerialNumber = serial
		}
		require.NoError(t, d.Redeem(t, f.Code(t, req).Code))
		_, err := d.Confirm(t, 1)
		require.NoError(t, err)
		return d
	}
	old, neighbour := enrolled(f.serial(), place, false), enrolled(f.serial(), slot(), false)
	next := f.Device(t, f.serial())
	require.NoError(t, next.Redeem(t, f.Code(t, fleet.CodeRequest{Slot: place}).Code))
	_, err := old.Configuration(t)
	require.NoError(t, err, "the old box works until the new one does")
	done, err := next.Confirm(t, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Superseded)
	again, err := next.Confirm(t, 1)
	require.NoError(t, err)
	require.Equal(t, done, again)
	_, err = old.Configuration(t)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
	require.Equal(t, "superseded by "+next.Got.EnrolmentID, f.at(t, old.Got.EnrolmentID).Reason)
	_, err = neighbour.Configuration(t)
	require.NoError(t, err)

	moved := enrolled(next.Serial, slot(), false) // the same box, another terminal of the merchant
	_, err = next.Configuration(t)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
	stranger := slot()
	stranger.MerchantID = "M2"
	enrolled(moved.Serial, stranger, false) // another merchant's box only says this serial number
	_, err = moved.Configuration(t)
	require.NoError(t, err)
	enrolled(moved.Serial, stranger, true) // its code was made for this serial number
	_, err = moved.Configuration(t)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)

	apart := f.Device(t, f.serial()) // codes without a merchant have none in common
	for _, d := range []*Device{apart, f.Device(t, apart.Serial)} {
		made, err := f.Desk.Create(t.Context(), "", fleet.CodeRequest{Configuration: "a = 1\n"})
		require.NoError(t, err)
		require.NoError(t, d.Redeem(t, made.Code))
		done, err := d.Confirm(t, 1)
		require.NoError(t, err)
		require.Zero(t, done.Superseded)
	}
	_, err = apart.Configuration(t)
	require.NoError(t, err, "whoever says its serial number ends nothing")
}

// proofs: what is not the device's own call is refused.
func (f Fixture) proofs(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{})
	d, e := f.Device(t, f.serial()), f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, made.Code))
	require.NoError(t, e.Redeem(t, f.Code(t, fleet.CodeRequest{}).Code))
	fresh := f.Code(t, fleet.CodeRequest{}).Enrolment.ID
	by := func(key crypto.Signer, id string, at time.Time) fleet.Proof {
		p, err := fleet.ProveConfiguration(key, id, at)
		require.NoError(t, err)
		return p
	}
	id, now := d.Got.EnrolmentID, f.Now()
	for name, p := range map[string]fleet.Proof{
		"none": {}, "no enrolment": by(d.Key, "none", now), "fresh": by(d.Key, fresh, now), "another key": by(e.Key, id, now),
		"early": by(d.Key, id, now.Add(6*time.Minute)), "late": by(d.Key, id, now.Add(-6*time.Minute)),
	} {
		_, err := f.Service.Configuration(t.Context(), p)
		require.Equal(t, fleet.NotProven, wire.ReasonOf(err), "%s: %v", name, err)
		_, err = f.Service.Confirm(t.Context(), "", p, fleet.ConfirmRequest{Revision: 1})
		require.Equal(t, fleet.NotProven, wire.ReasonOf(err), "%s: %v", name, err)
	}
	_, err := f.Service.Confirm(t.Context(), "", by(d.Key, id, now), fleet.ConfirmRequest{Revision: 1})
	refused(t, err, wire.Unauthorized, fleet.NotProven) // a proof of another call
	_, err = d.Confirm(t, 2)
	refused(t, err, wire.Invalid, "") // a revision that was never given
	require.Equal(t, fleet.Redeemed, f.at(t, id).State)
}

// wire is what only HTTP has.
func (f Fixture) wire(t *testing.T) {
	for _, c := range []struct {
		method, path, allow string
		status              int
	}{
		{http.MethodGet, "/fleet/v1/enrolments", "POST", 405}, {http.MethodGet, "/fleet/v1/confirmations", "POST", 405}, {http.MethodGet, "/fleet/v1/renewals", "POST", 405},
		{http.MethodGet, "/fleet/v1/reports", "POST", 405},
		{http.MethodPost, "/fleet/v1/configuration", "GET", 405}, {http.MethodDelete, "/fleet/v1/codes", "POST, GET", 405},
		{http.MethodGet, "/fleet/v1/codes/x/revocations", "POST", 405}, {http.MethodGet, "/fleet/v1/none", "", 404}, {http.MethodPut, "/fleet/v1/codes/x/configurations", "POST", 405},
		{http.MethodPut, "/fleet/v1/rollouts", "GET", 405}, {http.MethodGet, "/fleet/v1/rollouts/lifts", "POST", 405},
		{http.MethodPut, "/fleet/v1/rolls", "POST, GET", 405}, {http.MethodGet, "/fleet/v1/rolls/x/moves", "POST", 405},
		{http.MethodGet, "/fleet/v1/configuration", "", 401}, {http.MethodPost, "/fleet/v1/enrolments", "", 400},
	} {
		resp, body := f.Wire.Raw(t, c.method, c.path, wire.JSONType, "{}", "Authorization", "Device e1.1.c2ln")
		if c.path == "/fleet/v1/codes" || strings.HasPrefix(c.path, "/fleet/v1/roll") || strings.HasPrefix(c.path, "/fleet/v1/codes/x/") || c.path == "/fleet/v1/none" {
			resp, body = f.Wire.Raw(t, c.method, c.path, wire.JSONType, "{}")
		}
		require.Equal(t, c.status, resp.StatusCode, "%s %s: %s", c.method, c.path, body)
		require.Equal(t, c.allow, resp.Header.Get("Allow"), c.path)
	}
	for _, c := range wiretest.WrongBodies(`{"ttlSeconds":60}`, "ttlSeconds", "61") {
		resp, body := f.Wire.Raw(t, http.MethodPost, "/fleet/v1/codes", wire.JSONType, c.Body)
		require.Equal(t, 400, resp.StatusCode, "%s: %s", c.Name, body)
		require.Contains(t, body, c.Names)
	}
	for _, c := range wiretest.WrongHeaders() {
		resp, body := f.Wire.Raw(t, http.MethodPost, "/fleet/v1/codes", wire.JSONType, "{}", c.Header, c.Value)
		require.Equal(t, 400, resp.StatusCode, "%s: %s", c.Name, body)
	}
	d := f.Device(t, f.serial())
	data, err := wire.Encode(d.Request(t, f.Code(t, fleet.CodeRequest{}).Code))
	require.NoError(t, err)
	resp, body := f.Wire.Raw(t, http.MethodPost, "/fleet/v1/enrolments", wire.JSONType, string(data), "Authorization", "")
	require.Equal(t, 200, resp.StatusCode, body)
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
}
