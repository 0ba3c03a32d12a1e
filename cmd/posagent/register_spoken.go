package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/device/line"
	"posagent/ecr/till"
	"posagent/schemes/money"
)

// spokenFlags are those of a verb that works in every protocol.
func spokenFlags(fs *flag.FlagSet, o *registerOptions) {
	fs.StringVar(&o.protocol, "protocol", "zvt", "speak this `protocol`: "+tillNames())
	fs.StringVar(&o.id, "id", "", "the sale's `id`, in protocols that have one: jsonl, nexo, http (default of pay: a new one)")
	fs.StringVar(&o.till, "till", "1", "this register's `name` among those of the terminal; ecr17 and caisse-ap have its last digits")
	o.reaching.flags(fs)
}

// spokenVerbs are the verbs that work in every protocol. They report themselves.
var spokenVerbs = map[string]func(context.Context, *call, *spokenRegister) error{
	"pay": spokenPay, "repeat": spokenRepeat, "abort": spokenAbort, "totals": spokenTotals,
}

// spokenRegister is a register of a protocol, on its line.
type spokenRegister struct {
	p    till.Protocol
	till till.Till
	o    *registerOptions
}

// spokenView is how a sale stands by what the register has heard (posagent.register.sale/1).
type spokenView struct {
	Schema   string      `json:"schema"`
	Protocol string      `json:"protocol"`
	ID       string      `json:"id,omitempty"`
	Said     till.Said   `json:"said"`
	Amount   money.Minor `json:"amount,omitempty"` // of an approval, minor units
	Currency string      `json:"currency,omitempty"`
	Receipt  int         `json:"receipt,omitempty"`
	Text     string      `json:"text,omitempty"`
}

// spokenSums are the terminal's (posagent.register.sums/1).
type spokenSums struct {
	Schema   string      `json:"schema"`
	Protocol string      `json:"protocol"`
	Count    *int        `json:"count,omitempty"` // missing: the protocol has the sum alone
	Sum      money.Minor `json:"sum"`             // minor units
	Currency string      `json:"currency"`
}

// inEveryProtocol makes a verb of ZVT one of every protocol.
func inEveryProtocol(v command) command {
	flags, zvt := v.flags, v.run
	v.flags = func(fs *flag.FlagSet) any {
		o := flags(fs).(*registerOptions)
		spokenFlags(fs, o)
		return o
	}
	v.json = append(v.json, "posagent.register.sale/1")
	if v.name == "totals" {
		v.json[1] = "posagent.register.sums/1"
	}
	v.run = func(ctx context.Context, c *call) error {
		switch o := c.opts.(*registerOptions); {
		case o.protocol != "zvt" && (o.trace || o.cardType != 0 || o.habit != "steady"):
			return fail(exitUsage, "%s: --trace, --card-type and --habit are of ZVT alone", c.path)
		case o.protocol != "zvt":
			return speak(ctx, c, v.name)
		case o.id != "":
			return fail(exitUsage, "%s: a sale of ZVT has no id (--id)", c.path)
		}
		return zvt(ctx, c)
	}
	return v
}

