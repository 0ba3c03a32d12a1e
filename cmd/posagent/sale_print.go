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
	"posagent/ecr/receipt"
	"posagent/schemes/wire"
	"posagent/store"
)

type printOptions struct{ copy string }

// printedCopy is what became of a copy (posagent.sale.print/1).
type printedCopy struct {
	Schema  string       `json:"schema"`
	Sale    wire.Key     `json:"sale"`
	Copy    receipt.Copy `json:"copy"`
	Printed bool         `json:"printed"`
	Waits   string       `json:"waits,omitempty"` // why it is not on paper yet
}

func printCommand() command {
	return command{
		name: "print", args: "SALE", short: "print a receipt again, marked as a copy",
		long: "SALE is a sale's id or reference, a beginning or an end of it, or a receipt number of up to four digits: the newest sale that\n" +
			"was given it. The terminal must be running and have a printer ([printer] device). A copy that cannot be printed now waits.",
		json:     []string{"posagent.sale.print/1"},
		examples: []string{"posagent sale print 17", "posagent sale print SALE --copy merchant"},
		flags: func(fs *flag.FlagSet) any {
			o := &printOptions{}
			fs.StringVar(&o.copy, "copy", string(receipt.Customer), "whose: customer or merchant")
			return o
		},
		run: salePrint,
	}
}

func salePrint(ctx context.Context, c *call) error {
	which := receipt.Copy(c.opts.(*printOptions).copy)
	switch {
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
		key, err = saleOrReceipt(r, c.args[0])
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
	if e := (*wire.Error)(nil); errors.As(err, &e) && e.Code == wire.Conflict {
		return fail(exitRefused, "%s: %s", c.path, e.Msg)
	}
	if err != nil {
		return refused(c, err)
	}
	if c.json {
		return printJSON(c.out, printedCopy{"posagent.sale.print/1", wire.Key(key), which, waits == "", waits})
	}
	if waits != "" {
		fmt.Fprintf(c.out, "the copy of sale %s waits for the printer: %s\n", key, waits)
		return nil
	}
	fmt.Fprintf(c.out, "the copy of sale %s is printed\n", key)
	return nil
}

// saleOrReceipt finds a sale by its receipt number, or as findSale does.
func saleOrReceipt(r store.Reader, name string) (string, error) {
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || len(name) > 4 {
		return findSale(r, name)
	}
	rows, err := journal.Sales(r, 10000)
	if err != nil {
		return "", err
	}
	for _, row := range rows { // the newest first
		if row.Receipt == n {
			return string(row.Key), nil
		}
	}
	return findSale(r, name)
}
