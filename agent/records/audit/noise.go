package audit

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"posagent/store"
)

// Dropped is the deed of the line that stands for lines of noise which are no longer kept: it has the number, the time and the link of the last
// of them, so that what follows still verifies. Its amount is the number of the first, and its subject, in hexadecimal digits, the MAC of
// all four.
const Dropped = "audit.dropped"

// Start is the deed of a start of the terminal.
const Start = "terminal.start"

// noises are the deeds that strangers, or a box that cannot start, write without end. Each has a bound of its own, above which its oldest
// lines are dropped: no line of theirs removes one about money, keys or the configuration.
var noises = [...]string{LoginRefused, Start}

const (
	defaultKeepNoise = 10_000
	dropAtOnce       = 2 * purgeEvery // bounds what one commit drops
)

// noise says that a line is of a noise or stands for some. SQLite takes the index where a query says the same.
const noise = `deed IN ('` + LoginRefused + `', '` + Start + `', '` + Dropped + `')`

func noiseSchema() store.Step {
	return store.Step{Name: "audit/2 noise", Open: true, SQL: `CREATE INDEX audit_log_noise ON audit_log (deed, id) WHERE ` + noise + `;`}
}

// drop drops the oldest lines of each noise that has more than its bound. The newest line of the log stays.
func (c *Chain) drop(tx store.Tx, last int64) error {
	most := c.KeepNoise
	if most <= 0 {
		most = defaultKeepNoise
	}
	for _, deed := range noises {
		var n int64
		if err := tx.QueryRow(`SELECT COUNT(*) FROM audit_log WHERE `+noise+` AND deed = ?`, deed).Scan(&n); err != nil {
			return fmt.Errorf("drop: %w", err)
		}
		if n <= most {
			continue
		}
		ids, err := store.Column[int64](tx, `SELECT id FROM audit_log WHERE `+noise+` AND deed = ? AND id < ? ORDER BY id LIMIT ?`, deed, last, min(n-most, dropAtOnce))
		for _, id := range ids {
			if err == nil {
				err = c.dropLine(tx, id)
			}
		}
		if err != nil {
			return fmt.Errorf("drop: %w", err)
		}
	}
	return nil
}

// dropLine makes a line one that stands for itself, and for those that were dropped right before and behind it.
func (c *Chain) dropLine(tx store.Tx, id int64) error {
	const dropped = `FROM audit_log WHERE ` + noise + ` AND deed = '` + Dropped + `' AND `
	first, till := id, id
	before, err := store.Column[int64](tx, `SELECT amount `+dropped+`id = ?`, id-1)
	if err == nil && len(before) > 0 {
		first = before[0]
		_, err = tx.Exec(`DELETE FROM audit_log WHERE id = ?`, id-1)
	}
	var behind []int64
	if err == nil { // the next one, if nothing is between
		behind, err = store.Column[int64](tx, `SELECT id FROM (SELECT id, amount `+dropped+`id > ? ORDER BY id LIMIT 1) WHERE amount = ?`, id, id+1)
	}
	if err == nil && len(behind) > 0 {
		till = behind[0]
		_, err = tx.Exec(`DELETE FROM audit_log WHERE id = ?`, id)
	}
	var at int64
	var link []byte
	if err == nil {
		err = tx.QueryRow(`SELECT at_ms, link FROM audit_log WHERE id = ?`, till).Scan(&at, &link)
	}
	if err == nil {
		l := droppedLine(c.MAC, first, till, at, link)
		_, err = tx.Exec(`UPDATE audit_log SET actor = ?, name = ?, address = '', deed = ?, subject = ?, amount = ?, currency = '', detail = ? WHERE id = ?`,
			string(l.Kind), l.Name, l.Deed.Deed, l.Subject, l.Amount, l.Detail, till)
	}
	return err
}

// droppedLine is the line that stands for dropped ones; at is when the last of them was written.
func droppedLine(mac MAC, first, till, at int64, link []byte) Line {
	return Line{ID: till, At: at, Actor: Self("purge"), Deed: Deed{
		Deed: Dropped, Amount: first, Subject: hex.EncodeToString(mac("audit_dropped", fmt.Sprint(till), first, at, link)),
		Detail: fmt.Sprintf("lines %d to %d, of refused logins or starts, are no longer kept", first, till),
	}}
}

// standsBehind says that a line stands for dropped ones, down to the one behind a number or further.
func standsBehind(mac MAC, l Line, link []byte, number int64) bool {
	return l.Deed.Deed == Dropped && l.Amount <= number+1 && l == droppedLine(mac, l.Amount, l.ID, l.At, link)
}

// deeds counts the lines behind a number that are no noise, of a log that ends with last.
func deeds(tx store.Tx, floor, last int64) (n int64, err error) {
	var lines, gone int64
	if err = tx.QueryRow(`SELECT COUNT(*) FROM audit_log WHERE ` + noise + ` AND deed <> '` + Dropped + `'`).Scan(&lines); err == nil {
		err = tx.QueryRow(`SELECT COALESCE(SUM(id - MAX(amount - 1, ?)), 0) FROM audit_log WHERE `+noise+` AND deed = '`+Dropped+`'`, floor).Scan(&gone)
	}
	return last - floor - lines - gone, err
}

// upTo is the newest of the oldest lines that have to go so that no more than keep deeds stay: the one before the first deed that does.
func upTo(tx store.Tx, excess int64) (id int64, link []byte, err error) {
	err = tx.QueryRow(`SELECT id, link FROM audit_log WHERE id < (SELECT id FROM audit_log WHERE NOT (`+noise+`) ORDER BY id LIMIT 1 OFFSET ?) ORDER BY id DESC LIMIT 1`,
		excess).Scan(&id, &link)
	return id, bytes.Clone(link), err
}
