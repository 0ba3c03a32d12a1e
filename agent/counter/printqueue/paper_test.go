package printqueue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/cross/need"
	"posagent/device/line"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
	"posagent/ecr"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/receipt"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// everything is printed without being asked for.
var everything = printqueue.Prints{Customer: true, Merchant: true, EndOfDay: true}

// books are sales and batches that are over.
type books struct {
	mu    sync.Mutex
	sales map[wire.Key]ecr.Outcome
	days  map[int]ecr.Totals
	err   error
}

func (b *books) Receipt(_ context.Context, key wire.Key) (ecr.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, ok := b.sales[key]
	if !ok && b.err == nil {
		return out, journal.ErrUnknown
	}
	return out, b.err
}

func (b *books) Report(_ context.Context, batch int) (ecr.Totals, error) {
	t, ok := b.days[batch]
	if !ok {
		return t, journal.ErrUnknown
	}
	return t, nil
}

// evening is a payment of 12.50 with a card that asks for a merchant's receipt, and the batch that it was in.
func evening() *books {
	at := time.Date(2026, 11, 23, 20, 15, 42, 0, time.Local)
	return &books{
		sales: map[wire.Key]ecr.Outcome{"k42": {
			Sale: "k42", Kind: ecr.Payment, Result: ecr.Approved, Code: ecr.OK, Amount: 1250, Currency: "EUR", Receipt: 42, Batch: 7, Trace: 317, Time: at,
			TerminalID: "20000001", TransactionID: "9007199254740991", Method: "SWISH_E_COM", Label: "Swish", MerchantCopy: true,
		}},
		days: map[int]ecr.Totals{7: {
			Batch: 7, FirstReceipt: 1, LastReceipt: 42, Time: at.Add(2 * time.Hour), Currency: "EUR", Count: 42, Net: 120000,
			Methods:    []ecr.MethodTotal{{Method: "SWISH_E_COM", Label: "Swish", Currency: "EUR", Payments: 40, PaymentSum: 123450, Refunds: 2, RefundSum: 3450}},
			Exceptions: []string{"refund of 9.99 EUR: in progress"},
		}},
	}
}

// row is a sale of the journal.
func row(key string, kind ecr.Kind, phase checkout.Phase, result ecr.Result) *journal.Row {
	return &journal.Row{
		Key: wire.Key(key), Kind: kind, State: checkout.State{Kind: kind, Phase: phase, Result: result},
		Method: methods.Definition{Name: "SWISH_E_COM", MerchRcptReq: []methods.ReceiptRule{{FiTxnTypes: methods.Payment, Req: methods.Required}}},
	}
}

// shop is a terminal's journal with what waits for paper.
type shop struct {
	t     *testing.T
	db    store.DB
	books *books
	notes []string
	run   atomic.Int64 // running time, in ms
}

func (s *shop) running(store.Reader) (int64, error) { return s.run.Load(), nil }

func newShop(t *testing.T) *shop {
	return &shop{t: t, db: storetest.Open(t, printqueue.Schema()...), books: evening()}
}

// start begins a run of the terminal. stop ends it.
func (s *shop) start(p printqueue.Printer, change ...func(*printqueue.Options)) (x *printqueue.Paper, stop func()) {
	o := printqueue.Options{
		DB: s.db, Running: s.running, Printer: p, Books: s.books, Head: receipt.Head{MerchantName: "Kiosk am Markt", Language: "en"}, Currency: "EUR", Prints: everything,
		Note: func(_ store.Tx, of, which string) error {
			s.notes = append(s.notes, of+": "+which)
			return nil
		},
	}
	for _, f := range change {
		f(&o)
	}
	x = printqueue.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(s.t, <-ended) })
	s.t.Cleanup(stop)
	return x, stop
}

// confirm is the commit in which a register acknowledges an approval.
func (s *shop) confirm(x *printqueue.Paper, key string) {
	s.t.Helper()
	require.NoError(s.t, s.db.Write(s.t.Context(), func(tx store.Tx) error {
		return x.SaleChanged(tx, row(key, ecr.Payment, checkout.Approved, ecr.Approved), row(key, ecr.Payment, checkout.Confirmed, ecr.Approved))
	}))
}

