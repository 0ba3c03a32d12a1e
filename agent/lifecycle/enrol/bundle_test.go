package enrol_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// fresh is the journal of a box that has none.
var fresh = enrol.Journal{}

// bundle makes a bundle at the desk for the box PA-1 and its terminal T.
func (r *rig) bundle() (fleet.Bundle, wire.Secret) {
	got, err := r.desk.Create(r.t.Context(), wire.NewKey(), fleet.CodeRequest{
		Slot: fleet.Slot{MerchantID: "M", TerminalID: "T"}, SerialNumber: "PA-1", TTLSeconds: 7 * 24 * 3600, Bundle: true,
	})
	require.NoError(r.t, err)
	file, err := base64.StdEncoding.DecodeString(got.Bundle.Reveal())
	require.NoError(r.t, err)
	b, err := fleet.OpenBundle(file, got.Code)
	require.NoError(r.t, err)
	require.NoError(r.t, b.Verify(got.Fingerprint))
	return b, got.Code
}

func (r *rig) revoke(id string) {
	_, err := r.desk.Revoke(r.t.Context(), wire.NewKey(), fleet.RevokeRequest{ID: id})
	require.NoError(r.t, err)
}

func (r *rig) active() enrol.Active {
	r.t.Helper()
	a, err := r.box().Active()
	require.NoError(r.t, err)
	return a
}

// away is a desk that cannot be reached.
func away(fleet.Service) fleet.Service { return unreachable{} }

type unreachable struct{ fleet.Service }

func (unreachable) Redeem(context.Context, wire.Key, fleet.RedeemRequest) (fleet.Issued, error) {
	return fleet.Issued{}, &wire.Error{Code: wire.Unavailable, Op: "fleet.redeem", Msg: "no network"}
}

// A terminal works with a bundle at once, unconfirmed, and is the operator's once the network comes.
func TestABundleWorksBeforeTheNetworkComes(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	a := r.active()
	require.Equal(t, text, a.Text.Reveal())
	require.True(t, a.Unconfirmed)
	require.Nil(t, a.Certificate, "it has none yet")
	require.Empty(t, a.Revoked)
	require.Equal(t, []string{bundle.EnrolmentID, bundle.ExpiresAt, "https://fleet.example"}, []string{a.ID, a.Until, a.URL})
	s, err := r.box().Summary()
	require.NoError(t, err)
	require.Equal(t, enrol.Keyed, s.State)
	require.False(t, s.Enrolled, "the operator knows nothing of it yet")
	require.True(t, s.InUse)
	require.Equal(t, bundle.ExpiresAt, s.Bundle)
	r.spoil = away
	require.Error(t, r.box().Resume(t.Context(), r.driver()))
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh), "the same bundle again changes nothing")
	require.Equal(t, a, r.active())
	data, err := os.ReadFile(filepath.Join(r.dir, "record"))
	require.NoError(t, err)
	for _, secret := range []string{"cAnArY", code.Reveal()} {
		require.NotContains(t, string(data), secret)
	}

	r.spoil = nil
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	a = r.active()
	require.False(t, a.Unconfirmed)
	require.NotNil(t, a.Certificate)
	require.Equal(t, []fleet.State{fleet.Confirmed}, r.states())
	require.NoError(t, r.box().Take(bundle, code, "PA-1", enrol.Journal{Generation: 1}), "whoever has not heard of it asks again")
	require.Equal(t, a.ID, r.active().ID)
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrNone)
}

// Two boxes never live with one journal: a bundle is used on a journal alone that began with it.
func TestABundleIsUsedOnItsOwnJournal(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	old := enrol.Journal{Generation: 3}
	require.NoError(t, r.box().Take(bundle, code, "PA-1", old))
	_, err := r.box().Active()
	require.ErrorIs(t, err, enrol.ErrNone, "the journal was there before")
	s, err := r.box().Summary()
	require.NoError(t, err)
	require.Equal(t, enrol.Keyed, s.State, "it waits for the network")
	require.False(t, s.InUse)
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.False(t, r.active().Unconfirmed)

	r = newRig(t)
	bundle, code = r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", enrol.Journal{Generation: 3, Untouched: true}), "nothing was ever in it")
	owns := func(generation int64, untouched bool) bool {
		own, err := r.box().Owns(enrol.Journal{Generation: generation, Untouched: untouched})
		require.NoError(t, err)
		return own
	}
	require.True(t, owns(3, true), "noted")
	require.True(t, owns(3, false), "what is in it since is its own")
	require.False(t, owns(4, false), "it was put back from elsewhere")
	require.True(t, owns(5, true), "begun anew")
	require.False(t, owns(3, false))
	require.True(t, owns(5, false))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.True(t, owns(9, false), "once the service has confirmed, every other box is revoked")
}

