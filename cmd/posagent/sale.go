package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/store"
)

type saleOptions struct {
	limit int
	since moment
	open  bool
}

// saleLimit is how many sales are listed where nothing else narrows the list.
const saleLimit = 50

func saleCommand() command {
	return command{
		name: "sale", short: "the terminal's journal: what was asked, what was told, what moved",
		examples: []string{"posagent sale list", "posagent sale show SALE", "posagent sale list --json --limit 10"},
		sub: append([]command{
			{
				name: "list", reads: true, short: "the newest sales first", json: []string{"posagent.sales/1"}, examples: []string{"posagent sale list --limit 10", "posagent sale list --since 24h", "posagent sale list --open"},
				flags: func(fs *flag.FlagSet) any {
					o := &saleOptions{}
					fs.IntVar(&o.limit, "limit", saleLimit, "only the newest `number`; with --since or --open all, unless it is named")
					fs.Var(&o.since, "since", "only those begun from this `time` on: how far back (90m, 24h, 1d), or a day of the box's calendar (2026-11-25)")
					fs.BoolVar(&o.open, "open", false, "only what is not at its end")
					return o
				},
				run: saleList,
			},
			{
				name: "show", reads: true, args: "SALE", short: "one sale as a timeline in plain words", long: saleNames, json: []string{"posagent.sale/1"},
				examples: []string{"posagent sale show SALE", "posagent sale show 17    # the receipt number"},
				run:      saleShow,
			},
			printCommand(),
			dayCommand(),
		}, asideCommands()...),
	}
}

func saleList(ctx context.Context, c *call) error {
	o := c.opts.(*saleOptions)
	if o.limit < 1 {
		return tooFew(c)
	}
	which := journal.Which{Limit: o.limit}
	if o.since.text != "" {
		which.SinceMS = o.since.since(time.Now()).UnixMilli()
	}
	if o.open {
		which.Stage = journal.Open
	}
	if (o.open || o.since.text != "") && o.limit == saleLimit {
		which.Limit = math.MaxInt32
	}
	var list view.Sales
	if err := readJournal(ctx, c, func(r store.Reader) (err error) {
		list, err = view.ReadSales(r, which)
		return err
	}); err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, list)
	}
	fmt.Fprintf(c.out, "%-36s  %-19s  %-8s %10s %-4s %-12s %-12s %-11s %-7s %s\n", "SALE", "BEGUN", "KIND", "AMOUNT", "", "METHOD", "PHASE", "OUTCOME", "RECEIPT", "REFERENCE")
	for _, v := range list.Sales {
		fmt.Fprintf(c.out, "%-36s  %-19s  %-8s %10s %-4s %-12s %-12s %-11s %-7s %s\n", v.ID, v.Created.Local().Format(time.DateTime), v.Kind, amountText(money.Minor(v.Amount), v.Currency), v.Currency,
			v.Method, v.Phase, v.Result, receiptText(v.Receipt), v.Reference+changedText(v))
	}
	return nil
}

// changedText flags a sale whose row does not verify.
func changedText(v view.Sale) string {
	if v.Quarantined {
		return "  ! changed from outside"
	}
	return ""
}

func receiptText(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func saleShow(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which sale? (posagent sale list)", c.path)
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	var found view.Timeline
	err = db.Read(ctx, func(r store.Reader) error {
		id, err := saleNamed(r, c.args[0])
		if err != nil {
			return err
		}
		found, err = view.ReadSale(r, id)
		return err
	})
	if errors.Is(err, journal.ErrUnknown) {
		none := func(r store.Reader) error { return view.NoSale(r, c.args[0]) }
		return notHere(ctx, db, none, "no sale %q (posagent sale list shows them)", c.args[0])
	}
	var coded *exit
	if errors.As(err, &coded) {
		return err
	}
	if err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, found.Document())
	}
	v := found.Sale
	fmt.Fprintf(c.out, "%s of %s %s with %s: %s", v.Kind, amountText(money.Minor(v.Amount), v.Currency), v.Currency, v.Label, v.Phase)
	switch {
	case v.Aside != "":
		fmt.Fprintf(c.out, ", set aside, %s", v.Aside)
	case v.Result != "" && v.Told == string(ecr.Told):
		fmt.Fprintf(c.out, ", register told %s", v.Result)
	case v.Result != "":
		fmt.Fprintf(c.out, ", %s, the register has not acknowledged it", v.Result)
	}
	fmt.Fprintf(c.out, "\nreference %s%s\n", v.Reference, changedText(v))
	for _, e := range found.Timeline {
		mark := " "
		if e.Loud {
			mark = "!"
		}
		fmt.Fprintf(c.out, "%s %s %s\n", e.At.Local().Format("2006-01-02 15:04:05.000"), mark, e.Text)
	}
	return nil
}
