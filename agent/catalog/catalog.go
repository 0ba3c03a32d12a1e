package catalog

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// State says what Current's list is worth.
type State string

// The states.
const (
	Unknown   State = "unknown"    // never fetched, nothing stored
	Fresh     State = "fresh"      //
	Stale     State = "stale"      // older than two refresh intervals; still used
	NoMethods State = "no_methods" // the service says that the merchant has none
)

const (
	firstWait = 5 * time.Second
	slowest   = 5 * time.Minute
	askWithin = 45 * time.Second
)

// ErrBadList is RefreshNow's answer to a list with nothing usable in it.
var ErrBadList = errors.New("method list: nothing usable in it")

// Options make a Catalog. DB, Service and Query are required.
type Options struct {
	DB      store.DB
	Service methods.Service
	Query   methods.Query
	Refresh time.Duration // default 1 h
	Now     func() time.Time
	Jitter  func(time.Duration) time.Duration // default 75..100 %
	Log     *slog.Logger
}

// Catalog is the cache. Its methods are safe for concurrent use.
type Catalog struct {
	opts  Options
	query string // what the stored list was fetched for
	log   *slog.Logger

	asking chan struct{} // holds one token: one question at a time

	mu       sync.Mutex
	loaded   bool
	answered bool // the service has answered in this run
	defs     []methods.Definition
	fetched  time.Time
	none     bool
	lastErr  error
	problems []string
}

