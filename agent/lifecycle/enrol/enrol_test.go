package enrol_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	desk "posagent/schemes/backend/fleet"
	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// TestNext is the whole table, written by hand: from every state, what each event leads to; "-" is refused.
func TestNext(t *testing.T) {
	columns := []enrol.Event{enrol.Begin, enrol.Redeem, enrol.Try, enrol.Confirm, enrol.Refuse}
	require.Equal(t, columns, enrol.Events())
	want := map[enrol.State][]string{
		enrol.Fresh:      {"KEYED", "-", "-", "-", "-"},
		enrol.Keyed:      {"KEYED", "ISSUED", "-", "-", "FRESH"},
		enrol.Issued:     {"KEYED", "-", "CONFIGURED", "-", "FRESH"},
		enrol.Configured: {"KEYED", "-", "-", "CONFIRMED", "FRESH"},
		enrol.Confirmed:  {"-", "-", "-", "-", "-"},
	}
	require.Len(t, want, len(enrol.States()))
	for _, from := range enrol.States() {
		for i, e := range columns {
			to, ok := enrol.Next(from, e)
			if want[from][i] == "-" {
				require.False(t, ok, "%s %s", from, e)
				require.Equal(t, from, to)
				continue
			}
			require.True(t, ok, "%s %s", from, e)
			require.Equal(t, enrol.State(want[from][i]), to, "%s %s", from, e)
		}
	}
}

const text = "[upstream]\nbearer = \"cAnArY\"\n"

// errTrial is what a trial that fails says.
var errTrial = errors.New("the backend does not answer")

// rig is a box beside a real desk, whose answers can be spoilt.
type rig struct {
	t     *testing.T
	dir   string
	desk  *desk.Fleet
	spoil func(fleet.Service) fleet.Service // nil = as it is
	try   func(enrol.Trial) error           // nil = it works
	tried []int64
	said  []enrol.State
	now   func() time.Time
}

func newRig(t *testing.T) *rig { return newRigAt(t, time.Now) }

// newRigAt is newRig by another clock, of the box and of the desk.
func newRigAt(t *testing.T, now func() time.Time) *rig {
	d, err := desk.New(desk.Options{
		Options:       room.Options{DB: storetest.Open(t, append(room.Schema(), desk.Schema()...)...), PublicURL: "https://fleet.example", Now: now},
		Configuration: func(string, fleet.Slot) (string, error) { return text, nil },
	})
	require.NoError(t, err)
	return &rig{t: t, dir: filepath.Join(t.TempDir(), "enrolment"), desk: d, now: now}
}

// box is a box as a new process finds it.
func (r *rig) box() *enrol.Box { return enrol.At(r.dir, r.now) }

func (r *rig) driver() enrol.Driver {
	return enrol.Driver{
		Version: "1", Said: func(s enrol.State) { r.said = append(r.said, s) },
		Service: func(url string) (fleet.Service, error) {
			require.Equal(r.t, "https://fleet.example", url)
			if r.spoil != nil {
				return r.spoil(r.desk), nil
			}
			return r.desk, nil
		},
		Try: func(_ context.Context, trial enrol.Trial) error {
			r.tried = append(r.tried, trial.Revision)
			require.NotEmpty(r.t, trial.Certificate.Certificate)
			if r.try != nil {
				return r.try(trial)
			}
			return nil
		},
	}
}

