package journal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"posagent/agent/intent"
	"posagent/schemes/wire"
	"posagent/store"
)

// namesKept is the counter with the sale up to which KeepNames has looked.
const namesKept = "names_kept"

// KeepNames writes the names of callers that an older program stored as they came as intent.KeptName has them: those of sales that no
// start has looked at yet, and of what was joined. A row that does not verify stays as it is.
func (j *Journal) KeepNames(tx store.Tx) error {
	from, err := counter(tx, namesKept, 0)
	if err != nil {
		return err
	}
	last, keys := from, []string(nil)
	err = store.Each(tx, func(row store.Row) error {
		var key, line, sequence string
		var state []byte
		if err := row.Scan(&last, &key, &line, &sequence, &state); err != nil {
			return err
		}
		if j.kept(line) != line || j.kept(sequence) != sequence || j.kept(tillReference(state)) != tillReference(state) {
			keys = append(keys, key)
		}
		return nil
	}, `SELECT id, key, line, sequence, state FROM checkout_sales WHERE id > ? ORDER BY id`, from)
	for _, key := range keys {
		if err == nil {
			err = j.keepNamesOf(tx, key)
		}
	}
	if err == nil {
		err = j.keepJoined(tx)
	}
	if err == nil && last > from {
		err = setCounter(tx, namesKept, last)
	}
	if err != nil {
		return fmt.Errorf("names of callers: %w", err)
	}
	return nil
}

func (j *Journal) kept(name string) string { return intent.KeptName(j.db, name) }

// Spell seals the id of a sale's request as its register wrote it, for Spelled: nothing but the id's kept form stands in clear. The key
// is made of the journal's own, as the row's MAC is.
func (j *Journal) Spell(key wire.Key, id string) string {
	aead := j.spelling()
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(id)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(id), []byte(key)))
}

// Spelled is the id of a sale's request as its register wrote it: a till that asks for the last sale compares it with its own.
func (j *Journal) Spelled(r *Row) string {
	if r.State.Till.Spelled == "" {
		return r.Sequence
	}
	sealed, _ := base64.RawStdEncoding.DecodeString(r.State.Till.Spelled) // a changed one does not open
	aead := j.spelling()
	if n := aead.NonceSize(); len(sealed) > n {
		if id, err := aead.Open(nil, sealed[:n], sealed[n:], []byte(r.Key)); err == nil { // else the row does not verify either
			return string(id)
		}
	}
	return r.Sequence
}

func (j *Journal) spelling() cipher.AEAD {
	block, err := aes.NewCipher(j.db.MAC("names of callers", "sealed")[:32])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // its block has 16 bytes
	}
	return aead
}

// tillReference is the till's reference in a stored state, "" where it cannot be read.
func tillReference(state []byte) string {
	if !strings.Contains(string(state), `"reference"`) {
		return ""
	}
	var s struct {
		Till struct {
			Reference string `json:"reference"`
		} `json:"till"`
	}
	_ = json.Unmarshal(state, &s) // one that cannot be read does not verify either
	return s.Till.Reference
}

func (j *Journal) keepNamesOf(tx store.Tx, key string) error {
	r, err := scan(j.db, tx.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, key))
	if err != nil || r.Quarantined {
		return err
	}
	was := j.digest(r.Line, r.Sequence)
	if j.kept(r.Sequence) != r.Sequence {
		r.State.Till.Spelled = j.Spell(r.Key, r.Sequence)
	}
	r.Line, r.Sequence, r.State.Till.Reference = j.kept(r.Line), j.kept(r.Sequence), j.kept(r.State.Till.Reference)
	s, err := r.pack(j.db)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE checkout_sales SET line = ?, sequence = ?, state = ?, mac = ? WHERE key = ?`, r.Line, r.Sequence, s.state, s.mac, key); err != nil {
		return err
	}
	if r.Sequence == "" {
		return nil
	}
	_, err = tx.Exec(`INSERT OR IGNORE INTO checkout_ids (digest, number, run_ms) SELECT ?, number, run_ms FROM checkout_ids WHERE digest = ?`, j.digest(r.Line, r.Sequence), was)
	return err
}

func (j *Journal) keepJoined(tx store.Tx) error {
	type joined struct{ line, sequence string }
	var list []joined
	err := store.Each(tx, func(row store.Row) error {
		var one joined
		if err := row.Scan(&one.line, &one.sequence); err != nil {
			return err
		}
		if j.kept(one.line) != one.line || j.kept(one.sequence) != one.sequence {
			list = append(list, one)
		}
		return nil
	}, `SELECT line, sequence FROM checkout_joined`)
	for _, one := range list {
		if err == nil {
			_, err = tx.Exec(`UPDATE OR REPLACE checkout_joined SET line = ?, sequence = ? WHERE line = ? AND sequence = ?`, j.kept(one.line), j.kept(one.sequence), one.line, one.sequence)
		}
	}
	return err
}
