package tills

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// Row is a sale of the terminal's journal, as a campaign sees it.
type Row struct {
	Reference, Result, Told string
	Amount                  money.Minor
	Settled                 bool // nothing can happen to it any more by itself
}

// Terminal is what a scenario sees of the terminal beside the register line.
type Terminal interface {
	// Rows is the journal now. It fails where the terminal is gone.
	Rows(ctx context.Context) ([]Row, error)
}

// Scenario is one sale of a till whose answer may have been lost, and how the till goes on: it asks what
// became of the sale, or makes its next one. The terminal has no other sales.
type Scenario struct {
	Protocol
	Terminal
	Till   *Till       // whose connections are whole
	Amount money.Minor // of the sale
	Next   money.Minor // of the sale after it, which the customer pays
	ID     string
	Asks   bool // the till asks; else it goes on with its next sale
	Resend bool // it asks with its request again
	Again  bool // it makes a next sale after it has asked
	Undoes bool // it takes the sale back, whatever became of it, and goes on (of a protocol that Reverses)
	Exact  bool // the terminal cannot hold an answer for told that the till has not taken whole

	Within time.Duration // in which the terminal comes to know what the till has heard; 0 = a minute

	First  till.Answer // what it was told before it went on
	Surely bool        // the terminal is known to have recorded that the till heard the approval First

	// What comes of it.
	Paid       bool // the sale has to be in the books, and with nothing else than its amount
	NextPaid   bool
	TooSoon    bool // the till heard an approval, and the terminal did not come to know that: it was undone
	References map[money.Minor][]string
}

// String describes the scenario for a report.
func (s *Scenario) String() string {
	return fmt.Sprintf("%s, sale of %d as %s, asks %v, with its request %v, undoes %v; first told %+v", s.Name, s.Amount, s.ID, s.Asks, s.Resend, s.Undoes, s.First)
}

// GoOn lets the till go on, and waits until everything has settled. It fails where the till is told
// what contradicts the row of its protocol (MONEY F.5).
func (s *Scenario) GoOn(ctx context.Context) error {
	s.References = map[money.Minor][]string{}
	switch {
	case s.Undoes:
		return s.undo(ctx)
	case s.Asks:
		return s.ask(ctx)
	}
	return s.forget(ctx)
}