// code makes a code at the desk.
func (r *rig) code() (fleet.Ticket, string) {
	got, err := r.desk.Create(r.t.Context(), wire.NewKey(), fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M", TerminalID: "T"}})
	require.NoError(r.t, err)
	return fleet.Ticket{URL: got.URL, Code: got.Code, Fingerprint: got.Fingerprint}, got.Enrolment.ID
}

// enrolled is a rig whose box is a terminal.
func enrolled(t *testing.T) (*rig, string) {
	r := newRig(t)
	ticket, id := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	return r, id
}

// id is the enrolment that was confirmed last.
func (r *rig) id() string {
	a, err := r.box().Chosen()
	require.NoError(r.t, err)
	return a.ID
}

// states is what the desk has of each enrolment, the newest first.
func (r *rig) states() (list []fleet.State) {
	got, err := r.desk.List(r.t.Context(), fleet.ListRequest{})
	require.NoError(r.t, err)
	for _, e := range got.Enrolments {
		list = append(list, e.State)
	}
	return list
}

// configure gives the terminal a newer configuration.
func (r *rig) configure(id, text string) {
	_, err := r.desk.Configure(r.t.Context(), wire.NewKey(), fleet.ConfigureRequest{ID: id, Configuration: wire.Secret(text)})
	require.NoError(r.t, err)
}

// breaking ends the way of one call: before the desk has it, or after, with the reply lost.
type breaking struct {
	fleet.Service
	call  string
	after bool
	met   *bool
}

var errCut = &wire.Error{Code: wire.UnknownOutcome, Op: "fleet", Msg: "the reply was lost"}

func cut[T any](b breaking, call string, do func() (T, error)) (none T, err error) {
	if b.call != call || *b.met {
		return do()
	}
	*b.met = true
	if b.after {
		_, err = do()
		if err != nil {
			return none, err
		}
	}
	return none, errCut
}

func (b breaking) Redeem(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
	return cut(b, "redeem", func() (fleet.Issued, error) { return b.Service.Redeem(ctx, key, req) })
}

func (b breaking) Configuration(ctx context.Context, by fleet.Proof) (fleet.Revision, error) {
	return cut(b, "configuration", func() (fleet.Revision, error) { return b.Service.Configuration(ctx, by) })
}

func (b breaking) Confirm(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ConfirmRequest) (fleet.ConfirmReply, error) {
	return cut(b, "confirm", func() (fleet.ConfirmReply, error) { return b.Service.Confirm(ctx, key, by, req) })
}

// An enrolment that is broken off at any step goes on from there: the code is not burned before the end, and no step is believed
// that was not durable. Until the service has confirmed, the terminal has nothing to run on.
func TestABrokenStepGoesOn(t *testing.T) {
	for _, call := range []string{"redeem", "configuration", "confirm", "try", "write"} {
		for _, after := range []bool{false, true} {
			r := newRig(t)
			met := false
			ticket, id := r.code()
			switch call {
			case "try":
				r.try = func(enrol.Trial) error {
					_, err := r.box().Active()
					require.ErrorIs(t, err, enrol.ErrNone)
					if !met {
						met = true
						return errTrial
					}
					return nil
				}
			case "write": // a disk that is full when the desk has answered
				r.spoil = func(s fleet.Service) fleet.Service {
					if !met {
						met = true
						require.NoError(t, os.Mkdir(filepath.Join(r.dir, "record.new"), 0o700))
					}
					return s
				}
			default:
				r.spoil = func(s fleet.Service) fleet.Service { return breaking{s, call, after, &met} }
			}
			require.NoError(t, r.box().Begin(ticket, "PA-1"))
			require.Error(t, r.box().Resume(t.Context(), r.driver()), "%s %v", call, after)
			require.True(t, met)
			_, err := r.box().Active()
			require.ErrorIs(t, err, enrol.ErrNone)
			if call != "confirm" || !after {
				require.NotContains(t, r.states(), fleet.Confirmed, "%s %v", call, after)
			}
			require.True(t, errors.Is(os.Remove(filepath.Join(r.dir, "record.new")), os.ErrNotExist) == (call != "write"))
			require.NoError(t, r.box().Begin(ticket, "PA-1"), "the same code again changes nothing")
			require.NoError(t, r.box().Resume(t.Context(), r.driver()))
			active, err := r.box().Active()
			require.NoError(t, err)
			require.Equal(t, text, active.Text.Reveal())
			require.Equal(t, id, active.ID)
			require.Equal(t, []fleet.State{fleet.Confirmed}, r.states())
			require.NoError(t, r.box().Begin(ticket, "PA-1"), "a code that was confirmed")
			require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrNone)
		}
	}
}

