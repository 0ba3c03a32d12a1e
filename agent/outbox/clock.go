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
//
// Within one boot the boot's own clock tells the time between two runs. After another boot only a true time tells it: a wall clock may be
// wrong by years (MONEY B.12). Until one is heard, age is too low, and nothing may be sent again on its word (unsure).
type clock struct {
	mu      sync.Mutex
	boot    func() time.Duration
	bootID  string
	now     func() time.Time
	trusted func() (time.Time, bool) // nil = the wall clock is true

	loaded    bool
	start     time.Duration
	baseRun   int64
	baseAge   int64
	saved     int64 // the age as it was read
	sure      bool
	anchorAge int64
	anchorMS  int64
	guessed   bool  // the anchor is a wall clock's
	fromAge   int64 // what was sent in this run before a gap of jump ms was learnt has an age from fromAge to toAge
	toAge     int64
	jump      int64
	kept      int64 // running time at the last keep
}

// keepEvery is how much running time a power cut may lose while operations are sent. What lies between two runs is known by
// a true time, so it is this much that a Key may seem younger than it is, of a day.
const keepEvery = time.Second

const (
	// clockSlip is how far two true times may contradict each other.
	clockSlip = 5 * time.Minute
	// unknowable is added to the age where nothing will tell how long a gap was: what was sent before it is old.
	unknowable = 10 * 365 * 24 * time.Hour
)

// load reads the stored figures once.
func (c *clock) load(r store.Reader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return nil
	}
	var boot string
	var bootMS, sure, wall int64
	if err := r.QueryRow(`SELECT run_ms, age_ms, wall_ms, boot, boot_ms, sure, anchor_age, anchor_ms FROM outbox_clock WHERE id = 1`).
		Scan(&c.baseRun, &c.baseAge, &wall, &boot, &bootMS, &sure, &c.anchorAge, &c.anchorMS); err != nil {
		return fmt.Errorf("outbox clock: %w", err)
	}
	c.sure = sure == 1 || wall == 0 // nothing was ever sent
	if c.trusted == nil || c.anchorMS == 0 {
		c.anchorAge, c.anchorMS, c.guessed = c.baseAge, wall, true
	}
	gap := c.boot().Milliseconds() - bootMS
	if c.trusted == nil || boot == "" || boot != c.bootID || gap < 0 { // the boot's clock does not tell the gap
		c.sure, gap = wall == 0, 0
	}
	// A crash loses up to a minute of it. What was accepted in that minute shows how late it was: running time never goes back.
	var last int64
	err := r.QueryRow(`SELECT accepted_run FROM outbox_ops ORDER BY id DESC LIMIT 1`).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("outbox clock: %w", err)
	}
	lost := max(last-c.baseRun, 0)
	c.baseRun, c.baseAge = c.baseRun+lost, c.baseAge+max(lost, gap)
	c.saved, c.fromAge = c.baseAge, c.baseAge+2*keepEvery.Milliseconds() // what was sent just before a power cut may be newer than what was saved
	c.start, c.loaded = c.boot(), true
	c.observe()
	return nil
}

func (c *clock) since() int64 { return max((c.boot() - c.start).Milliseconds(), 0) }

// observe learns the time between the runs as soon as a true time tells it.
func (c *clock) observe() {
	at, ok := c.now(), true
	if c.trusted != nil {
		at, ok = c.trusted()
	}
	if !ok || c.trusted == nil && c.sure {
		return
	}
	ms, age := at.UnixMilli(), c.baseAge+c.since()
	if c.anchorMS != 0 {
		behind := ms < c.anchorMS
		switch {
		case c.guessed && c.trusted != nil && !c.sure: // nothing has confirmed it: it bounds no age
			c.forward(unknowable.Milliseconds(), age)
		case behind && c.trusted == nil: // the wall clock is behind what was stored: keep counting from there
			return
		case behind && !c.sure && ms+clockSlip.Milliseconds() < c.anchorMS:
			c.forward(unknowable.Milliseconds(), age)
		case !behind:
			if gap := c.anchorAge + ms - c.anchorMS - age; gap > 0 && (!c.sure || gap > clockSlip.Milliseconds()) {
				c.forward(gap, age)
			}
		}
	} else if !c.sure {
		c.forward(unknowable.Milliseconds(), age)
	}
	c.sure = true
	if c.trusted != nil {
		c.anchorAge, c.anchorMS, c.guessed = c.baseAge+c.since(), ms, false
	}
}

// forward adds a gap to an age.
func (c *clock) forward(gap, age int64) {
	if c.jump == 0 {
		c.toAge, c.jump = age, gap
	}
	c.baseAge += gap
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

// age is the running time plus the time between runs, as far as it is known, in ms.
func (c *clock) age() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observe()
	return c.baseAge + c.since()
}

// old is how long ago an age was, at most, in ms. unsure says that it may be longer: a gap between two runs is not known yet.
func (c *clock) old(then int64) (ms int64, unsure bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observe()
	ms = c.baseAge + c.since() - then
	thisRun := then > c.fromAge && (!c.sure || then <= c.toAge)
	if thisRun {
		return ms - c.jump, false
	}
	return ms, c.trusted != nil && !c.sure
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
	return c.saved
}

// save stores the figures with the caller's change.
func (c *clock) save(tx store.Tx) error {
	run, age := c.run(), c.age()
	c.mu.Lock()
	wall, sure := c.now().UnixMilli(), 0
	if !c.sure && c.guessed { // the wall clock is behind what was stored, or is not trusted: keep counting from there
		wall = c.anchorMS + c.since()
	}
	if c.sure {
		sure = 1
	}
	anchorAge, anchorMS := c.anchorAge, c.anchorMS
	if c.guessed {
		anchorAge, anchorMS = 0, 0
	}
	boot, id := c.boot().Milliseconds(), c.bootID
	c.mu.Unlock()
	if _, err := tx.Exec(`UPDATE outbox_clock SET run_ms = ?, age_ms = ?, wall_ms = ?, boot = ?, boot_ms = ?, sure = ?, anchor_age = ?, anchor_ms = ? WHERE id = 1`,
		run, age, wall, id, boot, sure, anchorAge, anchorMS); err != nil {
		return fmt.Errorf("outbox clock: %w", err)
	}
	return nil
}
