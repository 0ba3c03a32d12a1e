package doctor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// way is one step of the way to the backend. Each cause belongs to one step, so one fault is one failure.
type way struct {
	id      string
	also    string // ids that it depends on beside the step before, with blanks between; "" = nothing
	command string
	at      Phase // a silence or a break after this phase belongs to it; -1 = none does
	apply   func(f *Facts) bool
	causes  []ready.Cause
}

// secure says whether the backend is asked over TLS.
func (f *Facts) secure() bool { return len(f.Config.Backend) > 8 && f.Config.Backend[:8] == "https://" }

func (f *Facts) proxied() bool { return f.Config.Proxy }

func always(*Facts) bool { return true }

// resolves says whether the box has to find the backend's name: it has one, and no proxy finds it.
func resolves(f *Facts) bool {
	_, name := f.host()
	return !f.Config.Proxy && net.ParseIP(strings.Trim(name, "[]")) == nil
}

// slowName is how long a name takes where its time is told apart from that of the backend.
const slowName = 500 * time.Millisecond

const askByHand = "curl -sv {scheme}://{host}/"

// ways are the steps in the order in which a connection takes them.
var ways = []way{
	{"PA-NET-001", "PA-CFG-006 PA-CFG-009", "ip route", -1, always, []ready.Cause{"no_route"}},
	{"PA-NET-002", "", "cat /etc/resolv.conf", -1, resolves, []ready.Cause{"name_service"}},
	{"PA-NET-003", "", "getent hosts {name}", -1, resolves, []ready.Cause{"no_name"}},
	{"PA-NET-004", "", showConfig, -1, (*Facts).proxied, []ready.Cause{"proxy_down", "proxy_login", "proxy_refuses"}},
	{"PA-NET-005", "", askByHand, Found, always, []ready.Cause{"refused"}},
	{"PA-NET-006", "", askByHand, Connected, (*Facts).secure, []ready.Cause{"bad_tls"}},
	{"PA-NET-007", "PA-CLK-001", "date -u", -1, (*Facts).secure, []ready.Cause{"expired"}},
	{"PA-NET-008", "", showConfig, -1, (*Facts).secure, []ready.Cause{"untrusted", "no_chain"}},
	{"PA-NET-009", "", showConfig, -1, (*Facts).secure, []ready.Cause{"wrong_name"}},
	{"PA-NET-010", "", showConfig, -1, (*Facts).secure, []ready.Cause{"wrong_pin", "weak_key"}},
	{"PA-NET-011", "", askByHand, Secured, always, []ready.Cause{"stall", "broken"}},
	{"PA-NET-012", "", askByHand, -1, always, []ready.Cause{"portal"}},
	{"PA-UPS-001", "", "posagent status{flags}", -1, always, []ready.Cause{"failing", "too_many"}},
	{"PA-UPS-002", "", showConfig, -1, always, []ready.Cause{"no_service", ready.NoRoutes}},
	{"PA-UPS-003", "", showConfig, -1, always, []ready.Cause{"credentials"}},
	{"PA-UPS-004", "", showConfig, -1, always, []ready.Cause{ready.NoList}},
}

// networkChecks are the way to the backend and what it answers there. Each step stands behind the one before.
func networkChecks() (list []Check) {
	var after []string
	for _, w := range ways {
		after = append(after, strings.Fields(w.also)...)
		list = append(list, Check{ID: w.id, Severity: exam.Critical, After: after, Command: w.command, Look: ofBackend(w.look)})
		after = []string{w.id}
	}
	return list
}

// look judges an answer by this step.
func (w way) look(f *Facts, a Answer) Finding {
	switch {
	case w.fails(a):
		t := a.Trouble()
		if w.id == "PA-UPS-003" && !f.Config.Credentials {
			return f.said(t).Typed("no credentials are set: set [upstream.auth] in {config}, then start posagent again", "")
		}
		return f.said(t)
	case !w.apply(f):
		return exam.Nothing("not on the way to this backend")
	case w.id == "PA-NET-002" && a.Named >= slowName:
		return exam.Passed("took", fmt.Sprintf("%.1f s", a.Named.Seconds()))
	}
	return exam.Passed()
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

// accepted fails by the services that refuse their credentials. What else they answer is not this check's to judge.
func accepted(f *Facts, list []Account) Finding {
	var seen, do []string
	for _, a := range list {
		if a.Answer.Cause != "credentials" {
			continue
		}
		s := ready.Say(a.Answer.Trouble(), f.Place)
		seen = append(seen, a.Service+": "+s.Words)
		if !slices.Contains(do, s.Remedy) {
			do = append(do, s.Remedy)
		}
	}
	switch {
	case len(list) == 0:
		return exam.Nothing("no other service has credentials")
	case len(seen) > 0:
		return exam.Failed("seen", strings.Join(seen, "; "), "cause", "credentials").Typed(strings.Join(do, "; "), "")
	}
	return exam.Passed("asked", fmt.Sprint(len(list)))
}

// backendChecks are about what the backend answers, once it does.
func backendChecks() []Check {
	return []Check{
		{
			ID: "PA-UPS-005", Severity: exam.Critical, After: []string{"PA-UPS-004"}, Command: showConfig,
			Look: ofBackend(func(f *Facts, a Answer) Finding {
				if a.NoMethod {
					return f.said(ready.Trouble{Cause: ready.NoMethods})
				}
				return exam.Passed("methods", fmt.Sprint(a.Methods))
			}),
		},
		{
			ID: "PA-UPS-006", Severity: exam.Critical, After: []string{"PA-UPS-005"}, Command: "posagent methods{flags}",
			Look: ofBackend(func(f *Facts, a Answer) Finding {
				if !a.Fit {
					return f.said(ready.Trouble{Cause: ready.Unfit})
				}
				return exam.Passed()
			}),
		},
		{
			ID: "PA-UPS-007", Severity: exam.Critical, After: []string{"PA-UPS-004"}, Command: showConfig,
			Look: func(ctx context.Context, f *Facts) Finding { return f.asked(f.Schemes(ctx), schemesAnswer) },
		},
		{
			ID: "PA-UPS-009", Severity: exam.Major, After: []string{"PA-UPS-004"}, Command: showConfig,
			Look: func(ctx context.Context, f *Facts) Finding { return accepted(f, f.Accounts(ctx)) },
		},
		{
			ID: "PA-CLK-003", Severity: exam.Major, After: []string{"PA-CLK-001", "PA-UPS-001"}, Command: "date -u",
			Look: ofBackend(func(_ *Facts, a Answer) Finding { return drift(a) }),
		},
		{ID: "PA-KEY-005", Severity: exam.Minor, After: []string{"PA-NET-010"}, Command: askByHand, Look: shownDates},
	}
}

// schemesAnswer judges what asking the schemes came to.
func schemesAnswer(f *Facts, a Answer) Finding {
	if a.Cause != "" {
		return f.said(a.Trouble())
	}
	return exam.Passed("reply", fmt.Sprint(a.Status))
}

// shownDates judges the certificate that the backend has shown by its end.
func shownDates(ctx context.Context, f *Facts) Finding {
	a := f.Backend(ctx)
	if a.None != "" || a.CertUntil.IsZero() {
		return exam.Nothing("no certificate was shown")
	}
	return dates(a.CertUntil.AddDate(-100, 0, 0), a.CertUntil, f.Now)
}
