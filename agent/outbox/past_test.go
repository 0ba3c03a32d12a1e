package outbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
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
		require.NoError(t, r.db.Read(t.Context(), func(tx store.Reader) (err error) { hold, err = r.o.Forgotten(tx, true); return err }))
		require.Equal(t, kind == store.WasLocked, hold != "", "%s: %s", kind, hold)
		r.stop()
	}
}