// New makes a catalog; it reads and asks nothing yet.
func New(opts Options) *Catalog {
	if opts.Refresh <= 0 {
		opts.Refresh = time.Hour
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Jitter == nil {
		opts.Jitter = func(d time.Duration) time.Duration { return d - rand.N(d/4+1) }
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	asked := []any{opts.Query.BaxID, opts.Query.TerminalID, []int32(opts.Query.Exclude), opts.Query.Lang}
	if c := opts.Query.Caller; c != "" && c != "posagent" { // the usual one is not stored: lists from before have none
		asked = append(asked, opts.Query.Caller)
	}
	q, _ := json.Marshal(asked) // plain values marshal
	c := &Catalog{opts: opts, query: string(q), log: opts.Log.With("sys", "catalog"), asking: make(chan struct{}, 1)}
	c.asking <- struct{}{}
	return c
}

// Schema returns the migration steps of the catalog's table.
func Schema() []store.Step {
	return []store.Step{{Name: "catalog/1 list", SQL: `
CREATE TABLE catalog_list (
	id         INTEGER PRIMARY KEY CHECK (id = 1),
	query      TEXT NOT NULL,    -- what was asked
	fetched_ms INTEGER NOT NULL, -- wall clock
	none       INTEGER NOT NULL, -- 1 = the service said there are none
	list       BLOB NOT NULL,    -- JSON array of definitions
	mac        BLOB NOT NULL
) STRICT;`}}
}

// Load reads the stored list; Run does it first. A list that cannot be trusted is left alone and not used.
func (c *Catalog) Load(ctx context.Context) error {
	var query string
	var fetched, none int64
	var list, mac []byte
	err := c.opts.DB.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT query, fetched_ms, none, list, mac FROM catalog_list WHERE id = 1`).
			Scan(&query, &fetched, &none, &list, &mac)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("load method list: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return nil
	}
	c.loaded = true
	if err != nil {
		return nil
	}
	var defs []methods.Definition
	switch {
	case !bytes.Equal(mac, c.opts.DB.MAC("catalog_list", "1", query, fetched, none, list)):
		c.lastErr = errors.New("stored method list was altered")
		c.log.Error("stored method list not used", "err", c.lastErr)
	case query != c.query:
		c.log.Info("stored method list is another terminal's")
	default:
		if err := json.Unmarshal(list, &defs); err != nil {
			c.lastErr = fmt.Errorf("stored method list: %w", err)
			c.log.Error("stored method list not used", "err", c.lastErr)
			return nil
		}
		c.defs, c.fetched, c.none = defs, time.UnixMilli(fetched), none != 0
	}
	return nil
}

// Run keeps the list fresh until ctx ends; it returns nil then.
func (c *Catalog) Run(ctx context.Context) error {
	for try := 0; ; try++ {
		err := c.Load(ctx)
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			c.log.Error("method list not loaded", "err", err)
		}
		if !sleep(ctx, c.pause(try)) {
			return nil
		}
	}
	wait := c.first()
	for failures := 0; ; {
		if !sleep(ctx, wait) {
			return nil
		}
		err := c.RefreshNow(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failures = 0
			wait = c.opts.Jitter(c.opts.Refresh)
		case errors.Is(err, &wire.Error{Code: wire.NotFound}):
			failures = 0
			wait = c.opts.Jitter(min(slowest, c.opts.Refresh))
		default:
			c.log.Warn("method list not refreshed", "err", err)
			wait = c.pause(failures)
			failures++
			var e *wire.Error
			if errors.As(err, &e) {
				wait = max(wait, min(e.RetryAfter, slowest))
			}
		}
	}
}

// first is how long the stored list is still good.
func (c *Catalog) first() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetched.IsZero() || c.none {
		return 0
	}
	age := c.opts.Now().Sub(c.fetched)
	if age < 0 || age >= c.opts.Refresh { // an age below zero is a clock that went back
		return 0
	}
	return c.opts.Jitter(c.opts.Refresh - age)
}

func (c *Catalog) pause(failures int) time.Duration {
	d := slowest
	if failures < 10 {
		d = firstWait << failures
	}
	return max(c.opts.Jitter(min(d, slowest, c.opts.Refresh)), 100*time.Millisecond)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// RefreshNow asks the service once, after the request that is under way. nil: the list is fresh and stored. wire.NotFound: the
// merchant has no methods. ErrBadList, other wire errors, store errors: what was known still is.
func (c *Catalog) RefreshNow(ctx context.Context) error {
	select {
	case <-c.asking:
		defer func() { c.asking <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := c.Load(ctx); err != nil {
		return err
	}
	actx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	defs, err := c.opts.Service.List(actx, c.opts.Query)
	if errors.Is(err, &wire.Error{Code: wire.NotFound}) {
		return errors.Join(err, c.keep(ctx, nil, true, nil, err))
	}
	if err == nil {
		good, problems := methods.Usable(defs)
		if len(good) > 0 {
			return c.keep(ctx, good, false, problems, nil)
		}
		err = errors.Join(append([]error{ErrBadList}, problems...)...)
		c.mu.Lock()
		never := c.fetched.IsZero() && len(defs) == 0
		c.mu.Unlock()
		if never {
			return errors.Join(err, c.keep(ctx, nil, true, nil, err))
		}
	}
	c.mu.Lock()
	c.lastErr = err
	c.mu.Unlock()
	return err
}

// keep stores and publishes an answer. What cannot be stored is used all the same, until the restart.
func (c *Catalog) keep(ctx context.Context, defs []methods.Definition, none bool, problems []error, cause error) error {
	now := c.opts.Now()
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	c.mu.Lock()
	changed := c.none != none || len(c.defs) != len(defs)
	c.defs, c.fetched, c.none, c.lastErr, c.problems, c.answered = defs, now, none, cause, texts, true
	c.mu.Unlock()
	if changed {
		c.log.Info("method list changed", "methods", len(defs), "problems", len(problems))
	}
	list, err := json.Marshal(append([]methods.Definition{}, defs...))
	if err != nil {
		return fmt.Errorf("store method list: %w", err)
	}
	flag := int64(0)
	if none {
		flag = 1
	}
	mac := c.opts.DB.MAC("catalog_list", "1", c.query, now.UnixMilli(), flag, list)
	err = c.opts.DB.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO catalog_list (id, query, fetched_ms, none, list, mac) VALUES (1, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET query = excluded.query, fetched_ms = excluded.fetched_ms, none = excluded.none,
			list = excluded.list, mac = excluded.mac`, c.query, now.UnixMilli(), flag, list, mac)
		return err
	})
	if err != nil {
		return fmt.Errorf("store method list: %w", err)
	}
	return nil
}

// Current is the list now, best first as the service ordered it, when it was fetched (zero = never), and what it is worth.
// The definitions are shared: do not change them.
func (c *Catalog) Current() ([]methods.Definition, time.Time, State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defs := slices.Clone(c.defs)
	switch age := c.opts.Now().Sub(c.fetched); {
	case c.fetched.IsZero():
		return nil, time.Time{}, Unknown
	case c.none:
		return nil, c.fetched, NoMethods
	case age < 0 || age > 2*c.opts.Refresh:
		return defs, c.fetched, Stale
	}
	return defs, c.fetched, Fresh
}

// Trouble is the last refresh's error, nil when it was good, and what was mended or left out of the list in use.
func (c *Catalog) Trouble() (problems []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems), c.lastErr
}

// Answered says whether the service has answered since New, with a list or with the word that there is none.
func (c *Catalog) Answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered
}
