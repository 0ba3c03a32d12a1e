package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"posagent/ecr"
)

// Desk is the desk, the till and the memory of any number of lines. Its fields may be read and set
// under Mu, or while no line runs.
type Desk struct {
	Mu         sync.Mutex
	Sales      []*Sale
	Begun      []ecr.Request
	Deliveries []string // "told s1", in order
	Log        []string // Deliveries, and "begin s1" between them
	Memory     map[string][]byte
	Closed     int           // how often the day was ended
	Failures   int           // Delivered fails this often
	Hang       chan struct{} // Delivered waits for it, whatever its context says
	Slow       time.Duration // Begin takes this long
	CheckErr   error
	Changed    chan struct{} // closed with each change
}

// Sale is one sale.
type Sale struct {
	ID      string
	Request ecr.Request
	Open    bool
	Outcome ecr.Outcome
	Told    bool
	ToldAt  time.Time
	Undone  bool
	Held    int // how often Last has returned it

	lost     bool // a telling of it was not heard
	watchers []watcher
}

type watcher struct {
	progress chan ecr.Progress
	outcome  chan ecr.Outcome
}

// Amounts with a meaning; any other is approved at once.
const (
	StaysOpen = 9900 // until Approve or Abort
	Declines  = 9901
	NoMethod  = 9902 // refused
)

var (
	_ ecr.Desk   = (*Desk)(nil)
	_ ecr.Till   = (*Desk)(nil)
	_ ecr.Memory = (*Desk)(nil)
	_ ecr.Finder = (*Desk)(nil)
)

// New returns a desk without sales.
func New() *Desk { return &Desk{Memory: map[string][]byte{}, Changed: make(chan struct{})} }

// touch wakes Until; with Mu held.
func (d *Desk) touch() {
	close(d.Changed)
	d.Changed = make(chan struct{})
}

