package fleet

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/store"
)

const (
	authorityYears   = 20
	certificateYears = 2
	before           = time.Hour // certificates are good since then: clocks differ
)

// authority is what signs the certificates and configurations of the fleet.
type authority struct {
	key  ed25519.PrivateKey
	cert *x509.Certificate
}

func authorityCell() store.Cell {
	return store.Cell{Table: "fleet_authority", Key: "1", Column: "private"}
}

// Init makes the authority where there is none.
func (f *Fleet) Init(ctx context.Context) error {
	_, err := f.authority(ctx)
	return err
}

// authority reads the authority, or makes it: one for ever, by the first caller.
func (f *Fleet) authority(ctx context.Context) (*authority, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.signer != nil {
		return f.signer, nil
	}
	a, err := f.load(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		if a, err = f.make(ctx); err != nil {
			if made, none := f.load(ctx); none == nil { // another process was first, or the answer was lost
				a, err = made, nil
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fleet authority: %w", err)
	}
	f.signer = a
	return a, nil
}

func (f *Fleet) load(ctx context.Context) (a *authority, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) error {
		var der, sealed []byte
		if err := rd.QueryRow(`SELECT certificate, private FROM fleet_authority WHERE id = 1`).Scan(&der, &sealed); err != nil {
			return err
		}
		seed, err := f.DB.Unseal(rd, authorityCell(), sealed)
		if err != nil {
			return err
		}
		if len(seed) != ed25519.SeedSize {
			return store.ErrTampered
		}
		a = &authority{key: ed25519.NewKeyFromSeed(seed)}
		a.cert, err = x509.ParseCertificate(der)
		return err
	})
	return a, err
}

func (f *Fleet) make(ctx context.Context) (*authority, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	now := f.Now()
	tmpl := &x509.Certificate{
		SerialNumber: serialNumber(), Subject: pkix.Name{CommonName: "posagent fleet"}, NotBefore: now.Add(-before), NotAfter: now.AddDate(authorityYears, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, public, key)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	err = f.DB.Write(ctx, func(tx store.Tx) error {
		sealed, err := f.DB.Seal(tx, authorityCell(), key.Seed())
		if err == nil {
			_, err = tx.Exec(`INSERT INTO fleet_authority (id, certificate, private, at_ms) VALUES (1, ?, ?, ?)`, der, sealed, now.UnixMilli())
		}
		return err
	})
	return a, err
}

// issue makes the client certificate of a device. Nothing in it was chosen by the device but its key and
// the serial number that the code was redeemed for.
func (a *authority) issue(public crypto.PublicKey, serial string, now time.Time) ([]byte, error) {
	until := now.AddDate(certificateYears, 0, 0)
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	tmpl := &x509.Certificate{
		SerialNumber: serialNumber(), Subject: pkix.Name{CommonName: serial}, NotBefore: now.Add(-before), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}
	return x509.CreateCertificate(rand.Reader, tmpl, a.cert, public, a.key)
}

// fingerprint names the authority in tickets.
func (a *authority) fingerprint() string { return fleet.Fingerprint(a.cert.Raw) }

// serialNumber makes the serial number of a certificate: 127 random bits.
func serialNumber() *big.Int {
	raw := room.Random(16)
	raw[0] &= 0x7f
	return new(big.Int).SetBytes(raw)
}
