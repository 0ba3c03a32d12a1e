package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThriftyOnASmallBox(t *testing.T) {
	require.False(t, thrifty(0), "not known")
	require.True(t, thrifty(64<<20))
	require.True(t, thrifty(smallMemory))
	require.False(t, thrifty(smallMemory+1))
	require.Greater(t, totalMemory(), uint64(16<<20))
}
