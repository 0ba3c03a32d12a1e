package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/events"
)

// An attempt is written down before anything leaves: a refused connection has sent nothing.
func TestAnAttemptIsNotCalledSent(t *testing.T) {
	require.Equal(t, "first attempt", entryOf(events.Event{Item: events.Item{Event: OfOperation + ".sent", Body: []byte(`{}`)}}).Text)
}
