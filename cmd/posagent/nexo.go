package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/device/file"
	"posagent/ecr"
	"posagent/ecr/nexo"
	"posagent/ecr/nexo/cert"
)

// nexoConns is how many connections a nexo line has: a till opens one for each message, and holds
// that of a payment.
const nexoConns = 64

// nexoOf returns nexo as it is configured. It makes the line's certificate where there is none.
func nexoOf(cfg config.Config, e config.ECR, b box) (ecr.Protocol, error) {
	pair, err := nexoCertificate(e, b)
	if err != nil {
		return ecr.Protocol{}, err
	}
	t := cfg.Terminal
	o := nexo.Options{
		POIID: e.POIID, TerminalID: t.TerminalID, MerchantID: t.MerchantID, MerchantName: t.MerchantName, Currency: t.Currency,
		Language: t.Language, Software: b.version, Version: e.ProtocolVersion, KeepAlive: e.KeepAlive, Brand: e.Brand, Patience: e.Patience,
		TLS: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
	}
	if phrase := e.Passphrase.Reveal(); phrase != "" {
		o.Keys = []nexo.Key{{Identifier: e.KeyID, Version: e.KeyVersion, Passphrase: nexo.Passphrase(phrase)}}
	}
	speaks, err := nexo.New(o)
	if err != nil {
		return ecr.Protocol{}, exitWith(exitConfig, err)
	}
	return speaks, nil
}

// Certificates of nexo lines, in the state directory: nexo-LINE.pem, readable by its owner alone.
const (
	nexoFiles = "nexo-*.pem"
	maxNexo   = 32 << 10
)

// nexoCertificate is the certificate of a line, which stays the same as long as it can: a new one has
// to be trusted by every till.
func nexoCertificate(e config.ECR, b box) (tls.Certificate, error) {
	name, now := e.CertificateName, time.Now()
	if now.Before(b.past) {
		now = b.past
	}
	if name == "" {
		name = e.POIID + cert.Suffix
	}
	if err := cert.Valid(name); err != nil {
		return tls.Certificate{}, fail(exitConfig, "config: ecr.certificate_name: %v", err)
	}
	has, all := nexoAddresses(e.TCP)
	path := filepath.Join(b.state, strings.Replace(nexoFiles, "*", e.LineName("tcp"), 1))
	data, err := readOwn(path, maxNexo)
	switch {
	case err == nil:
		pair, err := cert.Open(data, name, has, b.past)
		if err == nil {
			return pair, nil
		}
		b.log.Warn("a nexo line gets a new certificate: every till has to trust it (posagent register certificate)", "file", path, "why", err)
	case !errors.Is(err, fs.ErrNotExist):
		return tls.Certificate{}, fail(exitFailed, "register line: %v", err)
	}
	if data, err = cert.Make(name, all, now); err == nil {
		err = file.Replace(path, 0o600, file.Bytes(append(data, '\n')))
	}
	if err != nil {
		return tls.Certificate{}, fail(exitFailed, "register line: certificate: %v", err)
	}
	return cert.Open(data, name, has, b.past)
}

// nexoAddresses are the addresses that a line's certificate must have, and those that a new one gets: of a line on every
// network, what the machine has then.
func nexoAddresses(listen string) (has, all []netip.Addr) {
	has = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	host, _, _ := net.SplitHostPort(listen)
	at, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return has, has
	case !at.IsUnspecified():
		if !at.IsLoopback() || at.Is4() && at != has[0] {
			has = append(has, at.WithZone(""))
		}
		return has, has
	}
	all = has
	list, _ := net.InterfaceAddrs()
	for _, a := range list[:min(len(list), 32)] {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			all = append(all, p.Addr().Unmap())
		}
	}
	return has, all
}
