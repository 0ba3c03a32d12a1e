package fleet_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	room "posagent/schemes/backend/fleet"
	shared "posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/fleet/fleettest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// clock is the time of a desk.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func steps() []store.Step { return append(shared.Schema(), room.Schema()...) }

// desk opens a desk on a store; log may be nil.
func desk(t *testing.T, db store.DB, c *clock, log *slog.Logger) (*room.Fleet, fleettest.Fixture) {
	t.Helper()
	f, err := room.New(room.Options{
		Options: shared.Options{DB: db, PublicURL: "https://fleet.example", Now: c.now, Log: log},
		Configuration: func(_ string, s fleet.Slot) (string, error) {
			if s.TerminalID == "" {
				return "", errors.New("want terminalId")
			}
			return "terminal_id = \"" + s.TerminalID + "\"\nbearer = \"cAnArY\"\n", nil
		},
	})
	require.NoError(t, err)
	return f, fleettest.Fixture{Service: f, Desk: f, Now: c.now, Pass: c.pass, Advance: f.Advance}
}

func start() *clock { return &clock{at: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)} }

func TestConformance(t *testing.T) {
	var log bytes.Buffer
	_, f := desk(t, storetest.Open(t, steps()...), start(), slog.New(slog.NewTextHandler(&log, nil)))
	fleettest.Run(t, f)
	require.Contains(t, log.String(), "wrong enrolment code")
	require.NotContains(t, log.String(), "cAnArY")
	require.NotContains(t, log.String(), fleettest.Unknown(1).Reveal())
}

// The backend stops between redeem and confirm, and between any two other steps. Nothing is forgotten: the authority, the
// certificate, the code that is not burned.
func TestARestartForgetsNothing(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "fleet.db"), start()
	var made fleet.CodeReply
	var d *fleettest.Device
	var first fleet.Issued
	key := wire.NewKey()
	req := fleet.CodeRequest{Slot: fleet.Slot{TerminalID: "T1"}}
	for step, do := range []func(f fleettest.Fixture){
		func(f fleettest.Fixture) {
			var err error
			made, err = f.Desk.Create(t.Context(), key, req)
			require.NoError(t, err)
		},
		func(f fleettest.Fixture) {
			again, err := f.Desk.Create(t.Context(), key, req)
			require.NoError(t, err)
			require.Equal(t, made, again, "the code of a lost reply, though it stands nowhere")
			d = f.Device(t, "PA-1")
			require.NoError(t, d.Redeem(t, made.Code))
			first = d.Got
		},
		func(f fleettest.Fixture) {
			got, err := f.Service.Redeem(t.Context(), "", d.Request(t, made.Code))
			require.NoError(t, err)
			require.Equal(t, first, got)
			require.NoError(t, fleet.Verify(got, made.Fingerprint, d.Key.Public(), c.now()))
			confirm(t, f, d)
		},
		func(f fleettest.Fixture) {
			confirm(t, f, d)
			_, err := f.Service.Redeem(t.Context(), "", d.Request(t, made.Code))
			require.Equal(t, fleet.CodeNotGood, wire.ReasonOf(err), "%v", err)
		},
	} {
		db := storetest.OpenAt(t, path, steps()...)
		_, f := desk(t, db, c, nil)
		do(f)
		require.NoError(t, db.Close(), "step %d", step)
	}
	// What the files hold: neither code nor configuration nor key.
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		for _, secret := range []string{made.Code.Reveal(), fleet.ShowCode(made.Code), "cAnArY"} {
			require.NotContains(t, string(data), secret)
		}
	}
}

func confirm(t *testing.T, f fleettest.Fixture, d *fleettest.Device) {
	t.Helper()
	req := fleet.ConfirmRequest{Revision: 1}
	by, err := fleet.ProveConfirmation(d.Key, d.Got.EnrolmentID, f.Now(), req)
	require.NoError(t, err)
	_, err = f.Service.Confirm(t.Context(), "", by, req)
	require.NoError(t, err)
}

// counting counts what a call asks of its store.
type counting struct {
	store.DB
	mu    sync.Mutex
	calls []string
}

func (c *counting) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, what)
}

func (c *counting) Write(ctx context.Context, fn func(store.Tx) error) error {
	c.note("write")
	return c.DB.Write(ctx, func(tx store.Tx) error { return fn(counted{tx, c}) })
}

