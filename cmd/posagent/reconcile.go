package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/paylink"
	"posagent/agent/support/daily"
	"posagent/agent/support/reconcile"
	"posagent/cmd/backend"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/device/file"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

type reconcileOptions struct{ from, to, line string }

func reconcileCommand() command {
	return command{
		name: "reconcile", args: "FILE", short: "compare a till's list of its sales with the journal and with the backend",
		long: "Three ways: what the till's list says, what the journal says, and what the backend answers to the status of each reference. It reads\n" +
			"only, beside a running terminal too, and moves no money. FILE is CSV or JSON, - is standard input; agent/support/reconcile/README.md has the\n" +
			"columns and examples. Without --from and --to it looks for sales that the list lacks from its first time to its last.\n" +
			"Exit 0: all agree; 1: differences were found; 2: the list has an error; 7 and 8: the backend could not be asked.",
		json:     []string{"posagent.reconcile/1"},
		examples: []string{"posagent reconcile till.csv", "posagent reconcile till.json --json", "posagent reconcile till.csv --from 2026-11-25T06:00 --to 2026-11-26T06:00"},
		flags: func(fs *flag.FlagSet) any {
			o := &reconcileOptions{}
			fs.StringVar(&o.from, "from", "", "compare the journal's sales from this `time`, such as 2026-11-26T06:00")
			fs.StringVar(&o.to, "to", "", "and up to this `time`")
			fs.StringVar(&o.line, "journal-line", "", "the list is of the till on this `line` of the journal (default: the lines on which its sales are found)")
			usage.Old(fs, "line", "journal-line")
			return o
		},
		run: runReconcile,
	}
}

func runReconcile(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which list? (posagent reconcile till.csv)", c.path)
	}
	o := c.opts.(*reconcileOptions)
	period, err := periodOf(c, o)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	list, err := readList(c, cfg.Terminal.Currency)
	if err != nil {
		return err
	}
	if unenrolled(c, cfg) {
		return notEnrolled(c)
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	backend, err := asBackend(c, cfg, db)
	if err != nil {
		return err
	}
	opts := reconcile.Options{DB: db, Backend: backend, Period: period, Progress: progress(c)}
	if o.line != "" {
		opts.Lines = []string{o.line}
	}
	v, err := reconcile.Run(ctx, opts, list)
	if err != nil {
		return reconcileError(ctx, err)
	}
	if c.json {
		err = printJSON(c.out, v)
	} else {
		err = printReconciled(c.out, v)
	}
	switch {
	case err != nil:
		return err
	case v.Counts[reconcile.Unasked] > 0:
		return fail(exitNoBackend, "the backend did not answer for %d sale(s): compare again (posagent net check)", v.Counts[reconcile.Unasked])
	case !v.Agree:
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

// reconcileError gives the failure of a comparison its exit code.
func reconcileError(ctx context.Context, err error) error {
	switch code := wire.CodeOf(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, reconcile.ErrBackend):
		return storeError(err)
	case code == wire.Unauthorized, code == wire.Forbidden:
		return fail(exitAuth, "the backend refuses the credentials: %s (posagent net check says which to set)", plainReason(err))
	}
	return fail(exitNoBackend, "%w: %s (posagent net check says why; nothing was changed)", reconcile.ErrBackend, plainReason(err))
}

// periodOf is the time that the flags name.
func periodOf(c *call, o *reconcileOptions) (p reconcile.Period, err error) {
	for _, f := range []struct {
		name, text string
		into       *time.Time
	}{{"from", o.from, &p.From}, {"to", o.to, &p.To}} {
		if f.text == "" {
			continue
		}
		if *f.into, err = reconcile.ParseTime(f.text, time.Local); err != nil {
			return p, fail(exitUsage, "%s: --%s %v", c.path, f.name, err)
		}
	}
	if !p.From.IsZero() && !p.To.IsZero() && p.To.Before(p.From) {
		return p, fail(exitUsage, "%s: --to is before --from", c.path)
	}
	return p, nil
}

// readList reads the till's list.
func readList(c *call, currency string) (reconcile.List, error) {
	name, from := c.args[0], c.in
	if name != "-" {
		f, _, err := file.Open(name, file.Follow)
		if err != nil {
			return reconcile.List{}, fail(exitUsage, "%v", err)
		}
		defer f.Close()
		from = f
	}
	list, err := reconcile.Read(from, currency, time.Local)
	if err != nil {
		return list, fail(exitUsage, "%s: %w", shown(name), err)
	}
	if len(list.Unused) > 0 {
		fmt.Fprintf(c.err, "posagent: columns that are not used: %s\n", shown(strings.Join(list.Unused, ", ")))
	}
	return list, nil
}

// statuses answers for wallets over the backend, and for payment links over their account.
type statuses struct {
	schemes *aapay.Client
	links   *paylink.Service // nil = no account is named
}

// Status implements reconcile.Backend.
func (s statuses) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	switch {
	case method != gateway.MethodPaylink:
		return s.schemes.Status(ctx, id, method)
	case s.links == nil:
		return aapay.Status{}, wire.Errorf(wire.Internal, "", "no account of payment links is configured: set instance and secret of [upstream.auth]")
	}
	return s.links.Seen(ctx, id, method)
}

