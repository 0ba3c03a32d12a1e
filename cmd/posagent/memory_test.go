package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThriftyOnASmallBox(t *testing.T) {
	require.False(t, isSmall(0), "not known")
	require.True(t, isSmall(64<<20))
	require.True(t, isSmall(smallMemory))
	require.False(t, isSmall(smallMemory+1))
	require.Greater(t, totalMemory(), uint64(16<<20))
}
