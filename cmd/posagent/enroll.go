package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/device/file"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

type enrollOptions struct {
	url, fingerprint, qr, serial, bundle string
	ifNeeded                             bool
}

func enrollCommand() command {
	return command{
		name: "enroll", args: "[CODE]", short: "make this box a terminal of the backend: with a one-time code, or go on with what was begun",
		long: "The code, or the text of the QR code, comes from the backend's operator (posagent backend fleet create). The box makes a key, shows\n" +
			"the code, checks what it is given against the operator's fingerprint, tries the configuration, and confirms it: that burns the\n" +
			"code, and revokes what another box has for this terminal. Broken off anywhere, the same command goes on; the running terminal\n" +
			"goes on by itself. Without a code an enrolled terminal looks for a newer configuration.\n" +
			"A box that was enrolled before knows the operator's address: a new code goes there where --url names no other.\n" +
			"Without a network the operator gives a bundle on a stick besides the code (posagent backend fleet bundle): the terminal works with its\n" +
			"configuration at once, stores what may be sent later, and is READY once it is connected and confirmed.\n" +
			"[upstream] proxy and roots_file of the box's own configuration file are used on the way. What that file says goes before what\n" +
			"the operator gives.",
		json: []string{"posagent.enroll/1"},
		examples: []string{
			"posagent enroll 7K3M-9QXD-2PV --url https://fleet.example", "posagent enroll --qr -        # a scanner types the text of the QR code",
			"posagent enroll                # go on, or look for a newer configuration", "posagent enroll 7K3M-9QXD-2PV --url https://fleet.example --if-needed",
			"posagent enroll 7K3M-9QXD-2PV --bundle /media/usb/PA-0001.pabundle    # without a network",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &enrollOptions{}
			fs.StringVar(&o.url, "url", "", "`URL` of the operator's service")
			fs.StringVar(&o.fingerprint, "fingerprint", "", "of the operator's authority: `SHA-256` in hexadecimal, as the operator's screen shows it; a QR code holds it")
			fs.StringVar(&o.qr, "qr", "", "`file` with the text of the QR code, - = the input")
			fs.StringVar(&o.bundle, "bundle", "", "bundle `file` of the operator, for a box without a network")
			fs.StringVar(&o.serial, "serial-number", "", "serial `number` of this box (default: what the hardware says)")
			usage.Old(fs, "serial", "serial-number")
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "do nothing, and exit 0, where the terminal is enrolled")
			return o
		},
		run: enroll,
	}
}

// enrollView is what an enrolment came to (posagent.enroll/1).
type enrollView struct {
	Schema string `json:"schema"`
	enrol.Summary
	SerialNumber string `json:"serialNumber"`
	Changed      bool   `json:"changed"`
	Running      bool   `json:"running"` // a terminal runs on this state directory
	Status       string `json:"status"`  // the first line of its status, "" = it does not run
}

