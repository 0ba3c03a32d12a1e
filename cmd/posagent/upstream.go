package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/upstream"
	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

// upstreamOf is the connection to one service of the backend. It fails where the settings of [upstream] make none.
func upstreamOf(cfg config.Config, service string, log *slog.Logger, with *upstream.Shared) (*upstream.Client, error) {
	return upstreamAs("posagent/"+version, cfg, service, log, with)
}

// upstreamAs is upstreamOf under another name for the backend's logs.
func upstreamAs(agent string, cfg config.Config, service string, log *slog.Logger, with *upstream.Shared) (*upstream.Client, error) {
	u := cfg.Upstream
	auth := u.Proof(service).Auth // payment links and hosted build prove themselves in a form of their own
	var maxBody int64             // 0 = the usual
	if service == "disputes" {
		maxBody = disputes.MaxBody // its documents
	}
	return upstream.New(upstream.Config{
		MaxBody: maxBody, Shared: with,
		Base: u.URL(service), Timeout: u.Timeout, Proxy: u.Proxy, ProxyAuth: u.ProxyAuth, RootsFile: u.RootsFile, Pins: u.Pins,
		ClientCert: u.ClientCert, ClientKey: u.ClientKey, Device: u.Device, UserAgent: agent, Log: log, Route: routes(),
		Auth: upstream.Auth{
			Bearer: auth.Bearer, ConsumerKey: auth.ConsumerKey, ConsumerSecret: auth.ConsumerSecret, ClientID: auth.ClientID, ClientSecret: auth.ClientSecret,
		},
	})
}

// sender is a service of the local port with its own connection, nil where it has no address.
type sender struct {
	name   string
	client *upstream.Client
}

// doer sends each call once: the outbox, or who calls, decides whether it goes again.
func (s sender) doer() wire.Doer {
	if s.client == nil {
		return nowhere(s.name)
	}
	return s.client.Once()
}

// nowhere stands for a service that has no address.
type nowhere string

// Do implements wire.Doer.
func (n nowhere) Do(*http.Request) (*http.Response, error) {
	return nil, wire.Errorf(wire.Unavailable, "", "no address: set [upstream] %s or base", string(n))
}

// portServices are the names of the local port's services, in the order they are shown.
func portServices() []string {
	return []string{"payments", "paylinks", "tokens", "schemes", "methods", "hosted", "disputes"}
}

// senders are the connections of the local port's services: each its own, so that a local client can neither hold up a sale nor
// open its circuit.
func senders(cfg config.Config, log *slog.Logger, with *upstream.Shared) (map[string]sender, error) {
	all := map[string]sender{}
	for _, name := range portServices() {
		s := sender{name: name}
		if cfg.Upstream.URL(name) != "" {
			var err error
			if s.client, err = upstreamOf(cfg, name, log, with); err != nil {
				return nil, exitWith(exitConfig, err)
			}
		}
		all[name] = s
	}
	return all, nil
}

// settingsOf is a digest of what the backend must accept: its addresses, how it is known, and the credentials.
func settingsOf(cfg config.Config) []byte {
	u := cfg.Upstream
	h := sha256.New()
	list := []string{u.URL("methods"), u.URL("schemes"), u.Proxy, u.ProxyAuth.Reveal(), u.RootsFile, strings.Join(u.Pins, " "), u.ClientCert, u.ClientKey}
	proofs := []config.Auth{u.Proof("schemes").Auth, u.Proof("methods").Auth}
	for _, a := range slices.Compact(proofs) { // one that is shown to both counts once
		list = append(list, a.Bearer.Reveal(), a.ConsumerKey.Reveal(), a.ConsumerSecret.Reveal(), a.ClientID.Reveal(), a.ClientSecret.Reveal())
	}
	for _, s := range list {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	if u.Device != nil {
		h.Write(deviceKey(u.Device()))
	}
	return h.Sum(nil)
}

// deviceKey is the public key of a certificate of the enrolment: one that was renewed is the same device, and needs no new proof.
func deviceKey(c *tls.Certificate) []byte {
	if cert, err := x509.ParseCertificate(c.Certificate[0]); err == nil {
		return cert.RawSubjectPublicKeyInfo
	}
	return c.Certificate[0]
}

// trusted is the true time, as a service of the backend has told it since the start.
func trusted(schemes, list, links *upstream.Client, to map[string]sender) func() (time.Time, bool) {
	all := []*upstream.Client{schemes, list, links}
	for _, s := range to {
		all = append(all, s.client)
	}
	all = slices.DeleteFunc(all, func(c *upstream.Client) bool { return c == nil })
	return func() (newest time.Time, ok bool) {
		for _, c := range all {
			if at, heard := c.Time(); heard && at.After(newest) {
				newest, ok = at, true
			}
		}
		return newest, ok
	}
}

// probes asks a service cheaply whether it answers again, over the connection its operations go by.
func probes(schemes, links *upstream.Client, to map[string]sender) func(context.Context, string) error {
	return func(ctx context.Context, service string) error {
		switch {
		case service == gateway.Schemes:
		case service == gateway.LinkUndos:
			if links != nil {
				return links.Probe(ctx)
			}
		case to[service].client != nil:
			return to[service].client.Probe(ctx)
		}
		return schemes.Probe(ctx)
	}
}
