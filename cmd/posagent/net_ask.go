package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/doctor"
	"posagent/agent/upstream"
	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// question is one that moves no money: about a thing that does not exist, or what every caller may read.
type question struct {
	service string
	proof   string // the key of [upstream.auth] that it needs; "" = an Authorization header, or the certificate that takes its place
	ask     func(ctx context.Context, cfg config.Config, base string, doer wire.Doer) error
}

// questions has one for each service of the local port.
func questions() []question {
	return []question{
		{"payments", "", func(ctx context.Context, _ config.Config, base string, doer wire.Doer) error {
			_, err := (&payments.Client{BaseURL: base, Doer: doer}).Read(ctx, agent.NoTransaction)
			return err
		}},
		{"paylinks", "instance", func(ctx context.Context, cfg config.Config, base string, doer wire.Doer) error {
			account := cfg.Upstream.Proof("paylinks").Auth
			return (&paylinks.Client{BaseURL: base, Instance: account.Instance, Secret: account.Secret, Doer: doer}).Check(ctx)
		}},
		{"tokens", "", func(ctx context.Context, _ config.Config, base string, doer wire.Doer) error {
			_, err := (&tokens.Client{BaseURL: base, Doer: doer}).Token(ctx, agent.NoTransaction)
			return err
		}},
		{"schemes", "", func(ctx context.Context, _ config.Config, base string, doer wire.Doer) error {
			_, err := (&aapay.Client{BaseURL: base, Doer: doer}).Status(upstream.Question(ctx), agent.NoTransaction, "")
			return err
		}},
		{"methods", "", func(ctx context.Context, cfg config.Config, base string, doer wire.Doer) error {
			_, err := (&methods.Client{BaseURL: base, Doer: doer}).List(ctx, methodQuery(cfg))
			return err
		}},
		{"hosted", "api_key", func(ctx context.Context, cfg config.Config, base string, doer wire.Doer) error {
			_, err := (&hosted.Client{BaseURL: base, APIKey: cfg.Upstream.Proof("hosted").Auth.APIKey, Doer: doer}).Orders().Methods(ctx)
			return err
		}},
		{"disputes", "", func(ctx context.Context, _ config.Config, base string, doer wire.Doer) error {
			_, err := (&disputes.Client{BaseURL: base, Doer: doer}).PublicKey(ctx)
			return err
		}},
	}
}

// questionOf finds the question of a service that has one.
func questionOf(service string) question {
	for _, q := range questions() {
		if q.service == service {
			return q
		}
	}
	panic("no question for " + service)
}

// credentialOf are the keys of [upstream.auth] by which a service knows who asks.
func credentialOf(service string) string {
	kinds, own := config.Kinds(service)
	return strings.Join(kinds[:own], ", or ")
}

// askService asks one service its question.
func askService(ctx context.Context, c *call, cfg config.Config, service string) netService {
	s := netService{Service: service, URL: cfg.Upstream.URL(service)}
	if s.URL == "" {
		s.Words, s.Remedy = "it has no address", "set [upstream] "+service+" or base"
		return s
	}
	s.Unproven = !proves(cfg, service)
	a, w, said := askQuestion(ctx, cfg, service, "net", netWithin)
	at := placeIn(c, cfg)
	s.met(a, w, at)
	if s.OK && !s.Unproven && !spoken(said) {
		s.OK, s.Words, s.Remedy = false, "what answers is not the service, "+plainReason(said), "correct [upstream] "+service+" or base in "+at.In("upstream."+service, "upstream.base")
	}
	return s
}

// proves says whether credentials are set by which a service with a form of its own knows who asks.
func proves(cfg config.Config, service string) bool {
	auth := cfg.Upstream.Proof(service).Auth
	switch questionOf(service).proof {
	case "instance":
		return auth.Instance != "" && auth.Secret != ""
	case "api_key":
		return auth.APIKey != ""
	}
	return true
}

// askQuestion asks one service with an address its question, in the name of a verb. said is the service's own word.
func askQuestion(ctx context.Context, cfg config.Config, service, verb string, within time.Duration) (a doctor.Answer, w walked, said error) {
	q, unproven := questionOf(service), !proves(cfg, service)
	if unproven { // wrong credentials might lock an account: it is asked without any
		q.ask = anyAnswer
	}
	a, w = askTraced(ctx, cfg, service, verb, within, slog.New(slog.DiscardHandler), func(ctx context.Context, doer wire.Doer, _ *doctor.Answer) error {
		said = q.ask(ctx, cfg, cfg.Upstream.URL(service), doer)
		return said
	})
	switch {
	case unproven && a.Status != 0 && a.Cause != "portal":
		a.Cause = ""
	case a.Cause == "" && refuses(said):
		a.Cause, a.Detail = "credentials", plainReason(said)
	}
	a.Keys = authKeys(cfg, service)
	return a, w, said
}

// askServices asks several services at once, each its question.
func askServices(ctx context.Context, c *call, cfg config.Config, names []string) []netService {
	list := make([]netService, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { list[i] = askService(ctx, c, cfg, name) })
	}
	all.Wait()
	return list
}

// anyAnswer asks whether anything answers at an address.
func anyAnswer(ctx context.Context, _ config.Config, base string, doer wire.Doer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, base, nil)
	if err != nil {
		return err
	}
	resp, err := doer.Do(req)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// spoken says whether an answer is the service's own: what was asked for, or a refusal in its own form.
func spoken(err error) bool {
	return err == nil || slices.Contains([]wire.Code{wire.NotFound, wire.Invalid, wire.Conflict, wire.Unauthorized, wire.Forbidden}, wire.CodeOf(err))
}

// withoutLogin is a proxy's address without the user and password that it may name.
func withoutLogin(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil || u.User == nil {
		return proxy
	}
	u.User = nil
	return u.String()
}
