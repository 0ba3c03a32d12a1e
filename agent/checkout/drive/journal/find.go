package journal

import (
	"errors"
	"fmt"
	"slices"

	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// ErrAmbiguousID is returned for a transactionId that two services have used.
var ErrAmbiguousID = errors.New("it names two payments")

// ErrFull says that the open batch has no receipt number left.
var ErrFull = errors.New("no receipt number is left")

// BySequence finds the newest sale of a line that has a register's own id, or was joined under it. It
// returns ErrUnknown and ErrQuarantined.
func (j *Journal) BySequence(r store.Reader, line, sequence string) (*Row, error) {
	return j.one(r, newestOf(bySequence), line, sequence)
}

// BySequencePrefix is BySequence for an id of which the beginning is known, up to a "/".
func (j *Journal) BySequencePrefix(r store.Reader, line, prefix string) (*Row, error) {
	return j.one(r, newestOf(byPrefix), line, prefix, behind(prefix))
}

// LastOf finds the sale that a line has asked for last: its newest, or an older one that it has asked for
// again since. It returns ErrUnknown and ErrQuarantined.
func (j *Journal) LastOf(r store.Reader, line string) (*Row, error) {
	return j.one(r, `checkout_sales.id = COALESCE((SELECT id FROM checkout_sales WHERE key = (SELECT sale FROM checkout_joined WHERE line = ?1 AND sequence = '')),
		(SELECT id FROM checkout_sales WHERE line = ?1 ORDER BY id DESC LIMIT 1))`, line)
}

// LastPaymentOf finds the payment of a line that was approved last, whatever has become of it. It
// returns ErrUnknown and ErrQuarantined.
func (j *Journal) LastPaymentOf(r store.Reader, line string) (*Row, error) {
	return j.one(r, `line = ? AND kind = ? AND receipt != 0 ORDER BY id DESC LIMIT 1`, line, string(ecr.Payment))
}

// InBatch finds the sale of a batch with a receipt number. It returns ErrUnknown and
// ErrQuarantined.
func (j *Journal) InBatch(r store.Reader, batch, receipt int) (*Row, error) {
	return j.one(r, byReceipt+` ORDER BY id DESC LIMIT 1`, batch, receipt)
}

// Newest finds the payment that was given a receipt number last, in whatever batch: numbers go on
// over the batches. It returns ErrUnknown and ErrQuarantined.
func (j *Journal) Newest(r store.Reader, receipt int) (*Row, error) {
	open, err := Batch(r)
	if err != nil {
		return &Row{}, err
	}
	return j.one(r, `id = (SELECT MAX(s.id) FROM (SELECT number FROM checkout_batches UNION SELECT ?) b
		CROSS JOIN checkout_sales s ON s.batch = b.number AND s.receipt = ? AND s.receipt != 0 AND s.kind = ?)`, open, receipt, string(ecr.Payment))
}

// ByTransactionID finds the payment with a transactionId: one of the books that the terminal uses,
// where there is one. It returns ErrUnknown, ErrQuarantined, and ErrAmbiguousID where two services
// have used the same number.
func (j *Journal) ByTransactionID(r store.Reader, id int64) (*Row, error) {
	rows, err := ofTransaction(j.db, r, id)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, ErrUnknown
	case len(rows) > 1 && (rows[0].Method.Name == gateway.MethodPaylink) != (rows[1].Method.Name == gateway.MethodPaylink):
		return nil, ErrAmbiguousID
	case rows[0].Quarantined:
		return rows[0], ErrQuarantined
	}
	return rows[0], nil
}

// ofTransaction lists the payments with a transactionId, the newest first: those of the books that the
// terminal uses, where there are any.
func ofTransaction(db store.DB, r store.Reader, id int64) ([]*Row, error) {
	rows, err := many(db, r, byTransaction+` AND kind = ? ORDER BY id DESC`, id, string(ecr.Payment))
	if err != nil {
		return nil, err
	}
	if mine, err := here(r, rows); err != nil || len(mine) > 0 {
		return mine, err
	}
	return rows, nil
}

// Untold lists the refunds and reversals of the open batch that have ended, and whose end no register
// has acknowledged, the newest first: one that was told "in progress" too, and quarantined ones.
func (j *Journal) Untold(r store.Reader) ([]*Row, error) { return untold(j.db, r) }

// Untold is the same of a store that no program runs on, without the quarantined ones.
func Untold(r store.Reader) ([]*Row, error) {
	rows, err := untold(nil, r)
	return slices.DeleteFunc(rows, func(row *Row) bool { return row.Quarantined }), err
}

// untold looks through refunds and reversals alone, which have an index of their own.
func untold(db store.DB, r store.Reader) ([]*Row, error) {
	open, err := Batch(r)
	if err != nil {
		return nil, err
	}
	return many(db, r, `checkout_sales.id IN (SELECT id FROM checkout_sales INDEXED BY checkout_sales_original
		WHERE original != '' AND active = 0 AND told != ? AND batch = ?) ORDER BY checkout_sales.id DESC`, string(ecr.Told), open)
}

// ReceiptBefore is the receipt number the line was given before a sale; 0 = none.
func ReceiptBefore(r store.Reader, row *Row) (int, error) {
	var n int
	err := r.QueryRow(`SELECT COALESCE((SELECT receipt FROM checkout_sales WHERE line = ? AND id < ? AND receipt != 0 ORDER BY id DESC LIMIT 1), 0)`,
		row.Line, row.ID).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("receipt before %s: %w", row.Key, err)
	}
	return n, nil
}

// NewRow is a row with what every sale has. It returns ErrFull when the batch has no receipt number
// left for it.
func (j *Journal) NewRow(r store.Reader, req ecr.Request, key wire.Key) (*Row, error) {
	receipts, err := ReceiptsOf(r)
	if err != nil {
		return nil, err
	}
	if receipts.Left == 0 {
		return nil, ErrFull
	}
	return &Row{
		Key: key, Kind: req.Kind, Line: req.Line, Sequence: req.Sequence, Amount: req.Amount, Currency: req.Currency,
		Reference: ReferenceOf(key), Batch: receipts.Batch, Boot: j.opt.BootID, CreatedMS: j.opt.Now().UnixMilli(),
	}, nil
}
