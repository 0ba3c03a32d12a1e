package offlinetest

import (
	"context"
	"fmt"
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

// The processing of a payment and of a link that a story begins with.
const (
	reserve   = "reserve"
	authorize = "authorize"
)

// Names are the names of the stories.
func Names() []string {
	return []string{"collected", "given-up", "card", "terms", "taken-back", "charged", "captured", "let-go"}
}

// Tell is the story of a name.
func Tell(name string, n int) Story {
	whole, part := int64(1000+n), int64(1+n%400)
	s := Story{Name: name, N: n}
	switch name {
	case "collected":
		s.Reserves = true
		s.Writes = []Write{createPayment(whole, payments.ProcessAuthorize), capture(0, part+400), refund(0, part)}
	case "given-up":
		s.Writes = []Write{createPayment(whole, payments.ProcessNone), authorization(0, part), cancellation(0)}
	case "card":
		s.Writes = []Write{createToken(), verify(0)}
	case "terms":
		s.Writes = []Write{recurring(int32(whole)), verify(0)}
	case "taken-back":
		s.Writes = []Write{s.createLink(whole, ""), takeBack(0)}
	case "charged":
		s.Writes = []Write{s.createLink(whole, authorize), charge(0, part+400), giveBack(0, part)}
	case "captured":
		s.Writes = []Write{s.createLink(whole, reserve), collect(0, whole), giveBack(0, part)}
	case "let-go":
		s.Writes = []Write{s.createLink(whole, reserve), letGo(0)}
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

const visa = "4111111111111111"

func createPayment(amount int64, processing string) Write {
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: int32(amount), CurrencyCode: "EUR", Processing: processing,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12},
	}
	return Write{"payments.create", -1, false, amount, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Payments.Create(ctx, key, req)
		return out.PaymentID, out.Operation, err
	}}
}

func moved(d payments.Done, err error) (string, *wire.Pending, error) {
	return d.TransactionRef, d.Operation, err
}

func authorization(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.authorize", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: &n}))
	}}
}

func capture(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.capture", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Capture(ctx, key, id, payments.CaptureRequest{Amount: &n}))
	}}
}

func refund(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.refund", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Refund(ctx, key, id, payments.RefundRequest{Amount: &n}))
	}}
}

func cancellation(about int) Write {
	return Write{"payments.cancel", about, false, 0, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Cancel(ctx, key, id, payments.CancelRequest{}))
	}}
}

func createToken() Write {
	req := tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}}
	return Write{"tokens.create", -1, false, 0, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Tokens.Create(ctx, key, req)
		return out.TokenizationID, out.Operation, err
	}}
}

func recurring(amount int32) Write {
	req := tokens.RecurringRequest{RecurringType: tokens.CardOnFile, Amount: amount, CurrencyCode: "EUR"}
	return Write{"tokens.recurring", -1, false, 0, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Tokens.CreateRecurring(ctx, key, req)
		return out.TokenizationID, out.Operation, err
	}}
}

func verify(about int) Write {
	return Write{"tokens.verify", about, false, 0, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		out, err := s.Tokens.Verify(ctx, key, id)
		return out.TokenizationID, out.Operation, err
	}}
}

func (s Story) createLink(amount int64, process string) Write {
	req := paylinks.CreateRequest{
		Title: "Order", Description: "Thank you", ReferenceID: s.Reference(), Purpose: "Order", Amount: amount, Currency: "EUR",
		Reservation: process == reserve, PreAuthorization: process == authorize,
	}
	return Write{"paylinks.create", -1, false, amount, func(ctx context.Context, to Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := to.Links.Create(ctx, key, req)
		return strconv.FormatInt(out.ID, 10), out.Operation, err
	}}
}

// onNumber makes a write about a link or a transaction.
func onNumber(kind string, paid bool, about int, amount int64, do func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error)) Write {
	return Write{kind, about, paid, amount, func(ctx context.Context, s Services, key wire.Key, about string) (string, *wire.Pending, error) {
		n, err := strconv.ParseInt(about, 10, 64)
		if err != nil {
			return "", nil, err
		}
		id, p, err := do(ctx, s, key, n)
		return strconv.FormatInt(id, 10), p, err
	}}
}

func takeBack(about int) Write {
	return onNumber("paylinks.delete", false, about, 0, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Links.Delete(ctx, key, id)
		return d.ID, d.Operation, err
	})
}

func charge(about int, amount int64) Write {
	return onNumber("paylinks.charge", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Charge(ctx, key, id, paylinks.ChargeRequest{Amount: &amount})
		return d.ID, d.Operation, err
	})
}

func collect(about int, amount int64) Write {
	return onNumber("paylinks.capture", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Capture(ctx, key, id)
		return d.ID, d.Operation, err
	})
}

func giveBack(about int, amount int64) Write {
	return onNumber("paylinks.refund", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Refund(ctx, key, id, paylinks.RefundRequest{Amount: &amount})
		return d.ID, d.Operation, err
	})
}

func letGo(about int) Write {
	return onNumber("paylinks.cancel", true, about, 0, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Delete(ctx, key, id)
		return d.ID, d.Operation, err
	})
}
