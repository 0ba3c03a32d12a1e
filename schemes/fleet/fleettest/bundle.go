package fleettest

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// bundles: a code comes with a file for a box without a network, and never while another box may be the terminal.
func (f Fixture) bundles(t *testing.T) {
	place, serial := slot(), f.serial()
	key, req := wire.NewKey(), fleet.CodeRequest{Slot: place, SerialNumber: serial, TTLSeconds: 7 * 24 * 3600, Bundle: true}
	began := f.Now()
	made, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.True(t, made.Enrolment.Bundle)
	require.Equal(t, made.Enrolment, f.at(t, made.Enrolment.ID))
	again, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, made, again, "a lost bundle is given again")
	got := f.open(t, made)
	require.NoError(t, got.Verify(made.Fingerprint))
	require.Equal(t, []string{made.Enrolment.ID, serial, made.URL, made.Enrolment.ExpiresAt}, []string{got.EnrolmentID, got.SerialNumber, got.URL, got.ExpiresAt})
	require.EqualValues(t, 1, got.Configuration.Number)
	require.Contains(t, got.Configuration.Text.Reveal(), place.TerminalID)
	require.WithinRange(t, got.Made(), began.Truncate(time.Second), f.Now())
	_, err = f.Desk.Create(t.Context(), "", fleet.CodeRequest{Slot: slot(), Bundle: true})
	refused(t, err, wire.Invalid, "") // for no box
	alone, err := f.Desk.Create(t.Context(), "", fleet.CodeRequest{Slot: slot(), SerialNumber: f.serial()})
	require.NoError(t, err)
	require.Empty(t, alone.Bundle)
	require.False(t, alone.Enrolment.Bundle)

	// A box may run on it already: there is no second one for its terminal, or for itself.
	wants := func(s fleet.Slot, serial string) error {
		_, err := f.Desk.Create(t.Context(), "", fleet.CodeRequest{Slot: s, SerialNumber: serial, Bundle: true})
		return err
	}
	refused(t, wants(place, f.serial()), wire.Conflict, fleet.StillLive)
	refused(t, wants(slot(), serial), wire.Conflict, fleet.StillLive)
	require.ErrorContains(t, wants(place, serial), "enrolment "+made.Enrolment.ID)
	require.NoError(t, wants(slot(), f.serial()), "another terminal on another box")

	// It is redeemed as any code, with what it was made with or what is newer, and the terminal is that box then.
	d := f.Device(t, serial)
	stranger := f.Device(t, f.serial())
	refused(t, stranger.Redeem(t, made.Code), wire.NotFound, fleet.CodeNotGood)
	require.NoError(t, d.Redeem(t, made.Code))
	require.Equal(t, got.Configuration, d.Got.Configuration)
	require.Equal(t, got.Authority, d.Got.Authority)
	refused(t, wants(place, f.serial()), wire.Conflict, fleet.StillLive)
	_, err = d.Confirm(t, 1)
	require.NoError(t, err)
	refused(t, wants(place, f.serial()), wire.Conflict, fleet.StillLive)
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: made.Enrolment.ID})
	require.NoError(t, err)
	require.NoError(t, wants(place, f.serial()), "once the box was revoked, another has its place")

	// A terminal that is confirmed in the meantime ends the bundle, which some box may run on; a code alone it leaves.
	place = slot()
	lost, err := f.Desk.Create(t.Context(), "", fleet.CodeRequest{Slot: place, SerialNumber: f.serial(), Bundle: true})
	require.NoError(t, err)
	spare := f.Code(t, fleet.CodeRequest{Slot: place})
	e := f.Device(t, f.serial())
	require.NoError(t, e.Redeem(t, f.Code(t, fleet.CodeRequest{Slot: place}).Code))
	done, err := e.Confirm(t, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Superseded)
	require.Equal(t, fleet.Revoked, f.at(t, lost.Enrolment.ID).State)
	require.Equal(t, fleet.Fresh, f.at(t, spare.Enrolment.ID).State)
	refused(t, f.Device(t, lost.Enrolment.SerialNumber).Redeem(t, lost.Code), wire.NotFound, fleet.CodeNotGood)
	_, err = e.Configuration(t)
	require.NoError(t, err)

	place = slot() // one that has expired is in nobody's way
	_, err = f.Desk.Create(t.Context(), "", fleet.CodeRequest{Slot: place, SerialNumber: f.serial(), TTLSeconds: 60, Bundle: true})
	require.NoError(t, err)
	f.Pass(16 * time.Minute)
	require.NoError(t, wants(place, f.serial()))
}

// open reads the bundle of a reply.
func (f Fixture) open(t *testing.T, made fleet.CodeReply) fleet.Bundle {
	t.Helper()
	file, err := base64.StdEncoding.DecodeString(made.Bundle.Reveal())
	require.NoError(t, err)
	got, err := fleet.OpenBundle(file, made.Code)
	require.NoError(t, err)
	return got
}

