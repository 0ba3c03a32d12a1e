package nexo

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
)

// Key is a passphrase that tills share with the terminal. Several may be valid at once: one for each
// till, the old and the new version of one.
type Key struct {
	Identifier string
	Version    int
	Passphrase Passphrase
}

// Passphrase is a secret: it prints as stars.
type Passphrase string

// String implements fmt.Stringer.
func (Passphrase) String() string { return "***" }

// GoString implements fmt.GoStringer.
func (Passphrase) GoString() string { return "***" }

// MarshalText implements encoding.TextMarshaler.
func (Passphrase) MarshalText() ([]byte, error) { return []byte("***"), nil }

// cryptoVersion is the only one there is.
const cryptoVersion = 1

const (
	nonceSize = aes.BlockSize
	macSize   = sha256.Size
)

// derived is a Key as it is used.
type derived struct {
	identifier      string
	version         int
	mac, cipher, iv []byte
}

// derive stretches a passphrase. It refuses an empty one, and one beyond ASCII: the libraries
// disagree about its bytes.
func derive(k Key) (*derived, error) {
	if k.Passphrase == "" || k.Identifier == "" {
		return nil, errors.New("a key needs an identifier and a passphrase")
	}
	for _, r := range string(k.Passphrase) {
		if r < ' ' || r > '~' {
			return nil, fmt.Errorf("the passphrase of key %s: ASCII characters only", k.Identifier)
		}
	}
	all, err := pbkdf2.Key(sha1.New, string(k.Passphrase), []byte("AdyenNexoV1Salt"), 4000, 80)
	if err != nil {
		return nil, fmt.Errorf("derive key %s: %w", k.Identifier, err)
	}
	return &derived{k.Identifier, k.Version, all[:32], all[32:64], all[64:80]}, nil
}

// sum is the HMAC of a plaintext.
func (k *derived) sum(plain []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	h.Write(plain)
	return h.Sum(nil)
}

// run encrypts or decrypts whole blocks in place.
func (k *derived) run(data, nonce []byte, encrypt bool) {
	block, err := aes.NewCipher(k.cipher)
	if err != nil {
		panic(err) // the key has the right size
	}
	iv := make([]byte, nonceSize)
	subtle.XORBytes(iv, k.iv, nonce)
	if encrypt {
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
	} else {
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	}
}

// open decrypts a request. It returns nil for whatever is wrong, after the same work: the blob is
// decrypted and its HMAC compared even where the key is not known.
func open(keys []*derived, envelope object) (*derived, []byte, object) {
	request := objectAt(envelope, "SaleToPOIRequest")
	trailer := objectAt(request, "SecurityTrailer")
	nonce, mac, blob := base64Of(trailer["Nonce"]), base64Of(trailer["Hmac"]), base64Of(request["NexoBlob"])
	number := func(name string) int {
		n, err := strconv.Atoi(fmt.Sprint(trailer[name]))
		if _, is := trailer[name].(json.Number); !is || err != nil {
			return -1
		}
		return n
	}
	good := number("AdyenCryptoVersion") == cryptoVersion
	key, known := keys[0], false
	for _, k := range keys {
		if k.identifier == textAt(trailer, "KeyIdentifier") && k.version == number("KeyVersion") {
			key, known = k, true
		}
	}
	if len(nonce) != nonceSize || len(mac) != macSize || len(blob) == 0 || len(blob)%aes.BlockSize != 0 {
		good, nonce, mac, blob = false, make([]byte, nonceSize), make([]byte, macSize), make([]byte, 32*aes.BlockSize)
	}
	key.run(blob, nonce, false)
	plain := unpad(blob)
	if right := hmac.Equal(mac, key.sum(plain)); !right || !known || !good {
		return nil, nil, nil
	}
	inner, err := parse(plain)
	if err != nil {
		return nil, nil, nil
	}
	// The outer header is not covered by the HMAC: it is compared, and the inner one is acted on. A
	// response of ours is under the same key: its envelope is not that of a request.
	header := objectAt(inner, "SaleToPOIRequest", "MessageHeader")
	outer := objectAt(request, "MessageHeader")
	if header == nil || !maps.EqualFunc(header, outer, func(a, b any) bool { return string(ascii(a)) == string(ascii(b)) }) {
		return nil, nil, nil
	}
	return key, plain, inner
}

// unpad takes the padding off; what is not padded stays as it is, and fails by its HMAC.
func unpad(data []byte) []byte {
	n := int(data[len(data)-1])
	good := 1
	if n == 0 || n > aes.BlockSize || n > len(data) {
		good, n = 0, 1
	}
	for _, b := range data[len(data)-n:] {
		good &= subtle.ConstantTimeByteEq(b, byte(n))
	}
	if good == 0 {
		return data
	}
	return data[:len(data)-n]
}

// base64Of reads base64; nil for anything else.
func base64Of(v any) []byte {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil
	}
	return data
}

// seal encrypts an answer under the key of its request.
func seal(k *derived, plain []byte) ([]byte, error) {
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("nonce: %w", err)
	}
	return sealWith(k, plain, nonce)
}

func sealWith(k *derived, plain, nonce []byte) ([]byte, error) {
	message, err := parse(plain)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	n := aes.BlockSize - len(plain)%aes.BlockSize
	blob := append([]byte(nil), plain...)
	for range n {
		blob = append(blob, byte(n))
	}
	k.run(blob, nonce, true)
	sealed := object{}
	for name := range message {
		sealed[name] = object{
			"MessageHeader": valueAt(message, name, "MessageHeader"),
			"NexoBlob":      blob,
			"SecurityTrailer": object{
				"AdyenCryptoVersion": cryptoVersion, "KeyIdentifier": k.identifier, "KeyVersion": k.version,
				"Nonce": nonce, "Hmac": k.sum(plain),
			},
		}
	}
	return ascii(sealed), nil
}