// tampering changes what the service gives.
type tampering struct {
	fleet.Service
	issued func(*fleet.Issued)
	rev    func(*fleet.Revision)
}

func (b tampering) Redeem(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
	got, err := b.Service.Redeem(ctx, key, req)
	if err == nil && b.issued != nil {
		b.issued(&got)
	}
	return got, err
}

func (b tampering) Configuration(ctx context.Context, by fleet.Proof) (fleet.Revision, error) {
	got, err := b.Service.Configuration(ctx, by)
	if err == nil && b.rev != nil {
		b.rev(&got)
	}
	return got, err
}

// What another service gives, or somebody on the way has changed, is neither kept nor tried.
func TestOnlyTheOperatorIsBelieved(t *testing.T) {
	other, _ := newRig(t).code()
	for name, tc := range map[string]struct {
		fingerprint string
		spoil       tampering
	}{
		"another authority":                 {fingerprint: other.Fingerprint},
		"a configuration with another host": {spoil: tampering{issued: func(i *fleet.Issued) { i.Configuration.Text = "[upstream]\nbase = \"https://evil.example\"\n" }}},
		"another number":                    {spoil: tampering{issued: func(i *fleet.Issued) { i.Configuration.Number = 7 }}},
		"another enrolment":                 {spoil: tampering{issued: func(i *fleet.Issued) { i.EnrolmentID = "e1" }}},
		"no certificate":                    {spoil: tampering{issued: func(i *fleet.Issued) { i.Certificate = i.Authority }}},
		"changed when it is fetched again":  {spoil: tampering{rev: func(r *fleet.Revision) { r.Text += "x" }}},
	} {
		r := newRig(t)
		ticket, _ := r.code()
		if tc.fingerprint != "" {
			ticket.Fingerprint = tc.fingerprint
		}
		r.spoil = func(s fleet.Service) fleet.Service { tc.spoil.Service = s; return tc.spoil }
		require.NoError(t, r.box().Begin(ticket, "PA-1"), name)
		require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrUntrusted, name)
		require.Empty(t, r.tried, name)
		_, err := r.box().Active()
		require.ErrorIs(t, err, enrol.ErrNone, name)
		require.NotContains(t, r.states(), fleet.Confirmed, name)
	}
}

// A code that is not good ends what was begun, and costs nothing: the next one goes on, with the same key, and an enrolment that was
// confirmed before stays in use meanwhile.
func TestARefusedCodeLeavesTheRest(t *testing.T) {
	r, first := enrolled(t)
	bad := fleet.Ticket{URL: "https://fleet.example", Code: fleet.MakeCode(make([]byte, fleet.CodeEntropy))}
	require.NoError(t, r.box().Begin(bad, "PA-1"))
	var refused *enrol.RefusedError
	require.ErrorAs(t, r.box().Resume(t.Context(), r.driver()), &refused)
	require.Equal(t, fleet.CodeNotGood, wire.ReasonOf(refused))
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrNone, "it is not asked again")
	s, err := r.box().Summary()
	require.NoError(t, err)
	require.Contains(t, s.Refusal, "the code is unknown", "whoever asks next is told")
	active, err := r.box().Active()
	require.NoError(t, err)
	require.Equal(t, first, active.ID)

	ticket, second := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	active, err = r.box().Active()
	require.NoError(t, err)
	require.Equal(t, second, active.ID)
	require.Equal(t, []fleet.State{fleet.Confirmed, fleet.Revoked}, r.states(), "the certificate before is revoked by then")
}

