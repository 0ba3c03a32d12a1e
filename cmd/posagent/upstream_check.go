package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/config"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

func upstreamCommand() command {
	return command{
		name: "upstream", short: "whether a backend can be trusted with money, before it is",
		examples: []string{"posagent upstream check --config /etc/posagent/config.toml", "posagent upstream check --write"},
		sub: []command{{
			name: "check", short: "shape, credentials and clock of each service; with --write whether its idempotency keys hold",
			long: "First the question of posagent net check for each service. With --write it also begins what moves no money, twice under one key:\n" +
				"a hosted payment that nobody pays, which it cancels, and a wallet payment that nobody scans, which it reverses. A backend that\n" +
				"keeps its keys answers both with one transaction, and refuses another body under the same key. On a test backend whose wallets\n" +
				"pay by themselves the reversal gives the cent back. What was found says how [offline] keyless is to be set.\n" +
				"Exit 0: all is as it should be; 1: a service must not be used so; 7 and 8 as of net check.",
			json:     []string{"posagent.upstream.check/1"},
			examples: []string{"posagent upstream check --config /etc/posagent/config.toml", "posagent upstream check --write --json"},
			flags: func(fs *flag.FlagSet) any {
				o := &upstreamOptions{}
				fs.BoolVar(&o.write, "write", false, "begin what moves no money, and take it back")
				return o
			},
			run: upstreamCheck,
		}},
	}
}

type upstreamOptions struct{ write bool }

// upstreamView is the whole judgement (posagent.upstream.check/1).
type upstreamView struct {
	Schema   string       `json:"schema"`
	Services []netService `json:"services"`
	Keys     []keyFinding `json:"keys"`    // of --write
	Keyless  []string     `json:"keyless"` // what [offline] keyless has to be; null = not probed
}

// verdict is what a service does with a repeated key.
type verdict string

const (
	honoured  verdict = "honoured"
	ignored   verdict = "ignored"    // two transactions under one key
	confused  verdict = "confused"   // one transaction, and another body under its key was not refused
	notProbed verdict = "not_probed" // the words say why
)

// keyFinding is what was found out about the idempotency of one service.
type keyFinding struct {
	Service string  `json:"service"`
	Verdict verdict `json:"verdict"`
	Words   string  `json:"words"`
	Left    string  `json:"left,omitempty"` // what could not be taken back
}

// upstreamWithin bounds the probe of one service.
const upstreamWithin = 40 * time.Second

