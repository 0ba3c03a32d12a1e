package gateway

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the tables of the writes of local clients, append-only: ThingSchema and KeySchema.
func Schema() []store.Step { return append(ThingSchema(), KeySchema()...) }

// ThingSchema is the tables by themselves.
func ThingSchema() []store.Step {
	return []store.Step{{Name: "offline/1 things and keys", SQL: `
CREATE TABLE offline_things (
	id      INTEGER PRIMARY KEY,
	about   TEXT NOT NULL,  -- the table's word for what it is
	local   TEXT NOT NULL,  -- ours, for ever
	backend TEXT NOT NULL,  -- the backend's, '' until it is known
	folded  TEXT NOT NULL,  -- backend in lower case, to be found by
	key     TEXT NOT NULL,  -- of the operation that makes it
	seen    TEXT NOT NULL,  -- what may be shown of it without the backend, JSON; no secrets
	mac     BLOB NOT NULL,
	UNIQUE (about, local)
) STRICT;
CREATE INDEX offline_things_backend ON offline_things (about, folded) WHERE folded <> '';
CREATE INDEX offline_things_key ON offline_things (key);
CREATE TABLE offline_keys (
	digest BLOB PRIMARY KEY, -- of client, route and the client's Idempotency-Key
	body   BLOB NOT NULL,    -- keyed digest of what came under it, and of key
	key    TEXT NOT NULL     -- of the operation that came of it
) STRICT, WITHOUT ROWID;
CREATE TABLE offline_totals (
	currency TEXT PRIMARY KEY,
	count    INTEGER NOT NULL, -- operations that are not at their end
	amount   INTEGER NOT NULL  -- their sum, minor units
) STRICT, WITHOUT ROWID;
CREATE TABLE offline_proven (
	service  TEXT PRIMARY KEY,
	endpoint TEXT NOT NULL, -- whose own answer was read
	at_ms    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`}, {Name: "offline/2 purge", SQL: `
CREATE INDEX offline_keys_key ON offline_keys (key);
CREATE TABLE offline_purged (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	thing INTEGER NOT NULL -- the highest id that was deleted: local numbers are not given twice
) STRICT;
INSERT INTO offline_purged (one, thing) VALUES (1, 0);
`}, {Name: "offline/3 numbers by key", SQL: `
DROP INDEX offline_things_key; -- the others' local ids hold their keys
CREATE INDEX offline_things_key ON offline_things (key) WHERE local <> 'L' || key;
`}, {Name: "offline/4 owners", SQL: `
ALTER TABLE offline_things ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client that made it; '' = the terminal's own token
`}, {Name: "offline/5 keys for ever", SQL: `
ALTER TABLE offline_keys ADD COLUMN ended TEXT NOT NULL DEFAULT ''; -- the state in which the operation ended, once that was deleted
`}, {Name: "offline/6 names of keys", SQL: `
ALTER TABLE offline_keys ADD COLUMN name BLOB NOT NULL DEFAULT x''; -- keyed digest of client and Idempotency-Key
CREATE INDEX offline_keys_name ON offline_keys (name) WHERE name <> x'';
`}, {Name: "offline/7 keys beside their operations", SQL: `
CREATE TABLE offline_claims ( -- of a client's Idempotency-Key, until its operation is purged; it has one index in the order of chance
	op     INTEGER PRIMARY KEY, -- number of the operation that came of it
	name   BLOB NOT NULL,       -- half a keyed digest of client and Idempotency-Key
	digest BLOB NOT NULL,       -- of client, route and Idempotency-Key
	body   BLOB NOT NULL,       -- keyed digest of what came under it, and of key
	key    TEXT NOT NULL        -- of the operation
) STRICT;
CREATE INDEX offline_claims_name ON offline_claims (name);
`}, {Name: "offline/8 things beside their operations", SQL: `
ALTER TABLE offline_claims ADD COLUMN about TEXT NOT NULL DEFAULT ''; -- what the operation makes, until the backend's id is known; '' = nothing
ALTER TABLE offline_claims ADD COLUMN seen TEXT NOT NULL DEFAULT '';  -- as in offline_things, as owner and mac
ALTER TABLE offline_claims ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE offline_claims ADD COLUMN mac BLOB NOT NULL DEFAULT x'';
`}, {Name: "offline/10 accounts and dependants", Open: true, SQL: `
ALTER TABLE offline_things ADD COLUMN account TEXT NOT NULL DEFAULT ''; -- where its service stood when it gave the id; '' = where it stands now
CREATE TABLE offline_dependants ( -- what the service made with a thing
	about  TEXT NOT NULL, -- transaction, token value
	id     TEXT NOT NULL, -- the service's; of a token a keyed digest
	parent TEXT NOT NULL, -- the thing: "link/2000000001"
	mac    BLOB NOT NULL,
	account TEXT NOT NULL DEFAULT '', -- as in offline_things
	PRIMARY KEY (about, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX offline_dependants_parent ON offline_dependants (parent);
`}, {Name: "offline/12 operations of other books", Open: true, SQL: `
CREATE TABLE offline_left (
	service TEXT NOT NULL,
	upto    INTEGER NOT NULL, -- the number of its last operation there; those behind the row before it are of the same books
	account TEXT NOT NULL,    -- as in offline_things
	PRIMARY KEY (service, upto)
) STRICT, WITHOUT ROWID;
`}}
}

