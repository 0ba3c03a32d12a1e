package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/control"
	"posagent/agent/counter/devices"
	"posagent/agent/counter/printqueue"
	"posagent/agent/counter/prompts"
	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/ownership"
	"posagent/agent/paylink"
	"posagent/agent/port"
	"posagent/agent/port/customerpage"
	"posagent/agent/port/login"
	"posagent/agent/port/salesapi"
	"posagent/agent/ready"
	"posagent/agent/records/audit"
	"posagent/agent/records/deletedrows"
	"posagent/agent/records/events"
	"posagent/agent/records/history"
	"posagent/agent/scrub"
	"posagent/agent/support/daily"
	"posagent/agent/support/record"
	"posagent/agent/view"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/ecr/session"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what the rooms are made of. Lines, listeners and the screen may be nil where there are none.
type Options struct {
	DB        store.Journal // opened with Schema(); closed by the caller after Run
	Schemes   aapay.Service
	SchemesAt string              // the address of Schemes
	Links     aapay.Service       // payment links as a method; nil = no account is configured
	Offer     *methods.Definition // the method, where it is offered; nil = it is not
	Front     *gateway.Front      // stores the writes of local clients; nil = they are passed through
	Methods   methods.Service
	Query     methods.Query
	Refresh   time.Duration
	Drive     drive.Config
	// CallerSecret makes the keys of registers' requests that have an id of their own; nil = one made
	// of the journal's key.
	CallerSecret   []byte
	Trusted        func() (time.Time, bool) // outbox.Options.Trusted
	IdempotencyTTL time.Duration
	Retention      time.Duration                                   // of final operations
	Probe          func(ctx context.Context, service string) error // asks a service cheaply whether it answers again
	Screen         display.Screen
	Keypad         Pad                                 // nil = no pad is there
	Page           bool                                // the customer's screen is a page of the port too
	PageKeys       bool                                // and has keys
	Printer        printqueue.Printer                  // closed by Run; nil = the terminal has none
	Prints         printqueue.Prints                   // without being asked for
	PrinterNotOpen func(error) (reason, remedy string) // printqueue.Options.NotOpen
	Compare        *daily.Options                      // of the till's list, as far as the configuration says it; nil = none is compared

	Registers []Line
	Port      net.Listener
	// Control is the path of the command line's socket; "" = none.
	Control string
	// Record is what a person may record over that socket; nil = nothing. Clean takes secrets out of a line of JSON.
	Record *record.Recorder
	Clean  func(line []byte) []byte
	Hooks  wire.Secret // what senders of webhooks must show in Authorization; "" = none are taken
	Local  Local       // what the port serves beside probes and webhooks

	Now    func() time.Time
	Boot   func() time.Duration // CLOCK_BOOTTIME
	BootID string
	Log    *slog.Logger

	// Up is called once, when registers are answered, whether or not one may ask for a sale.
	Up func()
	// Report is called with the first judgement of whether a register may ask for a sale, and with every other one.
	Report func(ready.Report)
	Ways   Ways
	// Restart ends the run, because another program is in place: it is called once no sale is open and
	// none begins any more. Nil = the terminal is not restarted from outside.
	Restart func()
}

// Line is a line on which registers ask: serial or TCP, and what they speak there.
type Line struct {
	Name, Label string // ecr.Request.Line: its id in the journal (Identify); what the configuration calls it
	Protocol    ecr.Protocol
	Serial      session.Opener
	TCP         net.Listener   // where Serial is nil
	Allow       []netip.Prefix // where TCP registers may connect from; nil = from anywhere
	MaxConns    int            // of TCP; 0 = 8

	Patience, Grace  time.Duration // of its requests (ecr.Request)
	Keep, RefundLast bool
}

