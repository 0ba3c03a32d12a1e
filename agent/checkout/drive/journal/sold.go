package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/store"
)

// SoldAs names the sale that a terminalReference is of ("receipt 7"), or a transactionId where
// byNumber says so; "" where it is of none. Rows are not verified: an altered one is a register's
// all the same.
func SoldAs(r store.Reader, id string, byNumber bool) (string, error) {
	row, err := scan(nil, r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, string(keyOf(id))))
	if err == nil && strings.EqualFold(row.Reference, strings.TrimSpace(id)) {
		return nameOf(row), nil
	}
	if err != nil && !errors.Is(err, ErrUnknown) {
		return "", err
	}
	n, bad := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	if !byNumber || bad != nil || n == 0 {
		return "", nil
	}
	rows, err := many(nil, r, byTransaction+` ORDER BY id DESC LIMIT 1`, n)
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
	s := strings.ToLower(strings.TrimSpace(reference))
	if len(s) != 32 {
		return ""
	}
	return wire.Key(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
}
