package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"posagent/agent/control"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// drained is what became of what was sent (posagent.ops.send/1).
type drained struct {
	Schema    string            `json:"schema"`
	Key       wire.Key          `json:"key,omitempty"` // "" = all
	Due       int               `json:"due"`
	Settled   []view.Reconciled `json:"settled"` // by kind and currency, what ended while it was watched
	Remaining int               `json:"remaining"`
	Seconds   float64           `json:"seconds"`
}

// drain watches operations end.
type drain struct {
	c     *call
	key   wire.Key // "" = all
	tty   bool
	began time.Time
	moved time.Time // when something last changed
	ended int64
	v     drained
}

func opsSend(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	key, err := target(ctx, c, o.all)
	if err != nil {
		return err
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	to := control.Client{Path: controlSocket(c)}
	send := func() (due int, err error) {
		if o.all {
			return to.SendAll(ctx)
		}
		return 1, to.Send(ctx, key)
	}
	if o.wait <= 0 {
		n, err := send()
		if err != nil {
			return refused(c, err)
		}
		return c.changed("is being sent", key, n)
	}
	d := &drain{c: c, key: key, tty: onTerminal(c.err), began: time.Now(), v: drained{Schema: "posagent.ops.send/1", Key: key, Settled: []view.Reconciled{}}}
	d.moved = d.began
	if err := d.watch(ctx, db, &to, send, o.wait); err != nil {
		return err
	}
	return d.finish(ctx, db)
}

// recount is how often the journal is asked how much is left.
const recount = time.Second

// watch sends and follows the events until nothing is left or nothing moves for a while.
func (d *drain) watch(ctx context.Context, db store.Journal, to *control.Client, send func() (int, error), wait time.Duration) error {
	stream, stop := context.WithCancel(ctx)
	defer stop()
	begun, over := make(chan struct{}), make(chan error, 1)
	seen := make(chan view.Event, 64)
	go func() {
		over <- to.Events(stream, func() { close(begun) }, func(e view.Event) bool {
			select {
			case seen <- e:
			case <-stream.Done():
			}
			return false
		})
	}()
	select {
	case <-begun: // nothing that the sending does is missed
	case err := <-over:
		return refused(d.c, err)
	}
	due, err := send()
	if err != nil {
		return refused(d.c, err)
	}
	d.v.Due, d.moved = due, time.Now()
	return d.follow(ctx, func() error { return d.count(ctx, db) }, seen, over, wait)
}

// follow takes in events until count, which asks the journal, finds nothing left, or nothing has moved for wait.
func (d *drain) follow(ctx context.Context, count func() error, seen <-chan view.Event, over <-chan error, wait time.Duration) error {
	if err := count(); err != nil {
		return err
	}
	tick := time.NewTicker(recount)
	defer tick.Stop()
	for {
		if d.v.Remaining == 0 { // by the events: an end that was counted already is told once more
			if err := count(); err != nil {
				return err
			}
			if d.v.Remaining == 0 {
				break
			}
		}
		select {
		case e := <-seen:
			d.event(e)
			continue
		default:
		}
		select {
		case e := <-seen:
			d.event(e)
		case <-tick.C:
			if err := count(); err != nil {
				return err
			}
			if d.draw(); time.Since(d.moved) > wait {
				return nil
			}
		case err := <-over:
			d.clear()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fail(exitNoDaemon, "the terminal has stopped while it was watched: %v (posagent status%s)", errors.Join(err, control.ErrNoDaemon), d.c.flags())
		case <-ctx.Done():
			d.clear()
			return ctx.Err()
		}
	}
	for late := time.After(2 * recount); ; { // what the journal says is over, the stream is about to tell
		select {
		case e := <-seen:
			if d.event(e); d.key != "" && d.ended > 0 {
				return nil
			}
		case <-late:
			return nil
		case <-over:
			return nil
		}
		if d.key == "" && d.ended >= int64(d.v.Due) {
			return nil
		}
	}
}

// count asks the journal how much is left.
func (d *drain) count(ctx context.Context, db store.Journal) error {
	return storeError(db.Read(ctx, func(r store.Reader) (err error) {
		if d.key == "" {
			d.v.Remaining, err = outbox.Waiting(r)
			return err
		}
		op, err := outbox.Look(r, d.key)
		d.v.Remaining = 0
		if op.State == outbox.Pending || op.State == outbox.Sent {
			d.v.Remaining = 1
		}
		return err
	}))
}

// event takes note of one change.
func (d *drain) event(e view.Event) {
	if e.Source != view.OfOperation || d.key != "" && e.Ref != string(d.key) {
		return
	}
	c, err := view.ChangeOf(e)
	if err != nil {
		return
	}
	d.moved = time.Now()
	if c.State.Final() || c.State == outbox.Doubt || c.State == outbox.Held {
		d.ended++
		if d.v.Remaining > 0 {
			d.v.Remaining--
		}
		view.ReconciledOf(&d.v.Settled, c.Kind, c.Currency).Add(c.State, 1, c.Amount)
	}
	if d.tty {
		d.draw()
		return
	}
	reason := ""
	if c.Reason != "" && c.State != outbox.Done {
		reason = ": " + c.Reason
	}
	fmt.Fprintf(d.c.err, "%s %-9s %s %s %s %s%s (%d left)\n", e.Received.Local().Format(time.TimeOnly), strings.TrimPrefix(e.Event, view.OfOperation+"."), e.Ref,
		c.Kind, opAmount(c.Amount, c.Currency), c.Currency, reason, d.v.Remaining)
}

const barWidth = 24

// draw draws the bar.
func (d *drain) draw() {
	if !d.tty {
		return
	}
	total := d.ended + int64(d.v.Remaining)
	full := 0
	if total > 0 {
		full = int(d.ended * barWidth / total)
	}
	rate := float64(d.ended) / max(time.Since(d.began).Seconds(), 0.001)
	fmt.Fprintf(d.c.err, "\r\x1b[K[%s%s] %d/%d  %.1f/s  %d left%s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), d.ended, total, rate, d.v.Remaining, d.sums())
}

func (d *drain) clear() {
	if d.tty {
		fmt.Fprint(d.c.err, "\r\x1b[K")
	}
}

// sums are the accepted amounts of each kind: an authorisation and its capture are one amount.
func (d *drain) sums() string {
	var list []string
	for _, l := range d.v.Settled {
		if l.Currency != "" && l.Accepted.Count > 0 {
			list = append(list, fmt.Sprintf("%s %s %s accepted", l.Kind, opAmount(l.Accepted.Sum, l.Currency), l.Currency))
		}
	}
	sort.Strings(list)
	if len(list) == 0 {
		return ""
	}
	return "  " + strings.Join(list, ", ")
}

// finish prints what came of it.
func (d *drain) finish(ctx context.Context, db store.Journal) error {
	if err := d.count(ctx, db); err != nil {
		return err
	}
	d.clear()
	d.v.Seconds = time.Since(d.began).Seconds()
	var accepted, other int64
	for _, l := range d.v.Settled {
		accepted += l.Accepted.Count
		other += l.Stored.Count - l.Accepted.Count
	}
	if d.c.json {
		if err := printJSON(d.c.out, d.v); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(d.c.out, "accepted %d, other ends %d, remaining %d, %.1f/s%s\n", accepted, other, d.v.Remaining, float64(d.ended)/max(d.v.Seconds, 0.001), d.sums())
	}
	if d.v.Remaining > 0 {
		return fail(exitNoBackend, "still waiting: %d (why: posagent ops list --open%s, then posagent ops show KEY%s)", d.v.Remaining, d.c.flags(), d.c.flags())
	}
	if other > 0 {
		return fail(exitFailed, "not everything was accepted: posagent ops report%s", d.c.flags())
	}
	return nil
}
