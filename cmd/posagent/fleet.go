package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/device/qr"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// fleetOptions are the flags of all verbs of the fleet; each verb has some of them.
type fleetOptions struct {
	backend, url, serial, file, reason, state string
	slot                                      fleet.Slot
	ttl                                       time.Duration
	qr                                        bool
}

func fleetCommand() command {
	flags := func(names ...string) func(*flag.FlagSet) any {
		return func(fs *flag.FlagSet) any {
			o := &fleetOptions{}
			for _, name := range names {
				switch name {
				case "backend":
					fs.StringVar(&o.backend, "backend", "", "`URL` of a running backend elsewhere (default: the one that runs on --state)")
				case "slot":
					fs.StringVar(&o.slot.MerchantID, "merchant", "", "merchant `id` of the terminal")
					fs.StringVar(&o.slot.TerminalID, "terminal", "", "terminal `id`")
					fs.StringVar(&o.slot.BaxID, "bax", "", "bax `id`")
				case "serial":
					fs.StringVar(&o.serial, "serial", "", "the box with this serial `number`, no other")
				case "ttl":
					fs.DurationVar(&o.ttl, "ttl", time.Hour, "how `long` a code is good for, 1m to 720h")
				case "url":
					fs.StringVar(&o.url, "url", "", "`URL` under which the terminal reaches the backend (default: the backend's own)")
				case "toml":
					fs.StringVar(&o.file, "toml", "", "configuration `file` for the terminal (create: by default the backend writes one that leads to itself)")
				case "qr":
					fs.BoolVar(&o.qr, "qr", false, "draw the QR code also where the output is no terminal window")
				case "reason":
					fs.StringVar(&o.reason, "reason", "", "`why`, for the list")
				case "with":
					fs.StringVar(&o.state, "with", "", "only those in this `state`: FRESH, REDEEMED, CONFIRMED, REVOKED or EXPIRED")
				}
			}
			return o
		}
	}
	return command{
		name: "fleet", short: "enrol terminals: one-time codes, lists of boxes, what became of them",
		long: "For a backend that was started with --fleet. A new terminal shows a code once and gets a certificate and a configuration.",
		examples: []string{
			"posagent backend fleet create --merchant M1 --terminal T1 --bax B1 --state DIR", "posagent backend fleet import boxes.csv --ttl 720h --state DIR",
			"posagent backend fleet list --state DIR", "posagent backend fleet revoke ID --reason stolen --state DIR",
		},
		sub: []command{
			{
				name: "create", short: "make a one-time code, and a QR code with it",
				long: "The code is shown now and never again: the backend keeps its digest. The QR code holds the address, the code, and the\n" +
					"fingerprint of the fleet's authority.",
				examples: []string{
					"posagent backend fleet create --merchant M1 --terminal T1 --bax B1 --state DIR",
					"posagent backend fleet create --serial PA-0001 --toml box.toml --ttl 24h --backend https://fleet.example --json",
				},
				flags: flags("backend", "slot", "serial", "ttl", "url", "toml", "qr"), run: fleetCreate,
			},
			{
				name: "import", args: "FILE|-", short: "make a code for each box of a CSV list that has no fresh one",
				long:     "The first line names the columns: serial_number, and merchant_id, terminal_id and bax_id.\nEach code is good for its box alone.",
				examples: []string{"posagent backend fleet import boxes.csv --ttl 720h --state DIR", "posagent backend fleet import - --backend https://fleet.example --json"},
				flags:    flags("backend", "ttl", "url"), run: fleetImport,
			},
			{
				name: "list", short: "the newest thousand enrolments; read-only, also while the backend does not run",
				examples: []string{"posagent backend fleet list --state DIR", "posagent backend fleet list --with CONFIRMED --json", "posagent backend fleet list --serial PA-0001"},
				flags:    flags("backend", "serial", "with"), run: fleetList,
			},
			{
				name: "configure", args: "ID", short: "give the terminal of an enrolment a newer configuration",
				long:     "The terminal fetches it, tries it, and confirms its number: the column REV of the list.",
				examples: []string{"posagent backend fleet configure ID --toml box.toml --state DIR"},
				flags:    flags("backend", "toml"), run: fleetConfigure,
			},
			{
				name: "revoke", args: "ID", short: "take a code back, and the certificate that it gave",
				examples: []string{"posagent backend fleet revoke ID --reason stolen --state DIR"},
				flags:    flags("backend", "reason"), run: fleetRevoke,
			},
		},
	}
}

