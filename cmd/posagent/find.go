package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// findSale finds a sale by its id, by its reference, or by the beginning or the end of either.
func findSale(r store.Reader, name string) (string, error) {
	if _, _, err := journal.Show(r, name); !errors.Is(err, journal.ErrUnknown) { // however old it is
		return name, err
	}
	rows, err := journal.SalesAndOpen(r, lookedThrough)
	if err != nil {
		return "", err
	}
	var found []string
	for _, row := range rows {
		id := string(row.Key)
		if name == id || name == row.Reference {
			return id, nil
		}
		for _, s := range []string{id, row.Reference} {
			if len(name) >= 4 && (strings.HasPrefix(s, name) || strings.HasSuffix(s, name)) {
				found = append(found, id)
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return "", journal.ErrUnknown
	case 1:
		return found[0], nil
	}
	return "", fail(exitUsage, "%q is the beginning or the end of %d sales: give more of it", name, len(found))
}

// saleNames says which names a verb takes that shows or prints one sale (saleNamed).
const saleNames = "SALE is a sale's id or reference, or the beginning or end of one; or a number of its receipt: that of the receipt (17, R17, or R3/17\n" +
	"with the batch), of the transaction (T4711) or the trace. Of several sales with one number it is the newest. Up to four digits are the\n" +
	"receipt's number first."

// receiptDigits is how long a receipt number is at most.
const receiptDigits = 4

// saleNamed finds a sale for a verb that only tells of it: by a number on its receipt, or as findSale does.
func saleNamed(r store.Reader, name string) (string, error) {
	rows, err := journal.SalesAndOpen(r, lookedThrough)
	if err != nil {
		return "", err
	}
	number := func(text string) int64 {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || strings.HasPrefix(text, "+") {
			return 0
		}
		return int64(n)
	}
	newest := func(is func(*journal.Row) bool) string {
		for _, row := range rows { // the newest first
			if is(row) {
				return string(row.Key)
			}
		}
		return ""
	}
	batch, receipt, inBatch := strings.Cut(strings.TrimPrefix(name, "R"), "/")
	if !inBatch {
		receipt = batch
	}
	found, n := "", number(receipt)
	if n > 0 && len(receipt) <= receiptDigits && (!inBatch || number(batch) > 0) {
		found = newest(func(row *journal.Row) bool {
			return int64(row.Receipt) == n && (!inBatch || int64(row.Batch) == number(batch))
		})
	}
	if n := number(name); found == "" && n > 0 {
		found = newest(func(row *journal.Row) bool { return int64(row.Trace) == n })
	}
	if n := number(strings.TrimPrefix(name, "T")); found == "" && n > 0 {
		found = newest(func(row *journal.Row) bool { return row.State.TransactionID == n })
	}
	if found != "" {
		return found, nil
	}
	return findSale(r, name)
}

// lookedThrough is how many sales, and how many operations, are looked at for a part of a name beside those
// that are open.
const lookedThrough = 10_000

// findOp finds an operation by its key, its local id, or the beginning or the end of its key.
func findOp(r store.Reader, name string) (wire.Key, error) {
	key, err := view.FindOperation(r, gateway.Find, wire.Caller{}, name)
	if !errors.Is(err, outbox.ErrUnknown) || len(name) < 4 {
		return key, err
	}
	list, err := outbox.LookAll(r, outbox.Filter{Limit: lookedThrough}) // the oldest first
	if err == nil && len(list) == lookedThrough {
		var open []outbox.Op
		open, err = outbox.LookAll(r, outbox.Filter{Open: true, After: list[len(list)-1].ID, Limit: math.MaxInt32})
		list = append(list, open...)
	}
	if err != nil {
		return "", err
	}
	n := 0
	for _, op := range list {
		if k := string(op.Key); strings.HasPrefix(k, name) || strings.HasSuffix(k, name) {
			key, n = op.Key, n+1
		}
	}
	switch n {
	case 0:
		return "", outbox.ErrUnknown
	case 1:
		return key, nil
	}
	return "", fail(exitUsage, "%q is the beginning or the end of %d operations: give more of it", name, n)
}
