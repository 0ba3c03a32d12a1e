package disputes

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1" // one of the hashes of OAEP
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"

	"posagent/schemes/wire"
)

// keySize is a key's, in bits, and with it the size of an encrypted number (S1 2.3).
const keySize = 2048

// ErrKey is the answer to a public key that is none of RSA 2048.
var ErrKey = errors.New("disputes: want a public RSA key of 2048 bits")

// ErrCard is the answer to a card number that this key does not read.
var ErrCard = errors.New("disputes: not an encrypted card number")

// Publish describes a public key.
func Publish(key *rsa.PublicKey) (PublicKey, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil || key.N.BitLen() != keySize {
		return PublicKey{}, ErrKey
	}
	sum := sha256.Sum256(der)
	return PublicKey{
		ID: hex.EncodeToString(sum[:8]), Algorithm: OAEP,
		PEM: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
	}, nil
}

// Seal encrypts a card number for who holds the private key: OAEP with SHA-256, Base64.
func (k PublicKey) Seal(pan wire.PAN) (wire.Secret, error) {
	block, _ := pem.Decode([]byte(k.PEM))
	if block == nil {
		return "", ErrKey
	}
	any, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := any.(*rsa.PublicKey)
	if err != nil || !ok || key.N.BitLen() != keySize {
		return "", ErrKey
	}
	sealed, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, key, []byte(pan.Reveal()), nil)
	if err != nil {
		return "", ErrKey
	}
	return wire.Secret(base64.StdEncoding.EncodeToString(sealed)), nil
}

// Unseal reads an encrypted card number. The error is ErrCard, whatever is wrong with it.
func Unseal(key *rsa.PrivateKey, sealed wire.Secret) (wire.PAN, error) {
	data, ok := cipherText(sealed)
	if !ok {
		return wire.PAN{}, ErrCard
	}
	for _, o := range [...]rsa.OAEPOptions{{Hash: crypto.SHA256}, {Hash: crypto.SHA1}, {Hash: crypto.SHA256, MGFHash: crypto.SHA1}} {
		if plain, err := key.Decrypt(nil, data, &o); err == nil {
			if pan := wire.NewPAN(string(plain)); pan.Valid() {
				return pan, nil
			}
			return wire.PAN{}, ErrCard
		}
	}
	return wire.PAN{}, ErrCard
}

// cipherText says whether a text can be an encrypted number.
func cipherText(s wire.Secret) ([]byte, bool) {
	if len(s) > 4*keySize/8 {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(s.Reveal())
	return data, err == nil && len(data) == keySize/8
}
