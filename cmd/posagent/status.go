package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/config"
	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

func statusCommand() command {
	return command{
		name: "status", short: "one screen: does the terminal run, what is open, what to type next",
		long:     "Reads the journal beside the daemon, or without it. Exit 4 when the daemon does not run.",
		examples: []string{"posagent status", "posagent status --json"},
		run:      showStatus,
	}
}

// statusJSON is what --json prints (posagent.status/1).
type statusJSON struct {
	Schema  string `json:"schema"`
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Sandbox bool   `json:"sandbox"`
	Version string `json:"version"`

	Terminal string `json:"terminalId"`
	Backend  string `json:"backend"` // "" = embedded
	Serial   string `json:"serial,omitempty"`
	TCP      string `json:"tcp,omitempty"`

	MethodsFetched *time.Time `json:"methodsFetched"`
	Methods        int        `json:"methods"`
	NoMethods      bool       `json:"noMethods"`

	Live live `json:"live"` // what the running daemon says; zero without one

	Open        []saleJSON `json:"open"`       // sales that are not at their end
	Attention   []string   `json:"attention"`  // one line each, the remedy in it
	Operations  []opsJSON  `json:"operations"` // the outbox by kind, state and currency
	FileBytes   int64      `json:"fileBytes"`
	FreeBytes   int64      `json:"freeBytes"`
	Unconfirmed int        `json:"unconfirmed"`
}

type opsJSON struct {
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Currency string `json:"currency"`
	Count    int64  `json:"count"`
	Sum      int64  `json:"sum"` // minor units
}

func showStatus(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	v := statusJSON{
		Schema: "posagent.status/1", Version: version, Sandbox: cfg.Sandbox(), Terminal: cfg.Terminal.TerminalID, Backend: cfg.Upstream.URL("schemes"),
		Serial: cfg.ECR.Serial, TCP: cfg.ECR.TCP, Open: []saleJSON{}, Attention: []string{}, Operations: []opsJSON{},
	}
	if v.PID, v.Running, err = store.Owner(agentDB(c)); err != nil {
		return fail(exitFailed, "%v", err)
	}
	if _, err := os.Stat(agentDB(c)); err == nil {
		if err := v.read(ctx, c); err != nil {
			return err
		}
	}
	if cfg.Paylinks.Method {
		v.Methods, v.NoMethods = v.Methods+1, false
	}
	if v.Running {
		v.Live = readLive(c.stateDir())
	}
	v.advise(cfg)
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		v.print(c)
	}
	if !v.Running {
		return &exit{exitNoDaemon, fmt.Errorf("the terminal does not run on %s (start it: posagent run%s)", c.stateDir(), c.flags())}
	}
	return nil
}

func (v *statusJSON) read(ctx context.Context, c *call) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	h := db.Health(ctx)
	v.FileBytes, v.FreeBytes = h.FileBytes, h.FreeBytes
	err = db.Read(ctx, func(r store.Reader) error {
		list, err := catalog.Read(r)
		if err != nil {
			return err
		}
		v.MethodsFetched, v.Methods, v.NoMethods = list.When(), len(list.Definitions), list.None
		rows, err := drive.Sales(r, 1000)
		if err != nil {
			return err
		}
		v.Open = v.Open[:0]
		for _, row := range rows {
			if checkout.Active(row.State) {
				v.Open = append(v.Open, saleOf(row))
			}
			if row.State.Phase == checkout.Unconfirmed {
				v.Unconfirmed++
			}
			if row.Quarantined {
				v.Attention = append(v.Attention, fmt.Sprintf("sale %s was changed from outside: posagent sale show %s", row.Key, row.Key))
			}
		}
		lines, err := outbox.Report(r)
		if err != nil {
			return err
		}
		v.Operations = v.Operations[:0]
		for _, l := range lines {
			v.Operations = append(v.Operations, opsJSON{l.Kind, string(l.State), l.Currency, l.Count, l.Sum})
		}
		return nil
	})
	return storeError(err)
}

// advise says what is wrong and what to type.
func (v *statusJSON) advise(cfg config.Config) {
	add := func(format string, args ...any) { v.Attention = append(v.Attention, fmt.Sprintf(format, args...)) }
	if t := v.Live.Serial; t.Reason != "" {
		add("register line %s is not open: %s - plug it in, or set [ecr] serial", cfg.ECR.Serial, t.Reason)
	}
	if t := v.Live.Schemes; t.Reason != "" {
		add("the backend does not answer since %s: %s - check the network and [upstream] base", t.Since.Local().Format("15:04:05"), t.Reason)
	}
	switch t := v.Live.Methods; {
	case t.Reason == "" || v.NoMethods:
	case t.Code == wire.Unauthorized, t.Code == wire.Forbidden:
		add("the backend refuses the credentials: check [upstream.auth]")
	case v.Live.Schemes.Reason == "":
		add("the method list cannot be fetched: %s - check [upstream] base", t.Reason)
	}
	if v.NoMethods {
		add("the backend knows no method for this merchant and terminal: check [terminal] bax_id and terminal_id")
	}
	if v.Serial == "" && v.TCP == "" {
		add("no register line: set [ecr] serial or tcp")
	}
	if v.Unconfirmed > 0 {
		add("%d sale(s) the register has not acknowledged: posagent register repeat, or they are undone after the grace time", v.Unconfirmed)
	}
	for _, o := range v.Operations {
		if o.State == string(outbox.Doubt) || o.State == string(outbox.Held) {
			add("%d %s operation(s) %s, %s %s", o.Count, o.Kind, o.State, amountText(money.Minor(o.Sum), o.Currency), o.Currency)
		}
	}
}

func (v *statusJSON) print(c *call) {
	state := "stopped"
	if v.Running {
		state = fmt.Sprintf("running (process %d)", v.PID)
	}
	if v.Sandbox {
		state += "  SANDBOX - no real money"
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(c.out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("terminal", "%s  %s", v.Terminal, state)
	backend := v.Backend
	if backend == "" {
		backend = "embedded"
	}
	row("backend", "%s", backend)
	for _, l := range []string{v.Serial, v.TCP} {
		if l != "" {
			row("register", "%s", l)
		}
	}
	switch {
	case v.MethodsFetched == nil:
		row("methods", "never fetched")
	default:
		row("methods", "%d, fetched %s ago", v.Methods, time.Since(*v.MethodsFetched).Round(time.Second))
	}
	row("open", "%d", len(v.Open))
	for _, s := range v.Open {
		row("", "%s %10s %s  %s", s.ID, amountText(money.Minor(s.Amount), s.Currency), s.Currency, s.Phase)
	}
	for _, o := range v.Operations {
		row("operations", "%d %s %s, %s %s", o.Count, o.Kind, o.State, amountText(money.Minor(o.Sum), o.Currency), o.Currency)
	}
	if v.FileBytes > 0 {
		row("disk", "%d KiB used, %d MiB free", v.FileBytes>>10, v.FreeBytes>>20)
	}
	row("version", "%s", v.Version)
	for _, a := range v.Attention {
		fmt.Fprintf(c.out, "\n! %s", a)
	}
	if len(v.Attention) > 0 {
		fmt.Fprintln(c.out)
	}
}
