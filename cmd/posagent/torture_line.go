package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"

	"posagent/ecr/torture"
)

// tortureLine says how a terminal is reached, and what proves the register to it.
type tortureLine struct {
	token, otherToken string
	lrc, terminal     string
	poi, version, key string
	keyVersion        int
	passphrase, api   string
	roots             string
	unverified        bool
}

func (o *tortureLine) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.token, "token-file", "", "http: the `file` with the token of a client that may sell")
	fs.StringVar(&o.otherToken, "other-token-file", "", "http: the `file` with that of another client, for the row two tills")
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

// tortureNames lists the protocols.
func tortureNames() string {
	var names []string
	for _, k := range torture.Protocols() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// reach makes the register of the arguments, and how it connects. local says that the terminal is on this machine.
func (o *tortureLine) reach(c *call) (p torture.Protocol, connect func(context.Context) (net.Conn, error), local bool, err error) {
	kind := torture.Kind{}
	for _, k := range torture.Protocols() {
		if k.Name == c.args[0] {
			kind = k
		}
	}
	if kind.Name == "" {
		return p, nil, false, fail(exitUsage, "%s: no protocol %q: %s", c.path, c.args[0], tortureNames())
	}
	place, err := torture.PlaceOf(kind, c.args[1])
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
func (o *tortureLine) settings(address string) (s torture.Settings, err error) {
	s.Host, s.LRC, s.TerminalID = address, o.lrc, o.terminal
	s.POIID, s.Version, s.KeyID, s.KeyVersion = o.poi, o.version, o.key, o.keyVersion
	read := func(flag, path string) (secret torture.Secret) {
		if path != "" && err == nil {
			secret, err = tortureSecret(flag, path)
		}
		return secret
	}
	for _, secret := range []torture.Secret{read("token-file", o.token), read("other-token-file", o.otherToken)} {
		if secret != "" {
			s.Tokens = append(s.Tokens, secret)
		}
	}
	s.Passphrase, s.APIKey = read("passphrase-file", o.passphrase), read("api-key-file", o.api)
	if err == nil && o.token == "" && o.otherToken != "" {
		err = errors.New("--other-token-file: --token-file is missing")
	}
	return s, err
}

// tortureSecret reads a secret from the file of a flag.
func tortureSecret(flag, path string) (torture.Secret, error) {
	text, err := readSecret(path, os.Getuid(), 0o037, "chmod 600")
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return torture.Secret(text), nil
}

// trust says which certificates are those of the terminal.
func (o *tortureLine) trust(place torture.Place) (*tls.Config, error) {
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
