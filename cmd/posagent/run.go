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
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/agent/support/record"
	"posagent/agent/view"
	"posagent/cmd/backend"
	"posagent/device"
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
			fs.StringVar(&o.tolerate, "tolerate", "", "`danger` to take: "+backend.DemoCredentials+" (a sandbox on an address that other machines reach, with credentials that the documents print)")
			fs.BoolVar(&o.noSandbox, "no-sandbox", false, "do not run as a sandbox: without an enrolment and without [upstream], wait for one of them")
			return o
		},
		run: runAgent,
	}
}

type runOptions struct {
	noSandbox bool
	tolerate  string
}

func runAgent(ctx context.Context, c *call) error {
	if err := notForeign(c); err != nil {
		return err
	}
	lowerGCPercent()
	c.recorder = record.New()
	log := logger(c)
	if err := device.NoCoreDumps(); err != nil {
		log.Warn("a core of this process may be written: its memory holds card data", "err", err)
	}
	for {
		err := runConfigured(ctx, c, log)
		failed := err != nil && ctx.Err() == nil && !errors.Is(err, errRestart) && !errors.Is(err, errReload)
		why := ""
		if failed {
			why, _, _ = strings.Cut(err.Error(), " (") // without its remedy
		}
		if bad := enrolment(c).Ended(failed && startsBetter(c, err), why); bad != nil {
			log.Warn("the end of the start is not counted", "err", bad)
		}
		if errors.Is(err, errRestart) {
			fmt.Fprintln(c.err, "posagent: ends for another program, which the init system starts")
			return nil
		}
		switch stopped := ctx.Err() != nil; {
		case stopped && (errors.Is(err, errReload) || errors.Is(err, context.Canceled)): // as a terminal that runs: it was told to end
			return nil
		case !errors.Is(err, errReload):
			return err
		}
	}
}

// runConfigured runs the terminal on one configuration. It ends with errReload when there is another one.
func runConfigured(ctx context.Context, c *call, log *slog.Logger) error {
	if err := startedEnrolment(ctx, c, log); err != nil {
		return err
	}
	box := enrolment(c)
	stamp := box.Stamp()
	active, err := box.Active()
	if err != nil && !errors.Is(err, enrol.ErrNone) {
		return fleetRefused(c, err)
	}
	digest := configDigest(c)
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if box.Stamp() != stamp || configDigest(c) != digest {
		return errReload // what was read is not one configuration
	}
	sayIgnored(c, cfg)
	files := filesInUse(c, cfg)
	switch {
	case active.Revoked != "" && !ends(ctx, c, &cfg):
		return wait(ctx, c, cfg, digest, ready.Trouble{Cause: ready.Replaced, Detail: active.Revoked}, log)
	case cfg.Sandbox() && active.ID != "":
		return fail(exitRefused, "this terminal is enrolled, and its configuration has no [upstream]: it would be a SANDBOX (posagent config show%s)", c.flags())
	case cfg.Sandbox() && c.opts.(*runOptions).noSandbox:
		if err := stateDir(c); err != nil {
			return err
		}
		return wait(ctx, c, cfg, digest, ready.Trouble{Cause: ready.Unenrolled}, log)
	}
	if active.Unconfirmed { // no register's sale can be made before it is connected, and none may be before it is confirmed
		cfg.NoRegisters()
		err := runOn(ctx, &running{c: c, cfg: cfg, digest: digest, files: files, on: active, stamp: stamp, log: log})
		if !errors.Is(err, errOtherJournal) {
			return err
		}
		return wait(ctx, c, cfg, digest, ready.Trouble{Cause: ready.NotConfirmed, Where: active.URL, Detail: err.Error()}, log)
	}
	return runOn(ctx, &running{c: c, cfg: cfg, digest: digest, files: files, on: active, stamp: stamp, log: log})
}

// runOn runs the terminal, and waits for room where its disk has none to start on.
func runOn(ctx context.Context, r *running) error {
	for cfg := r.cfg; ; r.cfg = cfg {
		err := runOnce(ctx, r)
		if !noRoom(err) || ctx.Err() != nil {
			return err
		}
		if err := waitForRoom(ctx, r, err); err != nil {
			return err
		}
	}
}