func (c *counting) Read(ctx context.Context, fn func(store.Reader) error) error {
	c.note("read")
	return c.DB.Read(ctx, func(r store.Reader) error { return fn(read{r, c}) })
}

func (c *counting) MAC(table, key string, fields ...any) []byte {
	c.note("mac")
	return c.DB.MAC(table, key, fields...)
}

func (c *counting) Unseal(r store.Reader, at store.Cell, sealed []byte) ([]byte, error) {
	c.note("unseal")
	return c.DB.Unseal(r, at, sealed)
}

// counted is a transaction whose statements are counted by their first word.
type counted struct {
	store.Tx
	by *counting
}

func (c counted) QueryRow(query string, args ...any) *sql.Row {
	c.by.note("select")
	return c.Tx.QueryRow(query, args...)
}

// read is what a transaction is that reads.
type read struct {
	store.Reader
	by *counting
}

func (c read) QueryRow(query string, args ...any) *sql.Row {
	c.by.note("select")
	return c.Reader.QueryRow(query, args...)
}

// A refusal has done the same work whatever its cause, so its time tells nothing of the code.
func TestRefusalsDoTheSameWork(t *testing.T) {
	db, c := &counting{DB: storetest.Open(t, steps()...)}, start()
	desk, f := desk(t, db, c, nil)
	expired := f.Code(t, fleet.CodeRequest{TTLSeconds: 60})
	c.pass(time.Minute)
	revoked, burned, bound := f.Code(t, fleet.CodeRequest{}), f.Code(t, fleet.CodeRequest{}), f.Code(t, fleet.CodeRequest{SerialNumber: "PA-9"})
	_, err := desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: revoked.Enrolment.ID})
	require.NoError(t, err)
	d := f.Device(t, "PA-1")
	require.NoError(t, d.Redeem(t, burned.Code))
	confirm(t, f, d)
	for name, code := range map[string]wire.Secret{
		"unknown": fleettest.Unknown(1), "expired": expired.Code, "revoked": revoked.Code, "burned": burned.Code, "another box's": bound.Code,
	} {
		db.calls = nil
		require.Error(t, f.Device(t, "PA-2").Redeem(t, code))
		require.Equal(t, []string{"mac", "read", "select"}, db.calls, name)
	}
}

// wrote is a store that says when it has written.
type wrote struct {
	store.DB
	once chan struct{}
}

func (w *wrote) Write(ctx context.Context, fn func(store.Tx) error) error {
	err := w.DB.Write(ctx, fn)
	select {
	case w.once <- struct{}{}:
	default:
	}
	return err
}

// What has ended goes when its time is over: codes that nobody has shown, and configurations that no device may read. What a device
// has had stays known, and so does what is in use.
func TestWhatHasEndedIsPurged(t *testing.T) {
	c := start()
	db := storetest.Open(t, steps()...)
	desk, f := desk(t, db, c, nil)
	expired, taken := f.Code(t, fleet.CodeRequest{TTLSeconds: 60}), f.Code(t, fleet.CodeRequest{})
	_, err := desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: taken.Enrolment.ID})
	require.NoError(t, err)
	gone, d := f.Device(t, "PA-1"), f.Device(t, "PA-2")
	for _, box := range []*fleettest.Device{gone, d} {
		require.NoError(t, box.Redeem(t, f.Code(t, fleet.CodeRequest{}).Code))
		confirm(t, f, box)
		box.Kept(t, "2.0.0")
	}
	_, err = desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: gone.Got.EnrolmentID})
	require.NoError(t, err)
	for _, text := range []wire.Secret{"a = 2\n", "a = 3\n"} {
		_, err = desk.Configure(t.Context(), "", fleet.ConfigureRequest{ID: d.Got.EnrolmentID, Configuration: text})
		require.NoError(t, err)
	}
	left := func() (ids, revisions []string) {
		require.NoError(t, db.Read(t.Context(), func(rd store.Reader) (err error) {
			if ids, err = store.Column[string](rd, `SELECT id FROM fleet_enrolment ORDER BY seq`); err == nil {
				revisions, err = store.Column[string](rd, `SELECT enrolment || ' ' || number FROM fleet_revision ORDER BY enrolment = ?, number`, d.Got.EnrolmentID)
			}
			return err
		}))
		return ids, revisions
	}
	sweep := func() { // as a backend that was started then
		seen := &wrote{DB: db, once: make(chan struct{}, 1)}
		again, _ := room.New(room.Options{Options: shared.Options{DB: seen, PublicURL: "https://fleet.example", Now: c.now}, Configuration: func(string, fleet.Slot) (string, error) { return "", nil }})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- again.Run(ctx) }()
		<-seen.once
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
	c.pass(90*24*time.Hour - time.Minute)
	late := f.Code(t, fleet.CodeRequest{TTLSeconds: 60})
	sweep()
	ids, revisions := left()
	require.Len(t, ids, 5)
	require.Len(t, revisions, 7)
	require.Equal(t, 2, count(t, db, `SELECT COUNT(*) FROM fleet_outcome`))
	c.pass(2 * time.Minute)
	sweep()
	ids, revisions = left()
	require.Equal(t, []string{gone.Got.EnrolmentID, d.Got.EnrolmentID, late.Enrolment.ID}, ids, expired.Enrolment.ID)
	require.Equal(t, []string{late.Enrolment.ID + " 1", d.Got.EnrolmentID + " 1", d.Got.EnrolmentID + " 3"}, revisions, "the confirmed one, and the newest")
	require.Equal(t, 1, count(t, db, `SELECT COUNT(*) FROM fleet_outcome`))
	_, err = gone.Configuration(t)
	require.Equal(t, fleet.CertRevoked, wire.ReasonOf(err), "a device that was revoked hears it whenever it asks: %v", err)
	rev, err := d.Configuration(t)
	require.NoError(t, err)
	require.Equal(t, wire.Secret("a = 3\n"), rev.Text)
}

