package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"posagent/store"
)

// Schema is the table of the leases.
func Schema() []store.Step {
	return []store.Step{{Name: "lease/1 tasks", Open: true, SQL: `
CREATE TABLE lease_task (
	name TEXT NOT NULL PRIMARY KEY,
	holder TEXT NOT NULL,
	beat INTEGER NOT NULL
) STRICT;`}}
}

// Task is work that one process does at a time. It runs until its context ends, and may begin again later.
type Task struct {
	Name string
	Work func(context.Context) error
}

// Options are what Run needs. Only DB is required.
type Options struct {
	DB    store.DB
	Every time.Duration // between two counts; 0 = 3 s
	After time.Duration // a lease that was not counted up for so long is taken; 0 = 4 x Every
	Log   *slog.Logger
}

// releaseWithin bounds what a process that ends does for the others.
const releaseWithin = 5 * time.Second

// Run works on those of the tasks whose lease this process has, until ctx ends and they have ended; it returns ctx's error, or that of a
// task that gave up.
func Run(ctx context.Context, opt Options, tasks ...Task) error {
	if opt.Every == 0 {
		opt.Every = 3 * time.Second
	}
	if opt.After == 0 {
		opt.After = 4 * opt.Every
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	h := &holder{opt: opt, log: opt.Log.With("sys", "lease"), name: rand.Text(), tasks: tasks, seen: map[string]sighting{}, ended: make(chan error, len(tasks))}
	defer h.release(ctx)
	defer h.stop()
	return h.run(ctx)
}

// holder is a process that shares tasks with others.
type holder struct {
	opt   Options
	log   *slog.Logger
	name  string
	tasks []Task
	seen  map[string]sighting
	at    map[string]*work // what this process works on
	ended chan error       // of works that ended by themselves
}

// row is a lease as the database has it.
type row struct {
	holder string
	beat   int64
}

// sighting is a lease of another process, and since when it was not counted up.
type sighting struct {
	row
	since time.Time
}

// work is a task that runs.
type work struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (h *holder) run(ctx context.Context) error {
	h.at = map[string]*work{}
	tick := time.NewTicker(h.opt.Every)
	defer tick.Stop()
	expired := time.NewTimer(h.opt.After * 2 / 3)
	defer expired.Stop()
	rounds := make(chan round, 1)
	look := func() { // it may take long, and the leases end meanwhile
		began := time.Now()
		rows, err := h.round(ctx, began)
		rounds <- round{rows, began, err}
	}
	looking := true
	go look()
	defer func() {
		if looking {
			<-rounds
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-h.ended:
			return err
		case <-expired.C:
			if len(h.at) > 0 {
				h.log.Warn("the leases could not be kept: others may take them")
			}
			h.stop()
		case <-tick.C:
			if !looking {
				looking = true
				go look()
			}
		case r := <-rounds:
			looking = false
			if r.err != nil {
				if ctx.Err() == nil {
					h.log.Warn("the leases are not counted up", "err", r.err)
				}
				continue
			}
			expired.Reset(time.Until(r.began.Add(h.opt.After * 2 / 3)))
			h.follow(ctx, r)
		}
	}
}

// round is one look at the leases.
type round struct {
	rows  map[string]row
	began time.Time
	err   error
}

// round counts the leases of this process up, takes those that were left, and reads all.
func (h *holder) round(ctx context.Context, now time.Time) (rows map[string]row, err error) {
	err = h.opt.DB.Write(ctx, func(tx store.Tx) error {
		rows = map[string]row{}
		err := store.Each(tx, func(r store.Row) error {
			var name string
			var at row
			err := r.Scan(&name, &at.holder, &at.beat)
			rows[name] = at
			return err
		}, `SELECT name, holder, beat FROM lease_task`)
		if err != nil {
			return err
		}
		for _, t := range h.tasks {
			at, there := rows[t.Name]
			last := h.seen[t.Name]
			left := there && at == last.row && now.Sub(last.since) >= h.opt.After
			if there && at.holder != h.name && !left {
				continue
			}
			next := row{h.name, at.beat + 1}
			if _, err := tx.Exec(`INSERT INTO lease_task (name, holder, beat) VALUES (?, ?, ?)
				ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, beat = excluded.beat`, t.Name, next.holder, next.beat); err != nil {
				return err
			}
			rows[t.Name] = next
		}
		return nil
	})
	return rows, err
}

// follow begins and ends work as the leases say.
func (h *holder) follow(ctx context.Context, r round) {
	for _, t := range h.tasks {
		at := r.rows[t.Name]
		if last := h.seen[t.Name]; at != last.row {
			h.seen[t.Name] = sighting{at, time.Now()}
		}
		switch w, works := h.at[t.Name]; {
		case at.holder == h.name && !works:
			h.log.Info("works on", "task", t.Name)
			h.at[t.Name] = h.begin(ctx, t)
		case at.holder != h.name && works:
			w.end()
			delete(h.at, t.Name)
		}
	}
}

func (h *holder) begin(ctx context.Context, t Task) *work {
	ctx, cancel := context.WithCancel(ctx)
	w := &work{cancel, make(chan struct{})}
	go func() {
		defer close(w.done)
		if err := t.Work(ctx); ctx.Err() == nil {
			if err == nil {
				err = errors.New("lease: " + t.Name + " has ended by itself")
			}
			h.ended <- err
		}
	}()
	return w
}

func (w *work) end() {
	w.cancel()
	<-w.done
}

// stop ends all work of this process.
func (h *holder) stop() {
	for _, w := range h.at {
		w.cancel()
	}
	for name, w := range h.at {
		<-w.done
		delete(h.at, name)
	}
}

// release leaves the leases to others.
func (h *holder) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if err := h.opt.DB.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`DELETE FROM lease_task WHERE holder = ?`, h.name)
		return err
	}); err != nil {
		h.log.Warn("the leases end by themselves", "err", err)
	}
}
