package offlinetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// Services are what a local client calls, and the customer of a link.
type Services struct {
	Payments     payments.Service
	Tokens       tokens.Service
	Links        paylinks.Links
	Transactions paylinks.Transactions
	// Customer pays a link that the backend knows, by the hash of its page; paying twice is paying once.
	Customer func(ctx context.Context, hash string) error
}

// Write is one write of a story.
type Write struct {
	Kind   string // in the operation table
	About  int    // the write of the same story whose thing it is about; -1 = it makes one
	Paid   bool   // it is about the transaction of that link's customer
	Amount int64  // minor units, 0 = none

	do func(ctx context.Context, s Services, key wire.Key, about string) (id string, p *wire.Pending, err error)
}

// Story is what a client does about one thing, in order; N tells it from others.
type Story struct {
	Name     string
	N        int
	Writes   []Write
	Reserves bool // its payment reserves all of its amount when it is made
}

// Key is the client's Idempotency-Key of a write.
func (s Story) Key(i int) wire.Key { return wire.Key(fmt.Sprintf("%s-%d-%d", s.Name, s.N, i)) }

// Reference names the link of a story.
func (s Story) Reference() string { return fmt.Sprintf("order-%s-%d", s.Name, s.N) }

// Do asks once for write i about the thing called about. It gives the id that the answer names: of what was made, or of the effect.
func (s Story) Do(ctx context.Context, to Services, i int, about string) (id string, pending *wire.Pending, err error) {
	return s.Writes[i].do(ctx, to, s.Key(i), about)
}

// plan is how a story of a name goes, with an amount and a smaller one.
type plan struct {
	name     string
	reserves bool // its payment reserves all of its amount when it is made
	writes   func(s Story, whole, part int64) []Write
}

func plans() []plan { return slices.Concat(paymentPlans(), tokenPlans(), linkPlans()) }

// Names are the names of the stories.
func Names() (list []string) {
	for _, p := range plans() {
		list = append(list, p.name)
	}
	return list
}

// Tell is the story of a name.
func Tell(name string, n int) Story {
	s := Story{Name: name, N: n}
	for _, p := range plans() {
		if p.name == name {
			s.Reserves, s.Writes = p.reserves, p.writes(s, int64(1000+n), int64(1+n%400))
		}
	}
	return s
}

// Subject waits for nothing: it is what a write of a story is about, given what the write before it was told. ready is false while the
// link has no customer's transaction yet; he pays as soon as he can.
func (s Story) Subject(ctx context.Context, to Services, i int, told []string) (about string, ready bool, err error) {
	w := s.Writes[i]
	if w.About < 0 {
		return "", true, nil
	}
	if !w.Paid {
		return told[w.About], true, nil
	}
	id, err := strconv.ParseInt(told[w.About], 10, 64)
	if err != nil {
		return "", false, err
	}
	for range 2 {
		link, err := to.Links.Read(ctx, id)
		switch {
		case err != nil:
			return "", false, err
		case link.Hash == nil:
			return "", false, nil
		case len(link.Invoices) > 0 && len(link.Invoices[0].Transactions) > 0:
			return strconv.FormatInt(link.Invoices[0].Transactions[0].ID, 10), true, nil
		}
		if err := to.Customer(ctx, *link.Hash); err != nil {
			return "", false, err
		}
	}
	return "", false, nil
}
