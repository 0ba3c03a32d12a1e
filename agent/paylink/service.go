package paylink

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

const op = "paylink"

// Links is what a Service needs of the link service.
type Links interface {
	Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error)
	Read(ctx context.Context, id int64) (paylinks.Link, error)
	Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error)
}

// Transactions is what it needs of the transaction service.
type Transactions interface {
	Read(ctx context.Context, id int64) (paylinks.Transaction, error)
	Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error)
	Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error)
	List(ctx context.Context, f paylinks.Filter) ([]paylinks.Transaction, error)
}

// Options make a Service. DB, Links, Transactions and Instance are required.
type Options struct {
	DB           store.DB
	Links        Links
	Transactions Transactions
	Instance     string        // the account
	Title        string        // of the links' pages: the merchant's name
	Settle       time.Duration // how long a silence has to last before it proves anything; 0 = 30 s
	Now          func() time.Time
	Log          *slog.Logger
}

// Service speaks payment links as a scheme. Its methods are safe for concurrent use.
type Service struct {
	o    Options
	log  *slog.Logger
	mu   sync.Mutex
	busy map[string]bool      // undos whose step is being taken, by reference
	mark map[string]time.Time // since when nothing has moved, likewise
}

var _ aapay.Service = (*Service)(nil)

// New makes a Service; it starts nothing.
func New(o Options) *Service {
	if o.Settle == 0 {
		o.Settle = 30 * time.Second
	}
	if o.Title == "" {
		o.Title = "Payment"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{o: o, log: o.Log.With("sys", "paylink"), busy: map[string]bool{}, mark: map[string]time.Time{}}
}

// Initialize implements aapay.Service. Unlike other services' it may be sent again: the terminalReference is the Key.
func (s *Service) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.begin(ctx, "", typ, req)
}

// InitializeWithIdempotency implements aapay.Service.
func (s *Service) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if _, err := wire.ParseKey(string(key)); err != nil {
		return aapay.Reply{}, &wire.Error{Code: wire.Invalid, Op: op, Err: err}
	}
	return s.begin(ctx, key, typ, req)
}

func (s *Service) begin(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if err := aapay.Validate(typ, req); err != nil {
		return aapay.Reply{}, err
	}
	if req.TerminalReference == "" {
		return aapay.Reply{}, wire.Errorf(wire.Invalid, op, "terminalReference: missing")
	}
	typ, _ = aapay.ParseType(string(typ))
	text, err := json.Marshal(req)
	if err != nil {
		return aapay.Reply{}, wire.AsError(op, err)
	}
	e := entry{
		Reference: req.TerminalReference, Key: key, Type: typ, Method: req.Method, Body: s.o.DB.MAC("paylink_request", req.TerminalReference, string(typ), text),
		Amount: req.PurchaseAmount.TotalAmount, Currency: req.PurchaseAmount.CurrencyCode, CreatedMS: s.o.Now().UnixMilli(),
	}
	if typ == aapay.Payment {
		e.Instance, e.Ask = s.o.Instance, s.request(&e, req)
	}
	known, err := s.known(ctx, &e)
	if err != nil {
		return aapay.Reply{}, err
	}
	if known == nil || known.Body == nil {
		if known, err = s.accept(ctx, e, req.OriginalReference); err != nil {
			return aapay.Reply{}, err
		}
	}
	switch {
	case known.intended() && !known.Undoing:
		if known, err = s.make(ctx, known); err != nil {
			return aapay.Reply{}, err
		}
		if known.Undoing { // meanwhile: the undo sees to the link
			known.End = aapay.Rejected
		}
	case known.Original != "" && known.End == "": // the first step at once; the status takes the others, and this one again
		if err := s.advance(ctx, known); err != nil {
			s.log.Warn("undo not done yet", "reference", known.Reference, "err", err)
		}
	}
	return known.reply(), nil
}

// known finds what was journalled of a request: by its Key, else by its reference. wire.KeyReused when that was another request.
func (s *Service) known(ctx context.Context, e *entry) (known *entry, err error) {
	err = s.o.DB.Read(ctx, func(r store.Reader) error {
		known, err = s.before(r, e)
		return err
	})
	return known, unavailable(err)
}

func (s *Service) before(r store.Reader, e *entry) (*entry, error) {
	known, err := s.one(r, byKey, string(e.Key))
	if err == nil && known == nil {
		known, err = s.one(r, byReference, e.Reference)
	}
	switch {
	case err != nil || known == nil:
		return nil, err
	case known.Body == nil && e.Type == aapay.Payment, string(known.Body) == string(e.Body) && (e.Key == "" || e.Key == known.Key):
		return known, nil
	}
	return nil, wire.Errorf(wire.KeyReused, op, "key or terminalReference was used for another request")
}

