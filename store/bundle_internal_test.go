package store

import (
	"crypto/cipher"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The key material was computed by Python's hashlib.pbkdf2_hmac("sha256", secret, salt, 1000, 64).
func TestBundleKeysAreStretchedAsTheFormatSays(t *testing.T) {
	want, err := hex.DecodeString("19508456b5f2d969844751f8e4a2e3406dab33cf1fac4f5c60da367a0dfebc4e" +
		"e6a48ee05efa974a6f7b06acb767f5692bcc8d8381645701b64dd312b2b8e4df")
	require.NoError(t, err)
	k, err := deriveBundleKey([]byte("a secret of some length"), []byte("and a salt of 16"), 1000)
	require.NoError(t, err)
	for _, half := range []struct {
		key []byte
		got cipher.AEAD
	}{{want[:32], k.stream}, {want[32:], k.wrap}} {
		aead, err := newAEAD(half.key)
		require.NoError(t, err)
		nonce := make([]byte, aead.NonceSize())
		require.Equal(t, aead.Seal(nil, nonce, []byte("plain"), nil), half.got.Seal(nil, nonce, []byte("plain"), nil))
	}
}