// A newer configuration is tried, confirmed, and used, in that order. One that does not work, that was changed on the way, or that is
// not newer leaves the one in use.
func TestANewerConfiguration(t *testing.T) {
	r, id := enrolled(t)
	refresh := func() (int64, error) { return r.box().Refresh(t.Context(), r.driver()) }
	number, err := refresh()
	require.NoError(t, err)
	require.Zero(t, number, "nothing is newer")
	require.Equal(t, []int64{1}, r.tried)

	r.configure(id, text+"x = 2\n")
	r.try = func(enrol.Trial) error { return errTrial }
	_, err = refresh()
	require.ErrorIs(t, err, errTrial)
	r.try = nil
	r.spoil = func(s fleet.Service) fleet.Service {
		return tampering{Service: s, rev: func(r *fleet.Revision) { r.Number++ }}
	}
	_, err = refresh()
	require.ErrorIs(t, err, enrol.ErrUntrusted)
	r.spoil = nil
	active, err := r.box().Active()
	require.NoError(t, err)
	require.Equal(t, int64(1), active.Revision)

	number, err = refresh()
	require.NoError(t, err)
	require.Equal(t, int64(2), number)
	active, err = r.box().Active()
	require.NoError(t, err)
	require.Equal(t, text+"x = 2\n", active.Text.Reveal())
	list, err := r.desk.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	require.Equal(t, int64(2), list.Enrolments[0].ConfirmedRevision)
}

// A configuration that never made the terminal ready is given up for the one before it, and is not fetched again; the operator's next
// one is. The first one of a box stays: there is nothing before it.
func TestAConfigurationThatDoesNotWorkIsGivenUp(t *testing.T) {
	r, id := enrolled(t)
	for range 10 {
		gaveUp, _, err := r.box().Started("boot")
		require.NoError(t, err)
		require.Zero(t, gaveUp)
	}
	require.NoError(t, r.box().Prove(r.id(), 1))
	fetch := func() int64 {
		number, err := r.box().Refresh(t.Context(), r.driver())
		require.NoError(t, err)
		return number
	}
	inUse := func() int64 {
		active, err := r.box().Active()
		require.NoError(t, err)
		return active.Revision
	}
	r.configure(id, text+"x = 2\n")
	require.Equal(t, int64(2), fetch())
	for start := 1; start <= 3; start++ {
		gaveUp, _, err := r.box().Started("boot")
		require.NoError(t, err)
		require.Zero(t, gaveUp, start)
		require.NoError(t, r.box().Ended(true, "the address is in use"))
	}
	gaveUp, why, err := r.box().Started("boot")
	require.NoError(t, err)
	require.Equal(t, int64(2), gaveUp)
	require.Equal(t, "3 starts with it ended before the terminal was ready, the last one so: the address is in use", why)
	require.Equal(t, int64(1), inUse())
	require.Zero(t, fetch(), "the same one again")

	r.configure(id, text+"x = 3\n")
	require.Equal(t, int64(3), fetch())
	did, err := r.box().GiveUp(r.id(), 3, "it did not make the terminal ready")
	require.NoError(t, err)
	require.True(t, did)
	require.Equal(t, int64(1), inUse())
	did, err = r.box().GiveUp(r.id(), 1, "it did not make the terminal ready")
	require.NoError(t, err)
	require.False(t, did, "it is proven")

	r.configure(id, text+"x = 4\n")
	require.Equal(t, int64(4), fetch())
	require.NoError(t, r.box().Prove(r.id(), 4))
	did, err = r.box().GiveUp(r.id(), 4, "it did not make the terminal ready")
	require.NoError(t, err)
	require.False(t, did)
	for range 10 {
		gaveUp, _, err := r.box().Started("boot")
		require.NoError(t, err)
		require.Zero(t, gaveUp)
	}
	number, err := r.box().Rollback(0)
	require.NoError(t, err)
	require.Equal(t, int64(1), number)
	require.Zero(t, fetch(), "a person has left it")
	number, err = r.box().Rollback(4)
	require.NoError(t, err)
	require.Equal(t, int64(4), number)
	require.Equal(t, int64(4), inUse())
	_, err = r.box().Rollback(99)
	require.ErrorContains(t, err, "revision 99 is not kept")
}

