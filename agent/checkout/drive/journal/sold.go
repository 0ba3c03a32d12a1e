package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/schemes/wire"
	"posagent/store"
)

// namesSchema is the table of the names that a service has given a sale, beside those of its row: the
// ppref, and the transactions of its undo.
func namesSchema() store.Step {
	return store.Step{Name: "checkout/7 names", Open: true, SQL: `
CREATE TABLE checkout_names (
	name TEXT NOT NULL, -- in lower case
	sale TEXT NOT NULL, -- its key
	PRIMARY KEY (name, sale)
) STRICT, WITHOUT ROWID;
CREATE INDEX checkout_names_sale ON checkout_names (sale);
INSERT OR IGNORE INTO checkout_names SELECT LOWER(json_extract(text, '$.ppref')), key FROM
	(SELECT key, CAST(state AS TEXT) AS text FROM checkout_sales) WHERE CASE WHEN json_valid(text) THEN json_type(text, '$.ppref') END = 'text';`}
}

const byName = `key IN (SELECT sale FROM checkout_names WHERE name = ?)`

// renamed keeps the ppref that a sale has come by, and drops one that no status has shown: an answer
// that was another's gave it.
func renamed(tx store.Tx, was checkout.State, r *Row) error {
	if was.PPRef == r.State.PPRef {
		return nil
	}
	if was.PPRef != "" && !was.PPRefRead {
		if _, err := tx.Exec(`DELETE FROM checkout_names WHERE name = ? AND sale = ?`, folded(was.PPRef), string(r.Key)); err != nil {
			return fmt.Errorf("name of sale %s: %w", r.Key, err)
		}
	}
	return named(tx, r, r.State.PPRef)
}

// named keeps a name that a service has given a sale. The number of a payment link is no transaction's.
func named(tx store.Tx, r *Row, name string) error {
	if name = folded(name); name == "" || name == "0" {
		return nil
	}
	if _, err := tx.Exec(`INSERT OR IGNORE INTO checkout_names (name, sale) VALUES (?, ?)`, name, string(r.Key)); err != nil {
		return fmt.Errorf("name of sale %s: %w", r.Key, err)
	}
	return nil
}

// namedUndo keeps the transaction of a sale's undo, as a name of the sale and as one that no other undo or sale has.
func namedUndo(tx store.Tx, r *Row, transaction int64) error {
	if r.Method.Name == gateway.MethodPaylink || transaction == 0 {
		return nil
	}
	if err := named(tx, r, strconv.FormatInt(transaction, 10)); err != nil {
		return err
	}
	return named(tx, r, undoName(transaction))
}

// undoName is the name of a transaction that has undone a sale: a ppref may be a number, too.
func undoName(transaction int64) string { return "undo/" + strconv.FormatInt(transaction, 10) }

func folded(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

// SoldAs names the sale that a terminalReference is of ("receipt 7 of batch 2"), its own or that of
// its undo, or, where given says so, what the service has given it, and still stands where it gave
// that: a transactionId or a ppref. "" = it is of none. Rows are not verified: an altered one is a register's all the same.
func SoldAs(r store.Reader, id string, given bool) (string, error) {
	if key := keyOf(id); key != "" {
		row, err := scan(nil, r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, string(key)))
		if err == nil && strings.EqualFold(row.Reference, strings.TrimSpace(id)) {
			return nameOf(row), nil
		}
		if err != nil && !errors.Is(err, ErrUnknown) {
			return "", err
		}
		if name, err := oneOf(r, byUndo, string(key)); err != nil || name != "" {
			return name, err
		}
	}
	if !given {
		return "", nil
	}
	name := folded(id)
	if n, bad := strconv.ParseInt(name, 10, 64); bad == nil {
		if n == 0 {
			return "", nil
		}
		if sale, err := oneHere(r, byTransaction, n); err != nil || sale != "" {
			return sale, err
		}
		name = strconv.FormatInt(n, 10)
	}
	return oneHere(r, byName, name)
}

// oneOf names the newest sale that a condition names; "" = there is none.
func oneOf(r store.Reader, where string, arg any) (string, error) {
	return first(many(nil, r, where+` ORDER BY id DESC LIMIT 1`, arg))
}

// oneHere is oneOf among the sales whose service stands where they were made.
func oneHere(r store.Reader, where string, arg any) (string, error) {
	rows, err := many(nil, r, where+` ORDER BY id DESC`, arg)
	if err != nil {
		return "", err
	}
	return first(here(r, rows))
}

func first(rows []*Row, err error) (string, error) {
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return nameOf(rows[0]), nil
}

func nameOf(r *Row) string {
	if r.Receipt == 0 {
		return "sale " + string(r.Key)
	}
	return fmt.Sprintf("receipt %d of batch %d", r.Receipt, r.Batch)
}

// keyOf is the Key that a terminalReference was made of (ReferenceOf).
func keyOf(reference string) wire.Key {
	s := folded(reference)
	if len(s) != 32 {
		return ""
	}
	return wire.Key(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
}
