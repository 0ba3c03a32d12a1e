package agent

import (
	"context"
	"errors"

	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/wire"
	"posagent/store"
)

// receiptBytes returns what prints a receipt on paper 80 mm wide, for a printer that local software has.
func (a *Agent) receiptBytes(lines []receipt.Line) ([]byte, error) {
	p, err := printer.Named("80mm-42")
	if err != nil {
		return nil, err
	}
	return printer.Encode(p, printqueue.Document(lines, "", a.o.Drive.Sandbox))
}

// batchClosed adds the slip of an end of day in the commit that closes the batch.
func (a *Agent) batchClosed(tx store.Tx, batch int) error {
	if a.paper == nil {
		return nil
	}
	return a.paper.BatchClosed(tx, batch)
}

// reprinted notes that a person has asked for a copy of a receipt or slip.
func (a *Agent) reprinted(tx store.Tx, of, which string) error {
	return audit.Append(tx, a.o.Now(), audit.Deed{Deed: "sale.print", Subject: of, Detail: which})
}

// Reprint prints a copy of a sale's receipt for the customer or the merchant. waits is why it is not on paper yet; "" = it is. Errors:
// *wire.Error with wire.Conflict for a terminal without a printer and a sale that has not ended, wire.NotFound, wire.Invalid.
func (a *Agent) Reprint(ctx context.Context, key wire.Key, which receipt.Copy) (waits string, err error) {
	switch {
	case a.paper == nil:
		return "", errNoPrinter()
	case which != receipt.Customer && which != receipt.Merchant:
		return "", wire.Errorf(wire.Invalid, "print", "the copy %q is neither customer nor merchant", which)
	}
	printed, err := a.paper.Reprint(ctx, key, which)
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return "", wire.Errorf(wire.NotFound, "print", "no sale %q (posagent sale list shows them)", key)
	case errors.Is(err, journal.ErrQuarantined):
		return "", wire.Errorf(wire.Conflict, "print", "the sale was changed from outside or set aside, and is not printed: posagent sale show %s", key)
	case errors.Is(err, drive.ErrNotOver):
		return "", wire.Errorf(wire.Conflict, "print", "%v: wait for its end (posagent sale show %s)", err, key)
	}
	return a.stillWaits(printed, err)
}

// ReprintDay is Reprint of the slip of a closed batch.
func (a *Agent) ReprintDay(ctx context.Context, batch int) (waits string, err error) {
	if a.paper == nil {
		return "", errNoPrinter()
	}
	printed, err := a.paper.ReprintDay(ctx, batch)
	if errors.Is(err, journal.ErrUnknown) {
		return "", wire.Errorf(wire.NotFound, "print", "no end of day with the number %d", batch)
	}
	return a.stillWaits(printed, err)
}

// PrintTest is Reprint of the page on which each fault of the printer names the setting that mends it.
func (a *Agent) PrintTest(ctx context.Context) (waits string, err error) {
	if a.paper == nil {
		return "", errNoPrinter()
	}
	return a.stillWaits(a.paper.TestPrint(ctx))
}

// closeDay closes the open batch for a person, and returns its number: *wire.Error with wire.Conflict where
// a sale is not settled.
func (a *Agent) closeDay(ctx context.Context) (int, error) {
	totals, err := a.drive.Close(ctx)
	var no *ecr.Refusal
	if errors.As(err, &no) {
		return 0, wire.Errorf(wire.Conflict, "end-of-day", "%s", no.Text)
	}
	return totals.Batch, err
}

func errNoPrinter() error {
	return wire.Errorf(wire.Conflict, "print", "the terminal has no printer: set [printer] device, and start it again")
}

// stillWaits says why a copy is not on paper yet; "" = it is.
func (a *Agent) stillWaits(printed bool, err error) (waits string, _ error) {
	if err != nil || printed {
		return "", err
	}
	if waits = a.paper.State().Reason; waits == "" {
		waits = "others are printed before it"
	}
	return waits, nil
}

// Printer is how the printer stands; nil where the terminal has none.
func (a *Agent) Printer() *view.Printer {
	if a.paper == nil {
		return nil
	}
	s := a.paper.State()
	return &view.Printer{Waiting: s.Waiting, Oldest: s.Oldest, Reason: s.Reason, Remedy: s.Remedy, Since: s.Since, NearEnd: s.NearEnd, Blind: s.Blind, Behind: s.Behind}
}