// Ten revisions are kept, and among them always the one in use and the one before it.
func TestTenRevisionsAreKept(t *testing.T) {
	r, id := enrolled(t)
	for n := int64(2); n <= 14; n++ {
		r.configure(id, text+"x = 2\n")
		number, err := r.box().Refresh(t.Context(), r.driver())
		require.NoError(t, err)
		require.Equal(t, n, number)
	}
	s, err := r.box().Summary()
	require.NoError(t, err)
	require.Equal(t, []int64{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, s.Revisions)
	require.Equal(t, int64(14), s.Revision)
	require.Equal(t, int64(13), s.Previous)
}

// A box that was revoked remembers it over restarts and without a network, and a new code makes it a terminal again.
func TestARevokedBoxRemembersIt(t *testing.T) {
	r, id := enrolled(t)
	_, err := r.desk.Revoke(t.Context(), wire.NewKey(), fleet.RevokeRequest{ID: id, Reason: "stolen"})
	require.NoError(t, err)
	var refused *enrol.RefusedError
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.ErrorAs(t, err, &refused)
	active, err := r.box().Active()
	require.NoError(t, err)
	require.Contains(t, active.Revoked, "was revoked")

	ticket, _ := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	active, err = r.box().Active()
	require.NoError(t, err)
	require.Empty(t, active.Revoked)
}

// Neither the code nor the key nor the configuration stands in a file, at any step. A record that was changed, or whose key is gone,
// is damage and no "not enrolled".
func TestTheRecordIsSealed(t *testing.T) {
	r := newRig(t)
	ticket, _ := r.code()
	r.try = func(enrol.Trial) error { return errTrial }
	search := func() {
		files, err := os.ReadDir(r.dir)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			info, err := f.Info()
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, f.Name())
			data, err := os.ReadFile(filepath.Join(r.dir, f.Name()))
			require.NoError(t, err)
			for _, secret := range []string{ticket.Code.Reveal(), "PRIVATE KEY", "cAnArY"} {
				require.NotContains(t, string(data), secret, f.Name())
			}
		}
	}
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	search()
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), errTrial)
	search()
	r.try = nil
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	search()

	path := filepath.Join(r.dir, "record")
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, at := range []int{0, 25, len(sound) / 2, len(sound) - 1} {
		bad := append([]byte(nil), sound...)
		bad[at] ^= 1
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := r.box().Active()
		require.ErrorIs(t, err, enrol.ErrDamaged, at)
	}
	require.NoError(t, os.WriteFile(path, sound, 0o600))
	_, err = r.box().Active()
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(r.dir, "device.key")))
	_, err = r.box().Active()
	require.ErrorIs(t, err, enrol.ErrDamaged)
}

// Two programs do not work on one enrolment: the second is told, and changes nothing.
func TestOneAtATime(t *testing.T) {
	r := newRig(t)
	ticket, _ := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	r.try = func(enrol.Trial) error {
		require.ErrorIs(t, r.box().Begin(ticket, "PA-2"), enrol.ErrBusy)
		require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrBusy)
		s, err := r.box().Summary()
		require.NoError(t, err)
		require.Equal(t, enrol.Issued, s.State)
		return nil
	}
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.Equal(t, []enrol.State{enrol.Issued, enrol.Configured, enrol.Confirmed}, r.said)
}

