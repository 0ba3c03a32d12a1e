package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"posagent/agent/doctor"
	"posagent/agent/ready"
)

func netCommand() command {
	return command{
		name: "net", short: "the way to the backend, step by step and with times",
		examples: []string{"posagent net check --config /etc/posagent/config.toml", "posagent net check payments"},
		sub: []command{{
			name: "check", args: "[SERVICE]", short: "name, connection, TLS, reply, credentials and clock of each service, as the terminal itself asks",
			long: "Asks each service of [upstream] a question that moves no money, over a connection of its own, as the terminal does: with its proxy,\n" +
				"roots, pins, client certificate and credentials. Each has five seconds. SERVICE is one of " + strings.Join(portServices(), ", ") + ".\n" +
				"Exit 0: all answer; 5: the terminal is not enrolled; 7: one cannot be reached; 8: one refuses the credentials; 1: one answers with something else.",
			json:     []string{"posagent.net.check/1"},
			examples: []string{"posagent net check --config /etc/posagent/config.toml", "posagent net check payments", "posagent net check --json"},
			run:      netCheck,
		}},
	}
}

// netWithin bounds the question to one service.
const netWithin = 5 * time.Second

// netView is the whole judgement (posagent.net.check/1).
type netView struct {
	Schema     string       `json:"schema"`
	Sandbox    bool         `json:"sandbox"`              // the backend is embedded: there is no way to check
	Unenrolled bool         `json:"unenrolled,omitempty"` // the terminal waits for its enrolment: there is none yet
	Proxy      string       `json:"proxy,omitempty"`
	Services   []netService `json:"services"`
}

// netService is the way to one service. Times are in milliseconds, of each step alone; null = the step was not taken.
type netService struct {
	Service     string      `json:"service"`
	URL         string      `json:"url"`
	OK          bool        `json:"ok"`
	Unproven    bool        `json:"unproven,omitempty"` // it answers, and no credentials are set to show it
	Cause       ready.Cause `json:"cause,omitempty"`
	Words       string      `json:"words,omitempty"`
	Remedy      string      `json:"remedy,omitempty"`
	Addresses   []string    `json:"addresses,omitempty"`
	At          string      `json:"at,omitempty"`
	NameMS      *float64    `json:"nameMs"`
	ConnectMS   *float64    `json:"connectMs"`
	TLSMS       *float64    `json:"tlsMs"`
	ReplyMS     *float64    `json:"replyMs"`
	Status      int         `json:"status,omitempty"`
	ClockMS     *int64      `json:"clockOffsetMs"` // the backend's clock minus this one's, to the second; null = it says none
	Certificate *netCert    `json:"certificate,omitempty"`
}

// netCert is what the other end has shown.
type netCert struct {
	Version string    `json:"version"`
	Issuer  string    `json:"issuer"`
	Names   []string  `json:"names"`
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
}

