package daily

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posagent/agent/support/reconcile"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options of a Daily. DB, Backend, File and Currency are required.
type Options struct {
	DB       store.DB // with the tables of Schema and of the checkout
	Backend  reconcile.Backend
	File     string         // of the till's list
	At       time.Duration  // time of day at which a day is due, since midnight
	Currency string         // of rows that name none
	Zone     *time.Location // of the terminal; nil = time.Local
	// Now is the wall clock; nil = time.Now. Sane says whether it can be right; nil = always.
	Now  func() time.Time
	Sane func(now time.Time) bool
	// Busy says that a register or a client waits for an outcome; nil = none does.
	Busy func() bool
	// Noted runs in the commit in which a day has come to another outcome; nil = nothing does.
	Noted func(tx store.Tx, v Run) error
	// Audit runs in the commit of a person's deed; nil = nothing does.
	Audit func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	Log   *slog.Logger
}

const (
	lookEvery = time.Minute            // at the wall clock
	again     = 15 * time.Minute       // until a list, or a backend, is tried once more
	rest      = 20 * time.Millisecond  // between two pieces of the work: the processor is the sales'
	saleRest  = 250 * time.Millisecond // between two looks whether a sale is over
	mostShown = 50                     // findings that wait for a person; the others are counted
)

// Daily is the comparison of a terminal.
type Daily struct {
	o     Options
	done  string    // the day that has its result
	tried string    // the day that was tried last
	retry time.Time // not before, on the monotonic clock
}

