package outbox_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// An acknowledgement stands in the audit log in its own commit: where that cannot be written the alert stays. An alert that the
// program takes back is no deed of a person.
func TestAnAcknowledgementIsNoted(t *testing.T) {
	db := storetest.Open(t, outbox.Schema()...)
	var noted []string
	full := errors.New("disk full")
	var fault error
	box := outbox.NewOutbox(outbox.Options{DB: db, Audit: func(_ store.Tx, deed, subject, detail string, amount int64, currency string) error {
		if fault == nil {
			noted = append(noted, deed+" "+subject+" "+detail+" "+currency)
			require.EqualValues(t, 4200, amount)
		}
		return fault
	}})
	alerts := func() (n int) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
			_, n, err = outbox.Alerts(r, 10)
			return err
		}))
		return n
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for _, key := range []wire.Key{"k1", "k2"} {
			op := outbox.Op{New: outbox.New{Key: key, Kind: "payments.capture", AmountMin: 4200, Currency: "EUR"}, State: outbox.Failed}
			if err := box.Alert(tx, op, "L1", ""); err != nil {
				return err
			}
		}
		return nil
	}))
	fault = full
	require.ErrorIs(t, box.Acknowledge(t.Context(), "k1"), full)
	require.Equal(t, 2, alerts(), "neither without the other")
	fault = nil
	require.NoError(t, box.Acknowledge(t.Context(), "k1"))
	require.ErrorIs(t, box.Acknowledge(t.Context(), "k1"), outbox.ErrNoAlert)
	require.NoError(t, box.TakeAlertBack(t.Context(), "k2"))
	require.ErrorIs(t, box.TakeAlertBack(t.Context(), "k2"), outbox.ErrNoAlert)
	require.Zero(t, alerts())
	require.Equal(t, []string{"operation.acknowledged k1 payments.capture EUR"}, noted)
}

// TestField3_E5TrustInARestoredJournalIsADeed: "ops release --all" lets writes go that a restored journal would hold, also where nothing is
// held at that moment: no line of the audit log said that a person had done so.
func TestField3_E5TrustInARestoredJournalIsADeed(t *testing.T) {
	db := storetest.Open(t, outbox.Schema()...)
	var lines []string
	box := outbox.NewOutbox(outbox.Options{DB: db, Audit: func(_ store.Tx, deed, subject, detail string, _ int64, _ string) error {
		lines = append(lines, deed+" "+subject+": "+detail)
		return nil
	}})
	release := func() {
		t.Helper()
		_, err := box.ReleaseEach(t.Context())
		require.NoError(t, err)
	}
	release()
	require.Empty(t, lines, "nothing was held, and nothing is")
	_, err := box.HoldRestored(t.Context(), "restored")
	require.NoError(t, err)
	for range 2 {
		release()
		require.Equal(t, []string{"operation.release all: 0 released; repeats of the journal before this one are held no more"}, lines, "once")
	}
}
