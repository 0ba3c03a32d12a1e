package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

func requestCell(key wire.Key) store.Cell {
	return store.Cell{Table: "checkout_sales", Key: string(key), Column: "request"}
}

// SealRequest puts the body of initialize into a row: a repetition under the same Key must be the
// same body.
func (j *Journal) SealRequest(tx store.Tx, r *Row, req aapay.Request) error {
	body, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	if r.request, err = j.db.Seal(tx, requestCell(r.Key), body); err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	return nil
}

// Request reads the body of initialize of a row.
func (j *Journal) Request(r store.Reader, row *Row) ([]byte, error) {
	return j.db.Unseal(r, requestCell(row.Key), row.request)
}

// Load reads what the dialogue of a line keeps; nil = nothing.
func (j *Journal) Load(ctx context.Context, line string) ([]byte, error) {
	var data []byte
	err := j.db.Read(ctx, func(r store.Reader) error {
		err := r.QueryRow(`SELECT data FROM checkout_registers WHERE line = ?`, line).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if sealed, ok := bytes.CutPrefix(data, []byte(sealedData)); ok && err == nil {
			data, err = j.db.Unseal(r, dataCell(line), sealed)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load register %s: %w", line, err)
	}
	return data, nil
}

// sealedData begins what was sealed of what a dialogue keeps: an id of its till in it reads like a card number. No dialogue begins
// what it keeps so.
const sealedData = "\x00sealed\x00"

func dataCell(line string) store.Cell {
	return store.Cell{Table: "checkout_registers", Key: line, Column: "data"}
}

// Save stores what the dialogue of a line keeps.
func (j *Journal) Save(ctx context.Context, line string, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	named := wire.MaskPANs(string(data)) != string(data)
	err := j.db.Write(ctx, func(tx store.Tx) error {
		kept := data
		if named {
			sealed, err := j.db.Seal(tx, dataCell(line), data)
			if err != nil {
				return err
			}
			kept = append([]byte(sealedData), sealed...)
		}
		_, err := tx.Exec(`INSERT INTO checkout_registers (line, data) VALUES (?, ?) ON CONFLICT (line) DO UPDATE SET data = excluded.data`, line, kept)
		return err
	})
	if err != nil {
		return fmt.Errorf("save register %s: %w", line, err)
	}
	return nil
}
