package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
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

// traced notes how far a connection came, and what the reply says of itself.
type traced struct {
	next wire.Doer

	mu     sync.Mutex
	answer doctor.Answer
}

// Do implements wire.Doer.
func (t *traced) Do(req *http.Request) (*http.Response, error) {
	reach := func(p doctor.Phase) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.answer.Phase = max(t.answer.Phase, p)
	}
	trace := &httptrace.ClientTrace{
		DNSDone: func(info httptrace.DNSDoneInfo) {
			if info.Err == nil {
				reach(doctor.Found)
			}
		},
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				reach(doctor.Connected)
			}
		},
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			if err == nil && len(state.PeerCertificates) > 0 {
				reach(doctor.Secured)
				t.mu.Lock()
				defer t.mu.Unlock()
				t.answer.CertUntil = state.PeerCertificates[0].NotAfter
			}
		},
		GotFirstResponseByte: func() { reach(doctor.Answered) },
	}
	resp, err := t.next.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.answer.Status, t.answer.At = resp.StatusCode, time.Now()
		t.answer.Clock, _ = http.ParseTime(resp.Header.Get("Date")) // zero where it says none
	}
	return resp, err
}

// askBackend asks one service of the backend over a connection of its own. ask does it, and returns a cause that only the reply's content
// shows; it must move no money.
func askBackend(ctx context.Context, cfg config.Config, service string, log *slog.Logger, ask func(context.Context, wire.Doer, *doctor.Answer) error) doctor.Answer {
	cfg.Upstream.Timeout = min(cfg.Upstream.Timeout, askWithin)
	client, err := upstreamAs("posagent/"+version+" doctor", cfg, service, log)
	if err != nil {
		return doctor.Answer{None: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	t := &traced{next: client}
	var told doctor.Answer
	err = ask(ctx, t, &told)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.answer
	a.Host, a.TLS = client.Host(), strings.HasPrefix(cfg.Upstream.URL(service), "https://")
	a.Methods, a.NoMethod, a.Fit, a.Cause, a.Detail = told.Methods, told.NoMethod, told.Fit, told.Cause, told.Detail
	if fault := client.Fault(); fault != nil {
		a.Cause, a.Detail = ready.Cause(fault.Kind), fault.Detail
	} else if kind, detail := upstream.FaultOf(err); a.Cause != "" && kind != "" { // its reply broke off
		a.Cause, a.Detail = ready.Cause(kind), detail
	}
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
		a.Fit = len(checkout.Offer(list, checkout.Wish{Exclude: cfg.Methods.Exclude})) > 0
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