// Recorded waits until the terminal has recorded what became of the outcome that the till heard or
// did not hear. It fails where the till has heard an approval and the terminal does not come to know
// that within Within.
func (s *Scenario) Recorded(ctx context.Context) error {
	heard := s.First.Said == till.Approved && (s.First.Firm || !s.Acks) // an acknowledgement of the till's may have been lost
	within := cmp.Or(s.Within, time.Minute)
	for began := time.Now(); ; {
		rows, err := s.Rows(ctx)
		if err != nil {
			return err
		}
		known := false
		for _, r := range rows {
			known = known || r.Told == "told"
		}
		over := len(rows) > 0 && rows[0].Result != "" && rows[0].Told != ""
		switch took := time.Since(began); {
		case heard && known, !heard && (over || took > within/12):
			s.Surely = known && s.First.Said == till.Approved
			return nil
		case took > within && !s.Keeps:
			return fmt.Errorf("the till has heard an approval, and %v later the terminal does not know that: %+v", within, rows)
		case took > within:
			return nil
		}
		if !passes(ctx, 30*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// passes waits; it is false where ctx ends before.
func passes(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// known reports whether an answer leaves the till nothing to ask. An approval whose acknowledgement the
// terminal has not confirmed leaves the question whether it stands, where a protocol has both an ack and an id.
func (s *Scenario) known(a till.Answer) bool {
	return Definite(a) && (a.Firm || a.Said != till.Approved || !s.Acks || !s.IDs)
}

// Until repeats a question as long as its answer is not known and the terminal is there.
func (s *Scenario) Until(ctx context.Context, question func() (till.Answer, error)) (till.Answer, error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 400*time.Millisecond) {
		a, err := question()
		if err == nil && s.known(a) {
			return a, nil
		}
		if _, gone := s.Rows(ctx); gone != nil {
			return a, gone
		}
		if !passes(ctx, wait) {
			return a, fmt.Errorf("no definite answer: %w, last %+v, %w", ctx.Err(), a, err)
		}
	}
}

// ask lets the till ask until it knows, and holds that against what it was told first.
func (s *Scenario) ask(ctx context.Context) error {
	a, err := s.Until(ctx, func() (till.Answer, error) {
		if s.Resend && s.IDs {
			return s.Till.Pay(ctx, s.Amount, s.ID)
		}
		return s.Till.Again(ctx, s.Amount, s.ID)
	})
	if err != nil {
		return err
	}
	s.Paid = a.Said == till.Approved
	switch {
	case Definite(s.First) && (s.First.Said == till.Approved) != s.Paid:
		return fmt.Errorf("then told %+v", a)
	case s.Paid && a.Amount != s.Amount:
		return fmt.Errorf("approved %d: %+v", a.Amount, a)
	}
	if s.Again {
		if err := s.next(ctx); err != nil {
			return err
		}
	}
	_, err = s.settle(ctx)
	return err
}

// reversalFails is the amount whose first reversal the backend refuses, by its scenario table.
const reversalFails = 90016

// undo lets the till take the sale back until it knows how that ended, and go on. Nothing of the sale
// stays, unless the backend has refused to take it back: an approval that the till has heard stands then.
func (s *Scenario) undo(ctx context.Context) error {
	a, err := s.Until(ctx, func() (till.Answer, error) { return s.Till.Reverse(ctx) })
	if err != nil {
		return err
	}
	if err := s.next(ctx); err != nil {
		return err
	}
	rows, err := s.settle(ctx)
	if refused := NotPaid(a.Said) && s.Amount == reversalFails; err == nil && refused {
		s.Paid = slices.ContainsFunc(rows, func(r Row) bool { return r.Amount == s.Amount && r.Result == string(till.Approved) && r.Told == "told" })
	}
	return err
}

// forget lets the till go on with its next sale. An approval that the terminal knows to be heard
// stays, and so does any over a protocol that keeps; the others are undone.
func (s *Scenario) forget(ctx context.Context) error {
	before, err := s.Rows(ctx)
	for err == nil && s.Keeps && running(before) && passes(ctx, 50*time.Millisecond) {
		before, err = s.Rows(ctx)
	}
	if err != nil {
		return err
	}
	for _, r := range before {
		s.Paid = s.Paid || r.Result == string(till.Approved) && (r.Told == "told" || s.Keeps)
	}
	if err := s.next(ctx); err != nil {
		return err
	}
	rows, err := s.settle(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows { // the last telling may have been recorded since
		s.Paid = s.Paid || r.Amount == s.Amount && r.Result == string(till.Approved) && (r.Told == "told" || s.Keeps)
	}
	if s.Exact && !s.Keeps && s.Paid && s.First.Said == till.Nothing {
		return fmt.Errorf("an approval counts as told that the till has not heard: %+v", rows)
	}
	switch heard := s.First.Said == till.Approved; {
	case NotPaid(s.First.Said) && s.Paid:
		return fmt.Errorf("told not paid, then approved: %+v", rows)
	case heard && !s.Paid && (s.First.Firm || s.Surely || s.Keeps):
		return fmt.Errorf("an approval that the till has heard was not kept: %+v", rows)
	case heard && !s.Paid:
		s.TooSoon = true
	}
	return nil
}

// running says whether a sale has no result yet.
func running(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Result == "" })
}

// next makes the till's next sale.
func (s *Scenario) next(ctx context.Context) error {
	a, err := s.Until(ctx, func() (till.Answer, error) { return s.Till.Pay(ctx, s.Next, s.ID+"n") })
	if s.NextPaid = a.Said == till.Approved; err == nil && (!s.NextPaid || a.Amount != s.Next) {
		err = fmt.Errorf("the next sale is told %+v", a)
	}
	return err
}

// settle waits until nothing can happen to any sale by itself, and takes the references of them. An
// approval that is kept waits for the end of day. A till whose requests have ids has one sale for
// each.
func (s *Scenario) settle(ctx context.Context) ([]Row, error) {
	open := func(r Row) bool { return !r.Settled && !(s.Keeps && r.Result == string(till.Approved)) }
	rows, err := s.Rows(ctx)
	for wait := 50 * time.Millisecond; err == nil && slices.ContainsFunc(rows, open); wait = min(2*wait, 800*time.Millisecond) {
		if !passes(ctx, wait) {
			return rows, fmt.Errorf("not settled: %+v", rows)
		}
		rows, err = s.Rows(ctx)
	}
	if err != nil {
		return rows, err
	}
	for _, r := range rows {
		if r.Amount != s.Amount && r.Amount != s.Next {
			return rows, fmt.Errorf("a sale that the till did not ask for: %+v", r)
		}
		s.References[r.Amount] = append(s.References[r.Amount], r.Reference)
	}
	if s.IDs && (len(s.References[s.Amount]) > 1 || len(s.References[s.Next]) > 1) {
		return rows, fmt.Errorf("two sales of one id: %+v", rows)
	}
	return rows, nil
}
