package torture_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/nexo"
	"posagent/ecr/nexo/cert"
	"posagent/ecr/till"
	"posagent/ecr/torture"
)

// nexoLine is a terminal that speaks nexo.
func nexoLine(t *testing.T, o nexo.Options) ecr.Protocol {
	o.POIID, o.Currency, o.MerchantName, o.MerchantID, o.TerminalID = "POSAGENT-000020000001", "EUR", "Corner Shop", "demomerchant", "52500038"
	p, err := nexo.New(o)
	require.NoError(t, err)
	return p
}

// TestEncryptedNexo: a terminal with a key scores full marks inside TLS, asked under that key alone.
func TestEncryptedNexo(t *testing.T) {
	const name, right = "POSAGENT-000020000001.test.terminal.adyen.com", "correct horse battery"
	pem, err := cert.Make(name, nil, time.Now())
	require.NoError(t, err)
	own, err := cert.Open(pem, name, nil, time.Now())
	require.NoError(t, err)
	speaks := speaking(nexoLine(t, nexo.Options{
		Keys: []nexo.Key{{Identifier: "till", Version: 2, Passphrase: right}}, TLS: &tls.Config{Certificates: []tls.Certificate{own}},
	}))
	for _, one := range []struct {
		id, passphrase string
		version        int
		good           bool
	}{{"till", right, 2, true}, {"till", "another passphrase", 2, false}, {"till", right, 1, false}, {"other", right, 2, false}, {"", "", 0, false}} {
		s := settings
		s.KeyID, s.KeyVersion, s.Passphrase = one.id, one.version, till.Secret(one.passphrase)
		p := made(t, "nexo", s)
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			shop, connect, ended := open(ctx, speaks, "")
			card, err := torture.Run(t.Context(), torture.Options{
				Protocol: p, Amount: desk.StaysOpen, Sales: 10, Seed: 7, Wait: time.Minute, Local: true,
				Connect: func(ctx context.Context) (net.Conn, error) {
					conn, err := connect(ctx)
					if err != nil {
						return nil, err
					}
					secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the clock of the bubble is before the certificate
					return secure, secure.HandshakeContext(ctx)
				},
			})
			if one.good {
				require.NoError(t, err)
				require.True(t, card.Good(), "%+v", card)
				for _, r := range card.Rows {
					require.Contains(t, []torture.Verdict{torture.Passed, torture.Cannot}, r.Verdict, "%+v", r)
				}
			} else {
				require.ErrorContains(t, err, "crypto error")
				require.Zero(t, shop.begun())
			}
			stop()
			require.ErrorIs(t, <-ended, context.Canceled)
		})
	}
}

// made makes a protocol with settings of its own.
func made(t *testing.T, name string, s till.Settings) till.Protocol {
	for _, k := range till.Protocols() {
		if k.Name == name {
			p, err := k.Make(s)
			require.NoError(t, err)
			return p
		}
	}
	t.Fatalf("no protocol %s", name)
	return till.Protocol{}
}
