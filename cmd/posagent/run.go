package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/agent/config"
	"posagent/agent/upstream"
	"posagent/device"
	"posagent/device/display"
	"posagent/device/line"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/store"
)

func runCommand() command {
	return command{
		name: "run", short: "run the terminal",
		long: "Runs until SIGTERM and prints `ready` with its addresses when a register may ask for a sale.\n" +
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
	beThrifty()
	log := logger(c)
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
	db, err := agent.Open(ctx, store.Options{Path: agentDB(c), Wrapper: keys, Log: log})
	if err != nil {
		return storeError(err)
	}
	defer db.Close()
	if err := endRotation(ctx, c, db, keys, func(step string, _, _ int) { log.Debug("device key", "step", step) }); err != nil {
		return err
	}
	over, err := beginGeneration(ctx, db, log)
	if err != nil {
		return storeError(err)
	}
	defer over()
	if err := noteStart(ctx, c, db); err != nil {
		return storeError(err)
	}
	var other *agent.OtherBackendError
	if err := agent.Bind(ctx, db, owner(cfg, sandbox)); errors.As(err, &other) {
		return fail(exitRefused, "%v: run it with that backend until posagent status shows nothing open, or use another --state", err)
	} else if err != nil {
		return storeError(err)
	}
	o, f, lines, err := terminal(ctx, c, cfg, sandbox, db, keys.ID(), log)
	if err != nil {
		return err
	}
	o.Ready = func() { fmt.Fprintln(c.out, "ready "+strings.Join(lines, " ")) }
	a := agent.New(o)
	f.methods, f.services = a.MethodsTrouble, a.Services
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.watch(ctx, c.stateDir(), log) })
	g.Go(func() error { return a.Run(ctx) })
	return g.Wait()
}

// owner names the backend and terminal that a journal belongs to.
func owner(cfg config.Config, sandbox bool) string {
	backend := cfg.Upstream.URL("schemes")
	if sandbox {
		backend = "the sandbox"
	}
	return fmt.Sprintf("%s (merchant %s, terminal %s)", backend, cfg.Terminal.MerchantID, cfg.Terminal.TerminalID)
}

// terminal converts the configuration into the rooms' own.
func terminal(ctx context.Context, c *call, cfg config.Config, sandbox bool, db *store.Store, serial string, log *slog.Logger) (o agent.Options, f facts, ready []string, err error) {
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
	charset, ok := apdu.ParseCharset(cfg.ECR.Charset)
	if !ok {
		return o, f, nil, fail(exitConfig, "config: ecr.charset: %q is not known", cfg.ECR.Charset)
	}
	f.schemes = schemes
	t := cfg.Terminal
	o = agent.Options{
		Control: controlSocket(c),
		DB:      db,
		Schemes: &aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: schemes},
		Links:   linkService(cfg, db, links, log),
		Offer:   linkMethod(cfg),
		Methods: &methods.Client{BaseURL: cfg.Upstream.URL("methods"), Doer: list},
		Query:   methods.Query{BaxID: t.BaxID, TerminalID: t.TerminalID, Exclude: cfg.Methods.Exclude, Caller: "posagent", Lang: t.Language},
		Refresh: cfg.Methods.Refresh,
		Drive: drive.Config{
			TerminalID: t.TerminalID, MerchantID: t.MerchantID, MerchantName: t.MerchantName, Currency: t.Currency, Language: t.Language,
			TimeoutUnit: cfg.Methods.TimeoutUnit, Poll: cfg.Methods.Poll, Grace: cfg.ECR.Grace, RefundLast: cfg.ECR.RefundLast,
			Exclude: cfg.Methods.Exclude, Sandbox: sandbox, Version: version,
		},
		IdempotencyTTL: cfg.Offline.IdempotencyTTL,
		Retention:      cfg.Offline.Retention,
		Hooks:          cfg.Hooks.Authorization,
		Probe:          probes(schemes, links, to),
		Front:          front(cfg, db, secret, to, log),
		ZVT: zvt.Config{
			TerminalID: t.TerminalID, Currency: t.Currency, MerchantName: t.MerchantName, Language: t.Language,
			Device: "posagent", Version: version, Serial: serial, Charset: charset, Password: cfg.ECR.Password,
		},
		Frame: frame.Config{T1: cfg.ECR.T1},
		Now:   time.Now, Boot: device.BootTime, BootID: device.BootID(), Log: log,
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
		if o.Local, err = localPort(c, cfg, sandbox, db, o.Front, to, log); err != nil {
			return o, f, nil, err
		}
	}
	if cfg.ECR.TCP != "" {
		if o.TCP, err = lc.Listen(ctx, "tcp", cfg.ECR.TCP); err != nil {
			return o, f, nil, fail(exitFailed, "register line: %v (set [ecr] tcp)", err)
		}
		ready = append(ready, "register=tcp:"+o.TCP.Addr().String())
	}
	if cfg.ECR.Serial != "" {
		f.serial = line.New(line.Config{Path: cfg.ECR.Serial, Baud: cfg.ECR.Baud, StopBits: cfg.ECR.StopBits})
		o.Serial = f.serial
		ready = append(ready, "register="+cfg.ECR.Serial)
	}
	if sandbox {
		ready = append(ready, "backend="+cfg.Upstream.Base, "SANDBOX")
	}
	return o, f, ready, nil
}

func upstreamOf(cfg config.Config, service string, log *slog.Logger) (*upstream.Client, error) {
	u := cfg.Upstream
	return upstream.New(upstream.Config{
		MaxBody: largeReply(service),
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
		screens = append(screens, display.NewConsole(c.out, display.Options{Color: tty, Plain: !tty}))
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
