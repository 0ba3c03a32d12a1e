package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/store"
)

func advice(v view.Status) string {
	v.TCP = "127.0.0.1:1"
	v.Advise()
	return strings.Join(v.Attention, "\n")
}

// A terminal that refuses every sale for want of space says so.
func TestStatusDiskFull(t *testing.T) {
	v := view.NewStatus(view.Status{})
	v.Disk(store.Health{Path: "/var/lib/p/agent.db", FileBytes: 7, FreeBytes: 8})
	require.Empty(t, advice(v))
	v.Disk(store.Health{Path: "/var/lib/p/agent.db", ShortBytes: 640 << 10})
	require.Contains(t, advice(v), "disk full: sales are refused, free at least 641 KiB on the file system of /var/lib/p")

	for _, judged := range []ready.Report{{Ready: true}, {Ready: true, Offline: &ready.Said{Words: "away"}}} { // before the space ran out
		v.Judged(judged)
		v.Advise()
		require.False(t, v.Ready)
		require.Equal(t, "NOT READY: no space left on the disk of /var/lib/p: df -h /var/lib/p shows it; free space there, but leave what is in /var/lib/p", v.First)
	}
	v.Judged(ready.Not(ready.Trouble{Cause: ready.Stopped}, ready.Place{}))
	v.Advise()
	require.Equal(t, ready.Stopped, v.NotReady.Cause, "it has its own cause")
}

// TestField2_D8ALongLogIsSaid: a log that something keeps from being folded is said, with the program that does so. The terminal itself is
// none of those.
func TestField2_D8ALongLogIsSaid(t *testing.T) {
	v := view.NewStatus(view.Status{PID: 12})
	v.Disk(store.Health{Path: "/var/lib/p/agent.db", WALBytes: store.LongLog})
	require.Empty(t, advice(v))
	long := store.Health{Path: "/var/lib/p/agent.db", WALBytes: 17 << 20}
	v.Disk(long)
	require.Equal(t, "the log of the journal has 17 MiB, no sale waits for that: another program may read it for long: fuser -v /var/lib/p/agent.db names it; end it", advice(v))
	v = view.NewStatus(view.Status{PID: 12})
	long.Others = []store.Process{{PID: 12, Name: "posagent"}, {PID: 4711, Name: "litestream"}}
	v.Disk(long)
	require.Equal(t, "the log of the journal has 17 MiB, no sale waits for that: process 4711 (litestream) keeps it from being folded: end it", advice(v))
}

// A sandbox says so on its first line, which begins as that of any terminal that is ready.
func TestASandboxSaysSoOnItsFirstLine(t *testing.T) {
	v := view.NewStatus(view.Status{Sandbox: true})
	v.Judged(ready.Report{Ready: true})
	require.Equal(t, "READY, SANDBOX: no real money", v.First)
	v.Judged(ready.Report{Ready: true, Offline: &ready.Said{Words: "the network is down", Remedy: "ip addr"}})
	require.Equal(t, "READY, SANDBOX, offline: the network is down: ip addr", v.First)
	v.Judged(ready.Not(ready.Trouble{Cause: ready.NoLine}, ready.Place{Config: "/c.toml"}))
	require.Equal(t, "NOT READY: no register line is set, and no local program may sell: set [ecr] serial or tcp in /c.toml, or give a client of [port.clients] may = [\"read\", \"sales\"], then posagent run", v.First)
	v.Sandbox = false
	v.Judged(ready.Report{Ready: true})
	require.Equal(t, "READY", v.First)
}

// What waits for a service that is gone is counted, by its own kinds only.
func TestStatusWaitingOperations(t *testing.T) {
	gone := view.Service{Name: "payments", Kinds: []string{"payments.create", "payments.capture"}, Trouble: view.Trouble{Reason: "no route", Since: time.Now()}}
	v := view.NewStatus(view.Status{})
	v.Live.Services = []view.Service{gone}
	require.Empty(t, advice(v), "nothing waits")
	v.Operations = []view.OpsCount{
		{Kind: "payments.create", State: "PENDING", Count: 2}, {Kind: "payments.capture", State: "SENT", Count: 1},
		{Kind: "payments.create", State: "DONE", Count: 40}, {Kind: "tokens.create", State: "PENDING", Count: 80},
	}
	require.Regexp(t, `^payments: does not answer since ..:..:..: no route - 3 operation\(s\) wait \(posagent ops list --open\)`, advice(v))
	v.Live.Services[0].Refused = true
	require.Regexp(t, `^payments: refuses the credentials since ..:..:.., 3 operation\(s\) wait: check \[upstream.auth\]`, advice(v))
}

