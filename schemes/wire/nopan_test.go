package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// TestAnIDIsNoCardNumber: an id that looked like one was masked in the remedy that named it.
func TestAnIDIsNoCardNumber(t *testing.T) {
	bad := "b744887294268109" // 15 digits with a good check digit
	require.NotEqual(t, bad, wire.MaskPANs(bad))
	list := []string{bad, "abcdabcd-abcd-4111-1111-11111111abcd", "b7448872a4268109", "never"}
	require.NotEqual(t, list[1], wire.MaskPANs(list[1]), "hyphens do not hide one")
	require.Equal(t, "b7448872a4268109", wire.NoPAN(func() string {
		next := list[0]
		list = list[1:]
		return next
	}))
	for range 20_000 { // about ten of them without the rule
		key := string(wire.NewKey())
		require.Equal(t, key, wire.MaskPANs(key))
	}
}
