package backend

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"posagent/cmd/usage"
	"posagent/device"
	"posagent/schemes/backend"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
)

type serveOptions struct {
	listen   string
	fleet    bool
	drain    time.Duration
	monitor  string
	requests bool
	tolerate string
}

func (o *serveOptions) register(fs *flag.FlagSet, drain time.Duration) {
	tolerateVar(fs, &o.tolerate)
	fs.StringVar(&o.listen, "listen", "", "`host:port` to listen on, port 0 = any (default: [backend] listen)")
	fs.BoolVar(&o.fleet, "fleet", false, "let terminals enrol with one-time codes (PROGRAM fleet makes them)")
	fs.StringVar(&o.monitor, "monitor", "", "`host:port` that gives /metrics (Prometheus), /readyz and /livez to any caller; without a host on 127.0.0.1 (default: none)")
	fs.BoolVar(&o.requests, "log-requests", false, "log one line for each request once it has ended")
	usage.SpanVar(fs, &o.drain, "drain", drain, "how long it serves on after SIGTERM while /readyz says 503, so that a balancer sends no more")
}

// tolerateVar registers --tolerate, where the program has not done so for all its verbs.
func tolerateVar(fs *flag.FlagSet, to *string) {
	if fs.Lookup("tolerate") == nil {
		fs.StringVar(to, "tolerate", "", "`danger` to take: "+DemoCredentials+" (an address that other machines reach, with credentials that the documents print)")
	}
}

// Verbs are the verbs of a backend, for the program that has them. where names the backend in their examples: "--state DIR".
// The first one serves; it has the others behind it.
func Verbs(program, where string) usage.Command[*Call] {
	serving := usage.Command[*Call]{
		Verb: usage.Verb{
			Name: "backend", Short: "the embedded backend: every service with real books, and wallets that pay",
			Long:     "Runs until SIGTERM. It prints `listening on URL` when it is ready. Test credentials stand in [backend.credentials].",
			Examples: []string{"PROGRAM --listen 127.0.0.1:8481 WHERE", "PROGRAM books WHERE --json", "PROGRAM scenarios"},
		},
		Options: func(c *Call, fs *flag.FlagSet) { c.serve.register(fs, c.Drain) }, Run: serve,
		Commands: []usage.Command[*Call]{
			fleetVerbs(),
			doctorVerb(),
			{
				Verb: usage.Verb{
					Name: "books", Short: "every transaction with its postings; read-only, also while the backend runs",
					JSON: []string{BareList}, Examples: []string{"PROGRAM books WHERE --json"},
				},
				Run: books,
			},
			{
				Verb: usage.Verb{
					Name: "hooks", Args: "[dead | replay ID | replay --since TIME | resume URL]", Short: "what was sent to others' endpoints; send once more what was given up",
					JSON: []string{"posagent.hooks/1", "posagent.hooks.changed/1"},
					Examples: []string{
						"PROGRAM hooks WHERE", "PROGRAM hooks dead WHERE --json",
						"PROGRAM hooks replay ID WHERE", "PROGRAM hooks replay --since 2026-11-21T00:00:00Z WHERE",
					},
				},
				Options: func(c *Call, fs *flag.FlagSet) { c.hooks.register(fs) }, Run: runHooks,
			},
			{
				Verb: usage.Verb{
					Name: "scenarios", Short: "the amounts and customers that make the wallets misbehave",
					JSON: []string{"posagent.scenarios/1"}, Examples: []string{"PROGRAM scenarios", "PROGRAM scenarios --json"},
				},
				Run: scenarios,
			},
			{
				Verb: usage.Verb{
					Name: "cards", Short: "the test cards of the payment service, and the amounts that do the same",
					JSON: []string{"posagent.cards/1"}, Examples: []string{"PROGRAM cards", "PROGRAM cards --json"},
				},
				Run: cards,
			},
		},
	}
	return named(serving, strings.NewReplacer("PROGRAM", program, "WHERE", where))
}

// named writes the program's name into the texts of a table.
func named(c usage.Command[*Call], words *strings.Replacer) usage.Command[*Call] {
	c.Long = words.Replace(c.Long)
	for i, e := range c.Examples {
		c.Examples[i] = words.Replace(e)
	}
	if register := c.Options; register != nil {
		c.Options = func(to *Call, fs *flag.FlagSet) {
			register(to, fs)
			fs.VisitAll(func(f *flag.Flag) { f.Usage = words.Replace(f.Usage) })
		}
	}
	for i := range c.Commands {
		c.Commands[i] = named(c.Commands[i], words)
	}
	return c
}

