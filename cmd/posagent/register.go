package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/device/line"
	"posagent/ecr/register"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

type registerOptions struct {
	line, habit, password, currency string
	amount                          string
	baud, stopBits                  int
	trace                           bool
	abortAfter                      time.Duration
	cardType                        int
	receipt                         int
	original                        string
	serial                          bool
	wait                            time.Duration
}

func registerCommand() command {
	flags := func(fs *flag.FlagSet) any {
		o := &registerOptions{}
		fs.StringVar(&o.line, "line", "", "where the terminal is: a `tty` path or tcp:HOST:PORT (default: [ecr] tcp of the configuration)")
		fs.StringVar(&o.habit, "habit", "steady", "behave like a `kind` of register: "+habitNames())
		fs.StringVar(&o.password, "password", "", "six `digits` for every command (default: the habit's)")
		fs.StringVar(&o.currency, "currency", "", "ISO 4217 `code` (default: [terminal] currency)")
		fs.IntVar(&o.baud, "baud", 9600, "speed of a serial line")
		fs.IntVar(&o.stopBits, "stop-bits", 2, "stop bits of a serial line")
		fs.BoolVar(&o.trace, "trace", false, "show every message, decoded")
		fs.DurationVar(&o.wait, "wait", 180*time.Second, "how long the terminal may take (T4)")
		return o
	}
	with := func(more func(*flag.FlagSet, *registerOptions)) func(*flag.FlagSet) any {
		return func(fs *flag.FlagSet) any {
			o := flags(fs).(*registerOptions)
			more(fs, o)
			return o
		}
	}
	const line = " --line /dev/ttyUSB0"
	verb := func(name, args, short string, do func(context.Context, *call, *register.Register) (register.Result, error)) command {
		return command{
			name: name, args: args, short: short, flags: flags, examples: []string{"posagent register " + strings.TrimSpace(name+" "+args) + line},
			run: func(ctx context.Context, c *call) error { return atRegister(ctx, c, do) },
		}
	}
	pay := verb("pay", "AMOUNT", "a sale (06 01)", registerPay)
	pay.examples = []string{"posagent register pay 12.50" + line, "posagent register pay 12.50 --line tcp:127.0.0.1:20007 --trace"}
	pay.flags = with(func(fs *flag.FlagSet, o *registerOptions) {
		fs.StringVar(&o.amount, "amount", "", "the `amount`, as an alternative to the argument")
		fs.DurationVar(&o.abortAfter, "abort-after", 0, "send 06 B0 after this long")
		fs.IntVar(&o.cardType, "card-type", 0, "preselect a method by its ZVT card `type`")
	})
	reverse := verb("reverse", "RECEIPT", "undo a whole sale of the open batch (06 30)", registerReverse)
	reverse.flags = with(func(fs *flag.FlagSet, o *registerOptions) {
		fs.IntVar(&o.receipt, "receipt", 0, "the receipt `number`, as an alternative to the argument")
	})
	refund := verb("refund", "AMOUNT", "give money back for an earlier sale (06 31)", registerRefund)
	refund.examples = []string{"posagent register refund 5.00 --original R17" + line, "posagent register refund 5.00 --original T4711" + line}
	refund.flags = with(func(fs *flag.FlagSet, o *registerOptions) {
		fs.StringVar(&o.amount, "amount", "", "the `amount`, as an alternative to the argument")
		fs.StringVar(&o.original, "original", "", "`R17` = receipt 17, T4711 = transaction 4711")
	})
	decode := command{
		name: "decode", args: "HEX", short: "print one message decoded as JSON; exit 1 when it is invalid",
		examples: []string{"posagent register decode 06010704000000001250", "posagent register decode '10 02 80 00 00 10 03 F5 1F' --serial"},
		flags: with(func(fs *flag.FlagSet, o *registerOptions) {
			fs.BoolVar(&o.serial, "serial", false, "it is one block of the serial line: DLE STX … CRC")
		}),
		run: registerDecode,
	}
	plain := func(f func(*register.Register, context.Context) (register.Result, error)) func(context.Context, *call, *register.Register) (register.Result, error) {
		return func(ctx context.Context, _ *call, r *register.Register) (register.Result, error) { return f(r, ctx) }
	}
	return command{
		name: "register", short: "be a cash register: try a terminal over its real line, or decode a message",
		long:     "Exit 0 when the terminal approved or did what was asked, 1 when not.",
		examples: []string{"posagent register pay 12.50" + line, "posagent register repeat" + line, "posagent register decode 06010704000000001250"},
		sub: []command{
			pay, reverse, refund,
			verb("status", "", "ask how the terminal is (05 01)", plain((*register.Register).Status)),
			verb("repeat", "", "ask again how the last sale ended (06 20)", func(ctx context.Context, _ *call, r *register.Register) (register.Result, error) {
				return r.Repeat(ctx, 0x01)
			}),
			verb("end-of-day", "", "close the batch and print its totals (06 50)", plain((*register.Register).EndOfDay)),
			verb("totals", "", "print the totals so far, without closing (06 10)", plain((*register.Register).Turnover)),
			verb("abort", "", "stop the sale that runs (06 B0)", plain((*register.Register).Abort)),
			verb("diagnosis", "", "let the terminal contact its backend (06 70)", plain((*register.Register).Diagnosis)),
			decode,
		},
	}
}

