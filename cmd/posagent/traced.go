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

	"posagent/agent/config"
	"posagent/agent/doctor"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/schemes/wire"
)

// walked is what a connection met on its way to the backend, or to the proxy before it. A step that it did not come to took no time.
type walked struct {
	addresses []string // that the name has
	at        string   // the address that took the connection
	tls       *tls.ConnectionState

	named, connected, secured, replied time.Duration // each step alone
}

// traced notes how far a connection came, and what the reply says of itself.
type traced struct {
	next wire.Doer

	mu     sync.Mutex
	answer doctor.Answer
	way    walked
	since  time.Time // the last step began
}

// Do implements wire.Doer.
func (t *traced) Do(req *http.Request) (*http.Response, error) {
	// step ends one; where it only begins one, took is nil.
	step := func(took *time.Duration) {
		now := time.Now()
		if took != nil && !t.since.IsZero() {
			*took = now.Sub(t.since)
		}
		t.since = now
	}
	locked := func(f func()) {
		t.mu.Lock()
		defer t.mu.Unlock()
		f()
	}
	reach := func(p doctor.Phase) { t.answer.Phase = max(t.answer.Phase, p) }
	trace := &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { locked(func() { step(nil) }) },
		DNSDone: func(info httptrace.DNSDoneInfo) {
			locked(func() {
				step(&t.way.named)
				if info.Err != nil {
					return
				}
				reach(doctor.Found)
				t.way.addresses = nil
				for _, a := range info.Addrs {
					t.way.addresses = append(t.way.addresses, a.String())
				}
			})
		},
		ConnectStart: func(_, _ string) { locked(func() { step(nil) }) },
		ConnectDone: func(_, to string, err error) {
			locked(func() {
				step(&t.way.connected)
				if err == nil {
					reach(doctor.Connected)
					t.way.at = to
				}
			})
		},
		TLSHandshakeStart: func() { locked(func() { step(nil) }) },
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			locked(func() {
				step(&t.way.secured)
				if err == nil && len(state.PeerCertificates) > 0 {
					reach(doctor.Secured)
					t.answer.CertUntil, t.way.tls = state.PeerCertificates[0].NotAfter, &state
				}
			})
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { locked(func() { step(nil) }) },
		GotFirstResponseByte: func() {
			locked(func() {
				step(&t.way.replied)
				reach(doctor.Answered)
			})
		},
	}
	resp, err := t.next.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil {
		locked(func() {
			t.answer.Status, t.answer.At = resp.StatusCode, time.Now()
			t.answer.Clock, _ = http.ParseTime(resp.Header.Get("Date")) // zero where it says none
		})
	}
	return resp, err
}

// askTraced asks one service of the backend over a connection of its own, in the name of a verb. ask does it, and returns a cause that
// only the reply's content shows; it must move no money.
func askTraced(ctx context.Context, cfg config.Config, service, verb string, within time.Duration, log *slog.Logger,
	ask func(context.Context, wire.Doer, *doctor.Answer) error) (doctor.Answer, walked) {
	cfg.Upstream.Timeout = min(cfg.Upstream.Timeout, within)
	client, err := upstreamAs("posagent/"+version+" "+verb, cfg, service, log, nil)
	if err != nil {
		return doctor.Answer{None: err.Error()}, walked{}
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	t := &traced{next: client}
	var told doctor.Answer
	err = ask(ctx, t, &told)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.answer
	a.Keys, a.Host, a.TLS = authKeys(cfg, service), client.Host(), strings.HasPrefix(cfg.Upstream.URL(service), "https://")
	a.Named = t.way.named
	a.Methods, a.NoMethod, a.Fit, a.Cause, a.Detail = told.Methods, told.NoMethod, told.Fit, told.Cause, told.Detail
	if fault := client.Fault(); fault != nil {
		a.Cause, a.Detail = ready.Cause(fault.Kind), fault.Detail
	} else if kind, detail := upstream.FaultOf(err); a.Cause != "" && kind != "" { // its reply broke off
		a.Cause, a.Detail = ready.Cause(kind), detail
	}
	return a, t.way
}