// Until waits for a condition on the desk.
func (d *Desk) Until(ctx context.Context, what string, ok func() bool) error {
	for {
		d.Mu.Lock()
		done, changed := ok(), d.Changed
		d.Mu.Unlock()
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

// Begin implements ecr.Desk.
func (d *Desk) Begin(ctx context.Context, req ecr.Request) (ecr.Sale, error) {
	if d.Slow > 0 {
		select {
		case <-time.After(d.Slow):
		case <-ctx.Done():
			return ecr.Sale{}, ctx.Err()
		}
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for _, s := range d.Sales {
		if req.Sequence != "" && s.Request.Sequence == req.Sequence && s.Request.Line == req.Line {
			if s.Request.Kind != req.Kind || s.Request.Amount != req.Amount || s.Request.Reference != req.Reference {
				return ecr.Sale{}, &ecr.Refusal{Code: ecr.Processing, Text: "request id " + req.Sequence + " was used for another request"}
			}
			return s.watch(), nil
		}
		if s.Open {
			return ecr.Sale{}, &ecr.Refusal{Code: ecr.Busy}
		}
	}
	if req.Amount == NoMethod {
		return ecr.Sale{}, &ecr.Refusal{Code: ecr.NoMethod, Text: "no wallet"}
	}
	d.Begun = append(d.Begun, req)
	s := &Sale{ID: fmt.Sprintf("s%d", len(d.Sales)+1), Request: req, Open: true}
	n := len(d.Sales) + 1
	s.Outcome = ecr.Outcome{Sale: s.ID, Sequence: req.Sequence, Kind: req.Kind, Result: ecr.Approved, Code: ecr.OK, Amount: req.Amount, Currency: "EUR",
		Receipt: n, Trace: 100 + n, Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), TerminalID: "52500038",
		TransactionID: fmt.Sprint(7000 + n), Method: "WECHAT", Label: "WeChat Pay"}
	if strings.HasPrefix(req.Original, "L") {
		req.Receipt = d.lastPaid(req.Line)
		if trace := req.Original[1:]; trace != "" && trace != fmt.Sprint(100+req.Receipt) || req.Receipt == 0 {
			return ecr.Sale{}, &ecr.Refusal{Code: ecr.NotReversible}
		}
	}
	if req.Kind == ecr.Reversal {
		s.Outcome.Amount, s.Outcome.OriginalTrace = 1250, 100+req.Receipt
		if req.Receipt > len(d.Sales) {
			return ecr.Sale{}, &ecr.Refusal{Code: ecr.NotReversible}
		}
	}
	for _, earlier := range d.Sales {
		if earlier.lost && !earlier.Told && earlier.Request.Line == req.Line && earlier.Request.Kind == ecr.Payment {
			earlier.Undone = true
			earlier.abort()
		}
	}
	d.Log = append(d.Log, "begin "+s.ID)
	d.Sales = append(d.Sales, s)
	out := s.watch()
	switch req.Amount {
	case StaysOpen:
	case Declines:
		s.Outcome = ecr.Outcome{Sale: s.ID, Sequence: req.Sequence, Kind: req.Kind, Result: ecr.Declined, Code: ecr.RejectedByScheme, Text: "declined"}
		s.end()
	default:
		s.end()
	}
	d.touch()
	return out, nil
}

// lastPaid is the receipt number of a line's last approved payment, 0 where it has none.
func (d *Desk) lastPaid(line string) int {
	for i := len(d.Sales) - 1; i >= 0; i-- {
		if s := d.Sales[i]; s.Request.Line == line && s.Request.Kind == ecr.Payment && s.Outcome.Result == ecr.Approved {
			return s.Outcome.Receipt
		}
	}
	return 0
}

func (s *Sale) watch() ecr.Sale {
	w := watcher{progress: make(chan ecr.Progress, 1), outcome: make(chan ecr.Outcome, 1)}
	if s.Open {
		w.progress <- ecr.Progress{Step: ecr.StepShowCode, Text: "Scan the code"}
		s.watchers = append(s.watchers, w)
	} else {
		out := s.Outcome
		if s.Told {
			out.ToldFor = max(1, time.Since(s.ToldAt))
		}
		w.give(out)
	}
	return ecr.Sale{ID: s.ID, Progress: w.progress, Outcome: w.outcome}
}

func (w watcher) give(out ecr.Outcome) {
	w.outcome <- out
	close(w.outcome)
	close(w.progress)
}

func (s *Sale) end() {
	s.Open = false
	for _, w := range s.watchers {
		w.give(s.Outcome)
	}
	s.watchers = nil
}

// Approve ends the last sale well.
func (d *Desk) Approve() {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.Sales[len(d.Sales)-1].end()
	d.touch()
}

func (s *Sale) abort() {
	s.Outcome = ecr.Outcome{Sale: s.ID, Sequence: s.Request.Sequence, Kind: s.Request.Kind, Result: ecr.Aborted, Code: ecr.AbortedByUser}
}

func (d *Desk) find(id string) *Sale {
	for _, s := range d.Sales {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Abort implements ecr.Desk.
func (d *Desk) Abort(_ context.Context, id string) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	s := d.find(id)
	if s == nil || !s.Open {
		return ecr.ErrTooLate
	}
	s.abort()
	s.end()
	d.touch()
	return nil
}

// Last implements ecr.Desk.
func (d *Desk) Last(ctx context.Context, line string) (ecr.Sale, error) { return d.Find(ctx, line, "") }

// Find implements ecr.Finder; "" finds the line's last sale.
func (d *Desk) Find(_ context.Context, line, sequence string) (ecr.Sale, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for i := len(d.Sales) - 1; i >= 0; i-- {
		req := d.Sales[i].Request
		beginning, any := strings.CutSuffix(sequence, ecr.AnyEnd)
		begins := any && strings.HasPrefix(req.Sequence, beginning)
		if req.Line == line && (sequence == "" || req.Sequence == sequence || begins) {
			d.Sales[i].Held++
			d.touch()
			return d.Sales[i].watch(), nil
		}
	}
	return ecr.Sale{}, ecr.ErrNone
}

// Delivered implements ecr.Desk.
func (d *Desk) Delivered(_ context.Context, id string, delivery ecr.Delivery) (ecr.Outcome, error) {
	if d.Hang != nil {
		<-d.Hang
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	defer d.touch()
	if d.Failures > 0 {
		d.Failures--
		return ecr.Outcome{}, errors.New("disk is full")
	}
	s := d.find(id)
	if s == nil {
		return ecr.Outcome{}, errors.New("no such sale")
	}
	d.Deliveries = append(d.Deliveries, string(delivery)+" "+id)
	d.Log = append(d.Log, string(delivery)+" "+id)
	s.lost = s.lost || delivery == ecr.Lost
	switch {
	case delivery == ecr.Told && !s.Undone && !s.Told:
		s.Told, s.ToldAt = true, time.Now()
	case delivery == ecr.Told:
	case delivery == ecr.Refused && s.Request.Kind == ecr.Payment && !s.Told:
		s.Undone = true
		s.abort()
	}
	return s.Outcome, nil
}

// Recorded is what became of the tellings, as "told s1", in order.
func (d *Desk) Recorded() []string {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	return append([]string(nil), d.Deliveries...)
}

func (d *Desk) totals() ecr.Totals {
	t := ecr.Totals{Batch: 1, FirstReceipt: 1, LastReceipt: len(d.Sales), Trace: 99, Currency: "EUR", Time: time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)}
	for _, s := range d.Sales {
		if s.Outcome.Result == ecr.Approved && s.Request.Kind == ecr.Payment {
			t.Count++
			t.Net += s.Outcome.Amount
		}
	}
	return t
}

// Close implements ecr.Till.
func (d *Desk) Close(context.Context) (ecr.Totals, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for _, s := range d.Sales {
		if s.Open {
			return ecr.Totals{}, &ecr.Refusal{Code: ecr.EODImpossible}
		}
	}
	d.Closed++
	return d.totals(), nil
}

// Turnover implements ecr.Till.
func (d *Desk) Turnover(context.Context) (ecr.Totals, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	return d.totals(), nil
}

// Health implements ecr.Till.
func (d *Desk) Health(context.Context) ecr.Health {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	h := ecr.Health{Ready: true, TerminalID: "52500038", Currency: "EUR", Time: time.Date(2026, 11, 22, 11, 10, 0, 0, time.UTC)}
	for _, s := range d.Sales {
		h.Busy = h.Busy || s.Open
	}
	return h
}

// Check implements ecr.Till.
func (d *Desk) Check(ctx context.Context) (ecr.Health, error) { return d.Health(ctx), d.CheckErr }

// Load implements ecr.Memory.
func (d *Desk) Load(_ context.Context, line string) ([]byte, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	return d.Memory[line], nil
}

// Save implements ecr.Memory.
func (d *Desk) Save(_ context.Context, line string, data []byte) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.Memory[line] = data
	return nil
}