// waiting lists what waits.
func (s *shop) waiting() (list []string) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) (err error) {
		list, err = store.Column[string](r, `SELECT what || ' ' || name || ' ' || copy FROM paper_waiting ORDER BY id`)
		return err
	}))
	return list
}

func (s *shop) allPrinted() {
	s.t.Helper()
	need.Until(s.t, "everything is printed", func() bool { return len(s.waiting()) == 0 })
}

// narrow is a paper of 58 mm.
func narrow(t *testing.T) printer.Profile {
	t.Helper()
	prof, err := printer.Named("58mm")
	require.NoError(t, err)
	return prof
}

// toFile is a printer that prints into a file.
func toFile(t *testing.T, path string) *printer.Printer {
	t.Helper()
	prof := narrow(t)
	prof.Status = printer.NoStatus
	p, err := printer.New(printer.Config{Profile: prof, Open: printer.File(path), Sure: true})
	require.NoError(t, err)
	return p
}

// listing is what a printer makes of a file.
func listing(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	p := printertest.New(printertest.Config{Columns: 32, Dots: 384, Kanji: true})
	p.Take(data)
	require.Empty(t, p.Strange())
	return p.Listing()
}

// TestWhatStandsOnThePaper compares a customer's receipt, a merchant's and an end of day with listings that were written by hand.
func TestWhatStandsOnThePaper(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
		x, _ := s.start(toFile(t, path), func(o *printqueue.Options) { o.Head.Language = language })
		s.confirm(x, "k42")
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return x.BatchClosed(tx, 7) }))
		s.allPrinted()
		want, err := os.ReadFile(filepath.Join("testdata", language+".txt"))
		require.NoError(t, err)
		require.Equal(t, string(want), listing(t, path))
	}
}

// TestWhatIsPrintedByItself: each good end once, and nothing else.
func TestWhatIsPrintedByItself(t *testing.T) {
	approved, both := ecr.Approved, []string{"sale k customer", "sale k merchant"}
	none := &journal.Row{}
	for name, c := range map[string]struct {
		was, now *journal.Row
		prints   printqueue.Prints
		want     []string
	}{
		"acknowledged":                  {row("k", ecr.Payment, checkout.Approved, approved), row("k", ecr.Payment, checkout.Confirmed, approved), everything, both},
		"acknowledged late":             {row("k", ecr.Payment, checkout.Unconfirmed, approved), row("k", ecr.Payment, checkout.Confirmed, approved), everything, both},
		"customers alone":               {row("k", ecr.Payment, checkout.Approved, approved), row("k", ecr.Payment, checkout.Confirmed, approved), printqueue.Prints{Customer: true}, both[:1]},
		"merchants alone":               {row("k", ecr.Payment, checkout.Approved, approved), row("k", ecr.Payment, checkout.Confirmed, approved), printqueue.Prints{Merchant: true}, both[1:]},
		"nothing is printed":            {row("k", ecr.Payment, checkout.Approved, approved), row("k", ecr.Payment, checkout.Confirmed, approved), printqueue.Prints{}, nil},
		"approved, not acknowledged":    {row("k", ecr.Payment, checkout.Waiting, ""), row("k", ecr.Payment, checkout.Approved, approved), everything, nil},
		"never acknowledged":            {row("k", ecr.Payment, checkout.Approved, approved), row("k", ecr.Payment, checkout.Unconfirmed, approved), everything, nil},
		"undone":                        {row("k", ecr.Payment, checkout.Unconfirmed, approved), row("k", ecr.Payment, checkout.Reversing, ecr.Aborted), everything, nil},
		"declined":                      {row("k", ecr.Payment, checkout.Waiting, ""), row("k", ecr.Payment, checkout.Declined, ecr.Declined), everything, nil},
		"the batch closes":              {row("k", ecr.Payment, checkout.Confirmed, approved), row("k", ecr.Payment, checkout.Done, approved), everything, nil},
		"begun":                         {none, row("k", ecr.Payment, checkout.Initializing, ""), everything, nil},
		"refunded, no merchant's asked": {row("k", ecr.Refund, checkout.Forward, ""), row("k", ecr.Refund, checkout.Done, approved), everything, both[:1]},
		"refund declined":               {row("k", ecr.Refund, checkout.Forward, ""), row("k", ecr.Refund, checkout.Done, ecr.Declined), everything, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			x := printqueue.New(printqueue.Options{DB: s.db, Running: s.running, Books: s.books, Prints: c.prints})
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return x.SaleChanged(tx, c.was, c.now) }))
			require.Equal(t, c.want, s.waiting())
		})
	}
}

