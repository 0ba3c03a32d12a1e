package doctor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"posagent/agent/ready"
)

// way is one step of the way to the backend. Each cause belongs to one step, so one fault is one failure.
type way struct {
	check  Check
	causes []ready.Cause
	at     Phase // a silence or a break after this phase belongs to it; -1 = none does
	apply  func(f *Facts) bool
}

// secure says whether the backend is asked over TLS.
func (f *Facts) secure() bool { return len(f.Config.Backend) > 8 && f.Config.Backend[:8] == "https://" }

func always(*Facts) bool { return true }

// resolves says whether the box has to find the backend's name: it has one, and no proxy finds it.
func resolves(f *Facts) bool {
	_, name := f.host()
	return !f.Config.Proxy && net.ParseIP(strings.Trim(name, "[]")) == nil
}

// ways are the steps in the order in which a connection takes them.
func ways() []way {
	tls := func(f *Facts) bool { return f.secure() }
	return []way{
		{Check{
			ID: "PA-NET-001", Title: "the network has a way to the backend", Severity: Critical, After: []string{"PA-CFG-006"},
			Means:  "no payment can be asked for; reversals wait in the outbox",
			How:    "the backend is asked for the list of methods, as the terminal does; the kernel says that no route leads there",
			Remedy: Remedy{Text: "check the cable and the router", Command: "ip route"},
		}, []ready.Cause{"no_route"}, -1, always},
		{Check{
			ID: "PA-NET-002", Title: "the name service answers", Severity: Critical,
			Means:  "the backend's name cannot be found",
			How:    "the backend's name is resolved, and no name server answers",
			Remedy: Remedy{Text: "check the cable, the router and the name servers", Command: "cat /etc/resolv.conf"},
		}, []ready.Cause{"name_service"}, -1, resolves},
		{Check{
			ID: "PA-NET-003", Title: "the backend's name exists", Severity: Critical,
			Means:  "the address in the configuration is wrong, or the name is gone",
			How:    "the backend's name is resolved, and the name server knows none",
			Remedy: Remedy{Text: "correct [upstream] base in {config}", Command: "getent hosts {name}"},
		}, []ready.Cause{"no_name"}, -1, resolves},
		{Check{
			ID: "PA-NET-004", Title: "the proxy lets the terminal through", Severity: Critical,
			Means:  "the shop's proxy wants a login, forbids the backend, or is away",
			How:    "the proxy of [upstream] is asked to connect to the backend",
			Remedy: Remedy{Text: "set proxy and proxy_auth_file of [upstream] in {config}", Command: "posagent config show{flags}"},
		}, []ready.Cause{"proxy_down", "proxy_login", "proxy_refuses"}, -1, func(f *Facts) bool { return f.Config.Proxy }},
		{Check{
			ID: "PA-NET-005", Title: "the backend takes connections", Severity: Critical,
			Means:  "the port is wrong, a firewall blocks it, or the backend is down",
			How:    "a TCP connection is opened",
			Remedy: Remedy{Text: "correct host and port of [upstream] base in {config}; a firewall may block it", Command: "curl -sv https://{host}/"},
		}, []ready.Cause{"refused"}, Found, always},
		{Check{
			ID: "PA-NET-006", Title: "a secure connection comes about", Severity: Critical,
			Means:  "the other end does not speak TLS as it should, or refuses the client certificate",
			How:    "the TLS handshake is watched",
			Remedy: Remedy{Text: "correct the port of [upstream] base, client_cert and client_key in {config}", Command: "curl -sv https://{host}/"},
		}, []ready.Cause{"bad_tls"}, Connected, tls},
		{Check{
			ID: "PA-NET-007", Title: "the backend's certificate is in date", Severity: Critical, After: []string{"PA-CLK-001"},
			Means:  "the certificate is out of date or not valid yet, or the clock of the box is wrong",
			How:    "the dates of the certificate are compared with the clock",
			Remedy: Remedy{Text: "if the clock is wrong, set it; else call the backend's operator", Command: "date -u"},
		}, []ready.Cause{"expired"}, -1, tls},
		{Check{
			ID: "PA-NET-008", Title: "the backend's certificate comes from a trusted authority", Severity: Critical,
			Means:  "roots_file lacks the backend's authority, or somebody reads along",
			How:    "the chain of the certificate is verified; the evidence names the issuer",
			Remedy: Remedy{Text: "if the issuer is the backend's, set [upstream] roots_file in {config} to its root certificate", Command: "posagent config show{flags}"},
		}, []ready.Cause{"untrusted"}, -1, tls},
		{Check{
			ID: "PA-NET-009", Title: "the backend's certificate is for its name", Severity: Critical,
			Means:  "the address leads to another server, or is written another way",
			How:    "the names in the certificate are compared with [upstream] base",
			Remedy: Remedy{Text: "correct the host of [upstream] base in {config}", Command: "posagent config show{flags}"},
		}, []ready.Cause{"wrong_name"}, -1, tls},
		{Check{
			ID: "PA-NET-010", Title: "the backend's key is a pinned one, and strong", Severity: Critical,
			Means:  "the backend has another key than the pinned ones, or a weak one; or somebody reads along",
			How:    "the keys of the chain are compared with pins of [upstream]",
			Remedy: Remedy{Text: "ask the backend's operator for the new key, and put it into [upstream] pins in {config}", Command: "posagent config show{flags}"},
		}, []ready.Cause{"wrong_pin", "weak_key"}, -1, tls},
		{Check{
			ID: "PA-NET-011", Title: "the backend answers in time", Severity: Critical,
			Means:  "the connection is there, and no reply comes over it",
			How:    "the reply is waited for some seconds; a connection that breaks off counts too",
			Remedy: Remedy{Text: "a firewall may cut the connection; else call the backend's operator", Command: "curl -sv https://{host}/"},
		}, []ready.Cause{"stall", "broken"}, Secured, always},
		{Check{
			ID: "PA-NET-012", Title: "no login page answers in the backend's place", Severity: Critical,
			Means:  "the shop's network wants a person to log in before it lets the terminal through",
			How:    "the reply is a web page or a redirect",
			Remedy: Remedy{Text: "log in to the network with a browser; if there is no such page, correct [upstream] base in {config}", Command: "curl -sv https://{host}/"},
		}, []ready.Cause{"portal"}, -1, always},
		{Check{
			ID: "PA-UPS-001", Title: "the backend does not fail", Severity: Critical,
			Means:  "the backend answers with an error of its own, or is asked too often",
			How:    "the reply has a status of 500 or above, or 429",
			Remedy: Remedy{Text: "call the backend's operator; the terminal asks again by itself", Command: "posagent status{flags}"},
		}, []ready.Cause{"failing", "too_many"}, -1, always},
		{Check{
			ID: "PA-UPS-002", Title: "the backend has the method list at this address", Severity: Critical,
			Means:  "the path of the address is wrong, or another server answers",
			How:    "the reply is 404, and not the service's own",
			Remedy: Remedy{Text: "correct the path of [upstream] base in {config}", Command: "posagent config show{flags}"},
		}, []ready.Cause{"no_service"}, -1, always},
		{Check{
			ID: "PA-UPS-003", Title: "the backend accepts the credentials", Severity: Critical,
			Means:  "credentials are missing or wrong, or the backend has revoked them",
			How:    "the reply is 401 or 403",
			Remedy: Remedy{Text: "correct [upstream.auth] in {config}, then start posagent again", Command: "posagent config show{flags}"},
		}, []ready.Cause{"credentials"}, -1, always},
		{Check{
			ID: "PA-UPS-004", Title: "the backend sends a usable method list", Severity: Critical,
			Means:  "the address leads to something else, or the backend is broken",
			How:    "the list is read as the terminal reads it",
			Remedy: Remedy{Text: "correct [upstream] base or methods in {config}; if they are right, call the backend's operator", Command: "posagent config show{flags}"},
		}, []ready.Cause{ready.NoList}, -1, always},
	}
}

