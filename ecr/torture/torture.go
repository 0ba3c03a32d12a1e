package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// Options say what is tortured, and how much. Protocol and Connect are required.
type Options struct {
	Protocol till.Protocol
	Connect  func(ctx context.Context) (net.Conn, error)
	Currency string      // "" = EUR
	Amount   money.Minor // of each sale; 0 = 100
	Limit    money.Minor // of all sales together; 0 = none
	Sales    int         // of the rows that repeat themselves; 0 = 20
	Seed     uint64
	Wait     time.Duration // for one answer; 0 = 2 minutes
	Live     bool          // the terminal may move real money
	Local    bool          // it is on this machine
	// Books returns what the merchant has by the terminal's books; nil = they are not to be had.
	Books func(ctx context.Context) (money.Minor, error)
	// Note hears each row as it ends; nil = nothing does.
	Note func(Result)
}

// Verdict is how a row ended.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	NotSeen Verdict = "not seen" // it could not be brought about
	Cannot  Verdict = "cannot"   // the protocol cannot do it
)

// Result is a row of the scorecard.
type Result struct {
	Row     string  `json:"row"`
	Did     string  `json:"did"`
	Saw     string  `json:"saw"`
	Verdict Verdict `json:"verdict"`
}

// Scorecard is the result (posagent.torture/1).
type Scorecard struct {
	Schema   string      `json:"schema"`
	Protocol string      `json:"protocol"`
	Seed     uint64      `json:"seed"`
	Sales    int         `json:"sales"` // asked for
	Spent    money.Minor `json:"spent"` // told as approved, minor units
	Rows     []Result    `json:"rows"`
	Unseen   []string    `json:"unseen"` // what no register can see without the terminal's books
}

// Good says that a sale was approved, and no row failed.
func (s Scorecard) Good() bool {
	for _, r := range s.Rows {
		if r.Verdict == Failed {
			return false
		}
	}
	return len(s.Rows) > 0 && s.Rows[0].Verdict == Passed
}

// Errors of a run.
var (
	ErrNotATest = errors.New("the terminal does not say that it is one for tests, and is not on this machine")
	ErrLimit    = errors.New("the limit is reached")
)

// bench is a run.
type bench struct {
	o       Options
	p       till.Protocol
	rng     *rand.Rand
	mark    string // names this run in ids
	n       int    // requests
	card    Scorecard
	whole   int        // bytes of the terminal in a clean sale
	run     int        // of them, those before it ended; 0 = nothing comes before
	first   int        // bytes of the request of one
	last    int        // the receipt of the newest approval that was heard
	mu      sync.Mutex // of card.Sales, card.Spent and limited
	limited bool       // a sale was not asked for because of the limit
	kept    int        // sales that rows which passed have left paid
	test    bool       // the terminal calls itself one for tests
	tills   []till.Till
}

// Run plays every row. Errors: ErrNotATest, that of the first connection, and that of ctx.
func Run(ctx context.Context, o Options) (Scorecard, error) {
	if o.Currency == "" {
		o.Currency = "EUR"
	}
	if o.Amount <= 0 {
		o.Amount = 100
	}
	if o.Sales <= 0 {
		o.Sales = 20
	}
	if o.Wait <= 0 {
		o.Wait = 2 * time.Minute
	}
	if o.Note == nil {
		o.Note = func(Result) {}
	}
	b := &bench{
		o: o, p: o.Protocol, rng: rand.New(rand.NewPCG(o.Seed, 0)),
		mark: strconv.FormatInt(time.Now().UnixNano(), 36),
		card: Scorecard{Schema: "posagent.torture/1", Protocol: o.Protocol.Name, Seed: o.Seed, Rows: []Result{}, Unseen: unseen(o.Protocol.Can)},
	}
	_, _, err := b.till(ctx, "1", nil)
	if err != nil {
		return b.card, err
	}
	b.hangUp()
	if !b.test && !o.Local && !o.Live {
		return b.card, ErrNotATest
	}
	var before money.Minor
	if o.Books != nil {
		if before, err = o.Books(ctx); err != nil {
			return b.card, err
		}
	}
	for _, r := range rows() {
		res := b.play(ctx, r)
		if err := ctx.Err(); err != nil {
			return b.card, err
		}
		b.card.Rows = append(b.card.Rows, res)
		o.Note(res)
		if r.name == "sale" && res.Verdict != Passed {
			return b.card, nil // nothing else can be judged
		}
	}
	if o.Books != nil {
		res := b.books(ctx, before)
		b.card.Rows = append(b.card.Rows, res)
		o.Note(res)
	}
	return b.card, ctx.Err()
}

