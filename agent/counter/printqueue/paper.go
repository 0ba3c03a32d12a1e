package printqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/wire"
	"posagent/store"
)

// Printer prints one document after the other; a printer.Printer is one.
type Printer interface {
	Check(ctx context.Context) error
	Print(ctx context.Context, d printer.Document) error
	Stats() printer.Stats
	Close() error
}

var _ Printer = (*printer.Printer)(nil)

// Books are what papers speak of; a drive.Drive has them.
type Books interface {
	Receipt(ctx context.Context, key wire.Key) (ecr.Outcome, error)
	Report(ctx context.Context, batch int) (ecr.Totals, error)
}

var _ Books = (*drive.Drive)(nil)

// Prints says what is printed without being asked for.
type Prints struct{ Customer, Merchant, EndOfDay bool }

// Options make a Paper. DB, Printer, Books and Running are required.
type Options struct {
	DB       store.DB
	Printer  Printer
	Books    Books
	Head     receipt.Head
	Currency string // ISO 4217 alpha, of totals
	Sandbox  bool
	Prints   Prints
	Now      func() time.Time // wall clock; default time.Now
	// Running is the running time of the journal's terminal, in ms (MONEY B.12).
	Running func(r store.Reader) (ms int64, err error)
	// Note notes in the commit that a person has asked for a copy: of a sale's key, or of a batch. Nil = nothing.
	Note func(tx store.Tx, of, which string) error
	// NotOpen says why the device does not open (printer.ErrNotOpen), and what a person does, where it knows better than the error.
	NotOpen func(error) (reason, remedy string)
	Log     *slog.Logger
}

// Paper prints what waits. Its methods are safe for concurrent use.
type Paper struct {
	o    Options
	news chan struct{} // holds a token while something may have been added

	// Of Run.
	tried  map[int64]*attempt // documents that were cut off, or are printed and only not deleted yet
	torn   int                // documents that were cut off since the last whole one
	paused time.Time          // nothing is begun before
	why    error              // it is
	looks  int                // that were made since the last news

	mu    sync.Mutex
	state State
}

// attempt is what this run knows of a document.
type attempt struct {
	printed bool      // and is only not deleted yet
	after   time.Time // it is not begun again before
	why     error     // it was cut off last
}

// State is what is said of the printer.
type State struct {
	Waiting int
	Oldest  time.Time // since when; zero where nothing waits
	Reason  string    // why it waits, in plain words; "" = it is being printed
	Remedy  string
	Since   time.Time // of the reason
	NearEnd bool      // the paper ends soon
	Blind   bool      // it does not tell when a document is on the paper
	Behind  int       // that were cut off twice or more often, and wait behind the others
}

const (
	retry     = 5 * time.Second  // between two questions to a printer that does not print
	idleRetry = 20 * time.Second // the same, while nothing waits
	idleLook  = time.Minute
	copyWaits = 10 * time.Second // that a person waits for a copy
	copyLook  = 100 * time.Millisecond
)

// afterTorn are the pauses before a document is begun again that was cut off once, twice and so on, and before any other is begun
// where so many were since the last whole one: each time costs paper.
var afterTorn = []time.Duration{0, time.Minute, 10 * time.Minute, 30 * time.Minute}

// afterNews are the pauses before a look at the table: a row may be announced before its commit is over.
var afterNews = []time.Duration{50 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second}

// New makes a Paper; it starts nothing.
func New(o Options) *Paper {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "paper")
	return &Paper{o: o, news: make(chan struct{}, 1), tried: map[int64]*attempt{}}
}

// SaleChanged adds the receipts of a sale that has come to its good end, in the caller's commit. A sale that has just begun was the
// zero Row.
func (p *Paper) SaleChanged(tx store.Tx, was, now *journal.Row) error {
	if now.State.Result != ecr.Approved || !drive.Printable(now) || was.State.Result == ecr.Approved && drive.Printable(was) {
		return nil
	}
	add := func(which receipt.Copy) error {
		_, err := p.add(tx, waiting{what: ofSale, name: string(now.Key), copy: which})
		p.wake()
		return err
	}
	if p.o.Prints.Customer {
		if err := add(receipt.Customer); err != nil {
			return err
		}
	}
	if p.o.Prints.Merchant && drive.MerchantCopy(now) {
		return add(receipt.Merchant)
	}
	return nil
}

