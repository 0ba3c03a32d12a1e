package printqueue_test

import (
	"context"
	"hash/crc32"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// scheme approves each payment at its first status.
type scheme struct{}

func (scheme) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}, nil
}

func (s scheme) InitializeWithIdempotency(ctx context.Context, _ wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.Initialize(ctx, typ, req)
}

func (scheme) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	return aapay.Status{Valid: true, TransactionID: int64(crc32.ChecksumIEEE([]byte(id))), State: aapay.Finalized, AccountState: aapay.Commit}, nil
}

// tray is a printer that prints nothing until it is freed, and keeps what it is given.
type tray struct {
	mu    sync.Mutex
	stuck chan struct{} // closed once it prints
	out   []string
}

func (p *tray) wait(ctx context.Context) error {
	p.mu.Lock()
	stuck := p.stuck
	p.mu.Unlock()
	if stuck == nil {
		return nil
	}
	select {
	case <-stuck:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *tray) Check(context.Context) error { return nil }

func (p *tray) Print(ctx context.Context, d printer.Document) error {
	if err := p.wait(ctx); err != nil {
		return printer.ErrUnknownEnd
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	title := ""
	for _, l := range d.Lines[1:4] {
		title += l.Text + "."
	}
	p.out = append(p.out, title)
	return nil
}

func (p *tray) Stats() printer.Stats { return printer.Stats{} }
func (p *tray) Close() error         { return nil }

func (p *tray) stick() { p.mu.Lock(); p.stuck = make(chan struct{}); p.mu.Unlock() }
func (p *tray) free()  { p.mu.Lock(); close(p.stuck); p.stuck = nil; p.mu.Unlock() }

func (p *tray) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.out...)
}

// later are the books of a checkout that is made after the paper.
type later struct{ d *drive.Drive }

func (b *later) Receipt(ctx context.Context, key wire.Key) (ecr.Outcome, error) {
	return b.d.Receipt(ctx, key)
}
func (b *later) Report(ctx context.Context, batch int) (ecr.Totals, error) {
	return b.d.Report(ctx, batch)
}

// till is a checkout with a printer.
type till struct {
	*drivetest.Terminal
	t     *testing.T
	path  string
	tray  *tray
	books *later
	paper *printqueue.Paper
	stop  func()
}

func (x *till) parts() drivetest.Parts {
	db := storetest.OpenAt(x.t, x.path, append(append(outbox.Schema(), journal.Schema()...), printqueue.Schema()...)...)
	x.books = &later{}
	x.paper = printqueue.New(printqueue.Options{
		Running: outbox.Running,
		DB:      db, Printer: x.tray, Books: x.books, Head: receipt.Head{MerchantName: "Kiosk", Language: "en"}, Currency: "EUR", Prints: everything, Now: drivetest.Now,
	})
	def := methods.Definition{
		Priority: 1, PaymentProviderID: 1, Name: "SWISH_E_COM", Label: "Swish", MeanDelay: 10, Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
	}
	return drivetest.Parts{
		DB: db, Outbox: outbox.Options{DB: db},
		Undos: func(settled func(store.Tx, outbox.Op, gateway.UndoResult) error, after func(outbox.Op)) []outbox.Kind {
			return []outbox.Kind{gateway.Reversal(scheme{}, settled, after)}
		},
		Drive: drive.Options{
			DB: db, Aapay: scheme{}, Now: drivetest.Now,
			Config:  drive.Config{TerminalID: "T1", MerchantID: "M1", Currency: "EUR", TimeoutUnit: "m"},
			Methods: func() ([]methods.Definition, catalog.State) { return []methods.Definition{def}, catalog.Fresh },
			Record: func(tx store.Tx, _ checkout.Name, was, now *journal.Row) error {
				return x.paper.SaleChanged(tx, was, now)
			},
			Closed: func(tx store.Tx, batch int) error { return x.paper.BatchClosed(tx, batch) },
		},
	}
}

// begin begins the printing of a run.
func (x *till) begin() {
	x.books.d = x.Drive
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = x.paper.Run(ctx) })
	x.stop = func() { cancel(); running.Wait() }
}

// sell makes one acknowledged payment, and says how long its register waited.
func (x *till) sell() time.Duration {
	x.t.Helper()
	began := time.Now()
	x.Approved(x.Sale(1250), ecr.Told)
	return time.Since(began)
}

func (x *till) later() {
	<-time.After(time.Minute)
	synctest.Wait()
}

// TestASaleNeverWaitsForPaper: while the printer stands still in the middle of a receipt, a register gets its answers as fast as before,
// and the end of day too. What waits is printed by the next run: the receipt that was begun as a copy.
func TestASaleNeverWaitsForPaper(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		x := &till{t: t, path: path, tray: &tray{}}
		drivetest.Run(t, x.parts, func(terminal *drivetest.Terminal) {
			x.Terminal = terminal
			x.begin()
			defer func() { x.stop() }() // of whichever run
			usual := x.sell()
			x.later()
			require.Len(t, x.tray.printed(), 1)
			x.tray.stick()
			require.Equal(t, usual, x.sell())
			x.later()
			require.Len(t, x.tray.printed(), 1)
			require.Equal(t, usual, x.sell())
			began := time.Now()
			_, err := x.Close(t.Context())
			require.NoError(t, err)
			require.Zero(t, time.Since(began))
			x.later()
			require.Len(t, x.tray.printed(), 1)

			x.stop()
			x.Halt()
			x.tray.free()
			x.Start()
			x.begin()
			x.later()
			require.Equal(t, []string{"Customer receipt..Terminal.", "Customer receipt.COPY..", "Customer receipt..Terminal.", "End of day..Batch."}, x.tray.printed())
		})
	})
}
