package disputes

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/store"
)

func keyCell() store.Cell { return store.Cell{Table: "cases_key", Key: "1", Column: "private"} }

// Init makes the key pair where there is none.
func (c *Cases) Init(ctx context.Context) error {
	_, err := c.key(ctx)
	return err
}

// PublicKey implements disputes.Keys.
func (c *Cases) PublicKey(ctx context.Context) (disputes.PublicKey, error) {
	if _, err := c.key(ctx); err != nil {
		return disputes.PublicKey{}, wire.AsError(opKey, err)
	}
	return c.public, nil
}

// key reads the pair, or makes it: one for ever, by the first caller.
func (c *Cases) key(ctx context.Context) (*rsa.PrivateKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.private != nil {
		return c.private, nil
	}
	key, err := c.load(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		if key, err = c.make(ctx); err != nil {
			if made, none := c.load(ctx); none == nil { // another process was first, or the answer was lost
				key, err = made, nil
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("dispute key: %w", err)
	}
	if c.public, err = disputes.Publish(&key.PublicKey); err != nil {
		return nil, fmt.Errorf("dispute key: %w", err)
	}
	c.private = key
	return key, nil
}

func (c *Cases) load(ctx context.Context) (key *rsa.PrivateKey, err error) {
	err = c.DB.Read(ctx, func(rd store.Reader) error {
		var sealed []byte
		if err := rd.QueryRow(`SELECT private FROM cases_key WHERE id = 1`).Scan(&sealed); err != nil {
			return err
		}
		der, err := c.DB.Unseal(rd, keyCell(), sealed)
		if err == nil {
			key, err = x509.ParsePKCS1PrivateKey(der)
		}
		return err
	})
	return key, err
}

func (c *Cases) make(ctx context.Context) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	public, err := disputes.Publish(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	err = c.DB.Write(ctx, func(tx store.Tx) error {
		sealed, err := c.DB.Seal(tx, keyCell(), x509.MarshalPKCS1PrivateKey(key))
		if err == nil {
			_, err = tx.Exec(`INSERT INTO cases_key (id, pem, private, at_ms) VALUES (1, ?, ?, ?)`, public.PEM, sealed, c.Now().UnixMilli())
		}
		return err
	})
	return key, err
}

// card reads an encrypted number: the number, and the keyed name of its card. Both are empty where there is none.
func (c *Cases) card(ctx context.Context, op string, sealed wire.Secret) (wire.PAN, string, error) {
	if sealed == "" {
		return wire.PAN{}, "", nil
	}
	key, err := c.key(ctx)
	if err != nil {
		return wire.PAN{}, "", wire.AsError(op, err)
	}
	pan, err := disputes.Unseal(key, sealed)
	if err != nil {
		return wire.PAN{}, "", disputes.Refused(op, disputes.Missing, "cardNumber: not encrypted with the public key")
	}
	return pan, c.opt.Card(pan), nil
}
