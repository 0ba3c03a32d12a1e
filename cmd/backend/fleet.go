package backend

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/device/file"
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

func fleetVerbs() usage.Command[*Call] {
	flags := func(names ...string) func(*Call, *flag.FlagSet) {
		return func(c *Call, fs *flag.FlagSet) {
			o := &c.fleet
			for _, name := range names {
				switch name {
				case "backend":
					fs.StringVar(&o.backend, "backend", "", "`URL` of a running backend elsewhere (default: the one that runs on --state)")
				case "slot":
					fs.StringVar(&o.slot.MerchantID, "merchant", "", "merchant `id` of the terminal")
					fs.StringVar(&o.slot.TerminalID, "terminal", "", "terminal `id`")
					fs.StringVar(&o.slot.BaxID, "bax", "", "bax `id`")
				case "serial":
					fs.StringVar(&o.serial, "serial-number", "", "the box with this serial `number`, no other")
					usage.Old(fs, "serial", "serial-number")
				case "ttl":
					usage.SpanVar(fs, &o.ttl, "ttl", time.Hour, "how long a code is good for, 1m to 30d")
				case "url":
					fs.StringVar(&o.url, "url", "", "`URL` under which the terminal reaches the backend (default: the backend's own)")
				case "toml":
					fs.StringVar(&o.file, "toml", "", "configuration `file` for the terminal (create: by default the backend writes one that leads to itself)")
				case "out":
					fs.StringVar(&o.out, "out", "", "`file` for the bundle, which must not be there yet (default: SERIAL.pabundle)")
				case "days":
					usage.SpanVar(fs, &o.ttl, "ttl", 7*24*time.Hour, "how long the bundle is good for, 1m to 30d: until then the box has to be connected")
				case "qr":
					fs.BoolVar(&o.qr, "draw-qr", false, "draw the QR code also where the output is no terminal window")
					usage.Old(fs, "qr", "draw-qr")
				case "reason":
					fs.StringVar(&o.reason, "reason", "", "`text`: why, for the list")
				case "lift":
					fs.StringVar(&o.lift, "lift", "", "let the boxes take this `version` again")
				case "with":
					fs.StringVar(&o.state, "with", "", "only those in this `state`: FRESH, REDEEMED, CONFIRMED, REVOKED or EXPIRED")
				}
			}
		}
	}
	return usage.Command[*Call]{Verb: usage.Verb{
		Name: "fleet", Short: "enrol terminals: one-time codes, lists of boxes, what became of them",
		Long: "For a backend that was started with --fleet. A new terminal shows a code once and gets a certificate and a configuration.",
		Examples: []string{
			"PROGRAM fleet create --merchant M1 --terminal T1 --bax B1 WHERE", "PROGRAM fleet import boxes.csv --ttl 720h WHERE",
			"PROGRAM fleet list WHERE", "PROGRAM fleet revoke ID --reason stolen WHERE",
		},
	}, Commands: []usage.Command[*Call]{
		{Verb: usage.Verb{
			Name: "create", Short: "make a one-time code, and a QR code with it",
			Long: "The code is shown now and never again: the backend keeps its digest. The QR code holds the address, the code, and the\n" +
				"fingerprint of the fleet's authority.",
			JSON: []string{"posagent.fleet.code/1"},
			Examples: []string{
				"PROGRAM fleet create --merchant M1 --terminal T1 --bax B1 WHERE",
				"PROGRAM fleet create --serial-number PA-0001 --toml box.toml --ttl 24h --backend https://fleet.example --json",
			},
		}, Options: flags("backend", "slot", "serial", "ttl", "url", "toml", "qr"), Run: fleetCreate,
		},
		{Verb: usage.Verb{
			Name: "bundle", Short: "make a code and a file for a stick: for a box that has no network yet",
			Long: "The file holds the configuration, signed for the one box and sealed under the code. Give the code another way than the stick.\n" +
				"The box works with it at once, and redeems the code by itself when it is connected. Refused while another box is the terminal.",
			JSON: []string{"posagent.fleet.bundle/1"},
			Examples: []string{
				"PROGRAM fleet bundle --serial-number PA-0001 --merchant M1 --terminal T1 --bax B1 WHERE",
				"PROGRAM fleet bundle --serial-number PA-0001 --toml box.toml --ttl 720h --out /media/usb/PA-0001.pabundle --backend https://fleet.example",
			},
		}, Options: flags("backend", "slot", "serial", "days", "toml", "out"), Run: fleetBundle,
		},
		{Verb: usage.Verb{
			Name: "import", Args: "FILE|-", Short: "make a code for each box of a CSV list that has no fresh one",
			Long:     "The first line names the columns: serial_number, and merchant_id, terminal_id and bax_id.\nEach code is good for its box alone.",
			JSON:     []string{"posagent.fleet.import/1"},
			Examples: []string{"PROGRAM fleet import boxes.csv --ttl 720h WHERE", "PROGRAM fleet import - --backend https://fleet.example --json"},
		}, Options: flags("backend", "ttl", "url"), Run: fleetImport,
		},
		{Verb: usage.Verb{
			Name: "list", Short: "the newest thousand enrolments; read-only, also while the backend does not run",
			JSON:     []string{"posagent.fleet.list/1"},
			Examples: []string{"PROGRAM fleet list WHERE", "PROGRAM fleet list --with CONFIRMED --json", "PROGRAM fleet list --serial-number PA-0001"},
		}, Options: flags("backend", "serial", "with"), Run: fleetList,
		},
		{Verb: usage.Verb{
			Name: "configure", Args: "ID", Short: "give the terminal of an enrolment a newer configuration",
			Long:     "The terminal fetches it, tries it, and confirms its number: the column REV of the list.",
			JSON:     []string{"posagent.fleet.configure/1"},
			Examples: []string{"PROGRAM fleet configure ID --toml box.toml WHERE"},
		}, Options: flags("backend", "toml"), Run: fleetConfigure,
		},
		{Verb: usage.Verb{
			Name: "revoke", Args: "ID", Destroys: true, Short: "take a code back, and the certificate that it gave",
			JSON:     []string{"posagent.fleet.revoke/1"},
			Examples: []string{"PROGRAM fleet revoke ID --reason stolen WHERE"},
		}, Options: flags("backend", "reason"), Run: fleetRevoke,
		},
		{Verb: usage.Verb{
			Name: "rollout", Short: "which versions of the program the boxes kept or took back; --lift ends a hold",
			Long: "A version that at least two boxes took back, and more than 5 % of those that tried it, is held: no other box takes it by itself.\n" +
				"After --lift only boxes count that had not reported before. Without --lift it is read-only, also while the backend does not run.",
			JSON:     []string{"posagent.fleet.rollout/1"},
			Examples: []string{"PROGRAM fleet rollout WHERE", "PROGRAM fleet rollout --lift 1.3.0 WHERE"},
		}, Options: flags("backend", "lift"), Run: fleetRollout,
		},
		rollVerbs(flags),
	},
	}
}