func netCheck(ctx context.Context, c *call) error {
	names := portServices()
	switch {
	case len(c.args) > 1:
		return fail(exitUsage, "net check: one SERVICE, or none for all")
	case len(c.args) == 1 && !slices.Contains(names, c.args[0]):
		return fail(exitUsage, "net check: no service %q (%s)", c.args[0], strings.Join(names, ", "))
	case len(c.args) == 1:
		names = c.args
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if unenrolled(c, cfg) {
		if c.json {
			v := netView{Schema: "posagent.net.check/1", Unenrolled: true, Services: []netService{}}
			return errors.Join(printJSON(c.out, v), exitWith(exitNotEnrolled, errors.New("")))
		}
		return notEnrolled(c)
	}
	if err := connectable(c, cfg); err != nil {
		return exitWith(exitConfig, err)
	}
	v := netView{Schema: "posagent.net.check/1", Sandbox: cfg.Sandbox(), Proxy: withoutLogin(cfg.Upstream.Proxy), Services: []netService{}}
	if !v.Sandbox {
		v.Services = slices.DeleteFunc(askServices(ctx, c, cfg, names), func(s netService) bool { return s.URL == "" && len(c.args) == 0 })
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		v.print(c.out)
	}
	return v.exit()
}

// exit is the exit code of the worst service.
func (v netView) exit() error {
	code := exitOK
	for _, s := range v.Services {
		switch {
		case s.OK:
		case s.Cause == "credentials":
			code = max(code, exitAuth)
		case s.Status == 0, slices.Contains([]ready.Cause{"portal", "proxy_down", "proxy_login", "proxy_refuses"}, s.Cause):
			code = max(code, exitNoBackend)
		default:
			code = max(code, exitFailed)
		}
	}
	if code == exitOK {
		return nil
	}
	return exitWith(code, errors.New(""))
}

func (v netView) print(w io.Writer) {
	if v.Sandbox {
		fmt.Fprintln(w, "no backend is set: a sandbox has one of its own, and there is no way to check (posagent enroll CODE --url URL, or set [upstream] base)")
		return
	}
	if v.Proxy != "" {
		fmt.Fprintf(w, "by the proxy %s: the times of name and connection are those of the way to it\n", v.Proxy)
	}
	fmt.Fprintf(w, "%-9s %-5s %8s %8s %8s %8s %6s %8s  %s\n", "SERVICE", "", "NAME", "CONNECT", "TLS", "REPLY", "STATUS", "CLOCK", "AT")
	for _, s := range v.Services {
		state := "ok"
		if !s.OK {
			state = "FAIL"
		}
		status, clock := "-", "-"
		if s.Status != 0 {
			status = fmt.Sprint(s.Status)
		}
		if s.ClockMS != nil {
			clock = fmt.Sprintf("%+d s", *s.ClockMS/1000)
		}
		fmt.Fprintf(w, "%-9s %-5s %8s %8s %8s %8s %6s %8s  %s\n", s.Service, state, inMS(s.NameMS), inMS(s.ConnectMS), inMS(s.TLSMS), inMS(s.ReplyMS), status, clock,
			cmp.Or(s.At, s.URL, "no address"))
	}
	said := grouped{of: map[string][]string{}}
	for _, s := range v.Services {
		if t := s.Certificate; t != nil {
			said.add(fmt.Sprintf("certificate: %s, from %s, until %s, for %s", t.Version, t.Issuer, t.Until.Format("2006-01-02"), strings.Join(t.Names, " ")), s.Service)
		}
	}
	for _, s := range v.Services {
		switch {
		case !s.OK:
			said.add("FAIL: "+s.Words+": "+s.Remedy, s.Service)
		case s.Unproven:
			said.add("note: it answers, and no credentials are set to show it: set "+credentialOf(s.Service)+" of [upstream.auth] if you use it", s.Service)
		}
	}
	for _, line := range said.order {
		kind, rest, _ := strings.Cut(line, ": ")
		fmt.Fprintf(w, "%s %s: %s\n", kind, strings.Join(said.of[line], ", "), rest)
	}
}

// grouped says a line once for all services that it is about.
type grouped struct {
	order []string
	of    map[string][]string
}

func (g *grouped) add(line, service string) {
	if g.of[line] == nil {
		g.order = append(g.order, line)
	}
	g.of[line] = append(g.of[line], service)
}

func inMS(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", *v)
}

// met puts what a question met into the view.
func (s *netService) met(a doctor.Answer, w walked, at ready.Place) {
	s.OK, s.Status, s.Addresses, s.At = a.Cause == "" && a.None == "", a.Status, w.addresses, w.at
	s.NameMS, s.ConnectMS, s.TLSMS, s.ReplyMS = taken(w.named), taken(w.connected), taken(w.secured), taken(w.replied)
	if !a.Clock.IsZero() {
		off := a.Clock.Sub(a.At.Truncate(time.Second)).Milliseconds() // the header has whole seconds
		s.ClockMS = &off
	}
	if w.tls != nil {
		cert := w.tls.PeerCertificates[0]
		s.Certificate = &netCert{tls.VersionName(w.tls.Version), cmp.Or(cert.Issuer.CommonName, cert.Issuer.String()), append([]string{}, cert.DNSNames...), cert.NotBefore.UTC(), cert.NotAfter.UTC()}
		for _, ip := range cert.IPAddresses {
			s.Certificate.Names = append(s.Certificate.Names, ip.String())
		}
	}
	switch {
	case a.None != "":
		s.Words, s.Remedy = a.None, "posagent config check"
	case a.Cause != "":
		said := ready.Say(a.Trouble(), at)
		s.Cause, s.Words, s.Remedy = said.Cause, said.Words, said.Remedy
	}
}

// taken is a step's time in milliseconds, nil where it was not taken.
func taken(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	ms := float64(d.Microseconds()) / 1000
	return &ms
}