func habitNames() string {
	var list []string
	for _, h := range register.Habits() {
		list = append(list, h.Name)
	}
	return strings.Join(list, ", ")
}

// atRegister connects, registers, lets do speak, and reports.
func atRegister(ctx context.Context, c *call, do func(context.Context, *call, *register.Register) (register.Result, error)) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	o := c.opts.(*registerOptions)
	if o.currency == "" {
		o.currency = cfg.Terminal.Currency
	}
	target := o.line
	if target == "" && cfg.ECR.TCP != "" {
		target = "tcp:" + cfg.ECR.TCP
	}
	if target == "" {
		return fail(exitUsage, "where is the terminal? give --line /dev/ttyUSB0 or --line tcp:HOST:PORT")
	}
	if !strings.Contains(target, "/") && !strings.HasPrefix(target, "tcp:") && !strings.HasPrefix(target, "usb:") {
		return fail(exitUsage, "--line %q is neither a tty such as /dev/ttyUSB0, usb:VID:PID nor tcp:HOST:PORT", target)
	}
	habit, ok := register.HabitNamed(o.habit)
	if !ok {
		return fail(exitUsage, "no habit %q: %s", o.habit, habitNames())
	}
	if err := checkArgs(c, o); err != nil {
		return err
	}
	opt := register.Options{
		Habit: habit, Password: o.password, Currency: o.currency, T4: o.wait, Log: logger(c),
		OpenSerial: func(ctx context.Context, path string) (frame.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			port := line.New(line.Config{Path: path, Baud: o.baud, StopBits: o.stopBits})
			conn, err := port.Open(ctx)
			if err != nil && port.Stats().LastError != "" {
				err = errors.New(port.Stats().LastError)
			}
			return conn, err
		},
		Note: func(text string) { fmt.Fprintln(c.err, "terminal:", text) },
	}
	if o.trace {
		opt.Tap, opt.Note = tracer(c, habit.Charset), nil
	}
	r, err := register.Dial(ctx, target, opt)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fail(exitNoDaemon, "%v (is the terminal running, and is this its line?)", err)
	}
	defer r.Close()
	res, err := do(ctx, c, r)
	if err != nil {
		if ctx.Err() != nil {
			return &exit{exitInterrupted, errors.New("interrupted; the sale may still run: posagent register abort stops it, register repeat asks how it ended")}
		}
		return lineError(err)
	}
	return report(c, res, o.currency)
}

// checkArgs refuses what a verb cannot mean before anything is connected.
func checkArgs(c *call, o *registerOptions) error {
	var err error
	switch c.cmd.name {
	case "pay", "refund":
		_, err = amountOf(c, o)
	case "reverse":
		_, err = receiptOf(c, o)
	default:
		if len(c.args) > 0 {
			err = fail(exitUsage, "%s: takes no argument, but got %q", c.path, c.args[0])
		}
	}
	return err
}

// lineError says what to do about a terminal that did not finish its answer.
func lineError(err error) error {
	var coded *exit
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, register.ErrNoAnswer):
		return fail(exitNoDaemon, "%v (check cable, speed and stop bits)", err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, register.ErrNoCompletion), errors.Is(err, frame.ErrTransmit):
		return fail(exitFailed, "%v: the outcome is not known here; posagent register repeat asks for it", err)
	}
	return err
}

