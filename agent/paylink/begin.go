package paylink

import (
	"context"
	"encoding/json"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

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
