package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Row is a stored sale.
type Row struct {
	ID            int64
	Key           wire.Key
	Kind          ecr.Kind
	Line          string
	Sequence      string // the register's own id, "" = none
	State         checkout.State
	Amount        money.Minor
	Currency      string
	Method        methods.Definition // as it was when the sale was accepted
	Reference     string             // terminalReference
	Original      wire.Key           // of a refund or reversal
	Asked         string             // how the register named that original
	OriginalTrace int
	Debited       money.Minor // what refunds and reversals have taken of it, or are taking
	Reversed      bool        // a full reversal is among them
	Receipt       int         // 0 until approved
	Trace         int
	Batch         int // in which it began; of its receipt once approved
	Told          string
	Boot          string
	CreatedMS     int64 // unix ms
	DecidedMS     int64 // unix ms; 0 until decided
	UndoKey       wire.Key
	Resumes       int
	Quarantined   bool   // the row does not verify, or was set aside: shown, never acted upon
	Aside         string // why it was set aside; "" = it was not
	Closed        bool   // it was, and a person has decided that it has ended

	request []byte // sealed aapay.Request
	altered bool   // the row does not verify
}

// ToldInProgress is a word of Row.Told; the others are the deliveries of package ecr.
const ToldInProgress = "in_progress"

// ErrUnknown is the answer to an id that names no sale.
var ErrUnknown = errors.New("no such sale")

// ErrQuarantined is the answer to a sale whose row does not verify.
var ErrQuarantined = errors.New("sale is quarantined")

// A row of checkout_requests belongs to each sale: the method and the sealed request, which hardly
// ever change, are as long as all the rest, which every state rewrites. The sale's MAC covers both.
const (
	saleTables = `checkout_sales LEFT JOIN checkout_requests USING (id) LEFT JOIN checkout_aside ON checkout_aside.sale = checkout_sales.key`
	active     = `active = 1 AND COALESCE(closed_ms, 0) = 0`
)

var (
	ownRows  = store.NewTable("checkout_sales", (*line).own)
	saleRows = store.NewTable(saleTables, (*line).fields)
	// saveOwn stores what may change of a sale, but for the columns of indexes.
	saveOwn     = ownRows.Update("phase", "state", "amount", "debited", "reversed", "trace", "told", "boot", "decided_ms", "resumes", "mac")
	saleColumns = saleRows.Columns()
)

// Conditions over a partial index have to say what the index says of itself: SQLite does not know
// that a parameter is not empty, and would read every sale there ever was.
const (
	bySequence    = `line = ? AND sequence = ? AND sequence != ''`
	byReceipt     = `batch = ? AND receipt = ? AND receipt != 0`
	byTransaction = `transaction_id = ? AND transaction_id != 0`
	byUndo        = `undo_key = ? AND undo_key != ''`
	confirmedIn   = `batch = ? AND phase = ? AND receipt != 0` // what is confirmed has a receipt
)

// stored is a row as it lies in the table.
type stored struct {
	phase         string
	active        int64
	state, method []byte
	transaction   int64
	reversed      int64
	mac           []byte
}

// line is a sale with all that its tables hold of it.
type line struct {
	Row
	stored
	closed int64
}

// own are the columns of checkout_sales.
func (l *line) own() store.Fields {
	return store.Fields{"id", &l.ID, "key", &l.Key, "kind", &l.Kind, "line", &l.Line, "sequence", &l.Sequence, "phase", &l.phase, "active", &l.active,
		"state", &l.state, "amount", &l.Amount, "currency", &l.Currency, "reference", &l.Reference, "transaction_id", &l.transaction,
		"original", &l.Original, "asked", &l.Asked, "original_trace", &l.OriginalTrace, "debited", &l.Debited, "reversed", &l.reversed,
		"receipt", &l.Receipt, "trace", &l.Trace, "batch", &l.Batch, "told", &l.Told, "boot", &l.Boot, "created_ms", &l.CreatedMS,
		"decided_ms", &l.DecidedMS, "undo_key", &l.UndoKey, "resumes", &l.Resumes, "mac", &l.mac}
}

// fields are the columns of all its tables.
func (l *line) fields() store.Fields {
	return append(l.own(), "method", &l.method, "request", &l.request, "COALESCE(why, '')", &l.Aside, "COALESCE(closed_ms, 0)", &l.closed)
}

type scanner interface{ Scan(dest ...any) error }

// macOf authenticates everything that decides or is shown about money.
func macOf(db store.DB, r *Row, s stored) []byte {
	return db.MAC("checkout_sales", string(r.Key), r.ID, string(r.Kind), r.Line, r.Sequence, s.phase, s.active, s.state, int64(r.Amount),
		r.Currency, s.method, r.Reference, s.transaction, string(r.Original), r.Asked, r.OriginalTrace, int64(r.Debited), s.reversed, r.Receipt, r.Trace,
		r.Batch, r.Told, r.Boot, r.CreatedMS, r.DecidedMS, string(r.UndoKey), r.request, r.Resumes)
}

