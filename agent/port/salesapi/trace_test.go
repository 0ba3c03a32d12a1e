package salesapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/cross/need"
	"posagent/schemes/wire"
	"posagent/store"
)

const tillTrace = wire.Trace("4bf92f3577b34da6a3ce929d0e0e4736")

// traces are the traces that the backend has stored, in the order of its transactions.
func (x *rig) traces() (list []wire.Trace) {
	x.t.Helper()
	entries, err := x.backend.Books(x.t.Context())
	require.NoError(x.t, err)
	for _, e := range entries {
		list = append(list, e.TraceID)
	}
	return list
}

// A till's trace goes with the sale to the backend, and with its undo that is sent after the power was cut.
func TestTraceOverAPowerCut(t *testing.T) {
	x := open(t, byHand, 0)
	r := x.request("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1250}`)
	r.Header.Set("traceparent", "00-"+string(tillTrace)+"-00f067aa0ba902b7-01")
	id := x.send(r).sale(t).ID
	need.Until(t, "the trace is in the books", func() bool { return slices.Equal(x.traces(), []wire.Trace{tillTrace}) })
	x.stop()
	x.boot = "boot-2" // its register's dialogue is dead: the sale is undone
	x.start()
	need.Until(t, "the trace of the undo is in the books", func() bool { return slices.Equal(x.traces(), []wire.Trace{tillTrace, tillTrace}) })
	x.reaches(id, "DONE")
}

// A header that is no trace, two of them, and one that reads like a card number are ignored, and refuse no sale. The trace is no part of
// what makes a request the same.
func TestTraceIsNeverAReason(t *testing.T) {
	x := open(t, 0, 0)
	const parent = "-00f067aa0ba902b7-01"
	for key, headers := range map[string][]string{
		"none":    nil,
		"broken":  {"00-xyz" + parent},
		"doubled": {"00-" + string(tillTrace) + parent, "00-" + string(tillTrace) + parent},
		"card":    {"00-4111111111111111a3ce929d0e0e4736" + parent},
	} {
		r := x.request("alpha", "POST", "/agent/v1/sales?wait=60s", key, `{"amount":1250}`)
		r.Header["Traceparent"] = headers
		v := x.send(r).sale(t)
		require.Equal(t, "approved", v.Outcome, key)
		require.NoError(t, x.db.Read(t.Context(), func(tx store.Reader) error {
			var state string
			err := tx.QueryRow(`SELECT CAST(state AS TEXT) FROM checkout_sales WHERE key = ?`, v.ID).Scan(&state)
			require.NotContains(t, state, "4111111111111111", key)
			require.NotContains(t, state, "traceId", key)
			return err
		}))
		require.Contains(t, x.traces(), (&journal.Row{Key: wire.Key(v.ID)}).TraceID(), key)
		again := x.request("alpha", "POST", "/agent/v1/sales?wait=60s", key, `{"amount":1250}`)
		again.Header.Set("traceparent", "00-"+string(tillTrace)+parent)
		require.Equal(t, v.ID, x.send(again).sale(t).ID, "another trace makes no other request")
	}
	require.NotContains(t, x.traces(), tillTrace)
	require.Equal(t, 4, x.sales())
}