func enroll(ctx context.Context, c *call) error {
	o := c.opts.(*enrollOptions)
	ticket, given, err := o.ticket(c) // what root alone may read, and the number of the box, before it acts as another account
	if err != nil {
		return err
	}
	serial := cmp.Or(o.serial, device.SerialNumber())
	var bundle fleet.Bundle
	fmt.Fprintf(c.err, "this box is %s\n", serial) // what the operator needs for a bundle, and where the code is refused
	if o.bundle != "" {
		file, err := readBundle(o.bundle)
		if err != nil {
			return err
		}
		if bundle, err = openBundle(o.bundle, file, ticket, serial); err != nil {
			return err
		}
	}
	if err := asOwner(c.stateDir()); err != nil {
		return err
	}
	if given {
		if err := setAside(c); err != nil {
			return err
		}
	}
	local, err := loadConfig(c)
	if err != nil {
		return err
	}
	if err := stateDir(c); err != nil {
		return err
	}
	box := enrolment(c)
	before, err := box.Summary()
	if err != nil {
		return fleetRefused(c, err)
	}
	v := enrollView{Schema: "posagent.enroll/1", SerialNumber: serial}
	_, v.Running, err = runningPID(c)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if o.ifNeeded && before.Enrolled && before.Revoked == "" {
		return v.show(ctx, c, box)
	}
	if now := time.Now(); !device.ClockSane(now, usage.BuiltAt(version)) {
		return fail(exitFailed, "the clock says %s: no certificate can be judged by it (set it: date -u -s 'YYYY-MM-DD hh:mm')", now.UTC().Format(time.DateTime))
	}
	if given {
		if err := notSandbox(ctx, c); err != nil {
			return err
		}
	}
	switch {
	case o.bundle != "":
		if err := takeUp(ctx, c, box, o.bundle, bundle, ticket.Code); err != nil {
			return err
		}
	case given:
		if _, err := driver(c, local, logger(c), nil).Service(ticket.URL); err != nil { // before anything is kept
			return err
		}
		if err := patiently(ctx, func() error { return box.Begin(ticket, v.SerialNumber) }); err != nil {
			return fleetRefused(c, err)
		}
	}
	said := map[enrol.State]string{
		enrol.Issued: "certificate and configuration received, signature good", enrol.Configured: "configuration tried: the backend answers", enrol.Confirmed: "confirmed",
	}
	d := driver(c, local, logger(c), func(s enrol.State) { fmt.Fprintln(c.err, said[s]) })
	now, err := box.Summary()
	switch {
	case err != nil:
	case now.State != enrol.Fresh && now.State != enrol.Confirmed:
		v.Changed = true
		err = resume(ctx, c, box, d, o.bundle != "" && now.InUse)
		if errors.Is(err, enrol.ErrNone) { // the running terminal was faster
			switch now, err = box.Summary(); {
			case err == nil && now.Refusal != "":
				return fail(exitAuth, "%s (ask the operator for a new code)", now.Refusal)
			case err == nil && now.State == enrol.Fresh:
				err = enrol.ErrNone
			}
		}
	default:
		err = patiently(ctx, func() error {
			number, err := box.Refresh(ctx, d)
			v.Changed = number != 0
			return err
		})
		if err == nil {
			err = patiently(ctx, func() error {
				until, err := box.Renew(ctx, d)
				v.Changed = v.Changed || until != ""
				return err
			})
		}
	}
	if errors.Is(err, enrol.ErrNotHere) {
		fmt.Fprintln(c.err, "this box has shown the code, so no other box can use it any more: for another one, ask the operator for a new code (posagent backend fleet create)")
	}
	if err != nil {
		return fleetRefused(c, err)
	}
	return v.show(ctx, c, box)
}

// resume takes what was begun to its end. works says that the terminal works with a bundle already: then a network that is not there is
// told, and is no failure.
func resume(ctx context.Context, c *call, box *enrol.Box, d enrol.Driver, works bool) error {
	if !works {
		return patiently(ctx, func() error { return box.Resume(ctx, d) })
	}
	within, cancel := context.WithTimeout(ctx, confirmWithin)
	defer cancel()
	err := patiently(within, func() error { return box.Resume(within, d) })
	if err == nil || ctx.Err() != nil || !unreached(err) {
		return err
	}
	why := shortly(err)
	if within.Err() != nil {
		why = fmt.Sprintf("no answer in %s", confirmWithin)
	}
	fmt.Fprintf(c.err, "the operator's service is not reached yet (%s): the terminal goes on with it by itself\n", why)
	return nil
}

// ticket is what the operator gave: typed, scanned, or the text of the QR code as the argument.
func (o *enrollOptions) ticket(c *call) (t fleet.Ticket, given bool, err error) {
	text := ""
	switch {
	case len(c.args) > 1:
		return t, false, fail(exitUsage, "%s: one code (dashes, no blanks)", c.path)
	case len(c.args) == 1 && o.qr != "":
		return t, false, fail(exitUsage, "%s: either a code or --qr", c.path)
	case o.bundle != "" && len(c.args) == 0 && o.qr == "":
		return t, false, fail(exitUsage, "%s: want the code of the bundle, too (posagent backend fleet bundle showed it)", c.path)
	case o.bundle != "" && o.url != "":
		return t, false, fail(exitUsage, "%s: either --bundle or --url: the bundle names the operator's service", c.path)
	case len(c.args) == 1:
		text = c.args[0]
	case o.qr != "":
		if text, err = readTicket(c, o.qr); err != nil {
			return t, false, err
		}
	case o.url != "" || o.fingerprint != "":
		return t, false, fail(exitUsage, "%s: --url and --fingerprint want the code beside them: posagent enroll CODE --url URL", c.path)
	default:
		return t, false, nil
	}
	if o.qr != "" || strings.HasPrefix(text, "posagent:") {
		if t, err = fleet.ParseTicket(text); err != nil {
			return t, false, fail(exitUsage, "%s: %w", c.path, err)
		}
	} else {
		code, err := fleet.ParseCode(text)
		if err != nil {
			return t, false, fail(exitUsage, "%s: code: %w", c.path, err)
		}
		t = fleet.Ticket{URL: o.url, Code: code}
	}
	if o.url != "" {
		t.URL = o.url
	}
	if t.URL == "" && o.bundle == "" {
		if s, err := enrolment(c).Summary(); err == nil && s.URL != "" { // where it cannot be read, the remedies name --url
			t.URL = s.URL
			fmt.Fprintf(c.err, "the operator's service is that of the enrolment here: %s (--url URL names another)\n", t.URL)
		}
	}
	t.URL = strings.TrimSuffix(t.URL, "/")
	if o.fingerprint != "" {
		t.Fingerprint = strings.ToLower(strings.ReplaceAll(o.fingerprint, ":", ""))
	}
	switch {
	case o.bundle != "":
	case t.URL == "":
		return t, false, fail(exitUsage, "%s: --url URL: where is the operator's service? (posagent backend fleet create shows it)", c.path)
	case !wire.WebURL(t.URL):
		return t, false, fail(exitUsage, "%s: --url %s: want an absolute https address", c.path, t.URL)
	}
	if t.Fingerprint != "" && len(t.Fingerprint) != 64 {
		return t, false, fail(exitUsage, "%s: --fingerprint: want 64 hexadecimal digits", c.path)
	}
	return t, true, nil
}

