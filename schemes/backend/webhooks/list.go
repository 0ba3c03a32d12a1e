package webhooks

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// Delivery is one message on its way to one hook, as a list shows it. It carries no secret: of the URL the query is left out.
type Delivery struct {
	ID       int64     `json:"delivery"`
	Message  string    `json:"id"` // the event's id
	Event    string    `json:"event"`
	Subject  string    `json:"subject"`
	URL      string    `json:"url"`
	State    string    `json:"state"` // queued, done, dead
	Created  int64     `json:"createdMs"`
	Due      int64     `json:"dueMs,omitempty"`
	Paused   string    `json:"paused,omitempty"` // why it waits for the end of its endpoint's pause
	Attempts []Attempt `json:"attempts"`
}

// Filter chooses deliveries. The zero value means all of them.
type Filter struct {
	State   string
	Subject string
	Limit   int // 0 = 1000
}

// Read lists deliveries, the newest first.
func Read(r store.Reader, f Filter) ([]Delivery, error) {
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	list := []Delivery{}
	err := store.Each(r, func(row store.Row) error {
		var d Delivery
		err := row.Scan(&d.ID, &d.Message, &d.Event, &d.Subject, &d.URL, &d.State, &d.Created, &d.Due, &d.Paused)
		d.URL, _, _ = strings.Cut(d.URL, "?")
		list = append(list, d)
		return err
	}, `SELECT v.id, m.id, m.event, m.subject, h.url, v.state, m.created_ms, coalesce(v.due_ms, 0),
		CASE WHEN e.until_ms = v.due_ms THEN e.reason ELSE '' END
		FROM deliver_delivery v JOIN deliver_message m ON m.id = v.message JOIN deliver_hook h ON h.id = v.hook
		LEFT JOIN deliver_endpoint e ON e.origin = v.origin
		WHERE (? = '' OR v.state = ?) AND (? = '' OR m.subject = ?) ORDER BY v.id DESC LIMIT ?`,
		f.State, f.State, f.Subject, f.Subject, f.Limit)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Attempts, err = attempts(r, list[i].ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func attempts(r store.Reader, delivery int64) ([]Attempt, error) {
	list := []Attempt{}
	err := store.Each(r, func(row store.Row) error {
		var a Attempt
		err := row.Scan(&a.N, &a.At, &a.Took, &a.Status, &a.Note)
		list = append(list, a)
		return err
	}, `SELECT n, at_ms, took_ms, status, note FROM deliver_attempt WHERE delivery = ? ORDER BY n`, delivery)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// List lists deliveries, the newest first.
func (d *Deliver) List(ctx context.Context, f Filter) (list []Delivery, err error) {
	err = d.db.Read(ctx, func(r store.Reader) error {
		list, err = Read(r, f)
		return err
	})
	return list, err
}

// Dead lists what was given up.
func (d *Deliver) Dead(ctx context.Context) ([]Delivery, error) {
	return d.List(ctx, Filter{State: Dead})
}

// Attempts lists the attempts of one delivery, the first one first.
func (d *Deliver) Attempts(ctx context.Context, delivery int64) (list []Attempt, err error) {
	err = d.db.Read(ctx, func(r store.Reader) error {
		list, err = attempts(r, delivery)
		return err
	})
	return list, err
}

// ReplayOne sends a message once more to every hook it was queued for, acknowledged or not: at once, then by its whole
// schedule, with the same id and body. wire.NotFound when there is none.
func (d *Deliver) ReplayOne(ctx context.Context, message string) (int, error) {
	n, err := d.replay(ctx, `message = ?`, message)
	if err == nil && n == 0 {
		err = wire.Errorf(wire.NotFound, "deliver.replay", "no such event")
	}
	return n, err
}

// ReplaySince does the same for every dead delivery whose message was made at since or later.
func (d *Deliver) ReplaySince(ctx context.Context, since time.Time) (int, error) {
	return d.replay(ctx, `state = 'dead' AND message IN (SELECT id FROM deliver_message WHERE created_ms >= ?)`, since.UnixMilli())
}

func (d *Deliver) replay(ctx context.Context, which string, arg any) (int, error) {
	return d.change(ctx, func(tx store.Tx) (sql.Result, error) {
		return tx.Exec(`UPDATE deliver_delivery SET state = 'queued', step = 0, settled_ms = NULL, due_ms = ? WHERE `+which, d.now().UnixMilli(), arg)
	})
}

// Resume ends the pause of the endpoint that a URL belongs to and says how many deliveries that frees.
func (d *Deliver) Resume(ctx context.Context, url string) error {
	defer d.Poke()
	return d.db.Write(ctx, func(tx store.Tx) error { return d.resume(tx, origin(url)) })
}

func (d *Deliver) change(ctx context.Context, do func(store.Tx) (sql.Result, error)) (int, error) {
	var n int64
	err := d.db.Write(ctx, func(tx store.Tx) error {
		res, err := do(tx)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	d.Poke()
	return int(n), err
}

// Backlog is what waits to be delivered.
type Backlog struct {
	Waiting int           // deliveries that are neither done nor given up
	Overdue time.Duration // how long the oldest of them is due; 0 = none is
	Paused  int           // endpoints that are paused
}

// Waiting counts what waits at a moment.
func Waiting(r store.Reader, now time.Time) (q Backlog, err error) {
	var first int64
	if err := r.QueryRow(`SELECT count(*), coalesce(min(due_ms), 0) FROM deliver_delivery WHERE due_ms IS NOT NULL`).Scan(&q.Waiting, &first); err != nil {
		return q, err
	}
	if first != 0 {
		q.Overdue = max(0, now.Sub(time.UnixMilli(first)))
	}
	return q, r.QueryRow(`SELECT count(*) FROM deliver_endpoint WHERE until_ms > ?`, now.UnixMilli()).Scan(&q.Paused)
}

// Lag is what a doctor asks of the deliveries.
type Lag struct {
	Late   int64    // deliveries that should have been tried
	Since  int64    // when the first of them should have been, unix ms; 0 = none is late
	Paused []string // endpoints that get nothing for a while, and why
}

// Behind reads what should have been sent before a moment (unix ms), and which endpoints are paused at it.
func Behind(r store.Reader, before, now int64) (b Lag, err error) {
	err = r.QueryRow(`SELECT count(*), coalesce(min(due_ms), 0) FROM deliver_delivery WHERE due_ms IS NOT NULL AND due_ms < ?`, before).Scan(&b.Late, &b.Since)
	if err != nil {
		return b, err
	}
	b.Paused, err = store.Column[string](r, `SELECT origin || ': ' || reason FROM deliver_endpoint WHERE until_ms > ? ORDER BY origin LIMIT 20`, now)
	return b, err
}
