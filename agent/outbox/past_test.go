package outbox_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/storetest"
)

// What happened to the journal is told as it was: a restore, a loss, an acceptance, a reset; nothing once all was released.
func TestPastNamesWhatHappened(t *testing.T) {
	for kind, want := range map[store.Kind]string{
		store.WasReset: "the journal was begun anew after a reset, or restored by an older program", store.WasLost: "the journal was begun anew after one was lost",
		store.WasLocked:   "the journal was begun anew where no key opened the one before it",
		store.WasAccepted: "the journal was cut and accepted", store.WasRestored: "the journal was restored",
	} {
		r := newRig(t, (&backend{}).kind("k"))
		r.open()
		past := func() (text string) {
			require.NoError(t, r.db.Read(t.Context(), func(tx store.Reader) (err error) { text, err = outbox.Past(tx); return err }))
			return text
		}
		require.Empty(t, past())
		if kind != store.WasReset { // which keeps nothing of the journal before it
			require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
				return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind}, Generation: 2})
			}))
		}
		_, err := r.o.HoldRestored(t.Context(), "w")
		require.NoError(t, err)
		require.Equal(t, want, past())
		// Without the device key the clients' keys make other keys for the backend: nothing new is sent under one before a person says so.
		var hold string
		require.NoError(t, r.db.Read(t.Context(), func(tx store.Reader) (err error) { hold, err = r.o.Forgotten(tx, true, -1); return err }))
		require.Equal(t, kind == store.WasLocked || kind == store.WasLost, hold != "", "%s: %s", kind, hold)
		r.stop()
	}
}

// TestField4_C8AWriteIsHeldAfterALoss: the secret was kept, and a client's create of days ago that was repeated after the loss was sent
// again: the backend had forgotten its key, and the customer paid twice. Held after a restore is what is older than that memory; of a
// lost journal nothing says how old it is. The kind: all that may stand for another journal, with the secret of before.
func TestField4_C8AWriteIsHeldAfterALoss(t *testing.T) {
	for kind, held := range map[store.Kind]bool{store.WasLost: true, store.WasLocked: true, store.WasAccepted: false, store.WasRestored: false} {
		r := newRig(t, (&backend{}).kind("k"))
		r.open()
		_, err := r.o.HoldRestored(t.Context(), "w")
		require.NoError(t, err)
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind}, Generation: 2})
		}))
		forgotten := func() (text string) {
			require.NoError(t, r.db.Read(t.Context(), func(tx store.Reader) (err error) { text, err = r.o.Forgotten(tx, true, -1); return err }))
			return text
		}
		require.Equal(t, held, forgotten() != "", "%s: %s", kind, forgotten())
		_, err = r.o.ReleaseEach(t.Context())
		require.NoError(t, err)
		require.Empty(t, forgotten(), "a person has released it")
		r.stop()
	}
}

// TestField2_M32WritesAreHeldWhereTheSecretIsNew: a reset deleted what makes our Keys of the clients'
// keys, and their repeats were sent for a day and held only after it. Kind: every start whose callers'
// secret is not the one before. A secret that the journal was restored with is.
func TestField2_M32WritesAreHeldWhereTheSecretIsNew(t *testing.T) {
	for name, c := range map[string]struct {
		kind         store.Kind
		beside       bool // the file beside the key is there
		before, hold bool // the secret was made before; a write is held
	}{
		"reset":                               {kind: store.WasReset, hold: true},
		"lost, and the secret too":            {kind: store.WasLost, hold: true},
		"lost":                                {kind: store.WasLost, beside: true, hold: true},
		"restored":                            {kind: store.WasRestored, before: true},
		"cut and accepted":                    {kind: store.WasAccepted, before: true},
		"the first start":                     {kind: store.FirstGeneration},
		"restored from before the secret was": {kind: store.WasRestored, hold: true},
	} {
		r := newRig(t, (&backend{}).kind("k"))
		r.open()
		file := filepath.Join(t.TempDir(), "callers.secret")
		if c.beside {
			require.NoError(t, store.KeepSecret(file, storetest.Wrapper{}, make([]byte, 32)))
		}
		made := func() {
			_, err := r.db.Secret(t.Context(), "callers", file)
			require.NoError(t, err)
		}
		if c.before {
			made()
		}
		if c.kind != store.FirstGeneration {
			_, err := r.o.HoldRestored(t.Context(), "w")
			require.NoError(t, err)
			require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
				if c.kind == store.WasReset {
					return nil
				}
				if c.kind == store.WasRestored || c.kind == store.WasAccepted {
					require.NoError(t, store.SecretKnown(tx))
				}
				return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: c.kind}, Generation: 2})
			}))
		}
		made()
		hold := func() (text string) {
			require.NoError(t, r.db.Read(t.Context(), func(tx store.Reader) (err error) { text, err = r.o.Forgotten(tx, true, -1); return err }))
			return text
		}
		require.Equal(t, c.hold, hold() != "", "%s: %s", name, hold())
		switch {
		case c.hold && c.beside:
			require.Contains(t, hold(), "how long ago keys were used in it cannot be told")
		case c.hold:
			require.Contains(t, hold(), "what makes keys of the clients' keys was lost")
		}
		r.stop()
	}
}