// Money that is open under what the terminal ran on before is ended there: another enrolment, or another revision, waits until then.
func TestWhatWasChosenWaitsForOpenMoney(t *testing.T) {
	r, first := enrolled(t)
	require.NoError(t, r.box().Prove(r.id(), 1))
	ticket, second := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	ids := func() (active, chosen string) {
		a, err := r.box().Active()
		require.NoError(t, err)
		c, err := r.box().Chosen()
		require.NoError(t, err)
		return a.ID, c.ID
	}
	require.NoError(t, r.box().Hold(true))
	active, chosen := ids()
	require.Equal(t, []string{first, second}, []string{active, chosen})
	for range 10 { // what waits is neither proven nor given up
		gaveUp, _, err := r.box().Started("boot")
		require.NoError(t, err)
		require.Zero(t, gaveUp)
	}
	require.NoError(t, r.box().Hold(false))
	require.NoError(t, r.box().Prove(first, 1), "what the terminal still runs on proves nothing of the other")
	require.NoError(t, r.box().Hold(true))
	active, _ = ids()
	require.Equal(t, first, active)
	require.NoError(t, r.box().Hold(false))
	require.NoError(t, r.box().Prove(second, 1))
	require.NoError(t, r.box().Hold(true))
	active, _ = ids()
	require.Equal(t, second, active, "once it has been ready there is nothing before it")

	r.configure(second, text+"x = 2\n")
	number, err := r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	require.Equal(t, int64(2), number)
	require.NoError(t, r.box().Hold(true))
	a, err := r.box().Active()
	require.NoError(t, err)
	require.Equal(t, int64(1), a.Revision)
	require.NoError(t, r.box().Hold(false))
	a, err = r.box().Active()
	require.NoError(t, err)
	require.Equal(t, int64(2), a.Revision)
}

// A configuration that was tried some time ago is tried again before it is confirmed: what was sold since may not fit it any more.
func TestAnOldTrialIsNotBelieved(t *testing.T) {
	r := newRig(t)
	ticket, _ := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	met := false
	r.spoil = func(s fleet.Service) fleet.Service { return breaking{s, "confirm", false, &met} }
	require.Error(t, r.box().Resume(t.Context(), r.driver()))
	r.try = func(enrol.Trial) error { return errTrial }
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), errTrial)
	require.NotContains(t, r.states(), fleet.Confirmed)
	r.try = func(enrol.Trial) error { return enrol.ErrNotHere }
	var refused *enrol.RefusedError
	require.ErrorAs(t, r.box().Resume(t.Context(), r.driver()), &refused)
	s, err := r.box().Summary()
	require.NoError(t, err)
	require.Equal(t, enrol.Fresh, s.State, "another shop's code leaves nothing begun")
}

// A fingerprint that is given late is compared all the same.
func TestALateFingerprintIsCompared(t *testing.T) {
	r := newRig(t)
	ticket, _ := r.code()
	wrong, without := ticket, ticket
	wrong.Fingerprint, without.Fingerprint = "00"+ticket.Fingerprint[2:], ""
	if wrong.Fingerprint == ticket.Fingerprint {
		wrong.Fingerprint = "11" + ticket.Fingerprint[2:]
	}
	require.NoError(t, r.box().Begin(without, "PA-1"))
	r.try = func(enrol.Trial) error { return errTrial }
	require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), errTrial)
	require.ErrorIs(t, r.box().Begin(wrong, "PA-1"), enrol.ErrUntrusted)
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	r.try = nil
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	require.ErrorIs(t, r.box().Begin(wrong, "PA-1"), enrol.ErrUntrusted)
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
}

// A record that is damaged makes room for another code, and is kept.
func TestADamagedRecordMakesRoom(t *testing.T) {
	r, _ := enrolled(t)
	require.NoError(t, r.box().SetAside(), "nothing is wrong")
	path := filepath.Join(r.dir, "record")
	require.NoError(t, os.WriteFile(path, []byte("posagent"), 0o600))
	ticket, id := r.code()
	require.ErrorIs(t, r.box().Begin(ticket, "PA-1"), enrol.ErrDamaged)
	require.NoError(t, r.box().SetAside())
	require.FileExists(t, path+".damaged")
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	a, err := r.box().Active()
	require.NoError(t, err)
	require.Equal(t, id, a.ID)
}