// fleetAt returns a client of the backend that is asked. It fails where none runs, where it enrols no terminals, and where it
// refuses the credentials.
func fleetAt(ctx context.Context, c *Call) (*fleet.Client, error) {
	dir, cfg, err := c.dir()
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(c.fleet.backend, "/")
	to := c.fleet.url
	switch {
	case to != "" && !wire.WebURL(to):
		return nil, usage.Fail(usage.ExitUsage, "%s: --url %s: want an absolute http or https address", c.Path, to)
	case base != "" && c.Named:
		return nil, usage.Fail(usage.ExitUsage, "%s: name the backend once: --state DIR, or --backend URL where it runs elsewhere", c.Path)
	case base == "":
		if base, err = Running(dir); err != nil {
			return nil, err
		}
	}
	doer := withBearer{&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, cfg}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+fleet.Prefix+"/codes?state="+string(fleet.Fresh), nil)
	if err != nil {
		return nil, usage.Fail(usage.ExitUsage, "%s: --backend: %v", c.Path, err)
	}
	resp, err := doer.Do(req)
	if err != nil {
		return nil, usage.Fail(usage.ExitNoBackend, "no backend at %s: %v (%s starts one)", base, err, c.Program)
	}
	_ = resp.Body.Close() // its status says enough
	switch resp.StatusCode {
	case http.StatusOK:
		return &fleet.Client{BaseURL: base, Doer: doer}, nil
	case http.StatusUnauthorized:
		return nil, usage.Fail(usage.ExitAuth, "the backend refused the credentials: set [backend] fleet_token_file")
	case http.StatusNotFound:
		return nil, usage.Fail(usage.ExitFailed, "the backend at %s enrols no terminals: start it with %s --fleet", base, c.Program)
	}
	return nil, usage.Fail(usage.ExitFailed, "the backend at %s answered %s", base, resp.Status)
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
func (c *Call) fleetFailed(err error) error {
	switch wire.CodeOf(err) {
	case wire.Unavailable:
		return usage.Fail(usage.ExitNoBackend, "%w", err)
	case wire.Invalid:
		return usage.Fail(usage.ExitUsage, "%w", err)
	case wire.UnknownOutcome:
		return usage.Fail(usage.ExitFailed, "%w (%s fleet list shows what there is; a code that is not used expires)", err, c.Program)
	case wire.NotFound:
		return usage.Fail(usage.ExitFailed, "%w (%s fleet list prints the ids)", err, c.Program)
	}
	return usage.Fail(usage.ExitFailed, "%w", err)
}