// A terminal without a register line is told what to set, unless a local program may sell.
func TestNoLineIsAdvised(t *testing.T) {
	v := view.NewStatus(view.Status{Terminal: "20000001"})
	v.Advise()
	require.Equal(t, []string{`no register line: set [ecr] serial or tcp, or give a client of [port.clients] may = ["read", "sales"]`}, v.Attention)
	v = view.NewStatus(view.Status{Terminal: "20000001", Sellers: 1})
	v.Advise()
	require.Empty(t, v.Attention)
}

// A sum without a currency is no amount of money, and none at all where nothing moves.
func TestOpsCountTotal(t *testing.T) {
	require.Equal(t, ", 12.50 EUR", view.OpsCount{Sum: 1250, Currency: "EUR"}.Total())
	require.Equal(t, ", 0.00 EUR", view.OpsCount{Currency: "EUR"}.Total())
	require.Equal(t, ", 5 minor units", view.OpsCount{Sum: 5}.Total())
	require.Equal(t, ", 5 minor units QQQ", view.OpsCount{Sum: 5, Currency: "QQQ"}.Total())
	require.Empty(t, view.OpsCount{Kind: "tokens.create"}.Total())
}

// TestField_L3WrongPasswordsAreShown: where from, when and what to do, for a day.
func TestField_L3WrongPasswordsAreShown(t *testing.T) {
	at := time.Date(2026, 11, 22, 13, 40, 0, 0, time.Local)
	wrong := []view.RegisterLine{{Name: "tcp", WrongPasswords: 3, WrongFrom: "192.0.2.7", WrongAt: at}}
	v := view.NewStatus(view.Status{})
	v.Live = view.Live{At: at.Add(time.Hour), Lines: wrong}
	require.Equal(t, "register line tcp: 3 wrong password(s), the last from 192.0.2.7 at 13:40:00: set the password of [ecr] in the register, "+
		"or name its address in [ecr] allow", advice(v))
	v = view.NewStatus(view.Status{})
	v.Live = view.Live{At: at.Add(25 * time.Hour), Lines: wrong}
	require.Empty(t, advice(v))
}

// TestField_U3WaitingOperationsNameTheFault: what waits for a service says why in the words of the one table, and what to type.
func TestField_U3WaitingOperationsNameTheFault(t *testing.T) {
	at := ready.Place{Config: "/c.toml"}
	say := func(c ready.Cause) *ready.Said {
		s := ready.Say(ready.Trouble{Cause: c, Where: "pay.example", Detail: "reply 401"}, at)
		return &s
	}
	v := view.NewStatus(view.Status{})
	v.Operations = []view.OpsCount{{Kind: "payments.create", State: "PENDING", Count: 2}}
	v.Live.Services = []view.Service{{Name: "payments", Kinds: []string{"payments.create"}, Said: say("proxy_login"), Trouble: view.Trouble{Reason: "raw", Since: time.Now()}}}
	require.Regexp(t, `^payments: does not answer since ..:..:..: the proxy demands a login - 2 operation\(s\) wait \(posagent ops list --open\): `+
		`set \[upstream\] proxy and proxy_auth_file in /c\.toml; the file holds user:password$`, advice(v))
	v.Live.Services[0].Refused, v.Live.Services[0].Said = true, say("credentials")
	require.Regexp(t, `^payments: refuses the credentials since ..:..:.., 2 operation\(s\) wait: correct \[upstream\.auth\] in /c\.toml, then start posagent again$`, advice(v))
}

// TestField_U3OtherFaultsAreNamedBelow: what the first line does not name stands below it, and what it names does not stand there twice.
func TestField_U3OtherFaultsAreNamedBelow(t *testing.T) {
	at := ready.Place{Config: "/c.toml"}
	line := ready.Say(ready.Trouble{Cause: ready.LinePulled, Where: "/dev/ttyUSB0"}, at)
	portal := ready.Say(ready.Trouble{Cause: "portal", Where: "pay.example", Detail: "a redirect"}, at)
	v := view.NewStatus(view.Status{})
	v.Judged(ready.Report{NotReady: &line})
	v.Live.Troubles = []ready.Said{line, portal}
	require.Regexp(t, `^a network's login page answers in the place of pay\.example, a redirect since ..:..:..: log in to the network with a browser`, advice(v))
	require.Equal(t, "NOT READY: the register line /dev/ttyUSB0 was unplugged: plug the cable in again; the terminal opens the line by itself", v.First)
}