// BatchClosed adds the slip of an end of day, in the caller's commit.
func (p *Paper) BatchClosed(tx store.Tx, batch int) error {
	if !p.o.Prints.EndOfDay {
		return nil
	}
	_, err := p.add(tx, waiting{what: ofDay, name: strconv.Itoa(batch)})
	p.wake()
	return err
}

func (p *Paper) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Reprint adds a copy of a sale's receipt, and waits a moment for it. Printed is false where it still waits; State then says why. It
// fails with journal.ErrUnknown, journal.ErrQuarantined, drive.ErrNotOver, and errors of the store.
func (p *Paper) Reprint(ctx context.Context, key wire.Key, which receipt.Copy) (printed bool, err error) {
	if _, err := p.o.Books.Receipt(ctx, key); err != nil {
		return false, err
	}
	return p.again(ctx, waiting{what: ofSale, name: string(key), copy: which}, string(key), string(which))
}

// ReprintDay is Reprint of the slip of a closed batch. It fails with journal.ErrUnknown, and errors of the store.
func (p *Paper) ReprintDay(ctx context.Context, batch int) (printed bool, err error) {
	if _, err := p.o.Books.Report(ctx, batch); err != nil {
		return false, err
	}
	name := strconv.Itoa(batch)
	return p.again(ctx, waiting{what: ofDay, name: name}, "batch "+name, "end of day")
}

// again adds a copy that a person asked for, notes it, and waits a moment for it.
func (p *Paper) again(ctx context.Context, w waiting, of, which string) (printed bool, err error) {
	var id int64
	w.again = true
	err = p.o.DB.Write(ctx, func(tx store.Tx) error {
		var err error
		if id, err = p.add(tx, w); err != nil || p.o.Note == nil {
			return err
		}
		return p.o.Note(tx, of, which)
	})
	if err != nil {
		return false, err
	}
	p.wake()
	for until := time.Now().Add(copyWaits); time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(copyLook):
		}
		if still, err := p.waits(ctx, id, w.name); err != nil || !still {
			return err == nil, err
		}
	}
	return false, nil
}

// State says how it stands.
func (p *Paper) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	now := p.o.Printer.Stats()
	s.NearEnd, s.Blind = now.NearEnd, now.Blind
	return s
}

