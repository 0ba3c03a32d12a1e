package store

import (
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// metaFloor begins the names of the floors in store_meta.
const metaFloor = "floor:"

// PutMeta stores a value under a name in store_meta, which every engine has.
const PutMeta = `INSERT INTO store_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// MetaMoved names the mark in store_meta of books that are being copied to another place, or were: they take no work any more.
const MetaMoved = "moved to"

// ErrMoved: the books were copied elsewhere, or are being copied: they are not opened for work.
var ErrMoved = errors.New("the books were moved")

// SetFloor notes in the caller's commit that rows of table with a number up to id may have been
// purged. It never falls. A delete from outside has no key to note it with.
func SetFloor(tx Tx, table string, id int64) error {
	db := Keyed(tx)
	if db == nil {
		return fmt.Errorf("floor of %s: %w", table, ErrNoWrapper)
	}
	was, err := FloorOf(tx, table)
	if err != nil || was >= id {
		return err
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(id))
	_, err = tx.Exec(PutMeta, metaFloor+table, append(value, db.MAC("store_floor", table, id)...))
	return err
}

// FloorOf returns the floor of table; 0 = nothing was purged. One that does not verify counts as
// none.
func FloorOf(r Reader, table string) (int64, error) {
	var value []byte
	err := r.QueryRow("SELECT value FROM store_meta WHERE name = ?", metaFloor+table).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("floor of %s: %w", table, err)
	}
	db := Keyed(r)
	if db == nil || len(value) < 8 {
		return 0, nil
	}
	id := int64(binary.BigEndian.Uint64(value))
	if !hmac.Equal(value[8:], db.MAC("store_floor", table, id)) {
		return 0, nil
	}
	return id, nil
}
