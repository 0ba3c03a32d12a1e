package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"posagent/cmd/usage"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

func registerCommand() command {
	flags := func(fs *flag.FlagSet) any {
		o := &registerOptions{}
		fs.StringVar(&o.line, "line", "", "where the terminal is: a `tty` path or tcp:HOST:PORT (default: the first line of the configuration that speaks the protocol over TCP)")
		fs.StringVar(&o.habit, "habit", "steady", "behave like a `kind` of register: "+habitNames())
		fs.StringVar(&o.password, "password", "", "six `digits` for every command (default: the habit's), or those of a line of JSON lines")
		fs.StringVar(&o.currency, "currency", "", "ISO 4217 `code` (default: [terminal] currency)")
		fs.IntVar(&o.baud, "baud", 9600, "speed of a serial line in `bits` a second")
		fs.IntVar(&o.stopBits, "stop-bits", 2, "stop bits of a serial line")
		fs.BoolVar(&o.trace, "trace", false, "show every message, decoded")
		usage.SpanVar(fs, &o.wait, "wait", 180*time.Second, "how long the terminal may take (T4)")
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
	verb := func(name, args, short string, do func(context.Context, *call, *zvt.Register) (zvt.Result, error)) command {
		return command{
			name: name, args: args, short: short, flags: flags, json: []string{"posagent.register/1"},
			examples: []string{"posagent register " + strings.TrimSpace(name+" "+args) + line},
			run:      func(ctx context.Context, c *call) error { return atRegister(ctx, c, do) },
		}
	}
	pay := verb("pay", "AMOUNT", "a sale (06 01)", registerPay)
	pay.examples = []string{"posagent register pay 12.50" + line, "posagent register pay 12.50 --line tcp:127.0.0.1:20007 --trace", "posagent register pay 12.50 --protocol nexo"}
	pay.flags = with(func(fs *flag.FlagSet, o *registerOptions) {
		fs.StringVar(&o.amount, "amount", "", "the `amount`, as an alternative to the argument")
		usage.SpanVar(fs, &o.abortAfter, "abort-after", 0, "stop the sale after this time (06 B0)")
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
		fs.StringVar(&o.original, "original", "", "`R17` = receipt 17, R3/17 = that of batch 3, T4711 = transaction 4711")
	})
	decode := command{
		name: "decode", args: "HEX", short: "print one message decoded as JSON; exit 1 when it is invalid",
		json:     []string{"posagent.message/1"},
		examples: []string{"posagent register decode 06010704000000001250", "posagent register decode '10 02 80 00 00 10 03 F5 1F' --serial"},
		flags: with(func(fs *flag.FlagSet, o *registerOptions) {
			fs.BoolVar(&o.serial, "serial", false, "it is one block of the serial line: DLE STX … CRC")
		}),
		run: registerDecode,
	}
	plain := func(f func(*zvt.Register, context.Context) (zvt.Result, error)) func(context.Context, *call, *zvt.Register) (zvt.Result, error) {
		return func(ctx context.Context, _ *call, r *zvt.Register) (zvt.Result, error) { return f(r, ctx) }
	}
	all := command{
		name: "register", short: "be a cash register: try a terminal over its real line, or decode a message",
		long: "This tool plays a register: what it hears is confirmed, and the shop's own register never hears of it. It speaks ZVT; pay,\n" +
			"repeat, totals and abort speak any --protocol. Without --line they go to the first line of the configuration that speaks it over TCP,\n" +
			"and say so. Exit 0 when the terminal approved or did what was asked, 1 when not.",
		examples: []string{"posagent register pay 12.50" + line, "posagent register repeat" + line, "posagent register decode 06010704000000001250"},
		sub: []command{
			pay, reverse, refund,
			verb("status", "", "ask how the terminal is (05 01)", plain((*zvt.Register).Status)),
			verb("repeat", "", "ask again how the last sale ended (06 20)", func(ctx context.Context, _ *call, r *zvt.Register) (zvt.Result, error) {
				return r.Repeat(ctx, 0x01)
			}),
			verb("end-of-day", "", "close the batch and print its totals (06 50)", plain((*zvt.Register).EndOfDay)),
			verb("totals", "", "print the totals so far, without closing (06 10)", plain((*zvt.Register).Turnover)),
			verb("abort", "", "stop the sale that runs (06 B0)", plain((*zvt.Register).Abort)),
			verb("diagnosis", "", "let the terminal contact its backend (06 70)", plain((*zvt.Register).Diagnosis)),
			decode, certificateCommand(), registerSchemaCommand(),
		},
	}
	for i, v := range all.sub {
		if _, is := spokenVerbs[v.name]; is {
			all.sub[i] = inEveryProtocol(v)
		}
	}
	return all
}

func registerPay(ctx context.Context, c *call, r *zvt.Register) (zvt.Result, error) {
	return withAmount(ctx, c, r, func(o *registerOptions, amount money.Minor) (zvt.Result, error) {
		if o.abortAfter > 0 {
			t := time.AfterFunc(o.abortAfter, func() {
				if res, err := r.Abort(ctx); err != nil || res.Refused {
					fmt.Fprintln(c.err, "abort: too late", err)
				}
			})
			defer t.Stop()
		}
		return r.Pay(ctx, amount, o.currency, zvt.PayOptions{CardType: o.cardType})
	})
}

// withAmount registers, and does a command with the amount that a verb was given.
func withAmount(ctx context.Context, c *call, r *zvt.Register, do func(*registerOptions, money.Minor) (zvt.Result, error)) (zvt.Result, error) {
	o := c.opts.(*registerOptions)
	amount, err := amountOf(c, o)
	if err != nil {
		return zvt.Result{}, err
	}
	if res, err := r.Register(ctx); err != nil || !res.OK() {
		return res, err
	}
	return do(o, amount)
}

func registerReverse(ctx context.Context, c *call, r *zvt.Register) (zvt.Result, error) {
	n, err := receiptOf(c, c.opts.(*registerOptions))
	if err != nil {
		return zvt.Result{}, err
	}
	if res, err := r.Register(ctx); err != nil || !res.OK() {
		return res, err
	}
	return r.Reverse(ctx, n, 0)
}

func registerRefund(ctx context.Context, c *call, r *zvt.Register) (zvt.Result, error) {
	return withAmount(ctx, c, r, func(o *registerOptions, amount money.Minor) (zvt.Result, error) {
		return r.Refund(ctx, amount, o.currency, o.original)
	})
}

func registerDecode(_ context.Context, c *call) error {
	if len(c.args) == 0 {
		return fail(exitUsage, "%s: want the message in hexadecimal", c.path)
	}
	d, err := zvt.DecodeHex(strings.Join(c.args, ""), c.opts.(*registerOptions).serial, apdu.CP437)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	return printJSON(c.out, struct {
		Schema string `json:"schema"`
		apdu.Description
	}{"posagent.message/1", d})
}
