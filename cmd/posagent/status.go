package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"posagent/agent/config"
	"posagent/agent/view"
	"posagent/schemes/money"
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

// statusView is the screen, printed here.
type statusView struct{ view.Status }

// aboutTerminal is what status says of a terminal that does not change while it runs; backend "" = embedded.
func aboutTerminal(cfg config.Config, sandbox bool) view.Status {
	v := view.Status{Version: version, Sandbox: sandbox, Terminal: cfg.Terminal.TerminalID, Serial: cfg.ECR.Serial, TCP: cfg.ECR.TCP}
	if !sandbox {
		v.Backend = cfg.Upstream.URL("schemes")
	}
	return v
}

func showStatus(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	v := statusView{view.NewStatus(aboutTerminal(cfg, cfg.Sandbox()))}
	if v.PID, v.Running, err = store.Owner(agentDB(c)); err != nil {
		return fail(exitFailed, "%v", err)
	}
	if _, err := os.Stat(agentDB(c)); err == nil {
		if err := v.load(ctx, c, cfg.Paylinks.Method); err != nil {
			return err
		}
	}
	if v.Running {
		v.Live = readLive(c.stateDir())
	}
	v.Advise()
	if c.json {
		if err := printJSON(c.out, v.Status); err != nil {
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

func (v *statusView) load(ctx context.Context, c *call, own bool) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	h := db.Health(ctx)
	v.Disk(h)
	return storeError(db.Read(ctx, func(r store.Reader) error { return v.Read(r, own) }))
}

func (v *statusView) print(c *call) {
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
		row("operations", "%d %s %s%s", o.Count, o.Kind, o.State, o.Total())
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