// The service is told which revision is in use, once one was given up.
func TestTheOperatorSeesWhatIsInUse(t *testing.T) {
	r, id := enrolled(t)
	require.NoError(t, r.box().Prove(r.id(), 1))
	r.configure(id, text+"x = 2\n")
	_, err := r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	did, err := r.box().GiveUp(r.id(), 2, "it did not make the terminal ready")
	require.NoError(t, err)
	require.True(t, did)
	number, err := r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	require.Zero(t, number)
	list, err := r.desk.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	require.Equal(t, int64(1), list.Enrolments[0].ConfirmedRevision)
	require.Equal(t, int64(2), list.Enrolments[0].Revision)
}

// Report: the service hears which program runs and how its last update ended, and says what it holds. What must not be told is masked or
// left out, and what is held is heard all the same.
func TestReport(t *testing.T) {
	r := newRig(t)
	_, err := r.box().Report(t.Context(), r.driver(), fleet.Outcome{})
	require.ErrorIs(t, err, enrol.ErrNone)
	ticket, id := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	record, err := os.ReadFile(filepath.Join(r.dir, "record"))
	require.NoError(t, err)
	at := "2026-11-23T10:00:00Z"
	report := func(last fleet.Outcome) fleet.Outcome {
		held, err := r.box().Report(t.Context(), r.driver(), last)
		require.NoError(t, err)
		require.Empty(t, held)
		list, err := r.desk.List(t.Context(), fleet.ListRequest{})
		require.NoError(t, err)
		require.Equal(t, "1", list.Enrolments[0].Version)
		return list.Enrolments[0].Update
	}
	require.Zero(t, report(fleet.Outcome{}))
	for _, bad := range []fleet.Outcome{
		{Version: "2.0.0", At: at, Reason: "a\nb"}, {Version: strings.Repeat("2", 65), At: at}, {Version: "2.0.0", At: "today"},
		{Version: "2.0.0", At: at, Reason: strings.Repeat("x", 201)},
	} {
		require.Zero(t, report(bad))
	}
	want := fleet.Outcome{Version: "2.0.0", At: at, Reason: "the card 411111******1111 and 555555******4444"}
	typed := want
	typed.Reason = "the card 4111111111111111 and 5555555555554444"
	require.Equal(t, want, report(typed))
	again, err := os.ReadFile(filepath.Join(r.dir, "record"))
	require.NoError(t, err)
	require.Equal(t, record, again)

	r.spoil = func(fleet.Service) fleet.Service { return older{} }
	_, err = r.box().Report(t.Context(), r.driver(), want)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	r.spoil = nil
	_, err = r.desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: id})
	require.NoError(t, err)
	_, err = r.box().Report(t.Context(), r.driver(), want)
	require.Equal(t, fleet.CertRevoked, wire.ReasonOf(err), "%v", err)
}