// fleetAt returns a client of the backend that is asked. It fails where none runs, where it enrols no terminals, and where it
// refuses the credentials.
func fleetAt(ctx context.Context, c *call) (*fleet.Client, error) {
	cfg, err := loadConfig(c)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(c.opts.(*fleetOptions).backend, "/")
	to := c.opts.(*fleetOptions).url
	switch {
	case to != "" && !wire.WebURL(to):
		return nil, fail(exitUsage, "%s: --url %s: want an absolute http or https address", c.path, to)
	case base != "" && c.state != "":
		return nil, fail(exitUsage, "%s: name the backend once: --state DIR, or --backend URL where it runs elsewhere", c.path)
	case base == "":
		if base, err = runningBackend(backendDir(c, cfg)); err != nil {
			return nil, err
		}
	}
	doer := withBearer{&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, cfg}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+fleet.Prefix+"/codes?state="+string(fleet.Fresh), nil)
	if err != nil {
		return nil, fail(exitUsage, "%s: --backend: %v", c.path, err)
	}
	resp, err := doer.Do(req)
	if err != nil {
		return nil, fail(exitNoBackend, "no backend at %s: %v (posagent backend starts one)", base, err)
	}
	_ = resp.Body.Close() // its status says enough
	switch resp.StatusCode {
	case http.StatusOK:
		return &fleet.Client{BaseURL: base, Doer: doer}, nil
	case http.StatusUnauthorized:
		return nil, fail(exitAuth, "the backend refused the credentials: set [backend] fleet_token_file")
	case http.StatusNotFound:
		return nil, fail(exitFailed, "the backend at %s enrols no terminals: start it with posagent backend --fleet", base)
	}
	return nil, fail(exitFailed, "the backend at %s answered %s", base, resp.Status)
}

// withBearer shows the operator's token.
type withBearer struct {
	next wire.Doer
	cfg  config.Config
}

// Do implements wire.Doer.
func (b withBearer) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+b.cfg.Backend.FleetToken.Reveal())
	return b.next.Do(r)
}

// fleetFailed gives an error of the service its exit code.
func fleetFailed(err error) error {
	switch wire.CodeOf(err) {
	case wire.Unavailable:
		return fail(exitNoBackend, "%w", err)
	case wire.Invalid:
		return fail(exitUsage, "%w", err)
	case wire.UnknownOutcome:
		return fail(exitFailed, "%w (posagent backend fleet list shows what there is; a code that is not used expires)", err)
	case wire.NotFound:
		return fail(exitFailed, "%w (posagent backend fleet list prints the ids)", err)
	}
	return fail(exitFailed, "%w", err)
}

// fleetWait is how long a verb waits for the backend.
const fleetWait = 30 * time.Second

func seconds(c *call) (int32, error) {
	ttl := c.opts.(*fleetOptions).ttl
	if ttl < time.Minute || ttl > fleet.MaxTTL*time.Second {
		return 0, fail(exitUsage, "%s: --ttl %s: want 1m to %dh", c.path, ttl, fleet.MaxTTL/3600)
	}
	return int32(ttl / time.Second), nil
}

