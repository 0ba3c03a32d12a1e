package wire_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// The name goes along with a call, whoever stops waiting for it.
func TestClient(t *testing.T) {
	require.Empty(t, wire.Client(t.Context()))
	ctx, cancel := context.WithCancel(wire.WithClient(t.Context(), "kiosk"))
	cancel()
	require.Equal(t, "kiosk", wire.Client(context.WithoutCancel(ctx)))
	require.Equal(t, "till", wire.Client(wire.WithClient(ctx, "till")))
}