// What was confirmed stays in use until the service has confirmed the bundle.
func TestABundleTakesNothingConfirmedAway(t *testing.T) {
	r := newRig(t)
	ticket, first := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	r.revoke(first) // the box has not heard of it
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	require.Equal(t, first, r.active().ID)
	require.False(t, r.active().Unconfirmed)
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.Equal(t, bundle.EnrolmentID, r.active().ID)

	r = newRig(t) // one that is known to be revoked does not
	ticket, first = r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	r.revoke(first)
	_, err := r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	bundle, code = r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", enrol.Journal{Generation: 1}))
	require.NotEmpty(t, r.active().Revoked, "its journal is an old one")
	require.Equal(t, first, r.active().ID)

	r = newRig(t)
	ticket, first = r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	r.revoke(first)
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	bundle, code = r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	require.Equal(t, bundle.EnrolmentID, r.active().ID)
	require.True(t, r.active().Unconfirmed)
}

// later is a box whose clock has gone on.
func (r *rig) later(d time.Duration) *enrol.Box {
	return enrol.At(r.dir, func() time.Time { return time.Now().Add(d) })
}

// What is refused changes nothing.
func TestBundlesThatAreRefused(t *testing.T) {
	r := newRig(t)
	old, oldCode := r.bundle()
	require.ErrorIs(t, r.box().Take(old, oldCode, "PA-2", fresh), enrol.ErrOtherBox)
	require.ErrorIs(t, r.later(7*24*time.Hour).Take(old, oldCode, "PA-1", fresh), enrol.ErrExpired)
	_, err := r.box().Active()
	require.ErrorIs(t, err, enrol.ErrNone)
	require.NoFileExists(t, filepath.Join(r.dir, "record"))

	r.revoke(old.EnrolmentID)
	newer, code := r.bundle()
	require.True(t, newer.Made().After(old.Made()))
	require.NoError(t, r.box().Take(newer, code, "PA-1", fresh))
	require.ErrorIs(t, r.box().Take(old, oldCode, "PA-1", fresh), enrol.ErrOlder, "replayed")
	require.Equal(t, newer.EnrolmentID, r.active().ID)
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	var used *enrol.RefusedError
	require.ErrorAs(t, r.box().Take(old, oldCode, "PA-1", fresh), &used, "replayed on a terminal that was confirmed since")
	r.revoke(newer.EnrolmentID)
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	require.ErrorAs(t, r.box().Take(newer, code, "PA-1", fresh), &used, "the terminal was revoked, and nobody is to bring it back by the same stick")
	require.ErrorAs(t, r.box().Take(old, oldCode, "PA-1", fresh), &used)
	require.NotEmpty(t, r.active().Revoked)

	r = newRig(t) // a bundle that was made before the certificate in use
	old, oldCode = r.bundle()
	r.revoke(old.EnrolmentID)
	ticket, id := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	r.revoke(id)
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	old.MadeAt = fleet.BundleMoment(time.Now().Add(-2 * time.Hour))
	require.ErrorIs(t, r.box().Take(old, oldCode, "PA-1", fresh), enrol.ErrOlder)
}

// A bundle that the service refuses, and one whose time ends, ends the terminal and leaves its configuration: what is open is ended with it.
func TestABundleThatComesToNothing(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	r.revoke(bundle.EnrolmentID)
	var refused *enrol.RefusedError
	require.ErrorAs(t, r.box().Resume(t.Context(), r.driver()), &refused)
	a := r.active()
	require.Contains(t, a.Revoked, "the code is unknown")
	require.Equal(t, text, a.Text.Reveal())
	require.False(t, a.Unconfirmed)
	_, err := r.box().Refresh(t.Context(), r.driver())
	require.ErrorAs(t, err, &refused)
	until, err := r.box().Renew(t.Context(), r.driver())
	require.NoError(t, err)
	require.Empty(t, until)
	require.ErrorAs(t, r.box().Take(bundle, code, "PA-1", fresh), &refused, "it is used up")
	ticket, second := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.Equal(t, second, r.active().ID)
	require.Empty(t, r.active().Revoked)

	r = newRig(t)
	bundle, code = r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	a, err = r.later(7 * 24 * time.Hour).Active()
	require.NoError(t, err)
	require.Contains(t, a.Revoked, "its bundle was good until "+bundle.ExpiresAt)
	require.Equal(t, text, a.Text.Reveal())
	require.Empty(t, r.active().Revoked, "a clock that was wrong and is mended")
}

