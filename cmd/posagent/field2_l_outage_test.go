package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/schemes/backend"
	desk "posagent/schemes/backend/fleet"
	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// trialOf is a terminal whose second revision is not proven yet.
func trialOf(t *testing.T, local, first, second string) *running {
	t.Helper()
	d, err := desk.New(desk.Options{
		Options:       room.Options{DB: storetest.Open(t, append(room.Schema(), desk.Schema()...)...), PublicURL: "https://fleet.example"},
		Configuration: func(string, fleet.Slot) (string, error) { return first, nil },
	})
	require.NoError(t, err)
	dir := t.TempDir()
	c := &call{global: global{state: filepath.Join(dir, "state"), config: filepath.Join(dir, "config.toml")}, ctx: t.Context()}
	require.NoError(t, os.WriteFile(c.config, []byte(local), 0o600))
	require.NoError(t, os.Mkdir(c.state, 0o700))
	box := enrolment(c)
	by := enrol.Driver{Version: "1", Service: func(string) (fleet.Service, error) { return d, nil }, Try: func(context.Context, enrol.Trial) error { return nil }}
	made, err := d.Create(t.Context(), wire.NewKey(), fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M", TerminalID: "T"}})
	require.NoError(t, err)
	require.NoError(t, box.Begin(fleet.Ticket{URL: made.URL, Code: made.Code, Fingerprint: made.Fingerprint}, "PA-1"))
	require.NoError(t, box.Resume(t.Context(), by))
	require.NoError(t, box.Prove(made.Enrolment.ID, 1))
	_, err = d.Configure(t.Context(), wire.NewKey(), fleet.ConfigureRequest{ID: made.Enrolment.ID, Configuration: wire.Secret(second)})
	require.NoError(t, err)
	number, err := box.Refresh(t.Context(), by)
	require.NoError(t, err)
	require.Equal(t, int64(2), number)
	on, err := box.Active()
	require.NoError(t, err)
	cfg, err := configWith(c, on.Revision, on.Text, nil)
	require.NoError(t, err)
	on.Certificate = nil // the backend of this test asks for none
	return &running{c: c, cfg: cfg, on: on, log: slog.New(slog.DiscardHandler)}
}

// wellBackend is a backend that answers, and revision a configuration that has it at an address.
func wellBackend(t *testing.T) *httptest.Server {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", Credentials: backend.Credentials{Bearer: "posagent-demo-bearer"}})
	require.NoError(t, err)
	require.NoError(t, b.Init(t.Context()))
	srv := httptest.NewServer(b.Handler())
	t.Cleanup(func() { srv.Close(); require.NoError(t, b.Close()) })
	return srv
}

func revision(base, more string) string {
	return fmt.Sprintf("[terminal]\nbax_id = \"1\"\nterminal_id = \"2\"\nmerchant_id = \"3\"\n[upstream]\nbase = %q\ntimeout = \"1s\"\n[upstream.auth]\nbearer = \"posagent-demo-bearer\"\n%s", base, more)
}

// nobody is an address where nothing listens.
const nobody = "http://127.0.0.1:1"

// TestField2_L6TheOneBeforeMustDoBetter: a good revision was given up for good because the line was down for ten minutes. The kind is all
// that keeps a terminal from being ready and is not the revision's doing: each cause is judged by what the one before would do. The way to
// the backend is asked with it, a register line is compared, a disk or a revocation is the same with both.
func TestField2_L6TheOneBeforeMustDoBetter(t *testing.T) {
	up := wellBackend(t).URL
	line := "[ecr]\ntcp = \"127.0.0.1:0\"\n"
	reaches := trialOf(t, line, revision(up, ""), revision(nobody, ""))
	cutOff := trialOf(t, line, revision(nobody, ""), revision(nobody, "api_key = \"k\"\n"))
	otherLine := trialOf(t, "", revision(nobody, line), revision(nobody, "[ecr]\nserial = \"/dev/ttyUSB7\"\n"))
	box := map[ready.Cause]bool{ready.Replaced: true, ready.NotConfirmed: true, ready.DiskFull: true, ready.ReadOnly: true, ready.Journal: true, ready.Locked: true, ready.Displaced: true}
	lines := map[ready.Cause]bool{
		ready.NoLine: true, ready.LineGone: true, ready.LinePulled: true, ready.LineStuck: true, ready.LineAltered: true, ready.LineDenied: true, ready.LineBusy: true, ready.LineNoTTY: true,
		ready.LineFailed: true, ready.LineAddress: true, ready.PortAddress: true, ready.Starting: true,
	}
	for _, cause := range ready.Causes() {
		if cause == "refused" || cause == "credentials" || box[cause] || lines[cause] { // the others are asked as these
			report := ready.Not(ready.Trouble{Cause: cause}, ready.Place{})
			way := !box[cause] && !lines[cause]
			require.Equal(t, way, reaches.better(t.Context(), &report), "%s, and the one before reaches the backend", cause)
			require.False(t, cutOff.better(t.Context(), &report), "%s, and the one before does not reach the backend either", cause)
			require.Equal(t, lines[cause], otherLine.better(t.Context(), &report), "%s, and the one before has another line", cause)
		} else {
			require.Equal(t, ofBackend, whose(cause), cause)
		}
	}
	require.True(t, cutOff.better(t.Context(), nil), "it hangs before it is judged")

	// What the trial of a newer one meets is no refusal where the one in use meets it, too.
	for name, tc := range map[string]struct {
		in   *running
		away bool
	}{"both are cut off": {cutOff, true}, "the one in use reaches it": {trialOf(t, line, revision(up, ""), revision(up, "api_key = \"k\"\n")), false}} {
		var away *enrol.AwayError
		err := driver(tc.in.c, tc.in.cfg, tc.in.log, nil).Try(t.Context(), enrol.Trial{Revision: 3, Text: wire.Secret(revision(nobody, ""))})
		require.ErrorContains(t, err, "revision 3 is not used: ", name)
		require.Equal(t, tc.away, errors.As(err, &away), name)
	}

	// A start that ends by a fault counts where the one before would have started.
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	busy := fmt.Sprintf("[ecr]\ntcp = %q\n", taken.Addr().String())
	fault := fail(exitFailed, "another program listens")
	require.False(t, startsBetter(trialOf(t, busy, revision(up, ""), revision(up, "api_key = \"k\"\n")).c, fault), "the address is taken for both")
	require.True(t, startsBetter(trialOf(t, "", revision(up, line), revision(up, busy)).c, fault), "the address is the new one's")
	require.False(t, startsBetter(reaches.c, fail(exitDamaged, "the device key is missing")), "the journal is the same with both")
	require.True(t, startsBetter(reaches.c, fail(exitConfig, "the configuration has an error")))
}

// TestField2_L6OnlyTimeThatSpeaksAgainstItCounts: an outage of any length gives nothing up and counts no start, and what the revision was
// tried for goes on after it. Ten minutes in which the one before would do better give it up.
func TestField2_L6OnlyTimeThatSpeaksAgainstItCounts(t *testing.T) {
	away := ready.Not(ready.Trouble{Cause: "stall", Where: "pay.example"}, ready.Place{})
	for name, tc := range map[string]struct {
		better func(minute int) bool
		gone   int // the minute in which it is given up, 0 = never
	}{
		"an outage":              {func(int) bool { return false }, 0},
		"the line comes back":    {func(m int) bool { return m == 12 }, 0},
		"the one before does":    {func(int) bool { return true }, 9},
		"an outage, then a line": {func(m int) bool { return m >= 30 }, 39},
	} {
		t.Run(name, func(t *testing.T) {
			r := trialOf(t, "", revision(nobody, ""), revision(nobody, "api_key = \"k\"\n"))
			box, now, minute := enrolment(r.c), time.Now(), 0
			start := func() *proving {
				gaveUp, why, err := box.Started("boot")
				require.NoError(t, err)
				require.Zero(t, gaveUp, why)
				return &proving{box: box, on: r.on, log: r.log, looked: now, better: func(context.Context, *ready.Report) bool { return tc.better(minute) }}
			}
			p := start()
			for second := range 60 * 60 {
				minute, now = second/60, now.Add(time.Second)
				p.step(t.Context(), now, &away)
				if tc.gone > 0 && minute < tc.gone {
					require.False(t, p.done, "minute %d", minute)
				}
			}
			active, err := box.Active()
			require.NoError(t, err)
			require.Equal(t, tc.gone == 0, active.Revision == 2)
			if tc.gone > 0 {
				return
			}
			for range 12 { // starts that are killed in the outage
				p = start()
				for range 120 {
					now = now.Add(time.Second)
					p.step(t.Context(), now, &away)
				}
			}
			p.step(t.Context(), now, &ready.Report{Ready: true})
			s, err := box.Summary()
			require.NoError(t, err)
			require.True(t, p.done && s.Proven)
		})
	}
}
