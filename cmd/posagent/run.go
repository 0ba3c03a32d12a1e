package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/agent/config"
	"posagent/agent/offline"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/device"
	"posagent/device/display"
	"posagent/device/line"
	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/methods"
	"posagent/store"
)

func runCommand() command {
	return command{
		name: "run", short: "run the terminal",
		long: "Runs until SIGTERM. It prints `ready` with its addresses when a register may ask for a sale, and `not ready: CAUSE: what to type`\n" +
			"as long as it may not, again at each change.\n" +
			"Without [upstream] in the configuration it embeds the backend and is a SANDBOX: no real money.",
		examples: []string{"posagent run --config /etc/posagent/config.toml", "posagent run --state /tmp/terminal    # sandbox on defaults"},
		run:      runAgent,
	}
}

func runAgent(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
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

// placeOf is where a person mends this terminal.
func placeOf(c *call) ready.Place { return ready.Place{Config: configPath(c), Flags: c.flags()} }

// settingsOf is a digest of what the backend must accept: its addresses, how it is known, and the credentials.
func settingsOf(cfg config.Config) []byte {
	u := cfg.Upstream
	h := sha256.New()
	for _, s := range []string{
		u.URL("methods"), u.URL("schemes"), u.Proxy, u.ProxyAuth.Reveal(), u.RootsFile, strings.Join(u.Pins, " "), u.ClientCert, u.ClientKey,
		u.Auth.Bearer.Reveal(), u.Auth.ConsumerKey.Reveal(), u.Auth.ConsumerSecret.Reveal(), u.Auth.ClientID.Reveal(), u.Auth.ClientSecret.Reveal(),
	} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return h.Sum(nil)
}

// owner names the backend and terminal that a journal belongs to.
func owner(cfg config.Config, sandbox bool) string {
	backend := cfg.Upstream.URL("schemes")
	if sandbox {
		backend = "the sandbox"
	}
	return agent.Owner(backend, cfg.Terminal.MerchantID, cfg.Terminal.TerminalID)
}

// terminal converts the configuration into the rooms' own.
func terminal(ctx context.Context, c *call, cfg config.Config, sandbox bool, db store.Journal, serial string, log *slog.Logger) (o agent.Options, f facts, ready []string, err error) {
	schemes, err := upstreamOf(cfg, "schemes", log)
	if err != nil {
		return o, f, nil, &exit{exitConfig, err}
	}
	list, err := upstreamOf(cfg, "methods", log)
	if err != nil {
		return o, f, nil, &exit{exitConfig, err}
	}
	links, err := linkUpstream(cfg, log)
	if err != nil {
		return o, f, nil, &exit{exitConfig, err}
	}
	to, err := senders(cfg, log)
	if err != nil {
		return o, f, nil, err
	}
	secret, err := db.Secret(ctx, callerSecret, secretFile(c))
	if err != nil {
		return o, f, nil, storeError(err)
	}
	speaks, err := protocols["zvt"](cfg, box{version, serial})
	if err != nil {
		return o, f, nil, err
	}
	f.schemes, f.list, f.tcp, f.ways = schemes, list, cfg.ECR.TCP != "", map[string]*upstream.Client{offline.Schemes: schemes}
	for name, s := range to {
		if s.client != nil && f.ways[name] == nil {
			f.ways[name] = s.client
		}
	}
	about := aboutTerminal(cfg, sandbox)
	f.names = view.Names{Terminal: about.Terminal, Backend: about.Backend, Serial: about.Serial, TCP: about.TCP, Patience: about.Patience}
	t := cfg.Terminal
	o = agent.Options{
		Control: controlSocket(c),
		DB:      db,
		Schemes: &aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: schemes.Unanswered()},
		Links:   linkService(cfg, db, links, log),
		Offer:   linkMethod(cfg),
		Methods: &methods.Client{BaseURL: cfg.Upstream.URL("methods"), Doer: list},
		Query:   methodQuery(cfg),
		Refresh: cfg.Methods.Refresh,
		Drive: drive.Config{
			TerminalID: t.TerminalID, MerchantID: t.MerchantID, MerchantName: t.MerchantName, Currency: t.Currency, Language: t.Language,
			TimeoutUnit: cfg.Methods.TimeoutUnit, Poll: cfg.Methods.Poll, Grace: cfg.ECR.Grace, RefundLast: cfg.ECR.RefundLast,
			Patience: cfg.ECR.Patience, StaleEnds: cfg.Checkout.OnStale == "abort",
			Exclude: cfg.Methods.Exclude, Sandbox: sandbox, Version: version, KeepSales: cfg.Store.KeepSales,
		},
		IdempotencyTTL: cfg.Offline.IdempotencyTTL,
		Retention:      cfg.Offline.Retention,
		Hooks:          cfg.Hooks.Authorization,
		Probe:          probes(schemes, links, to),
		Front:          front(cfg, db, secret, to, log),
		Now:            time.Now, Boot: device.BootTime, BootID: device.BootID(), Log: log,
	}
	if o.Screen, err = screen(c, cfg); err != nil {
		return o, f, nil, &exit{exitConfig, err}
	}
	var lc net.ListenConfig
	if cfg.Port.Listen != "" {
		if o.Port, err = lc.Listen(ctx, "tcp", cfg.Port.Listen); err != nil {
			return o, f, nil, fail(exitFailed, "local port: %v (set [port] listen)", err)
		}
		ready = append(ready, "port=http://"+o.Port.Addr().String())
		if o.Local, err = localPort(c, cfg, sandbox, db, secret, o.Front, to, log); err != nil {
			return o, f, nil, err
		}
	}
	if cfg.ECR.TCP != "" {
		l := agent.Line{Name: "tcp", Protocol: speaks}
		if l.Allow, err = cfg.ECR.Allowed(); err != nil {
			return o, f, nil, &exit{exitConfig, err}
		}
		if l.TCP, err = lc.Listen(ctx, "tcp", cfg.ECR.TCP); err != nil {
			return o, f, nil, fail(exitFailed, "register line: %v (set [ecr] tcp)", err)
		}
		o.Registers = append(o.Registers, l)
		f.names.TCP = l.TCP.Addr().String()
		ready = append(ready, "register=tcp:"+f.names.TCP)
	}
	if cfg.ECR.Serial != "" {
		f.serial = line.New(line.Config{Path: cfg.ECR.Serial, Baud: cfg.ECR.Baud, StopBits: cfg.ECR.StopBits})
		o.Registers = slices.Insert(o.Registers, 0, agent.Line{Name: "serial", Protocol: speaks, Serial: f.serial})
		ready = append(ready, "register="+cfg.ECR.Serial)
	}
	if sandbox {
		ready = append(ready, "backend="+cfg.Upstream.Base, "SANDBOX")
	}
	return o, f, ready, nil
}