// TestARestart: what waits for a printer that is not there is printed by the next run, once and as no copy.
func TestARestart(t *testing.T) {
	s, dir := newShop(t), filepath.Join(t.TempDir(), "usb")
	path := filepath.Join(dir, "paper")
	x, stop := s.start(toFile(t, path))
	s.confirm(x, "k42")
	need.Until(t, "both wait", func() bool { return x.State().Waiting == 2 })
	require.Contains(t, x.State().Reason, "printer is offline: does not open")
	require.Contains(t, x.State().Remedy, "[printer] device")
	stop()
	require.NoError(t, os.Mkdir(dir, 0o700))
	_, stop = s.start(toFile(t, path))
	s.allPrinted()
	stop()
	paperNow := listing(t, path)
	require.Equal(t, 1, strings.Count(paperNow, "Customer receipt"))
	require.Equal(t, 1, strings.Count(paperNow, "Merchant receipt"))
	require.NotContains(t, paperNow, "COPY")
	_, stop = s.start(toFile(t, path))
	stop()
	require.Equal(t, paperNow, listing(t, path))
}

// TestAPowerCutWhilePrinting: a document that an earlier run had begun is marked, because it may be on paper.
func TestAPowerCutWhilePrinting(t *testing.T) {
	s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
	x := printqueue.New(printqueue.Options{DB: s.db, Running: s.running, Books: s.books, Prints: everything})
	s.confirm(x, "k42")
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE paper_waiting SET begun = 1 WHERE copy = 'customer'`)
		return err
	}))
	s.start(toFile(t, path))
	s.allPrinted()
	require.Equal(t, 1, strings.Count(listing(t, path), "COPY"))
	require.Contains(t, listing(t, path), "        Customer receipt\n  |              COPY\n")
}

// TestPaperEndsWithinAReceipt: on a real line; the receipt is printed again as a copy, and the next ones follow.
func TestPaperEndsWithinAReceipt(t *testing.T) {
	t.Parallel()
	s, prof, dir := newShop(t), narrow(t), t.TempDir()
	far := printertest.New(printertest.Config{Columns: prof.Columns, Dots: prof.Dots, RealTime: true, Kanji: true, Stops: true})
	cable, err := lines.Plug(dir)
	require.NoError(t, err)
	near, err := lines.OpenRaw(cable.Device) // a pseudo terminal that nobody has open hangs up, a serial line does not
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() { far.Serve(cable.Far) })
	t.Cleanup(func() { cable.Pull(); _ = near.Close(); served.Wait() })
	p, err := printer.New(printer.Config{
		Profile: prof, Torn: receipt.WordsFor("en").CutOff, Answer: need.Limit(), Bound: 4 * need.Limit(),
		Open: line.New(line.Config{Path: filepath.Join(dir, "ttyUSB7"), Baud: 115200, LockDir: t.TempDir()}).Open,
	})
	require.NoError(t, err)
	x, _ := s.start(p)
	need.Until(t, "the printer is open", func() bool { return p.Stats().Open })
	s.confirm(x, "k42")
	s.allPrinted()
	need.Until(t, "the printer has done its work", far.Idle)
	before := far.Listing()
	far.PaperOutAfter(200)
	s.confirm(x, "k42")
	need.Until(t, "the paper is out", func() bool { return x.State().Reason == "paper is out" })
	require.Equal(t, []string{"sale k42 customer", "sale k42 merchant"}, s.waiting())
	require.Equal(t, 2, x.State().Waiting)
	s.confirm(x, "k42") // the next sale's commit does not wait
	require.Len(t, s.waiting(), 4)
	far.Set(printertest.PaperOut, false)
	s.allPrinted()
	need.Until(t, "the printer has done its work", far.Idle)
	got := strings.TrimPrefix(far.Listing(), before)
	require.Contains(t, got, "INCOMPLETE - NOT VALID")
	require.Equal(t, 1, strings.Count(got, "COPY"), got)
	_, whole, _ := strings.Cut(got, "INCOMPLETE - NOT VALID")
	require.Equal(t, 2*4, strings.Count(whole, "Approved"), "each in short once more, because it does not tell when it is on the paper: %s", got)
	require.Empty(t, far.Strange())
	require.Empty(t, x.State().Reason)
}

// TestACopy: a person's copy is marked, noted, and refused for a sale that there is not, or that has not ended.
func TestACopy(t *testing.T) {
	s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
	x, _ := s.start(toFile(t, path))
	printed, err := x.Reprint(t.Context(), "k42", receipt.Merchant)
	require.NoError(t, err)
	require.True(t, printed)
	require.Contains(t, listing(t, path), "        Merchant receipt\n  |              COPY\n")
	require.Equal(t, []string{"k42: merchant"}, s.notes)
	_, err = x.Reprint(t.Context(), "k1", receipt.Customer)
	require.ErrorIs(t, err, journal.ErrUnknown)
	s.books.err = drive.ErrNotOver
	_, err = x.Reprint(t.Context(), "k42", receipt.Customer)
	require.ErrorIs(t, err, drive.ErrNotOver)
	require.Empty(t, s.waiting())
}

// TestWhatWaitsIsBounded in number and in age.
func TestWhatWaitsIsBounded(t *testing.T) {
	s := newShop(t)
	x, stop := s.start(broken{})
	for range printqueue.MaxWaiting/2 + 50 {
		s.confirm(x, "k42")
	}
	require.Len(t, s.waiting(), printqueue.MaxWaiting)
	stop()
	s.run.Add((printqueue.MaxAge + time.Second).Milliseconds())
	path := filepath.Join(t.TempDir(), "paper")
	x, _ = s.start(toFile(t, path))
	s.allPrinted()
	require.NoFileExists(t, path, "what is older than a day is not printed")
	s.confirm(x, "k42")
	s.allPrinted()
	require.Equal(t, 1, strings.Count(listing(t, path), "Customer receipt"))
}

// TestAJournalThatWasPutBack: what waited in it was printed since.
func TestAJournalThatWasPutBack(t *testing.T) {
	s := newShop(t)
	s.confirm(printqueue.New(printqueue.Options{DB: s.db, Running: s.running, Books: s.books, Prints: everything}), "k42")
	require.NoError(t, s.db.Write(t.Context(), printqueue.Forget))
	require.Empty(t, s.waiting())
}

// TestASaleThatWasChanged is not printed, and does not keep others from being printed.
func TestASaleThatWasChanged(t *testing.T) {
	s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
	x, _ := s.start(toFile(t, path))
	s.books.mu.Lock()
	s.books.err = journal.ErrQuarantined
	s.books.mu.Unlock()
	s.confirm(x, "k42")
	s.allPrinted()
	require.NoFileExists(t, path)
}

// TestAPrinterThatAlwaysCutsOff does not use up the roll: after one hour a receipt was begun five times.
func TestAPrinterThatAlwaysCutsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShop(t), &cutting{}
		x, stop := s.start(p)
		defer stop()
		s.confirm(x, "k42")
		<-time.After(9 * time.Minute)
		synctest.Wait()
		require.EqualValues(t, 3, p.begun.Load(), "at once, at the next try, a minute later")
		<-time.After(time.Hour - 9*time.Minute)
		synctest.Wait()
		require.EqualValues(t, 5, p.begun.Load())
		require.Contains(t, x.State().Reason, "how much is on the paper is not known")
	})
}

// cutting is a printer that is well until it prints.
type cutting struct {
	broken
	begun atomic.Int32
}

func (*cutting) Check(context.Context) error { return nil }
func (c *cutting) Print(context.Context, printer.Document) error {
	c.begun.Add(1)
	return fmt.Errorf("%w: %w", printer.ErrUnknownEnd, printer.ErrStuck)
}

// broken is a printer that never prints.
type broken struct{}

func (broken) Check(context.Context) error                   { return printer.ErrPaperOut }
func (broken) Print(context.Context, printer.Document) error { return errors.New("it was not well") }
func (broken) Stats() printer.Stats                          { return printer.Stats{} }
func (broken) Close() error                                  { return nil }
