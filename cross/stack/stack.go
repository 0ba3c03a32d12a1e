package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"posagent/agent"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/paylink"
	"posagent/agent/upstream"
	"posagent/cross/referee"
	"posagent/device/display"
	"posagent/ecr"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/frame"
	"posagent/ecr/zvt/protocol"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// Base is the backend's address on the network.
const Base = "http://127.0.0.1:1"

// ShortTimeouts is a method list whose time-outs are short: nothing but a stale age of 3 s.
const ShortTimeouts = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],
 "defaultTrigger":"QR","transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}]`

// FieldTimeouts is the same list with the time-outs of the field, in minutes.
const FieldTimeouts = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":10,"trigger":["QR"],
 "defaultTrigger":"QR","transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":5,"finalizeTimeOut":5,"delayedAmount":0}]`

// ByHand is a list with every way to start a payment, and short time-outs.
const ByHand = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0},
 {"priority":2,"paymentProviderId":2,"name":"EASY","label":"Easy","meanDelay":1,"trigger":["QR","MANUAL"],"defaultTrigger":"QR",
 "queries":[{"1":{"label":"Mobile number","min":8,"max":15}}],"txnQueryFlow":[{"transactionType":"PAYMENT","queryIds":[1],"triggers":["MANUAL"]}],
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0},
 {"priority":3,"paymentProviderId":3,"name":"SANTANDER","label":"Instalments","meanDelay":1,"trigger":["MANUAL"],
 "queries":[{"7":{"label":"Personal number","min":6,"max":20}},{"8":{"label":"Months","min":1,"max":2}}],
 "txnQueryFlow":[{"transactionType":"PAYMENT","queryIds":[7,8],"triggers":["MANUAL"]}],
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}]`

// Options make a Stack.
type Options struct {
	Dir         string // of the terminal's store and the backend's
	TerminalDir string // of the terminal's store alone; "" = within Dir
	Seed        uint64
	Wrapper     store.Wrapper
	VFS         string // of the terminal's store
	Ballast     int64  // as sqlite.Options.Ballast
	Methods     string // method list as JSON; "" = the backend's own
	Unit        string // of its time-outs; "" = "m"
	WalletDelay time.Duration
	Grace       time.Duration // 0 = the product's
	Poll        time.Duration // 0 = the product's
	Unpaced     bool          // the referee does not judge how early a status is read
	ByteTime    time.Duration // of the cable; 0 = 9600 baud
	Frame       frame.Config  // the terminal's
	Serial      *ecr.Protocol // on the cable; nil = ZVT
	TCP         *ecr.Protocol // on the wire; nil = none
	Sales       wire.Secret   // of local clients, who then sell over the wire
	Screen      display.Screen
	Keypad      agent.Pad // nil = none
	Choose      bool      // the customer chooses the method
	Links       bool      // sales are paid by payment links
	Log         *slog.Logger

	// Mutate injects a fault between the terminal and its client of the backend, to check that a campaign finds it.
	Mutate func(aapay.Service) aapay.Service
}

// Stack is one terminal with what is around it.
type Stack struct {
	Backend *backend.Backend
	Network *Network
	Cable   *Cable
	Wire    *Wire            // leads to the TCP line, or to the local port
	Referee *referee.Referee // watches the network

	o       Options
	stopBE  func()
	client  *upstream.Client
	db      store.Journal
	stop    func() error
	born    time.Time
	boots   int
	crashes int

	approved map[money.Minor]bool // what registers believe, of this stack's life
}

// now is a wall clock that is set: a bubble begins in 2000.
func now() time.Time { return time.Now().AddDate(26, 0, 0) }

// Open starts the backend and the network; Start starts the terminal.
func Open(ctx context.Context, o Options) (*Stack, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.TerminalDir == "" {
		o.TerminalDir = filepath.Join(o.Dir, "terminal")
	}
	be, err := backend.Open(ctx, backend.Config{
		Dir: filepath.Join(o.Dir, "backend"), Seed: o.Methods, WalletDelay: &o.WalletDelay, TimeoutUnit: o.Unit, PublicURL: Base, Now: now, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	rules := referee.Rules{Pace: o.Poll}
	if o.Unpaced {
		rules.Pace = -1
	}
	ref := referee.New(rules)
	s := &Stack{Backend: be, Referee: ref, Network: newNetwork(be.Handler(), ref), Cable: NewCable(o.Seed, o.ByteTime), Wire: newWire(), o: o, born: time.Now().Add(-time.Hour), approved: map[money.Minor]bool{}}
	running, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = be.Run(running) })
	s.stopBE = func() { cancel(); wg.Wait() }
	return s, nil
}

