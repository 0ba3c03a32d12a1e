package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/schemes/methods"
)

// A training terminal asks no backend but its own, and takes no address that the terminal which sells has, or will have when it starts again.
func TestATrainingTerminalTakesNothingOfTheOther(t *testing.T) {
	real, err := config.Load("", nil)
	require.NoError(t, err)
	file, err := trainingConfig(t.TempDir(), real, methods.Definition{Name: "SWISH_E_COM"})
	require.NoError(t, err)
	cfg, err := config.Load(file, nil)
	require.NoError(t, err)
	require.True(t, cfg.Sandbox())
	require.Equal(t, "127.0.0.1:0", cfg.ECR.TCP)
	require.Equal(t, "127.0.0.1:0", cfg.Backend.Listen)
	require.Empty(t, cfg.Port.Listen, "the local port is the other's")
}