// TestField2_G5NoStrangerLocksAGoodCodeOut: wrong codes are counted by address and altogether, and only wrong ones are refused by it.
// The kind: one address, all of them, a network that has one address, one code's box.
func TestField2_G5NoStrangerLocksAGoodCodeOut(t *testing.T) {
	c := start()
	_, f := desk(t, storetest.Open(t, steps()...), c, nil)
	d := f.Device(t, "PA-1")
	req := d.Request(t, fleettest.Unknown(1))
	try := func(address string, code wire.Secret) string {
		req.Code = code
		_, err := f.Service.Redeem(fleet.From(t.Context(), address), "", req)
		return wire.ReasonOf(err)
	}
	good := func() wire.Secret { return f.Code(t, fleet.CodeRequest{}).Code }
	for range 10 {
		require.Equal(t, fleet.CodeNotGood, try("192.0.2.1:5", fleettest.Unknown(1)))
	}
	require.Equal(t, fleet.LockedOut, try("192.0.2.1:6", fleettest.Unknown(1)))
	require.Equal(t, fleet.LockedOut, try("[::ffff:192.0.2.1]:6", fleettest.Unknown(1)), "the same address, written in another way")
	require.Empty(t, try("192.0.2.1:6", good()), "a good code is taken from where others were wrong")
	require.Equal(t, fleet.CodeNotGood, try("192.0.2.2:5", fleettest.Unknown(1)), "another address has its own ten")
	answers := map[string]int{}
	for n := range 1000 {
		answers[try("198.51."+strconv.Itoa(n/200)+"."+strconv.Itoa(n%200)+":5", fleettest.Unknown(n))]++
	}
	require.Equal(t, map[string]int{fleet.CodeNotGood: 89, fleet.LockedOut: 911}, answers)
	require.Empty(t, try("203.0.113.1:5", good()), "all are locked, and a good code is none of them")
	require.Empty(t, try("192.0.2.1:5", good()))
	c.pass(time.Minute)
	require.Equal(t, fleet.CodeNotGood, try("203.0.113.1:5", fleettest.Unknown(1)), "after a minute wrong ones are told so again")
	require.Equal(t, fleet.LockedOut, try("192.0.2.1:5", fleettest.Unknown(1)), "and at the one address not yet")
	c.pass(14 * time.Minute)
	for range 10 {
		require.Equal(t, fleet.CodeNotGood, try("[2001:db8::1]:5", fleettest.Unknown(1)))
	}
	require.Equal(t, fleet.LockedOut, try("[2001:db8::ffff]:5", fleettest.Unknown(1)), "a /64 is one address")
}

