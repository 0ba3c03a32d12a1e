package main

import (
	"context"
	"log/slog"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/agent/paylink"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/store"
)

// front stores the writes of local clients as [offline] says. It is there without a local port too: for what is still owed.
func front(cfg config.Config, db store.DB, secret []byte, to map[string]sender, vouched []string, log *slog.Logger) *gateway.Front {
	o, url := cfg.Offline, cfg.Upstream.URL
	links := linkClient(cfg, to)
	opts := gateway.Options{
		Vouched: vouched, DB: db, CallerSecret: secret, Keyless: o.Keyless, RefuseCards: o.CardData == "refuse", Within: o.AnswerWithin, Patience: cfg.Upstream.Timeout, MaxAge: o.MaxAge,
		Limits: gateway.Limits{Count: int64(o.MaxCount), Amount: o.AmountLimit, Total: o.TotalLimit}, Endpoints: map[string]string{},
		Payments: &payments.Client{BaseURL: url("payments"), Operator: cfg.Operator.Name, Doer: to["payments"].doer()},
		Tokens:   &tokens.Client{BaseURL: url("tokens"), Doer: to["tokens"].doer()},
		Links:    links.Links(), Transactions: links.Transactions(),
		Claims: ownership.Claims{DB: db}, Now: time.Now, Log: log,
		Named: func(tx store.Tx, about, id, owner string) error { return inbox.Own(db, tx, about, id, "", owner) },
	}
	if linkMethod(cfg) != nil || soldByLink(db, log) {
		opts.Sold = func(r store.Reader, link gateway.SoldLink) (sale string, err error) {
			refs, err := paylink.References(r, link.ID, link.Hash, link.Reference)
			for _, ref := range refs {
				if err == nil && sale == "" {
					sale, err = journal.SoldHere(r, ref)
				}
			}
			return sale, err
		}
	}
	for _, name := range []string{gateway.Payments, gateway.Tokens, gateway.Paylinks} {
		opts.Endpoints[name] = url(name)
		if !o.Stores(name) {
			opts.Unstored = append(opts.Unstored, name)
		}
	}
	return gateway.NewFront(opts)
}

// soldByLink says whether sales of the journal were paid by payment links, also where the method is not configured any more. A journal
// that cannot be read may hold some.
func soldByLink(db store.DB, log *slog.Logger) (yes bool) {
	err := db.Read(context.Background(), func(r store.Reader) (err error) { yes, err = paylink.Sold(r); return err })
	if err != nil {
		log.Error("sales by payment links not read", "err", err)
		return true
	}
	return yes
}

// linkClient speaks to the payment links' account for the local port.
func linkClient(cfg config.Config, to map[string]sender) *paylinks.Client {
	auth := cfg.Upstream.Proof("paylinks").Auth
	return &paylinks.Client{BaseURL: cfg.Upstream.URL("paylinks"), Instance: auth.Instance, Secret: auth.Secret, Doer: to["paylinks"].doer()}
}