// The steps of KeySchema.
const (
	stepSpelled   = "offline/9 ids as they are spelled"
	stepCanonical = "offline/11 things by the keys of their creates"
)

// KeySchema notes since when our Keys are made otherwise. An older program would make others, so these steps shut it out, and the package
// works without them while a program is on trial. They come last: whatever is listed behind them would wait with them.
func KeySchema() []store.Step {
	return []store.Step{{Name: stepSpelled, SQL: `
ALTER TABLE offline_purged ADD COLUMN spelled INTEGER NOT NULL DEFAULT 0; -- up to this operation ids stand in keys in lower case
UPDATE offline_purged SET spelled = (SELECT COALESCE(MAX(id), 0) FROM outbox_ops);
`}, {Name: stepCanonical, SQL: `
ALTER TABLE offline_purged ADD COLUMN canonical INTEGER NOT NULL DEFAULT 0; -- ms on the key clock when our Keys began to be made of the creates' Keys
UPDATE offline_purged SET canonical = (SELECT age_ms + MAX(COALESCE((SELECT accepted_run FROM outbox_ops ORDER BY id DESC LIMIT 1), 0) - run_ms, 0) FROM outbox_clock);
`}}
}

// sinceWhen reads a column of KeySchema; waits is its value while the step waits.
func sinceWhen(r store.Reader, step, column string, waits int64) (n int64, err error) {
	there := false
	if err := r.QueryRow(`SELECT EXISTS (SELECT 1 FROM store_steps WHERE name = ?)`, step).Scan(&there); err != nil || !there {
		return waits, err
	}
	err = r.QueryRow(`SELECT ` + column + ` FROM offline_purged`).Scan(&n)
	return n, err
}

// made finds the thing that an operation makes, by its Key.
func (b *bound) made(key wire.Key) (where string, args []any) {
	if b.Number {
		return `key = ? AND local <> 'L' || key AND about = ?`, []any{string(key), b.Thing}
	}
	return `local = ? AND about = ?`, []any{"L" + string(key), b.Thing}
}

// made reads the thing that an operation makes.
func (f *Front) made(r store.Reader, b *bound, key wire.Key) (t thing, found bool, err error) {
	where, args := b.made(key)
	if t, found, err = f.readThing(r, where, args...); err != nil || found {
		return t, found, err
	}
	return f.readYoung(r, b.Thing, string(key))
}

const (
	thingTable = "offline_things"
	keyTable   = "offline_keys"
	firstLocal = 2_000_000_000 // of things with numbers (MONEY C.6)
)

// thing is something that an operation of ours makes.
type thing struct {
	about, local, backend, seen string
	owner                       string // the local client that made it
	key                         wire.Key
	young                       bool   // it stands beside its operation
	account                     string // where its service stood, if it stands at other books now
}

// errThing says that the map of ids was changed from outside: nothing is sent by it.
var errThing = errors.New("the stored ids were altered")

func (f *Front) thingMAC(t thing) []byte {
	if t.owner == "" { // a row from before there were owners has the sum it had
		return f.o.DB.MAC(thingTable, t.local, t.about, t.backend, string(t.key))
	}
	return f.o.DB.MAC(thingTable, t.local, t.about, t.backend, string(t.key), t.owner)
}

func (f *Front) readThing(r store.Reader, where string, args ...any) (t thing, found bool, err error) {
	var mac []byte
	err = r.QueryRow(`SELECT about, local, backend, key, seen, owner, mac, account FROM offline_things WHERE `+where+` ORDER BY id DESC LIMIT 1`, args...).
		Scan(&t.about, &t.local, &t.backend, &t.key, &t.seen, &t.owner, &mac, &t.account)
	return f.authentic(t, mac, err)
}

// authentic judges a row that was read with err, by its MAC.
func (f *Front) authentic(t thing, mac []byte, err error) (thing, bool, error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return thing{}, false, nil
	case err != nil:
		return thing{}, false, fmt.Errorf("stored ids: %w", err)
	case !bytes.Equal(mac, f.thingMAC(t)):
		return thing{}, false, errThing
	}
	return t, true, nil
}

// readLocal reads a thing by its local id.
func (f *Front) readLocal(r store.Reader, about, local string) (t thing, found bool, err error) {
	if t, found, err = f.readThing(r, `about = ? AND local = ?`, about, local); err != nil || found {
		return t, found, err
	}
	return f.readYoung(r, about, strings.TrimPrefix(local, "L"))
}

// youngThing is what an operation makes that came under a client's key, as long as the backend's id is not known. Its local id is of its
// Key, in the order of chance: it has no index of its own.
const youngThing = `SELECT c.key, c.seen, c.owner, c.mac FROM outbox_ops o JOIN offline_claims c ON c.op = o.id WHERE o.key = ?1 AND c.key = ?1 AND c.about = ?2`

