package till

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Place is where a terminal is.
type Place struct {
	Address string // host:port
	Secure  bool   // what is said there is encrypted
	Local   bool   // it is on this machine
}

// PlaceOf reads an address: host:port, or a URL where the protocol goes over HTTP.
func PlaceOf(k Kind, text string) (Place, error) {
	scheme, address, url := strings.Cut(text, "://")
	if !url {
		scheme, address = k.Scheme, text
	}
	address = strings.TrimSuffix(address, "/")
	host, port, err := net.SplitHostPort(address)
	switch {
	case err != nil || port == "":
		return Place{}, fmt.Errorf("ADDRESS %q is not host:port", text)
	case url && (k.Scheme == "" || scheme != "http" && scheme != "https"):
		return Place{}, fmt.Errorf("ADDRESS %q is no address of %s: want host:port", text, k.Name)
	}
	ip := net.ParseIP(host)
	return Place{address, scheme == "https", host == "localhost" || ip != nil && ip.IsLoopback()}, nil
}

// Trust says which certificates a terminal may have. roots are PEM: a certificate under one of them counts, whatever name it has. Without
// them it has to have the place's name, under a root of the system. unverified takes any.
func (p Place) Trust(roots []byte, unverified bool) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(p.Address)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if unverified || len(roots) > 0 {
		cfg.InsecureSkipVerify = true // with roots, the name alone: the chain is verified below
	}
	if unverified || len(roots) == 0 {
		return cfg, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(roots) {
		return nil, errors.New("it holds no certificate")
	}
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		between := x509.NewCertPool()
		for _, one := range state.PeerCertificates[1:] {
			between.AddCert(one)
		}
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: between})
		return err
	}
	return cfg, nil
}

// Connector returns what connects to the place. trust is not asked for where nothing is encrypted.
func (p Place) Connector(trust *tls.Config) func(context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !p.Secure {
		return func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", p.Address) }
	}
	secure := &tls.Dialer{NetDialer: dialer, Config: trust}
	return func(ctx context.Context) (net.Conn, error) { return secure.DialContext(ctx, "tcp", p.Address) }
}
