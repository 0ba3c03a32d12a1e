package fleettest

import (
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// lists: boxes come in, and what became of them goes out.
func (f Fixture) lists(t *testing.T) {
	a, b := f.serial(), f.serial()
	req := fleet.ImportRequest{TTLSeconds: 3600, Boxes: []fleet.ImportBox{{SerialNumber: a, Slot: slot()}, {SerialNumber: b, Slot: slot()}}}
	key := wire.NewKey()
	first, err := f.Desk.Import(t.Context(), key, req)
	require.NoError(t, err)
	require.Len(t, first.Codes, 2)
	again, err := f.Desk.Import(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, first, again, "the same key, the same codes")
	other, err := f.Desk.Import(t.Context(), "", req)
	require.NoError(t, err)
	for i, c := range other.Codes {
		require.Empty(t, c.Code, "the box has a fresh code")
		require.Equal(t, first.Codes[i].EnrolmentID, c.EnrolmentID)
		require.Equal(t, req.Boxes[i].SerialNumber, c.SerialNumber)
	}
	require.NotEqual(t, first.Codes[0].Code, first.Codes[1].Code)
	elsewhere := slot()
	elsewhere.MerchantID = "M2"
	_, err = f.Desk.Import(t.Context(), "", fleet.ImportRequest{Boxes: []fleet.ImportBox{{SerialNumber: a, Slot: elsewhere}}})
	refused(t, err, wire.Invalid, "") // its fresh code makes it a terminal of another merchant
	require.ErrorContains(t, err, "boxes[0]: "+a+" has a fresh code for another terminal, "+first.Codes[0].EnrolmentID)
	box := f.Device(t, a)
	require.NoError(t, box.Redeem(t, first.Codes[0].Code))
	require.NoError(t, fleet.Verify(box.Got, first.Fingerprint, box.Key.Public(), f.Now()))
	more, err := f.Desk.Import(t.Context(), "", req)
	require.NoError(t, err)
	require.NotEmpty(t, more.Codes[0].Code, "the box's code is not fresh any more")
	require.Empty(t, more.Codes[1].Code)

	of := func(state fleet.State, serial string) (ids []string) {
		got, err := f.Desk.List(t.Context(), fleet.ListRequest{State: state, SerialNumber: serial})
		require.NoError(t, err)
		for _, e := range got.Enrolments {
			ids = append(ids, e.ID)
		}
		return ids
	}
	require.Equal(t, []string{more.Codes[0].EnrolmentID, box.Got.EnrolmentID}, of("", a), "the newest first")
	require.Equal(t, []string{box.Got.EnrolmentID}, of(fleet.Redeemed, a))
	require.Equal(t, []string{first.Codes[1].EnrolmentID}, of(fleet.Fresh, b))
	f.Pass(time.Hour)
	require.Empty(t, of(fleet.Fresh, b))
	require.Equal(t, []string{first.Codes[1].EnrolmentID}, of(fleet.Expired, b))
	none, err := f.Desk.List(t.Context(), fleet.ListRequest{SerialNumber: "none"})
	require.NoError(t, err)
	require.NotNil(t, none.Enrolments)
	require.Empty(t, none.Enrolments)
}

// configure: a terminal is given a newer configuration, whose number it confirms.
func (f Fixture) configure(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{TTLSeconds: 600})
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, made.Code))
	_, err := d.Confirm(t, 2)
	refused(t, err, wire.Invalid, "") // it was not given yet
	key, req := wire.NewKey(), fleet.ConfigureRequest{ID: made.Enrolment.ID, Configuration: "a = 2\n"}
	got, err := f.Desk.Configure(t.Context(), key, req)
	require.NoError(t, err)
	require.EqualValues(t, 2, got.Revision)
	again, err := f.Desk.Configure(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, got, again)
	other := req
	other.Configuration = "a = 3\n"
	_, err = f.Desk.Configure(t.Context(), key, other)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	rev, err := d.Configuration(t)
	require.NoError(t, err)
	require.EqualValues(t, 2, rev.Number)
	require.Equal(t, req.Configuration, rev.Text)
	ca, err := fleet.ParseCertificate(d.Got.Authority)
	require.NoError(t, err)
	require.NoError(t, fleet.VerifyRevision(ca, d.Got.EnrolmentID, rev))
	require.NoError(t, d.Redeem(t, made.Code), "a lost answer has the newest configuration")
	require.Equal(t, rev, d.Got.Configuration)
	_, err = d.Confirm(t, 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, f.at(t, made.Enrolment.ID).ConfirmedRevision)
	_, err = f.Desk.Configure(t.Context(), "", fleet.ConfigureRequest{ID: "none", Configuration: "a = 1\n"})
	refused(t, err, wire.NotFound, "")
	_, err = f.Desk.Configure(t.Context(), "", fleet.ConfigureRequest{ID: made.Enrolment.ID})
	refused(t, err, wire.Invalid, "")
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: made.Enrolment.ID})
	require.NoError(t, err)
	_, err = f.Desk.Configure(t.Context(), "", req)
	refused(t, err, wire.Conflict, fleet.Ended)
	over := f.Code(t, fleet.CodeRequest{TTLSeconds: 60})
	f.Pass(time.Minute)
	_, err = f.Desk.Configure(t.Context(), "", fleet.ConfigureRequest{ID: over.Enrolment.ID, Configuration: "a = 1\n"})
	refused(t, err, wire.Conflict, fleet.Ended)
}

