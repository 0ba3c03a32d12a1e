package backend

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	cases "posagent/schemes/backend/disputes"
	"posagent/schemes/backend/fleet"
	sessions "posagent/schemes/backend/hosted"
	"posagent/schemes/backend/lease"
	"posagent/schemes/backend/meter"
	merchants "posagent/schemes/backend/onboarding"
	links "posagent/schemes/backend/paylinks"
	cards "posagent/schemes/backend/payments"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/disputes"
	enrolment "posagent/schemes/fleet"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/move"
)

// Backend is the embedded backend.
type Backend struct {
	db      store.Store
	wallets *wallets.Wallets
	links   *links.Links
	cards   *cards.Cards
	desk    *merchants.Merchants
	build   *sessions.Sessions
	cases   *cases.Cases
	deliver *webhooks.Deliver
	fleet   *fleet.Fleet // nil where none may enrol
	handler http.Handler
	shared  bool // others work on the same books
	log     *slog.Logger
	leaving atomic.Bool
	meter   *meter.Meter
	version string
	now     func() time.Time
	began   time.Time
}

// Open opens the store and wires the services; Run keeps time, Handler serves.
func Open(ctx context.Context, cfg Config) (*Backend, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Credentials == (Credentials{}) {
		cfg.Credentials = DemoCredentials()
	}
	seed, err := readSeed(cfg.Seed)
	if err != nil {
		return nil, fmt.Errorf("backend: %w", err)
	}
	keys, err := OpenKey(cfg.Dir)
	if err != nil {
		return nil, err
	}
	counts := meter.New(cfg.Now)
	db, err := cfg.Engine.orUsual().Open(ctx, StoreOptions{
		Dir: cfg.Dir, Steps: Schema(), Wrapper: keys, Log: cfg.Log, Synchronous: cfg.Synchronous, Wrote: counts.Wrote,
	})
	if err != nil {
		return nil, fmt.Errorf("backend: %w", err)
	}
	if err := move.Check(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("backend: %w", err), db.Close())
	}
	b := &Backend{db: db, shared: cfg.Engine.Shared, log: cfg.Log, meter: counts, version: cfg.Version, now: cfg.Now, began: cfg.Now()}
	if err := b.furnish(ctx, cfg, seed); err != nil {
		return nil, errors.Join(fmt.Errorf("backend: %w", err), db.Close())
	}
	b.handler = forwarded(cfg.Proxies, counts.Around(b.routes(cfg), cfg.Requests))
	return b, nil
}

// furnish makes the rooms.
func (b *Backend) furnish(ctx context.Context, cfg Config, seed wallets.Seed) (err error) {
	shared := room.Options{DB: room.Apart(b.db), PublicURL: cfg.PublicURL, Merchant: seed.MerchantName, Now: cfg.Now, Log: cfg.Log, Swept: b.meter.Swept}
	number, uuid := cmp.Or(cfg.MerchantNumber, DemoMerchant), cmp.Or(cfg.MerchantUUID, DemoMerchantUUID)
	b.wallets, err = wallets.New(wallets.Options{Options: shared, Seed: seed, Unit: cfg.TimeoutUnit, Delay: cfg.WalletDelay})
	if err != nil {
		return err
	}
	d := webhooks.New(webhooks.Options{DB: b.db, Shared: cfg.Engine.Shared, Allow: cfg.HookAllow, Sign: cfg.HookSecrets, Tried: b.meter.Tried, Now: cfg.Now, Log: cfg.Log})
	b.deliver = d
	b.links, err = links.New(links.Options{
		Options: shared, Delay: cfg.WalletDelay, Deliver: d, SignKey: cfg.Credentials.Secret, Instance: cfg.Credentials.Instance, QR: cfg.QR,
	})
	if err != nil {
		return err
	}
	if err := b.links.Register(ctx, cfg.LinkHook); err != nil {
		return err
	}
	if b.cards, err = cards.New(cards.Options{Options: shared, Deliver: d, MerchantNumber: number}); err != nil {
		return err
	}
	if b.desk, err = merchants.New(merchants.Options{Options: shared, Deliver: d, MerchantNumber: number, MerchantUUID: uuid}); err != nil {
		return err
	}
	if b.build, err = sessions.New(sessions.Options{Options: shared, Deliver: d, Life: cfg.SessionLife}); err != nil {
		return err
	}
	b.cases, err = cases.New(cases.Options{Options: shared, Find: purchases(b.cards), Card: b.cards.CardName})
	if err == nil && cfg.Fleet {
		b.fleet, err = fleet.New(fleet.Options{Options: shared, Configuration: configurations(cfg, b.db)})
	}
	return err
}

