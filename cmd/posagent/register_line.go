package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/device/line"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// registerOptions are the flags of the verbs of register.
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
	protocol, id, till              string
	reaching                        // of other protocols than ZVT
}

// atRegister connects, registers, lets do speak, and reports.
func atRegister(ctx context.Context, c *call, do func(context.Context, *call, *zvt.Register) (zvt.Result, error)) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	o := c.opts.(*registerOptions)
	if o.currency == "" {
		o.currency = cfg.Terminal.Currency
	}
	target, key, others := o.line, "", ""
	if target == "" {
		target, key, others = zvtLine(cfg)
	}
	if target == "" && others != "" {
		return fail(exitUsage, "this tool speaks ZVT, and no line of the configuration does over TCP: %s (--line /dev/ttyUSB0 or --line tcp:HOST:PORT names a ZVT terminal)", others)
	}
	if target == "" {
		return fail(exitUsage, "where is the terminal? give --line /dev/ttyUSB0 or --line tcp:HOST:PORT")
	}
	if !strings.Contains(target, "/") && !strings.HasPrefix(target, "tcp:") && !strings.HasPrefix(target, "usb:") {
		return fail(exitUsage, "--line %q is neither a tty such as /dev/ttyUSB0, usb:VID:PID nor tcp:HOST:PORT", target)
	}
	habit, ok := zvt.HabitNamed(o.habit)
	if !ok {
		return fail(exitUsage, "no habit %q: %s", o.habit, habitNames())
	}
	if err := checkArgs(c, o); err != nil {
		return err
	}
	opt := zvt.Options{
		Habit: habit, Password: o.password, Currency: o.currency, T4: o.wait, Log: logger(c),
		OpenSerial: func(ctx context.Context, path string) (frame.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return line.New(line.Config{Path: path, Baud: o.baud, StopBits: o.stopBits}).Open(ctx)
		},
		Note: func(text string) { fmt.Fprintln(c.err, "terminal:", text) },
	}
	if o.trace {
		opt.Tap, opt.Note = tracer(c, habit.Charset), nil
	}
	if o.line == "" { // it was not said where: a sale may not go to a terminal that nobody thought of
		by := "[ecr] tcp of the default"
		for _, l := range listens(c, cfg) {
			if l.key == key && cfg.Origin()[key] != "" {
				by = l.at
			}
		}
		fmt.Fprintf(c.err, "posagent: this plays a register at %s, %s (--line names another)\n", target, by)
	}
	r, err := zvt.Dial(ctx, target, opt)
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
			return exitWith(exitInterrupted, errors.New("interrupted; the sale may still run: posagent register abort stops it, register repeat asks how it ended"))
		}
		return lineError(err)
	}
	return report(c, res, o.currency)
}

// zvtLine finds the first line of a configuration on which a terminal speaks ZVT over TCP, with the key of its address. others names what
// the TCP lines speak where none does.
func zvtLine(cfg config.Config) (target, key, others string) {
	var list []string
	for i, e := range append([]config.ECR{cfg.ECR}, cfg.More...) {
		switch {
		case e.TCP == "":
		case e.Protocol == "zvt":
			return "tcp:" + e.TCP, config.LineKey(i) + ".tcp", ""
		default:
			list = append(list, e.TCP+" speaks "+e.Protocol)
		}
	}
	return "", "", strings.Join(list, ", ")
}

// habitNames lists the kinds of register that --habit knows.
func habitNames() string {
	var list []string
	for _, h := range zvt.Habits() {
		list = append(list, h.Name)
	}
	return strings.Join(list, ", ")
}

// checkArgs refuses what a verb cannot mean before anything is connected.
func checkArgs(c *call, o *registerOptions) error {
	var err error
	switch c.cmd.name {
	case "pay", "refund":
		if _, err = amountOf(c, o); err == nil {
			err = checkOriginal(c, o.original)
		}
	case "reverse":
		_, err = receiptOf(c, o)
	default:
		if len(c.args) > 0 {
			err = fail(exitUsage, "%s: takes no argument, but got %q", c.path, c.args[0])
		}
	}
	return err
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
	if text == "" || o.amount != "" && len(c.args) > 0 || len(c.args) > 1 {
		return 0, fail(exitUsage, "%s: want one amount such as %s", c.path, sampleAmount(cur))
	}
	return parseAmount(c.path, text, cur)
}

// sampleAmount is an amount as it is written in a currency.
func sampleAmount(cur money.Currency) string { return money.FormatNumber(1250, cur) }

// parseAmount reads an amount that a person has typed. A comma is refused: 1,250 is one thing or the other.
func parseAmount(verb, text string, cur money.Currency) (money.Minor, error) {
	amount, err := money.Parse(text, cur)
	if err == nil && amount > 0 {
		return amount, nil
	}
	if point := strings.Replace(text, ",", ".", 1); point != text {
		if meant, err := money.Parse(point, cur); err == nil && meant > 0 {
			return 0, fail(exitUsage, "%s: %q has a comma: write %s (a point, and nothing between thousands)", verb, text, point)
		}
	}
	return 0, fail(exitUsage, "%s: %q is no amount of %s: want one such as %s", verb, text, cur.Alpha, sampleAmount(cur))
}

// checkOriginal refuses what names no earlier sale to a terminal.
func checkOriginal(c *call, text string) error {
	if text == "" {
		return nil
	}
	if is, err := regexp.MatchString(`^(R([1-9][0-9]*/)?[0-9]{1,4}|T[0-9]+)$`, text); err == nil && is {
		return nil
	}
	return fail(exitUsage, "%s: --original %q is neither a receipt (R17, or R3/17 of batch 3) nor a transaction (T4711)", c.path, text)
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

// lineError says what to do about a terminal that did not finish its answer.
func lineError(err error) error {
	var coded *exit
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, zvt.ErrNoAnswer):
		return fail(exitNoDaemon, "%v (check cable, speed and stop bits)", err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, zvt.ErrNoCompletion), errors.Is(err, frame.ErrTransmit):
		return fail(exitFailed, "%v: the outcome is not known here; posagent register repeat asks for it", err)
	}
	return err
}