// Local is what local clients reach through the port.
type Local struct {
	Token    wire.Secret // what they show; "" = nothing is served
	Clients  []port.Client
	Rate     int // requests per second of one client
	Parallel int // and in flight
	Services []port.Service
	Upstream []view.Upstream  // for the monitor
	Within   time.Duration    // bounds one call to the backend
	About    view.Status      // what does not change while the terminal runs
	Live     func() view.Live // nil = nothing
	Dir      string           // where attachments lie while a request is served
	Inbox    *inbox.Inbox     // nil = New makes one
	// PIN reads what is stored of the PIN by which a person logs in at the page; fs.ErrNotExist =
	// none was set. Nil = the page only shows.
	PIN func() (string, error)
	// Examine makes the checks of the doctor that ask nothing of the network; nil = none are shown.
	Examine func(ctx context.Context) (view.Checks, error)
}

// Agent is the terminal.
type Agent struct {
	o        Options
	catalog  *catalog.Catalog
	outbox   *outbox.Outbox
	events   *events.Log
	history  *history.Log
	refusals *audit.Refusals
	scrub    *scrub.Scrubber
	drive    *drive.Drive
	route    *perform.Route
	counter  *prompts.Counter // nil where nobody types
	panel    *devices.Panel
	page     *customerpage.Screen // nil = there is none
	sessions []func(context.Context) error
	lines    []*session.Session
	port     *port.Port
	control  *control.Server
	paper    *printqueue.Paper // nil = the terminal has no printer
	till     *salesapi.Till
	judged   judged
	daily    *daily.Daily // nil = no list is compared
}