// purchases shows the cases what the bank has sold.
func purchases(k *cards.Cards) func(store.Reader, cases.Search) ([]cases.Purchase, error) {
	return func(r store.Reader, s cases.Search) ([]cases.Purchase, error) {
		list, err := k.Purchases(r, cards.Search(s))
		out := make([]cases.Purchase, len(list))
		for i, p := range list {
			out[i] = cases.Purchase(p)
		}
		return out, err
	}
}

// readSeed reads cfg's seed: a file, or the JSON itself.
func readSeed(s string) (wallets.Seed, error) {
	data := []byte(s)
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		var err error
		if data, err = os.ReadFile(s); err != nil {
			return wallets.Seed{}, fmt.Errorf("seed: %w", err)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return wallets.Seed{}, fmt.Errorf("seed: %s is empty", s)
		}
	}
	return wallets.ParseSeed(data)
}

func (b *Backend) routes(cfg Config) http.Handler {
	w, l, k, desk, d := b.wallets, b.links, b.cards, b.desk, b.deliver
	g := guard{creds: cfg.Credentials, strict: cfg.StrictProofs, db: b.db, fleet: b.fleet, now: cfg.Now, log: cfg.Log}
	mux := http.NewServeMux()
	mux.Handle(aapay.Prefix, g.wrap(scenario.Perform(aapay.Handler(w, aapay.HandlerOptions{Log: cfg.Log}))))
	mux.Handle(methods.Prefix, g.wrap(methods.Handler(w, methods.HandlerOptions{Log: cfg.Log})))
	mux.Handle(wallets.PagePrefix, w.Pages(g.admit))
	pay := g.signed(scenario.Perform(paylinks.Handler(l, l.Transactions(), paylinks.HandlerOptions{Log: cfg.Log, Secret: g.secret, Others: g.secrets, Proven: g.proven, Dir: cfg.Dir, Strict: cfg.StrictLinks})))
	mux.Handle(paylinks.Prefix, pay)
	mux.Handle(paylinks.ShortPrefix, pay)
	mux.Handle(links.PagePrefix, l.Pages(g.admit))
	mux.Handle(cards.PagePrefix, k.Pages())
	for _, path := range []string{sessions.FieldPrefix, sessions.AwayPrefix, sessions.ScriptPath} {
		mux.Handle(path, b.build.Pages())
	}
	mux.Handle(HooksPrefix, g.administration(hooks(d, cfg.Log)))
	mux.Handle(HooksPrefix+"/", g.administration(hooks(d, cfg.Log)))
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /oauth2/v2.0/token", g.token)
	mux.HandleFunc("GET /openapi.json", described(cfg))
	mux.HandleFunc("GET /readyz", b.ready)
	mux.HandleFunc("GET /livez", live)
	// The services of S0 are found in any case of letters, which no pattern of a mux does; nor may it mend their paths, since
	// a client that follows a redirect looks like a browser.
	none := g.problem(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { wire.WriteProblemNoRoute(rw, r, "") }))
	payment := g.problem(scenario.Perform(payments.Handler(k, payments.HandlerOptions{Log: cfg.Log, Operator: cfg.Operator})))
	token := g.problem(scenario.Perform(tokens.Handler(k.Tokens(), tokens.HandlerOptions{Log: cfg.Log})))
	onboard := g.problem(onboarding.Handler(desk, onboarding.HandlerOptions{Log: cfg.Log, Sandbox: desk.Sandbox}))
	dispute := g.problem(disputes.Handler(b.cases, b.cases, disputes.HandlerOptions{Log: cfg.Log, Dir: cfg.Dir, Operator: cfg.Operator}))
	build := g.keyed(scenario.Perform(hosted.Handler(b.build, b.build.Orders(), hosted.HandlerOptions{Log: cfg.Log})))
	enrol := b.enrol(g, cfg)
	return addressed(cfg, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case enrol != nil && enrolment.API().Is(r):
			enrol.ServeHTTP(rw, r)
		case hosted.API().Is(r):
			build.ServeHTTP(rw, r)
		case disputes.API().Is(r):
			dispute.ServeHTTP(rw, r)
		case onboarding.API().Is(r):
			onboard.ServeHTTP(rw, r)
		case payments.API().Is(r):
			payment.ServeHTTP(rw, r)
		case tokens.API().Is(r):
			token.ServeHTTP(rw, r)
		case len(r.URL.Path) > 7 && strings.EqualFold(r.URL.Path[:8], "/api/v1/"):
			none.ServeHTTP(rw, r)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/oauth2/v2.0/token"): // behind a tenant's name, in many clients
			g.token(rw, r)
		default:
			mux.ServeHTTP(rw, r)
		}
	})
}

