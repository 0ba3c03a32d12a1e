package gateway

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
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

// subject is the thing a write is about, as it goes into our Key: the Key of its create where it was made here, whichever of its ids is
// named and whether or not the backend's is known by now (law III); else the id as it was named.
// What the client asked of it before its service moved to other books is known by it too, also where a thing of these has the id.
func (f *Front) subject(r store.Reader, w *write, client string) (t thing, known bool, subject string, err error) {
	if w.row.Makes {
		return thing{}, false, "", nil
	}
	t, known, err = f.findThing(r, w.row.Thing, w.id)
	if err == nil && w.key != "" {
		var left thing
		var before, again bool
		if left, before, err = f.leftThing(r, w, client); err == nil && before && known {
			again, err = f.asked(r, w, client, t)
		}
		if before && !again {
			t, known = left, true
		}
	}
	switch {
	case err != nil:
		return t, known, "", err
	case known:
		return t, known, string(t.key), nil
	}
	return t, known, w.id, nil
}

// leftThing finds a thing that had an id at the books before, where the client used this key on it there: the repeat has its answer
// of then (MONEY C.8), and is nothing new at the books of now.
func (f *Front) leftThing(r store.Reader, w *write, client string) (t thing, found bool, err error) {
	locals, err := store.Column[string](r, `SELECT local FROM offline_things WHERE about = ? AND folded = ? AND folded <> '' AND backend = ? AND account <> ''
		ORDER BY id DESC`, w.row.Thing, strings.ToLower(w.id), w.id)
	for _, local := range locals {
		if t, found, err = f.readLocal(r, w.row.Thing, local); err != nil || !found {
			break
		}
		if found, err = f.asked(r, w, client, t); err != nil || found {
			return t, found, err
		}
	}
	if err != nil {
		return thing{}, false, keyError(err)
	}
	return thing{}, false, nil
}

// asked reports whether the client used the key of a write on a thing before.
func (f *Front) asked(r store.Reader, w *write, client string, t thing) (bool, error) {
	_, fresh, err := f.claim(r, w, f.ourKey(w, client, string(t.key)), client, f.aggregateOf(w.row.Thing, w.id, t, true))
	if claimed(err) {
		return !fresh, nil
	}
	return false, err
}

// isLocal says that an id is in the form of the local ids of a kind's things.
func isLocal(b *bound, id string) bool {
	if b.Thing == linkThing {
		n, err := strconv.ParseInt(id, 10, 64)
		return err == nil && n >= firstLocal
	}
	return wire.Local(id)
}

// used is what came under a client's Idempotency-Key.
type used struct {
	digest []byte
	key    wire.Key // of the operation
}

// knownKey finds what came under a client's key: by its digest, else by our Key, because its thing may have had another id then. What
// came before offline/7, and what was purged, stands in offline_keys.
const knownKey = `SELECT digest, body, key, '' FROM offline_claims WHERE name = ?1 AND digest = ?2
	UNION ALL SELECT digest, body, key, ended FROM offline_keys WHERE digest = ?2
	UNION ALL SELECT c.digest, c.body, c.key, '' FROM outbox_ops o JOIN offline_claims c ON c.op = o.id WHERE o.key = ?3
	UNION ALL SELECT digest, body, key, ended FROM offline_keys WHERE key = ?3 LIMIT 1`

// claim finds what came before under a client's key, or says that it is fresh: then keepKey has to follow once the operation is
// stored. wire.KeyReused where that was another body, wire.Gone where its operation was deleted.
func (f *Front) claim(r store.Reader, w *write, key wire.Key, client, about string) (u used, fresh bool, err error) {
	u = used{digest: f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key)), key: key}
	var body []byte
	var ended string
	found := u
	err = r.QueryRow(knownKey, f.nameOf(client, string(w.key)), u.digest, string(key)).Scan(&found.digest, &body, &found.key, &ended)
	if errors.Is(err, sql.ErrNoRows) {
		return u, true, nil
	}
	u = found
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

// claimOther finds what came under a client's key when its thing had another name: the backend's id, as long as it was not known that
// it names this one, and what an older program has stored.
func (f *Front) claimOther(r store.Reader, w *write, client string, t thing, known bool) (u used, found bool, err error) {
	named := w.id
	if known {
		named = t.backend
	}
	if w.row.Makes || named == "" {
		return u, false, nil
	}
	if known {
		about := f.aggregateOf(w.row.Thing, named, thing{}, false)
		if u, fresh, err := f.claim(r, w, f.ourKey(w, client, named), client, about); !fresh {
			return u, claimed(err), err
		}
	}
	return f.claimOlder(r, w, client, named)
}

