package cert_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/nexo/cert"
)

const name = "POSAGENT-000020000001.test.terminal.adyen.com"

func day(s string) time.Time {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return at
}

func addresses(list ...string) (to []netip.Addr) {
	for _, s := range list {
		to = append(to, netip.MustParseAddr(s))
	}
	return to
}

func made(t *testing.T, now time.Time, list ...string) []byte {
	t.Helper()
	data, err := cert.Make(name, addresses(list...), now)
	require.NoError(t, err)
	return data
}

// TestATillThatTrustsTheAuthorityReachesTheTerminal: by its address and by its name, over a real
// connection. One that trusts another terminal's does not.
func TestATillThatTrustsTheAuthorityReachesTheTerminal(t *testing.T) {
	data := made(t, day("2026-11-24"), "127.0.0.1", "::1", "192.168.1.20")
	pair, err := cert.Open(data, name, addresses("127.0.0.1"), day("2026-11-24"))
	require.NoError(t, err)
	trusted, err := cert.Trusted(data)
	require.NoError(t, err)
	require.NotContains(t, string(trusted), "PRIVATE")
	other, err := cert.Trusted(made(t, day("2026-11-24"), "127.0.0.1"))
	require.NoError(t, err)
	for _, c := range []struct {
		trusts []byte
		as     string
		works  bool
	}{{trusted, "127.0.0.1", true}, {trusted, "192.168.1.20", true}, {trusted, "::1", true}, {trusted, name, true}, {trusted, "192.168.1.21", false}, {other, "127.0.0.1", false}} {
		pool := x509.NewCertPool()
		require.True(t, pool.AppendCertsFromPEM(c.trusts))
		till, terminal := net.Pipe()
		said := make(chan error, 1)
		go func() {
			conn := tls.Server(terminal, &tls.Config{Certificates: []tls.Certificate{pair}})
			said <- errors.Join(conn.Handshake(), conn.Close())
		}()
		conn := tls.Client(till, &tls.Config{RootCAs: pool, ServerName: c.as, Time: func() time.Time { return day("2027-01-01") }})
		err := conn.Handshake()
		if c.works {
			require.NoError(t, err, c.as)
			_, err = conn.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			require.NoError(t, <-said)
		} else {
			require.Error(t, err, c.as)
			_ = till.Close()
			require.Error(t, <-said)
		}
		_ = till.Close()
	}
}

// TestTheAuthorityIsForThisTerminalAlone: its private key is nowhere, and its constraints are critical.
func TestTheAuthorityIsForThisTerminalAlone(t *testing.T) {
	data := made(t, day("2026-11-24"), "127.0.0.1", "::1")
	require.Equal(t, 1, bytes.Count(data, []byte("BEGIN PRIVATE KEY")))
	text, err := cert.Trusted(data)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	authority, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	require.True(t, authority.IsCA && authority.MaxPathLenZero && authority.PermittedDNSDomainsCritical)
	require.Equal(t, []string{name}, authority.PermittedDNSDomains)
	require.Len(t, authority.PermittedIPRanges, 2)
	require.Equal(t, "127.0.0.1/32", authority.PermittedIPRanges[0].String())
	require.Equal(t, "::1/128", authority.PermittedIPRanges[1].String())
	pair, err := cert.Open(data, name, nil, day("2026-11-24"))
	require.NoError(t, err)
	require.Equal(t, name, pair.Leaf.Subject.CommonName)
	require.False(t, pair.Leaf.PublicKey.(*ecdsa.PublicKey).Equal(authority.PublicKey), "the kept key is not the authority's")
	require.Error(t, authority.CheckSignatureFrom(pair.Leaf))
}

// TestWhenACertificateIsMadeAnew: near its end, for another name or address; not by a clock that is
// behind.
func TestWhenACertificateIsMadeAnew(t *testing.T) {
	data := made(t, day("2026-11-24"), "127.0.0.1", "192.168.1.20")
	for _, c := range []struct {
		name, address, now string
		works              bool
	}{
		{name, "192.168.1.20", "2026-11-24", true},
		{name, "::ffff:192.168.1.20", "2026-11-24", true},
		{name, "127.0.0.1", "2036-10-24", true},
		{name, "127.0.0.1", "2036-10-26", false},
		{name, "127.0.0.1", "2037-01-01", false},
		{name, "127.0.0.1", "1970-01-01", true},
		{name, "192.168.1.21", "2026-11-24", false},
		{"OTHER-000020000001.test.terminal.adyen.com", "127.0.0.1", "2026-11-24", false},
	} {
		_, err := cert.Open(data, c.name, addresses(c.address), day(c.now))
		if c.works {
			require.NoError(t, err, c)
		} else {
			require.ErrorIs(t, err, cert.ErrAnew, c)
		}
	}
	early := made(t, day("1970-01-01"), "127.0.0.1")
	_, err := cert.Open(early, name, nil, day("2035-11-01"))
	require.NoError(t, err, "a clock that is not set makes no certificate of the past")
}

// TestASpoiltFile: nothing of it is used.
func TestASpoiltFile(t *testing.T) {
	data := made(t, day("2026-11-24"), "127.0.0.1")
	strange := made(t, day("2026-11-24"), "127.0.0.1")
	key := bytes.LastIndex(strange, []byte("-----BEGIN PRIVATE"))
	at := bytes.LastIndex(data, []byte("-----BEGIN PRIVATE"))
	for what, spoilt := range map[string][]byte{
		"empty": nil, "half": data[:len(data)/2], "text": []byte("hello"), "no key": data[:at],
		"another key": append(bytes.Clone(data[:at]), strange[key:]...),
	} {
		_, err := cert.Open(spoilt, name, nil, day("2026-11-24"))
		require.Error(t, err, what)
	}
	for what, spoilt := range map[string][]byte{"empty": nil, "the key alone": data[at:], "one certificate": data[:bytes.Index(data[10:], []byte("-----BEGIN"))+10]} {
		_, err := cert.Trusted(spoilt)
		require.Error(t, err, what)
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{name, "legacy-terminal-certificate.test.terminal.adyen.com", "a.b"} {
		require.NoError(t, cert.Valid(good))
	}
	for _, bad := range []string{"", "till", "a..b", ".a.b", "a.b.", "-a.b", "a-.b", "a b.c", "*.example.com", "a\x00.b", "ä.b", strings.Repeat("a", 60) + ".test.terminal.adyen.com"} {
		require.Error(t, cert.Valid(bad), bad)
		_, err := cert.Make(bad, nil, day("2026-11-24"))
		require.Error(t, err, bad)
	}
}
