package till

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVectors: a key is derived as the libraries of tills derive it, the answer that they accept opens, and the one that they refuse does
// not.
func TestVectors(t *testing.T) {
	f, err := os.Open("../nexo/testdata/vectors.jsonl")
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v struct {
			Direction, Meaning, SDK, Plaintext, Message string
			Encrypted                                   bool
			Key                                         struct {
				KeyIdentifier, Passphrase string
				KeyVersion                int
				Derived                   struct{ Hmac, Cipher, IV string }
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		if v.Direction != "terminal" || !v.Encrypted {
			continue
		}
		k, err := NewNexoKey(v.Key.KeyIdentifier, v.Key.KeyVersion, v.Key.Passphrase)
		require.NoError(t, err)
		word, _, _ := strings.Cut(v.SDK, ":")
		seen[word]++
		switch word {
		case "agrees":
			require.Equal(t, []string{v.Key.Derived.Hmac, v.Key.Derived.Cipher, v.Key.Derived.IV}, []string{hex.EncodeToString(k.mac), hex.EncodeToString(k.cipher), hex.EncodeToString(k.iv)})
		case "accepts":
			plain, err := k.open([]byte(v.Message))
			require.NoError(t, err)
			require.Equal(t, v.Plaintext, string(plain))
		case "rejects":
			_, err := k.open([]byte(v.Message))
			require.ErrorIs(t, err, ErrNotSealed)
		}
	}
	require.NoError(t, lines.Err())
	require.Equal(t, map[string]int{"agrees": 1, "accepts": 1, "rejects": 1}, seen)
}

// TestOnlyTheOwnKeyOpens: an answer under another key, one that was changed, and one in clear are none.
func TestOnlyTheOwnKeyOpens(t *testing.T) {
	k, err := NewNexoKey("till", 1, "correct horse battery")
	require.NoError(t, err)
	other, err := NewNexoKey("till", 1, "another passphrase")
	require.NoError(t, err)
	clear := []byte(`{"SaleToPOIResponse":{"MessageHeader":{},"PaymentResponse":{"Response":{"Result":"Success"}}}}`)
	data, err := k.seal(json.RawMessage(`{}`), clear)
	require.NoError(t, err)
	answer := bytes.Replace(data, []byte("SaleToPOIRequest"), []byte("SaleToPOIResponse"), 1)
	plain, err := k.open(answer)
	require.NoError(t, err)
	require.Equal(t, string(clear), string(plain))

	var box map[string]sealed
	require.NoError(t, json.Unmarshal(answer, &box))
	for place := range box["SaleToPOIResponse"].NexoBlob {
		changed := box["SaleToPOIResponse"]
		changed.NexoBlob = bytes.Clone(changed.NexoBlob)
		changed.NexoBlob[place] ^= 1
		data, err := json.Marshal(map[string]sealed{"SaleToPOIResponse": changed})
		require.NoError(t, err)
		_, err = k.open(data)
		require.ErrorIs(t, err, ErrNotSealed, place)
	}
	for _, data := range [][]byte{answer[:len(answer)-1], clear, []byte(`{}`), []byte(`[1]`)} {
		_, err = k.open(data)
		require.ErrorIs(t, err, ErrNotSealed, string(data))
	}
	_, err = other.open(answer)
	require.ErrorIs(t, err, ErrNotSealed)
	_, err = NewNexoKey("till", 1, "")
	require.Error(t, err)
}
