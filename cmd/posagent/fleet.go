package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/device/qr"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// fleetOptions are the flags of all verbs of the fleet; each verb has some of them.
type fleetOptions struct {
	backend, url, serial, file, reason, state, out, lift string
	slot                                                 fleet.Slot
	ttl                                                  time.Duration
	qr                                                   bool
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
					usage.SpanVar(fs, &o.ttl, "ttl", time.Hour, "how `long` a code is good for, 1m to 30d")
				case "url":
					fs.StringVar(&o.url, "url", "", "`URL` under which the terminal reaches the backend (default: the backend's own)")
				case "toml":
					fs.StringVar(&o.file, "toml", "", "configuration `file` for the terminal (create: by default the backend writes one that leads to itself)")
				case "out":
					fs.StringVar(&o.out, "out", "", "`file` for the bundle, which must not be there yet (default: SERIAL.pabundle)")
				case "days":
					usage.SpanVar(fs, &o.ttl, "ttl", 7*24*time.Hour, "how `long` the bundle is good for, 1m to 30d: until then the box has to be connected")
				case "qr":
					fs.BoolVar(&o.qr, "qr", false, "draw the QR code also where the output is no terminal window")
				case "reason":
					fs.StringVar(&o.reason, "reason", "", "`why`, for the list")
				case "lift":
					fs.StringVar(&o.lift, "lift", "", "let the boxes take this `version` again")
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
				json: []string{"posagent.fleet.code/1"},
				examples: []string{
					"posagent backend fleet create --merchant M1 --terminal T1 --bax B1 --state DIR",
					"posagent backend fleet create --serial PA-0001 --toml box.toml --ttl 24h --backend https://fleet.example --json",
				},
				flags: flags("backend", "slot", "serial", "ttl", "url", "toml", "qr"), run: fleetCreate,
			},
			{
				name: "bundle", short: "make a code and a file for a stick: for a box that has no network yet",
				long: "The file holds the configuration, signed for the one box and sealed under the code. Give the code another way than the stick.\n" +
					"The box works with it at once, and redeems the code by itself when it is connected. Refused while another box is the terminal.",
				json: []string{"posagent.fleet.bundle/1"},
				examples: []string{
					"posagent backend fleet bundle --serial PA-0001 --merchant M1 --terminal T1 --bax B1 --state DIR",
					"posagent backend fleet bundle --serial PA-0001 --toml box.toml --ttl 720h --out /media/usb/PA-0001.pabundle --backend https://fleet.example",
				},
				flags: flags("backend", "slot", "serial", "days", "toml", "out"), run: fleetBundle,
			},
			{
				name: "import", args: "FILE|-", short: "make a code for each box of a CSV list that has no fresh one",
				long:     "The first line names the columns: serial_number, and merchant_id, terminal_id and bax_id.\nEach code is good for its box alone.",
				json:     []string{"posagent.fleet.import/1"},
				examples: []string{"posagent backend fleet import boxes.csv --ttl 720h --state DIR", "posagent backend fleet import - --backend https://fleet.example --json"},
				flags:    flags("backend", "ttl", "url"), run: fleetImport,
			},
			{
				name: "list", short: "the newest thousand enrolments; read-only, also while the backend does not run",
				json:     []string{"posagent.fleet.list/1"},
				examples: []string{"posagent backend fleet list --state DIR", "posagent backend fleet list --with CONFIRMED --json", "posagent backend fleet list --serial PA-0001"},
				flags:    flags("backend", "serial", "with"), run: fleetList,
			},
			{
				name: "configure", args: "ID", short: "give the terminal of an enrolment a newer configuration",
				long:     "The terminal fetches it, tries it, and confirms its number: the column REV of the list.",
				json:     []string{"posagent.fleet.configure/1"},
				examples: []string{"posagent backend fleet configure ID --toml box.toml --state DIR"},
				flags:    flags("backend", "toml"), run: fleetConfigure,
			},
			{
				name: "revoke", args: "ID", destroys: true, short: "take a code back, and the certificate that it gave",
				json:     []string{"posagent.fleet.revoke/1"},
				examples: []string{"posagent backend fleet revoke ID --reason stolen --state DIR"},
				flags:    flags("backend", "reason"), run: fleetRevoke,
			},
			{
				name: "rollout", short: "which versions of the program the boxes kept or took back; --lift ends a hold",
				long: "A version that at least two boxes took back, and more than 5 % of those that tried it, is held: no other box takes it by itself.\n" +
					"After --lift the boxes are counted anew. Without --lift it is read-only, also while the backend does not run.",
				json:     []string{"posagent.fleet.rollout/1"},
				examples: []string{"posagent backend fleet rollout --state DIR", "posagent backend fleet rollout --lift 1.3.0 --state DIR"},
				flags:    flags("backend", "lift"), run: fleetRollout,
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
	if req.Configuration, err = o.given(c); err != nil {
		return err
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
	sayUnused(c, o.slot.TerminalID, o.serial, got.Unused)
	ticket := fleet.Ticket{URL: got.URL, Code: got.Code, Fingerprint: got.Fingerprint}
	if c.json {
		return printJSON(c.out, struct {
			Schema      string          `json:"schema"`
			Code        string          `json:"code"`
			URL         string          `json:"url"`
			Fingerprint string          `json:"fingerprint"`
			Ticket      string          `json:"ticket"` // the text of the QR code
			Enrolment   fleet.Enrolment `json:"enrolment"`
			Unused      []fleet.Unused  `json:"unused,omitempty"` // other codes of the terminal
		}{"posagent.fleet.code/1", fleet.ShowCode(got.Code), got.URL, got.Fingerprint, ticket.Text(), got.Enrolment, got.Unused})
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

// given reads the configuration for a terminal; "" = the backend writes one for the slot, which is whole then.
func (o *fleetOptions) given(c *call) (wire.Secret, error) {
	if o.file == "" {
		if o.slot.MerchantID == "" || o.slot.TerminalID == "" || o.slot.BaxID == "" {
			return "", fail(exitUsage, "%s: want --merchant, --terminal and --bax, or a configuration of your own with --toml", c.path)
		}
		return "", nil
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return "", fail(exitFailed, "--toml: %v", err)
	}
	return wire.Secret(text), checkGiven(o.file, text)
}

// sayUnused tells of the codes that a terminal, or the box with a serial number, has already: each of them could still make a box a
// terminal.
func sayUnused(c *call, terminal, serial string, list []fleet.Unused) {
	for _, u := range list {
		has, whose := "terminal "+terminal, ""
		if serial != "" && u.SerialNumber == serial {
			has = "box " + serial
		} else if u.SerialNumber != "" {
			whose = " for the box " + u.SerialNumber
		}
		fmt.Fprintf(c.err, "%s has another code%s that no box has shown: %s, good until %s (posagent backend fleet revoke %s takes it back)\n",
			has, whose, u.EnrolmentID, localTime(u.ExpiresAt), u.EnrolmentID)
	}
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
		return exitWith(exitConfig, errors.Join(bad...))
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
	if reason := wire.ReasonOf(err); reason == fleet.Ended || reason == fleet.StillLive {
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
