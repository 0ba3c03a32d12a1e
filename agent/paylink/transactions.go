package paylink

import (
	"context"
	"time"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

const (
	pageSize  = 100
	manyPages = 1000      // then the list does not end
	clockSlip = time.Hour // between the service's clock in one place and in another
)

// class says what a transaction's status means for an undo.
type class int

const (
	unclear class = iota // waits for the provider, is disputed, or says something new
	begun
	held
	paid
	back
	dead
)

func classOf(s paylinks.Status) class {
	switch s {
	case paylinks.Waiting, paylinks.Initiated:
		return begun
	case paylinks.Authorized, paylinks.Reserved, paylinks.Uncaptured:
		return held
	case paylinks.Confirmed, paylinks.PartiallyRefunded:
		return paid
	case paylinks.Refunded:
		return back
	case paylinks.Cancelled, paylinks.Declined, paylinks.Failed, paylinks.Expired, paylinks.Insecure:
		return dead
	}
	return unclear
}

// link reads the link of a payment; nil when the service says that there is none. One that is another than it was is an error: its
// number may mean something else in another account.
func (s *Service) link(ctx context.Context, p *entry) (*paylinks.Link, error) {
	link, err := s.o.Links.Read(ctx, p.Link)
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case link.ID != p.Link, link.Hash == nil || *link.Hash != p.Hash, link.ReferenceID != p.Reference, link.Amount != p.Amount, link.Currency != p.Currency:
		return nil, wire.Errorf(wire.Internal, op, "link %d is not the one that was made", p.Link)
	}
	return &link, nil
}

// payments lists what was paid, or tried, on the link of a payment. Others are those under its reference on another link, which a
// journal before this one has made.
func (s *Service) payments(ctx context.Context, p *entry) (out, others []paylinks.Transaction, err error) {
	f := paylinks.Filter{Limit: pageSize}
	if p.Made > 0 {
		f.After = time.Unix(p.Made, 0).Add(-clockSlip).UTC()
	}
	seen := map[int64]bool{}
	for range manyPages {
		page, err := s.o.Transactions.List(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		if len(page) == 0 {
			return out, others, nil
		}
		for _, t := range page {
			switch on := onLink(p, t); {
			case seen[t.ID]:
			case !on && t.ReferenceID == p.Reference:
				others = append(others, t)
				seen[t.ID] = true
			case on:
				seen[t.ID] = true
				if err := ours(p, t); err != nil {
					return nil, nil, err
				}
				out = append(out, t)
			}
		}
		f.Offset += int64(len(page)) // a page may be shorter than asked for and yet not the last
	}
	return nil, nil, wire.Errorf(wire.Unavailable, op, "the list of transactions does not end")
}

// onLink says whether a transaction was made on the link of a payment: by the link's number or hash where the service says them, else by
// the reference, which is random.
func onLink(p *entry, t paylinks.Transaction) bool {
	if i := t.Invoice; i != nil {
		switch {
		case i.PaymentRequestID != 0:
			return i.PaymentRequestID == p.Link
		case i.PaymentLink != nil && i.PaymentLink.Hash != "":
			return i.PaymentLink.Hash == p.Hash
		}
	}
	return t.ReferenceID == p.Reference
}

// ours holds a transaction against the payment whose link's number it has: books that were put back give a number again, and then it is
// another link's.
func ours(p *entry, t paylinks.Transaction) error {
	if i := t.Invoice; i != nil && i.PaymentLink != nil {
		if l := i.PaymentLink; l.Hash != "" && l.Hash != p.Hash || l.ReferenceID != "" && l.ReferenceID != p.Reference {
			return wire.Errorf(wire.Internal, op, "transaction %d on link %d was made on another link of that number", t.ID, p.Link)
		}
	}
	if t.Invoice == nil || total(t) != p.Amount || t.Invoice.CurrencyAlpha3 != p.Currency {
		return wire.Errorf(wire.Internal, op, "transaction %d on link %d has another amount", t.ID, p.Link)
	}
	return nil
}

// transaction reads one of a payment.
func (s *Service) transaction(ctx context.Context, p *entry, id int64) (paylinks.Transaction, error) {
	t, err := s.o.Transactions.Read(ctx, id)
	if err == nil {
		err = ours(p, t)
	}
	return t, err
}

// given is how much of a transaction went back, -1 if unknown.
func given(t paylinks.Transaction) int64 {
	if t.Invoice == nil || t.Invoice.RefundedAmount == nil {
		return -1
	}
	return *t.Invoice.RefundedAmount
}

func total(t paylinks.Transaction) int64 {
	if t.Invoice == nil {
		return 0
	}
	return t.Invoice.TotalAmount
}
