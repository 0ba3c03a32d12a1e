package once

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

const table = "once_answer"

// Schema is the table of the answers, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "once/1 answers", SQL: `
CREATE TABLE once_answer (
	scope TEXT NOT NULL,
	key TEXT NOT NULL,
	body BLOB NOT NULL,
	reply BLOB NOT NULL,
	PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;`}}
}

// Replay looks for the answer kept under a key. found is false for a fresh one, and always without a key. The error is
// wire.KeyReused when the key was used with another body. body is the decoded request written out again, so that blanks
// and the order of fields make no difference; it may hold secrets.
func Replay(tx store.Tx, db store.DB, scope string, key wire.Key, body []byte) (reply []byte, found bool, err error) {
	if key == "" {
		return nil, false, nil
	}
	var mac []byte
	err = tx.QueryRow(`SELECT body, reply FROM once_answer WHERE scope = ? AND key = ?`, scope, string(key)).Scan(&mac, &reply)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read answer of %s: %w", scope, err)
	case !bytes.Equal(mac, seal(db, scope, key, body)):
		return nil, false, wire.Errorf(wire.KeyReused, "", "the key was used with another body")
	}
	return reply, true, nil
}

// Keep stores an answer under its key, in the commit of what it tells about; nothing without a key. reply must hold no
// secret.
func Keep(tx store.Tx, db store.DB, scope string, key wire.Key, body, reply []byte) error {
	if key == "" {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO once_answer (scope, key, body, reply) VALUES (?, ?, ?, ?)`,
		scope, string(key), seal(db, scope, key, body), reply)
	if err != nil {
		return fmt.Errorf("keep answer of %s: %w", scope, err)
	}
	return nil
}

func seal(db store.DB, scope string, key wire.Key, body []byte) []byte {
	return db.MAC(table, scope, string(key), body)
}

// kept is an answer as Do stores it.
type kept struct {
	Reply  json.RawMessage `json:"r,omitempty"`
	Reason string          `json:"w,omitempty"`
	Op     string          `json:"o,omitempty"`
	Msg    string          `json:"m,omitempty"`
	No     bool            `json:"n,omitempty"`
}

// Do plays a write inside its commit. With a key that was used before it fills reply (a pointer to something
// encoding/json reads and writes whole), or gives the refusal, as it was; else act runs, and what it came to is kept.
//  1. nil, nil: reply stands;
//  2. refusal: a wire.Conflict that act returned, now or then. It ends the write without an error, so that the commit
//     keeps the answer and whatever act recorded besides: return it to the caller after the commit;
//  3. err: KeyReused, or any other error of act: nothing is kept, and the commit must be given up.
func Do(tx store.Tx, db store.DB, scope string, key wire.Key, body []byte, reply any, act func() error) (refusal *wire.Error, err error) {
	text, found, err := Replay(tx, db, scope, key, body)
	if err != nil {
		return nil, err
	}
	var k kept
	if found {
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, fmt.Errorf("read answer of %s: %w", scope, err)
		}
		if k.No {
			return &wire.Error{Code: wire.Conflict, Reason: k.Reason, Op: k.Op, Msg: k.Msg}, nil
		}
		return nil, json.Unmarshal(k.Reply, reply)
	}
	switch err := act(); {
	case err == nil:
	case errors.As(err, &refusal) && refusal.Code == wire.Conflict:
		k = kept{No: true, Reason: refusal.Reason, Op: refusal.Op, Msg: refusal.Msg}
	default:
		return nil, err
	}
	if key == "" {
		return refusal, nil
	}
	if refusal == nil {
		if k.Reply, err = json.Marshal(reply); err != nil {
			return nil, fmt.Errorf("write answer of %s: %w", scope, err)
		}
	}
	if text, err = json.Marshal(k); err != nil {
		return nil, fmt.Errorf("write answer of %s: %w", scope, err)
	}
	return refusal, Keep(tx, db, scope, key, body, text)
}
