package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/store"
)

func runCommand() command {
	return command{
		name: "run", short: "run the terminal",
		long: "Runs until SIGTERM. It prints `ready` with its addresses when a register may ask for a sale, and `not ready: CAUSE: what to type`\n" +
			"as long as it may not, again at each change.\n" +
			"Without [upstream] in the configuration it embeds the backend and is a SANDBOX: no real money.",
		examples: []string{"posagent run --config /etc/posagent/config.toml", "posagent run --state /tmp/terminal    # sandbox on defaults"},
		flags: func(fs *flag.FlagSet) any {
			o := &runOptions{}
			fs.BoolVar(&o.noSandbox, "no-sandbox", false, "do not run as a sandbox: exit 5 without [upstream]")
			return o
		},
		run: runAgent,
	}
}

type runOptions struct{ noSandbox bool }

func runAgent(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if cfg.Sandbox() && c.opts.(*runOptions).noSandbox {
		return fail(exitNotEnrolled, "no [upstream] in %s: this would be a SANDBOX, whose sales move no real money (set [upstream] base and [upstream.auth], "+
			"then posagent config check%s)", cmp.Or(configPath(c), "the defaults"), c.flags())
	}
	sayIgnored(c, cfg)
	lowerGCPercent()
	log := logger(c)
	disableCoreDumps(log)
	g, ctx := errgroup.WithContext(ctx)
	if cfg.Sandbox() {
		up := make(chan string, 1)
		g.Go(func() error {
			return serveBackend(ctx, c, cfg, cfg.Backend.Listen, "set [backend] listen", log, func(url string) { up <- url })
		})
		select {
		case cfg.Upstream.Base = <-up:
		case <-ctx.Done():
			return g.Wait()
		}
		cfg.Upstream.Auth = cfg.Backend.Credentials
		g.Go(func() error { return runTerminal(ctx, c, cfg, true, log) })
		return g.Wait()
	}
	g.Go(func() error { return runTerminal(ctx, c, cfg, false, log) })
	return g.Wait()
}

// runTerminal opens what the terminal is made of, the database before any port, and runs it.
func runTerminal(ctx context.Context, c *call, cfg config.Config, sandbox bool, log *slog.Logger) error {
	keys, err := openKeys(c)
	if err != nil {
		return err
	}
	db, err := openJournal(ctx, c, keys, log, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := endRotation(ctx, c, db, keys, func(step string, _, _ int) { log.Debug("device key", "step", step) }); err != nil {
		return err
	}
	checked, err := checkJournal(ctx, db)
	if err != nil {
		return err
	}
	if err := beginGeneration(ctx, db, log); err != nil {
		return storeError(err)
	}
	if err := noteStart(ctx, c, db); err != nil {
		return storeError(err)
	}
	var other *agent.OtherBackendError
	if err := agent.Bind(ctx, db, owner(cfg, sandbox)); errors.As(err, &other) && other.Sales+other.Ops == 0 {
		return fail(exitRefused, "%v (set merchant_id and terminal_id of [terminal] to those of the journal: its receipts and batches are that terminal's)", err)
	} else if other != nil {
		return fail(exitRefused, "%v: run it with that backend until posagent status shows nothing open", err)
	} else if err != nil {
		return storeError(err)
	}
	o, f, lines, err := terminal(ctx, c, cfg, sandbox, db, keys.ID(), log)
	if err != nil {
		return err
	}
	addresses := strings.Join(lines, " ")
	f.file, f.place, f.sandbox = &liveFile{path: filepath.Join(c.stateDir(), liveName)}, placeOf(c), sandbox
	o.Ways = agent.Ways{
		Place: f.place, Settings: settingsOf(cfg), Apart: cfg.Upstream.URL("schemes") != cfg.Upstream.URL("methods"),
		Troubles: func() []ready.Trouble { return f.troubles() }, Lines: func() (int, []ready.Trouble) { return f.lines() },
	}
	o.Up = func() { fmt.Fprintln(c.err, "posagent: serving "+addresses) }
	o.Report = func(r ready.Report) {
		f.write(&r, log) // before anybody can read the line and ask for the status
		printReady(c.out, r, addresses)
		notifyState(r, log)
	}
	a := agent.New(o)
	f.methods, f.services, f.registers = a.MethodsTrouble, a.Services, a.Lines
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.watch(ctx, log) })
	g.Go(func() error { return checked(ctx) })
	g.Go(func() error {
		err := a.Run(ctx)
		if errors.Is(err, store.ErrDamaged) {
			return storeError(err)
		}
		return err
	})
	g.Go(func() error { return feedWatchdog(ctx, watchdogTime(), a.Progress, log) })
	stopping := context.AfterFunc(ctx, func() { _ = notify("STOPPING=1") }) // nothing depends on it
	defer stopping()
	g.Go(func() error { restWhenQuiet(ctx, db, log); return nil })
	return g.Wait()
}

// printReady says on the data stream whether a register may ask for a sale. It does so again at each change.
func printReady(out io.Writer, r ready.Report, addresses string) {
	switch {
	case r.NotReady != nil:
		fmt.Fprintln(out, "not ready: "+r.NotReady.Text())
	case r.Offline != nil:
		fmt.Fprintln(out, "ready "+addresses+" offline: "+r.Offline.Text())
	default:
		fmt.Fprintln(out, "ready "+addresses)
	}
}