func (f *Front) readYoung(r store.Reader, about, key string) (t thing, found bool, err error) {
	if !wire.Key(key).Ours() {
		return thing{}, false, nil
	}
	var mac []byte
	t = thing{about: about, local: "L" + key, young: true}
	err = r.QueryRow(youngThing, key, about).Scan(&t.key, &t.seen, &t.owner, &mac)
	return f.authentic(t, mac, err)
}

// grow moves a thing from beside its operation to the others.
func (f *Front) grow(tx store.Tx, t thing) error {
	if err := f.insertThing(tx, &t); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE offline_claims SET about = '', seen = '' WHERE op = (SELECT id FROM outbox_ops WHERE key = ?1) AND key = ?1`, string(t.key)); err != nil {
		return fmt.Errorf("store ids: %w", err)
	}
	return nil
}

// byBackend finds a thing by the backend's id, compared exactly: no service says that it folds its ids, and two that differ in a letter's
// case may be two things. The index is of the folded one. An id of other books names nothing here.
const byBackend = `about = ? AND folded = ? AND folded <> '' AND backend = ? AND account = ''`

// findThing looks a thing up by its local id, by the Key of what makes it, or by the backend's id.
func (f *Front) findThing(r store.Reader, about, id string) (t thing, found bool, err error) {
	if t, found, err = f.readThing(r, `about = ? AND local IN (?, ?)`, about, id, "L"+id); err != nil || found {
		return t, found, err
	}
	if t, found, err = f.readYoung(r, about, strings.TrimPrefix(id, "L")); err != nil || found {
		return t, found, err
	}
	if t, found, err = f.readThing(r, `key = ? AND local <> 'L' || key AND about = ?`, id, about); err != nil || found {
		return t, found, err
	}
	return f.readThing(r, byBackend, about, strings.ToLower(id), id)
}

// aggregateOf is what orders the operations on a thing. A thing that is not ours has the backend's id, as it is spelled, and
// never a card number that somebody put there.
func (f *Front) aggregateOf(about, id string, t thing, known bool) string {
	switch {
	case known:
		return about + "/" + t.local
	case wire.MaskPANs(id) != id:
		return about + "/" + hex.EncodeToString(f.o.DB.MAC(thingTable, id)[:16])
	}
	return about + "/" + id
}

// addThing stores a thing that is about to be made and returns its local id.
func (f *Front) addThing(tx store.Tx, numbered bool, t thing) (string, error) {
	if t.local = "L" + string(t.key); numbered {
		t.local = ""
	}
	err := f.insertThing(tx, &t)
	return t.local, err
}

// insertThing stores a thing, and gives one without a local id a number.
func (f *Front) insertThing(tx store.Tx, t *thing) error {
	if f.lastThing == 0 {
		if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM offline_things), 0), (SELECT thing FROM offline_purged))`).Scan(&f.lastThing); err != nil {
			return fmt.Errorf("store ids: %w", err)
		}
	}
	f.lastThing++
	id := f.lastThing
	if t.local == "" {
		t.local = strconv.FormatInt(firstLocal+id, 10)
	}
	_, err := tx.Exec(`INSERT INTO offline_things (id, about, local, backend, folded, key, seen, owner, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, t.about, t.local, t.backend, strings.ToLower(t.backend), string(t.key), t.seen, t.owner, f.thingMAC(*t))
	if err != nil {
		f.lastThing = 0
		return fmt.Errorf("store ids: %w", err)
	}
	return nil
}

// skipped is how many numbers are left out at least where a journal takes a lost one's place, and apart among how many more it begins.
const (
	skipped = 100_000
	apart   = 1_000_000
)

// SkipNumbers leaves out, in the caller's commit, the local numbers that a lost journal may have given: a client that holds one must
// not meet another link under it. made is how many operations that journal had, as far as is known. A journal that the same copy
// took the place of before has left out as many, so each begins at a place of its own.
func SkipNumbers(tx store.Tx, made int64) error {
	_, err := tx.Exec(`UPDATE offline_purged SET thing = MAX(thing, ?, COALESCE((SELECT MAX(id) FROM offline_things), 0)) + ?`, made, skipped+rand.Int64N(apart))
	if err != nil {
		return fmt.Errorf("skip numbers: %w", err)
	}
	return nil
}

// nameThing gives a thing the backend's id.
func (f *Front) nameThing(tx store.Tx, b *bound, key wire.Key, backend string) error {
	t, found, err := f.made(tx, b, key)
	if err != nil || !found {
		return err
	}
	if t.backend = backend; t.young {
		err = f.grow(tx, t)
	} else {
		_, err = tx.Exec(`UPDATE offline_things SET backend = ?, folded = ?, mac = ? WHERE about = ? AND local = ?`,
			backend, strings.ToLower(backend), f.thingMAC(t), t.about, t.local)
	}
	if err == nil && t.owner != "" && f.o.Named != nil {
		err = f.o.Named(tx, t.about, backend, t.owner)
	}
	return err
}

func seenOf(t thing) (s seen) {
	_ = json.Unmarshal([]byte(t.seen), &s) // of a thing that is not ours there is none
	return s
}
