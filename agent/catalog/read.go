package catalog

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/methods"
	"posagent/store"
)

// Stored is the list as it lies in the database, for showing: it is not verified.
type Stored struct {
	FetchedMS   int64 // unix ms; 0 = never
	None        bool  // the service said that the merchant has none
	Definitions []methods.Definition
}

// When is when the list was fetched, nil if never.
func (s Stored) When() *time.Time {
	if s.FetchedMS == 0 {
		return nil
	}
	t := time.UnixMilli(s.FetchedMS).UTC()
	return &t
}

// Read reads the stored list without a Catalog; the zero Stored when there is none.
func Read(r store.Reader) (Stored, error) {
	s := Stored{Definitions: []methods.Definition{}}
	var none int64
	var list []byte
	err := r.QueryRow(`SELECT fetched_ms, none, list FROM catalog_list WHERE id = 1`).Scan(&s.FetchedMS, &none, &list)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read method list: %w", err)
	}
	s.None = none != 0
	if err := json.Unmarshal(list, &s.Definitions); err != nil {
		return s, fmt.Errorf("read method list: %w", err)
	}
	return s, nil
}

// Forget drops the stored list: it is another backend's.
func Forget(tx store.Tx) error {
	if _, err := tx.Exec(`DELETE FROM catalog_list`); err != nil {
		return fmt.Errorf("forget method list: %w", err)
	}
	return nil
}
