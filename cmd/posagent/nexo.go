package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
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
	has, all, unread := nexoAddresses(e.TCP, b.addresses)
	path := filepath.Join(b.state, strings.Replace(nexoFiles, "*", e.LineName("tcp"), 1))
	data, err := readOwn(path, maxNexo)
	switch {
	case err == nil:
		pair, err := cert.Open(data, name, has, b.past)
		if err == nil {
			if !reaches(pair, all[len(has):]) {
				b.log.Warn("the certificate of a nexo line has none of this machine's addresses: a till elsewhere that checks the address does not connect; "+
					"remove the file and start posagent again, then every till has to trust the new one (posagent register certificate)", "file", path)
			}
			return pair, nil
		}
		b.log.Warn("a nexo line gets a new certificate: every till has to trust it (posagent register certificate)", "file", path, "why", err)
	case !errors.Is(err, fs.ErrNotExist):
		return tls.Certificate{}, fail(exitFailed, "register line: %v", err)
	}
	if unread != nil {
		b.log.Warn("the addresses of this machine cannot be read, and the new certificate of a nexo line has loopback alone: a till elsewhere that checks the "+
			"address does not connect; let the service open AF_NETLINK (systemctl cat posagent), remove the file and start posagent again", "file", path, "err", unread)
	}
	if data, err = cert.Make(name, all, now); err == nil {
		err = file.Replace(path, 0o600, file.Bytes(append(data, '\n')))
	}
	if err != nil {
		return tls.Certificate{}, fail(exitFailed, "register line: certificate: %v", err)
	}
	return cert.Open(data, name, has, b.past)
}

// mostAddresses is how many addresses of the machine a certificate gets.
const mostAddresses = 32

// nexoAddresses are the addresses that a line's certificate must have, and those that a new one gets, has first: of a line on every
// network, what the machine has then. The error is why look does not tell them.
func nexoAddresses(listen string, look func() ([]netip.Addr, error)) (has, all []netip.Addr, err error) {
	has = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	host, _, _ := net.SplitHostPort(listen)
	at, bad := netip.ParseAddr(host)
	switch {
	case bad != nil:
		return has, has, nil
	case !at.IsUnspecified():
		if !at.IsLoopback() || at.Is4() && at != has[0] {
			has = append(has, at.WithZone(""))
		}
		return has, has, nil
	}
	box, err := look()
	var own []netip.Addr
	for _, a := range box {
		if a.IsGlobalUnicast() {
			own = append(own, a)
		}
	}
	slices.SortFunc(own, netip.Addr.Compare)
	return has, slices.Concat(has, own[:min(len(own), mostAddresses)]), err
}

// reaches reports whether a certificate has one of the addresses, or there are none.
func reaches(pair tls.Certificate, addresses []netip.Addr) bool {
	return len(addresses) == 0 || slices.ContainsFunc(addresses, func(a netip.Addr) bool { return pair.Leaf.VerifyHostname(a.String()) == nil })
}