func (f Fixture) idempotency(t *testing.T) {
	key, req := wire.NewKey(), fleet.CodeRequest{Slot: slot(), TTLSeconds: 600}
	first, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	again, err := f.Desk.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, first, again, "a lost code is said again")
	req.TTLSeconds++
	_, err = f.Desk.Create(t.Context(), key, req)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, again.Code))
	revoke := fleet.RevokeRequest{ID: first.Enrolment.ID, Reason: "a"}
	one, err := f.Desk.Revoke(t.Context(), key, revoke)
	require.NoError(t, err)
	two, err := f.Desk.Revoke(t.Context(), key, revoke)
	require.NoError(t, err)
	require.Equal(t, one, two)
	revoke.Reason = "b"
	_, err = f.Desk.Revoke(t.Context(), key, revoke)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	for _, bad := range []wire.Key{"a b", "ü", wire.Key(strings.Repeat("k", 65))} {
		_, err := f.Desk.Create(t.Context(), bad, req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		_, err = f.Service.Redeem(t.Context(), bad, d.Request(t, again.Code))
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	}
}

func (f Fixture) validation(t *testing.T) {
	made := f.Code(t, fleet.CodeRequest{})
	for name, change := range map[string]func(*fleet.RedeemRequest){
		"code": func(r *fleet.RedeemRequest) { r.Code = r.Code[:10] + "~" },
		"csr":  func(r *fleet.RedeemRequest) { r.CSR += strings.Repeat("\n", 5000) },
		"signed": func(r *fleet.RedeemRequest) { // with a key that is not the one it names
			block, _ := pem.Decode([]byte(r.CSR))
			block.Bytes[len(block.Bytes)-1] ^= 1
			r.CSR = string(pem.EncodeToMemory(block))
		},
		"serialNumber": func(r *fleet.RedeemRequest) { r.SerialNumber = "a/b" },
		"version":      func(r *fleet.RedeemRequest) { r.Version = strings.Repeat("1", 65) },
	} {
		d := f.Device(t, f.serial())
		req := d.Request(t, made.Code)
		change(&req)
		_, err := f.Service.Redeem(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), made.Code.Reveal())
	}
	require.Equal(t, fleet.Fresh, f.at(t, made.Enrolment.ID).State, "what breaks a rule uses no code up")
	for _, req := range []fleet.CodeRequest{{TTLSeconds: 1}, {SerialNumber: "a b"}, {Configuration: "\x00"}, {Slot: fleet.Slot{BaxID: "\n"}}} {
		_, err := f.Desk.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	}
	_, err := f.Desk.Import(t.Context(), "", fleet.ImportRequest{})
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	_, err = f.Desk.List(t.Context(), fleet.ListRequest{State: "fresh"})
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
}

// lockedOut: of a thousand wrong codes ten are told from a good one with no more words, and a good one is taken all the same.
func (f Fixture) lockedOut(t *testing.T) {
	f.Pass(16 * time.Minute)
	made := f.Code(t, fleet.CodeRequest{TTLSeconds: 7200})
	d := f.Device(t, f.serial())
	answers := map[string]int{}
	req := d.Request(t, made.Code)
	for n := range 1000 {
		req.Code = Unknown(n)
		_, err := f.Service.Redeem(t.Context(), "", req)
		answers[wire.ReasonOf(err)]++
	}
	require.Equal(t, map[string]int{fleet.CodeNotGood: 10, fleet.LockedOut: 990}, answers)
	require.Equal(t, fleet.Fresh, f.at(t, made.Enrolment.ID).State)
	require.NoError(t, d.Redeem(t, made.Code))
	f.Pass(16 * time.Minute)
}
