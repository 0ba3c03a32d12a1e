package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

const (
	// receiptWithin is how far a till's clock may be from the terminal's where a receipt number names the sale: numbers come again.
	receiptWithin = time.Hour
	// timeWithin is the same where nothing but the time and the amount name it.
	timeWithin = 5 * time.Minute
	// page is how many sales one reading of the journal takes, so that it holds no checkpoint up.
	page = 500
)

// sale is what a comparison needs of a sale of the journal.
type sale struct {
	key       wire.Key
	id        int64
	kind      ecr.Kind
	line      string
	amount    money.Minor
	currency  string
	method    string
	okWords   []string
	reference string
	original  wire.Key
	undo      wire.Key
	receipt   int
	createdMS int64
	says      word // what the journal says of the money
	settling  bool
	reversed  bool   // a reversal took all of it back, or is about to
	elsewhere string // where its service stood, if it stands at other books now
	// whether a status can be of the sale, or of its undo (MONEY, law II); nil = it is not judged
	owns, ownsUndo func(aapay.Status) bool
	row            int // of the list, -1 = none
}

func saleOf(r *journal.Row) sale {
	s := sale{
		key: r.Key, id: r.ID, kind: r.Kind, line: r.Line, amount: r.Amount, currency: r.Currency, method: r.Method.Name, okWords: r.State.OKWords,
		reference: r.Reference, original: r.Original, undo: r.UndoKey, receipt: r.Receipt, createdMS: r.CreatedMS, settling: r.State.Settling, reversed: r.Reversed, row: -1,
	}
	if amount, err := r.Hundredths(); err == nil {
		asked, id := intent.Request{Reference: r.Reference, Hundredths: amount.TotalAmount, Currency: r.Currency}, r.State.TransactionID
		s.owns = func(st aapay.Status) bool {
			asked := asked
			if told := st.Receipt; r.Kind != ecr.Payment && told != nil { // it may tell a name of the payment that is given back
				asked.Reference, asked.Original = told.Reference, journal.ReferenceOf(r.Original)
			}
			other := id != 0 && st.TransactionID != 0 && st.TransactionID != id
			return !other && asked.Status(st) != intent.Anothers
		}
		undo := asked
		undo.Reference, undo.Original = journal.ReferenceOf(r.UndoKey), r.Reference
		s.ownsUndo = func(st aapay.Status) bool {
			byID := undo // a refund names its payment so
			byID.Original = strconv.FormatInt(id, 10)
			return undo.Status(st) != intent.Anothers || byID.Status(st) != intent.Anothers
		}
	}
	switch good := r.Good(); {
	case r.Quarantined && r.Aside == "":
		s.says = altered
	case r.Aside != "" && !r.Closed, checkout.Active(r.State) && !r.Closed && !(good && settled(r.State)):
		s.says = open
	case good:
		s.says = paid
	default:
		s.says = unpaid
	}
	return s
}

// settled says of an approved sale that nothing but time can change that it was: it was told and acknowledged.
func settled(s checkout.State) bool { return s.Phase == checkout.Confirmed }

// names are what a row may know a sale by for certain.
func names(r *journal.Row) []string {
	list := []string{"sale/" + string(r.Key), "reference/" + r.Reference}
	if r.State.Till.Reference != "" && r.State.Till.Reference != r.Reference {
		list = append(list, "reference/"+r.State.Till.Reference)
	}
	if r.Sequence != "" {
		list = append(list, "id/"+r.Sequence)
	}
	if r.State.TransactionID != 0 {
		list = append(list, "transaction/"+strconv.FormatInt(r.State.TransactionID, 10))
	}
	return list
}