// runOnce runs the terminal, and the embedded backend beside it where the configuration names no other.
func runOnce(ctx context.Context, r *running) error {
	c, cfg, log := r.c, r.cfg, r.log
	if err := takenAddresses(c, cfg); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if cfg.Sandbox() {
		tolerate, err := backend.Tolerates(c.opts.(*runOptions).tolerate)
		if err != nil {
			return err
		}
		up := make(chan string, 1)
		g.Go(func() error {
			return backend.Serve(ctx, backend.Serving{
				Config: cfg, Dir: backendDir(c, cfg), Listen: cfg.Backend.Listen, Remedy: "set [backend] listen", Tolerate: tolerate, Log: log, Ended: storeError, Up: func(url, _ string) { up <- url }, Version: version,
			})
		})
		select {
		case url := <-up:
			cfg.Upstream.At(url, cfg.Backend.Credentials)
		case <-ctx.Done():
			return g.Wait()
		}
		g.Go(func() error { r.cfg = cfg; return runTerminal(ctx, r, true) })
		return g.Wait()
	}
	g.Go(func() error { return runTerminal(ctx, r, false) })
	return g.Wait()
}

// runTerminal opens what the terminal is made of, the database before any port, and runs it.
func runTerminal(ctx context.Context, r *running, sandbox bool) error {
	c, cfg, on, log := r.c, r.cfg, r.on, r.log
	keys, err := openKeys(c)
	if err != nil {
		return err
	}
	if bytes, err := clearDead(c); err != nil {
		log.Warn("what a killed backup or restore has left is not removed", "err", err)
	} else if bytes > 0 {
		log.Warn("removed what a killed backup or restore has left", "bytes", bytes)
	}
	db, err := openJournal(ctx, c, keys, log, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := ownJournal(ctx, c, db, on); err != nil {
		return err
	}
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
	beside, err := besideOf(ctx, c, db)
	if err != nil {
		return err
	}
	held, err := alone(ctx, db, beside)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := agent.Remember(ctx, db, beside, log); err != nil {
		return storeError(err)
	}
	var other *agent.OtherBackendError
	if err := agent.Bind(ctx, db, beside, owner(cfg, sandbox), places(cfg, sandbox)); errors.As(err, &other) && other.Sales+other.Ops == 0 && other.ToSandbox() {
		return fail(exitRefused, "%v, which moves no real money (posagent enroll%s CODE --url URL, or set [upstream] as it was; for a sandbox of its own: posagent run --state DIR)", err, c.flags())
	} else if other != nil && other.Sales+other.Ops == 0 && other.FromSandbox() {
		return ofPlay(c, other)
	} else if other != nil && other.Replaced != "" {
		return unknownBefore(c, other)
	} else if other != nil && other.Sales+other.Ops == 0 {
		return fail(exitRefused, "%v (set merchant_id and terminal_id of [terminal] to those of the journal: its receipts and batches are that terminal's)", err)
	} else if other != nil && other.Service != "" {
		return fail(exitRefused, "%v: run it with that address and account until posagent status shows nothing open; if the same books stand there, posagent journal moved%s %s --reason TEXT", err, c.flags(), other.Service)
	} else if other != nil {
		return fail(exitRefused, "%v: run it with that backend until posagent status shows nothing open; if the same books stand there, posagent journal moved%s schemes --reason TEXT", err, c.flags())
	} else if err != nil {
		return storeError(err)
	}
	if err := keepCurrency(ctx, db, cfg); err != nil {
		return err
	}
	o, f, lines, err := terminal(ctx, c, cfg, sandbox, db, beside, keys.ID(), vouched(cfg, on), log)
	if err != nil {
		return err
	}
	// A start that is refused is tried again for ever, and would push what matters out of the log.
	if err := noteStart(ctx, c, db); errors.Is(err, store.ErrFull) { // what is owed is worth more
		log.Warn("the start is not in the audit log", "err", err)
	} else if err != nil {
		return storeError(err)
	}
	addresses := strings.Join(lines, " ")
	f.file, f.place, f.sandbox, f.config = &liveFile{path: filepath.Join(c.stateDir(), liveName)}, placeIn(c, cfg), sandbox, r.digest
	f.files = r.files
	r.bar.Store(barred(on))
	o.Ways = agent.Ways{
		Barred: r.bar.Load, Place: f.place, Settings: settingsOf(cfg), Apart: cfg.Upstream.URL("schemes") != cfg.Upstream.URL("methods"),
		Troubles: func() []ready.Trouble { return f.troubles() }, Lines: func() (int, []ready.Trouble) { return f.lines() },
		Sellers: len(cfg.Sellers()), Doubt: func() bool { return f.doubt() },
	}
	if f.account != nil {
		o.Ways.Method, o.Ways.AskMethod = f.account.trouble, f.account.ask
	}
	if zone, fault := zoneFault(); fault != nil {
		log.Warn("time zone", "zone", zone, "why", fault.Detail)
	} else {
		log.Debug("time zone", "zone", zone)
	}
	f.marks = func() []store.MarkHealth { return db.Health(ctx).Marks }
	f.look, o.Local.Live = newLookout(), func() view.Live { return f.current() }
	if o.Port != nil {
		o.Local.Examine = selfExamined(c, db, o.Local.Live)
	}
	o.Up = func() { fmt.Fprintln(c.err, "posagent: serving "+addresses) }
	var judged atomic.Pointer[ready.Report]
	o.Report = func(r ready.Report) {
		if judged.Store(&r); r.Ready { // before anybody hears it: it may be the last thing that this start does
			prove(c, on, log)
		}
		f.write(&r, log) // before anybody can read the line and ask for the status
		printReady(c.out, r, addresses)
		notifyState(r, log)
	}
	restart := make(chan struct{})
	o.Restart = sync.OnceFunc(func() { close(restart) })
	o.Ways.Answered = func() bool { return !f.list.Stats().LastOK.IsZero() }
	a := agent.New(o)
	f.methods, f.services, f.registers, f.printer, f.unseen = a.MethodsTrouble, a.Services, a.Lines, a.Printer, a.Unseen
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.watch(ctx, log) })
	g.Go(func() error { return f.lookOut(ctx, db.Commits) })
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
	g.Go(func() error {
		select {
		case <-restart:
			return errRestart
		case <-ctx.Done():
			return nil
		}
	})
	r.db, r.rest, r.judged, r.missed = db, a.Rest, judged.Load, f.look.missed
	g.Go(func() error { return r.follow(ctx) })
	return g.Wait()
}

