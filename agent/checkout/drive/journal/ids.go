package journal

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// idsSchema: what is left of a register's id for ever, also when its sale is purged. An older
// program need not know it.
func idsSchema() store.Step {
	return store.Step{Name: "checkout/6 ids", Open: true, SQL: `
CREATE TABLE checkout_ids (
	digest TEXT PRIMARY KEY,  -- keyed, of line and id
	number INTEGER NOT NULL,  -- how often the id was rightly used again
	run_ms INTEGER NOT NULL   -- running time when it was used last
) STRICT;`}
}

// joinedSchema: the ids under which a sale of another id was joined; under no id, the sale that a line asked
// for last, where that is not its newest. An older program need not know it.
func joinedSchema() store.Step {
	return store.Step{Name: "checkout/9 joined", Open: true, SQL: `
CREATE TABLE checkout_joined (
	line     TEXT NOT NULL,
	sequence TEXT NOT NULL,
	sale     TEXT NOT NULL, -- its key
	PRIMARY KEY (line, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX checkout_joined_sale ON checkout_joined (sale);`}
}

// bySequence are the sales of an id.
const bySequence = `line = ?1 AND sequence = ?2 AND sequence != ''`

// byPrefix are those whose id begins so; the third argument is behind the beginning.
const byPrefix = `line = ?1 AND sequence >= ?2 AND sequence < ?3 AND sequence != ''`

// behind is the least text that sorts behind all that begin with prefix, up to its "/".
func behind(prefix string) string { return strings.TrimSuffix(prefix, "/") + "0" } // which follows "/"

// newestOf names the newest sale whose id fits, its own or one that it was joined under.
func newestOf(fits string) string {
	return `checkout_sales.id = (SELECT MAX(id) FROM (SELECT id FROM checkout_sales WHERE ` + fits + `
		UNION ALL SELECT id FROM checkout_sales WHERE key IN (SELECT sale FROM checkout_joined WHERE ` + fits + `)))`
}

// JoinID keeps, in the caller's commit, that a request with an id of its own has joined a sale: from now
// on that id is the sale's, too.
func (j *Journal) JoinID(tx store.Tx, sale wire.Key, line, sequence string, reuse int64) error {
	if sequence == "" {
		return nil
	}
	if _, err := tx.Exec(`INSERT OR REPLACE INTO checkout_joined (line, sequence, sale) VALUES (?, ?, ?)`, line, sequence, string(sale)); err != nil {
		return fmt.Errorf("join %s: %w", sale, err)
	}
	return j.useID(tx, &Row{Line: line, Sequence: sequence, Reuse: reuse})
}

// AskedAgain keeps, in the caller's commit, that a line without ids has asked for a sale once more: it is
// the line's last one then, until the next one begins.
func AskedAgain(tx store.Tx, line string, sale wire.Key) error {
	_, err := tx.Exec(`INSERT OR REPLACE INTO checkout_joined (line, sequence, sale) VALUES (?, '', ?)`, line, string(sale))
	if err != nil {
		return fmt.Errorf("join %s: %w", sale, err)
	}
	return nil
}

// Used is what the journal keeps of a register's id.
type Used struct {
	Number int64 // how often it was rightly used again
	RunMS  int64 // running time when it was used last
	Known  bool  // false = the journal keeps nothing of it
}

// UsedID reads what is kept of an id of a line.
func (j *Journal) UsedID(r store.Reader, line, sequence string) (u Used, err error) {
	err = r.QueryRow(`SELECT number, run_ms FROM checkout_ids WHERE digest = ?`, j.digest(line, sequence)).Scan(&u.Number, &u.RunMS)
	if errors.Is(err, sql.ErrNoRows) {
		return Used{}, nil
	}
	if err != nil {
		return Used{}, fmt.Errorf("id of a register: %w", err)
	}
	u.Known = true
	return u, nil
}

func (j *Journal) digest(line, sequence string) string {
	return hex.EncodeToString(j.db.MAC("checkout_ids", line, sequence))
}

// YoungestID is the lower bound of how long ago the line used an id that begins so, in milliseconds; ok is
// false where it never did. The beginning ends with "/".
func (j *Journal) YoungestID(r store.Reader, line, prefix string) (age int64, ok bool, err error) {
	ids, err := store.Column[string](r, `SELECT sequence FROM checkout_sales WHERE `+byPrefix+` UNION SELECT sequence FROM checkout_joined WHERE `+byPrefix,
		line, prefix, behind(prefix))
	for _, id := range ids {
		u, err := j.UsedID(r, line, id)
		if err != nil {
			return 0, false, err
		}
		its, err := u.IDAge(r)
		if err != nil {
			return 0, false, err
		}
		if !ok || its < age {
			age, ok = its, true
		}
	}
	return age, ok, err
}

// useID keeps that a sale has an id of its register, and for the how manieth time.
func (j *Journal) useID(tx store.Tx, r *Row) error {
	if r.Sequence == "" {
		return nil
	}
	run, err := outbox.Running(tx)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO checkout_ids (digest, number, run_ms) VALUES (?, ?, ?)
			ON CONFLICT (digest) DO UPDATE SET number = excluded.number, run_ms = excluded.run_ms`, j.digest(r.Line, r.Sequence), r.Reuse, run)
	}
	return err
}

// idsFrom is the counter with the running time at which a program first kept ids: one from before
// was used then at the latest.
const idsFrom = "ids_from"

// KeepIDs notes, once in a journal, since when the ages of ids are known.
func KeepIDs(tx store.Tx) error {
	from, err := counter(tx, idsFrom, -1)
	if err != nil || from >= 0 {
		return err
	}
	run, err := outbox.Running(tx)
	if err != nil {
		return err
	}
	return setCounter(tx, idsFrom, run)
}

// IDAge returns the lower bound of an id's age in milliseconds: the running time since it was used
// last. No clock that a boot may set wrong has a part in it.
func (u Used) IDAge(r store.Reader) (int64, error) {
	run, err := outbox.Running(r)
	if err != nil {
		return 0, err
	}
	from := u.RunMS
	if !u.Known {
		if from, err = counter(r, idsFrom, run); err != nil {
			return 0, err
		}
	}
	return max(run-from, 0), nil
}

// UsedBefore reports whether the Key of a request with an id may have been used by the journal whose
// place this one took: it is made of the id, and that journal may have sold under the same id what this
// one does not hold.
func UsedBefore(r store.Reader, sequence string) (bool, error) {
	if sequence == "" {
		return false, nil
	}
	why, err := outbox.Replaced(r)
	return why != "", err
}

// ReusedKey is UsedBefore for the Key of a sale, refund or reversal of this journal. Any other Key is
// random.
func ReusedKey(r store.Reader, key wire.Key) (bool, error) {
	var sequence string
	err := r.QueryRow(`SELECT sequence FROM checkout_sales WHERE key = ?`, string(key)).Scan(&sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("key of a sale: %w", err)
	}
	return UsedBefore(r, sequence)
}

// firstUse is the number of an id that is used for the first time. Programs before this one put a
// period of 128 days of the wall clock there, of which this was the last: the Keys that they made in
// it stay the same.
const firstUse = 162

// KeyOf is the Key of a request that has an id of its own: the backend then knows a repeated request
// also where the journal has lost it. reuse counts how often the id was rightly used again.
func KeyOf(secret []byte, line, sequence string, reuse int64) wire.Key {
	try := 0
	return wire.Key(wire.NoPAN(func() string {
		try++
		return string(wire.MakeKey(secret, "key of a register, 1", line, sequence, fmt.Sprint(firstUse+reuse), "", fmt.Sprint(try)))
	}))
}