// books compares the terminal's books with what the register was told. Undos take their time.
func (b *bench) books(ctx context.Context, before money.Minor) Result {
	res := Result{Row: "books", Did: "the terminal's books, beside what the register was told", Verdict: NotSeen, Saw: "a row failed, so the books prove nothing"}
	if !b.card.Good() {
		return res
	}
	want := money.Minor(b.kept) * b.o.Amount
	for until := time.Now().Add(b.o.Wait); ; {
		now, err := b.o.Books(ctx)
		if err != nil {
			res.Saw = err.Error()
			return res
		}
		res.Saw = fmt.Sprintf("%d minor units were told as approved, and the books have %d more", want, now-before)
		if now-before == want {
			res.Verdict = Passed
			return res
		}
		if time.Now().After(until) {
			res.Verdict = Failed
			return res
		}
		if err := till.Pause(ctx); err != nil {
			res.Saw = err.Error()
			return res
		}
	}
}

// unseen is what stays unknown.
func unseen(can till.Can) []string {
	list := []string{
		"whether money moved at the customer's side: only the backend's books say it",
		"what a power cut or a restart of the terminal does",
	}
	if !can.Totals {
		list = append(list, "whether a sale was charged twice: the protocol has no totals")
	}
	if !can.Asks {
		list = append(list, "what became of an approval that was not heard: the protocol has no question about it")
	}
	return list
}

// fault is what a terminal did wrong; any other error of a row is something that could not be brought about.
type fault struct{ text string }

func (f fault) Error() string { return f.text }

func wrong(format string, args ...any) error { return fault{fmt.Sprintf(format, args...)} }

// play plays a row between two readings of the totals.
func (b *bench) play(ctx context.Context, r row) Result {
	res := Result{Row: r.name, Did: r.did, Verdict: Cannot, Saw: "the protocol has no " + r.lacks}
	if r.needs != nil && !r.needs(b.p.Can) {
		return res
	}
	if res.Verdict, res.Saw = NotSeen, ErrLimit.Error(); b.atLimit() {
		return res
	}
	before, err := b.totals(ctx)
	var saw string
	var want int
	if err == nil {
		saw, want, err = r.play(ctx, b)
	}
	b.hangUp()
	if err == nil {
		err = b.counted(ctx, before, saw, want)
	}
	b.hangUp()
	if b.atLimit() { // the row is half done: its sales prove nothing
		return res
	}
	if err != nil {
		b.recover(ctx)
	}
	var f fault
	switch {
	case err == nil:
		b.kept += want
		res.Saw, res.Verdict = saw, Passed
	case errors.As(err, &f):
		res.Saw, res.Verdict = err.Error(), Failed
	default:
		res.Saw, res.Verdict = err.Error(), NotSeen
	}
	return res
}

// settles is how long a terminal may take until its totals have what its register was told: some count a sale when they know that it
// was heard.
const settles = 5 * time.Second

// counted compares what the terminal counts since before with so many sales. Totals take a moment, and books their time: undos do.
func (b *bench) counted(ctx context.Context, before till.Totals, saw string, want int) error {
	counts, wait := "the terminal counts", min(settles, b.o.Wait)
	if !b.p.Can.Totals {
		if b.o.Books == nil {
			return nil
		}
		counts, wait = "the books have", b.o.Wait
	}
	for until := time.Now().Add(wait); ; {
		after, err := b.totals(ctx)
		if err != nil {
			return err
		}
		count, sum := b.more(before, after), after.Sum-before.Sum
		if count == want && sum == money.Minor(want)*b.o.Amount {
			return nil
		}
		if time.Now().After(until) {
			return wrong("%s; %s %d sale(s) of %d minor units more, and should %d of %d", saw, counts, count, sum, want, money.Minor(want)*b.o.Amount)
		}
		if err := till.Pause(ctx); err != nil {
			return err
		}
	}
}