// speak connects a register of another protocol than ZVT, and lets a verb speak.
func speak(ctx context.Context, c *call, verb string) error {
	o := c.opts.(*registerOptions)
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if o.currency == "" {
		o.currency = cfg.Terminal.Currency
	}
	if err := checkArgs(c, o); err != nil {
		return err
	}
	address, err := o.address(c, cfg)
	if err != nil {
		return err
	}
	tty, cable := o.cable(address)
	if cable {
		address = "127.0.0.1:1" // nothing connects to it
	}
	p, connect, _, err := o.reach(c, o.protocol, address)
	if err != nil {
		return err
	}
	if o.id != "" && !p.Can.IDs {
		return fail(exitUsage, "%s: a sale of %s has no id (--id)", c.path, o.protocol)
	}
	if cable {
		connect = func(ctx context.Context) (net.Conn, error) { return o.open(ctx, tty) }
	}
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	conn, err := connect(ctx)
	if err != nil {
		return fail(exitNoDaemon, "%v (is the terminal running, and is this its line for %s?)", err, o.protocol)
	}
	t, err := p.New(till.Line{Conn: conn, More: connect, Name: o.till, Currency: o.currency, Cable: cable, Running: func() {
		fmt.Fprintln(c.err, "terminal: the sale runs")
	}})
	if err == nil {
		_, err = t.Greet(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return fail(exitNoDaemon, "%v (is the terminal running, and is this its line for %s?)", err, o.protocol)
	}
	defer t.Close()
	return spokenVerbs[verb](ctx, c, &spokenRegister{p, t, o})
}

// address is where a terminal speaks the protocol: --line, or the first such line of the configuration, of which the rest is taken, too.
func (o *registerOptions) address(c *call, cfg config.Config) (string, error) {
	o.digits = till.Secret(o.password)
	if o.line != "" {
		return strings.TrimPrefix(o.line, "tcp:"), nil // a URL, too, where the protocol goes over HTTP
	}
	address, by := "", "[[ecr]] tcp"
	if o.protocol == "http" {
		address, by = cfg.Port.Listen, "[port] listen"
		if o.token == "" {
			o.token = filepath.Join(c.stateDir(), "port.token")
		}
	}
	for _, e := range cfg.Registers() {
		if address == "" && e.Protocol == o.protocol {
			address = e.TCP
			o.lrc, o.terminal, o.poi, o.version, o.key, o.keyVersion = e.LRC, e.TerminalID, e.POIID, e.ProtocolVersion, e.KeyID, e.KeyVersion
			o.digits = cmp.Or(o.digits, till.Secret(e.Password))
			o.secret, o.trusted = till.Secret(e.Passphrase.Reveal()), filepath.Join(c.stateDir(), strings.Replace(nexoFiles, "*", e.LineName("tcp"), 1))
		}
	}
	if address == "" {
		return "", fail(exitUsage, "no line of the configuration speaks %s over TCP: give --line tcp:HOST:PORT", o.protocol)
	}
	fmt.Fprintf(c.err, "posagent: this plays a register at %s, %s of the configuration (--line names another)\n", address, by)
	return address, nil
}

// cable says whether a line is serial.
func (o *registerOptions) cable(address string) (tty string, is bool) {
	serial := strings.HasPrefix(address, "/") || strings.HasPrefix(address, "usb:")
	return address, serial && slices.Contains([]string{"jsonl", "ecr17"}, o.protocol)
}

// open opens a serial line.
func (o *registerOptions) open(ctx context.Context, tty string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := line.New(line.Config{Path: tty, Baud: o.baud, StopBits: o.stopBits}).Open(ctx)
	if err != nil {
		return nil, err
	}
	return wired{conn}, nil
}

// wired is a serial line as a connection.
type wired struct {
	line.Conn
}

func (w wired) LocalAddr() net.Addr                { return w }
func (w wired) RemoteAddr() net.Addr               { return w }
func (w wired) SetDeadline(t time.Time) error      { return w.SetReadDeadline(t) }
func (w wired) SetWriteDeadline(_ time.Time) error { return nil } // the line has its own
func (w wired) Network() string                    { return "serial" }
func (w wired) String() string                     { return "serial" }

func spokenPay(ctx context.Context, c *call, r *spokenRegister) error {
	amount, err := amountOf(c, r.o)
	if err != nil {
		return err
	}
	if r.p.Can.IDs {
		if r.o.id == "" {
			r.o.id = "register-" + strings.ToLower(rand.Text()[:12])
		}
		fmt.Fprintf(c.err, "posagent: the sale's id is %s\n", r.o.id)
	}
	if r.o.abortAfter > 0 {
		stop, err := r.abortLater(ctx, c)
		if err != nil {
			return err
		}
		defer stop()
	}
	a, err := r.till.Pay(ctx, amount, r.o.id)
	if err != nil {
		return r.unheard(ctx, err)
	}
	return r.report(c, a)
}

// abortLater stops the sale after a while.
func (r *spokenRegister) abortLater(ctx context.Context, c *call) (stop func() bool, err error) {
	if !r.p.Can.Abort {
		return nil, fail(exitUsage, "%s: %s has no abort (--abort-after)", c.path, r.p.Name)
	}
	t := time.AfterFunc(r.o.abortAfter, func() {
		if done, err := r.till.Abort(ctx, r.o.id); err != nil || !done {
			fmt.Fprintln(c.err, "abort: too late", err)
		}
	})
	return t.Stop, nil
}

// unheard says what to do about a sale of which the register does not know how it ended.
func (r *spokenRegister) unheard(ctx context.Context, err error) error {
	remedy := "the protocol cannot ask: the terminal takes back what was not heard, at the latest with the next sale"
	if again := "posagent register repeat --protocol " + r.p.Name; r.p.Can.Asks {
		if r.p.Can.IDs {
			again += " --id " + r.o.id
		}
		remedy = again + " asks for it"
	}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return exitWith(exitInterrupted, errors.New("interrupted; the sale may still run: "+remedy))
	}
	return fail(exitFailed, "%v: the outcome is not known here; %s", err, remedy)
}

