package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"strings"
)

// openStep begins the record of a step that leaves the journal open to programs that do not know it.
const openStep = "open "

// Record is what an engine keeps of an applied step beside its name: the digest of its text, marked
// where it is open.
func (st Step) Record() string {
	sum := sha256.Sum256([]byte(st.SQL))
	if st.Open {
		return openStep + hex.EncodeToString(sum[:])
	}
	return hex.EncodeToString(sum[:])
}

// SameText says that two records are of one text, whether it was open then or not.
func SameText(a, b string) bool {
	return strings.TrimPrefix(a, openStep) == strings.TrimPrefix(b, openStep)
}

// Applied reads the names of applied steps with their records, and closes rows.
func Applied(rows *sql.Rows) (map[string]string, error) {
	defer rows.Close()
	applied := make(map[string]string)
	for rows.Next() {
		var name, record string
		if err := rows.Scan(&name, &record); err != nil {
			return nil, err
		}
		applied[name] = record
	}
	return applied, rows.Err()
}

// Newer answers *NewerError where applied has a step that is not known and not open. Both map names
// of steps to their records.
func Newer(known, applied map[string]string) error {
	for name, record := range applied {
		if _, ok := known[name]; !ok && !strings.HasPrefix(record, openStep) {
			return &NewerError{Name: name, File: len(applied), Known: len(known)}
		}
	}
	return nil
}
