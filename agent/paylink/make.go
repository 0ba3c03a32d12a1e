package paylink

import (
	"context"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// make asks for the link of a payment and journals it. A lost reply costs nothing: no customer learns the address
// of that link. The next try, or the undo, finds the link by the Key, where the service honours one. A refusal of the service is a
// rejected payment.
func (s *Service) make(ctx context.Context, e *entry) (out *entry, err error) {
	asking, echo := wire.WithEcho(ctx)
	link, err := s.o.Links.Create(asking, e.Key, *e.Ask)
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
	case anothers(e, link): // what the account has under our Key is asked for again; that link is not touched
		return nil, wire.Errorf(wire.Unavailable, op, "the reply is about another link")
	}
	if !no && link.ReferenceID == "" && !echo.Named() { // an equal amount is easily another's
		p := *e
		p.Link, p.Hash = link.ID, *link.Hash
		if is, err := s.link(ctx, &p); err != nil || is == nil {
			return nil, &wire.Error{Code: wire.Unavailable, Op: op, Msg: "the reply does not name what it is about, and the link does not show it", Err: err}
		}
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

// anothers says that the answer to a create is about another one: a proxy may mix answers up. What a service does not tell is not compared.
func anothers(e *entry, link paylinks.Created) bool {
	return link.ReferenceID != "" && link.ReferenceID != e.Reference || link.Amount != 0 && link.Amount != e.Amount ||
		link.Currency != "" && link.Currency != e.Currency
}

// request is the body of a create (S1 4.1).
func (s *Service) request(e *entry, req aapay.Request) *paylinks.CreateRequest {
	c := &paylinks.CreateRequest{
		Title: s.o.Title, Description: s.o.Title, Purpose: s.o.Title, ReferenceID: e.Reference, Amount: e.Amount, Currency: e.Currency, HideFields: true,
	}
	if req.Message != "" {
		c.Description = req.Message
	}
	if now, ok := s.o.Trusted(); ok { // one that is lost does not stay for ever; by the box's own clock it might end before it is made
		c.ExpirationDate = now.AddDate(0, 0, 2).UTC().Format(time.DateOnly)
	}
	return c
}