func spokenRepeat(ctx context.Context, c *call, r *spokenRegister) error {
	switch {
	case !r.p.Can.Asks:
		return fail(exitUsage, "%s: %s cannot ask how a sale ended: the terminal takes back what its register has not heard", c.path, r.p.Name)
	case r.p.Can.IDs && r.o.id == "":
		return fail(exitUsage, "%s: %s asks for a sale by its id: give --id, as pay has printed it", c.path, r.p.Name)
	}
	a, err := till.Until(ctx, r.till, 0, r.o.id)
	if err != nil {
		return fail(exitFailed, "%v: the outcome is not known here; ask again", err)
	}
	return r.report(c, a)
}

func spokenAbort(ctx context.Context, c *call, r *spokenRegister) error {
	switch {
	case !r.p.Can.Abort && r.p.Can.Acks:
		return fail(exitUsage, "%s: %s has no abort: on the terminal's screen, or by hanging up where the protocol means that", c.path, r.p.Name)
	case !r.p.Can.Abort:
		return fail(exitUsage, "%s: %s has no abort", c.path, r.p.Name)
	case r.p.Can.IDs && r.o.id == "":
		return fail(exitUsage, "%s: %s aborts a sale by its id: give --id, as pay has printed it", c.path, r.p.Name)
	}
	done, err := r.till.Abort(ctx, r.o.id)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if !done {
		return fail(exitFailed, "the terminal does not abort it: it has ended, or is none of this register's")
	}
	fmt.Fprintln(c.out, "the terminal has taken the abort; what it answers the sale with counts")
	return nil
}

func spokenTotals(ctx context.Context, c *call, r *spokenRegister) error {
	if !r.p.Can.Totals || r.p.Can.Since {
		return fail(exitUsage, "%s: %s has no totals", c.path, r.p.Name)
	}
	sums, err := r.till.Totals(ctx)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	v := spokenSums{Schema: "posagent.register.sums/1", Protocol: r.p.Name, Sum: sums.Sum, Currency: r.o.currency}
	text := amountText(sums.Sum, r.o.currency) + " " + r.o.currency
	if sums.Count >= 0 {
		v.Count = &sums.Count
		text = fmt.Sprintf("%d sale(s), %s", sums.Count, text)
	}
	if c.json {
		return printJSON(c.out, v)
	}
	_, err = fmt.Fprintln(c.out, text)
	return err
}

// report prints what the terminal said; an error says that the answer was no.
func (r *spokenRegister) report(c *call, a till.Answer) error {
	v := spokenView{Schema: "posagent.register.sale/1", Protocol: r.p.Name, ID: r.o.id, Said: a.Said, Amount: a.Amount, Receipt: a.Receipt, Text: a.Text}
	approved := a.Said == till.Approved
	if approved {
		v.Currency = r.o.currency
	}
	var err error
	if c.json {
		err = printJSON(c.out, v)
	} else {
		err = v.print(c.out)
	}
	if err == nil && !approved {
		err = exitWith(exitFailed, errors.New(""))
	}
	return err
}

// print writes the view in one line.
func (v spokenView) print(out io.Writer) error {
	text := string(v.Said)
	if v.Said == till.Approved && v.Amount != 0 { // ECR17 repeats no amount
		text += ", " + amountText(v.Amount, v.Currency) + " " + v.Currency
	}
	if v.Receipt != 0 {
		text += fmt.Sprintf(", receipt %d", v.Receipt)
	}
	if v.Text != "" {
		text += ": " + v.Text
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