func upstreamOf(cfg config.Config, service string, log *slog.Logger) (*upstream.Client, error) {
	u := cfg.Upstream
	var maxBody int64 // 0 = the usual
	if service == "disputes" {
		maxBody = disputes.MaxBody // its documents
	}
	return upstream.New(upstream.Config{
		MaxBody: maxBody,
		Base:    u.URL(service), Timeout: u.Timeout, Proxy: u.Proxy, ProxyAuth: u.ProxyAuth, RootsFile: u.RootsFile, Pins: u.Pins,
		ClientCert: u.ClientCert, ClientKey: u.ClientKey, UserAgent: "posagent/" + version, Log: log,
		Auth: upstream.Auth{
			Bearer: u.Auth.Bearer, ConsumerKey: u.Auth.ConsumerKey, ConsumerSecret: u.Auth.ConsumerSecret,
			ClientID: u.Auth.ClientID, ClientSecret: u.Auth.ClientSecret,
		},
	})
}

// screenWithin is how long a sale waits for its screen.
const screenWithin = 500 * time.Millisecond

func screen(c *call, cfg config.Config) (display.Screen, error) {
	var screens []display.Screen
	if cfg.Display.Console {
		tty := onTerminal(c.out)
		screens = append(screens, display.NewConsole(c.out, display.Options{Color: tty, Plain: !tty, Size: func() (int, int) { return windowSize(c.out) }}))
	}
	if cfg.Display.File != "" {
		f, err := display.NewFile(cfg.Display.File)
		if err != nil {
			return nil, fmt.Errorf("config: display.file: %w", err)
		}
		screens = append(screens, f)
	}
	return display.Bounded(display.Fan(screens...), screenWithin), nil
}
