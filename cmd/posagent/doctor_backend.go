package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"posagent/agent"
	"posagent/agent/checkout"
	"posagent/agent/config"
	"posagent/agent/doctor"
	"posagent/agent/paylink"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// askWithin bounds a question to the backend: both of them fit into one examination.
const askWithin = 4 * time.Second

// askBackend asks one service of the backend over a connection of its own. ask does it, and returns a cause that only the reply's content
// shows; it must move no money.
func askBackend(ctx context.Context, cfg config.Config, service string, log *slog.Logger, ask func(context.Context, wire.Doer, *doctor.Answer) error) doctor.Answer {
	a, _ := askTraced(ctx, cfg, service, "doctor", askWithin, log, ask)
	return a
}

// notAsked says why the backend is not asked, "" where it is.
func notAsked(c doctor.Config) string {
	switch {
	case !c.OK() || c.Files != "":
		return "the configuration cannot be used"
	case c.Sandbox:
		return "a sandbox: the backend is embedded"
	}
	return ""
}

// askAccounts asks each service whether it accepts its credentials, beside those that a sale's way shows. Where none are set it is not asked.
func askAccounts(ctx context.Context, cfg config.Config, c doctor.Config) []doctor.Account {
	if notAsked(c) != "" {
		return nil
	}
	var list []doctor.Account
	certificate := c.ClientCert != "" || c.Device != nil
	for _, name := range portServices() {
		own := questionOf(name).proof != ""
		switch {
		case name == "methods", name == "schemes", cfg.Upstream.URL(name) == "":
		case own && proves(cfg, name), !own && (certificate || authKeys(cfg, name) != ""):
			list = append(list, doctor.Account{Service: name})
		}
	}
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { list[i].Answer, _, _ = askQuestion(ctx, cfg, list[i].Service, "doctor", askWithin) })
	}
	all.Wait()
	return list
}

// askMethods asks for the list of methods, as the terminal does.
func askMethods(ctx context.Context, cfg config.Config, c doctor.Config, log *slog.Logger) doctor.Answer {
	if why := notAsked(c); why != "" {
		return doctor.Answer{None: why}
	}
	return askBackend(ctx, cfg, "methods", log, func(ctx context.Context, doer wire.Doer, a *doctor.Answer) error {
		list, err := (&methods.Client{BaseURL: cfg.Upstream.URL("methods"), Doer: doer}).List(ctx, methodQuery(cfg))
		switch {
		case wire.CodeOf(err) == wire.NotFound:
			a.NoMethod = linkMethod(cfg) == nil
		case err != nil:
			a.Cause, a.Detail = ready.NoList, plainReason(err)
			return err
		}
		list = paylink.Offer(list, linkMethod(cfg))
		a.Methods, a.NoMethod = len(list), len(list) == 0
		a.Fit = len(checkout.Offer(list, checkout.Wish{Prompter: cfg.Keypad.There(), Exclude: cfg.Methods.Exclude})) > 0
		return nil
	})
}

// askSchemes asks the schemes for a transaction that does not exist. Any answer of the service will do.
func askSchemes(ctx context.Context, cfg config.Config, c doctor.Config, log *slog.Logger) doctor.Answer {
	if why := notAsked(c); why != "" {
		return doctor.Answer{None: why}
	}
	return askBackend(ctx, cfg, "schemes", log, func(ctx context.Context, doer wire.Doer, _ *doctor.Answer) error {
		_, err := (&aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: doer}).Status(upstream.Question(ctx), agent.NoTransaction, "")
		return err
	})
}
