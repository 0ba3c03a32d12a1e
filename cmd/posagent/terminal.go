package main

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/port"
	"posagent/agent/support/bundle"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/device"
	"posagent/device/keypad"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/store"
)

// terminal converts the configuration into the rooms' own.
func terminal(ctx context.Context, c *call, cfg config.Config, sandbox bool, db store.Journal, beside store.Beside, serial string, vouched []string, log *slog.Logger) (o agent.Options, f facts, ready []string, err error) {
	with := upstream.NewShared()
	schemes, err := upstreamOf(cfg, "schemes", log, with)
	if err != nil {
		return o, f, nil, exitWith(exitConfig, err)
	}
	list, err := upstreamOf(cfg, "methods", log, with)
	if err != nil {
		return o, f, nil, exitWith(exitConfig, err)
	}
	links, err := linkUpstream(cfg, log, with)
	if err != nil {
		return o, f, nil, exitWith(exitConfig, err)
	}
	to, err := senders(cfg, log, with)
	if err != nil {
		return o, f, nil, err
	}
	f.schemes, f.list, f.ways = schemes, list, map[string]*upstream.Client{gateway.Schemes: schemes}
	f.account, f.keys = accountOf(cfg, links), map[string]string{}
	for name, s := range to {
		f.keys[name] = authKeys(cfg, name)
		if s.client != nil && f.ways[name] == nil {
			f.ways[name] = s.client
		}
	}
	day, err := dayOf(cfg)
	if err != nil {
		return o, f, nil, err
	}
	about := aboutTerminal(cfg, sandbox)
	f.names = view.Names{Terminal: about.Terminal, Backend: about.Backend, Serial: about.Serial, TCP: about.TCP, Sellers: about.Sellers, Patience: about.Patience}
	f.grace, f.sharers = cfg.ECR.Grace, sharersIn(cfg)
	t := cfg.Terminal
	o = agent.Options{
		Control: controlSocket(c),
		DB:      db,
		Schemes: &aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: schemes.Unanswered()}, SchemesAt: cfg.Upstream.URL("schemes"),
		Links:   linkService(cfg, db, links, trusted(schemes, list, links, to), log),
		Offer:   linkMethod(cfg),
		Methods: &methods.Client{BaseURL: cfg.Upstream.URL("methods"), Doer: list},
		Query:   methodQuery(cfg),
		Refresh: cfg.Methods.Refresh,
		Drive: drive.Config{
			TerminalID: t.TerminalID, MerchantID: t.MerchantID, MerchantName: t.MerchantName, Currency: t.Currency, Language: t.Language, Country: t.CountryOf(),
			TimeoutUnit: cfg.Methods.TimeoutUnit, Poll: cfg.Methods.Poll, Grace: cfg.ECR.Grace, RefundLast: cfg.ECR.RefundLast,
			Patience: cfg.ECR.Patience, StaleEnds: cfg.Checkout.OnStale == "abort", Choose: cfg.Checkout.Choose == "screen", OpenAmount: cfg.Checkout.OpenAmount,
			Exclude: cfg.Methods.Exclude, Sandbox: sandbox, Version: version, KeepSales: cfg.Store.KeepSales, Day: day,
		},
		CallerSecret:   beside.Secret,
		IdempotencyTTL: cfg.Offline.IdempotencyTTL,
		Retention:      cfg.Offline.Retention,
		Hooks:          cfg.Hooks.Authorization,
		Probe:          probes(schemes, links, to),
		Trusted:        trusted(schemes, list, links, to),
		Front:          front(cfg, db, beside.Secret, to, vouched, log),
		Now:            time.Now, Boot: device.BootTime, BootID: device.BootID(), Log: log,
	}
	if o.Screen, f.screens, err = screen(c, cfg); err != nil {
		return o, f, nil, exitWith(exitConfig, err)
	}
	if o.Compare, err = comparison(cfg, db, log); err != nil {
		return o, f, nil, err
	}
	o.Page, o.PageKeys = cfg.Display.Page, cfg.Keypad.Page
	if f.pad, err = pad(c, cfg, log); err != nil {
		return o, f, nil, exitWith(exitConfig, err)
	}
	if f.pad != nil {
		o.Keypad = f.pad
	}
	switch p, err := receiptPrinter(cfg); {
	case err != nil:
		return o, f, nil, exitWith(exitConfig, err)
	case p != nil: // a nil one is no printer, but an interface that holds it would be
		o.Printer, o.Prints, o.PrinterNotOpen = p, printsOf(cfg), printerNotOpen(cfg)
	}
	var lc net.ListenConfig
	var past time.Time
	if err := db.Read(ctx, func(r store.Reader) (err error) { past, err = outbox.Told(r); return err }); err != nil {
		return o, f, nil, storeError(err)
	}
	lines, err := registerLines(ctx, cfg, db, beside, box{version, serial, sandbox, c.stateDir(), past, log, func() ([]netip.Addr, error) { return ownAddresses("/proc", boxAddresses) }}, &f)
	if err != nil {
		return o, f, nil, err
	}
	if cfg.Port.Listen != "" {
		if o.Port, err = lc.Listen(ctx, "tcp", cfg.Port.Listen); err != nil {
			return o, f, nil, fail(exitFailed, "local port: %v (set [port] listen)", err)
		}
		ready = append(ready, "port=http://"+o.Port.Addr().String())
		f.listens = append(f.listens, atPort(o.Port.Addr().String()))
		if o.Page {
			f.page = "http://" + o.Port.Addr().String() + port.DisplayPath
		}
		if o.Local, err = localPort(ctx, c, cfg, sandbox, db, beside, o.Front, to, log); err != nil {
			return o, f, nil, err
		}
	}
	o.Record, o.Clean = c.recorder, bundle.NewCleaner(append(cfg.Secrets(), o.Local.Token.Reveal())).Data
	var cables []string
	for _, l := range lines {
		o.Registers = append(o.Registers, l.Line)
		if l.Serial != nil {
			cables = append(cables, "register="+l.at)
		} else {
			ready = append(ready, "register="+l.at)
		}
	}
	ready = append(ready, cables...) // programs read the first one
	if sandbox {
		ready = append(ready, "backend="+cfg.Upstream.Base, "SANDBOX")
	}
	return o, f, ready, nil
}

// pad is the keypad; nil where there is none, or nobody could read what is asked.
func pad(c *call, cfg config.Config, log *slog.Logger) (*keypad.Pad, error) {
	if cfg.Keypad.Device == "" {
		return nil, nil
	}
	if cfg.Display.Framebuffer == "" && cfg.Display.File == "" && !cfg.Display.Page && !onTerminal(c.out) {
		log.Warn("the keypad is not used: nobody could read what is asked, because the console is a log; set [display] framebuffer, file or page")
		return nil, nil
	}
	keys, err := cfg.Keypad.Keys()
	if err != nil {
		return nil, err
	}
	return keypad.New(keypad.Config{Path: cfg.Keypad.Device, Map: keys, Bounce: cfg.Keypad.Bounce})
}
