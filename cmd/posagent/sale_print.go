package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/control"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

type printOptions struct {
	copy string
	day  bool
	text bool
}

// printedCopy is what became of a copy (posagent.sale.print/1).
type printedCopy struct {
	Schema  string       `json:"schema"`
	Sale    wire.Key     `json:"sale,omitempty"`
	Copy    receipt.Copy `json:"copy,omitempty"`
	Batch   int          `json:"batch,omitempty"` // of an end of day, in place of sale and copy
	Printed bool         `json:"printed"`
	Text    string       `json:"text,omitempty"`  // the slip, where it is shown and not printed
	Waits   string       `json:"waits,omitempty"` // why it is not on paper yet
}

func printCommand() command {
	return command{
		name: "print", args: "[SALE | BATCH]", short: "print a receipt again, marked as a copy",
		long: saleNames + "\n" +
			"The terminal must be running and have a printer ([printer] device). A copy that cannot be printed now waits.\n" +
			"With --end-of-day the slip of an end of day is printed: of the batch with this number, or of the newest one;\n" +
			"with --text it is shown here, without a printer and beside a terminal that does not run.",
		json:     []string{"posagent.sale.print/1"},
		examples: []string{"posagent sale print 17", "posagent sale print SALE --copy merchant", "posagent sale print --end-of-day", "posagent sale print --end-of-day --text"},
		flags: func(fs *flag.FlagSet) any {
			o := &printOptions{}
			fs.StringVar(&o.copy, "copy", string(receipt.Customer), "`whose` copy: customer or merchant")
			fs.BoolVar(&o.day, "end-of-day", false, "print the slip of an end of day")
			fs.BoolVar(&o.text, "text", false, "show the slip of an end of day here, in place of printing it")
			return o
		},
		run: salePrint,
	}
}

func salePrint(ctx context.Context, c *call) error {
	which := receipt.Copy(c.opts.(*printOptions).copy)
	switch {
	case c.opts.(*printOptions).day:
		return dayPrint(ctx, c)
	case c.opts.(*printOptions).text:
		return fail(exitUsage, "%s: --text goes with --end-of-day", c.path)
	case len(c.args) != 1:
		return fail(exitUsage, "%s: which sale? (posagent sale list)", c.path)
	case which != receipt.Customer && which != receipt.Merchant:
		return fail(exitUsage, "%s: --copy %q is neither customer nor merchant", c.path, which)
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	var key string
	err = db.Read(ctx, func(r store.Reader) error {
		key, err = saleNamed(r, c.args[0])
		return err
	})
	var coded *exit
	switch {
	case errors.Is(err, journal.ErrUnknown):
		none := func(r store.Reader) error { return view.NoSale(r, c.args[0]) }
		return notHere(ctx, db, none, "no sale %q (posagent sale list shows them)", c.args[0])
	case errors.As(err, &coded):
		return err
	case err != nil:
		return storeError(err)
	}
	waits, err := (&control.Client{Path: controlSocket(c)}).Print(ctx, wire.Key(key), which)
	return tellPrinted(c, "sale "+key, printedCopy{Sale: wire.Key(key), Copy: which}, waits, err)
}

// dayPrint prints the slip of an end of day again.
func dayPrint(ctx context.Context, c *call) error {
	batch := 0
	if len(c.args) > 0 {
		n, err := strconv.Atoi(c.args[0])
		if err != nil || n < 1 || len(c.args) > 1 {
			return fail(exitUsage, "%s: which batch? its number stands on the slip", c.path)
		}
		batch = n
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	var t ecr.Totals
	err = db.Read(ctx, func(r store.Reader) error {
		if batch == 0 {
			var err error
			if batch, err = journal.LastClosed(r); err != nil {
				return err
			}
		}
		t, err = journal.Report(r, batch)
		return err
	})
	switch {
	case errors.Is(err, journal.ErrUnknown) && batch == 0:
		return fail(exitFailed, "%s: no end of day yet", c.path)
	case errors.Is(err, journal.ErrUnknown):
		return fail(exitFailed, "%s: no end of day with the number %d", c.path, batch)
	case err != nil:
		return storeError(err)
	case c.opts.(*printOptions).text:
		return dayShow(c, t)
	}
	waits, err := (&control.Client{Path: controlSocket(c)}).PrintDay(ctx, batch)
	return tellPrinted(c, fmt.Sprintf("end of day %d", batch), printedCopy{Batch: batch}, waits, err)
}

// dayShow shows the slip of an end of day.
func dayShow(c *call, t ecr.Totals) error {
	text, err := daySlip(c, t, true)
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, printedCopy{Schema: "posagent.sale.print/1", Batch: t.Batch, Text: text})
	}
	_, err = fmt.Fprint(c.out, text)
	return err
}

// daySlip is the slip of an end of day as text; again marks it as a copy.
func daySlip(c *call, t ecr.Totals, again bool) (text string, err error) {
	cfg, err := readConfig(c)
	if err != nil {
		return "", err
	}
	cur, ok := money.Lookup(t.Currency)
	if !ok {
		return "", fail(exitFailed, "%s: the currency %q of batch %d is not known", c.path, t.Currency, t.Batch)
	}
	t.Time = t.Time.Local()
	for _, l := range receipt.Totals(receipt.Head{MerchantName: cfg.Terminal.MerchantName, Language: cfg.Terminal.Language}, cur, t, receipt.Day{Closing: true, Batch: true, Again: again}) {
		text += l.Laid(slipColumns) + "\n"
	}
	return text, nil
}

// slipColumns is how wide a slip is shown.
const slipColumns = 42

// tellPrinted says what became of a copy.
func tellPrinted(c *call, of string, v printedCopy, waits string, err error) error {
	if e := (*wire.Error)(nil); errors.As(err, &e) && e.Code == wire.Conflict {
		return fail(exitRefused, "%s: %s", c.path, e.Msg)
	}
	if err != nil {
		return refused(c, err)
	}
	if c.json {
		v.Schema, v.Printed, v.Waits = "posagent.sale.print/1", waits == "", waits
		return printJSON(c.out, v)
	}
	if waits != "" {
		fmt.Fprintf(c.out, "the copy of %s waits for the printer: %s\n", of, waits)
		return nil
	}
	fmt.Fprintf(c.out, "the copy of %s is printed\n", of)
	return nil
}
