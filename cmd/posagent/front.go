package main

import (
	"context"
	"log/slog"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/inbox"
	"posagent/agent/offline"
	"posagent/agent/owned"
	"posagent/agent/paylink"
	"posagent/agent/upstream"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

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

// portServices are the names of the local port's services, in the order they are shown.
func portServices() []string {
	return []string{"payments", "paylinks", "tokens", "schemes", "methods", "hosted", "disputes"}
}

// senders are the connections of the local port's services: each its own, so that a local client can neither hold up a sale nor
// open its circuit.
func senders(cfg config.Config, log *slog.Logger) (map[string]sender, error) {
	all := map[string]sender{}
	for _, name := range portServices() {
		s := sender{name: name}
		if cfg.Upstream.URL(name) != "" {
			own := cfg
			if name == "paylinks" || name == "hosted" { // which prove themselves in a form of their own
				own.Upstream.Auth = config.Auth{}
			}
			var err error
			if s.client, err = upstreamOf(own, name, log); err != nil {
				return nil, &exit{exitConfig, err}
			}
		}
		all[name] = s
	}
	return all, nil
}

// front stores the writes of local clients as [offline] says. It is there without a local port too: for what is still owed.
func front(cfg config.Config, db store.DB, secret []byte, to map[string]sender, log *slog.Logger) *offline.Front {
	o, url := cfg.Offline, cfg.Upstream.URL
	links := linkClient(cfg, to)
	opts := offline.Options{
		DB: db, CallerSecret: secret, Keyless: o.Keyless, RefuseCards: o.CardData == "refuse", Within: o.AnswerWithin, Patience: cfg.Upstream.Timeout, MaxAge: o.MaxAge,
		Limits: offline.Limits{Count: int64(o.MaxCount), Amount: o.AmountLimit, Total: o.TotalLimit}, Endpoints: map[string]string{},
		Payments: &payments.Client{BaseURL: url("payments"), Operator: cfg.Operator.Name, Doer: to["payments"].doer()},
		Tokens:   &tokens.Client{BaseURL: url("tokens"), Doer: to["tokens"].doer()},
		Links:    links.Links(), Transactions: links.Transactions(),
		Claims: owned.Claims{DB: db}, Now: time.Now, Log: log,
		Named: func(tx store.Tx, about, id, owner string) error { return inbox.Own(tx, about, id, owner) },
	}
	if linkMethod(cfg) != nil {
		opts.Sold = func(r store.Reader, link int64) (string, error) {
			ref, err := paylink.Reference(r, link)
			if err != nil || ref == "" {
				return "", err
			}
			return journal.SoldAs(r, ref, false)
		}
	}
	for _, name := range []string{offline.Payments, offline.Tokens, offline.Paylinks} {
		opts.Endpoints[name] = url(name)
		if !o.Stores(name) {
			opts.Unstored = append(opts.Unstored, name)
		}
	}
	return offline.NewFront(opts)
}

// linkClient speaks to the payment links' account for the local port.
func linkClient(cfg config.Config, to map[string]sender) *paylinks.Client {
	auth := cfg.Upstream.Auth
	return &paylinks.Client{BaseURL: cfg.Upstream.URL("paylinks"), Instance: auth.Instance, Secret: auth.Secret, Doer: to["paylinks"].doer()}
}

// probes asks a service cheaply whether it answers again, over the connection its operations go by.
func probes(schemes, links *upstream.Client, to map[string]sender) func(context.Context, string) error {
	return func(ctx context.Context, service string) error {
		switch {
		case service == offline.Schemes:
		case service == offline.LinkUndos:
			if links != nil {
				return links.Probe(ctx)
			}
		case to[service].client != nil:
			return to[service].client.Probe(ctx)
		}
		return schemes.Probe(ctx)
	}
}