func upstreamCheck(ctx context.Context, c *call) error {
	o := c.opts.(*upstreamOptions)
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if unenrolled(c, cfg) {
		return notEnrolled(c)
	}
	if cfg.Sandbox() {
		return fail(exitUsage, "upstream check: no backend is set, so posagent run is a SANDBOX with a backend of its own, and there is no way to check (posagent enroll%s CODE --url URL, or set [upstream] base)", c.flags())
	}
	if err := connectable(c, cfg); err != nil {
		return exitWith(exitConfig, err)
	}
	v := upstreamView{Schema: "posagent.upstream.check/1", Keys: []keyFinding{}}
	names := slices.DeleteFunc(portServices(), func(name string) bool { return cfg.Upstream.URL(name) == "" })
	v.Services = askServices(ctx, c, cfg, names)
	if o.write {
		v.Keyless = []string{}
		for _, probe := range []struct {
			service string
			do      func(context.Context, *call, config.Config) keyFinding
		}{{"payments", probePayments}, {"schemes", probeSchemes}} {
			i := slices.IndexFunc(v.Services, func(s netService) bool { return s.Service == probe.service })
			found := keyFinding{Verdict: notProbed, Words: "it does not answer as it should"}
			if i >= 0 && v.Services[i].OK {
				found = within(ctx, func(ctx context.Context) keyFinding { return probe.do(ctx, c, cfg) })
			}
			found.Service = probe.service
			v.Keys = append(v.Keys, found)
			if probe.service == "payments" && (found.Verdict == ignored || found.Verdict == confused) {
				v.Keyless = append(v.Keyless, probe.service)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		v.print(c.out, cfg)
	}
	return v.exit(cfg)
}

func within(ctx context.Context, do func(context.Context) keyFinding) keyFinding {
	ctx, cancel := context.WithTimeout(ctx, upstreamWithin)
	defer cancel()
	return do(ctx)
}

// wrongly lists what the configuration says otherwise than what was found.
func (v upstreamView) wrongly(cfg config.Config) (list []string) {
	for _, k := range v.Keys {
		set := slices.Contains(cfg.Offline.Keyless, k.Service)
		bad := k.Verdict == ignored || k.Verdict == confused
		switch {
		case k.Service == "payments" && bad && !set:
			list = append(list, "set [offline] keyless = [\"payments\"]: a payment whose reply was lost must not be sent again to this backend")
		case k.Service == "payments" && k.Verdict == honoured && set:
			list = append(list, "take \"payments\" out of [offline] keyless: this backend keeps its keys")
		case k.Service == "schemes" && bad:
			list = append(list, "do not sell by wallets over this backend: ask its operator for the idempotent initialize (S1 2.4)")
		}
	}
	return list
}

func (v upstreamView) print(w io.Writer, cfg config.Config) {
	netView{Services: v.Services}.print(w)
	for _, k := range v.Keys {
		fmt.Fprintf(w, "keys of %-9s %s: %s\n", k.Service, strings.ReplaceAll(string(k.Verdict), "_", " "), k.Words)
		if k.Left != "" {
			fmt.Fprintf(w, "left behind: %s\n", k.Left)
		}
	}
	for _, line := range v.wrongly(cfg) {
		fmt.Fprintln(w, line)
	}
	if len(v.Keys) == 0 {
		fmt.Fprintln(w, "keys were not probed: posagent upstream check --write begins what moves no money, and takes it back")
	}
}

func (v upstreamView) exit(cfg config.Config) error {
	err := netView{Services: v.Services}.exit()
	for _, k := range v.Keys {
		if err == nil && k.Verdict == notProbed || k.Left != "" {
			err = exitWith(exitFailed, errors.New(""))
		}
	}
	if err == nil && len(v.wrongly(cfg)) > 0 {
		err = exitWith(exitFailed, errors.New(""))
	}
	return err
}

// keyTwice judges the answers to one request that was sent twice under a key, and to another one under the same key.
func keyTwice(first, second string, another error, anotherID string) keyFinding {
	switch {
	case first != second:
		return keyFinding{Verdict: ignored, Words: fmt.Sprintf("one request under one key made two transactions, %s and %s", first, second)}
	case wire.CodeOf(another) == wire.KeyReused:
		return keyFinding{Verdict: honoured, Words: "one request under one key made one transaction, and another request under it was refused"}
	case another == nil && anotherID == first:
		return keyFinding{Verdict: confused, Words: "another request under the same key was answered with the first one's transaction"}
	case another == nil:
		return keyFinding{Verdict: confused, Words: "another request under the same key made a transaction of its own"}
	}
	return keyFinding{Verdict: honoured, Words: "one request under one key made one transaction; another request under it ended as " + string(wire.CodeOf(another))}
}

// failedProbe is a probe whose first step has failed.
func failedProbe(what string, err error) keyFinding {
	return keyFinding{Verdict: notProbed, Words: what + ": " + plainReason(err)}
}

// probePayments begins a hosted payment that nobody pays.
func probePayments(ctx context.Context, c *call, cfg config.Config) keyFinding {
	up, err := upstreamOf(cfg, "payments", logger(c), nil)
	if err != nil {
		return failedProbe("no connection", err)
	}
	svc := &payments.Client{BaseURL: cfg.Upstream.URL("payments"), Operator: cfg.Operator.Name, Doer: up.Once()}
	req := payments.CreateRequest{
		Type: payments.ProviderHosted, Amount: 100, CurrencyCode: cfg.Terminal.Currency, Processing: "Authorize", PaymentNumber: "check" + string(wire.NewKey())[24:],
		RedirectURLs: &payments.RedirectURLs{ReturnURL: cfg.Upstream.URL("payments")},
	}
	key, made := wire.NewKey(), []string{}
	create := func(req payments.CreateRequest) (string, error) {
		got, err := svc.Create(ctx, key, req)
		if err == nil && !slices.Contains(made, got.PaymentID) {
			made = append(made, got.PaymentID)
		}
		return got.PaymentID, err
	}
	first, err := create(req)
	if err != nil {
		return failedProbe("a hosted payment was not begun", err)
	}
	second, err := create(req)
	found := keyFinding{}
	if wire.CodeOf(err) != "" && err != nil {
		found = failedProbe("the repeated request failed", err)
	} else {
		other := req
		other.Amount = 200
		id, err := create(other)
		found = keyTwice(first, second, err, id)
	}
	found.Left = takeBack(made, "hosted payment(s) that nobody pays; they lapse by themselves", func(id string) error {
		_, err := svc.Cancel(ctx, wire.NewKey(), id, payments.CancelRequest{})
		if code := wire.CodeOf(err); code == wire.Invalid || code == wire.Conflict { // there is nothing to cancel: it is not authorized
			return nil
		}
		return err
	})
	return found
}

// takeBack undoes what a probe has made. It returns what stays.
func takeBack(made []string, what string, undo func(id string) error) string {
	var left []string
	for _, id := range made {
		if undo(id) != nil {
			left = append(left, id)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s: %s", len(left), what, strings.Join(left, " "))
}

// probeSchemes begins a wallet payment that nobody scans.
func probeSchemes(ctx context.Context, c *call, cfg config.Config) keyFinding {
	list, err := upstreamOf(cfg, "methods", logger(c), nil)
	if err != nil {
		return failedProbe("no connection", err)
	}
	up, err := upstreamOf(cfg, "schemes", logger(c), nil)
	if err != nil {
		return failedProbe("no connection", err)
	}
	all, err := (&methods.Client{BaseURL: cfg.Upstream.URL("methods"), Doer: list}).List(ctx, methodQuery(cfg))
	if err != nil {
		return failedProbe("no method list", err)
	}
	good, _ := methods.Usable(all) // what it mends is posagent methods' to say
	offer := slices.DeleteFunc(checkout.Offer(good, checkout.Wish{Exclude: cfg.Methods.Exclude}), func(p checkout.Pick) bool { return p.Asks() })
	if len(offer) == 0 {
		return keyFinding{Verdict: notProbed, Words: "no method can be sold without a question to the customer"}
	}
	svc := &aapay.Client{BaseURL: cfg.Upstream.URL("schemes"), Doer: up.Once()}
	cent := func(n int64) *aapay.Amount {
		return &aapay.Amount{CurrencyCode: cfg.Terminal.Currency, NominalAmount: n, TotalAmount: n}
	}
	ref := "check-" + string(wire.NewKey())
	req := aapay.Request{
		MerchantID: cfg.Terminal.MerchantID, Method: offer[0].Method.Name, PurchaseAmount: cent(100), Consumer: &aapay.Consumer{}, TerminalReference: ref, Trigger: aapay.TriggerQR,
	}
	key, made := wire.NewKey(), []string{}
	start := func(req aapay.Request) (string, error) {
		reply, err := svc.InitializeWithIdempotency(ctx, key, aapay.Payment, req)
		if err != nil {
			return "", err
		}
		id := ""
		if reply.Response != nil && reply.Response.NAA2ECR != nil {
			id = reply.Response.NAA2ECR.PPRef
		}
		if !slices.Contains(made, req.TerminalReference) {
			made = append(made, req.TerminalReference)
		}
		return id, nil
	}
	first, err := start(req)
	if err != nil {
		return failedProbe("a wallet payment was not begun", err)
	}
	second, err := start(req)
	found := keyFinding{}
	if err != nil {
		found = failedProbe("the repeated request failed", err)
	} else {
		other := req
		other.PurchaseAmount, other.TerminalReference = cent(200), ref+"-other"
		id, err := start(other)
		found = keyTwice(first, second, err, id)
	}
	if first == "" && found.Verdict == honoured {
		found = keyFinding{Verdict: notProbed, Words: "the answers name no transaction (ppref): two cannot be told from one"}
	}
	found.Left = takeBack(made, "wallet payment(s) that nobody scans, not reversed", func(ref string) error {
		undo := req
		undo.TerminalReference, undo.OriginalReference = "check-"+string(wire.NewKey()), ref
		reply, err := svc.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Reversal, undo)
		if err == nil && (!reply.Valid || reply.Response == nil) {
			return errors.New("not reversed")
		}
		return err
	})
	return found
}
