package store

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBundleKeysAreStretchedAsTheFormatSays(t *testing.T) {
	for _, n := range []int{1, 2, 1000} {
		want, err := pbkdf2.Key(sha256.New, "a secret of some length", []byte("and a salt of 16"), n, 64)
		require.NoError(t, err)
		require.Equal(t, want, stretch([]byte("a secret of some length"), []byte("and a salt of 16"), n, 64))
	}
}