// make asks for the link of a payment and journals it. A lost reply costs nothing: no customer learns the address
// of that link. The next try, or the undo, finds the link by the Key, where the service honours one. A refusal of the service is a
// rejected payment.
func (s *Service) make(ctx context.Context, e *entry) (out *entry, err error) {
	link, err := s.o.Links.Create(ctx, e.Key, *e.Ask)
	no := refusal(err)
	switch {
	case no:
		s.log.Warn("link refused", "reference", e.Reference, "err", err)
	case wire.NeverSent(err):
		return nil, &wire.Error{Code: wire.Unavailable, Op: op, Unsent: true, Err: err}
	case err != nil:
		return nil, unavailable(err)
	case link.ID <= 0, link.ID >= paylinks.FirstLocalID, link.Hash == nil, link.Link.Link == nil, *link.Link.Link == "":
		return nil, wire.Errorf(wire.Unavailable, op, "the reply is not a link")
	}
	err = s.o.DB.Write(ctx, func(tx store.Tx) error {
		out = nil
		p, err := s.one(tx, byReference, e.Reference)
		switch {
		case err != nil:
			return err
		case p == nil:
			return wire.Errorf(wire.Internal, op, "the entry of %s is gone", e.Reference)
		case !p.intended(): // another call was faster
		case no:
			p.End = aapay.Rejected
			err = s.save(tx, p)
		default:
			p.Link, p.Hash, p.URL, p.Made = link.ID, *link.Hash, *link.Link.Link, link.CreatedAt
			err = s.save(tx, p)
		}
		out = p
		return err
	})
	if !no && (err != nil || out.Link != link.ID) { // no customer has seen it, and none will
		_, _ = s.o.Links.Delete(ctx, "", link.ID) // one that stays is not paid either: no customer has its address
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return out, nil
}

// request is the body of a create (S1 4.1).
func (s *Service) request(e *entry, req aapay.Request) *paylinks.CreateRequest {
	c := &paylinks.CreateRequest{
		Title: s.o.Title, Description: s.o.Title, Purpose: s.o.Title, ReferenceID: e.Reference, Amount: e.Amount, Currency: e.Currency, HideFields: true,
	}
	if req.Message != "" {
		c.Description = req.Message
	}
	if now := s.o.Now(); now.After(clockSet) { // one that is lost does not stay for ever
		c.ExpirationDate = now.AddDate(0, 0, 2).UTC().Format(time.DateOnly)
	}
	return c
}

// clockSet is before any sale: a clock that says less was not set.
var clockSet = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// accept journals a request, with what it means for its original, before anybody hears of it.
func (s *Service) accept(ctx context.Context, e entry, original string) (out *entry, err error) {
	err = s.o.DB.Write(ctx, func(tx store.Tx) error {
		out = nil
		before, err := s.before(tx, &e)
		switch {
		case err != nil:
			return err
		case before != nil && before.Body != nil:
			out = before
			return nil
		case before != nil: // its undo came first: it never begins
			late := e
			late.Undoing, late.End = true, aapay.Rejected
			out = &late
		default:
			own := e
			out = &own
			if e.Type != aapay.Payment {
				if err := s.judge(tx, out, original); err != nil {
					return err
				}
			}
		}
		return s.save(tx, out)
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return out, nil
}

// judge joins an undo to its original and decides what needs no other service.
func (s *Service) judge(tx store.Tx, e *entry, original string) error {
	find := s.find
	if e.Type == aapay.Reversal {
		find = func(r store.Reader, id string) (*entry, error) { return s.one(r, byReference, id) }
	}
	p, err := find(tx, original)
	if err != nil {
		return err
	}
	if p == nil && e.Type == aapay.Reversal { // nothing that anybody has seen: and it stays so
		e.Original, e.End = original, reversed
		return s.save(tx, &entry{
			Reference: original, Type: aapay.Payment, Method: e.Method, Amount: e.Amount, Currency: e.Currency, CreatedMS: e.CreatedMS,
			Undoing: true, End: aapay.Cancelled,
		})
	}
	if p == nil || p.Type != aapay.Payment {
		e.End = aapay.Rejected
		return nil
	}
	e.Original = p.Reference
	earlier, err := s.load(tx, byOriginal, p.Reference)
	if err != nil {
		return err
	}
	rest := p.Amount
	for _, u := range earlier {
		if u.Type == aapay.Refund && u.End != aapay.Rejected && u.End != aapay.Failed {
			rest -= u.Amount
		}
	}
	switch {
	case e.Type == aapay.Refund && (p.Link == 0 || p.Undoing || p.Currency != e.Currency || e.Amount > rest), e.Type == aapay.Reversal && rest != p.Amount:
		e.End = aapay.Rejected
		return nil
	case e.Type == aapay.Refund:
		return nil
	case p.Link == 0 && !p.intended(), p.End != "":
		e.End = reversed
	}
	p.Undoing = true
	return s.save(tx, p)
}

// reply is the answer to the request of an entry, the same every time.
func (e *entry) reply() aapay.Reply {
	r := aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true, Response: &aapay.Response{NAA2ECR: e.names()}}
	if e.End == aapay.Rejected || e.intended() { // or undone before its link was known
		r.HTTPStatus, r.Valid, r.Error = http.StatusCreated, false, &aapay.Fault{Message: "rejected"}
		r.Response.ResponseCode = aapay.CodeReject
	}
	return r
}

func (e *entry) names() *aapay.NAA2ECR { return &aapay.NAA2ECR{SchemeID: e.Method, PPRef: e.Reference} }

// refusal says that the service itself said no, so that nothing was done.
func refusal(err error) bool {
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Conflict, wire.TooLarge:
		return true
	}
	return false
}

// unavailable gives an error the one meaning it has for a caller: nothing is known, and asking again is safe. Refused credentials, a
// pause asked for and what concerns one transaction alone keep theirs.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	e := *wire.AsError(op, err)
	switch e.Code {
	case wire.Unauthorized, wire.Forbidden, wire.TooMany, wire.KeyReused, wire.Internal:
		return &e
	}
	return &wire.Error{Code: wire.Unavailable, Op: op, RetryAfter: e.RetryAfter, Err: err}
}
