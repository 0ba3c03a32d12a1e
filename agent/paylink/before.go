package paylink

import (
	"context"
	"sync"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// longestUse is how old a use of an id may be to count: 90 days (MONEY, law V), and some for clocks.
const longestUse = 91 * 24 * time.Hour

// use is what the account's list of transactions shows under a reference.
type use struct {
	at       int64 // unix s by the service's clock, 0 = it does not say
	amount   int64 // hundredths
	currency string
}

// past is the list of transactions as far as it was read: under which references something was tried or
// paid. Links have no list, and a transaction that is on this one stays, so each question reads what is
// new on it alone.
type past struct {
	mu     sync.Mutex
	uses   map[string]use
	after  time.Time // what is older was read, or is too old
	newest time.Time // of what was read, by the service's clock
	offset int64     // rows of a reading that was broken off
}

// Used is what the account knows under a reference of which this journal has nothing: a journal before
// it may have sold by a link (MONEY, law V). wire.NotFound where the whole list shows nothing. A link
// that nobody has tried to pay is on no list.
func (s *Service) Used(ctx context.Context, reference string) (aapay.Status, error) {
	if err := aapay.CheckID(reference); err != nil {
		return aapay.Status{}, err
	}
	p := &s.past
	p.mu.Lock()
	defer p.mu.Unlock()
	broken := p.offset > 0
	if p.after.IsZero() && !broken {
		if now, ok := s.o.Trusted(); ok { // a clock that no service has confirmed would hide what is there
			p.after = now.Add(-longestUse).UTC()
		}
	}
	for range manyPages {
		page, err := s.o.Transactions.List(ctx, paylinks.Filter{Limit: pageSize, Offset: p.offset, After: p.after})
		if err != nil {
			return aapay.Status{}, unavailable(err)
		}
		for _, t := range page {
			p.keep(t)
		}
		if p.offset += int64(len(page)); len(page) > 0 {
			continue
		}
		if p.offset = 0; !p.newest.IsZero() {
			p.after = p.newest.Add(-clockSlip).UTC()
		}
		if broken { // what has come since it was begun may stand on a page that was read before
			broken = false
			continue
		}
		u, ok := p.uses[reference]
		if !ok {
			return aapay.Status{}, wire.Errorf(wire.NotFound, op, "nothing was tried or paid under the reference")
		}
		st := aapay.Status{Valid: true, State: aapay.Pending, Receipt: &aapay.Receipt{Reference: reference, Amount: u.amount, Currency: u.currency}}
		if u.at != 0 {
			st.TimeStamp = time.Unix(u.at, 0).UTC().Format(time.RFC3339)
		}
		return st, nil
	}
	return aapay.Status{}, wire.Errorf(wire.Unavailable, op, "the list of transactions does not end")
}

// keep notes a transaction under the references that it names.
func (p *past) keep(t paylinks.Transaction) {
	u := use{amount: total(t)}
	if at, err := time.Parse(paylinks.TimeLayout, t.Time); err == nil {
		if u.at = at.Unix(); at.After(p.newest) {
			p.newest = at
		}
	}
	references := []string{t.ReferenceID}
	if i := t.Invoice; i != nil {
		u.currency = i.CurrencyAlpha3
		if i.PaymentLink != nil {
			references = append(references, i.PaymentLink.ReferenceID)
		}
	}
	for _, reference := range references {
		if before, known := p.uses[reference]; reference != "" && (!known || u.at < before.at) {
			p.uses[reference] = u
		}
	}
}

// unknown says that more may have been given back of a transaction than this journal knows of, where the
// journal before it may have used the refund's Key: then it may have been given back under that Key. The
// service does not say under which.
func (s *Service) unknown(ctx context.Context, e *entry, t paylinks.Transaction) (yes bool, err error) {
	err = s.o.DB.Read(ctx, func(r store.Reader) error {
		yes = false
		before, err := s.o.Reused(r, e.Key)
		if err != nil || !before {
			return err
		}
		known, err := s.givenHere(r, e, t.ID)
		if err != nil {
			return err
		}
		if now := given(t); now >= 0 {
			yes = now > known
		} else {
			yes = t.Status != paylinks.Confirmed
		}
		return nil
	})
	return yes, err
}
