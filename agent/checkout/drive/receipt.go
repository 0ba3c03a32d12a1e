package drive

import (
	"context"
	"errors"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// ErrNotOver is the error of a sale that no paper can speak of yet: it is not decided, or its
// register has not acknowledged the approval.
var ErrNotOver = errors.New("the sale has not ended, or its register has not acknowledged the approval")

// Printable says whether a paper may speak of a sale: it has ended, and nothing that the register
// does can change its end.
func Printable(r *journal.Row) bool {
	if r.State.Result == "" || r.Held() {
		return false
	}
	return r.State.Result != ecr.Approved || r.State.Phase == checkout.Confirmed || r.State.Phase == checkout.Done
}

// MerchantCopy says whether the method of a sale asks for a receipt for the merchant.
func MerchantCopy(r *journal.Row) bool { return perform.MerchantCopy(r) }

// Receipt returns the outcome of a sale as its paper says it. It fails with journal.ErrUnknown,
// journal.ErrQuarantined, ErrNotOver, and errors of the store.
func (d *Drive) Receipt(ctx context.Context, key wire.Key) (ecr.Outcome, error) {
	row, err := d.j.Sale(ctx, key)
	if err == nil && !Printable(row) {
		err = ErrNotOver
	}
	if err != nil {
		return ecr.Outcome{}, err
	}
	return d.p.Outcome(row, false), nil
}

// Report returns the totals of a closed batch. It fails with journal.ErrUnknown, and errors of the
// store.
func (d *Drive) Report(ctx context.Context, batch int) (t ecr.Totals, err error) {
	err = d.db.Read(ctx, func(r store.Reader) error {
		t, err = journal.Report(r, batch)
		return err
	})
	return t, err
}