func fleetCreate(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	ttl, err := seconds(c)
	if err != nil {
		return err
	}
	req := fleet.CodeRequest{Slot: o.slot, SerialNumber: o.serial, TTLSeconds: ttl}
	switch {
	case o.file != "":
		text, err := os.ReadFile(o.file)
		if err != nil {
			return fail(exitFailed, "--toml: %v", err)
		}
		if err := checkGiven(o.file, text); err != nil {
			return err
		}
		req.Configuration = wire.Secret(text)
	case o.slot.MerchantID == "" || o.slot.TerminalID == "" || o.slot.BaxID == "":
		return fail(exitUsage, "%s: want --merchant, --terminal and --bax, or a configuration of your own with --toml", c.path)
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Create(ctx, wire.NewKey(), req)
	if err != nil {
		return fleetFailed(err)
	}
	got.URL = o.leadTo(c, got.URL)
	ticket := fleet.Ticket{URL: got.URL, Code: got.Code, Fingerprint: got.Fingerprint}
	if c.json {
		return printJSON(c.out, struct {
			Schema      string          `json:"schema"`
			Code        string          `json:"code"`
			URL         string          `json:"url"`
			Fingerprint string          `json:"fingerprint"`
			Ticket      string          `json:"ticket"` // the text of the QR code
			Enrolment   fleet.Enrolment `json:"enrolment"`
		}{"posagent.fleet.code/1", fleet.ShowCode(got.Code), got.URL, got.Fingerprint, ticket.Text(), got.Enrolment})
	}
	fmt.Fprintf(c.out, "code         %s\ngood until   %s\nservice      %s\nfingerprint  %s\nid           %s\n",
		fleet.ShowCode(got.Code), localTime(got.Enrolment.ExpiresAt), got.URL, got.Fingerprint, got.Enrolment.ID)
	if !o.qr && !onTerminal(c.out) {
		return nil
	}
	drawn, err := qr.New(ticket.Text(), qr.Options{})
	if err != nil {
		return fail(exitFailed, "QR code: %v", err)
	}
	style := qr.OnDark
	if onTerminal(c.out) {
		style = qr.ANSI
	}
	fmt.Fprintf(c.out, "\n%s\n", strings.Join(drawn.HalfBlocks(style), "\n"))
	return nil
}

// checkGiven refuses a configuration that no terminal could use. What it lacks may stand in the terminal's own file.
func checkGiven(file string, text []byte) error {
	_, err := config.Load("", nil, config.Layer{Name: file, Text: text})
	var bad []error
	for _, p := range config.Problems(err) {
		if strings.HasPrefix(p.Where, file+":") {
			bad = append(bad, p)
		}
	}
	if len(bad) > 0 {
		return &exit{exitConfig, errors.Join(bad...)}
	}
	return nil
}

// leadTo returns the address that the tickets name. It warns where the configurations name another one.
func (o *fleetOptions) leadTo(c *call, own string) string {
	if o.url == "" {
		sayLocal(c, own)
		return own
	}
	if o.file == "" && strings.TrimSuffix(o.url, "/") != own {
		fmt.Fprintf(c.err, "the terminal enrols at %s, and the configuration that the backend wrote leads to %s: give one of your own with --toml (create, configure)\n", o.url, own)
	}
	sayLocal(c, o.url)
	return o.url
}

// sayLocal warns of an address that no other machine reaches.
func sayLocal(c *call, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		fmt.Fprintf(c.err, "%s leads a terminal to itself: where the backend is on another machine, name its address with --url\n", address)
	}
}

// localTime writes a moment of the service for people here; what is none stays as it is.
func localTime(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t.Local().Format(time.DateTime)
}

func fleetImport(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: want one CSV file, or - for the input", c.path)
	}
	ttl, err := seconds(c)
	if err != nil {
		return err
	}
	boxes, err := readBoxes(c, c.args[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Import(ctx, wire.NewKey(), fleet.ImportRequest{TTLSeconds: ttl, Boxes: boxes})
	if err != nil {
		return fleetFailed(err)
	}
	got.URL = o.leadTo(c, got.URL)
	type line struct {
		SerialNumber string `json:"serialNumber"`
		ID           string `json:"id"`
		Code         string `json:"code,omitempty"`
		Ticket       string `json:"ticket,omitempty"`
		ExpiresAt    string `json:"expiresAt"`
	}
	list, made := make([]line, len(got.Codes)), 0
	for i, k := range got.Codes {
		list[i] = line{SerialNumber: k.SerialNumber, ID: k.EnrolmentID, ExpiresAt: k.ExpiresAt}
		if k.Code != "" {
			made++
			list[i].Code, list[i].Ticket = fleet.ShowCode(k.Code), fleet.Ticket{URL: got.URL, Code: k.Code, Fingerprint: got.Fingerprint}.Text()
		}
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema      string `json:"schema"`
			URL         string `json:"url"`
			Fingerprint string `json:"fingerprint"`
			Codes       []line `json:"codes"`
		}{"posagent.fleet.import/1", got.URL, got.Fingerprint, list})
	}
	fmt.Fprintf(c.out, "%-24s %-14s %-19s %s\n", "SERIAL NUMBER", "CODE", "GOOD UNTIL", "ID")
	for _, k := range list {
		if k.Code == "" {
			k.Code = "has one"
		}
		fmt.Fprintf(c.out, "%-24s %-14s %-19s %s\n", k.SerialNumber, k.Code, localTime(k.ExpiresAt), k.ID)
	}
	fmt.Fprintf(c.err, "%d codes made, %d boxes have a fresh one; service %s, fingerprint %s\n", made, len(list)-made, got.URL, got.Fingerprint)
	return nil
}