// Another code in its place ends what the bundle has begun; the bundle can be taken up again as long as the service has not spoken.
func TestAnotherCodeInABundlesPlace(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	bad := fleet.Ticket{URL: "https://fleet.example", Code: fleet.MakeCode(make([]byte, fleet.CodeEntropy))}
	require.NoError(t, r.box().Begin(bad, "PA-1"))
	a := r.active()
	require.Equal(t, []string{bundle.EnrolmentID, "another code was taken up in its place"}, []string{a.ID, a.Revoked})
	require.Error(t, r.box().Resume(t.Context(), r.driver()))
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	require.True(t, r.active().Unconfirmed)
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.Equal(t, bundle.EnrolmentID, r.active().ID)
	require.Empty(t, r.active().Revoked)
}

// Each step that breaks leaves a terminal that works with the bundle, and a code that is not burned.
func TestABrokenStepOfABundleGoesOn(t *testing.T) {
	for _, call := range []string{"redeem", "configuration", "confirm", "try"} {
		for _, after := range []bool{false, true} {
			r := newRig(t)
			met := false
			bundle, code := r.bundle()
			require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
			if call == "try" {
				r.try = func(enrol.Trial) error {
					if !met {
						met = true
						return errTrial
					}
					return nil
				}
			} else {
				r.spoil = func(s fleet.Service) fleet.Service { return breaking{s, call, after, &met} }
			}
			require.Error(t, r.box().Resume(t.Context(), r.driver()), "%s %v", call, after)
			require.True(t, met)
			require.True(t, r.active().Unconfirmed, "%s %v", call, after)
			require.Equal(t, text, r.active().Text.Reveal())
			require.NoError(t, r.box().Resume(t.Context(), r.driver()))
			require.False(t, r.active().Unconfirmed)
			require.Equal(t, []fleet.State{fleet.Confirmed}, r.states())
		}
	}
}

// The operator has mended the configuration meanwhile: the terminal gets the newer one, and keeps the bundle's as long as money is open.
func TestANewerConfigurationThanTheBundles(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	r.configure(bundle.EnrolmentID, text+"x = 2\n")
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.Equal(t, []int64{2}, r.tried)
	require.Equal(t, text+"x = 2\n", r.active().Text.Reveal())
	require.NoError(t, r.box().Hold(true))
	require.Equal(t, text, r.active().Text.Reveal())
	require.False(t, r.active().Unconfirmed)
	require.NotNil(t, r.active().Certificate)
	require.NoError(t, r.box().Hold(false))
	require.EqualValues(t, 2, r.active().Revision)
}

// A code that is not the bundle's own enrols nobody by it: somebody has put two halves together.
func TestABundleAndItsCodeBelongTogether(t *testing.T) {
	r := newRig(t)
	bundle, _ := r.bundle()
	other, _ := r.code()
	require.NoError(t, r.box().Take(bundle, other.Code, "PA-1", fresh))
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrUntrusted)
	require.NotContains(t, r.states(), fleet.Confirmed)
	stranger := newRig(t)
	r.desk = stranger.desk // another service answers
	foreign, _ := stranger.code()
	require.NoError(t, r.box().Take(bundle, foreign.Code, "PA-1", fresh))
	require.Error(t, r.box().Resume(t.Context(), r.driver()))
	require.NotContains(t, stranger.states(), fleet.Confirmed)
}

// What happened is told in its order, and no secret with it.
func TestWhatHappenedIsTold(t *testing.T) {
	r := newRig(t)
	bundle, code := r.bundle()
	require.NoError(t, r.box().Take(bundle, code, "PA-1", fresh))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.NoError(t, r.box().Prove(bundle.EnrolmentID, 1))
	r.configure(bundle.EnrolmentID, text+"x = 2\n")
	_, err := r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	did, err := r.box().GiveUp(bundle.EnrolmentID, 2, "it did not make the terminal ready")
	require.NoError(t, err)
	require.True(t, did)
	r.configure(bundle.EnrolmentID, text+"x = 3\n")
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	_, err = r.box().Rollback(1)
	require.NoError(t, err)
	r.revoke(bundle.EnrolmentID)
	for range 3 { // once, however often it asks
		_, err = r.box().Refresh(t.Context(), r.driver())
		require.Error(t, err)
	}
	list, err := r.box().History()
	require.NoError(t, err)
	type told struct {
		what         string
		revision, to int64
	}
	var got []told
	for _, e := range list {
		got = append(got, told{e.What, e.Revision, e.To})
		require.NotContains(t, e.Text, code.Reveal())
		at, err := time.Parse(time.RFC3339, e.At)
		require.NoError(t, err)
		require.WithinRange(t, at, began.Truncate(time.Second), time.Now())
	}
	require.Equal(t, []told{
		{"bundle_taken_up", 1, 0}, {"enrolled", 1, 0}, {"revision_taken_up", 2, 0}, {"revision_given_up", 2, 1}, {"revision_taken_up", 3, 0},
		{"revision_chosen", 3, 1}, {"revoked", 0, 0},
	}, got)
	require.Contains(t, list[6].Text, "revoked")
	for range 60 {
		_, err = r.box().Rollback(3)
		require.NoError(t, err)
		_, err = r.box().Rollback(1)
		require.NoError(t, err)
	}
	list, err = r.box().History()
	require.NoError(t, err)
	require.Len(t, list, 100)
}

