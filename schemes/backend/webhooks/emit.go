package webhooks

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// States of a delivery.
const (
	Queued = "queued"
	Done   = "done"
	Dead   = "dead"
)

const maxHooks = 64

// looks is how many short looks follow an Emit whose commit may still be on its way; the first comes after firstLook, each
// other after three times the time before it.
const (
	looks     = 8
	firstLook = 10 * time.Millisecond
)

// secret is what of a hook is sealed.
type secret struct {
	Authorization string      `json:"a,omitempty"`
	Headers       [][2]string `json:"h,omitempty"`
	Fill          string      `json:"f,omitempty"`
}

// Register gives subject these hooks instead of what it had, inside the caller's commit. A hook that Check refuses is
// wire.Invalid and nothing is registered.
func (d *Deliver) Register(tx store.Tx, subject string, hooks []Hook) error {
	if len(hooks) > maxHooks {
		return wire.Errorf(wire.Invalid, "", "webHooks: more than %d", maxHooks)
	}
	for i, h := range hooks {
		if err := d.CheckHook(h); err != nil {
			return wire.Errorf(wire.Invalid, "", "webHooks[%d]: %v", i, err)
		}
	}
	if _, err := tx.Exec(`UPDATE deliver_hook SET live = 0 WHERE subject = ? AND live = 1`, subject); err != nil {
		return fmt.Errorf("hooks of %s: %w", subject, err)
	}
	for _, h := range hooks {
		var id int64
		if err := tx.QueryRow(`INSERT INTO deliver_hook (subject, event, url, origin, live) VALUES (?, ?, ?, ?, 1) RETURNING id`, subject, h.Event, h.URL, origin(h.URL)).Scan(&id); err != nil {
			return fmt.Errorf("hooks of %s: %w", subject, err)
		}
		if h.Authorization == "" && len(h.Headers) == 0 && h.Fill == "" {
			continue
		}
		plain, err := json.Marshal(secret{h.Authorization.Reveal(), h.Headers, h.Fill.Reveal()})
		if err != nil {
			return err
		}
		sealed, err := d.db.Seal(tx, cell(subject, id), plain)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE deliver_hook SET secret = ? WHERE id = ?`, sealed, id); err != nil {
			return err
		}
	}
	return nil
}

// cell is where a hook's secret is sealed: one data key per subject.
func cell(subject string, id int64) store.Cell {
	return store.Cell{Table: "deliver_hook", Key: subject, Column: "secret " + strconv.FormatInt(id, 10)}
}

// Emit queues one delivery of m for every hook of its subject that names its event, inside the caller's commit, and
// says how many. A message id that was queued before has no second effect.
func (d *Deliver) Emit(tx store.Tx, m Message) (int, error) {
	if m.ID == "" || m.Event == "" || m.Subject == "" || len(m.Body) > MaxBody {
		return 0, errMessage
	}
	type target struct {
		id     int64
		origin string
		until  int64
	}
	now := d.now().UnixMilli()
	var targets []target
	err := store.Each(tx, func(row store.Row) error {
		var t target
		err := row.Scan(&t.id, &t.origin, &t.until)
		targets = append(targets, t)
		return err
	}, `SELECT h.id, h.origin, coalesce(e.until_ms, 0) FROM deliver_hook h LEFT JOIN deliver_endpoint e ON e.origin = h.origin
		WHERE h.subject = ? AND h.event = ? AND h.live = 1 ORDER BY h.id`, m.Subject, m.Event)
	if err != nil || len(targets) == 0 {
		return 0, err
	}
	if m.ContentType == "" {
		m.ContentType = "application/json"
	}
	headers, err := json.Marshal(m.Headers)
	if err != nil {
		return 0, err
	}
	res, err := tx.Exec(`INSERT INTO deliver_message (id, event, subject, body, content_type, headers, schedule, created_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`, m.ID, m.Event, m.Subject, m.Body, m.ContentType, string(headers), string(m.Schedule), now)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	for _, t := range targets {
		if _, err := tx.Exec(`INSERT INTO deliver_delivery (message, hook, origin, state, tries, step, due_ms) VALUES (?, ?, ?, ?, 0, 0, ?)`,
			m.ID, t.id, t.origin, Queued, max(now, t.until)); err != nil {
			return 0, err
		}
	}
	d.warm.Store(looks)
	d.Poke()
	return len(targets), nil
}

// CheckHook says what is wrong with a hook, without its content.
func (d *Deliver) CheckHook(h Hook) error {
	if h.Event == "" || !wire.PlainText(h.Event, 128) {
		return fmt.Errorf("eventName: want 1 to 128 characters")
	}
	if err := d.Check(h.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if !check.HeaderValue(h.Authorization.Reveal()) {
		return fmt.Errorf("authorization: want at most %d visible ASCII characters", check.MaxHeader)
	}
	if len(h.Headers) > check.MaxHeaders {
		return fmt.Errorf("headers: more than %d", check.MaxHeaders)
	}
	for _, kv := range h.Headers {
		if !check.HeaderName(kv[0]) || !check.HeaderValue(kv[1]) {
			return fmt.Errorf("headers: a name or value that cannot be sent")
		}
	}
	return nil
}
