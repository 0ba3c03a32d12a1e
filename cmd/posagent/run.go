package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/enrol"
	"posagent/agent/ready"
	"posagent/agent/view"
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
			fs.BoolVar(&o.noSandbox, "no-sandbox", false, "do not run as a sandbox: without an enrolment and without [upstream], wait for one of them")
			return o
		},
		run: runAgent,
	}
}

type runOptions struct{ noSandbox bool }

func runAgent(ctx context.Context, c *call) error {
	lowerGCPercent()
	log := logger(c)
	disableCoreDumps(log)
	for {
		if err := runConfigured(ctx, c, log); !errors.Is(err, errReload) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// runConfigured runs the terminal on one configuration. It ends with errReload when there is another one.
func runConfigured(ctx context.Context, c *call, log *slog.Logger) error {
	active, err := startedEnrolment(ctx, c, log)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	sayIgnored(c, cfg)
	switch {
	case active.Revoked != "":
		return wait(ctx, c, cfg, func() { sayWaiting(c, ready.Trouble{Cause: ready.Replaced, Detail: active.Revoked}, log) }, log)
	case cfg.Sandbox() && active.ID != "":
		return fail(exitRefused, "this terminal is enrolled, and its configuration has no [upstream]: it would be a SANDBOX (posagent config show%s)", c.flags())
	case cfg.Sandbox() && c.opts.(*runOptions).noSandbox:
		if err := stateDir(c); err != nil {
			return err
		}
		return wait(ctx, c, cfg, func() { sayWaiting(c, ready.Trouble{Cause: ready.Unenrolled}, log) }, log)
	}
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
	f.file, f.place, f.sandbox, f.config = &liveFile{path: filepath.Join(c.stateDir(), liveName)}, placeOf(c), sandbox, configDigest(c)
	o.Ways = agent.Ways{
		Place: f.place, Settings: settingsOf(cfg), Apart: cfg.Upstream.URL("schemes") != cfg.Upstream.URL("methods"),
		Troubles: func() []ready.Trouble { return f.troubles() }, Lines: func() (int, []ready.Trouble) { return f.lines() },
	}
	o.Up = func() { fmt.Fprintln(c.err, "posagent: serving "+addresses) }
	var isReady atomic.Bool
	o.Report = func(r ready.Report) {
		isReady.Store(r.Ready)
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
	g.Go(func() error { return follow(ctx, c, cfg, db.Commits, isReady.Load, log) })
	return g.Wait()
}

// askedFor is how long a start waits for the operator's service to say that this box is still the terminal.
const askedFor = 3 * time.Second

// startedEnrolment returns what the terminal runs on, nothing where it was never enrolled. It counts the start, and gives up a
// configuration that has not made the terminal ready in some.
func startedEnrolment(ctx context.Context, c *call, log *slog.Logger) (active enrol.Active, err error) {
	box := enrolment(c)
	if active, err = box.Active(); errors.Is(err, enrol.ErrNone) {
		return active, nil
	}
	if cfg, bad := loadConfig(c); err == nil && bad == nil && active.Revoked == "" {
		ctx, cancel := context.WithTimeout(ctx, askedFor)
		defer cancel()
		if _, e := box.Refresh(ctx, driver(c, cfg, log, nil)); e != nil { // the terminal starts without a network, too
			log.Debug("the operator's service was not asked", "err", e)
		}
		active, err = box.Active()
	}
	if err == nil {
		var gaveUp int64
		if gaveUp, err = box.Started(); gaveUp != 0 {
			log.Warn("the configuration is given up: the terminal was not ready with it", "revision", gaveUp)
			active, err = box.Active()
		}
	}
	return active, fleetRefused(c, err)
}

// sayWaiting says on the data stream, and to the init system, why the terminal waits.
func sayWaiting(c *call, t ready.Trouble, log *slog.Logger) {
	r := ready.Not(t, placeOf(c))
	live := view.Live{At: time.Now().UTC(), PID: os.Getpid(), Report: r, Config: configDigest(c)}
	if err := writeLive(filepath.Join(c.stateDir(), liveName), live); err != nil {
		log.Warn("report for status not written", "err", err)
	}
	printReady(c.out, r, "")
	notifyState(r, log)
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