// scan reads a row; beside an error one of nothing.
func scan(db store.DB, from scanner) (*Row, error) {
	var l line
	err := saleRows.Scan(from, &l)
	if errors.Is(err, sql.ErrNoRows) {
		return &Row{}, ErrUnknown
	}
	if err != nil {
		return &Row{}, fmt.Errorf("read sale: %w", store.Unreadable(err))
	}
	r, s := l.Row, l.stored
	r.Reversed = s.reversed != 0
	bad := json.Unmarshal(s.state, &r.State) != nil || json.Unmarshal(s.method, &r.Method) != nil ||
		string(r.State.Phase) != s.phase || !checkout.Known(r.State.Phase)
	if db != nil {
		bad = bad || !bytes.Equal(s.mac, macOf(db, &r, s))
	}
	r.altered, r.Closed = bad, l.closed != 0
	r.Quarantined = bad || r.Aside != ""
	return &r, nil
}

func (r *Row) pack(db store.DB) (stored, error) {
	var s stored
	var err error
	if s.state, err = json.Marshal(r.State); err != nil {
		return s, fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	if s.method, err = json.Marshal(r.Method); err != nil {
		return s, fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	s.phase, s.transaction = string(r.State.Phase), r.State.TransactionID
	if checkout.Active(r.State) {
		s.active = 1
	}
	if r.Reversed {
		s.reversed = 1
	}
	s.mac = macOf(db, r, s)
	return s, nil
}

// Insert stores a sale that has just begun.
func (j *Journal) Insert(tx store.Tx, r *Row) error {
	if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM checkout_sales), 0), ?) + 1`, j.opt.LastSale).Scan(&r.ID); err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	s, err := r.pack(j.db)
	if err != nil {
		return err
	}
	err = ownRows.Insert(tx, &line{Row: *r, stored: s})
	if err == nil {
		_, err = tx.Exec(`INSERT INTO checkout_requests (id, method, request) VALUES (?,?,?)`, r.ID, s.method, r.request)
	}
	if err == nil && j.opt.Record != nil {
		err = j.opt.Record(tx, "", &Row{}, r)
	}
	if err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	return nil
}

// Update writes what a sale has become. A statement that names a column of an index writes the
// index's page whether or not the value is another one, so those have statements of their own,
// which find nothing where nothing changed.
func (j *Journal) Update(tx store.Tx, r *Row) error {
	s, err := r.pack(j.db)
	if err != nil {
		return err
	}
	if err := saveOwn(tx, &line{Row: *r, stored: s}); err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	undo := string(r.UndoKey)
	for _, one := range []struct {
		query string
		args  []any
	}{
		{`UPDATE checkout_sales SET active = ? WHERE id = ? AND active != ?`, []any{s.active, r.ID, s.active}},
		{`UPDATE checkout_sales SET transaction_id = ? WHERE id = ? AND transaction_id != ?`, []any{s.transaction, r.ID, s.transaction}},
		{`UPDATE checkout_sales SET receipt = ?, batch = ? WHERE id = ? AND (receipt != ? OR batch != ?)`, []any{r.Receipt, r.Batch, r.ID, r.Receipt, r.Batch}},
		{`UPDATE checkout_sales SET undo_key = ? WHERE id = ? AND undo_key != ?`, []any{undo, r.ID, undo}},
		{`UPDATE checkout_requests SET method = ?, request = ? WHERE id = ? AND (method IS NOT ? OR request IS NOT ?)`, []any{s.method, r.request, r.ID, s.method, r.request}},
	} {
		if _, err := tx.Exec(one.query, one.args...); err != nil {
			return fmt.Errorf("store sale %s: %w", r.Key, err)
		}
	}
	return nil
}

// one reads the sale a condition names; ErrUnknown, ErrQuarantined.
func (j *Journal) one(r store.Reader, where string, args ...any) (*Row, error) {
	row, err := scan(j.db, r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE `+where, args...))
	if err == nil && row.Quarantined {
		err = fmt.Errorf("sale %s: %w", row.Key, ErrQuarantined)
	}
	return row, err
}

// ByKey reads a sale. It returns ErrUnknown and ErrQuarantined.
func (j *Journal) ByKey(r store.Reader, key wire.Key) (*Row, error) {
	return j.one(r, `key = ?`, string(key))
}

// many reads the sales a condition names, quarantined ones too. Without db it verifies them where r
// comes from a store with a key.
func many(db store.DB, r store.Reader, where string, args ...any) ([]*Row, error) {
	if db == nil {
		db = store.Keyed(r)
	}
	rows, err := r.Query(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list sales: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []*Row
	for rows.Next() {
		row, err := scan(db, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sales: %w", err)
	}
	return out, nil
}

// Active reads the sales something can still happen to.
func (j *Journal) Active(r store.Reader) ([]*Row, error) {
	return j.many(r, active+` ORDER BY id`)
}

// many is the same of the journal's own store.
func (j *Journal) many(r store.Reader, where string, args ...any) ([]*Row, error) {
	return many(j.db, r, where, args...)
}

// Sale reads one sale outside a transaction. It returns ErrUnknown, ErrQuarantined, and errors of
// the store.
func (j *Journal) Sale(ctx context.Context, key wire.Key) (row *Row, err error) {
	err = j.db.Read(ctx, func(r store.Reader) error {
		row, err = j.ByKey(r, key)
		return err
	})
	return row, err
}