// ready tells a balancer whether to send requests: not when the books do not take writes, and not when this process is about to end.
func (b *Backend) ready(w http.ResponseWriter, r *http.Request) {
	if err := b.notReady(r.Context()); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// notReady returns why no requests are to be sent here, nil = they are.
func (b *Backend) notReady(ctx context.Context) error {
	if b.leaving.Load() {
		return errors.New("this process is about to end")
	}
	return b.db.Health(ctx).Err
}

// live says that the process is there.
func live(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// Leave lets a balancer know that this process is about to end. It goes on serving.
func (b *Backend) Leave() { b.leaving.Store(true) }

// Handler serves every route of the backend.
func (b *Backend) Handler() http.Handler { return b.handler }

// Aapay is the transaction service in process, without HTTP and credentials.
func (b *Backend) Aapay() aapay.Service { return b.wallets }

// Methods is the terminal service in process, without HTTP and credentials.
func (b *Backend) Methods() methods.Service { return b.wallets }

// Links is the payment-link service in process, without HTTP and signatures; Transactions its other half.
func (b *Backend) Links() paylinks.Links { return b.links }

// Transactions is the transaction half of the payment-link service.
func (b *Backend) Transactions() paylinks.Transactions { return b.links.Transactions() }

// Payments is the payment service in process, without HTTP and credentials.
func (b *Backend) Payments() payments.Service { return b.cards }

// PayHosted lets a customer pay a hosted payment with this card, and pass whatever challenge comes.
func (b *Backend) PayHosted(ctx context.Context, paymentID string, with payments.CardDetails) error {
	return b.cards.Pay(ctx, paymentID, with)
}

// Onboarding is the onboarding service in process, without HTTP and credentials; its Sandbox stands in for signer and review.
func (b *Backend) Onboarding() *merchants.Merchants { return b.desk }

// Disputes is the dispute service in process, without HTTP and credentials; it is disputes.Keys too.
func (b *Backend) Disputes() *cases.Cases { return b.cases }

// Init makes what is made once and takes its time: the key pair that card numbers of disputes are encrypted with, and the
// authority of a fleet.
func (b *Backend) Init(ctx context.Context) error {
	err := b.cases.Init(ctx)
	if err == nil && b.fleet != nil {
		err = b.fleet.Init(ctx)
	}
	return err
}

// Hosted is the hosted build service in process, without HTTP and credentials; its Orders are its other half, Fill and Answer
// stand in for the customer.
func (b *Backend) Hosted() *sessions.Sessions { return b.build }

// Tokens is the tokenization service in process, without HTTP and credentials.
func (b *Backend) Tokens() tokens.Service { return b.cards.Tokens() }

// Run lets time pass for the wallets, links, payments and sessions and sends what is owed to others, until ctx ends; it returns ctx's
// error. Of several processes on the same books one does each of these at a time.
func (b *Backend) Run(ctx context.Context) error {
	tasks := []lease.Task{
		{Name: "wallets", Work: b.wallets.Run}, {Name: "links", Work: b.links.Run}, {Name: "cards", Work: b.cards.Run},
		{Name: "sessions", Work: b.build.Run}, {Name: "deliver", Work: b.deliver.Run},
	}
	if b.fleet != nil {
		tasks = append(tasks, lease.Task{Name: "fleet", Work: b.fleet.Run})
	}
	for i, t := range tasks {
		tasks[i].Work = func(ctx context.Context) error {
			b.meter.Holds(t.Name, true)
			defer b.meter.Holds(t.Name, false)
			return t.Work(ctx)
		}
		b.meter.Holds(t.Name, false)
	}
	if b.shared {
		return lease.Run(ctx, lease.Options{DB: b.db, Log: b.log}, tasks...)
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range tasks {
		g.Go(func() error { return t.Work(ctx) })
	}
	return g.Wait()
}

// Close closes the store. Serve no requests and end Run first.
func (b *Backend) Close() error { return b.db.Close() }

// Server gives h a server with limits that fit it: the slowest reply of the scenario table still fits, a client that
// dawdles does not.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           wire.Drained(h),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      scenario.SlowReply + 20*time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
}
