package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"posagent/store"
)

// clock counts running time (run) and, for the backend's memory of a Key, running time plus the time between
// two runs (age), both in ms and over restarts.
type clock struct {
	mu                        sync.Mutex
	boot                      func() time.Duration
	now                       func() time.Time
	loaded                    bool
	start                     time.Duration
	baseRun, baseAge, wallWas int64
	off                       int64 // ms between the runs
	offKnown                  bool
	kept                      int64 // running time at the last keep
}

// keepEvery is how much running time a power cut may lose while operations are sent. What lies between two runs is known by
// the wall clock, so it is this much that a Key may seem younger than it is, of a day.
const keepEvery = time.Second

// load reads the stored figures once.
func (c *clock) load(r store.Reader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return nil
	}
	if err := r.QueryRow(`SELECT run_ms, age_ms, wall_ms FROM outbox_clock WHERE id = 1`).
		Scan(&c.baseRun, &c.baseAge, &c.wallWas); err != nil {
		return fmt.Errorf("outbox clock: %w", err)
	}
	// A crash loses up to a minute of it. What was accepted in that minute shows how late it was: running time never goes back.
	var last int64
	err := r.QueryRow(`SELECT accepted_run FROM outbox_ops ORDER BY id DESC LIMIT 1`).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("outbox clock: %w", err)
	}
	if lost := last - c.baseRun; lost > 0 {
		c.baseRun, c.baseAge = c.baseRun+lost, c.baseAge+lost
		if c.wallWas != 0 {
			c.wallWas += lost
		}
	}
	c.start, c.loaded = c.boot(), true
	c.offKnown = c.wallWas == 0
	c.observe()
	return nil
}

func (c *clock) since() int64 { return max((c.boot() - c.start).Milliseconds(), 0) }

// observe learns the time between the runs as soon as the wall clock can tell it.
func (c *clock) observe() {
	if c.offKnown {
		return
	}
	if gap := c.now().UnixMilli() - c.since() - c.wallWas; gap >= 0 {
		c.off, c.offKnown = gap, true
	}
}

// run is the running time so far, in ms.
func (c *clock) run() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.baseRun + c.since()
}

// began is the running time when this run began, in ms.
func (c *clock) began() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.baseRun
}

// age is the running time plus the time between runs, in ms.
func (c *clock) age() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observe()
	return c.baseAge + c.off + c.since()
}

// keep stores the figures with the caller's change now and then: each time would cost a page.
func (c *clock) keep(tx store.Tx) error {
	run := c.run()
	c.mu.Lock()
	late := run-c.kept >= keepEvery.Milliseconds() || c.kept == 0
	if late {
		c.kept = run
	}
	c.mu.Unlock()
	if !late {
		return nil
	}
	return c.save(tx)
}

// stored is the age that was last saved: what is not in the journal happened later.
func (c *clock) stored() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.baseAge
}

// save stores the figures with the caller's change.
func (c *clock) save(tx store.Tx) error {
	run, age := c.run(), c.age()
	c.mu.Lock()
	wall := c.now().UnixMilli()
	if !c.offKnown { // the wall clock is behind what was stored: keep counting from there
		wall = c.wallWas + c.since()
	}
	c.mu.Unlock()
	if _, err := tx.Exec(`UPDATE outbox_clock SET run_ms = ?, age_ms = ?, wall_ms = ? WHERE id = 1`, run, age, wall); err != nil {
		return fmt.Errorf("outbox clock: %w", err)
	}
	return nil
}