// New joins the rooms; it starts nothing.
func New(o Options) *Agent {
	a := &Agent{o: o, route: perform.NewRoute(o.Schemes, o.DB, o.SchemesAt, o.Now, o.Log)}
	a.scrub = scrub.New(a.asWriter)
	a.catalog = catalog.New(catalog.Options{DB: o.DB, Service: o.Methods, Query: o.Query, Refresh: o.Refresh, Now: o.Now, Log: o.Log})
	route := paylink.Router{Links: o.Links, Rest: a.route, Sold: func(ctx context.Context) (yes bool, err error) {
		err = o.DB.Read(ctx, func(r store.Reader) error { yes, err = paylink.Sold(r); return err })
		return yes, err
	}}
	a.refusals = audit.NewRefusals(o.DB, o.Now, o.Log)
	a.events = events.New(events.Options{DB: o.DB, Now: o.Now})
	a.history = history.New(history.Options{DB: o.DB, Now: o.Now, Log: o.Log})
	queue := outbox.Options{
		DB: o.DB, Now: o.Now, Boot: o.Boot, BootID: o.BootID, Trusted: o.Trusted, IdempotencyTTL: o.IdempotencyTTL, Retention: o.Retention, Probe: o.Probe, Log: o.Log, Record: a.operationChanged, Alerted: a.alerted, Audit: a.did,
		Kinds: gateway.Undos(route.Rest, route.Own(), a.settled, a.after),
	}
	var last deletedrows.Numbers // a row that was removed from outside leaves its number unused
	if end, err := o.DB.End(context.Background()); err == nil {
		last = deletedrows.Unpack(end.Note)
		queue.LastID = last.Operations.Highest
	}
	if o.Front != nil {
		queue.Kinds, queue.Watch = append(queue.Kinds, o.Front.Kinds()...), o.Front.Watch
	}
	for i, k := range queue.Kinds {
		if k.Service == gateway.Payments || k.Service == gateway.Tokens {
			queue.Kinds[i].Send = func(ctx context.Context, op outbox.Op) outbox.Verdict {
				defer a.scrub.Touch()
				return k.Send(ctx, op)
			}
		}
	}
	a.outbox = outbox.NewOutbox(queue)
	if o.Front != nil {
		o.Front.Attach(a.outbox)
		o.Front.Bar(a.ended)
	}
	a.drive = drive.New(drive.Options{
		DB: o.DB, Aapay: route, Methods: a.methods, Outbox: a.outbox, Screen: a.checkoutScreen(), Prompter: a.prompter(), AtTerminal: byCustomer, Config: o.Drive, CallerSecret: o.CallerSecret,
		Now: o.Now, Boot: o.Boot, BootID: o.BootID, Trusted: o.Trusted, Log: o.Log, Refresh: a.catalog.RefreshNow, Record: a.saleChanged, Audit: a.did, LastSale: last.Sales.Highest,
		Barred: o.Ways.noSale, Closed: a.batchClosed,
	})
	a.daily = a.compares()
	if o.Printer != nil {
		a.paper = printqueue.New(printqueue.Options{
			DB: o.DB, Printer: o.Printer, Books: a.drive, Head: receipt.Head{MerchantName: o.Drive.MerchantName, Language: o.Drive.Language},
			Currency: o.Drive.Currency, Sandbox: o.Drive.Sandbox, Prints: o.Prints, Now: o.Now, Running: outbox.Running, Note: a.reprinted, NotOpen: o.PrinterNotOpen, Log: o.Log,
		})
	}
	for _, l := range o.Registers {
		s := session.New(a.line(l))
		a.lines = append(a.lines, s)
		a.sessions = append(a.sessions, func(ctx context.Context) error {
			if l.Serial != nil {
				return s.ServeSerial(ctx, l.Serial)
			}
			return s.ServeTCP(ctx, l.TCP)
		})
	}
	l := o.Local
	in := l.Inbox
	if in == nil {
		in = inbox.New(Inbox(o.DB, o.Front, o.Now, o.Log))
	}
	house := &view.Daemon{
		DB: o.DB, Outbox: a.outbox, Inbox: in, Happened: a.events, IDs: gateway.IDs, Find: a.find, Own: o.Offer, Unit: o.Drive.TimeoutUnit, About: l.About, Live: l.Live, Lines: a.Lines, Services: l.Upstream, Now: o.Now,
		Ready: a.Judge, Asked: a.asked, Deeds: a.newestDeeds, Examine: l.Examine,
	}
	a.till = salesapi.New(salesapi.Options{
		Desk: a.drive, House: house, DB: o.DB, Code: perform.Code, Print: a.receiptBytes, MerchantName: o.Drive.MerchantName, Language: o.Drive.Language,
		Now: o.Now, Boot: o.Boot, Log: o.Log,
	})
	if o.Port != nil {
		a.port = port.New(a.local(in, house))
	}
	if o.Control != "" {
		a.control = control.New(control.Options{
			Own: a.Own, Missing: func(ctx context.Context) error { return o.DB.Read(ctx, view.NoOperation) }, Path: o.Control, Ops: acknowledges{a.outbox, a.daily}, House: house,
			Note: a.note, Refused: a.refusedUID, Record: a.recording(), Log: o.Log, Health: a.health, Ready: a.Judge, Live: a.live, Restart: a.restart, Print: a.Reprint, PrintDay: a.ReprintDay, PrintTest: a.PrintTest, CloseDay: a.closeDay,
		})
	}
	return a
}

// Inbox is how an inbox is made whose events have owners.
func Inbox(db store.DB, front *gateway.Front, now func() time.Time, log *slog.Logger) inbox.Options {
	o := inbox.Options{DB: db, Now: now, Log: log}
	claims := ownership.Claims{DB: db}
	o.Owner = func(r store.Reader, about, id string) (string, bool, error) {
		if about == inbox.AboutPayment {
			return gateway.OwnerOf(r, about, id)
		}
		return claims.Owner(r, about, id)
	}
	if front != nil {
		o.Making = front.Making
	}
	return o
}

// recording is what a person may record, nil = nothing.
func (a *Agent) recording() *control.Recording {
	if a.o.Record == nil {
		return nil
	}
	return &control.Recording{Of: a.o.Record, Clean: a.o.Clean, Figures: func(ctx context.Context) record.Figures {
		f, h := record.Self(a.o.Now()), a.o.DB.Health(ctx)
		f.WAL, f.Journal, f.Free = h.WALBytes, h.FileBytes, h.FreeBytes
		return f
	}}
}

// find looks an operation up by more than its Key.
func (a *Agent) find(r store.Reader, caller wire.Caller, name string) ([]wire.Key, error) {
	if a.o.Front != nil {
		return a.o.Front.Find(r, caller, name)
	}
	return gateway.Find(r, caller, name)
}

