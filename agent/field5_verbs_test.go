package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// A journal was begun anew after one was lost, and its first backup was put back within a day: it was taken for one that lacks the keys
// of that day alone, and a create that the lost one had sent long ago was sent again under a key that the backend had forgotten, or that
// was made of another secret. The kind: each loss after which nothing tells how old an unknown key is (gone, locked, a reset), then each
// loss that alone would tell it (restored, cut and accepted), any number of times. A person's release ends it; a journal that lost a day
// alone holds nothing.
func TestField5_ASecondLossForgetsNothingOfTheFirst(t *testing.T) {
	kinds := map[string]store.Kind{"gone": store.WasLost, "locked": store.WasLocked, "reset": store.WasReset, "none": store.FirstGeneration}
	for first, kind := range kinds {
		for _, second := range []string{"restored", "accepted"} {
			t.Run(first+" and "+second, func(t *testing.T) {
				dir := t.TempDir()
				path, secret := filepath.Join(dir, "agent.db"), filepath.Join(dir, "secret")
				marks := []string{store.MarkPath(path)}
				opt := sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: marks}
				boot := func() time.Duration { return time.Hour }
				start := func(accept string, release bool) (held string) {
					opt := opt
					opt.Accept = accept
					db, err := agent.Open(t.Context(), opt)
					require.NoError(t, err)
					_, err = agent.Recover(t.Context(), db, time.Now, boot, slog.New(slog.DiscardHandler))
					require.NoError(t, err)
					_, err = db.Secret(t.Context(), "callers", secret)
					require.NoError(t, err)
					box := outbox.NewOutbox(outbox.Options{DB: db, Boot: boot})
					if release {
						_, err := box.ReleaseEach(t.Context())
						require.NoError(t, err)
					}
					require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { // something that a copy of before lacks
						_, err := tx.Exec(`INSERT INTO checkout_counters (name, value) VALUES ('starts', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`)
						return err
					}))
					require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { held, err = box.Forgotten(r, true, -1); return err }))
					require.NoError(t, db.Close())
					return held
				}
				replaced := func(release bool) (held string) {
					if second == "restored" {
						copied := path + ".copy"
						require.NoError(t, sqlite.Snapshot(t.Context(), path, copied, opt.Wrapper, opt.Wrapper, nil))
						start("", release)
						staged := opt
						staged.Path, staged.Steps = copied, agent.Schema()
						require.NoError(t, sqlite.Stage(t.Context(), staged, opt.Wrapper, "a backup"))
						require.NoError(t, sqlite.Replace(t.Context(), copied, path, false))
						return start("", false)
					}
					old, err := os.ReadFile(path)
					require.NoError(t, err)
					start("", release)
					require.NoError(t, os.WriteFile(path, old, 0o600))
					return start("looked", false)
				}

				require.Empty(t, start("", false))
				if first == "none" {
					require.Empty(t, replaced(false), "the backend still has the keys of a day")
					require.Empty(t, replaced(false))
					return
				}
				require.NoError(t, sqlite.Ended(path, marks, false, kind, "a reason"))
				require.NoError(t, sqlite.Remove(t.Context(), path, false))
				require.NoError(t, sqlite.Ended(path, marks, true, kind, "a reason"))
				if kind != store.WasLost { // its key is lost, too
					require.NoError(t, os.Remove(secret))
				}
				require.NotEmpty(t, start("", false))
				require.NotEmpty(t, replaced(false))
				require.NotEmpty(t, replaced(false), "and a third")
				require.NotEmpty(t, start("", false), "it stays")
				require.NotEmpty(t, replaced(true), "the copy is of before the release")
				require.Empty(t, start("", true))
				require.Empty(t, replaced(false), "a person has released what was before")
			})
		}
	}
}

// A box was tried out as a sandbox, with the numbers that its merchant and terminal were to have, and then given a real backend: a till
// that asked under an id of the trial was told "approved" without a cent having moved, and the day added play money up with real money. The
// kind: whatever makes a sandbox's journal a real backend's (a start, a reload, a revision, a person's word that it moved, whichever books he
// says stand there), once anything was sold or sent in it; the other way was refused before. An untouched journal is nobody's yet.
func TestField5_ASandboxsSalesAreNoTerminals(t *testing.T) {
	live, play := agent.Owner("https://a.example", "m", "1"), agent.Owner(agent.Sandbox, "m", "1")
	at := agent.Places{"payments": "https://a.example"}
	for what, did := range map[string]string{
		"nothing":      "",
		"a receipt":    `INSERT INTO checkout_counters (name, value) VALUES ('receipt', 1)`,
		"an operation": doneOperation,
	} {
		t.Run(what, func(t *testing.T) {
			db, ctx := storetest.Open(t, agent.Schema()...), t.Context()
			require.NoError(t, agent.Bind(ctx, db, store.Beside{}, play, agent.Places{"payments": agent.Sandbox}))
			fits := func() error {
				return db.Read(ctx, func(r store.Reader) error { return agent.Fits(r, live, at) })
			}
			if did == "" {
				require.NoError(t, fits())
				require.NoError(t, agent.Bind(ctx, db, store.Beside{}, live, at))
				return
			}
			require.NoError(t, db.Write(ctx, func(tx store.Tx) error { _, err := tx.Exec(did); return err }))
			for way, try := range map[string]func() error{
				"reload or revision": fits,
				"start":              func() error { return agent.Bind(ctx, db, store.Beside{}, live, at) },
				"same books": func() error {
					return agent.Moved(ctx, db, store.Beside{}, time.UnixMilli(1), agent.Move{Service: agent.Schemes, Reason: "r"}, live, at)
				},
				"other books": func() error {
					return agent.Moved(ctx, db, store.Beside{}, time.UnixMilli(1), agent.Move{Service: agent.Schemes, Others: true, Reason: "r"}, live, at)
				},
			} {
				var other *agent.OtherBackendError
				require.ErrorAs(t, try(), &other, way)
				require.Equal(t, agent.OtherBackendError{Was: play, Now: live}, *other, way)
				require.True(t, other.FromSandbox(), way)
				require.False(t, other.ToSandbox(), way)
			}
			require.NoError(t, agent.Bind(ctx, db, store.Beside{}, play, agent.Places{"payments": agent.Sandbox}), "the refusal changed nothing")
		})
	}
}

// doneOperation is an operation at its end.
const doneOperation = `INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
	created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
	VALUES ('k', 'aapay.reversal', 'a', 'DONE', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 0, 0, x'00')`
