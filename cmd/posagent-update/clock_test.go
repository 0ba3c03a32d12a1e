package main

import (
	"context"
	"crypto/ed25519"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/update"
)

// TestField2_D4TheClockIsJudgedBySignedTimes: the time that it is at least is told by what the repository's keys have signed, never by what
// the box's own clock has said before. So a clock that was ahead bars nothing once it is right, whatever has looked meanwhile, and one
// that is before what was signed is refused. A look leaves nothing behind.
func TestField2_D4TheClockIsJudgedBySignedTimes(t *testing.T) {
	p := newPlace(t)
	signed, day := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), 24*time.Hour
	key := func() ed25519.PrivateKey {
		k, err := readKey(keyFile(t))
		require.NoError(t, err)
		return k
	}
	k := keys{root: []ed25519.PrivateKey{key(), key()}, targets: []ed25519.PrivateKey{key(), key()}, online: key()}
	r, err := newRepository(p.at("repository"), signed, k)
	require.NoError(t, err)
	p.write("posagent-test", "the program 2.0.0")
	require.NoError(t, r.offer("posagent-test", p.at("posagent-test"), "2.0.0", 100))
	require.NoError(t, r.sign(k, true))
	root, err := os.ReadFile(p.at("repository/1.root.json"))
	require.NoError(t, err)
	look := func(at time.Time, o update.Options) (string, error) {
		d := &update.Driver{
			Dir: p.at("updates"), Place: update.Place{Program: p.at("posagent")}, Terminal: update.Terminal{Program: p.at("posagent"), State: p.at("state")},
			Source: update.Source{Root: root, Dir: p.at("repository")}, Target: "posagent-test", Version: func(context.Context, string) (string, error) { return "1.0.0", nil },
			Now: func() time.Time { return at }, Say: t.Logf,
		}
		res, err := d.Update(t.Context(), o)
		return res.Offered, err
	}
	kept := func() (list []string) {
		require.NoError(t, filepath.WalkDir(p.at("updates"), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				list = append(list, e.Name())
			}
			return err
		}))
		return list
	}

	for _, round := range []update.Options{{OnlyLook: true}, {}} {
		for _, at := range []time.Time{signed, signed.Add(5 * day), signed} { // right, ahead, right again
			offered, err := look(at, round)
			require.Equal(t, "2.0.0", offered, at)
			if !round.OnlyLook {
				require.ErrorIs(t, err, update.ErrNotNow, "no terminal runs here")
			} else {
				require.NoError(t, err)
				require.Empty(t, kept())
			}
		}
		for _, at := range []time.Time{time.Date(1970, 1, 1, 0, 5, 0, 0, time.UTC), signed.Add(-2 * day)} {
			_, err = look(at, round)
			require.ErrorIs(t, err, update.ErrClock)
			require.ErrorContains(t, err, "the repository was signed at 2026-11-28 12:00:00")
		}
		_, err = look(signed.Add(400*day), round)
		require.ErrorIs(t, err, update.ErrUntrusted)
		require.ErrorContains(t, err, "by the clock of this box, which says 2028-01-02 12:00:00")
		offered, _ := look(signed.Add(-day/2), round)
		require.Equal(t, "2.0.0", offered, "clocks differ by some hours")
	}

	// What was signed is remembered: an older state of the repository makes no clock right.
	older, err := os.ReadFile(p.at("repository/timestamp.json"))
	require.NoError(t, err)
	r.now = signed.Add(10 * day)
	require.NoError(t, r.sign(k, false))
	_, err = look(signed.Add(10*day), update.Options{})
	require.ErrorIs(t, err, update.ErrNotNow)
	require.NotEmpty(t, kept())
	require.NoError(t, os.WriteFile(p.at("repository/timestamp.json"), older, 0o600))
	_, err = look(signed, update.Options{})
	require.ErrorIs(t, err, update.ErrUntrusted)

	// A repository of an earlier program does not say when it was signed.
	r.timestamp.Signed.Version, r.now = 100, signed
	require.NoError(t, r.sign(k, false))
	delete(r.timestamp.Signed.UnrecognizedFields, update.SignedField)
	require.NoError(t, signAll(r.timestamp, k.online))
	require.NoError(t, write(r.timestamp, p.at("repository/timestamp.json")))
	_, err = look(signed.Add(5*day), update.Options{})
	require.ErrorIs(t, err, update.ErrClock, "what was seen before is not forgotten for it")
	offered, err := look(signed.Add(9*day+day/2), update.Options{OnlyLook: true})
	require.NoError(t, err)
	require.Equal(t, "2.0.0", offered)
}
