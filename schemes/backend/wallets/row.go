package wallets

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "aapay"

// txn is one transaction as stored.
type txn struct {
	life
	ID          int64
	PPRef       string
	Type        aapay.Type
	Method      string
	Merchant    string
	TerminalRef string
	OriginalRef string
	OriginalID  int64 // 0 = none
	Currency    string
	Hundredths  int64
	Minor       money.Minor
	Batch       int64
	QR          bool
	Payload     string // of the QR code
	Request     []byte // sealed JSON
	Created     int64
	Scenario    string
}

func (t *txn) key() string { return strconv.FormatInt(t.ID, 10) }

func (t *txn) cell() store.Cell {
	return store.Cell{Table: "wallets_txn", Key: t.key(), Column: "request"}
}

const columns = `id, ppref, type, method, merchant, terminal_ref, original_ref, original_id, currency, hundredths, minor,
	batch, qr, payload, request, state, account, created_ms, since_ms, stale_ms, timeout_ms, finalize_ms, scenario, script,
	base_ms, pos`

func scan(row *sql.Row) (*txn, error) {
	var t txn
	var typ, state, account, script string
	var minor, qr, pos int64
	var terminal sql.NullString
	var original sql.NullInt64
	err := row.Scan(&t.ID, &t.PPRef, &typ, &t.Method, &t.Merchant, &terminal, &t.OriginalRef, &original, &t.Currency,
		&t.Hundredths, &minor, &t.Batch, &qr, &t.Payload, &t.Request, &state, &account, &t.Created, &t.Since, &t.Stale,
		&t.TimeOut, &t.Final, &t.Scenario, &script, &t.Base, &pos)
	if err != nil {
		return nil, err
	}
	t.Type, t.State, t.Account = aapay.Type(typ), aapay.State(state), aapay.AccountState(account)
	t.Minor, t.QR, t.Pos = money.Minor(minor), qr != 0, int(pos)
	t.TerminalRef, t.OriginalID = terminal.String, original.Int64
	if err := json.Unmarshal([]byte(script), &t.Script); err != nil {
		return nil, fmt.Errorf("script of %d: %w", t.ID, err)
	}
	return &t, nil
}

// one reads the transaction where column = value, or nil.
func one(r store.Reader, where string, value any) (*txn, error) {
	t, err := scan(r.QueryRow(`SELECT `+columns+` FROM wallets_txn WHERE `+where, value))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read transaction: %w", err)
	}
	return t, nil
}

const (
	byID       = `id = ?`
	byPPRef    = `ppref = ?`
	byTerminal = `terminal_ref = ?`
)

// number reads a transactionId as text, or 0.
func number(s string) int64 {
	if s == "" || len(s) > 19 || strings.TrimLeft(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// find looks a transaction up by the names given, in their order.
func find(r store.Reader, ref string, ways ...string) (*txn, error) {
	for _, way := range ways {
		value := any(ref)
		if way == byID {
			n := number(ref)
			if n == 0 {
				continue
			}
			value = n
		}
		t, err := one(r, way, value)
		if t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

func (t *txn) next() any {
	if c, ok := due(t.life); ok {
		return c.At
	}
	return nil
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// insert stores a new transaction and gives it its id and ppref.
func (w *Wallets) insert(tx store.Tx, t *txn, request []byte) error {
	if _, err := tx.Exec(`UPDATE wallets_seq SET last = last + 1 WHERE name = 'txn'`); err != nil {
		return fmt.Errorf("number a transaction: %w", err)
	}
	if err := tx.QueryRow(`SELECT last FROM wallets_seq WHERE name = 'txn'`).Scan(&t.ID); err != nil {
		return fmt.Errorf("number a transaction: %w", err)
	}
	t.PPRef = newRef()
	var err error
	if t.Payload, err = w.payload(t); err != nil {
		return err
	}
	if t.Request, err = w.db.Seal(tx, t.cell(), request); err != nil {
		return fmt.Errorf("seal request of %d: %w", t.ID, err)
	}
	script, err := json.Marshal(t.Script)
	if err != nil {
		return fmt.Errorf("script of %d: %w", t.ID, err)
	}
	var original any
	if t.OriginalID != 0 {
		original = t.OriginalID
	}
	_, err = tx.Exec(`INSERT INTO wallets_txn (`+columns+`, next_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.PPRef, string(t.Type), t.Method, t.Merchant, nullable(t.TerminalRef), t.OriginalRef, original, t.Currency,
		t.Hundredths, int64(t.Minor), t.Batch, flag(t.QR), t.Payload, t.Request, string(t.State), string(t.Account), t.Created,
		t.Since, t.Stale, t.TimeOut, t.Final, t.Scenario, string(script), t.Base, int64(t.Pos), t.next())
	if err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	return nil
}

// save stores what may change of a transaction.
func save(tx store.Tx, t *txn) error {
	script, err := json.Marshal(t.Script)
	if err != nil {
		return fmt.Errorf("script of %d: %w", t.ID, err)
	}
	_, err = tx.Exec(`UPDATE wallets_txn SET state = ?, account = ?, since_ms = ?, script = ?, base_ms = ?, pos = ?, next_ms = ?
		WHERE id = ?`, string(t.State), string(t.Account), t.Since, string(script), t.Base, int64(t.Pos), t.next(), t.ID)
	if err != nil {
		return fmt.Errorf("store transaction %d: %w", t.ID, err)
	}
	return nil
}

// once is true the first time a mark is set.
func once(tx store.Tx, mark string, nowMS int64) (bool, error) {
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_once WHERE mark = ?`, mark).Scan(&n); err != nil {
		return false, fmt.Errorf("read mark: %w", err)
	}
	if n > 0 {
		return false, nil
	}
	if _, err := tx.Exec(`INSERT INTO wallets_once (mark, at_ms) VALUES (?, ?)`, mark, nowMS); err != nil {
		return false, fmt.Errorf("set mark: %w", err)
	}
	return true, nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// newRef makes a ppref: unguessable, since it opens the wallet page, saying what it is, and 25 characters long, since an
// EMV reference label holds no more.
func newRef() string {
	raw := make([]byte, 11)
	_, _ = rand.Read(raw) // never fails
	return fmt.Sprintf("SBX%022X", raw)
}

// row gives the scenario row of a transaction.
func (t *txn) row() scenario.Row { return scenario.Named(t.Scenario) }

// Transaction is one line of the books' report.
type Transaction struct {
	ID, Reference, Original, Type, Currency, State, AccountState string
	Amount                                                       money.Minor
}

// Transactions reads them all, oldest first.
func Transactions(r store.Reader) ([]Transaction, error) {
	rows, err := r.Query(`SELECT id, terminal_ref, original_id, type, minor, currency, state, account FROM wallets_txn ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	defer rows.Close()
	var out []Transaction
	for rows.Next() {
		var t Transaction
		var id, minor int64
		var ref sql.NullString
		var original sql.NullInt64
		if err := rows.Scan(&id, &ref, &original, &t.Type, &minor, &t.Currency, &t.State, &t.AccountState); err != nil {
			return nil, fmt.Errorf("read transactions: %w", err)
		}
		t.ID, t.Reference, t.Amount = strconv.FormatInt(id, 10), ref.String, money.Minor(minor)
		if original.Valid {
			t.Original = strconv.FormatInt(original.Int64, 10)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}