// local makes the port's options.
func (a *Agent) local(in *inbox.Inbox, house *view.Daemon) port.Options {
	l := a.o.Local
	o := port.Options{
		Listener: a.o.Port, Live: func() error { return nil }, Ready: a.probe, Token: l.Token,
		Clients: l.Clients, Rate: l.Rate, Parallel: l.Parallel, Services: l.Services, Within: l.Within,
		Dir: l.Dir, Version: l.About.Version, Log: a.o.Log,
		House: house, Sales: a.till, Refused: func(address string) { a.refusals.Note("local port", address) }, Touched: a.scrub.Touch,
	}
	if a.page != nil {
		o.Display = a.page
	}
	if a.o.Front != nil {
		a.o.Front.PagesAt("http://" + a.o.Port.Addr().String())
		o.Pages = a.o.Front.Pages()
	}
	if l.PIN != nil {
		o.Person = login.New(login.Options{
			PIN: l.PIN, Tries: pinTries{a.o.DB, a.o.Now}, Ops: acknowledges{a.outbox, a.daily}, Daemon: house, Log: a.o.Log,
			Refused: func(address string) { a.refusals.Note("page", address) },
		})
	}
	if a.o.Hooks != "" {
		o.Hooks = a.watched(in.Handler(a.o.Hooks))
	}
	return o
}

func (a *Agent) line(l Line) session.Options {
	return session.Options{Line: l.Name, Desk: a.drive, Till: a.drive, Memory: a.drive, Panel: a.panel, Protocol: l.Protocol, Allow: l.Allow, Log: a.o.Log,
		Patience: l.Patience, Grace: l.Grace, Keep: l.Keep, RefundLast: l.RefundLast, MaxConns: l.MaxConns,
		Refused: func(from string) { a.refusals.Note("register line "+l.Name, from) }}
}

// Lines is what the register lines have counted.
func (a *Agent) Lines() (list []view.RegisterLine) {
	for i, s := range a.lines {
		st := s.Stats()
		list = append(list, view.RegisterLine{
			Name: a.o.Registers[i].label(), Open: st.Open, Connections: st.Connections, LastContact: st.LastContact, Carrier: string(st.Carrier),
			Received: st.Received, Sent: st.Sent, Unsent: st.Unsent, Repeated: uint64(st.Link.Repeated), Naks: uint64(st.Link.Naks),
			Bad: uint64(st.Link.Bad), Noise: uint64(st.Link.Noise), WrongPasswords: st.WrongPasswords, WrongFrom: st.WrongFrom, WrongAt: st.WrongAt,
			Turned: st.Turned, Strange: st.Strange,
		})
	}
	return list
}

// settled and after join the outbox to the checkout, which is made after it.
func (a *Agent) settled(tx store.Tx, op outbox.Op, res gateway.UndoResult) error {
	return a.drive.UndoSettled(tx, op, res)
}

// operationChanged and saleChanged note what happens in the commit in which it does.
func (a *Agent) operationChanged(tx store.Tx, was outbox.State, op outbox.Op) error {
	if d, ok := operationDeed(was, op); ok {
		if err := audit.Append(tx, a.o.Now(), d); err != nil {
			return err
		}
	}
	if it, ok := view.OperationEvent(tx, was, op, gateway.IDs); ok {
		return a.events.Add(tx, it)
	}
	return nil
}

func (a *Agent) saleChanged(tx store.Tx, why checkout.Name, was, now *journal.Row) error {
	for _, d := range saleDeeds(was, now) {
		if err := audit.AppendAs(tx, a.o.Now(), actorOf(tx, why), d); err != nil {
			return err
		}
	}
	if a.paper != nil {
		if err := a.paper.SaleChanged(tx, was, now); err != nil {
			return err
		}
	}
	if it, ok := view.SaleEvent(was, now); ok {
		return a.events.Add(tx, it)
	}
	return nil
}

