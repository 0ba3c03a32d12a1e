package paylink

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the table of this package.
func Schema() []store.Step {
	return []store.Step{{Name: "paylink/1 entries", SQL: `
CREATE TABLE paylink_entries (
	reference TEXT PRIMARY KEY, -- terminalReference
	key       TEXT NOT NULL,    -- '' on the plain route, and where only the undo of a payment came
	link      INTEGER NOT NULL, -- of a payment; 0 = none
	original  TEXT NOT NULL,    -- of an undo: the payment's reference
	data      BLOB NOT NULL,    -- JSON
	mac       BLOB NOT NULL
) STRICT;
CREATE INDEX paylink_entries_key ON paylink_entries (key) WHERE key != '';
CREATE INDEX paylink_entries_link ON paylink_entries (link) WHERE link != 0;
CREATE INDEX paylink_entries_original ON paylink_entries (original) WHERE original != '';`}}
}

// entry is one transaction as the terminal journals it. Amounts are hundredths.
type entry struct {
	Reference string   `json:"-"`
	Key       wire.Key `json:"-"`
	Link      int64    `json:"-"`
	Original  string   `json:"-"`

	Type      aapay.Type
	Method    string
	Body      []byte // MAC of what was asked; nil = only its undo came
	Amount    int64
	Currency  string
	CreatedMS int64
	End       aapay.State        `json:",omitempty"` // the final word; "" = not ended
	Account   aapay.AccountState `json:",omitempty"` // with End

	// Of a payment.
	Ask      *paylinks.CreateRequest `json:",omitempty"`
	Instance string                  `json:",omitempty"` // the account the link belongs to
	Hash     string                  `json:",omitempty"`
	URL      string                  `json:",omitempty"`
	Made     int64                   `json:",omitempty"` // unix s by the service's clock, 0 = not said
	Undoing  bool                    `json:",omitempty"` // a reversal of it was accepted

	// Of an undo: the snapshot before the first send.
	Txn    int64  `json:",omitempty"` // the transaction that is refunded; 0 = nothing was sent
	Word   string `json:",omitempty"` // its status then
	Before int64  `json:",omitempty"` // what had been refunded then; -1 = not said
}

// intended says that a link was asked for, or is about to be, and is not known yet.
func (e *entry) intended() bool {
	return e.Type == aapay.Payment && e.Body != nil && e.Link == 0 && e.End == ""
}

// macOf authenticates a row.
func macOf(db store.DB, e *entry, data []byte) []byte {
	return db.MAC("paylink_entries", e.Reference, string(e.Key), e.Link, e.Original, data)
}

const (
	byReference = `reference = ?`
	byKey       = `key = ? AND key != ''`
	byLink      = `link = ? AND link != 0`
	byOriginal  = `original = ? AND original != ''`
)

// load reads the entries a condition names. wire.Internal when one was changed behind our back.
func (s *Service) load(r store.Reader, where string, value any) ([]entry, error) {
	rows, err := r.Query(`SELECT reference, key, link, original, data, mac FROM paylink_entries WHERE `+where+` ORDER BY rowid`, value)
	if err != nil {
		return nil, fmt.Errorf("read payment-link entries: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []entry
	for rows.Next() {
		var e entry
		var key string
		var data, mac []byte
		if err := rows.Scan(&e.Reference, &key, &e.Link, &e.Original, &data, &mac); err != nil {
			return nil, fmt.Errorf("read payment-link entries: %w", err)
		}
		e.Key = wire.Key(key)
		if !bytes.Equal(mac, macOf(s.o.DB, &e, data)) || json.Unmarshal(data, &e) != nil {
			return nil, wire.Errorf(wire.Internal, op, "the entry of %s was changed from outside", e.Reference)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read payment-link entries: %w", err)
	}
	return out, nil
}

// one reads the first entry a condition names, nil when there is none.
func (s *Service) one(r store.Reader, where string, value any) (*entry, error) {
	list, err := s.load(r, where, value)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// find reads the entry a status id names: a reference, or a link's number.
func (s *Service) find(r store.Reader, id string) (*entry, error) {
	e, err := s.one(r, byReference, id)
	if n, bad := strconv.ParseInt(id, 10, 64); e == nil && err == nil && bad == nil && n > 0 {
		return s.one(r, byLink, n)
	}
	return e, err
}

// save writes an entry whole.
func (s *Service) save(tx store.Tx, e *entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("store payment-link entry: %w", err)
	}
	_, err = tx.Exec(`INSERT INTO paylink_entries (reference, key, link, original, data, mac) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (reference) DO UPDATE SET key = excluded.key, link = excluded.link, original = excluded.original, data = excluded.data,
		mac = excluded.mac`, e.Reference, string(e.Key), e.Link, e.Original, data, macOf(s.o.DB, e, data))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("store payment-link entry: %w", err)
	}
	return nil
}

// Reference is the terminalReference of the payment that a link was made for, "" where the terminal made no such link.
func Reference(r store.Reader, link int64) (reference string, err error) {
	err = r.QueryRow(`SELECT reference FROM paylink_entries WHERE `+byLink+` ORDER BY rowid LIMIT 1`, link).Scan(&reference)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return reference, err
}
