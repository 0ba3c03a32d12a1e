package agent

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/paylink"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/device/display/scene"
	"posagent/device/file"
	"posagent/schemes/wire"
	"posagent/store"
)

// Ways are what the agent is told of its ways to the backend and to the registers. The zero value is a terminal whose ways are not
// looked at: it has one line, always open, and needs no proof of its settings.
type Ways struct {
	Place    ready.Place
	Settings []byte // of the backend: a digest of address, credentials and trust; nil = they need no proof
	// Troubles are what the connections suffer now, the method list's first; nil = nothing is known of them.
	Troubles func() []ready.Trouble
	// Lines are how many register lines are configured, and which are not open; nil = one that is.
	Lines func() (count int, closed []ready.Trouble)
	// Sellers are the local programs that may sell over HTTP.
	Sellers int
	// Barred is why no register may ask, whatever works; nil, or nil returned, = nothing bars it. It is asked at each sale.
	Barred func() *ready.Trouble
	// Method is what the service of the terminal's own payment method suffers, nil while nothing is known; nil = there is none.
	Method func() *ready.Trouble
	// AskMethod asks that service whether it accepts the credentials, unless it has said so; nil = it is not asked.
	AskMethod func(ctx context.Context)
	// Doubt says that something was not reached after the last answer on a sale's own way: another service of the same host, or what the
	// terminal touches from time to time; nil = it is not known.
	Doubt func() bool
	// Apart says that the schemes are asked at another address than the method list.
	Apart bool
	// Answered says that the backend has answered since the start; nil = it is not known.
	Answered func() bool
}

func (w Ways) barred() *ready.Trouble {
	if w.Barred == nil {
		return nil
	}
	return w.Barred()
}

// noSale is what forbids sales.
func (w Ways) noSale() drive.Bar {
	switch t := w.barred(); {
	case t == nil:
		return drive.NoBar
	case t.Cause == ready.NotConfirmed:
		return drive.Unconfirmed
	default:
		return drive.Replaced
	}
}

// ended is why the terminal takes nothing new at all, "" = it is in use. One that is not confirmed yet stores what local clients write.
func (w Ways) ended() string {
	if w.noSale() == drive.Replaced {
		return "this box is not the terminal any more"
	}
	return ""
}

const (
	listWithin   = 3 * time.Second        // for the first answer of the backend, before the terminal is judged without
	judgeEvery   = 500 * time.Millisecond // a cable that is pulled shows within this time
	healthEvery  = 10 * time.Second       // between two looks into the journal
	storeWithin  = 5 * time.Second        // for what the judgement asks of the journal
	turnWithin   = 7 * time.Second        // for a turn of the journal's writer, which waits up to 5 s for another program's lock
	noteWithin   = 5 * time.Second        // for the commit of an entry of the history
	methodWithin = 5 * time.Second        // for the answer of the own method's service
	firstAsk     = 2 * time.Second        // between two questions while the backend keeps the terminal from being ready
	slowestAsk   = 15 * time.Second
	refusedAsk   = 5 * time.Minute // the same where it refuses us, or asks to wait: asking again makes it worse
	holdDown     = 2 * time.Second // that a backend must be away, or back, before a terminal that stays ready says so
)

// judged is the last judgement, and what it needs to remember.
type judged struct {
	mu     sync.Mutex
	last   *ready.Report
	next   *ready.Report  // differs from last by the word offline alone, and waits until it has lasted
	since  time.Time      // next
	health *ready.Trouble // of the journal, when it was looked into last
	looked time.Time
	turn   chan struct{} // of the journal's writer, which was not in time; nil = none
	proof  bool          // the backend has answered with these settings, in this run or an earlier one
	stored bool          // and that stands in the journal
	read   bool          // the journal has been asked for it
	first  bool          // this run has not made its first judgement: until then the backend may not have been asked
}

func proofSchema() []store.Step {
	return []store.Step{{Name: "agent/2 proof", SQL: `
CREATE TABLE agent_proof (
	id       INTEGER PRIMARY KEY CHECK (id = 1),
	settings BLOB NOT NULL -- MAC of the settings with which the backend has answered
) STRICT;`}}
}

// Judge says whether a register may ask for a sale now. What an earlier run has proven makes a start READY only once this one has asked.
func (a *Agent) Judge(ctx context.Context) ready.Report {
	a.judged.mu.Lock()
	defer a.judged.mu.Unlock()
	r := a.judge(ctx, true)
	if a.judged.first && r.Ready && r.Offline == nil {
		return ready.Not(ready.Trouble{Cause: ready.Asking}, a.o.Ways.Place)
	}
	return r
}