// note notes a deed in a commit of its own.
func (a *Agent) note(ctx context.Context, d audit.Deed) error {
	return a.o.DB.Write(ctx, func(tx store.Tx) error { return audit.Append(tx, a.o.Now(), d) })
}

func (a *Agent) refusedUID(uid uint32) { a.refusals.Note("control socket", fmt.Sprintf("uid %d", uid)) }

var errNothing = errors.New("nothing is written")

// asWriter runs a function on the journal's writer, in whose closures requests are stored.
func (a *Agent) asWriter(fn func()) {
	_ = a.o.DB.Write(context.Background(), func(store.Tx) error {
		fn()
		return errNothing
	})
}

func (a *Agent) methods() ([]methods.Definition, catalog.State) {
	list, _, state := a.catalog.Current()
	if a.o.Offer != nil && (state == catalog.Unknown || state == catalog.NoMethods) {
		state = catalog.Fresh // it needs no list
	}
	return paylink.Offer(list, a.o.Offer), state
}

func (a *Agent) after(op outbox.Op) { a.drive.UndoAfter(op) }

// MethodsTrouble is the error of the last question for the method list, nil when it was answered.
func (a *Agent) MethodsTrouble() error {
	_, err := a.catalog.Trouble()
	return err
}

// Services is what the outbox knows of the backend's services.
func (a *Agent) Services() []outbox.Service { return a.outbox.Services() }

// Run runs every loop until ctx ends (nil) or one of them fails.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.catalog.Load(ctx); err != nil {
		return err
	}
	a.history.Start(ctx, a.o.BootID, a.o.Local.About.Version)
	a.drive.Faces(scene.Starting) // until it was judged
	// Registers and the port end first, the loops that journal afterwards.
	inner, stopInner := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInner()
	core, inner := errgroup.WithContext(inner)
	as := func(name string) context.Context { return audit.With(inner, audit.Self(name)) }
	core.Go(func() error { return clean("outbox", a.outbox.Run(as("outbox"))) })
	core.Go(func() error { return clean("memory", a.scrub.Run(inner)) })
	core.Go(func() error { return clean("audit log", a.refusals.Run(inner)) })
	core.Go(func() error { return clean("method list", a.catalog.Run(inner)) })
	if a.o.Front != nil {
		core.Go(func() error { return clean("proof of the services", a.o.Front.Run(inner)) })
	}
	core.Go(func() error { return clean("checkout", a.drive.Run(as("checkout"))) })
	if shown := a.withPage(); shown != nil {
		core.Go(func() error {
			return clean("display", display.Run(inner, shown, func(err error) { a.o.Log.Warn("display", "err", err) }))
		})
	}
	core.Go(func() error { a.widen(inner); return nil })
	if a.o.Keypad != nil {
		core.Go(func() error { return clean("keypad", a.readPad(inner)) })
	}
	if a.paper != nil {
		core.Go(func() error { return clean("printer", a.paper.Run(inner)) })
	}
	if a.daily != nil {
		core.Go(func() error { return clean("daily comparison", a.daily.Run(as("reconcile"))) })
	}
	outerCtx, stopOuter := context.WithCancel(ctx)
	defer stopOuter()
	context.AfterFunc(inner, stopOuter) // a core loop that fails takes the registers along
	outer, outerCtx := errgroup.WithContext(outerCtx)
	for _, serve := range a.sessions {
		outer.Go(func() error { return clean("register line", serve(outerCtx)) })
	}
	if a.port != nil {
		outer.Go(func() error { return clean("local port", a.port.Run(outerCtx)) })
	}
	if a.control != nil {
		outer.Go(func() error { return clean("command line", a.control.Run(outerCtx)) })
	}
	outer.Go(func() error {
		a.watch(outerCtx)
		return nil
	})
	context.AfterFunc(outerCtx, a.till.Close) // what waits for an outcome is answered before the port ends
	err := outer.Wait()
	stopInner()
	err = errors.Join(err, core.Wait())
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	a.history.Stop(last, err)
	return err
}

func clean(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