func readTicket(c *call, name string) (string, error) {
	from := c.in
	if name != "-" {
		f, _, err := file.Open(name, file.Follow)
		if err != nil {
			return "", fail(exitFailed, "--qr: %v", err)
		}
		defer f.Close()
		from = io.Reader(f)
	}
	const most = 4 << 10
	data, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return "", fail(exitFailed, "--qr: %v", err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	return line, nil
}

// busyFor is how long a verb waits for another program that is at work on the enrolment.
const busyFor = 40 * time.Second

// patiently calls fn until no other program is at work on the enrolment.
func patiently(ctx context.Context, fn func() error) error {
	for until := time.Now().Add(busyFor); ; {
		err := fn()
		if !errors.Is(err, enrol.ErrBusy) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// asOwner lets root act as the account that a state directory belongs to: what it writes there is the terminal's.
func asOwner(dir string) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(dir, &st) != nil || st.Uid == 0 {
		return nil
	}
	err := errors.Join(syscall.Setgroups([]int{int(st.Gid)}), syscall.Setgid(int(st.Gid)), syscall.Setuid(int(st.Uid)))
	if err != nil {
		return fail(exitFailed, "%s belongs to uid %d: %w (run as that user)", dir, st.Uid, err)
	}
	return nil
}

// readyWithin is how long a verb waits for the running terminal to take a new configuration up.
const readyWithin = 60 * time.Second

// show waits for the running terminal, and says where the enrolment stands.
func (v *enrollView) show(ctx context.Context, c *call, box *enrol.Box) error {
	var err error
	if v.Summary, err = box.Summary(); err != nil {
		return fleetRefused(c, err)
	}
	active, err := box.Active()
	if err != nil {
		return fleetRefused(c, err)
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	var report ready.Report
	unconfirmed := func() bool { return report.NotReady != nil && report.NotReady.Cause == ready.NotConfirmed }
	for was, until := v.Running, time.Now().Add(readyWithin); ; { // between two configurations it does not run for a moment
		if report, v.Running = runningOn(c, configDigest(c)); !v.Running && !was || report.Ready || active.Unconfirmed && unconfirmed() || time.Now().After(until) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	if now, err := box.Active(); err == nil { // it was given up meanwhile, or confirmed
		active = now
	}
	if v.Summary, err = box.Summary(); err != nil {
		return fleetRefused(c, err)
	}
	code := exitOK
	if v.Running {
		v.Status = report.Line()
		if !report.Ready && !(active.Unconfirmed && unconfirmed()) {
			code = exitFailed
		}
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil || code == exitOK {
			return err
		}
		return exitWith(code, errors.New(""))
	}
	if active.Unconfirmed {
		fmt.Fprintf(c.out, "taken up: terminal %s, revision %d; connect it to the network before %s, until then it stores what can be sent later\n",
			cfg.Terminal.TerminalID, active.Revision, usage.LocalTime(active.Until))
	} else {
		fmt.Fprintf(c.out, "enrolled: terminal %s, revision %d, until %s\n", cfg.Terminal.TerminalID, active.Revision, usage.LocalTime(v.Certificate))
	}
	if !v.Running {
		fmt.Fprintf(c.out, "the terminal does not run: %s\n", c.start())
		return nil
	}
	fmt.Fprintln(c.out, v.Status)
	if code != exitOK {
		return exitWith(code, errors.New(""))
	}
	return nil
}

// setAside makes room for another enrolment where the record of the one before cannot be read.
func setAside(c *call) error {
	box := enrolment(c)
	if _, err := box.Summary(); !errors.Is(err, enrol.ErrDamaged) {
		return nil
	}
	if err := box.SetAside(); err != nil {
		return fail(exitDamaged, "%w", err)
	}
	fmt.Fprintln(c.err, "the record of the enrolment before cannot be read: it is kept as record.damaged")
	return nil
}
