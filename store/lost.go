package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

const metaLost = "lost" // of store_meta: the last journal whose place this one took

// Lost is the journal whose place this one took. It may have done more than this one holds.
type Lost struct {
	Before
	Generation int64 `json:"generation"` // that began then
	AtMS       int64 `json:"at_ms"`      // when
	RunMS      int64 `json:"run_ms"`     // the terminal's running time then; 0 = not known
	// Ageless: nothing tells how old the keys are that this journal lacks, because one before it was lost whole, or had another secret.
	Ageless bool `json:"ageless,omitempty"`
}

// KeepLost keeps for good that this journal took the place of another, in the caller's commit. Only
// a later one replaces it.
func KeepLost(tx Tx, l Lost) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = tx.Exec(PutMeta, metaLost, text)
	}
	if err != nil {
		return fmt.Errorf("keep what was before: %w", err)
	}
	return nil
}

// LostIn returns what KeepLost has kept; ok is false where this journal took no other's place.
func LostIn(r Reader) (l Lost, ok bool, err error) {
	var text []byte
	err = r.QueryRow("SELECT value FROM store_meta WHERE name = ?", metaLost).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return l, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, false, fmt.Errorf("what was before: %w", err)
	}
	return l, true, nil
}
