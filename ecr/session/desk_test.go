package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"posagent/ecr"
)

// desk is a small desk that keeps one line's sales in memory. Amounts choose what happens: see Begin.
type desk struct {
	mu         sync.Mutex
	sales      []*sale
	deliveries []string // "told s1", in order
	begun      []ecr.Request
	memory     map[string][]byte
	closed     int
	failures   int           // Delivered fails this often
	hang       chan struct{} // Delivered waits for it, whatever its context says
	slow       time.Duration // Begin takes this long
	checkErr   error
	changed    chan struct{}
}

type sale struct {
	id       string
	req      ecr.Request
	open     bool
	outcome  ecr.Outcome
	watchers []watcher
	told     bool
	undone   bool
	held     int
}

type watcher struct {
	progress chan ecr.Progress
	outcome  chan ecr.Outcome
}

// Amounts with a meaning; any other is approved at once.
const (
	staysOpen = 9900
	declines  = 9901
	noMethod  = 9902
)

var (
	_ ecr.Desk   = (*desk)(nil)
	_ ecr.Till   = (*desk)(nil)
	_ ecr.Memory = (*desk)(nil)
)

func newDesk() *desk { return &desk{memory: map[string][]byte{}, changed: make(chan struct{})} }

// touch wakes until; with mu held.
func (d *desk) touch() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// until waits for a condition on the desk.
func (d *desk) until(ctx context.Context, what string, ok func() bool) error {
	for {
		d.mu.Lock()
		done, changed := ok(), d.changed
		d.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

func (d *desk) Begin(ctx context.Context, req ecr.Request) (ecr.Sale, error) {
	if d.slow > 0 {
		select {
		case <-time.After(d.slow):
		case <-ctx.Done():
			return ecr.Sale{}, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sales {
		if req.Sequence != "" && s.req.Sequence == req.Sequence && s.req.Line == req.Line {
			return s.watch(), nil
		}
		if s.open {
			return ecr.Sale{}, &ecr.Refusal{Code: ecr.Busy}
		}
	}
	if req.Amount == noMethod {
		return ecr.Sale{}, &ecr.Refusal{Code: ecr.NoMethod, Text: "no wallet"}
	}
	d.begun = append(d.begun, req)
	s := &sale{id: fmt.Sprintf("s%d", len(d.sales)+1), req: req, open: true}
	n := len(d.sales) + 1
	s.outcome = ecr.Outcome{Sale: s.id, Kind: req.Kind, Result: ecr.Approved, Code: ecr.OK, Amount: req.Amount, Currency: "EUR",
		Receipt: n, Trace: 100 + n, Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), TerminalID: "52500038",
		TransactionID: fmt.Sprint(7000 + n), Method: "WECHAT", Label: "WeChat Pay"}
	if req.Kind == ecr.Reversal {
		s.outcome.Amount, s.outcome.OriginalTrace = 1250, 100+req.Receipt
		if req.Receipt > len(d.sales) {
			return ecr.Sale{}, &ecr.Refusal{Code: ecr.NotReversible}
		}
	}
	d.sales = append(d.sales, s)
	out := s.watch()
	switch req.Amount {
	case staysOpen:
	case declines:
		s.outcome = ecr.Outcome{Sale: s.id, Kind: req.Kind, Result: ecr.Declined, Code: ecr.RejectedByScheme, Text: "declined"}
		s.end()
	default:
		s.end()
	}
	d.touch()
	return out, nil
}

func (s *sale) watch() ecr.Sale {
	w := watcher{progress: make(chan ecr.Progress, 1), outcome: make(chan ecr.Outcome, 1)}
	if s.open {
		w.progress <- ecr.Progress{Step: ecr.StepShowCode, Text: "Scan the code"}
		s.watchers = append(s.watchers, w)
	} else {
		w.give(s.outcome)
	}
	return ecr.Sale{ID: s.id, Progress: w.progress, Outcome: w.outcome}
}

func (w watcher) give(out ecr.Outcome) {
	w.outcome <- out
	close(w.outcome)
	close(w.progress)
}

func (s *sale) end() {
	s.open = false
	for _, w := range s.watchers {
		w.give(s.outcome)
	}
	s.watchers = nil
}

// approve ends the last sale well.
func (d *desk) approve() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sales[len(d.sales)-1].end()
	d.touch()
}

func (s *sale) abort() {
	s.outcome = ecr.Outcome{Sale: s.id, Kind: s.req.Kind, Result: ecr.Aborted, Code: ecr.AbortedByUser}
}

func (d *desk) find(id string) *sale {
	for _, s := range d.sales {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (d *desk) Abort(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(id)
	if s == nil || !s.open {
		return ecr.ErrTooLate
	}
	s.abort()
	s.end()
	d.touch()
	return nil
}

func (d *desk) Last(_ context.Context, line string) (ecr.Sale, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.sales) - 1; i >= 0; i-- {
		if d.sales[i].req.Line == line {
			d.sales[i].held++
			d.touch()
			return d.sales[i].watch(), nil
		}
	}
	return ecr.Sale{}, ecr.ErrNone
}

func (d *desk) Delivered(_ context.Context, id string, delivery ecr.Delivery) (ecr.Outcome, error) {
	if d.hang != nil {
		<-d.hang
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.touch()
	if d.failures > 0 {
		d.failures--
		return ecr.Outcome{}, errors.New("disk is full")
	}
	s := d.find(id)
	if s == nil {
		return ecr.Outcome{}, errors.New("no such sale")
	}
	d.deliveries = append(d.deliveries, string(delivery)+" "+id)
	switch {
	case delivery == ecr.Told && !s.undone:
		s.told = true
	case delivery == ecr.Refused && s.req.Kind == ecr.Payment && !s.told:
		s.undone = true
		s.abort()
	}
	return s.outcome, nil
}

func (d *desk) delivered() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.deliveries...)
}

func (d *desk) totals() ecr.Totals {
	t := ecr.Totals{Batch: 1, FirstReceipt: 1, LastReceipt: len(d.sales), Trace: 99, Currency: "EUR", Time: time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)}
	for _, s := range d.sales {
		if s.outcome.Result == ecr.Approved && s.req.Kind == ecr.Payment {
			t.Count++
			t.Net += s.outcome.Amount
		}
	}
	return t
}

func (d *desk) Close(context.Context) (ecr.Totals, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sales {
		if s.open {
			return ecr.Totals{}, &ecr.Refusal{Code: ecr.EODImpossible}
		}
	}
	d.closed++
	return d.totals(), nil
}

func (d *desk) Turnover(context.Context) (ecr.Totals, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.totals(), nil
}

func (d *desk) Health(context.Context) ecr.Health {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := ecr.Health{Ready: true, TerminalID: "52500038", Currency: "EUR"}
	for _, s := range d.sales {
		h.Busy = h.Busy || s.open
	}
	return h
}

func (d *desk) Check(ctx context.Context) (ecr.Health, error) { return d.Health(ctx), d.checkErr }

func (d *desk) Load(_ context.Context, line string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.memory[line], nil
}

func (d *desk) Save(_ context.Context, line string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory[line] = data
	return nil
}