// networkChecks are the way to the backend and what it answers there. Each step stands behind the one before.
func networkChecks() (list []Check) {
	before := ""
	for _, w := range ways() {
		c := w.check
		if before != "" {
			c.After = append([]string{before}, c.After...)
		}
		c.Look = func(ctx context.Context, f *Facts) Finding {
			a := f.Backend(ctx)
			switch {
			case a.None != "":
				return nothing(a.None)
			case w.fails(a):
				t := ready.Trouble{Cause: a.Cause, Where: a.Host, Detail: a.Detail}
				if c.ID == "PA-UPS-003" && !f.Config.Credentials {
					return f.said(t).typed("no credentials are set: set [upstream.auth] in {config}, then start posagent again", "")
				}
				return f.said(t)
			case !w.apply(f):
				return nothing("not on the way to this backend")
			}
			return passed()
		}
		list, before = append(list, c), c.ID
	}
	return list
}

// fails says whether an answer is a fault of this step. A silence or a break belongs to the step that it came in.
func (w way) fails(a Answer) bool {
	if a.Cause != "stall" && a.Cause != "broken" {
		return slices.Contains(w.causes, a.Cause)
	}
	switch {
	case a.Phase <= Found:
		return w.at == Found
	case a.Phase == Connected && a.TLS:
		return w.at == Connected
	}
	return w.at == Secured
}