// TestField2_G5ABoundCodeTakesFewBoxes: whoever knows a code that is bound to a box guesses the printed serial number of the box at one
// a ten seconds; another code is not slower by it.
func TestField2_G5ABoundCodeTakesFewBoxes(t *testing.T) {
	c := start()
	_, f := desk(t, storetest.Open(t, steps()...), c, nil)
	bound, other := f.Code(t, fleet.CodeRequest{SerialNumber: "PA-9"}), f.Code(t, fleet.CodeRequest{SerialNumber: "PA-8"})
	for n := range 10 {
		err := f.Device(t, "PB-"+strconv.Itoa(n)).Redeem(t, bound.Code)
		require.Equal(t, fleet.CodeNotGood, wire.ReasonOf(err), "%v", err)
	}
	box := f.Device(t, "PA-9")
	var e *wire.Error
	require.ErrorAs(t, box.Redeem(t, bound.Code), &e)
	require.Equal(t, fleet.LockedOut, e.Reason)
	require.Equal(t, 10*time.Second, e.RetryAfter)
	require.NoError(t, f.Device(t, "PA-8").Redeem(t, other.Code))
	c.pass(e.RetryAfter)
	require.NoError(t, box.Redeem(t, bound.Code))
}

// Tries at once are counted each.
func TestTriesAtOnce(t *testing.T) {
	_, f := desk(t, storetest.Open(t, steps()...), start(), nil)
	req := f.Device(t, "PA-1").Request(t, fleettest.Unknown(1))
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			_, err := f.Service.Redeem(t.Context(), "", req)
			mu.Lock()
			defer mu.Unlock()
			answers[wire.ReasonOf(err)]++
		})
	}
	wg.Wait()
	require.Equal(t, map[string]int{fleet.CodeNotGood: 10, fleet.LockedOut: 50}, answers)
}

// The wait that is told after wrong codes is the one after which wrong ones are told so again.
func TestTheWaitIsSaid(t *testing.T) {
	c := start()
	_, f := desk(t, storetest.Open(t, steps()...), c, nil)
	d := f.Device(t, "PA-1")
	for range 10 {
		require.Equal(t, fleet.CodeNotGood, wire.ReasonOf(d.Redeem(t, fleettest.Unknown(1))))
		c.pass(time.Second)
	}
	var e *wire.Error
	require.ErrorAs(t, d.Redeem(t, fleettest.Unknown(1)), &e)
	require.Equal(t, 15*time.Minute-time.Second, e.RetryAfter)
	c.pass(e.RetryAfter)
	require.Equal(t, fleet.CodeNotGood, wire.ReasonOf(d.Redeem(t, fleettest.Unknown(1))))
}

// A code is made only with a configuration that a terminal can start with.
func TestAConfigurationIsWhole(t *testing.T) {
	f, _ := desk(t, storetest.Open(t, steps()...), start(), nil)
	_, err := f.Create(t.Context(), "", fleet.CodeRequest{})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	require.ErrorContains(t, err, "slot: want terminalId")
	_, err = f.Import(t.Context(), "", fleet.ImportRequest{Boxes: []fleet.ImportBox{{SerialNumber: "a", Slot: fleet.Slot{TerminalID: "T"}}, {SerialNumber: "b"}}})
	require.ErrorContains(t, err, "boxes[1].slot: want terminalId")
	got, err := f.List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	require.Empty(t, got.Enrolments, "a list is taken as a whole")
	for _, opt := range []room.Options{{}, {Options: shared.Options{PublicURL: "x"}}, {Options: shared.Options{PublicURL: "x"}, Configuration: func(string, fleet.Slot) (string, error) { return "", nil }}} {
		_, err := room.New(opt)
		require.Error(t, err)
	}
}

// A key of the authority that was changed in the store signs nothing.
func TestAnAuthorityThatWasChanged(t *testing.T) {
	db := storetest.Open(t, steps()...)
	f, _ := desk(t, db, start(), nil)
	require.NoError(t, f.Init(t.Context()))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE fleet_authority SET private = substr(private, 1, length(private) - 1)`)
		return err
	}))
	again, _ := desk(t, db, start(), nil)
	require.ErrorIs(t, again.Init(t.Context()), store.ErrTampered)
	_, err := again.Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{TerminalID: "T"}})
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.False(t, strings.Contains(err.Error(), "cAnArY"))
}
