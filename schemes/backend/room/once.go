package room

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

const table = "once_answer"

// Schema is the tables of the answers and the owners, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "once/1 answers", SQL: `
CREATE TABLE once_answer (
	scope TEXT NOT NULL,
	key TEXT NOT NULL,
	body BLOB NOT NULL,
	reply BLOB NOT NULL,
	PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;`}, ownerSchema()}
}

// Keyed is a write as its caller asked for it.
type Keyed struct {
	Op    string
	About string   // what the write is about besides Op: an id. Op and About are the scope of Key
	Key   wire.Key // "" = none: the write is not repeated
	// Body is the decoded request written out again, so that blanks and the order of fields make no
	// difference. It may hold secrets: only its MAC is stored.
	Body []byte
	// BadKey is the reason of wire.Invalid for a Key that is none.
	BadKey string
	// First, when not nil, comes before the key is looked up, in the same commit. A refusal ends the
	// write: what First recorded stays, and no answer is stored.
	First func(tx store.Tx, now int64) (refusal *wire.Error, err error)
	// Own says that act, and First, may run in store.DB's WriteOwn. The answer under the key may: the key
	// is unique.
	Own bool
	by  string // the caller's merchant: a key is its caller's
}

// CheckKey is wire.Invalid for a key that is neither empty nor well formed.
func CheckKey(op string, key wire.Key) error { return Keyed{Op: op, Key: key}.check() }

func (k Keyed) check() error {
	if k.Key == "" {
		return nil
	}
	if _, err := wire.ParseKey(string(k.Key)); err != nil {
		return &wire.Error{Code: wire.Invalid, Reason: k.BadKey, Op: k.Op, Err: err}
	}
	return nil
}

// anyone stands for the merchant where the operator looks for what any of them has written; no merchant is called so.
const anyone = "\x1e"

func (k Keyed) scope() string {
	if k.by != "" {
		return k.by + "\x1f" + k.Op + " " + k.About
	}
	return k.Op + " " + k.About
}

// Once performs a write in one commit, at most once per key. act sets reply, a pointer to something
// that encoding/json reads and writes whole, and that holds no secret. It returns what the scenario
// table does to its reply. A key that was used before gives reply, or the refusal, as it was.
//  1. nil: reply is set;
//  2. wire.Conflict: act's refusal, now or then. What act recorded besides is committed;
//  3. wire.KeyReused: the key was used with another body;
//  4. after the effect, what the scenario table makes of the reply;
//  5. wire.Unavailable: another call under the key has not ended in time, or the store was out of reach: nothing was begun;
//  6. any other error of First and act: nothing is stored.
func (r *Room) Once(ctx context.Context, k Keyed, reply any, act func(tx store.Tx, now int64) (scenario.Do, error)) error {
	if err := k.check(); err != nil {
		return err
	}
	k.by = CallerOf(ctx).Merchant
	var refusal *wire.Error
	var do scenario.Do
	write := r.DB.Write
	if k.Own {
		write = r.DB.WriteOwn
	}
	if k.Key != "" {
		leave, err := r.Turn(ctx, k.Op, k.scope()+"\x00"+string(k.Key))
		if err != nil {
			return err
		}
		defer leave()
	}
	err := write(ctx, func(tx store.Tx) (err error) {
		now := r.Now().UnixMilli()
		refusal, do = nil, ""
		if k.First != nil {
			if refusal, err = k.First(tx, now); err != nil || refusal != nil {
				return err
			}
		}
		refusal, err = r.play(tx, k, reply, func() (err error) {
			do, err = act(tx, now)
			return err
		})
		return err
	})
	r.Poke()
	switch {
	case err != nil:
		return wire.AsError(k.Op, err)
	case refusal != nil:
		return wire.AsError(k.Op, refusal)
	}
	return scenario.Lost(ctx, k.Op, do)
}

// answer is an answer as stored.
type answer struct {
	Reply  json.RawMessage `json:"r,omitempty"`
	Reason string          `json:"w,omitempty"`
	Op     string          `json:"o,omitempty"`
	Msg    string          `json:"m,omitempty"`
	No     bool            `json:"n,omitempty"`
}

// play sets reply from the stored answer, or by act, whose answer it stores. A refusal is a
// wire.Conflict that act returned, now or then; it is no error, so that the commit keeps it.
func (r *Room) play(tx store.Tx, k Keyed, reply any, act func() error) (refusal *wire.Error, err error) {
	text, found, err := r.read(tx, k)
	if err != nil {
		return nil, err
	}
	var a answer
	if found {
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, fmt.Errorf("read answer of %s: %w", k.scope(), err)
		}
		if a.No {
			return &wire.Error{Code: wire.Conflict, Reason: a.Reason, Op: a.Op, Msg: a.Msg}, nil
		}
		return nil, json.Unmarshal(a.Reply, reply)
	}
	switch err := act(); {
	case err == nil:
	case errors.As(err, &refusal) && refusal.Code == wire.Conflict:
		a = answer{No: true, Reason: refusal.Reason, Op: refusal.Op, Msg: refusal.Msg}
	default:
		return nil, err
	}
	if k.Key == "" {
		return refusal, nil
	}
	if refusal == nil {
		if a.Reply, err = json.Marshal(reply); err != nil {
			return nil, fmt.Errorf("write answer of %s: %w", k.scope(), err)
		}
	}
	if text, err = json.Marshal(a); err != nil {
		return nil, fmt.Errorf("write answer of %s: %w", k.scope(), err)
	}
	const keep = `INSERT INTO once_answer (scope, key, body, reply) VALUES (?, ?, ?, ?)`
	if _, err = tx.Exec(keep, k.scope(), string(k.Key), r.guard(k), text); err == nil && k.by != "" && k.Key.Ours() {
		k.by = anyone
		_, err = tx.Exec(keep+` ON CONFLICT DO NOTHING`, k.scope(), string(k.Key), r.guard(k), text)
	}
	if err != nil {
		return nil, fmt.Errorf("keep answer of %s: %w", k.scope(), err)
	}
	return refusal, nil
}

// read finds the answer stored under a key; none is stored without a key. What a merchant wrote with the operator's credentials before
// it had its own is the same write, where the body is the same; and so is what it wrote with its own, where the Key is of a form of which
// no two are alike. A key that callers count up themselves stays each merchant's.
func (r *Room) read(tx store.Tx, k Keyed) (text []byte, found bool, err error) {
	text, found, err = r.under(tx, k)
	switch {
	case found || err != nil:
		return text, found, err
	case k.by != "":
		k.by = ""
	case k.Key.Ours():
		k.by = anyone
	default:
		return nil, false, nil
	}
	if text, found, err = r.under(tx, k); wire.CodeOf(err) == wire.KeyReused {
		return nil, false, nil
	}
	return text, found, err
}

// under finds the answer stored under a key of one caller.
func (r *Room) under(tx store.Tx, k Keyed) (text []byte, found bool, err error) {
	if k.Key == "" {
		return nil, false, nil
	}
	var mac []byte
	err = tx.QueryRow(`SELECT body, reply FROM once_answer WHERE scope = ? AND key = ?`, k.scope(), string(k.Key)).Scan(&mac, &text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read answer of %s: %w", k.scope(), err)
	case !bytes.Equal(mac, r.guard(k)):
		return nil, false, wire.Errorf(wire.KeyReused, "", "the key was used with another body")
	}
	return text, true, nil
}

func (r *Room) guard(k Keyed) []byte { return r.DB.MAC(table, k.scope(), string(k.Key), k.Body) }