// fleetWait is how long a verb waits for the backend.
const fleetWait = 30 * time.Second

func seconds(c *Call) (int32, error) {
	ttl := c.fleet.ttl
	if ttl < time.Minute || ttl > fleet.MaxTTL*time.Second {
		return 0, usage.Fail(usage.ExitUsage, "%s: --ttl %s: want 1m to %dh", c.Path, ttl, fleet.MaxTTL/3600)
	}
	return int32(ttl / time.Second), nil
}

func fleetCreate(ctx context.Context, c *Call) error {
	o := &c.fleet
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
		return c.fleetFailed(err)
	}
	got.URL = o.leadTo(c, got.URL)
	sayUnused(c, o.slot.TerminalID, o.serial, got.Unused)
	ticket := fleet.Ticket{URL: got.URL, Code: got.Code, Fingerprint: got.Fingerprint}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema      string          `json:"schema"`
			Code        string          `json:"code"`
			URL         string          `json:"url"`
			Fingerprint string          `json:"fingerprint"`
			Ticket      string          `json:"ticket"` // the text of the QR code
			Enrolment   fleet.Enrolment `json:"enrolment"`
			Unused      []fleet.Unused  `json:"unused,omitempty"` // other codes of the terminal
		}{"posagent.fleet.code/1", fleet.ShowCode(got.Code), got.URL, got.Fingerprint, ticket.Text(), got.Enrolment, got.Unused})
	}
	fmt.Fprintf(c.Out, "code         %s\ngood until   %s\nservice      %s\nfingerprint  %s\nid           %s\n",
		fleet.ShowCode(got.Code), usage.LocalTime(got.Enrolment.ExpiresAt), got.URL, got.Fingerprint, got.Enrolment.ID)
	if !o.qr && !c.Window {
		return nil
	}
	drawn, err := qr.New(ticket.Text(), qr.Options{})
	if err != nil {
		return usage.Fail(usage.ExitFailed, "QR code: %v", err)
	}
	style := qr.OnDark
	if c.Window {
		style = qr.ANSI
	}
	fmt.Fprintf(c.Out, "\n%s\n", strings.Join(drawn.HalfBlocks(style), "\n"))
	return nil
}

// given reads the configuration for a terminal; "" = the backend writes one for the slot, which is whole then.
func (o *fleetOptions) given(c *Call) (wire.Secret, error) {
	if o.file == "" {
		if o.slot.MerchantID == "" || o.slot.TerminalID == "" || o.slot.BaxID == "" {
			return "", usage.Fail(usage.ExitUsage, "%s: want --merchant, --terminal and --bax, or a configuration of your own with --toml", c.Path)
		}
		return "", nil
	}
	text, _, err := file.Read(o.file, file.Follow, fleet.MaxConfiguration)
	if err != nil {
		return "", usage.Fail(usage.ExitFailed, "--toml: %v", err)
	}
	return wire.Secret(text), checkGiven(o.file, text)
}