// judge is Judge; look says that the journal is looked into now. The caller holds the mutex.
func (a *Agent) judge(ctx context.Context, look bool) ready.Report {
	w := a.o.Ways
	defs, _ := a.methods()
	_, err := a.catalog.Trouble()
	person := a.counter != nil && a.counter.Ready()
	fit := len(checkout.Offer(defs, checkout.Wish{Prompter: person, Exclude: a.o.Drive.Exclude})) > 0 // as a register's payment is offered them
	f := ready.Facts{
		Barred: w.barred(), Resumed: a.drive.Resumed(), Store: a.journal(ctx, look), Lines: 1, Sellers: w.Sellers, Held: fit, Unfit: len(defs) > 0 && !fit, None: errors.Is(err, &wire.Error{Code: wire.NotFound}),
		Proven: a.proven(ctx), At: w.Place,
	}
	if _, _, state := a.catalog.Current(); state == catalog.NoMethods {
		f.None = true
	}
	if w.Lines != nil {
		f.Lines, f.Closed = w.Lines()
	}
	if w.Method != nil {
		f.Method = w.Method()
		f.Alone = len(checkout.Offer(paylink.Offer(defs, nil), checkout.Wish{Exclude: a.o.Drive.Exclude})) == 0
	}
	switch {
	case w.Troubles != nil:
		f.Troubles = w.Troubles()
	case err != nil && !f.None: // only the list's error is known
		f.Troubles = []ready.Trouble{{Cause: ready.NoList, Where: "the backend", Detail: string(wire.CodeOf(err))}}
	}
	if a.route.Neither() {
		f.Troubles = append(f.Troubles, ready.Trouble{Cause: ready.NoRoutes, Where: a.o.SchemesAt})
	}
	if what := a.drive.Unreadable(); what != "" {
		f.Troubles = append(f.Troubles, ready.Trouble{Cause: ready.Unreadable, Where: a.o.SchemesAt, Detail: what})
	}
	return ready.Judge(f)
}

// journal says why the journal takes no sale.
func (a *Agent) journal(ctx context.Context, look bool) *ready.Trouble {
	dir := filepath.Dir(a.o.DB.Health(ctx).Path)
	if t := a.unwritable(ctx, dir); t != nil {
		return t
	}
	if j := &a.judged; look || a.o.Now().Sub(j.looked).Abs() >= healthEvery || j.health != nil && j.health.Cause == ready.BatchFull { // it ends in a moment
		j.health, j.looked = nil, a.o.Now()
		if !a.writes() { // another program's lock is not found by reading
			j.health = &ready.Trouble{Cause: ready.Journal, Where: dir, Detail: "a write does not come back"}
			return j.health
		}
		if t := a.unwritable(ctx, dir); t != nil {
			return t
		}
		if readOnly, _ := file.ReadOnly(dir); readOnly { // before the first write fails
			j.health = &ready.Trouble{Cause: ready.ReadOnly, Where: dir}
			return j.health
		}
		ctx, cancel := context.WithTimeout(ctx, storeWithin)
		defer cancel()
		var left journal.Receipts
		if err := a.o.DB.Read(ctx, func(r store.Reader) (err error) { left, err = journal.ReceiptsOf(r); return err }); err == nil && left.Left == 0 {
			j.health = &ready.Trouble{Cause: ready.BatchFull, Detail: left.Said()}
		}
		for _, line := range a.drive.Health(ctx).Lines {
			if why, bad := strings.CutPrefix(line, "journal: "); bad && ctx.Err() == nil {
				j.health = &ready.Trouble{Cause: ready.Journal, Where: dir, Detail: why}
			}
		}
	}
	return a.judged.health
}

// writes waits for the journal's writer to take a turn. It says whether it came in time.
func (a *Agent) writes() bool {
	j := &a.judged
	if j.turn == nil {
		turn := make(chan struct{})
		j.turn = turn
		go func() { a.asWriter(func() {}); close(turn) }()
	}
	late := time.NewTimer(turnWithin)
	defer late.Stop()
	select {
	case <-j.turn:
		j.turn = nil
		return true
	case <-late.C:
		return false
	}
}

