package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"

	"posagent/ecr/nexo/cert"
	"posagent/ecr/till"
)

// reaching says how a terminal is reached, and what proves the register to it.
type reaching struct {
	token, otherToken string
	lrc, terminal     string
	poi, version, key string
	keyVersion        int
	passphrase, api   string
	roots             string
	secret, digits    till.Secret // that of key, and the line's password, where no file has them
	trusted           string      // a file of this terminal with the certificate of its line
	unverified        bool
}

func (o *reaching) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.token, "token-file", "", "http: the `file` with the token of a client that may sell")
	fs.StringVar(&o.lrc, "lrc", "", "ecr17: what the check byte is made of, by its `name`: std, stx, noext, stx_noext (default: std)")
	fs.StringVar(&o.terminal, "terminal-id", "", "ecr17: the terminal's eight `digits` (default: 00000000, which stands for any)")
	fs.StringVar(&o.poi, "poi-id", "", "nexo: the terminal's `POIID`")
	fs.StringVar(&o.version, "nexo-version", "3.0", "nexo: the `ProtocolVersion`")
	fs.StringVar(&o.key, "key-id", "", "nexo: the `identifier` of the key of --passphrase-file")
	fs.IntVar(&o.keyVersion, "key-version", 1, "nexo: its `number`")
	fs.StringVar(&o.passphrase, "passphrase-file", "", "nexo: encrypt messages under the passphrase in this `file` (default: in clear)")
	fs.StringVar(&o.api, "api-key-file", "", "nexo: send what is in this `file` as X-API-Key")
	fs.StringVar(&o.roots, "roots-file", "", "https: trust the certificates of this PEM `file`, whatever name they have (default: the system's, by name)")
	fs.BoolVar(&o.unverified, "unverified", false, "https: take any certificate")
}

// tillNames lists the protocols.
func tillNames() string {
	var names []string
	for _, k := range till.Protocols() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// reach makes a register of a protocol, and how it connects. local says that the terminal is on this machine.
func (o *reaching) reach(c *call, protocol, address string) (p till.Protocol, connect func(context.Context) (net.Conn, error), local bool, err error) {
	kind, known := till.Named(protocol)
	if !known {
		return p, nil, false, fail(exitUsage, "%s: no protocol %q: %s", c.path, protocol, tillNames())
	}
	place, err := till.PlaceOf(kind, address)
	if err != nil {
		return p, nil, false, fail(exitUsage, "%s: %w", c.path, err)
	}
	s, err := o.settings(place.Address)
	if err == nil {
		p, err = kind.Make(s)
	}
	var trust *tls.Config
	if err == nil && place.Secure {
		trust, err = o.trust(place)
	}
	if err != nil {
		return p, nil, false, fail(exitUsage, "%s: %w", c.path, err)
	}
	return p, place.Connector(trust), place.Local, nil
}

// settings reads the files that the flags name.
func (o *reaching) settings(address string) (s till.Settings, err error) {
	s.Host, s.LRC, s.TerminalID = address, o.lrc, o.terminal
	s.POIID, s.Version, s.KeyID, s.KeyVersion = o.poi, o.version, o.key, o.keyVersion
	read := func(flag, path string) (secret till.Secret) {
		if path != "" && err == nil {
			secret, err = tillSecret(flag, path)
		}
		return secret
	}
	for _, secret := range []till.Secret{read("token-file", o.token), read("other-token-file", o.otherToken)} {
		if secret != "" {
			s.Tokens = append(s.Tokens, secret)
		}
	}
	s.Passphrase, s.APIKey, s.Password = cmp.Or(read("passphrase-file", o.passphrase), o.secret), read("api-key-file", o.api), o.digits
	if err == nil && o.token == "" && o.otherToken != "" {
		err = errors.New("--other-token-file: --token-file is missing")
	}
	return s, err
}

// tillSecret reads a secret from the file of a flag.
func tillSecret(flag, path string) (till.Secret, error) {
	text, err := readSecret(path, os.Getuid(), 0o037, "chmod 600")
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return till.Secret(text), nil
}

// trust says which certificates are those of the terminal.
func (o *reaching) trust(place till.Place) (*tls.Config, error) {
	if o.roots == "" && o.trusted != "" && !o.unverified {
		data, err := readOwn(o.trusted, maxNexo)
		if err == nil {
			data, err = cert.Trusted(data)
		}
		if err != nil {
			return nil, fmt.Errorf("%w (--roots-file names what to trust)", err)
		}
		return place.Trust(data, false)
	}
	if o.roots == "" {
		return place.Trust(nil, o.unverified)
	}
	if o.unverified {
		return nil, errors.New("--unverified takes any certificate: leave --roots-file out")
	}
	pem, err := readPlain(o.roots, maxConfig)
	if err == nil && len(pem) == 0 {
		err = fmt.Errorf("%s is empty", o.roots)
	}
	if err != nil {
		return nil, fmt.Errorf("--roots-file: %w", err)
	}
	cfg, err := place.Trust(pem, false)
	if err != nil {
		err = fmt.Errorf("--roots-file: %s: %w", o.roots, err)
	}
	return cfg, err
}
