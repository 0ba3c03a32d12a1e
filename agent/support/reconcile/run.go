package reconcile

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options say what is compared. DB and Backend are required.
type Options struct {
	DB      store.DB // with the tables of the checkout; it is read only
	Backend Backend
	Period  Period // of the journal; zero = the time of the list's rows
	// After is the newest sale of the list before, by its number: sales behind it are compared although they came before the first
	// row. 0 = there was no list. Written is when the list was written: sales up to then are compared although they came after the
	// last row; zero = it is not known. A sale between two lists stands in neither otherwise.
	After    int64
	Written  time.Time
	Lines    []string // whose sales the list has; nil = the lines on which its rows are found
	Parallel int      // questions at once; 0 = 8
	// Progress hears how far the work is; nil = nothing does.
	Progress func(what string, done, of int64)
	// Yield waits until the next piece of the work may be done: a page of the journal, a question. Nil = at once.
	Yield func(ctx context.Context) error
	// Each hears every sale that was compared, those that agree too; nil = nothing does.
	Each func(Finding)
}

// Run compares a list. Errors: those of the store, ErrBackend with its cause, and that of ctx.
func Run(ctx context.Context, o Options, list List) (Report, error) {
	if o.Parallel <= 0 {
		o.Parallel = 8
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Yield == nil {
		o.Yield = func(context.Context) error { return nil }
	}
	if o.Each == nil {
		o.Each = func(Finding) {}
	}
	period := o.Period
	if period == (Period{}) {
		period = spanOf(list.Rows)
	}
	m := newMatcher(o.DB, list.Rows, period, o.After, o.Written)
	if err := m.read(ctx, o.DB, o.Yield, func(done, of int64) { o.Progress("journal", done, of) }); err != nil {
		return Report{}, err
	}
	of, twice := m.decide()
	if period == (Period{}) {
		period = matchedSpan(m.sales)
		m.period = period
	}
	nowhere := period == (Period{}) && len(list.Rows) > 0 // neither a time nor a sale that is known: nothing says what else it should have
	lines := o.Lines
	if lines == nil {
		lines = linesOf(m.sales)
	}
	r := &run{o: o, ask: &asker{backend: o.Backend}, rows: list.Rows, sales: m.sales, of: of, twice: twice}
	for i, s := range m.sales {
		switch {
		case s.row >= 0 || nowhere:
		case !m.compares(s):
			m.outside.add(s, m.late(s))
		case len(lines) == 0 || slices.Contains(lines, s.line):
			r.unlisted = append(r.unlisted, i)
		}
	}
	r.index()
	if err := r.compare(ctx); err != nil {
		return Report{}, err
	}
	v := r.report(period, lines, list.Unused)
	v.Through, v.Outside = m.through, m.outside.list(lines)
	return v, nil
}

// spanOf is the time from the first row of a list to its last.
func spanOf(rows []Row) (p Period) {
	for _, r := range rows {
		if r.At.IsZero() {
			continue
		}
		if p.From.IsZero() || r.At.Before(p.From) {
			p.From = r.At
		}
		if r.At.After(p.To) {
			p.To = r.At
		}
	}
	return p
}

// matchedSpan is the time from the first sale that a row has to the last.
func matchedSpan(sales []sale) (p Period) {
	for _, s := range sales {
		at := time.UnixMilli(s.createdMS)
		if s.row < 0 {
			continue
		}
		if p.From.IsZero() || at.Before(p.From) {
			p.From = at
		}
		if at.After(p.To) {
			p.To = at
		}
	}
	return p
}

// linesOf are the lines of the sales that rows have.
func linesOf(sales []sale) []string {
	seen, list := map[string]bool{}, []string{}
	for _, s := range sales {
		if s.row >= 0 && !seen[s.line] {
			seen[s.line], list = true, append(list, s.line)
		}
	}
	slices.Sort(list)
	return list
}

// run is one comparison.
type run struct {
	o        Options
	ask      *asker
	rows     []Row
	sales    []sale
	of       []int       // the sale of each row, -1 = none
	twice    map[int]int // rows that name a sale which another row has
	unlisted []int       // sales that no row has
	byKey    map[wire.Key]int
	found    []Finding // of the rows, then of the unlisted
}

// index finds sales by key where one is the original of another.
func (r *run) index() {
	r.byKey = map[wire.Key]int{}
	for i, s := range r.sales {
		if s.kind == ecr.Payment {
			r.byKey[s.key] = i
		}
	}
}

// compare asks for every sale, several at once.
func (r *run) compare(ctx context.Context) error {
	total := len(r.rows) + len(r.unlisted)
	r.found = make([]Finding, total)
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range total {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
			r.o.Progress("backend", int64(i), int64(total))
		}
		return nil
	})
	for range r.o.Parallel {
		g.Go(func() error {
			for i := range next {
				if err := r.o.Yield(ctx); err != nil {
					return err
				}
				f, err := r.one(ctx, i)
				if err != nil {
					return err
				}
				r.found[i] = f
			}
			return nil
		})
	}
	return g.Wait()
}

