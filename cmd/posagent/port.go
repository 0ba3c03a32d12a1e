package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posagent/agent"
	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/agent/port"
	"posagent/agent/view"
	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/store"
)

// localClients are the local clients, each by its id in the journal.
func localClients(ctx context.Context, cfg config.Config, db store.DB, beside store.Beside) (list []port.Client, err error) {
	var known []agent.Known
	for _, name := range slices.Sorted(maps.Keys(cfg.Port.Clients)) {
		client := cfg.Port.Clients[name]
		list = append(list, port.Client{Label: name, Token: client.Token, May: client.May})
		known = append(known, agent.Known{ID: client.ID, Name: name, Place: tokenDigest(beside, client.Token.Reveal()),
			Older: hex.EncodeToString(db.MAC("agent_ids", "token", client.Token.Reveal()))})
	}
	if err := agent.Identify(ctx, db, beside, agent.AsClient, known); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Name = known[i].ID
	}
	return list, nil
}

// tokenDigest is a digest of the token that a client shows. It is the same in the journal that takes the place of a lost one.
func tokenDigest(beside store.Beside, token string) string {
	mac := hmac.New(sha256.New, beside.Secret)
	mac.Write([]byte("posagent client token 1\x00" + token))
	return hex.EncodeToString(mac.Sum(nil))
}

// localPort is what the local port serves.
func localPort(ctx context.Context, c *call, cfg config.Config, sandbox bool, db store.DB, beside store.Beside, f *gateway.Front, to map[string]sender, log *slog.Logger) (agent.Local, error) {
	l := agent.Local{
		Token: cfg.Port.Token, Rate: cfg.Port.Rate, Parallel: cfg.Port.Parallel, Within: cfg.Upstream.Timeout, About: aboutTerminal(cfg, sandbox), Dir: c.stateDir(),
		PIN: func() (string, error) { return readPIN(pinFile(c), os.Geteuid()) },
	}
	l.About.Running, l.About.PID, l.About.Flags = true, os.Getpid(), c.flags()
	var err error
	if l.Token == "" {
		if l.Token, err = portToken(filepath.Join(c.stateDir(), "port.token")); err != nil {
			return l, fail(exitFailed, "local port: %v", err)
		}
	}
	if l.Clients, err = localClients(ctx, cfg, db, beside); err != nil {
		return l, storeError(err)
	}
	for _, name := range portServices() {
		if client := to[name].client; client != nil {
			l.Upstream = append(l.Upstream, view.Upstream{Name: name, Healthy: client.Healthy})
		}
	}
	url, own := cfg.Upstream.URL, ownership.New(db, beside.Secret)
	own.Given = func(tx store.Tx, about, id, owner string) error { return inbox.Own(db, tx, about, id, "", owner) }
	build := &hosted.Client{BaseURL: url("hosted"), APIKey: cfg.Upstream.Proof("hosted").Auth.APIKey, Doer: to["hosted"].doer()}
	arrived := agent.Inbox(db, f, time.Now, log)
	arrived.Named = own.Told(build.Sessions())
	l.Inbox = inbox.New(arrived)
	cases := &disputes.Client{BaseURL: url("disputes"), Operator: cfg.Operator.Name, Doer: to["disputes"].doer(), Dir: l.Dir}
	l.Services = []port.Service{
		port.Payments(f.Payments(), cfg.Operator.Name),
		port.Tokens(f.Tokens()),
		port.Links(f.Links(), f.Transactions(), cfg.Upstream.Proof("paylinks").Auth.Instance, cfg.Port.StrictLinks),
		port.Schemes(ownership.Schemes(own, journal.SoldAs, &aapay.Client{BaseURL: url("schemes"), Doer: to["schemes"].doer()})),
		port.Methods(catalog.Holding(db, methodQuery(cfg), &methods.Client{BaseURL: url("methods"), Doer: to["methods"].doer()})),
		port.Disputes(ownership.Disputes(cases), cases, cfg.Operator.Name),
		port.Onboarding(ownership.Onboarding(own, &onboarding.Client{BaseURL: url("payments"), Doer: to["payments"].doer()})),
		port.Hosted(ownership.Sessions(own, inbox.Builds(db, build.Sessions(), time.Now)), ownership.Orders(own, build.Sessions(), build.Orders())),
		port.Notices(l.Inbox.Notices()),
	}
	return l, nil
}
