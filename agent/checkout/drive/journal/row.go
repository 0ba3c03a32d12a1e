package journal

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
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
	Reuse         int64  // for Insert: how often the id of its register was rightly used again
	Quarantined   bool   // the row does not verify: shown, never acted upon
	Aside         string // why it was set aside; "" = it was not
	Closed        bool   // it was, and a person has decided that it has ended
	Waits         bool   // its operation is held in the outbox, as far as SeeOperation has looked

	request []byte // sealed aapay.Request
	altered bool   // the row does not verify
}

// TraceID is the trace that all requests about the sale belong to: its till's, else that of its Key.
func (r *Row) TraceID() wire.Trace {
	if t := wire.Trace(r.State.Till.Trace); t.Valid() {
		return t
	}
	return wire.TraceOfKey(r.Key)
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
	r.judge()
	return &r, nil
}

// judge sets Quarantined. A row that an earlier program set aside is as good as one that is altered,
// until a start has made it one that is held.
func (r *Row) judge() { r.Quarantined = r.altered || r.Aside != "" && r.State.Phase != checkout.Held }

// Good says whether a sale counts: money moved as its register asked. One that a person has closed
// counts as it stood.
func (r *Row) Good() bool {
	return checkout.Good(r.State) || r.Closed && !r.altered && r.State.Phase == checkout.Held && r.State.Result == ecr.Approved
}

// Held says that a person has to look at a sale before anything can be told of it.
func (r *Row) Held() bool { return r.Quarantined || r.State.Phase == checkout.Held || r.Waits }

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

// ReferenceOf is the terminalReference of an operation: as random as its Key, and never a receipt
// or trace number.
func ReferenceOf(key wire.Key) string { return strings.ReplaceAll(string(key), "-", "") }

// Amount is the amount as people read it.
func Amount(amount money.Minor, currency string) string {
	c, ok := money.Lookup(currency)
	if !ok {
		return fmt.Sprintf("%d %s", amount, currency)
	}
	return money.Format(amount, c)
}

// Undone says of a sale that it was approved first: the customer had paid, and the approval was
// taken back. Receipt numbers are given to approvals only.
func (r *Row) Undone() bool { return r.Receipt != 0 && r.State.Result == ecr.Aborted }

// Title names a sale for people.
func (r *Row) Title() string {
	s := fmt.Sprintf("%s of %s", r.Kind, Amount(r.Amount, r.Currency))
	if r.Receipt != 0 {
		s += fmt.Sprintf(", receipt %d", r.Receipt)
	}
	return s
}

// UntoldEnd is the end of a refund or reversal that its register has not acknowledged, for people.
func (r *Row) UntoldEnd() string { return reportLine(r.Title(), r.unheard()) }

func (r *Row) unheard() string {
	end := "not done (" + orNothing(r.State.Text) + ")"
	if r.State.Result == ecr.Approved {
		end = "done"
	}
	return fmt.Sprintf("%s, but the register %s has not heard that", end, r.Line)
}

// Hundredths converts the amount at the boundary of the service, whatever the currency.
func (r *Row) Hundredths() (*aapay.Amount, error) {
	c, ok := money.Lookup(r.Currency)
	if !ok {
		return nil, fmt.Errorf("currency %s is not known", r.Currency)
	}
	n, err := money.ToHundredths(r.Amount, c)
	if err != nil {
		return nil, fmt.Errorf("amount of sale %s: %w", r.Key, err)
	}
	return &aapay.Amount{CurrencyCode: r.Currency, NominalAmount: n, TotalAmount: n}, nil
}
