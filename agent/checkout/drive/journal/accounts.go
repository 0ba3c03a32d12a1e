package journal

import (
	"errors"
	"fmt"

	"posagent/agent/gateway"
	"posagent/store"
)

// accountsSchema: the sales whose service stands at other books now. The ids that it gave name
// nothing there, or another customer's payment (MONEY, laws III and IV). An older program need not
// know it.
func accountsSchema() store.Step {
	return store.Step{Name: "checkout/8 accounts", Open: true, SQL: `
CREATE TABLE checkout_accounts (
	service TEXT NOT NULL,
	first   INTEGER NOT NULL, -- number of the first sale
	last    INTEGER NOT NULL,
	place   TEXT NOT NULL,    -- where the service stood
	here    INTEGER NOT NULL, -- 1 = it stands there again
	PRIMARY KEY (service, first)
) STRICT;`}
}

// Leave notes, in the caller's commit, that the sales of a service so far were made at a place that
// the service has left.
func Leave(tx store.Tx, service, place string) error {
	_, err := tx.Exec(`INSERT INTO checkout_accounts (service, first, last, place, here)
		SELECT ?1, first, last, ?2, 0 FROM (SELECT COALESCE((SELECT MAX(last) FROM checkout_accounts WHERE service = ?1), 0) + 1 AS first,
			COALESCE((SELECT MAX(id) FROM checkout_sales), 0) AS last) WHERE first <= last`, service, place)
	if err == nil {
		_, err = tx.Exec(`UPDATE checkout_accounts SET here = 0 WHERE service = ?`, service)
	}
	if err != nil {
		return fmt.Errorf("sales at %s: %w", place, err)
	}
	return nil
}

// Return notes that a service stands at a place: the sales that were made there are its own again.
func Return(tx store.Tx, service, place string) error {
	if _, err := tx.Exec(`UPDATE checkout_accounts SET here = 1 WHERE service = ? AND place = ?`, service, place); err != nil {
		return fmt.Errorf("sales at %s: %w", place, err)
	}
	return nil
}

// Elsewhere is where the service of a sale stood, if it stands at other books now; else "".
func Elsewhere(r store.Reader, row *Row) (place string, err error) {
	service := gateway.Schemes
	if row.Method.Name == gateway.MethodPaylink {
		service = gateway.Paylinks
	}
	err = r.QueryRow(`SELECT COALESCE((SELECT place FROM checkout_accounts WHERE service = ? AND here = 0 AND ? BETWEEN first AND last), '')`, service, row.ID).Scan(&place)
	if err != nil {
		return "", fmt.Errorf("account of sale %s: %w", row.Key, err)
	}
	return place, nil
}

// here leaves out the sales whose service stands at other books now.
func here(r store.Reader, rows []*Row) (list []*Row, err error) {
	for _, row := range rows {
		place, err := Elsewhere(r, row)
		if err != nil {
			return nil, err
		}
		if place == "" {
			list = append(list, row)
		}
	}
	return list, nil
}

// SoldHere is SoldAs for a terminalReference, if the sale's service still stands where it was made.
func SoldHere(r store.Reader, reference string) (string, error) {
	row, err := scan(nil, r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, string(keyOf(reference))))
	if errors.Is(err, ErrUnknown) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if place, err := Elsewhere(r, row); err != nil || place != "" {
		return "", err
	}
	return nameOf(row), nil
}