// names are those of a row, as the journal keeps them.
func (r Row) names(by intent.Digester) (list []string) {
	for kind, name := range map[string]string{"sale/": string(r.Sale), "reference/": intent.KeptName(by, r.Reference), "id/": intent.KeptName(by, r.ID)} {
		if name != "" {
			list = append(list, kind+name)
		}
	}
	if r.Transaction != 0 {
		list = append(list, "transaction/"+strconv.FormatInt(r.Transaction, 10))
	}
	return list
}

// pair is a row and a sale that may be one.
type pair struct {
	row, sale int
	agree     int           // how many of the certain names are the same
	paper     bool          // the receipt number is the same
	other     bool          // the amounts differ
	apart     time.Duration // of the two clocks
}

// matcher finds the sale of each row.
type matcher struct {
	rows   []Row
	by     map[string][]int // rows by a certain name, by receipt, and by kind and amount where a row has no name at all
	period Period
	after  int64     // the newest sale of the list before
	until  time.Time // when the list was written; zero = it is not known
	sales  []sale
	pairs  []pair

	through int64 // every sale up to it was compared, or came before what is compared
	stopped bool  // a sale came after the period: through stays
	outside outside
}

func newMatcher(by intent.Digester, rows []Row, p Period, after int64, written time.Time) *matcher {
	m := &matcher{rows: rows, by: make(map[string][]int, len(rows)), period: p, after: after, until: written, outside: outside{}}
	for i, r := range rows {
		for _, name := range r.names(by) {
			m.by[name] = append(m.by[name], i)
		}
		if r.Receipt != 0 {
			name := "receipt/" + strconv.Itoa(r.Receipt)
			m.by[name] = append(m.by[name], i)
		}
		if !r.named() {
			name := plainName(r.Kind, r.Amount, r.Currency)
			m.by[name] = append(m.by[name], i)
		}
	}
	return m
}

func plainName(kind ecr.Kind, amount money.Minor, currency string) string {
	return "plain/" + string(kind) + "/" + strconv.FormatInt(int64(amount), 10) + currency
}

// read looks at every sale of the journal, page by page. Sales that no row can mean and that lie outside the period are forgotten.
func (m *matcher) read(ctx context.Context, db store.DB, yield func(context.Context) error, progress func(done, of int64)) error {
	var last, after int64
	if err := db.Read(ctx, func(r store.Reader) (err error) {
		last, err = Newest(r)
		return err
	}); err != nil {
		return err
	}
	for {
		if err := yield(ctx); err != nil {
			return err
		}
		var sales []sale
		var names [][]string
		if err := db.Read(ctx, func(r store.Reader) (err error) {
			sales, names, err = readSales(r, after, page)
			return err
		}); err != nil {
			return err
		}
		if len(sales) == 0 {
			return nil
		}
		for i, s := range sales {
			m.add(s, names[i])
		}
		after = sales[len(sales)-1].id
		progress(min(after, last), last)
	}
}