// tracer shows the dialogue as it happens: who speaks, the bytes, and what they mean.
func tracer(c *call, cs apdu.Charset) func(string, []byte) {
	var mu sync.Mutex
	return func(direction string, data []byte) {
		who := "terminal → register"
		if direction == "out" {
			who = "register → terminal"
		}
		text := "not understood"
		if m, err := apdu.Decode(data); err == nil {
			text = oneLine(apdu.Describe(m, cs))
		}
		raw := strings.ToUpper(hex.EncodeToString(data))
		if len(raw) > 48 {
			raw = raw[:46] + "…"
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(c.err, "%s  %-48s %s\n", who, raw, text)
	}
}

// report prints a result; an error says that the answer was no.
func report(c *call, res register.Result, currency string) error {
	if c.json {
		if err := printJSON(c.out, struct {
			Schema string `json:"schema"`
			register.Result
		}{"posagent.register/1", res}); err != nil {
			return err
		}
	} else {
		for _, l := range res.Printed {
			fmt.Fprintln(c.out, "  "+l)
		}
		fmt.Fprintln(c.out, summary(res, currency))
	}
	if !res.OK() {
		return &exit{exitFailed, errors.New("")}
	}
	return nil
}

// oneLine is a message as a reader of the trace wants it.
func oneLine(d apdu.Description) string {
	parts := []string{d.Name}
	for _, s := range []string{d.Meaning, d.Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	for _, f := range d.Fields {
		text := f.Name
		switch {
		case f.Meaning != "":
			text += " " + f.Meaning
		case f.Value != "":
			text += " " + f.Value
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

func summary(res register.Result, currency string) string {
	var b strings.Builder
	switch {
	case res.Refused:
		fmt.Fprintf(&b, "refused (84 %02X: %s)", res.Code, res.CodeText)
	case res.Approved:
		b.WriteString("approved")
	case res.Code == register.CodeAborted:
		b.WriteString("aborted")
	case res.OK():
		b.WriteString("done")
	default:
		fmt.Fprintf(&b, "declined (%02X: %s)", res.Code, res.CodeText)
	}
	if res.Amount != 0 {
		fmt.Fprintf(&b, ", %s %s", amountText(res.Amount, currency), currency)
	}
	if res.Receipt != 0 {
		fmt.Fprintf(&b, ", receipt %d", res.Receipt)
	}
	if res.CardName != "" {
		fmt.Fprintf(&b, ", %s", res.CardName)
	}
	if res.Text != "" {
		fmt.Fprintf(&b, ": %s", res.Text)
	}
	if res.Version != "" {
		fmt.Fprintf(&b, ", %s, status %02X", res.Version, res.Status)
	}
	return b.String()
}

// amountOf reads the amount a verb was given as its argument or its flag.
func amountOf(c *call, o *registerOptions) (money.Minor, error) {
	text := o.amount
	if text == "" && len(c.args) == 1 {
		text = c.args[0]
	}
	cur, ok := money.Lookup(o.currency)
	if !ok {
		return 0, fail(exitUsage, "no currency %q", o.currency)
	}
	amount, err := money.Parse(text, cur)
	if err != nil || amount <= 0 || (o.amount != "" && len(c.args) > 0) {
		return 0, fail(exitUsage, "%s: want one amount such as 12.50", c.path)
	}
	return amount, nil
}

func registerPay(ctx context.Context, c *call, r *register.Register) (register.Result, error) {
	return withAmount(ctx, c, r, func(o *registerOptions, amount money.Minor) (register.Result, error) {
		if o.abortAfter > 0 {
			t := time.AfterFunc(o.abortAfter, func() {
				if res, err := r.Abort(ctx); err != nil || res.Refused {
					fmt.Fprintln(c.err, "abort: too late", err)
				}
			})
			defer t.Stop()
		}
		return r.Pay(ctx, amount, o.currency, register.PayOptions{CardType: o.cardType})
	})
}

// withAmount registers, and does a command with the amount that a verb was given.
func withAmount(ctx context.Context, c *call, r *register.Register, do func(*registerOptions, money.Minor) (register.Result, error)) (register.Result, error) {
	o := c.opts.(*registerOptions)
	amount, err := amountOf(c, o)
	if err != nil {
		return register.Result{}, err
	}
	if res, err := r.Register(ctx); err != nil || !res.OK() {
		return res, err
	}
	return do(o, amount)
}

// receiptOf reads the receipt number a verb was given as its argument or its flag.
func receiptOf(c *call, o *registerOptions) (int, error) {
	n := o.receipt
	if n == 0 && len(c.args) == 1 {
		n, _ = strconv.Atoi(c.args[0])
	}
	if n < 1 || n > 9999 || (o.receipt != 0 && len(c.args) > 0) {
		return 0, fail(exitUsage, "%s: want one receipt number, 1 to 9999", c.path)
	}
	return n, nil
}

func registerReverse(ctx context.Context, c *call, r *register.Register) (register.Result, error) {
	n, err := receiptOf(c, c.opts.(*registerOptions))
	if err != nil {
		return register.Result{}, err
	}
	if res, err := r.Register(ctx); err != nil || !res.OK() {
		return res, err
	}
	return r.Reverse(ctx, n, 0)
}

func registerRefund(ctx context.Context, c *call, r *register.Register) (register.Result, error) {
	return withAmount(ctx, c, r, func(o *registerOptions, amount money.Minor) (register.Result, error) {
		return r.Refund(ctx, amount, o.currency, o.original)
	})
}

func registerDecode(_ context.Context, c *call) error {
	if len(c.args) == 0 {
		return fail(exitUsage, "%s: want the message in hexadecimal", c.path)
	}
	d, err := register.DecodeHex(strings.Join(c.args, ""), c.opts.(*registerOptions).serial, apdu.CP437)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	return printJSON(c.out, d)
}