// backendChecks are about what the backend answers, once it does.
func backendChecks() []Check {
	return []Check{
		{
			ID: "PA-UPS-005", Title: "the backend knows methods for this terminal", Severity: Critical, After: []string{"PA-UPS-004"},
			Means:  "bax_id or terminal_id is wrong, or the backend's operator has set no method up",
			How:    "the list of methods is asked for; it is empty, or the service says 404",
			Remedy: Remedy{Text: "correct bax_id and terminal_id of [terminal] in {config}, or ask the backend's operator to add a method", Command: "posagent config show{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				a := f.Backend(ctx)
				switch {
				case a.None != "":
					return nothing(a.None)
				case a.NoMethod:
					return f.said(ready.Trouble{Cause: ready.NoMethods})
				}
				return passed("methods", fmt.Sprint(a.Methods))
			},
		},
		{
			ID: "PA-UPS-006", Title: "a method can be sold here", Severity: Critical, After: []string{"PA-UPS-005"},
			Means:  "the backend has methods for this terminal, and none that a register can sell with",
			How:    "the methods are offered as they are to a register's payment",
			Remedy: Remedy{Text: "one needs PAYMENT with REVERSAL or REFUND, and the trigger QR; ask the backend's operator", Command: "posagent methods{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				a := f.Backend(ctx)
				switch {
				case a.None != "":
					return nothing(a.None)
				case !a.Fit:
					return f.said(ready.Trouble{Cause: ready.Unfit})
				}
				return passed()
			},
		},
		{
			ID: "PA-UPS-007", Title: "the schemes answer", Severity: Critical, After: []string{"PA-UPS-004"},
			Means:  "the list of methods is there, and no sale can be begun",
			How:    "the schemes are asked for a transaction that does not exist",
			Remedy: Remedy{Text: "correct [upstream] schemes and [upstream.auth] in {config}", Command: "posagent config show{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				a := f.Schemes(ctx)
				switch {
				case a.None != "":
					return nothing(a.None)
				case a.Cause != "":
					return f.said(ready.Trouble{Cause: a.Cause, Where: a.Host, Detail: a.Detail})
				}
				return passed("reply", fmt.Sprint(a.Status))
			},
		},
		{
			ID: "PA-CLK-003", Title: "the clock agrees with the backend's", Severity: Major, After: []string{"PA-CLK-001", "PA-UPS-001"},
			Means:  "times on receipts are wrong, and signatures and certificates may be refused",
			How:    "the Date header of the backend's reply is compared with the clock",
			Remedy: Remedy{Text: "set the clock, and keep it set by NTP", Command: "date -u"},
			Look: func(ctx context.Context, f *Facts) Finding {
				a := f.Backend(ctx)
				if a.None != "" {
					return nothing(a.None)
				}
				return drift(a)
			},
		},
		{
			ID: "PA-KEY-005", Title: "the backend's certificate does not end soon", Severity: Minor, After: []string{"PA-NET-010"},
			Means:  "the backend needs a new certificate before that day",
			How:    "the date in the certificate is compared with the clock",
			Remedy: Remedy{Text: "tell the backend's operator the date", Command: "curl -sv https://{host}/"},
			Look: func(ctx context.Context, f *Facts) Finding {
				a := f.Backend(ctx)
				if a.None != "" || a.CertUntil.IsZero() {
					return nothing("no certificate was shown")
				}
				return dates(a.CertUntil.AddDate(-100, 0, 0), a.CertUntil, f.Now)
			},
		},
	}
}
