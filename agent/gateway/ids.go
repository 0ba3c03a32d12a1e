package gateway

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// IDs gives the local id of the thing that an operation is about, and the backend's where it is known; "" where it is not about
// a thing of ours. What it reads is not verified: it is for showing only.
func IDs(r store.Reader, op outbox.Op) (local, backend string) {
	about, id, _ := strings.Cut(op.Aggregate, "/")
	if op.State == outbox.Pending && op.Attempts == 0 && id == "L"+string(op.Key) { // it is to make the thing, and nobody was asked yet
		return id, ""
	}
	if r.QueryRow(shownIDs, about, id).Scan(&local, &backend) != nil {
		return "", ""
	}
	if b := keptOf(op).Made; backend == "" && op.State == outbox.Done { // it is being stored
		backend = b
	}
	return local, backend
}

// shownIDs are the ids of a thing by its local one, wherever it stands.
const shownIDs = `SELECT local, backend FROM offline_things WHERE about = ?1 AND local = ?2
	UNION ALL SELECT 'L' || c.key, '' FROM outbox_ops o JOIN offline_claims c ON c.op = o.id WHERE o.key = substr(?2, 2) AND c.about = ?1 AND ?2 = 'L' || c.key LIMIT 1`

// Find is the Key of the operation that made a thing, by the thing's local or backend's id; of a thing that nobody here made, the
// Key of the newest operation on it. A caller that reaches its own things only finds those. outbox.ErrUnknown. What it reads is not
// verified.
func Find(r store.Reader, caller wire.Caller, name string) ([]wire.Key, error) {
	var key wire.Key
	err := r.QueryRow(`SELECT key FROM offline_things WHERE about IN ('payment', 'token', 'link') AND (local = ?1 OR folded = ?2 AND folded <> '' AND backend = ?1)
		AND (?3 = 0 OR owner = ?4) ORDER BY id DESC LIMIT 1`, name, strings.ToLower(name), caller.Own, caller.Name).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		err = r.QueryRow(`SELECT c.key FROM outbox_ops o JOIN offline_claims c ON c.op = o.id WHERE o.key = substr(?1, 2) AND c.about <> '' AND ?1 = 'L' || c.key
			AND (?2 = 0 OR c.owner = ?3)`, name, caller.Own, caller.Name).Scan(&key)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = r.QueryRow(`SELECT key FROM outbox_ops WHERE leads = 0 AND aggregate IN (?1, ?2, ?3, ?4) AND (?5 = 0 OR owner = ?6) ORDER BY id DESC LIMIT 1`,
			"payment/"+name, "token/"+name, "link/"+name, "transaction/"+name, caller.Own, caller.Name).Scan(&key)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, outbox.ErrUnknown
	case err != nil:
		return nil, fmt.Errorf("find operation: %w", err)
	}
	return []wire.Key{key}, nil
}
