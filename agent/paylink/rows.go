package paylink

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"posagent/schemes/wire"
	"posagent/store"
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

// find reads the entry a status id names: a reference, or a link's number. Two accounts may have given one number: it names the link of
// the account that is configured. Where books that were put back have given it twice, it names neither.
func (s *Service) find(r store.Reader, id string) (*entry, error) {
	e, err := s.one(r, byReference, id)
	n, bad := strconv.ParseInt(id, 10, 64)
	if e != nil || err != nil || bad != nil || n <= 0 {
		return e, err
	}
	list, err := s.load(r, byLink, n)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.Instance != s.o.Instance })
	switch len(own) {
	case 0:
		return &list[0], nil
	case 1:
		return &own[0], nil
	}
	return nil, wire.Errorf(wire.Internal, op, "%d links of this journal have the number %d", len(own), n)
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

// Sells reports whether the payment with this terminalReference was sold by payment link.
func Sells(r store.Reader, reference string) (bool, error) {
	n := 0
	if err := r.QueryRow(`SELECT COUNT(*) FROM paylink_entries WHERE reference = ?`, reference).Scan(&n); err != nil {
		return false, fmt.Errorf("look for a payment link: %w", err)
	}
	return n > 0, nil
}

// References are the terminalReferences of the payments that a link was made for, by the link's number or, where that is 0, by its hash
// or by the reference itself: two accounts may have given one number.
func References(r store.Reader, link int64, hash, reference string) ([]string, error) {
	switch {
	case link != 0:
		return store.Column[string](r, `SELECT reference FROM paylink_entries WHERE `+byLink+` ORDER BY rowid`, link)
	case hash != "":
		return store.Column[string](r, `SELECT reference FROM paylink_entries WHERE link != 0 AND json_extract(CAST(data AS TEXT), '$.Hash') = ? ORDER BY rowid`, hash)
	}
	return store.Column[string](r, `SELECT reference FROM paylink_entries WHERE reference = ?`, reference)
}

// Sold says whether the terminal has ever sold by a payment link.
func Sold(r store.Reader) (yes bool, err error) {
	if err := r.QueryRow(`SELECT EXISTS (SELECT 1 FROM paylink_entries)`).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for payment links: %w", err)
	}
	return yes, nil
}