// one judges a row, or behind them a sale that no row has.
func (r *run) one(ctx context.Context, i int) (Finding, error) {
	if i >= len(r.rows) {
		return r.judged(ctx, nil, &r.sales[r.unlisted[i-len(r.rows)]])
	}
	row := &r.rows[i]
	if at := r.of[i]; at >= 0 {
		return r.judged(ctx, row, &r.sales[at])
	}
	if at, named := r.twice[i]; named { // another row has it
		f := Finding{Class: Agree, Row: rowSays(*row), Journal: journalSays(&r.sales[at]), Twice: true}
		if row.Paid {
			f.Class = TillYesOnly
		}
		return f, nil
	}
	b, err := r.ask.named(ctx, *row)
	if err != nil {
		return Finding{}, err
	}
	return Finding{Class: judge(tillWord(row), absent, word(b.Says), false), Row: rowSays(*row), Backend: b}, nil
}

// judged judges a sale. One that looks different is read a second time.
func (r *run) judged(ctx context.Context, row *Row, s *sale) (Finding, error) {
	for second := false; ; second = true {
		b, err := r.ask.of(ctx, s)
		if err != nil {
			return Finding{}, err
		}
		backend := word(b.Says)
		if s.elsewhere != "" { // the journal was told there, and nothing of it was open when the terminal left
			backend = s.says
		}
		f := Finding{Class: judge(r.says(row, s), s.says, backend, s.settling), Journal: journalSays(s), Backend: b}
		if row != nil {
			f.Row = rowSays(*row)
			if f.Class == Agree && row.Paid && s.says == paid && (row.Amount != s.amount || row.Currency != s.currency) {
				f.Class = OtherAmount
			}
		}
		if f.Class == Agree || second {
			return f, nil
		}
		again, err := r.again(ctx, s)
		if err != nil {
			return Finding{}, err
		}
		s = again
	}
}

// says is what the till says of a sale. Of a payment that was reversed whole it may say that it was not paid, and nothing of the
// reversal.
func (r *run) says(row *Row, s *sale) word {
	switch {
	case s.kind == ecr.Payment && s.reversed && s.says == paid && (row == nil || !row.Paid):
		return paid
	case s.kind == ecr.Reversal && s.says == paid && row == nil:
		if at, known := r.byKey[s.original]; known {
			if of := r.sales[at].row; of < 0 || !r.rows[of].Paid {
				return paid
			}
		}
	}
	if row == nil {
		return absent
	}
	return tillWord(row)
}

func tillWord(row *Row) word {
	if row.Paid {
		return paid
	}
	return unpaid
}

// again reads a sale once more. The one that was given stays as it is.
func (r *run) again(ctx context.Context, s *sale) (*sale, error) {
	var sales []sale
	err := r.o.DB.Read(ctx, func(rd store.Reader) (err error) {
		sales, _, err = readSales(rd, s.id-1, 1)
		return err
	})
	if err != nil || len(sales) == 0 || sales[0].key != s.key { // it was purged meanwhile: what was read counts
		return s, err
	}
	now := sales[0]
	now.row = s.row
	return &now, nil
}

// report adds the findings up.
func (r *run) report(p Period, lines, unused []string) Report {
	v := Report{
		Schema: "posagent.reconcile/1", Lines: lines, Rows: len(r.rows), Sales: len(r.unlisted), Asked: int(r.ask.asked.Load()), Unused: unused,
		Counts: map[Class]int{}, Findings: []Finding{},
	}
	for _, at := range r.of {
		if at >= 0 {
			v.Sales++
		}
	}
	if !p.From.IsZero() {
		from := p.From.UTC()
		v.From = &from
	}
	if !p.To.IsZero() {
		to := p.To.UTC()
		v.To = &to
	}
	for _, c := range Classes() {
		v.Counts[c] = 0
	}
	for _, f := range r.found {
		v.Counts[f.Class]++
		r.o.Each(f)
		if f.Class == Agree {
			continue
		}
		f.Title, f.Remedy = f.Class.Title(), f.remedy()
		v.Findings = append(v.Findings, f)
	}
	v.Agree = len(v.Findings) == 0
	return v
}

// Names lists the classes with their titles, for help.
func Names() string {
	var list []string
	for _, c := range Classes() {
		list = append(list, string(c)+" ("+c.Title()+")")
	}
	return strings.Join(list, ", ")
}