// more is how many sales lie between two readings. Sums alone are whole sales, or the count is -1.
func (b *bench) more(before, after till.Totals) int {
	if before.Count >= 0 && after.Count >= 0 {
		return after.Count - before.Count
	}
	if sum := after.Sum - before.Sum; sum%b.o.Amount == 0 {
		return int(sum / b.o.Amount)
	}
	return -1
}

// recover makes sure that what a row has left behind troubles no other row: the terminal takes back what was not heard with its next
// sale, which is tried until one is approved.
func (b *bench) recover(ctx context.Context) {
	for until := time.Now().Add(b.o.Wait); time.Now().Before(until); {
		if t, _, err := b.till(ctx, "1", nil); err == nil {
			a, err := b.pay(ctx, t, b.id())
			b.hangUp()
			if b.atLimit() {
				return
			}
			if err == nil && a.Said == till.Approved {
				b.last, b.kept = a.Receipt, b.kept+1
				return
			}
		}
		if till.Pause(ctx) != nil {
			return
		}
	}
}

// till connects a register.
func (b *bench) till(ctx context.Context, name string, running func()) (till.Till, *wire, error) {
	ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	conn, err := b.o.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	if running == nil {
		running = func() {}
	}
	w := newWire(conn)
	t, err := b.p.New(till.Line{Conn: w, More: b.o.Connect, Name: name, Currency: b.o.Currency, Running: func() {
		w.runs()
		running()
	}})
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	if b.test, err = t.Greet(ctx); err != nil {
		_ = t.Close()
		return nil, nil, err
	}
	b.tills = append(b.tills, t)
	return t, w, nil
}

// hangUp closes all registers.
func (b *bench) hangUp() {
	for _, t := range b.tills {
		_ = t.Close()
	}
	b.tills = nil
}

// totals reads the terminal's sums, or that of its books where the protocol has none.
func (b *bench) totals(ctx context.Context) (till.Totals, error) {
	switch {
	case !b.p.Can.Totals && b.o.Books == nil:
		return till.Totals{}, nil
	case !b.p.Can.Totals:
		sum, err := b.o.Books(ctx)
		return till.Totals{Count: -1, Sum: sum}, err
	}
	t, _, err := b.till(ctx, "1", nil)
	if err != nil {
		return till.Totals{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	sums, err := t.Totals(ctx)
	_ = t.Close()
	if err != nil {
		return sums, fmt.Errorf("no totals: %w", err)
	}
	return sums, nil
}

// id makes the next request's id. No other run has it, with the same seed neither: terminals know ids for a long time.
func (b *bench) id() string {
	b.n++
	return fmt.Sprintf("torture-%s-%d", b.mark, b.n)
}

// pay asks for a sale under a new id, unless the limit forbids it. What was heard of an answer that broke off counts for nothing.
func (b *bench) pay(ctx context.Context, t till.Till, id string) (till.Answer, error) {
	if !b.spend() {
		return till.Answer{}, ErrLimit
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	a, err := t.Pay(ctx, b.o.Amount, id)
	switch {
	case err != nil: // it may have cost as much
		return till.Answer{}, err
	case a.Said != till.Approved:
		b.giveBack()
	}
	return a, nil
}

// spend counts a sale before it is asked for: two tills may ask at once. It returns false where the limit forbids it.
func (b *bench) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.o.Limit > 0 && b.card.Spent+b.o.Amount > b.o.Limit {
		b.limited = true
		return false
	}
	b.card.Sales++
	b.card.Spent += b.o.Amount
	return true
}

// atLimit says that the limit has kept a sale from being asked for.
func (b *bench) atLimit() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limited
}

// giveBack takes a sale out of the count that cost nothing.
func (b *bench) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.card.Spent -= b.o.Amount
}

// again asks how a sale ended, over a new connection.
func (b *bench) again(ctx context.Context, name, id string) (till.Answer, error) {
	t, _, err := b.till(ctx, name, nil)
	if err != nil {
		return till.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	a, err := till.Until(ctx, t, b.o.Amount, id)
	_ = t.Close()
	if err != nil {
		return a, wrong("asked again, the terminal gives no answer: %v", err)
	}
	return a, nil
}
