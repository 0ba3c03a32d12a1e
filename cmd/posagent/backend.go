package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"posagent/schemes/backend"
	"posagent/schemes/backend/scenario"
)

type backendOptions struct {
	listen string
	fleet  bool
}

func backendCommand() command {
	return command{
		name: "backend", short: "the embedded backend: every service with real books, and wallets that pay",
		long: "Runs until SIGTERM. It prints `listening on URL` when it is ready. Test credentials stand in [backend.credentials].",
		examples: []string{
			"posagent backend --listen 127.0.0.1:8481 --state /tmp/backend",
			"posagent backend books --state /tmp/backend --json",
			"posagent backend scenarios",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &backendOptions{}
			fs.StringVar(&o.listen, "listen", "", "`host:port` to listen on, port 0 = any (default: [backend] listen)")
			fs.BoolVar(&o.fleet, "fleet", false, "let terminals enrol with one-time codes (posagent backend fleet makes them)")
			return o
		},
		run: runBackend,
		sub: []command{
			fleetCommand(),
			{
				name: "books", short: "every transaction with its postings; read-only, also while the backend runs",
				json:     []string{bareList},
				examples: []string{"posagent backend books --state DIR --json"}, run: runBooks,
			},
			{
				name: "hooks", args: "[dead | replay ID | replay --since TIME | resume URL]", short: "what was sent to others' endpoints; send once more what was given up",
				json: []string{"posagent.hooks/1", "posagent.hooks.changed/1"},
				examples: []string{
					"posagent backend hooks --state DIR", "posagent backend hooks dead --state DIR --json",
					"posagent backend hooks replay ID --state DIR", "posagent backend hooks replay --since 2026-11-21T00:00:00Z --state DIR",
				},
				flags: hooksFlags, run: runHooks,
			},
			{
				name: "scenarios", short: "the amounts and customers that make the wallets misbehave",
				json:     []string{"posagent.scenarios/1"},
				examples: []string{"posagent backend scenarios", "posagent backend scenarios --json"}, run: runScenarios,
			},
			{
				name: "cards", short: "the test cards of the payment service, and the amounts that do the same",
				json:     []string{"posagent.cards/1"},
				examples: []string{"posagent backend cards", "posagent backend cards --json"}, run: runCards,
			},
		},
	}
}

func runBackend(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	disableCoreDumps(logger(c))
	listen := c.opts.(*backendOptions).listen
	if listen == "" {
		listen = cfg.Backend.Listen
	}
	if c.opts.(*backendOptions).fleet && cfg.Backend.FleetToken == backend.DemoCredentials().Operator {
		logger(c).Warn("whoever knows the sandbox's token can enrol terminals here: set [backend] fleet_token_file")
	}
	return serveBackend(ctx, c, cfg, listen, "choose another address with --listen", logger(c), func(url string) {
		fmt.Fprintf(c.out, "listening on %s\n", url)
	})
}

// bareList says what the books are in JSON. Programs have always read them so.
const bareList = "a list, without a schema"

func runBooks(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	list, err := backend.ReadBooks(ctx, backendDir(c, cfg))
	if err != nil {
		return fail(exitFailed, "%v (is --state the backend's directory?)", err)
	}
	if c.json {
		return printJSON(c.out, list)
	}
	fmt.Fprintf(c.out, "%-32s %-10s %12s %-4s %-12s %-9s %s\n", "ID", "TYPE", "AMOUNT", "", "STATE", "MONEY", "POSTINGS")
	for _, e := range list {
		var posts []string
		for _, p := range e.Postings {
			posts = append(posts, fmt.Sprintf("%s %s", p.Account, amountText(p.Amount, e.Currency)))
		}
		fmt.Fprintf(c.out, "%-32s %-10s %12s %-4s %-12s %-9s %s\n", e.ID, e.Type, amountText(e.Amount, e.Currency), e.Currency, e.State, e.AccountState,
			strings.Join(posts, ", "))
	}
	return nil
}

func runScenarios(_ context.Context, c *call) error {
	rows := scenario.Table()
	if c.json {
		return printJSON(c.out, map[string]any{"schema": "posagent.scenarios/1", "scenarios": rows})
	}
	fmt.Fprintf(c.out, "%9s  %-16s  %-20s  %s\n", "AMOUNT", "CUSTOMER", "NAME", "WHAT HAPPENS")
	for _, r := range rows {
		fmt.Fprintf(c.out, "%6d.%02d  %-16s  %-20s  %s\n", r.AmountHundredths/100, r.AmountHundredths%100, r.ConsumerID, r.Name, r.What)
	}
	return nil
}

func runCards(_ context.Context, c *call) error {
	rows := scenario.Cards()
	if c.json {
		return printJSON(c.out, map[string]any{"schema": "posagent.cards/1", "cards": rows})
	}
	fmt.Fprintf(c.out, "%-16s  %6s  %-23s  %-16s  %s\n", "CARD", "AMOUNT", "BRAND", "NAME", "WHAT HAPPENS")
	for _, r := range rows {
		amount := ""
		if r.Amount != 0 {
			amount = fmt.Sprintf("%d.%02d", r.Amount/100, r.Amount%100)
		}
		fmt.Fprintf(c.out, "%-16s  %6s  %-23s  %-16s  %s\n", r.PAN, amount, r.Brand, r.Name, r.What)
	}
	fmt.Fprintln(c.out, "\nWith each of them any month to come as the expiry and any three or four digits as the security code.")
	return nil
}