// asBackend is the way to the backend that the terminal has. Of a sandbox it is the backend that runs inside the terminal.
func asBackend(c *call, cfg config.Config, db store.Journal) (reconcile.Backend, error) {
	if cfg.Sandbox() {
		url, err := backend.Running(backendDir(c, cfg))
		if err != nil {
			return nil, fail(exitNoBackend, "this terminal is a SANDBOX, and the backend inside it runs with it (start it: %s)", c.start())
		}
		cfg.Upstream.At(url, cfg.Backend.Credentials)
	} else if err := connectable(c, cfg); err != nil {
		return nil, exitWith(exitConfig, err)
	}
	return statusesOf(cfg, db, logger(c))
}

// statusesOf asks the configured backend, by connections of its own: what they suffer does not touch a sale's.
func statusesOf(cfg config.Config, db store.Journal, log *slog.Logger) (reconcile.Backend, error) {
	up, err := upstreamOf(cfg, "schemes", log, nil)
	if err != nil {
		return nil, exitWith(exitConfig, err)
	}
	s := statuses{schemes: &aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: up}}
	links, err := linkUpstream(cfg, log, nil)
	if err != nil {
		return nil, exitWith(exitConfig, err)
	}
	s.links, _ = linkService(cfg, db, links, nil, log).(*paylink.Service)
	return s, nil
}

// comparison is the daily comparison of the till's list, nil where none is configured.
func comparison(cfg config.Config, db store.Journal, log *slog.Logger) (*daily.Options, error) {
	if cfg.Compare.File == "" {
		return nil, nil
	}
	at, err := daily.ParseAt(cfg.Compare.At)
	if err != nil {
		return nil, fail(exitConfig, "reconcile.at: %w", err)
	}
	backend, err := statusesOf(cfg, db, log)
	if err != nil {
		return nil, err
	}
	return &daily.Options{
		Backend: backend, File: cfg.Compare.File, At: at, Currency: cfg.Terminal.Currency,
		Sane: func(now time.Time) bool { return device.ClockSane(now, usage.BuiltAt(version)) },
	}, nil
}

// printReconciled prints a comparison for a person: each finding with its remedy, then the sums.
func printReconciled(out io.Writer, v reconcile.Report) error {
	var b strings.Builder
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "%s: %s\n  %s\n  %s\n", f.Title, f.What(), f.Says(), f.Remedy)
	}
	for _, class := range reconcile.Classes() {
		if n := v.Counts[class]; n > 0 {
			fmt.Fprintf(&b, "%7d  %s\n", n, class.Title())
		}
	}
	fmt.Fprintf(&b, "%d row(s) of the list, %d sale(s) of the journal", v.Rows, v.Sales)
	if v.From != nil {
		fmt.Fprintf(&b, " from %s", v.From.Local().Format("2006-01-02 15:04:05"))
	}
	if v.To != nil {
		fmt.Fprintf(&b, " to %s", v.To.Local().Format("2006-01-02 15:04:05"))
	}
	if len(v.Lines) > 0 {
		fmt.Fprintf(&b, ", on %s", strings.Join(v.Lines, ", "))
	}
	b.WriteString("\n")
	for _, o := range v.Outside {
		when, flag := "before", "--from"
		if o.After {
			when, flag = "after", "--to"
		}
		fmt.Fprintf(&b, "not looked for: %d %s(s) over %s on %s %s that time (%s)\n", o.Sales, o.Kind, money.FormatCode(money.Minor(o.Amount), o.Currency), o.Line, when, flag)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
