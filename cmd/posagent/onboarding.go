//go:build !device

package main

import (
	"log/slog"
	"time"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/inbox"
	"posagent/agent/offline"
	"posagent/agent/owned"
	"posagent/agent/port"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/store"
)

// moreServices are those of the local port that a terminal in a shop has no use for, and hosted build, for which its binary has
// no room: its 100 kB are a web platform's, whose computer takes the full build.
func moreServices(l *agent.Local, cfg config.Config, db store.DB, own owned.Claims, f *offline.Front, to map[string]sender, log *slog.Logger) {
	url := cfg.Upstream.URL
	build := &hosted.Client{BaseURL: url("hosted"), APIKey: cfg.Upstream.Auth.APIKey, Doer: to["hosted"].doer()}
	arrived := agent.Inbox(db, f, time.Now, log)
	arrived.Named = own.Told(build.Orders())
	l.Inbox = inbox.New(arrived)
	cases := &disputes.Client{BaseURL: url("disputes"), Operator: cfg.Operator.Name, Doer: to["disputes"].doer(), Dir: l.Dir}
	l.Services = append(l.Services,
		port.Disputes(owned.Disputes(cases), cases, cfg.Operator.Name),
		port.Onboarding(owned.Onboarding(own, &onboarding.Client{BaseURL: url("payments"), Doer: to["payments"].doer()})),
		port.Hosted(owned.Sessions(own, inbox.Builds(db, build.Sessions(), time.Now)), owned.Orders(own, build.Orders())),
		port.Notices(l.Inbox.Notices()))
}

// moreNames are the connections that they alone use.
func moreNames() []string { return []string{"disputes"} }

// largeReply is the longest reply of a service, 0 = the usual.
func largeReply(service string) int64 {
	if service == "disputes" { // its documents
		return disputes.MaxBody
	}
	return 0
}
