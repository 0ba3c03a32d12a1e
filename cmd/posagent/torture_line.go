package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

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
	scheme, address, url := strings.Cut(c.args[1], "://")
	if !url {
		scheme, address = kind.Scheme, c.args[1]
	}
	address = strings.TrimSuffix(address, "/")
	host, port, err := net.SplitHostPort(address)
	switch {
	case err != nil || port == "":
		return p, nil, false, fail(exitUsage, "%s: ADDRESS %q is not host:port", c.path, c.args[1])
	case url && (kind.Scheme == "" || scheme != "http" && scheme != "https"):
		return p, nil, false, fail(exitUsage, "%s: ADDRESS %q is no address of %s: want host:port", c.path, c.args[1], kind.Name)
	}
	ip := net.ParseIP(host)
	local = host == "localhost" || ip != nil && ip.IsLoopback()
	s, err := o.settings(address)
	if err == nil {
		p, err = kind.Make(s)
	}
	if err != nil {
		return p, nil, local, fail(exitUsage, "%s: %w", c.path, err)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	connect = func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", address) }
	if scheme != "https" {
		return p, connect, local, nil
	}
	trust, err := o.trust(host)
	if err != nil {
		return p, nil, local, fail(exitUsage, "%s: %w", c.path, err)
	}
	secure := &tls.Dialer{NetDialer: dialer, Config: trust}
	return p, func(ctx context.Context) (net.Conn, error) { return secure.DialContext(ctx, "tcp", address) }, local, nil
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
func (o *tortureLine) trust(host string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	switch {
	case o.unverified && o.roots != "":
		return nil, errors.New("--unverified takes any certificate: leave --roots-file out")
	case o.unverified:
		cfg.InsecureSkipVerify = true
	case o.roots != "":
		pem, err := os.ReadFile(o.roots)
		if err != nil {
			return nil, fmt.Errorf("--roots-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--roots-file: %s holds no certificate", o.roots)
		}
		cfg.InsecureSkipVerify = true // the name alone: the chain is verified below
		cfg.VerifyConnection = func(state tls.ConnectionState) error {
			between := x509.NewCertPool()
			for _, one := range state.PeerCertificates[1:] {
				between.AddCert(one)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: between})
			return err
		}
	}
	return cfg, nil
}