// unused: an operator hears of the codes that a terminal has already.
func (f Fixture) unused(t *testing.T) {
	place := slot()
	first := f.Code(t, fleet.CodeRequest{Slot: place, TTLSeconds: 60})
	require.Empty(t, first.Unused)
	key, req := wire.NewKey(), fleet.CodeRequest{Slot: place, SerialNumber: f.serial(), TTLSeconds: 3600}
	second, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	one := fleet.Unused{EnrolmentID: first.Enrolment.ID, ExpiresAt: first.Enrolment.ExpiresAt}
	two := fleet.Unused{EnrolmentID: second.Enrolment.ID, SerialNumber: req.SerialNumber, ExpiresAt: second.Enrolment.ExpiresAt}
	require.Equal(t, []fleet.Unused{one}, second.Unused)
	again, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, second, again)
	require.Empty(t, f.Code(t, fleet.CodeRequest{}).Unused, "another terminal's are not told")
	list, err := f.Desk.Import(t.Context(), "", fleet.ImportRequest{Boxes: []fleet.ImportBox{{SerialNumber: f.serial(), Slot: place}, {SerialNumber: f.serial(), Slot: slot()}}})
	require.NoError(t, err)
	require.Equal(t, []fleet.Unused{two, one}, list.Codes[0].Unused, "the newest first")
	require.Empty(t, list.Codes[1].Unused)
	require.NoError(t, f.Device(t, req.SerialNumber).Redeem(t, second.Code))
	f.Pass(time.Minute)
	third := f.Code(t, fleet.CodeRequest{Slot: place})
	require.Len(t, third.Unused, 1, "neither what was redeemed nor what has expired")
	require.Equal(t, list.Codes[0].EnrolmentID, third.Unused[0].EnrolmentID)
	for range 2 { // codes without a terminal have none in common
		got, err := f.Desk.Create(t.Context(), "", fleet.CodeRequest{Configuration: "a = 1\n"})
		require.NoError(t, err)
		require.Empty(t, got.Unused)
	}
}

// renewal: the certificate that follows comes in time, for the same key, once; and for nobody else.
func (f Fixture) renewal(t *testing.T) {
	d, e := f.Device(t, f.serial()), f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, f.Code(t, fleet.CodeRequest{}).Code))
	require.NoError(t, e.Redeem(t, f.Code(t, fleet.CodeRequest{}).Code))
	_, err := d.Confirm(t, 1)
	require.NoError(t, err)
	first := d.Got.ExpiresAt
	renew := func(d *Device, id, expires string) (fleet.Renewed, error) {
		req := fleet.RenewRequest{ExpiresAt: expires}
		by, err := fleet.ProveRenewal(d.Key, id, f.Now(), req)
		require.NoError(t, err)
		return f.Service.Renew(t.Context(), "", by, req)
	}
	early, err := renew(d, d.Got.EnrolmentID, first)
	require.NoError(t, err)
	require.Equal(t, fleet.Renewed{Certificate: d.Got.Certificate, ExpiresAt: first}, early, "nothing is due")
	f.Pass(366 * 24 * time.Hour)
	_, err = renew(e, d.Got.EnrolmentID, first)
	refused(t, err, wire.Unauthorized, fleet.NotProven)
	by, err := fleet.ProveConfiguration(d.Key, d.Got.EnrolmentID, f.Now())
	require.NoError(t, err)
	_, err = f.Service.Renew(t.Context(), "", by, fleet.RenewRequest{ExpiresAt: first})
	refused(t, err, wire.Unauthorized, fleet.NotProven) // a proof of another call
	_, err = renew(d, d.Got.EnrolmentID, "soon")
	refused(t, err, wire.Invalid, "")
	_, err = renew(d, "none", first)
	refused(t, err, wire.Unauthorized, fleet.NotProven)
	require.Equal(t, first, f.at(t, d.Got.EnrolmentID).CertificateExpiresAt, "whatever was refused has changed nothing")

	next, err := renew(d, d.Got.EnrolmentID, first)
	require.NoError(t, err)
	require.Greater(t, next.ExpiresAt, first)
	ca, err := fleet.ParseCertificate(d.Got.Authority)
	require.NoError(t, err)
	require.NoError(t, fleet.VerifyCertificate(next.Certificate, ca, d.Key.Public(), f.Now()))
	was, err := fleet.ParseCertificate(d.Got.Certificate)
	require.NoError(t, err)
	is, err := fleet.ParseCertificate(next.Certificate)
	require.NoError(t, err)
	require.Equal(t, "CN="+d.Serial, is.Subject.String())
	require.Equal(t, was.ExtKeyUsage, is.ExtKeyUsage)
	require.False(t, is.IsCA)
	require.NotEqual(t, was.SerialNumber, is.SerialNumber)
	require.Equal(t, next.ExpiresAt, is.NotAfter.UTC().Format(time.RFC3339))
	for range 3 {
		again, err := renew(d, d.Got.EnrolmentID, first)
		require.NoError(t, err)
		require.Equal(t, next, again, "a lost answer is given again")
	}
	seen := f.at(t, d.Got.EnrolmentID)
	require.Equal(t, []string{next.Certificate, next.ExpiresAt}, []string{seen.Certificate, seen.CertificateExpiresAt})
	require.Equal(t, fleet.Confirmed, seen.State)
	_, err = d.Configuration(t)
	require.NoError(t, err)

	f.Pass(3 * 366 * 24 * time.Hour) // it was off, and its certificate has ended
	late, err := renew(d, d.Got.EnrolmentID, next.ExpiresAt)
	require.NoError(t, err)
	require.NoError(t, fleet.VerifyCertificate(late.Certificate, ca, d.Key.Public(), f.Now()))
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: d.Got.EnrolmentID})
	require.NoError(t, err)
	f.Pass(366 * 24 * time.Hour)
	_, err = renew(d, d.Got.EnrolmentID, late.ExpiresAt)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
}
