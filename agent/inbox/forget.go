package inbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"

	"posagent/store"
)

const (
	// forgetAtOnce bounds what one commit forgets.
	forgetAtOnce = 16
	// idsFor is how many times as many ids are known as events are kept: a sender repeats for days.
	idsFor = 8
	// pruneEvery is how many events are let come before the oldest ids go.
	pruneEvery = 64
)

// forget drops the oldest events above Keep, with their keys, from the client that has most of them:
// no client's events push out those of another that has less. The ids stay known. row is the newest.
func (b *Inbox) forget(tx store.Tx, row int64) error {
	var all int64
	if err := tx.QueryRow(`SELECT COALESCE(SUM(kept), 0) FROM inbox_owners`).Scan(&all); err != nil {
		return fmt.Errorf("count what arrived: %w", err)
	}
	if row%pruneEvery == 0 {
		if _, err := tx.Exec(`DELETE FROM inbox_seen WHERE id <= ?`, row-idsFor*b.opt.Keep); err != nil {
			return fmt.Errorf("forget ids: %w", err)
		}
	}
	if all <= b.opt.Keep {
		return nil
	}
	var owner string
	if err := tx.QueryRow(`SELECT owner FROM inbox_owners ORDER BY kept DESC, owner LIMIT 1`).Scan(&owner); err != nil {
		return fmt.Errorf("count what arrived: %w", err)
	}
	old, err := store.Column[int64](tx, `SELECT id FROM inbox_event WHERE owner = ? ORDER BY id LIMIT ?`, owner, min(all-b.opt.Keep, forgetAtOnce))
	if err != nil {
		return err
	}
	for _, id := range old {
		if err := b.forgetOne(tx, id); err != nil {
			return fmt.Errorf("forget event %d: %w", id, err)
		}
	}
	return nil
}

func (b *Inbox) forgetOne(tx store.Tx, id int64) error {
	var source, ref string
	var body []byte
	if err := tx.QueryRow(`SELECT source, ref, body FROM inbox_event WHERE id = ?`, id).Scan(&source, &ref, &body); err != nil {
		return err
	}
	body, err := b.opt.DB.Unseal(tx, cell(id), body)
	if err != nil {
		body = nil // it cannot be read, and is known by its id alone
	}
	if _, err := tx.Exec(`INSERT INTO inbox_seen (id, ref, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, id, refDigest(source, ref), bodyDigest(body)); err != nil {
		return err
	}
	if err := b.opt.DB.Shred(tx, table, cell(id).Key); err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM inbox_event WHERE id = ?`, id)
	return err
}

// seen returns whether an item came before although it is not kept any more, and then whether its body
// was the same.
func seen(r store.Reader, it *Item, ref string) (known, same bool, err error) {
	var body []byte
	err = r.QueryRow(`SELECT body FROM inbox_seen WHERE ref = ?`, refDigest(it.Source, ref)).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("known ids: %w", err)
	}
	return true, it.Made || len(body) == 0 || subtle.ConstantTimeCompare(body, bodyDigest(it.Body)) == 1, nil
}

func refDigest(source, ref string) []byte {
	sum := sha256.Sum256([]byte(source + "\x00" + ref))
	return sum[:16]
}

// bodyDigest is a body's digest, the same for every order of its members; nil of none.
func bodyDigest(body []byte) []byte {
	if len(body) == 0 {
		return []byte{}
	}
	if text, err := sorted(body); err == nil {
		body = text
	}
	sum := sha256.Sum256(body)
	return sum[:16]
}