// prove notes that the configuration has made the terminal ready.
func prove(c *call, on enrol.Active, log *slog.Logger) {
	if on.ID == "" || on.Unconfirmed {
		return
	}
	if err := enrolment(c).Prove(on.ID, on.Revision); err != nil { // follow tries again
		log.Debug("the configuration is not noted as proven yet", "err", err)
	}
}

// whyNot is why a terminal is not ready, as it was last judged.
func whyNot(r *ready.Report) string {
	if r == nil || r.NotReady == nil {
		return "it was not judged yet"
	}
	return r.NotReady.Words
}

// errRestart ends a run whose program was replaced on the disk.
var errRestart = errors.New("another program is in place")

// askedFor is how long a start waits for the operator's service to say that this box is still the terminal.
const askedFor = 3 * time.Second

// startedEnrolment asks the operator's service whether this box is still the terminal, counts the start of a configuration that is not
// proven, and gives up one that has not made the terminal ready in some. It does nothing where the terminal was never enrolled.
func startedEnrolment(ctx context.Context, c *call, log *slog.Logger) error {
	box := enrolment(c)
	active, err := box.Active()
	if errors.Is(err, enrol.ErrNone) {
		return nil
	}
	if err != nil {
		return fleetRefused(c, err)
	}
	if active.Unconfirmed {
		return nil // there is nothing before it, and the service does not know it yet
	}
	if cfg, bad := loadConfig(c); bad == nil && active.Revoked == "" {
		ctx, cancel := context.WithTimeout(ctx, askedFor)
		defer cancel()
		if _, err := box.Refresh(ctx, driver(c, cfg, log, nil)); err != nil { // the terminal starts without a network, too
			log.Debug("the operator's service was not asked", "err", err)
		}
	}
	gaveUp, why, err := box.Started(device.BootID())
	if gaveUp != 0 {
		log.Warn("the configuration is given up", "revision", gaveUp, "why", why)
	}
	if err = errors.Join(err, settleFirst(ctx, c, box)); err != nil { // a disk that is full, or somebody at work with it: the terminal sells all the same
		log.Warn("the start is not counted", "err", err)
	}
	return nil
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