// claimOlder finds what an older program has stored under a client's key, where ids went into it in lower case: only up to the operation
// that was the newest when it was replaced.
func (f *Front) claimOlder(r store.Reader, w *write, client, named string) (u used, is bool, err error) {
	older := strings.ToLower(named)
	if older == named {
		return u, false, nil
	}
	u, fresh, err := f.claim(r, w, f.ourKey(w, client, older), client, f.aggregateOf(w.row.Thing, older, thing{}, false))
	if fresh || !claimed(err) {
		return u, false, err
	}
	why, since := err, false
	spelled, err := sinceWhen(r, stepSpelled, "spelled", math.MaxInt64)
	if err == nil {
		err = r.QueryRow(`SELECT EXISTS (SELECT 1 FROM outbox_ops WHERE key = ? AND id > ?)`, string(u.key), spelled).Scan(&since)
	}
	if err != nil || since { // it is about another thing
		return u, false, keyError(err)
	}
	return u, true, why
}

// claimed says by the error of a claim that there is one.
func claimed(err error) bool {
	code := wire.CodeOf(err)
	return err == nil || code == wire.KeyReused || code == wire.Gone
}

// errKey says that what is kept of a client's key was changed from outside.
var errKey = errors.New("the stored end of an operation was altered")

// keepKey stores what came under a client's key, and what is made of it, beside the operation that came of it. The client's key itself
// is not stored: some are card numbers.
func (f *Front) keepKey(tx store.Tx, w *write, u used, client string) error {
	var t thing
	mac := []byte{}
	if w.young() {
		t = thing{about: w.row.Thing, local: "L" + string(u.key), key: u.key, seen: string(w.seen), owner: client}
		mac = f.thingMAC(t)
	}
	_, err := tx.Exec(`INSERT INTO offline_claims (op, name, digest, body, key, about, seen, owner, mac)
		VALUES ((SELECT id FROM outbox_ops WHERE key = ?4), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
		f.nameOf(client, string(w.key)), u.digest, f.bodyMAC(u, w), string(u.key), t.about, t.seen, t.owner, mac)
	return keyError(err)
}

// young says that what a write makes stands beside its operation.
func (w *write) young() bool { return w.key != "" && w.row.Makes && !w.row.Number }

// keepEnded keeps of a client's key what became of its operation, which is deleted in the same commit.
func (f *Front) keepEnded(tx store.Tx, op outbox.Op) error {
	u := used{key: op.Key}
	// Its digest is moved to what is kept for ever, or is there from before offline/7.
	err := tx.QueryRow(`DELETE FROM offline_claims WHERE op = ? AND key = ? RETURNING digest`, op.ID, string(op.Key)).Scan(&u.digest)
	if errors.Is(err, sql.ErrNoRows) {
		err = tx.QueryRow(`SELECT digest FROM offline_keys WHERE key = ?`, string(op.Key)).Scan(&u.digest)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(`INSERT INTO offline_keys (digest, body, key, ended) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (digest) DO UPDATE SET body = excluded.body, ended = excluded.ended`, u.digest, f.endMAC(u, string(op.State)), string(op.Key), string(op.State))
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

// nameOf is the first half of nameMAC: an index of it is half as large.
func (f *Front) nameOf(client, key string) []byte { return f.nameMAC(client, key)[:nameBytes] }

const nameBytes = 16

// namedKeys are the operations that came under a client's key, the newest first: one of each route and thing, since they are the key's
// scope (MONEY C.8).
// What was given to another client since is the other's.
const namedKeys = `SELECT o.key, o.id FROM offline_claims c JOIN outbox_ops o ON o.id = c.op WHERE c.name = ?1 AND (?4 = 0 OR o.owner = ?5)
	UNION ALL SELECT o.key, o.id FROM offline_keys k JOIN outbox_ops o ON o.key = k.key WHERE k.name = ?2 AND k.name <> x'' AND (?4 = 0 OR o.owner = ?5)
	ORDER BY 2 DESC LIMIT ?3`

// maxNamed is how many operations are found by one key, the newest.
const maxNamed = 200

// Find is Find, and finds operations by their caller's own Idempotency-Key too: all that came under it, the oldest first.
func (f *Front) Find(r store.Reader, caller wire.Caller, name string) ([]wire.Key, error) {
	mac := f.nameMAC(caller.Name, name)
	var keys []wire.Key
	err := store.Each(r, func(row store.Row) error {
		var key wire.Key
		err := row.Scan(&key, new(int64))
		keys = append(keys, key)
		return err
	}, namedKeys, mac[:nameBytes], mac, maxNamed, caller.Own, caller.Name)
	slices.Reverse(keys)
	switch {
	case err != nil:
		return nil, keyError(err)
	case len(keys) == 0:
		return Find(r, caller, name)
	}
	return keys, nil
}