// Run prints what waits until ctx ends, and returns nil then.
func (p *Paper) Run(ctx context.Context) error {
	defer func() { _ = p.o.Printer.Close() }() // what hangs is left to itself
	for ctx.Err() == nil {
		pause := p.turn(ctx)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-p.news:
			p.looks = 0
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// turn prints the next document, if one waits, and returns when to come again. While none does it asks the printer from time to time
// how it is.
func (p *Paper) turn(ctx context.Context) time.Duration {
	w, q, err := p.first(ctx)
	switch {
	case err != nil:
	case q.count > 0:
		err, p.looks = p.print(ctx, w), 0
	case p.looks < len(afterNews):
		clear(p.tried)
		p.looks++
		return afterNews[p.looks-1]
	default:
		err = p.o.Printer.Check(ctx)
	}
	if ctx.Err() != nil {
		return 0
	}
	p.say(w, q, err)
	switch {
	case err != nil && q.count > 0:
		return retry
	case err != nil:
		return idleRetry
	case q.count > 0:
		return 0
	}
	return idleLook
}

// say keeps how it stands, and logs what is new.
func (p *Paper) say(w waiting, q queue, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.state
	p.state = State{Waiting: q.count, Behind: q.behind}
	if q.count > 0 && q.oldestMS > 0 {
		p.state.Oldest = time.UnixMilli(q.oldestMS)
	}
	if err == nil {
		p.state.Waiting = max(0, q.count-1) // this one is done
		if w.begun >= tries {
			p.state.Behind--
		}
		if was.Reason != "" {
			p.o.Log.Info("the printer prints again")
		}
		return
	}
	p.state.Reason, p.state.Remedy = p.words(err)
	if p.state.Since = was.Since; was.Reason != p.state.Reason {
		p.state.Since = p.o.Now()
		p.o.Log.Warn("the printer does not print", "waiting", q.count, "err", err)
	}
}

// words are why nothing is printed, and what a person does.
func (p *Paper) words(err error) (reason, remedy string) {
	switch {
	case errors.Is(err, printer.ErrNotOpen) && p.o.NotOpen != nil:
		return p.o.NotOpen(err)
	case errors.Is(err, printer.ErrPaperOut):
		return "paper is out", "put in a new roll: what waits is printed by itself"
	case errors.Is(err, printer.ErrOffline), errors.Is(err, printer.ErrStuck):
		return err.Error(), "switch the printer on, close its cover, and check its cable and [printer] device: what waits is printed by itself"
	}
	return err.Error(), "see the log: what waits is tried again"
}

// print prints a document, and lets it go. An error says that it still waits.
func (p *Paper) print(ctx context.Context, w waiting) error {
	a := p.tried[w.id]
	if a == nil {
		a = &attempt{}
	}
	if a.printed {
		return p.done(ctx, w)
	}
	if w.age > MaxAge {
		p.o.Log.Warn("a receipt has waited too long and is not printed (posagent sale print)", "of", w.what, "name", w.called())
		return p.done(ctx, w)
	}
	w.again = w.again || w.begun > 0 // it was begun and not ended, by this run or an earlier one
	doc, err := p.compose(ctx, w)
	switch {
	case errors.Is(err, journal.ErrUnknown), errors.Is(err, journal.ErrQuarantined), errors.Is(err, drive.ErrNotOver), errors.Is(err, errText):
		p.o.Log.Error("a receipt is not printed", "of", w.what, "name", w.called(), "err", err)
		return p.done(ctx, w)
	case err != nil:
		return fmt.Errorf("read what is to be printed: %w", err)
	}
	if err := p.o.Printer.Check(ctx); err != nil {
		return err
	}
	if now := time.Now(); now.Before(a.after) || now.Before(p.paused) {
		return cmp.Or(a.why, p.why)
	}
	if err := p.write(ctx, `UPDATE paper_waiting SET begun = begun + 1, again = ? WHERE id = ?`, w.again, w.id); err != nil {
		return fmt.Errorf("note that a receipt is printed: %w", err)
	}
	switch err := p.o.Printer.Print(ctx, doc); {
	case err == nil:
		p.torn, p.paused = 0, time.Time{}
		return p.done(ctx, w)
	case errors.Is(err, printer.ErrDocument):
		p.o.Log.Error("a receipt cannot be printed", "of", w.what, "name", w.called(), "err", err)
		return p.done(ctx, w)
	case errors.Is(err, printer.ErrUnknownEnd):
		p.torn++
		now := time.Now()
		a.after, a.why = now.Add(pauseAfter(w.begun+1)), err
		p.paused, p.why = now.Add(pauseAfter(p.torn)), err
		p.tried[w.id] = a
		return err
	default: // nothing of it is on the paper
		if e := p.write(context.WithoutCancel(ctx), `UPDATE paper_waiting SET begun = begun - 1 WHERE id = ?`, w.id); e != nil {
			return errors.Join(err, e) // it will be marked as a copy
		}
		return err
	}
}

// pauseAfter is the pause after so many were cut off.
func pauseAfter(torn int) time.Duration { return afterTorn[min(torn, len(afterTorn))-1] }

// done lets a document go. Where that cannot be written, it is not printed a second time in this run.
func (p *Paper) done(ctx context.Context, w waiting) error {
	p.tried[w.id] = &attempt{printed: true}
	if err := p.write(context.WithoutCancel(ctx), `DELETE FROM paper_waiting WHERE id = ?`, w.id); err != nil {
		return fmt.Errorf("a receipt is printed, and cannot be let go: %w", err)
	}
	delete(p.tried, w.id)
	return nil
}