// Newest is the number of the journal's newest sale, 0 = none.
func Newest(r store.Reader) (id int64, err error) {
	if err = r.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM checkout_sales`).Scan(&id); err != nil {
		err = fmt.Errorf("newest sale: %w", err)
	}
	return id, err
}

// Since counts the sales behind a number, on one of the lines, or on any where none is named.
func Since(r store.Reader, id int64, lines []string) (n int, err error) {
	err = store.Each(r, func(row store.Row) error {
		var line string
		if err := row.Scan(&line); err != nil {
			return err
		}
		if len(lines) == 0 || slices.Contains(lines, line) {
			n++
		}
		return nil
	}, `SELECT line FROM checkout_sales WHERE id > ?`, id)
	if err != nil {
		err = fmt.Errorf("sales since: %w", err)
	}
	return n, err
}

// readSales reads the sales behind a number, and by which names each is known for certain.
func readSales(r store.Reader, after int64, limit int) (sales []sale, known [][]string, err error) {
	rows, err := journal.SalesAfter(r, after, limit)
	for _, row := range rows {
		s := saleOf(row)
		if err == nil {
			s.elsewhere, err = journal.Elsewhere(r, row)
		}
		sales, known = append(sales, s), append(known, names(row))
	}
	return sales, known, err
}

func (m *matcher) add(s sale, names []string) {
	at := len(m.sales)
	agree := map[int]int{}
	for _, name := range names {
		for _, i := range m.by[name] {
			agree[i]++
		}
	}
	found := false
	note := func(i, agree int, within time.Duration) {
		t := m.rows[i]
		p := pair{row: i, sale: at, agree: agree, paper: s.receipt != 0 && t.Receipt == s.receipt, other: t.Amount != s.amount || t.Currency != s.currency}
		if !t.At.IsZero() {
			p.apart = t.At.Sub(time.UnixMilli(s.createdMS)).Abs()
		}
		if t.Kind == s.kind && (agree > 0 || p.apart <= within) {
			m.pairs, found = append(m.pairs, p), true
		}
	}
	for i, n := range agree {
		note(i, n, 0)
	}
	if s.receipt != 0 {
		for _, i := range m.by["receipt/"+strconv.Itoa(s.receipt)] {
			if agree[i] == 0 {
				note(i, 0, receiptWithin)
			}
		}
	}
	for _, i := range m.by[plainName(s.kind, s.amount, s.currency)] {
		note(i, 0, timeWithin)
	}
	if m.stopped = m.stopped || m.late(s) && s.id > m.after; !m.stopped {
		m.through = s.id
	}
	if found || m.compares(s) {
		m.sales = append(m.sales, s)
		return
	}
	m.outside.add(s, m.late(s))
}

// late reports whether a sale came after the period, and after the list was written.
func (m *matcher) late(s sale) bool {
	to := m.period.To
	if m.until.After(to) {
		to = m.until
	}
	return !m.period.To.IsZero() && s.createdMS > to.UnixMilli()
}

// compares reports whether a sale is looked for in the list.
func (m *matcher) compares(s sale) bool {
	return m.period.has(s.createdMS) || s.id > m.after && !m.late(s) && (m.after > 0 || s.createdMS >= m.period.From.UnixMilli())
}

// outside adds up the paid sales that no list was looked through for.
type outside map[Outside]Outside

func (o outside) add(s sale, after bool) {
	if s.says != paid {
		return
	}
	key := Outside{After: after, Line: s.line, Kind: string(s.kind), Currency: s.currency}
	v := o[key]
	if v == (Outside{}) {
		v = key
	}
	v.Sales, v.Amount = v.Sales+1, v.Amount+int64(s.amount)
	o[key] = v
}

// list returns those of the lines, or of any where none is named, in a fixed order.
func (o outside) list(lines []string) (list []Outside) {
	for _, v := range o {
		if len(lines) == 0 || slices.Contains(lines, v.Line) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b Outside) int {
		return cmp.Or(compareBool(a.After, b.After), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Currency, b.Currency))
	})
	return list
}

// decide gives each row at most one sale, and each sale at most one row: the surest pairs first. It returns the sale of each row, -1
// = none, and the rows that name a sale which a surer row has.
func (m *matcher) decide() (of []int, twice map[int]int) {
	slices.SortStableFunc(m.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.agree, a.agree), compareBool(a.other, b.other), cmp.Compare(a.apart, b.apart), cmp.Compare(a.row, b.row))
	})
	of, twice = make([]int, len(m.rows)), map[int]int{}
	for i := range of {
		of[i] = -1
	}
	for _, p := range m.pairs {
		if s := &m.sales[p.sale]; of[p.row] < 0 && s.row < 0 {
			of[p.row], s.row = p.sale, p.row
		}
	}
	for _, p := range m.pairs {
		if of[p.row] < 0 && (p.agree > 0 || p.paper && !p.other) {
			if _, named := twice[p.row]; !named {
				twice[p.row] = p.sale
			}
		}
	}
	m.pairs = nil
	return of, twice
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