// Verdict is what the referee holds against the terminal and the backend so far.
func (s *Stack) Verdict(ctx context.Context) ([]string, error) {
	books, err := s.Backend.Books(ctx)
	var list []referee.Entry
	for _, e := range books {
		list = append(list, referee.Entry{Service: e.Service, ID: e.ID, Reference: e.Reference, Original: e.Original, Type: e.Type, Amount: int64(e.Amount), Moved: len(e.Postings) > 0})
	}
	return s.Referee.Verdict(list), err
}

// Start opens the terminal's store and runs the terminal until Stop. It returns when a register may ask, or with the
// reason why the terminal cannot run.
func (s *Stack) Start(ctx context.Context) error {
	o := s.o
	s.Referee.Restarted()
	db, err := agent.Open(ctx, sqlite.Options{
		Path: filepath.Join(o.TerminalDir, "agent.db"), Wrapper: o.Wrapper, VFS: o.VFS, Ballast: o.Ballast, Log: o.Log,
	})
	if err != nil {
		return err
	}
	creds := backend.DemoCredentials()
	s.client, err = upstream.New(upstream.Config{
		Base: Base, Dial: s.Network.Dial, Now: now, Log: o.Log, Auth: upstream.Auth{ConsumerKey: wire.Secret(creds.ConsumerKey), ConsumerSecret: creds.ConsumerSecret},
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	var svc aapay.Service = &aapay.Client{BaseURL: Base, Doer: s.client.Unanswered()}
	if o.Mutate != nil {
		svc = o.Mutate(svc)
	}
	born, client := s.born, s.client
	ready := make(chan struct{})
	var offer *methods.Definition
	if o.Links {
		d := paylink.Definition("Payment link", 0, time.Second)
		offer = &d
	}
	plain, err := upstream.New(upstream.Config{Base: Base, Dial: s.Network.Dial, Now: now, Log: o.Log}) // its requests are signed
	if err != nil {
		return errors.Join(err, db.Close())
	}
	api := &paylinks.Client{BaseURL: Base, Instance: creds.Instance, Secret: creds.Secret, Doer: plain.Once()}
	var port net.Listener
	if o.Sales != "" {
		port = s.Wire
	}
	a := agent.New(agent.Options{
		DB: db, Schemes: svc, Offer: offer,
		Links: paylink.New(paylink.Options{DB: db, Links: api.Links(), Transactions: api.Transactions(), Instance: creds.Instance, Now: now, Trusted: func() (time.Time, bool) { return now(), true }, Log: o.Log, Reused: journal.ReusedKey}), Methods: &methods.Client{BaseURL: Base, Doer: client},
		Query: methods.Query{BaxID: "1000001", TerminalID: "29001006", Caller: "posagent"}, Refresh: time.Hour,
		Drive: drive.Config{
			TerminalID: "29001006", MerchantID: "merchant", MerchantName: "Campaign", Currency: "EUR", TimeoutUnit: o.Unit, Poll: o.Poll, Grace: o.Grace, Choose: o.Choose,
		},
		Keypad: o.Keypad, IdempotencyTTL: 24 * time.Hour, Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) }, Screen: o.Screen,
		Registers: s.lines(), Port: port, Local: agent.Local{Token: o.Sales, Within: 2 * time.Second, Rate: 1_000_000},
		Now: now, Boot: func() time.Duration { return time.Since(born) },
		BootID: fmt.Sprintf("boot-%d", s.boots), Log: o.Log, Up: func() { close(ready) },
	})
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { ended <- a.Run(running) })
	s.db = db
	s.stop = func() error {
		cancel()
		wg.Wait()
		client.CloseIdle()
		plain.CloseIdle()
		return errors.Join(<-ended, db.Close())
	}
	select {
	case <-ready:
		return nil
	case err := <-ended:
		ended <- err
		return errors.Join(errors.New("the terminal does not start"), s.Stop())
	}
}

