package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/agent/records/events"
)

// What was given up before it left says why, and that nothing has happened.
func TestGivenUpSaysWhy(t *testing.T) {
	for _, why := range []string{"never sent, too old", "nobody waits for it, and it is not stored: never sent"} {
		require.Equal(t, "given up, and nothing has happened at the backend: "+why, operationOf(outbox.Op{State: outbox.Expired, Reason: why}).Says)
	}
}

// An attempt is written down before anything leaves: a refused connection has sent nothing.
func TestAnAttemptIsNotCalledSent(t *testing.T) {
	require.Equal(t, "first attempt", entryOf(events.Event{Item: events.Item{Event: OfOperation + ".sent", Body: []byte(`{}`)}}).Text)
}
