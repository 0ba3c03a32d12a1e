package till

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
)

// NexoKey is a passphrase that the register shares with the terminal, as it is used.
type NexoKey struct {
	identifier      string
	version         int
	mac, cipher, iv []byte
}

// NewNexoKey derives a key. It fails where the identifier or the passphrase is empty.
func NewNexoKey(identifier string, version int, passphrase string) (*NexoKey, error) {
	if identifier == "" || passphrase == "" {
		return nil, errors.New("a key has an identifier and a passphrase")
	}
	all, err := pbkdf2.Key(sha1.New, passphrase, []byte("AdyenNexoV1Salt"), 4000, 80)
	if err != nil {
		return nil, err
	}
	return &NexoKey{identifier, version, all[:32], all[32:64], all[64:80]}, nil
}

// trailer is what an encrypted message says of its encryption.
type trailer struct {
	AdyenCryptoVersion int
	KeyIdentifier      string
	KeyVersion         int
	Nonce, Hmac        []byte
}

// sealed is an encrypted message.
type sealed struct {
	MessageHeader   json.RawMessage
	NexoBlob        []byte
	SecurityTrailer trailer
}

// ErrNotSealed is an answer that is not encrypted under the register's key.
var ErrNotSealed = errors.New("the answer is not encrypted under this register's key")

func (k *NexoKey) sum(plain []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	h.Write(plain)
	return h.Sum(nil)
}

// chain is the cipher and its first block for a nonce.
func (k *NexoKey) chain(nonce []byte) (cipher.Block, []byte) {
	block, err := aes.NewCipher(k.cipher)
	if err != nil {
		panic(err) // the key has the right size
	}
	iv := make([]byte, aes.BlockSize)
	subtle.XORBytes(iv, k.iv, nonce)
	return block, iv
}

// seal encrypts a message whose header is given.
func (k *NexoKey) seal(header json.RawMessage, plain []byte) ([]byte, error) {
	nonce := make([]byte, aes.BlockSize)
	_, _ = rand.Read(nonce) // it never fails
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	blob := append([]byte(nil), plain...)
	for range pad {
		blob = append(blob, byte(pad))
	}
	block, iv := k.chain(nonce)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(blob, blob)
	return json.Marshal(map[string]sealed{"SaleToPOIRequest": {header, blob, trailer{1, k.identifier, k.version, nonce, k.sum(plain)}}})
}

// open decrypts an answer. ErrNotSealed.
func (k *NexoKey) open(data []byte) ([]byte, error) {
	var out struct{ SaleToPOIResponse sealed }
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, ErrNotSealed
	}
	m := out.SaleToPOIResponse
	n := len(m.NexoBlob)
	if n == 0 || n%aes.BlockSize != 0 || len(m.SecurityTrailer.Nonce) != aes.BlockSize {
		return nil, ErrNotSealed
	}
	block, iv := k.chain(m.SecurityTrailer.Nonce)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(m.NexoBlob, m.NexoBlob)
	pad := int(m.NexoBlob[n-1])
	if pad == 0 || pad > aes.BlockSize {
		return nil, ErrNotSealed
	}
	plain := m.NexoBlob[:n-pad]
	if !hmac.Equal(m.SecurityTrailer.Hmac, k.sum(plain)) {
		return nil, ErrNotSealed
	}
	return plain, nil
}
