package audit

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"posagent/store"
)

// Head is the end of the chain as the store keeps it: the first 24 bytes of the newest line's link, and its number.
type Head = [32]byte

const linkPart = 24

// LastOf returns the number of the newest line of a head, 0 = there was none.
func LastOf(h Head) int64 { return int64(binary.BigEndian.Uint64(h[linkPart:])) }

func headOf(id int64, link []byte) (h Head) {
	copy(h[:linkPart], link)
	binary.BigEndian.PutUint64(h[linkPart:], uint64(id))
	return h
}

// Purge is the deed of the line that stands for purged ones: its amount is the number of the last of them, and its subject
// that line's link in hexadecimal digits.
const Purge = "audit.purge"

const (
	defaultKeep = 200_000
	purgeEvery  = 256
)

// MAC authenticates the fields of a row under the journal's key; store.Store has it.
type MAC func(table, key string, fields ...any) []byte

// Chain chains lines. MAC is called after the store was opened only.
type Chain struct {
	MAC  MAC
	Keep int64            // newest lines that are no noise; 0 = 200,000
	Now  func() time.Time // nil = time.Now

	KeepNoise int64 // newest lines of each noise; 0 = 10,000
}

// AtCommit is the store's hook: it chains the lines of a batch and returns the chain's head.
func (c *Chain) AtCommit(tx store.Tx) (Head, error) {
	head, err := c.commit(tx)
	if err != nil {
		err = fmt.Errorf("audit: %w", err)
	}
	return head, err
}

const columns = `id, at_ms, actor, name, address, deed, subject, amount, currency, detail, link`

func (c *Chain) commit(tx store.Tx) (Head, error) {
	fresh, last, link, err := unchained(tx)
	if err != nil {
		return Head{}, err
	}
	if len(fresh) == 0 {
		return headOf(last, link), nil
	}
	if link, err = c.join(tx, fresh, link); err != nil {
		return Head{}, err
	}
	keep := c.Keep
	if keep <= 0 {
		keep = defaultKeep
	}
	before := last
	if last = fresh[len(fresh)-1].ID; before/purgeEvery != last/purgeEvery {
		if last, link, err = c.bound(tx, last, link, keep); err != nil {
			return Head{}, err
		}
	}
	return headOf(last, link), nil
}

// unchained returns the lines of this batch, oldest first, with the number and the link of the newest one before them.
func unchained(tx store.Tx) (fresh []Line, last int64, link []byte, err error) {
	rows, err := tx.Query(`SELECT ` + columns + ` FROM audit_log ORDER BY id DESC`)
	if err != nil {
		return nil, 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		l, own, err := scan(rows)
		if err != nil {
			return nil, 0, nil, err
		}
		if len(own) > 0 {
			last, link = l.ID, own
			break
		}
		fresh = append(fresh, l)
	}
	for i, j := 0, len(fresh)-1; i < j; i, j = i+1, j-1 {
		fresh[i], fresh[j] = fresh[j], fresh[i]
	}
	return fresh, last, link, rows.Err()
}

// join chains lines to the one before.
func (c *Chain) join(tx store.Tx, lines []Line, link []byte) ([]byte, error) {
	for _, l := range lines {
		link = linkOf(c.MAC, link, l)
		if _, err := tx.Exec(`UPDATE audit_log SET link = ? WHERE id = ?`, link, l.ID); err != nil {
			return nil, err
		}
	}
	return link, nil
}

// bound drops noise first, and then the oldest lines where more than keep others are there.
func (c *Chain) bound(tx store.Tx, last int64, link []byte, keep int64) (int64, []byte, error) {
	if err := c.drop(tx, last); err != nil {
		return 0, nil, err
	}
	floor, _, err := anchor(tx)
	if err != nil || last-floor <= keep {
		return last, link, err
	}
	n, err := deeds(tx, floor, last)
	if err != nil || n <= keep {
		return last, link, err
	}
	till, past, err := upTo(tx, n-keep)
	if err != nil {
		return 0, nil, fmt.Errorf("purge: %w", err)
	}
	return c.purge(tx, last, link, till, past)
}

// purge removes the lines up to one, whose link is anchor, and writes the line that says so.
func (c *Chain) purge(tx store.Tx, last int64, link []byte, upTo int64, anchor []byte) (int64, []byte, error) {
	if _, err := tx.Exec(`DELETE FROM audit_log WHERE id <= ?`, upTo); err != nil {
		return 0, nil, fmt.Errorf("purge: %w", err)
	}
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	l := Line{ID: last + 1, At: now().UnixMilli(), Actor: Self("purge"), Deed: Deed{
		Deed: Purge, Subject: hex.EncodeToString(anchor), Amount: upTo, Detail: fmt.Sprintf("lines up to %d are no longer kept", upTo),
	}}
	if err := insert(tx, l); err != nil {
		return 0, nil, err
	}
	link, err := c.join(tx, []Line{l}, link)
	return l.ID, link, err
}

// linkOf is the link of a line: the MAC of the link before and of every field.
func linkOf(mac MAC, before []byte, l Line) []byte {
	return mac("audit_log", strconv.FormatInt(l.ID, 10), before, l.At, string(l.Kind), l.Name, l.Address, l.Deed.Deed, l.Subject, l.Amount, l.Currency, l.Detail)
}

type scanner interface{ Scan(dest ...any) error }

func scan(from scanner) (l Line, link []byte, err error) {
	err = from.Scan(&l.ID, &l.At, &l.Kind, &l.Name, &l.Address, &l.Deed.Deed, &l.Subject, &l.Amount, &l.Currency, &l.Detail, &link)
	if err != nil {
		err = fmt.Errorf("read audit log: %w", err)
	}
	return l, link, err
}
