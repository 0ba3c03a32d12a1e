package reconcile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// MaxList is how many bytes a till's list has at most.
const MaxList = 64 << 20

// Row is one sale as the till has it.
type Row struct {
	Line     int // of the file, from 1: where the row begins
	Kind     ecr.Kind
	Amount   money.Minor // of Currency, never negative
	Currency string
	Paid     bool      // the till says that it was approved
	At       time.Time // zero = not said

	// What the till knows the sale by; all may be empty where At is set.
	ID          string   // under which the till asked for it
	Reference   string   // the terminal's reference, or the till's own of the purchase
	Receipt     int      // on the terminal's receipt; 0 = not said
	Transaction int64    // on the terminal's receipt; 0 = not said
	Sale        wire.Key // of the terminal's journal
}

// named says that the row has a name of a sale, besides its time.
func (r Row) named() bool {
	return r.ID != "" || r.Reference != "" || r.Receipt != 0 || r.Transaction != 0 || r.Sale != ""
}

// List is a till's list.
type List struct {
	Rows   []Row
	Unused []string // names of columns that are not understood, of a CSV file
}

// ListError is what is wrong with a list. Nothing of such a list is used.
type ListError struct {
	Line int // from 1; 0 = the file as a whole
	Msg  string
}

// Error implements error.
func (e *ListError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

func bad(line int, format string, args ...any) error {
	return &ListError{line, fmt.Sprintf(format, args...)}
}

// Read reads a till's list: JSON where it begins with [ or {, else CSV. currency is that of rows which name none. Times without a
// zone are those of zone. Errors: *ListError, or that of from.
func Read(from io.Reader, currency string, zone *time.Location) (List, error) {
	data, err := io.ReadAll(io.LimitReader(from, MaxList+1))
	if err != nil {
		return List{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch text := bytes.TrimSpace(data); {
	case len(data) > MaxList:
		return List{}, bad(0, "the list has more than %d MiB: divide it by days", MaxList>>20)
	case len(text) == 0:
		return List{}, bad(0, "the list is empty: a CSV list begins with the names of its columns")
	case !utf8.Valid(data):
		return List{}, bad(badUTF8(data), "not UTF-8: save the list as UTF-8")
	case text[0] == '[', text[0] == '{':
		return readJSON(data, currency, zone)
	}
	return readCSV(data, currency, zone)
}

// badUTF8 is the line of the first byte that is no UTF-8.
func badUTF8(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n < 2 {
			return line
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return line
}

// texts is a row as it is written: every value as a text, "" = absent.
type texts struct {
	Time, Type, Amount, Minor, Currency, Paid string
	ID, Reference, Receipt, Transaction, Sale string
}

// columns are the names of values, and where they stand.
func (t *texts) columns() map[string]*string {
	return map[string]*string{
		"time": &t.Time, "type": &t.Type, "amount": &t.Amount, "minor": &t.Minor, "currency": &t.Currency, "paid": &t.Paid,
		"id": &t.ID, "reference": &t.Reference, "receipt": &t.Receipt, "transaction": &t.Transaction, "sale": &t.Sale,
	}
}

// row reads the values of a row.
func (t texts) row(line int, currency string, zone *time.Location) (Row, error) {
	r := Row{Line: line, Currency: currency, ID: t.ID, Reference: t.Reference, Sale: wire.Key(strings.ToLower(t.Sale))}
	if t.Currency != "" {
		r.Currency = strings.ToUpper(t.Currency)
	}
	cur, ok := money.Lookup(r.Currency)
	if !ok {
		return r, bad(line, "currency %q is no code like EUR", r.Currency)
	}
	var err error
	if r.Kind, err = kindOf(line, t.Type); err != nil {
		return r, err
	}
	if r.Amount, err = amountOf(line, t, cur); err != nil {
		return r, err
	}
	if r.Paid, err = paidOf(line, t.Paid); err != nil {
		return r, err
	}
	if r.At, err = timeOf(line, t.Time, zone); err != nil {
		return r, err
	}
	if t.Receipt != "" {
		if r.Receipt, err = strconv.Atoi(t.Receipt); err != nil || r.Receipt < 1 {
			return r, bad(line, "receipt %q is no receipt number such as 17", t.Receipt)
		}
	}
	if t.Transaction != "" {
		if r.Transaction, err = strconv.ParseInt(t.Transaction, 10, 64); err != nil || r.Transaction < 1 {
			return r, bad(line, "transaction %q is no transaction number such as 4711", t.Transaction)
		}
	}
	if !r.named() && r.At.IsZero() {
		return r, bad(line, "nothing says which sale it is: give one of id, reference, receipt, transaction, sale, or its time")
	}
	return r, nil
}

func kindOf(line int, text string) (ecr.Kind, error) {
	switch strings.ToLower(text) {
	case "", "payment", "sale", "purchase":
		return ecr.Payment, nil
	case "refund":
		return ecr.Refund, nil
	case "reversal", "void":
		return ecr.Reversal, nil
	}
	return "", bad(line, "type %q is none of payment, refund, reversal", text)
}

func amountOf(line int, t texts, cur money.Currency) (money.Minor, error) {
	if (t.Amount == "") == (t.Minor == "") {
		return 0, bad(line, "want one of amount (such as 12.50) and minor (whole minor units, such as 1250)")
	}
	if t.Minor != "" {
		n, err := strconv.ParseInt(t.Minor, 10, 64)
		if err != nil || n < 0 {
			return 0, bad(line, "minor %q is no whole number of minor units such as 1250", t.Minor)
		}
		return money.Minor(n), nil
	}
	amount, err := money.Parse(t.Amount, cur)
	switch {
	case err == nil && amount >= 0:
		return amount, nil
	case strings.Contains(t.Amount, ","):
		return 0, bad(line, "amount %q has a comma: want a decimal point and no other sign, such as 1250.00", t.Amount)
	case errors.Is(err, money.ErrInexact):
		return 0, bad(line, "amount %q has more decimals than %s", t.Amount, cur.Alpha)
	case err == nil:
		return 0, bad(line, "amount %q is negative: what was given back is of type refund or reversal", t.Amount)
	}
	return 0, bad(line, "amount %q is no amount such as 12.50", t.Amount)
}

func paidOf(line int, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "yes", "true", "1", "paid", "approved":
		return true, nil
	case "no", "false", "0", "declined", "aborted", "failed", "unknown":
		return false, nil
	}
	return false, bad(line, "paid %q is neither yes (true, 1, paid, approved) nor no (false, 0, declined, aborted, failed, unknown)", text)
}

func timeOf(line int, text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := ParseTime(text, zone)
	if err != nil {
		err = bad(line, "time %v", err)
	}
	return at, err
}

// ParseTime reads a time of ISO 8601 with or without seconds and zone. One without a zone is of zone. Its error names the text.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	iso := strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02T15:04Z07:00"} {
		if at, err := time.ParseInLocation(layout, iso, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not written as 2026-11-26T14:30:05, with or without a zone such as Z or +01:00", text)
}