// New makes a Daily; it starts nothing.
func New(o Options) *Daily {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sane == nil {
		o.Sane = func(time.Time) bool { return true }
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	if o.Noted == nil {
		o.Noted = func(store.Tx, Run) error { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "daily")
	return &Daily{o: o}
}

// Run compares each day that is due until ctx ends, and returns nil then. What fails is tried again.
func (d *Daily) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := d.turn(ctx); err != nil && ctx.Err() == nil {
			d.retry = time.Now().Add(again)
			d.o.Log.Warn("the till's list was not compared", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// turn compares the day that is due, if it has no result yet. It fails when the journal cannot be read or written.
func (d *Daily) turn(ctx context.Context) error {
	now := d.o.Now()
	if !d.o.Sane(now) {
		return nil
	}
	day := Day(now, d.o.At, d.o.Zone)
	if day == d.done || day == d.tried && time.Now().Before(d.retry) {
		return nil
	}
	d.tried = day
	ran, outcome, err := d.state(ctx, day)
	switch {
	case err != nil:
		return err
	case !ran: // the setting is new: what was before it is not looked at
		return d.end(ctx, Run{Day: day, At: now, Outcome: First}, outcome, func(store.Tx, *Run) error { return nil })
	case outcome == Compared || outcome == First || outcome == Missed:
		d.done = day
		return nil
	}
	return d.compare(ctx, now, day, outcome)
}

// state is whether there is any result, and the outcome of a day, "" = none.
func (d *Daily) state(ctx context.Context, day string) (ran bool, outcome string, err error) {
	err = d.o.DB.Read(ctx, func(r store.Reader) error {
		if err := r.QueryRow(`SELECT EXISTS (SELECT 1 FROM daily_runs)`).Scan(&ran); err != nil {
			return err
		}
		err := r.QueryRow(`SELECT outcome FROM daily_runs WHERE day = ?`, day).Scan(&outcome)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return ran, outcome, err
}

// compare compares the list of a day, whose outcome was was.
func (d *Daily) compare(ctx context.Context, now time.Time, day, was string) error {
	c, t := read(d.o.File, d.o.Currency, d.o.Zone)
	var last reached
	if t == nil {
		var err error
		if last, t, err = d.renewed(ctx, c); err != nil {
			return err
		}
	}
	v := Run{Day: day, At: now, Rows: len(c.list.Rows)}
	if t != nil {
		v.Outcome, v.Text = NoList, t.Words
		return d.end(ctx, v, was, func(tx store.Tx, _ *Run) error { return d.unusable(tx, v, t) })
	}
	agreed := map[string]bool{}
	if len(c.list.Rows) == 0 { // and nothing was sold
		v.Outcome = Compared
		return d.endWith(ctx, v, was, c, last, nil, func(tx store.Tx, v *Run) error { return d.keep(tx, v, reconcile.Report{}, agreed) })
	}
	report, err := reconcile.Run(ctx, reconcile.Options{DB: d.o.DB, Backend: d.o.Backend, Parallel: 1, Yield: d.yield, After: last.through, Written: c.at, Each: func(f reconcile.Finding) {
		if f.Class == reconcile.Agree {
			agreed[subjectOf(f)] = true
		}
	}}, c.list)
	switch {
	case errors.Is(err, reconcile.ErrBackend):
		v.Outcome, v.Text = NoAnswer, clean(reconcile.ErrBackend.Error()+": "+wire.AsError("", err).Msg)
		return d.end(ctx, v, was, func(store.Tx, *Run) error { return nil })
	case err != nil:
		return err
	}
	v.Outcome, v.Sales, last.through = Compared, report.Sales, max(last.through, report.Through)
	return d.endWith(ctx, v, was, c, last, report.Lines, func(tx store.Tx, v *Run) error { return d.keep(tx, v, report, agreed) })
}

// renewed says whether the till has written the list since the last comparison, or had nothing to write. last is the newest
// sale, and how far the comparison before came.
func (d *Daily) renewed(ctx context.Context, c content) (last reached, t *Trouble, err error) {
	err = d.o.DB.Read(ctx, func(r store.Reader) error {
		if last.newest, err = reconcile.Newest(r); err != nil {
			return err
		}
		var day, digest string
		var written, before int64
		var text []byte
		err := r.QueryRow(`SELECT day, digest, written, last_sale, through, lines FROM daily_runs WHERE outcome = ? ORDER BY id DESC LIMIT 1`, Compared).
			Scan(&day, &digest, &written, &before, &last.through, &text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		empty, same := len(c.list.Rows) == 0, digest == c.digest && written == c.written()
		if !empty && !same {
			return nil
		}
		var lines []string
		if err := json.Unmarshal(text, &lines); err != nil {
			return err
		}
		n, err := reconcile.Since(r, before, lines)
		switch {
		case err != nil || n == 0:
			return err
		case same:
			t = trouble("look why the till writes no list; posagent reconcile compares one by hand", "the till's list %s was not written again since the one of %s, and the terminal was asked for %d sale(s) since", d.o.File, day, n)
		default:
			t = trouble("look why the till writes no sales; posagent sale list shows the terminal's", "the till's list %s has no sale, and the terminal was asked for %d since %s", d.o.File, n, day)
		}
		return nil
	})
	return last, t, err
}

// yield waits until no register and no client waits for an outcome, and leaves the processor to the sales for a moment.
func (d *Daily) yield(ctx context.Context) error {
	for d.o.Busy() {
		if err := pause(ctx, saleRest); err != nil {
			return err
		}
	}
	return pause(ctx, rest)
}

func pause(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// end is endWith where nothing was compared.
func (d *Daily) end(ctx context.Context, v Run, was string, also func(store.Tx, *Run) error) error {
	return d.endWith(ctx, v, was, content{}, reached{}, nil, also)
}

// endWith keeps the result of a day, in one commit with what it comes to. A day without a result is tried again.
func (d *Daily) endWith(ctx context.Context, v Run, was string, c content, last reached, lines []string, also func(store.Tx, *Run) error) error {
	err := d.o.DB.Write(ctx, func(tx store.Tx) error {
		run := v // a commit that is repeated begins anew
		if err := missed(tx, run); err != nil {
			return err
		}
		if err := also(tx, &run); err != nil {
			return err
		}
		if err := put(tx, run, c, last, lines); err != nil {
			return err
		}
		if run.Outcome == was || run.Outcome == First {
			return nil
		}
		return d.o.Noted(tx, run)
	})
	switch {
	case err != nil:
		return err
	case v.Outcome == NoList || v.Outcome == NoAnswer:
		d.retry = time.Now().Add(again)
		if v.Outcome != was {
			d.o.Log.Warn("the till's list was not compared", "day", v.Day, "why", v.Text)
		}
	default:
		d.done = v.Day
		d.o.Log.Info("the till's list", "day", v.Day, "outcome", v.Outcome, "rows", v.Rows)
	}
	return nil
}

// missed raises a finding about a day whose backend did not answer until the next one was due.
func missed(tx store.Tx, now Run) error {
	var day string
	err := tx.QueryRow(`UPDATE daily_runs SET outcome = ? WHERE outcome = ? AND day <> ? RETURNING day`, Missed, NoAnswer, now.Day).Scan(&day)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("missed day: %w", err)
	}
	return raise(tx, finding{subject: "missed", says: day, Finding: Finding{Class: ClassMissed, About: "the list of " + day,
		Text: "it was not compared, the backend did not answer that day", Remedy: "posagent net check says why; then posagent reconcile with the list of that day"}}, now.At)
}

// unusable raises the finding about the list, once a day; its words are those of the last look.
func (d *Daily) unusable(tx store.Tx, v Run, t *Trouble) error {
	f := finding{subject: "list", says: v.Day, Finding: Finding{Class: ClassList, About: "the list of " + v.Day, Text: t.Words, Remedy: t.Remedy}}
	if err := raise(tx, f, v.At); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE daily_findings SET text = ?, remedy = ? WHERE subject = ?`, t.Words, t.Remedy, f.subject); err != nil {
		return fmt.Errorf("finding about %s: %w", f.About, err)
	}
	return nil
}

// standing is a finding of an earlier run.
type standing struct {
	says  string
	acked bool
}

// keep raises what was found, and takes back what is true no more.
func (d *Daily) keep(tx store.Tx, v *Run, report reconcile.Report, agreed map[string]bool) error {
	stands, waits := map[string]standing{}, 0
	err := store.Each(tx, func(row store.Row) error {
		var subject string
		var s standing
		err := row.Scan(&subject, &s.says, &s.acked)
		stands[subject] = s
		if !s.acked && !agreed[subject] {
			waits++
		}
		return err
	}, `SELECT subject, says, acked FROM daily_findings WHERE subject NOT IN ('list', 'more')`)
	if err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	gone, more := []string{"list"}, 0
	for subject := range stands {
		if agreed[subject] {
			gone = append(gone, subject)
		}
	}
	if err := settle(tx, gone...); err != nil {
		return err
	}
	like := map[string]int{}
	for _, f := range report.Findings {
		if f.Class == reconcile.Open { // the terminal ends it by itself, and status shows it until then
			continue
		}
		v.Found++
		n := found(f)
		if like[n.subject]++; like[n.subject] > 1 { // two rows of one list may say the same, and are two sales
			n.subject = fmt.Sprintf("%s, number %d", n.subject, like[n.subject])
		}
		s, known := stands[n.subject]
		switch waiting := known && !s.acked; {
		case known && s.says == n.says:
			continue
		case waiting: // it takes the place of the older one
		case waits >= mostShown:
			more++
			continue
		default:
			waits++
		}
		if err := raise(tx, n, v.At); err != nil {
			return err
		}
	}
	if more == 0 {
		return settle(tx, "more")
	}
	return raise(tx, finding{subject: "more", says: fmt.Sprint(v.Day, " ", more), Finding: Finding{Class: ClassMore, About: "the list of " + v.Day,
		Text: fmt.Sprintf("%d more difference(s) are not listed", more), Remedy: "posagent reconcile " + d.o.File + " shows all of them"}}, v.At)
}

// Sentence says the result for a person.
func (v Run) Sentence() string {
	switch {
	case v.Outcome == NoList || v.Outcome == NoAnswer:
		return "the till's list of " + v.Day + " is not compared yet, " + v.Text
	case v.Outcome == Missed:
		return "the till's list of " + v.Day + " was not compared, " + v.Text
	case v.Found > 0:
		return fmt.Sprintf("the till's list of %s was compared: %d row(s), %d sale(s), %d difference(s)", v.Day, v.Rows, v.Sales, v.Found)
	}
	return fmt.Sprintf("the till's list of %s was compared: %d row(s), %d sale(s), all agree", v.Day, v.Rows, v.Sales)
}