// serve runs the backend until ctx ends.
func serve(ctx context.Context, c *Call) error {
	if c.serve.drain < 0 {
		return usage.Fail(usage.ExitUsage, "--drain %v is negative: how long it serves on, 5s for instance, or 0s", c.serve.drain)
	}
	dir, cfg, err := c.dir()
	if err != nil {
		return err
	}
	if err := device.NoCoreDumps(); err != nil {
		c.Log.Warn("a core of this process may be written: its memory holds card data", "err", err)
	}
	if c.serve.fleet && cfg.Backend.FleetToken == backend.DemoCredentials().Operator {
		c.Log.Warn("whoever knows the sandbox's token can enrol terminals here: set [backend] fleet_token_file")
	}
	tolerate, err := c.tolerate()
	if err != nil {
		return err
	}
	return Serve(ctx, Serving{
		Config: cfg, Dir: dir, Listen: cmp.Or(c.serve.listen, cfg.Backend.Listen), Remedy: "choose another address with --listen", Tolerate: tolerate,
		Fleet: c.serve.fleet, Drain: c.serve.drain, Monitor: c.serve.monitor, Requests: c.requests(), Version: c.Version, Engine: c.Engine, Log: c.Log, Ended: c.Ended,
		Up: func(url, monitor string) {
			if monitor != "" {
				fmt.Fprintf(c.Out, "monitor on %s\n", monitor)
			}
			fmt.Fprintf(c.Out, "listening on %s\n", url)
		},
	})
}

// requests is the log of requests, nil where none was asked for. Warnings have a level of their own.
func (c *Call) requests() *slog.Logger {
	if !c.serve.requests {
		return nil
	}
	return slog.New(slog.NewTextHandler(c.Err, nil)).With("sys", "requests")
}

// BareList says what the books are in JSON. Programs have always read them so.
const BareList = "a list, without a schema"

func books(ctx context.Context, c *Call) error {
	dir, _, err := c.dir()
	if err != nil {
		return err
	}
	list, err := backend.ReadBooks(ctx, c.at(dir))
	if err != nil {
		return c.unread(err)
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, list)
	}
	fmt.Fprintf(c.Out, "%-32s %-10s %12s %-4s %-12s %-9s %s\n", "ID", "TYPE", "AMOUNT", "", "STATE", "MONEY", "POSTINGS")
	for _, e := range list {
		var posts []string
		for _, p := range e.Postings {
			posts = append(posts, fmt.Sprintf("%s %s", p.Account, money.FormatCode(p.Amount, e.Currency)))
		}
		fmt.Fprintf(c.Out, "%-32s %-10s %12s %-4s %-12s %-9s %s\n", e.ID, e.Type, money.FormatCode(e.Amount, e.Currency), e.Currency, e.State, e.AccountState,
			strings.Join(posts, ", "))
	}
	return nil
}

func scenarios(_ context.Context, c *Call) error {
	rows := scenario.Table()
	if c.JSON {
		return usage.PrintJSON(c.Out, map[string]any{"schema": "posagent.scenarios/1", "scenarios": rows})
	}
	fmt.Fprintf(c.Out, "%9s  %-16s  %-20s  %s\n", "AMOUNT", "CUSTOMER", "NAME", "WHAT HAPPENS")
	for _, r := range rows {
		fmt.Fprintf(c.Out, "%6d.%02d  %-16s  %-20s  %s\n", r.AmountHundredths/100, r.AmountHundredths%100, r.ConsumerID, r.Name, r.What)
	}
	return nil
}

func cards(_ context.Context, c *Call) error {
	rows := scenario.Cards()
	if c.JSON {
		return usage.PrintJSON(c.Out, map[string]any{"schema": "posagent.cards/1", "cards": rows})
	}
	fmt.Fprintf(c.Out, "%-16s  %6s  %-23s  %-16s  %s\n", "CARD", "AMOUNT", "BRAND", "NAME", "WHAT HAPPENS")
	for _, r := range rows {
		amount := ""
		if r.Amount != 0 {
			amount = fmt.Sprintf("%d.%02d", r.Amount/100, r.Amount%100)
		}
		fmt.Fprintf(c.Out, "%-16s  %6s  %-23s  %-16s  %s\n", r.PAN, amount, r.Brand, r.Name, r.What)
	}
	fmt.Fprintln(c.Out, "\nWith each of them any month to come as the expiry and any three or four digits as the security code.")
	return nil
}