// unwritable says why the journal refuses what a sale would write, nil = it does not.
func (a *Agent) unwritable(ctx context.Context, dir string) *ready.Trouble {
	err := a.o.DB.Reserved(ctx) // what a sale is asked, too
	if err == nil {
		return nil
	}
	t := &ready.Trouble{Cause: ready.Journal, Where: dir, Detail: err.Error()}
	var moved *store.DisplacedError
	switch {
	case errors.As(err, &moved):
		t.Cause, t.Detail = ready.Displaced, moved.Why
	case errors.Is(err, store.ErrFull):
		t.Cause = ready.DiskFull
	case errors.Is(err, store.ErrReadOnly):
		t.Cause = ready.ReadOnly
	case errors.Is(err, store.ErrBusy):
		t.Cause, t.Detail = ready.Locked, view.Holders(a.o.DB.Health(ctx), 0)
	default:
		if readOnly, _ := file.ReadOnly(dir); readOnly { // whatever the engine says of it
			t.Cause = ready.ReadOnly
		}
	}
	return t
}

// proven says whether the backend has answered with the settings that are in use, and keeps that it has.
func (a *Agent) proven(ctx context.Context) bool {
	j, settings := &a.judged, a.o.Ways.Settings
	if settings == nil {
		return true
	}
	mac := a.o.DB.MAC("agent_proof", "1", settings)
	if !j.read {
		var was []byte
		err := a.o.DB.Read(ctx, func(r store.Reader) error {
			return r.QueryRow(`SELECT settings FROM agent_proof WHERE id = 1`).Scan(&was)
		})
		if err == nil || errors.Is(err, sql.ErrNoRows) {
			j.read, j.stored = true, bytes.Equal(was, mac)
			j.proof = j.stored
		}
	}
	if !a.catalog.Answered() || j.stored {
		return j.proof
	}
	j.proof = true
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	err := a.o.DB.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO agent_proof (id, settings) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET settings = excluded.settings`, mac)
		return err
	})
	j.stored = true // asked once a run: without it the next start asks the backend first
	if err != nil && ctx.Err() == nil {
		a.o.Log.Warn("proof of the settings not stored", "err", err)
	}
	return true
}

// ended is why nothing new is taken from local clients, "" = it is. What would be stored now, no later start would find.
func (a *Agent) ended() string {
	if why := a.o.Ways.ended(); why != "" {
		return why
	}
	if err := a.o.DB.Reserved(context.Background()); errors.Is(err, store.ErrDisplaced) {
		return "the terminal's journal was removed or replaced"
	}
	return ""
}

// probe is /readyz.
func (a *Agent) probe() error {
	if r := a.Judge(context.Background()); r.NotReady != nil {
		return errors.New(r.NotReady.Text())
	}
	return nil
}

// watch says when registers are answered, then judges until ctx ends, and reports what has changed.
func (a *Agent) watch(ctx context.Context) {
	a.opens(true)
	defer a.opens(false)
	late := time.Now().Add(listWithin)
	for told := false; !a.drive.Resumed() && ctx.Err() == nil; {
		if !told && time.Now().After(late) {
			told = true
			a.report(ctx, true)
		}
		pause(ctx, 2*time.Millisecond)
	}
	if ctx.Err() != nil {
		return
	}
	if a.asks() {
		first, cancel := context.WithTimeout(ctx, listWithin)
		a.ask(first)
		cancel()
	}
	for a.opening() && time.Now().Before(late) && ctx.Err() == nil {
		pause(ctx, 2*time.Millisecond)
	}
	a.opens(false)
	if a.o.Up != nil && ctx.Err() == nil {
		a.o.Up()
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	busy := make(chan struct{}, 1)
	next, wait := time.Now().Add(firstAsk), firstAsk
	for first := true; ctx.Err() == nil; first = false {
		r := a.report(ctx, first)
		if !a.needs(r) {
			next, wait = time.Now().Add(firstAsk), firstAsk
		} else if time.Now().After(next) {
			select {
			case busy <- struct{}{}:
				wait = min(2*wait, longestAsk(r))
				next = time.Now().Add(wait)
				asking.Go(func() {
					a.ask(ctx)
					<-busy
				})
			default: // the last question still waits for its answer
			}
		}
		pause(ctx, judgeEvery)
	}
}

// longestAsk is the longest pause between two questions of a terminal that is not ready, or offline.
func longestAsk(r ready.Report) time.Duration {
	for _, s := range []*ready.Said{r.NotReady, r.Offline} {
		if s != nil && (s.Cause == "credentials" || s.Cause == "too_many" || s.Cause == ready.ServiceRefused) {
			return refusedAsk
		}
	}
	return slowestAsk
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// asks says whether a start asks the backend before it is judged: without a list, and wherever the settings want a proof.
func (a *Agent) asks() bool {
	_, _, state := a.catalog.Current()
	return state == catalog.Unknown || a.o.Ways.Settings != nil
}

// opening says that a register line was not tried yet.
func (a *Agent) opening() bool {
	if a.o.Ways.Lines == nil {
		return false
	}
	_, closed := a.o.Ways.Lines()
	return slices.ContainsFunc(closed, func(t ready.Trouble) bool { return t.Cause == ready.Starting })
}

// needs says whether another answer of the backend may change the report.
func (a *Agent) needs(r ready.Report) bool {
	w := a.o.Ways
	if r.Offline != nil || w.Method != nil && w.Method() != nil || w.Doubt != nil && w.Doubt() {
		return true
	}
	return r.NotReady != nil && (r.NotReady.Cause == ready.NoMethods || r.NotReady.Cause == ready.Asking || r.NotReady.Cause == ready.NoList || a.o.Ways.backend(r.NotReady.Cause))
}

// backend says whether a cause is one of the ways to the backend.
func (w Ways) backend(c ready.Cause) bool {
	if w.Troubles == nil {
		return false
	}
	for _, t := range w.Troubles() {
		if t.Cause == c {
			return true
		}
	}
	return false
}

// NoTransaction is a transaction that does not exist: asked for it, the schemes show whether they can be reached and take the credentials.
const NoTransaction = "00000000-0000-4000-8000-000000000000"

// ask asks the backend what a sale would need of it: the method list, the schemes where they are elsewhere, did not answer or may be
// away, and where the backend is not away the service of the terminal's own method. What comes of it is read from the connections.
func (a *Agent) ask(ctx context.Context) {
	var both sync.WaitGroup
	if _, err := a.catalog.Trouble(); err != nil || !a.catalog.Answered() {
		both.Go(func() {
			if err := a.catalog.RefreshNow(ctx); err != nil && ctx.Err() == nil {
				a.o.Log.Debug("method list not refreshed", "err", err)
			}
		})
	}
	w := a.o.Ways
	if w.Apart || w.Troubles != nil && len(w.Troubles()) > 0 || w.Doubt != nil && w.Doubt() {
		both.Go(func() {
			if _, err := a.o.Schemes.Status(upstream.Question(ctx), NoTransaction, ""); err != nil && ctx.Err() == nil {
				a.o.Log.Debug("schemes asked", "err", err)
			}
		})
	}
	both.Wait()
	away := func(t ready.Trouble) bool { return upstream.Kind(t.Cause).Away() }
	if w.AskMethod != nil && (w.Troubles == nil || !slices.ContainsFunc(w.Troubles(), away)) {
		ctx, cancel := context.WithTimeout(ctx, methodWithin)
		defer cancel()
		w.AskMethod(ctx)
	}
}

// changed keeps a judgement, and says whether it is one to tell of. A backend that is away for a moment is not.
func (j *judged) changed(r ready.Report) bool {
	switch {
	case j.last != nil && j.last.Same(r):
		j.next = nil
		return false
	case j.last != nil && j.last.Ready && r.Ready:
		if j.next == nil || !j.next.Same(r) {
			j.next, j.since = &r, time.Now()
		}
		if time.Since(j.since) < holdDown {
			return false
		}
	}
	j.last, j.next = &r, nil
	return true
}

// resting is what the customer reads of a judgement where no sale is on the screen.
func resting(r ready.Report) scene.Kind {
	switch {
	case r.NotReady == nil:
		return scene.Idle
	case r.NotReady.Cause == ready.Starting, r.NotReady.Cause == ready.Resuming, r.NotReady.Cause == ready.Asking:
		return scene.Starting
	}
	return scene.NotReady
}

// report judges, and tells of a judgement that is new.
func (a *Agent) report(ctx context.Context, look bool) ready.Report {
	j := &a.judged
	j.mu.Lock()
	r := a.judge(ctx, look)
	now := a.o.Now()
	for _, s := range []*ready.Said{r.NotReady, r.Offline} {
		if s != nil && s.Since.IsZero() {
			s.Since = now
		}
	}
	changed := j.changed(r)
	j.mu.Unlock()
	if !changed {
		a.history.Stayed(ctx)
	}
	if !changed || ctx.Err() != nil {
		return r
	}
	switch {
	case r.NotReady != nil:
		a.o.Log.Warn("not ready", "cause", r.NotReady.Cause, "why", r.NotReady.Words, "remedy", r.NotReady.Remedy)
	case r.Offline != nil:
		a.o.Log.Warn("offline, going on without the backend", "cause", r.Offline.Cause, "why", r.Offline.Words, "remedy", r.Offline.Remedy)
	default:
		a.o.Log.Info("ready")
	}
	a.drive.Faces(resting(r))
	if a.o.Report != nil {
		a.o.Report(r)
	}
	note, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	a.history.Judged(note, r)
	return r
}