// The service is told which configuration is in use, and why a newer one is not: of a trial that fails once it has failed for some
// time, of one that was given up at once.
func TestTheServiceHearsOfARefusedRevision(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	r := newRigAt(t, func() time.Time { return now })
	ticket, id := r.code()
	require.NoError(t, r.box().Begin(ticket, "PA-1"))
	require.NoError(t, r.box().Resume(t.Context(), r.driver()))
	var said fleet.Applied
	r.spoil = func(svc fleet.Service) fleet.Service { return hearing{svc, &said} }
	says := func(want fleet.Applied, refused int64) {
		t.Helper()
		_, err := r.box().Report(t.Context(), r.driver(), fleet.Outcome{})
		require.NoError(t, err)
		require.Equal(t, want, said)
		list, err := r.desk.List(t.Context(), fleet.ListRequest{})
		require.NoError(t, err)
		require.Equal(t, refused, list.Enrolments[0].RefusedRevision)
		require.Equal(t, want.Reason, list.Enrolments[0].Refusal)
	}
	says(fleet.Applied{Revision: 1}, 0)
	require.NoError(t, r.box().Prove(id, 1))
	says(fleet.Applied{Revision: 1, Proven: true}, 0)

	r.configure(id, "b = 2\n")
	r.try = func(enrol.Trial) error { return errors.New("the card 4111111111111111\nis no key") }
	_, err := r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	says(fleet.Applied{Revision: 1, Proven: true}, 0)
	record, err := os.ReadFile(filepath.Join(r.dir, "record"))
	require.NoError(t, err)
	now = now.Add(3 * time.Minute)
	_, err = r.box().Refresh(t.Context(), r.driver())
	require.Error(t, err)
	again, err := os.ReadFile(filepath.Join(r.dir, "record"))
	require.NoError(t, err)
	require.Equal(t, record, again, "the same refusal is not written again")
	says(fleet.Applied{Revision: 1, Proven: true, Refused: 2, Reason: "the card 411111******1111 is no key"}, 2)
	active, err := r.box().Active()
	require.NoError(t, err)
	require.EqualValues(t, 1, active.Revision, "the old one stays in use")

	r.try = nil
	number, err := r.box().Refresh(t.Context(), r.driver())
	require.NoError(t, err)
	require.EqualValues(t, 2, number)
	says(fleet.Applied{Revision: 2}, 0)
	did, err := r.box().GiveUp(id, 2, "it did not make the terminal ready")
	require.NoError(t, err)
	require.True(t, did)
	says(fleet.Applied{Revision: 1, Proven: true, Refused: 2, Reason: "it did not make the terminal ready"}, 2)

	// A service from before does not know the field.
	r.spoil = func(svc fleet.Service) fleet.Service { return before{svc} }
	held, err := r.box().Report(t.Context(), r.driver(), fleet.Outcome{})
	require.NoError(t, err)
	require.NotNil(t, held)
}

// hearing notes which configuration a report names.
type hearing struct {
	fleet.Service
	said *fleet.Applied
}

func (h hearing) Report(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
	*h.said = req.Configuration
	return h.Service.Report(ctx, key, by, req)
}

// before is a service from before roll-outs of settings.
type before struct{ fleet.Service }

func (b before) Report(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
	if req.Configuration != (fleet.Applied{}) {
		return fleet.ReportReply{}, &wire.Error{Code: wire.Invalid, Op: "fleet.report", Msg: "unknown field configuration"}
	}
	return b.Service.Report(ctx, key, by, req)
}

// older is a service from before reports.
type older struct{ fleet.Service }

func (older) Report(context.Context, wire.Key, fleet.Proof, fleet.ReportRequest) (fleet.ReportReply, error) {
	return fleet.ReportReply{}, &wire.Error{Code: wire.NotFound, Op: "fleet.report"}
}

// TestField2_U5AMistypedFingerprintIsNotKept: whoever types the code again says the fingerprint anew,
// the right one or none. The same command with the wrong one is refused as before.
func TestField2_U5AMistypedFingerprintIsNotKept(t *testing.T) {
	for name, anew := range map[string]func(*fleet.Ticket){"the right one": func(*fleet.Ticket) {}, "none": func(t *fleet.Ticket) { t.Fingerprint = "" }} {
		r := newRig(t)
		ticket, _ := r.code()
		wrong := ticket
		wrong.Fingerprint = strings.Repeat("0", 64)
		for range 2 {
			require.NoError(t, r.box().Begin(wrong, "PA-1"))
			require.ErrorIs(t, r.box().Resume(t.Context(), r.driver()), enrol.ErrUntrusted, name)
		}
		anew(&ticket)
		require.NoError(t, r.box().Begin(ticket, "PA-1"))
		require.NoError(t, r.box().Resume(t.Context(), r.driver()), name)
	}
}
