package offline

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// ourKey is our Key for a client's: a UUIDv8 made of the caller secret, the client, the kind, the thing and the client's key, and
// never of the body. So a journal that has lost an operation makes the same Key again, and the backend knows it (MONEY C.8).
func (f *Front) ourKey(w *write, client, thing string) wire.Key {
	if w.key == "" {
		return wire.NewKey()
	}
	return wire.MakeKey(f.o.CallerSecret, "posagent caller key 1", client, w.row.Kind, thing, string(w.key))
}

// subject is the thing a write is about, in the one spelling that goes into our Key: the backend's id where it is known, because a
// restored journal may not know the local one; else the id as it was named.
func (f *Front) subject(r store.Reader, w *write) (t thing, known bool, subject string, err error) {
	if w.row.Makes {
		return thing{}, false, "", nil
	}
	t, known, err = f.findThing(r, w.row.Thing, w.id)
	switch {
	case err != nil:
		return t, known, "", err
	case known && t.backend != "":
		return t, known, strings.ToLower(t.backend), nil
	case known:
		return t, known, strings.ToLower(t.local), nil
	}
	return t, known, strings.ToLower(w.id), nil
}

// isLocal says that an id is in the form of the local ids of a kind's things.
func isLocal(b *bound, id string) bool {
	if b.Thing == linkThing {
		n, err := strconv.ParseInt(id, 10, 64)
		return err == nil && n >= firstLocal
	}
	key, ok := strings.CutPrefix(id, "L")
	return ok && wire.Key(key).Ours()
}

// used is what came under a client's Idempotency-Key.
type used struct {
	digest []byte
	key    wire.Key // of the operation
}

// claim stores what comes under a client's key, or finds what came under it before: fresh is false then. wire.KeyReused where that was
// another body, wire.Gone where its operation was deleted. The client's key itself is not stored: some are card numbers.
func (f *Front) claim(tx store.Tx, w *write, key wire.Key, client, about string) (u used, fresh bool, err error) {
	u = used{digest: f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key)), key: key}
	// An operation is found by our Key too: its thing may have had another id then.
	res, err := tx.Exec(`INSERT INTO offline_keys (digest, body, key, name) SELECT ?1, ?2, ?3, ?4
		WHERE NOT EXISTS (SELECT 1 FROM offline_keys WHERE key = ?3) ON CONFLICT (digest) DO NOTHING`,
		u.digest, f.bodyMAC(u, w), string(key), f.nameMAC(client, string(w.key)))
	if err != nil {
		return u, false, keyError(err)
	}
	if n, err := res.RowsAffected(); n == 1 || err != nil {
		return u, n == 1, keyError(err)
	}
	var body []byte
	var ended string
	err = tx.QueryRow(`SELECT digest, body, key, ended FROM offline_keys WHERE digest = ?1
		UNION ALL SELECT digest, body, key, ended FROM offline_keys WHERE key = ?2 LIMIT 1`, u.digest, string(key)).Scan(&u.digest, &body, &u.key, &ended)
	switch {
	case err != nil:
		return u, false, keyError(err)
	case ended != "":
		if !bytes.Equal(body, f.endMAC(u, ended)) {
			return u, false, keyError(errKey)
		}
		return u, false, wire.Errorf(wire.Gone, w.row.Kind, "the key named operation %s, which ended %s and was deleted after its retention: take a new Idempotency-Key for a new operation",
			u.key, ended)
	case !bytes.Equal(body, f.bodyMAC(u, w)):
		return u, false, wire.Errorf(wire.KeyReused, w.row.Kind, "the key was used with another body")
	}
	return u, false, nil
}

// errKey says that what is kept of a client's key was changed from outside.
var errKey = errors.New("the stored end of an operation was altered")

// keepEnded keeps of a client's key what became of its operation, which is deleted in the same commit.
func (f *Front) keepEnded(tx store.Tx, op outbox.Op) error {
	u := used{key: op.Key}
	err := tx.QueryRow(`SELECT digest FROM offline_keys WHERE key = ?`, string(op.Key)).Scan(&u.digest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE offline_keys SET body = ?, ended = ? WHERE digest = ?`, f.endMAC(u, string(op.State)), string(op.State), u.digest)
	}
	return keyError(err)
}

func keyError(err error) error {
	if err != nil {
		err = fmt.Errorf("stored keys: %w", err)
	}
	return err
}

func (f *Front) bodyMAC(u used, w *write) []byte {
	return f.o.DB.MAC(keyTable, string(u.key), u.digest, w.same)
}

func (f *Front) endMAC(u used, state string) []byte {
	return f.o.DB.MAC(keyTable, string(u.key), u.digest, "ended", state)
}

// nameMAC is a client's key as it is looked up by, where its kind and thing are not known.
func (f *Front) nameMAC(client, key string) []byte { return f.o.DB.MAC(keyTable, "name", client, key) }

// Find is Find, and finds an operation by its caller's own Idempotency-Key too: the newest that came under it.
func (f *Front) Find(r store.Reader, caller wire.Caller, name string) (key wire.Key, err error) {
	err = r.QueryRow(`SELECT k.key FROM offline_keys k JOIN outbox_ops o ON o.key = k.key WHERE k.name = ? AND k.name <> x'' ORDER BY o.id DESC LIMIT 1`,
		f.nameMAC(caller.Name, name)).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return Find(r, caller, name)
	}
	if err != nil {
		return "", keyError(err)
	}
	return key, nil
}