// lines are the terminal's register lines.
func (s *Stack) lines() []agent.Line {
	speaks := s.o.Serial
	if speaks == nil {
		p := protocol.New(protocol.Options{
			ZVT:   zvt.Config{TerminalID: "29001006", Currency: "EUR", MerchantName: "Campaign", Device: "posagent", Serial: "1"},
			Frame: s.o.Frame,
		})
		speaks = &p
	}
	list := []agent.Line{{Name: "serial", Serial: s.Cable.Terminal(), Protocol: *speaks}}
	if s.o.TCP != nil {
		list = append(list, agent.Line{Name: "tcp", TCP: s.Wire, Protocol: *s.o.TCP})
	}
	return list
}

// Stop ends the terminal; newBoot with the next Start makes it a restart of the box.
func (s *Stack) Stop() error {
	if s.stop == nil {
		return nil
	}
	stop := s.stop
	s.stop, s.db = nil, nil
	return stop()
}

// Reboot makes the next Start another boot of the box.
func (s *Stack) Reboot() {
	s.boots++
	s.born = time.Now().Add(-time.Second)
}

// Close ends everything.
func (s *Stack) Close() error {
	err := s.Stop()
	s.Network.close()
	s.stopBE()
	return errors.Join(err, s.Backend.Close())
}

// Sale is a row of the terminal's journal.
type Sale struct {
	Key, Reference string
	Amount         money.Minor
	Phase          checkout.Phase
	Result         string
	Active         bool
	Receipt        int
	UndoOpen       bool
	Told           string
}

// Journal reads the terminal's journal, newest first.
func (s *Stack) Journal(ctx context.Context) (out []Sale, err error) {
	if s.db == nil {
		return nil, errors.New("the terminal is not running")
	}
	err = s.db.Read(ctx, func(r store.Reader) error {
		out = out[:0]
		rows, err := journal.Sales(r, 100_000)
		for _, x := range rows {
			out = append(out, Sale{string(x.Key), x.Reference, x.Amount, x.State.Phase, string(x.State.Result), checkout.Active(x.State), x.Receipt, x.State.UndoOpen, x.Told})
		}
		return err
	})
	return out, err
}

// Story is the history of one sale.
func (s *Stack) Story(ctx context.Context, key string) (lines []string) {
	_ = s.db.Read(ctx, func(r store.Reader) error {
		_, entries, err := journal.Show(r, key)
		for _, e := range entries {
			lines = append(lines, time.UnixMilli(e.AtMS).UTC().Format("15:04:05.000 ")+e.Text)
		}
		return err
	})
	return lines
}

// Drain waits until no undo is under way any more, and says how long it took. What a service says that had not shown the payment a read
// before is no proof: such a sale is read on to the end of its window, and Settle waits for it.
func (s *Stack) Drain(ctx context.Context, within time.Duration) (time.Duration, error) {
	return s.until(ctx, within, func(x Sale) bool { return x.UndoOpen })
}

// Settle waits until nothing can happen to any sale by itself, and says how long it took.
func (s *Stack) Settle(ctx context.Context, within time.Duration) (time.Duration, error) {
	return s.until(ctx, within, func(x Sale) bool { return x.Active })
}

func (s *Stack) until(ctx context.Context, within time.Duration, busy func(Sale) bool) (time.Duration, error) {
	began := time.Now()
	for {
		sales, err := s.Journal(ctx)
		if err != nil {
			return time.Since(began), err
		}
		var open []string
		for _, x := range sales {
			if busy(x) {
				open = append(open, fmt.Sprintf("%+v %q", x, s.Story(ctx, x.Key)))
			}
		}
		took := time.Since(began)
		if len(open) == 0 {
			return took, nil
		}
		if took > within {
			return took, fmt.Errorf("not settled after %v: %s", took, open)
		}
		if !wait(ctx, time.Second) {
			return took, ctx.Err()
		}
	}
}
