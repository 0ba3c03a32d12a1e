package main

import (
	"context"
	"sync/atomic"

	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/schemes/wire"
)

// account is what is known of the payment-link account behind the terminal's own method. A nil one knows nothing.
type account struct {
	client  *upstream.Client
	check   func(ctx context.Context) error
	keys    string
	label   string      // of the method
	known   atomic.Bool // the account has accepted the credentials
	refused atomic.Bool // it refused them in a reply that is no HTTP error
}

// accountOf is the account where the method is offered, nil elsewhere.
func accountOf(cfg config.Config, client *upstream.Client) *account {
	if linkMethod(cfg) == nil || client == nil {
		return nil
	}
	return &account{client: client, check: linkAPI(cfg, client).Check, keys: authKeys(cfg, "paylinks"), label: cfg.Paylinks.Label}
}

// trouble says that the account refuses the credentials: by the last call, a sale's too, or by the last question. Else it is nil.
func (a *account) trouble() *ready.Trouble {
	if a == nil {
		return nil
	}
	t := trouble(a.client)
	switch {
	case t != nil && t.Cause == "credentials":
	case a.refused.Load():
		t = &ready.Trouble{Where: a.client.Host()}
	default:
		return nil
	}
	return refusedBy(t, "the method "+a.label, a.keys)
}

// refusedBy words a trouble as that of one service, for whose credentials keys are set.
func refusedBy(t *ready.Trouble, service, keys string) *ready.Trouble {
	if t.Cause, t.Keys = ready.ServiceRefused, keys; t.Detail != "" {
		service += ", " + t.Detail
	}
	t.Detail = service
	return t
}

// ask asks the account whether it accepts the credentials, unless it has said so.
func (a *account) ask(ctx context.Context) {
	if a == nil || a.known.Load() && a.trouble() == nil {
		return
	}
	switch err := a.check(ctx); {
	case err == nil:
		a.known.Store(true)
		a.refused.Store(false)
	case refuses(err):
		a.refused.Store(true)
	}
}

// refuses says that a service refuses the credentials, whatever the status of its reply.
func refuses(err error) bool {
	code := wire.CodeOf(err)
	return code == wire.Unauthorized || code == wire.Forbidden
}

// authKeys are the keys of [upstream.auth] that prove to a service who asks, "" where a certificate or nothing does.
func authKeys(cfg config.Config, service string) string { return cfg.Upstream.Proof(service).Keys() }