func readBoxes(c *call, name string) ([]fleet.ImportBox, error) {
	from := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fail(exitFailed, "%v", err)
		}
		defer f.Close()
		from = io.Reader(f)
	}
	list, err := fleet.ReadBoxes(from)
	if err != nil {
		return nil, fail(exitUsage, "%s: %w", name, err)
	}
	return list, nil
}

func fleetList(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	o := c.opts.(*fleetOptions)
	req := fleet.ListRequest{State: fleet.State(strings.ToUpper(o.state)), SerialNumber: o.serial}
	var list []fleet.Enrolment
	if o.backend != "" {
		ctx, cancel := context.WithTimeout(ctx, fleetWait)
		defer cancel()
		client, err := fleetAt(ctx, c)
		if err != nil {
			return err
		}
		got, err := client.List(ctx, req)
		if err != nil {
			return fleetFailed(err)
		}
		list = got.Enrolments
	} else if list, err = backend.ReadFleet(ctx, backendDir(c, cfg), req); err != nil {
		if wire.CodeOf(err) == wire.Invalid {
			return fleetFailed(err)
		}
		return fail(exitFailed, "%w (is --state the backend's directory?)", err)
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema     string            `json:"schema"`
			Enrolments []fleet.Enrolment `json:"enrolments"`
		}{"posagent.fleet.list/1", list})
	}
	fmt.Fprintf(c.out, "%-16s %-9s %-24s %-12s %-12s %4s  %s\n", "ID", "STATE", "SERIAL NUMBER", "MERCHANT", "TERMINAL", "REV", "SINCE")
	for _, e := range list {
		since := e.CreatedAt
		for _, at := range []string{e.RedeemedAt, e.ConfirmedAt, e.RevokedAt} {
			if at != "" {
				since = at
			}
		}
		note := ""
		if e.Reason != "" {
			note = "  " + e.Reason
		}
		fmt.Fprintf(c.out, "%-16s %-9s %-24s %-12s %-12s %4d  %s%s\n", e.ID, e.State, dash(e.SerialNumber), dash(e.Slot.MerchantID), dash(e.Slot.TerminalID),
			e.ConfirmedRevision, localTime(since), note)
	}
	return nil
}

// dash stands for a text that is not there.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func fleetConfigure(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	if len(c.args) != 1 || o.file == "" {
		return fail(exitUsage, "%s: want one id (posagent backend fleet list prints them) and --toml FILE", c.path)
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return fail(exitFailed, "--toml: %v", err)
	}
	if err := checkGiven(o.file, text); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Configure(ctx, wire.NewKey(), fleet.ConfigureRequest{ID: c.args[0], Configuration: wire.Secret(text)})
	if err != nil {
		return fleetEnded(err)
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema    string          `json:"schema"`
			Enrolment fleet.Enrolment `json:"enrolment"`
		}{"posagent.fleet.configure/1", got})
	}
	fmt.Fprintf(c.out, "revision %d: %s, %s\n", got.Revision, got.ID, dash(got.SerialNumber))
	return nil
}

// fleetEnded gives an error of a call about one enrolment its exit code.
func fleetEnded(err error) error {
	if wire.ReasonOf(err) == fleet.Ended {
		return fail(exitRefused, "%w", err)
	}
	return fleetFailed(err)
}

func fleetRevoke(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: want one id (posagent backend fleet list prints them)", c.path)
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Revoke(ctx, wire.NewKey(), fleet.RevokeRequest{ID: c.args[0], Reason: o.reason})
	if err != nil {
		return fleetEnded(err)
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema    string          `json:"schema"`
			Enrolment fleet.Enrolment `json:"enrolment"`
		}{"posagent.fleet.revoke/1", got})
	}
	fmt.Fprintf(c.out, "revoked: %s, %s\n", got.ID, dash(got.SerialNumber))
	return nil
}