// sayUnused tells of the codes that a terminal, or the box with a serial number, has already: each of them could still make a box a
// terminal.
func sayUnused(c *Call, terminal, serial string, list []fleet.Unused) {
	for _, u := range list {
		has, whose := "terminal "+terminal, ""
		if serial != "" && u.SerialNumber == serial {
			has = "box " + serial
		} else if u.SerialNumber != "" {
			whose = " for the box " + u.SerialNumber
		}
		fmt.Fprintf(c.Err, "%s has another code%s that no box has shown: %s, good until %s (%s fleet revoke %s takes it back)\n",
			has, whose, u.EnrolmentID, usage.LocalTime(u.ExpiresAt), c.Program, u.EnrolmentID)
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
		return &usage.Exit{Code: usage.ExitConfig, Err: errors.Join(bad...)}
	}
	return nil
}

// leadTo returns the address that the tickets name. It warns where the configurations name another one.
func (o *fleetOptions) leadTo(c *Call, own string) string {
	if o.url == "" {
		sayLocal(c, own)
		return own
	}
	if o.file == "" && strings.TrimSuffix(o.url, "/") != own {
		fmt.Fprintf(c.Err, "the terminal enrols at %s, and the configuration that the backend wrote leads to %s: give one of your own with --toml (create, configure)\n", o.url, own)
	}
	sayLocal(c, o.url)
	return o.url
}

// sayLocal warns of an address that no other machine reaches.
func sayLocal(c *Call, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		fmt.Fprintf(c.Err, "%s leads a terminal to itself: where the backend is on another machine, name its address with --url\n", address)
	}
}

func fleetConfigure(ctx context.Context, c *Call) error {
	o := &c.fleet
	if len(c.Args) != 1 || o.file == "" {
		return usage.Fail(usage.ExitUsage, "%s: want one id (%s fleet list prints them) and --toml FILE", c.Path, c.Program)
	}
	text, _, err := file.Read(o.file, file.Follow, fleet.MaxConfiguration)
	if err != nil {
		return usage.Fail(usage.ExitFailed, "--toml: %v", err)
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
	got, err := client.Configure(ctx, wire.NewKey(), fleet.ConfigureRequest{ID: c.Args[0], Configuration: wire.Secret(text)})
	if err != nil {
		return c.fleetEnded(err)
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema    string          `json:"schema"`
			Enrolment fleet.Enrolment `json:"enrolment"`
		}{"posagent.fleet.configure/1", got})
	}
	fmt.Fprintf(c.Out, "revision %d: %s, %s\n", got.Revision, got.ID, dash(got.SerialNumber))
	return nil
}

// fleetEnded gives an error of a call about one enrolment its exit code.
func (c *Call) fleetEnded(err error) error {
	if reason := wire.ReasonOf(err); reason == fleet.Ended || reason == fleet.StillLive {
		return usage.Fail(usage.ExitRefused, "%w", err)
	}
	return c.fleetFailed(err)
}

func fleetRevoke(ctx context.Context, c *Call) error {
	o := &c.fleet
	if len(c.Args) != 1 {
		return usage.Fail(usage.ExitUsage, "%s: want one id (%s fleet list prints them)", c.Path, c.Program)
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Revoke(ctx, wire.NewKey(), fleet.RevokeRequest{ID: c.Args[0], Reason: o.reason})
	if err != nil {
		return c.fleetEnded(err)
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema    string          `json:"schema"`
			Enrolment fleet.Enrolment `json:"enrolment"`
		}{"posagent.fleet.revoke/1", got})
	}
	fmt.Fprintf(c.Out, "revoked: %s, %s\n", got.ID, dash(got.SerialNumber))
	return nil
}