// hand is a clock that stands still but for what a test lets pass.
type hand struct{ gone time.Duration }

var began = time.Now()

func (h *hand) now() time.Time { return began.Add(h.gone) }

func (h *hand) pass(d time.Duration) { h.gone += d }

// renewals is a service whose certificates may be spoilt.
type renewals struct {
	fleet.Service
	asked  int
	lost   bool // the answer does not come
	change func(*fleet.Renewed)
}

func (s *renewals) Renew(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.RenewRequest) (fleet.Renewed, error) {
	s.asked++
	got, err := s.Service.Renew(ctx, key, by, req)
	if err == nil && s.lost {
		return fleet.Renewed{}, errCut
	}
	if err == nil && s.change != nil {
		s.change(&got)
	}
	return got, err
}

// A certificate is renewed after two thirds of its time, once, and nothing but the operator's for this key is taken.
func TestACertificateIsRenewed(t *testing.T) {
	clock := &hand{}
	r := newRigAt(t, clock.now)
	ticket, id := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	svc := &renewals{Service: r.desk}
	r.spoil = func(fleet.Service) fleet.Service { return svc }
	renew := func() (string, error) { return r.box().Renew(t.Context(), r.driver()) }
	first := r.active().Certificate.Certificate[0]
	until, err := renew()
	require.NoError(t, err)
	require.Empty(t, until)
	clock.pass(486 * 24 * time.Hour) // of 730
	until, err = renew()
	require.NoError(t, err)
	require.Empty(t, until)
	require.Zero(t, svc.asked, "a day before two thirds nobody is asked")

	clock.pass(2 * 24 * time.Hour)
	other := newRigAt(t, clock.now)
	foreign, _ := other.code()
	require.NoError(t, other.box().Begin(foreign, "PA-1"))
	require.NoError(t, other.box().Resume(t.Context(), other.driver()))
	list, err := other.desk.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	for name, change := range map[string]func(*fleet.Renewed){
		"another fleet's": func(n *fleet.Renewed) { n.Certificate = list.Enrolments[0].Certificate }, "none": func(n *fleet.Renewed) { n.Certificate = "x" },
	} {
		svc.change = change
		_, err = renew()
		require.ErrorIs(t, err, enrol.ErrUntrusted, name)
		require.Equal(t, first, r.active().Certificate.Certificate[0], name)
	}
	svc.change, svc.lost = nil, true
	_, err = renew()
	require.ErrorIs(t, err, errCut)
	svc.lost = false
	require.NoError(t, os.Mkdir(filepath.Join(r.dir, "record.new"), 0o700)) // a disk that is full when the desk has answered
	_, err = renew()
	require.Error(t, err)
	require.Equal(t, first, r.active().Certificate.Certificate[0])
	require.NoError(t, os.Remove(filepath.Join(r.dir, "record.new")))
	until, err = renew()
	require.NoError(t, err)
	second := r.active().Certificate
	require.NotEqual(t, first, second.Certificate[0])
	require.Equal(t, until, second.Leaf.NotAfter.UTC().Format(time.RFC3339))
	seen, err := r.desk.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	require.Equal(t, until, seen.Enrolments[0].CertificateExpiresAt, "the operator sees the same, though answers were lost")
	asked := svc.asked
	until, err = renew()
	require.NoError(t, err)
	require.Empty(t, until)
	require.Equal(t, asked, svc.asked)
	require.Equal(t, id, r.active().ID)
	history, err := r.box().History()
	require.NoError(t, err)
	require.Equal(t, "certificate_renewed", history[len(history)-1].What)

	clock.pass(500 * 24 * time.Hour)
	r.revoke(id)
	var refused *enrol.RefusedError
	_, err = renew()
	require.ErrorAs(t, err, &refused)
	require.NotEmpty(t, r.active().Revoked)
	until, err = renew()
	require.NoError(t, err)
	require.Empty(t, until, "a revoked box asks no more")
	_, err = newRig(t).box().Renew(t.Context(), r.driver())
	require.ErrorIs(t, err, enrol.ErrNone)
}
