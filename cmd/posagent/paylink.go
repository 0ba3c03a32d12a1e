package main

import (
	"log/slog"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/paylink"
	"posagent/agent/upstream"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/store"
)

// linkMethod is the terminal's own method, nil where it is not offered.
func linkMethod(cfg config.Config) *methods.Definition {
	p := cfg.Paylinks
	if !p.Method {
		return nil
	}
	d := paylink.Definition(p.Label, int32(p.Priority), p.MeanDelay)
	return &d
}

// linkService is the account behind it, nil where none is named. It is there with the method switched off, too: for what is
// still owed, and for what a journal before this one has sold. now is the true time as a service has told it; nil = none has.
func linkService(cfg config.Config, db store.DB, client *upstream.Client, now func() (time.Time, bool), log *slog.Logger) aapay.Service {
	if client == nil {
		return nil
	}
	auth, api := cfg.Upstream.Proof("paylinks").Auth, linkAPI(cfg, client)
	return paylink.New(paylink.Options{
		DB: db, Links: api.Links(), Transactions: api.Transactions(), Instance: auth.Instance, Title: cfg.Terminal.MerchantName, Now: time.Now, Log: log,
		Trusted: now, Reused: journal.ReusedKey,
	})
}

// linkAPI speaks to that account. It honours no Keys: a write leaves once.
func linkAPI(cfg config.Config, client *upstream.Client) *paylinks.Client {
	auth := cfg.Upstream.Proof("paylinks").Auth
	return &paylinks.Client{BaseURL: cfg.Upstream.URL("paylinks"), Instance: auth.Instance, Secret: auth.Secret, Doer: client.Once()}
}

// linkUpstream is the way to that account, nil where none is named. Its requests are signed one by one.
func linkUpstream(cfg config.Config, log *slog.Logger, with *upstream.Shared) (*upstream.Client, error) {
	auth := cfg.Upstream.Proof("paylinks").Auth
	if cfg.Upstream.URL("paylinks") == "" || auth.Instance == "" || auth.Secret == "" {
		return nil, nil
	}
	return upstreamOf(cfg, "paylinks", log, with)
}
