package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"

	"posagent/ecr/torture"
	"posagent/schemes/money"
)

type tortureOptions struct {
	seed                           uint64
	sales                          int
	amount, currency, live, booked string
	reaching
}

func tortureCommand() command {
	return command{
		name: "torture", args: "PROTOCOL ADDRESS", short: "be a register that tests any terminal, from its public protocol alone",
		long: "PROTOCOL is one of " + tillNames() + "; ADDRESS is host:port, or a URL where the protocol goes over\n" +
			"HTTP: https://host:port is encrypted. It loses answers, asks twice, cuts the connection at every byte, aborts\n" +
			"before and after the approval, acknowledges late, plays two tills and sends hostile bytes, and prints a scorecard: what was\n" +
			"done, what was seen, passed or failed. It makes real sales, so it works only on a terminal on this machine, or one that says\n" +
			"itself that it is for tests. --live LIMIT lets it work on any other; its sales together stay within LIMIT. Each sale has to be\n" +
			"paid, by a person or a test wallet, and none is given back. --books runs a command that prints books as posagent backend books does, and compares them.\n" +
			"Exit 0: no row failed; 1: one did, or nothing was approved; 4: nothing answers at ADDRESS; 6: it may be a live terminal.",
		json: []string{"posagent.torture/1"},
		examples: []string{"posagent torture zvt 127.0.0.1:20007", "posagent torture jsonl 127.0.0.1:20017 --seed 7 --sales 200", "posagent torture zvt 192.168.1.50:20007 --live 25.00 --amount 0.10",
			"posagent torture http 127.0.0.1:8480 --token-file kiosk.token",
			"posagent torture nexo 127.0.0.1:8443 --poi-id POSAGENT-000020000001 --roots-file terminal.pem --key-id till --passphrase-file nexo.passphrase"},
		flags: func(fs *flag.FlagSet) any {
			o := &tortureOptions{}
			fs.Uint64Var(&o.seed, "seed", 0, "do the same as the run with this `number` (default: another each time)")
			fs.IntVar(&o.sales, "sales", 20, "how many `places` a message is cut at, and pieces of noise; a place costs a sale")
			fs.StringVar(&o.amount, "amount", "1.00", "the `amount` of each sale")
			fs.StringVar(&o.currency, "currency", "EUR", "its `code`")
			fs.StringVar(&o.live, "live", "", "work on a live terminal, up to this `amount` in all")
			fs.StringVar(&o.booked, "books", "", "compare with the books that this `command` prints")
			o.reaching.flags(fs)
			fs.StringVar(&o.otherToken, "other-token-file", "", "http: the `file` with the token of another client, for the row two tills")
			return o
		},
		run: runTorture,
	}
}

func runTorture(ctx context.Context, c *call) error {
	o := c.opts.(*tortureOptions)
	if len(c.args) != 2 {
		return fail(exitUsage, "%s: want PROTOCOL and ADDRESS, such as posagent torture zvt 127.0.0.1:20007", c.path)
	}
	t, err := tortureOf(c, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "posagent: seed %d\n", t.Seed)
	if !c.json {
		t.Note = func(r torture.Result) { printRow(c.out, r) }
	}
	card, err := torture.Run(ctx, t)
	switch {
	case ctx.Err() != nil:
		return exitWith(exitInterrupted, errors.New("interrupted; a sale may still run on the terminal"))
	case errors.Is(err, torture.ErrNotATest):
		return fail(exitRefused, "%w: its sales may cost real money (--live LIMIT allows them up to that amount)", err)
	case err != nil:
		return fail(exitNoDaemon, "%v (is the terminal running, and is %s its address for %s?)", err, c.args[1], c.args[0])
	}
	if c.json {
		err = printJSON(c.out, card)
	} else {
		for _, text := range card.Unseen {
			fmt.Fprintln(c.out, "not seen by any register: "+text)
		}
		_, err = fmt.Fprintf(c.out, "seed %d, %d sale(s)\n", card.Seed, card.Sales)
	}
	if err == nil && !card.Good() {
		err = exitWith(exitFailed, errors.New(""))
	}
	return err
}

// tortureOf reads what the flags and arguments say.
func tortureOf(c *call, o *tortureOptions) (t torture.Options, err error) {
	if t.Protocol, t.Connect, t.Local, err = o.reach(c, c.args[0], c.args[1]); err != nil {
		return t, err
	}
	t.Currency, t.Sales, t.Seed = o.currency, o.sales, o.seed
	if t.Seed == 0 {
		var b [4]byte
		_, _ = rand.Read(b[:]) // it never fails
		t.Seed = uint64(binary.BigEndian.Uint32(b[:]))
	}
	cur, ok := money.Lookup(o.currency)
	if !ok {
		return t, fail(exitUsage, "%s: no currency %q", c.path, o.currency)
	}
	if t.Amount, err = money.Parse(o.amount, cur); err != nil || t.Amount <= 0 {
		return t, fail(exitUsage, "%s: --amount %q is no amount such as 1.00", c.path, o.amount)
	}
	if t.Live = o.live != ""; t.Live {
		if t.Limit, err = money.Parse(o.live, cur); err != nil || t.Limit <= 0 {
			return t, fail(exitUsage, "%s: --live %q is no amount such as 25.00", c.path, o.live)
		}
	}
	if o.sales < 1 {
		return t, fail(exitUsage, "%s: --sales is at least 1", c.path)
	}
	if o.booked != "" {
		t.Books = func(ctx context.Context) (money.Minor, error) { return booked(ctx, o.booked) }
	}
	return t, nil
}

// booked runs a command that prints books, and returns what the merchant has by them.
func booked(ctx context.Context, command string) (sum money.Minor, err error) {
	out, err := exec.CommandContext(ctx, "sh", "-c", command).Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", command, err)
	}
	var list []struct {
		Postings []struct {
			Account string      `json:"account"`
			Amount  money.Minor `json:"amount"`
		} `json:"postings"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return 0, fmt.Errorf("%s prints no books: %w", command, err)
	}
	for _, t := range list {
		for _, p := range t.Postings {
			if p.Account == "merchant" {
				sum += p.Amount
			}
		}
	}
	return sum, nil
}

func printRow(out io.Writer, r torture.Result) {
	fmt.Fprintf(out, "%-8s  %-20s  %s: %s\n", r.Verdict, r.Row, r.Did, shown(r.Saw))
}
