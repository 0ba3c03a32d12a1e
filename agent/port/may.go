package port

import (
	"context"

	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// What a client's list may name. All is not a deed but a sight: of other clients' things, and of the backend's.
const (
	mayRead   = "read"
	mayPay    = "pay"
	mayRefund = "refund"
	mayLinks  = "links"
	mayTokens = "tokens"
	maySales  = "sales"
	mayAll    = "all"
)

// DefaultMay is what a client with a name may do where its Client says nothing.
func DefaultMay() []string { return []string{mayRead, mayPay, mayRefund, mayLinks, mayTokens} }

// The services below ask what their caller may before they are called. Each writes out every method: a new one must not pass by.

type allowedPayments struct{ next payments.Service }

var _ payments.Service = allowedPayments{}

// Create implements payments.Service.
func (a allowedPayments) Create(ctx context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	if err := wire.Allow(ctx, "payments.create", mayPay); err != nil {
		return payments.Created{}, err
	}
	return a.next.Create(ctx, key, req)
}

// Authorize implements payments.Service.
func (a allowedPayments) Authorize(ctx context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	if err := wire.Allow(ctx, "payments.authorize", mayPay); err != nil {
		return payments.Done{}, err
	}
	return a.next.Authorize(ctx, key, id, req)
}

// Cancel implements payments.Service.
func (a allowedPayments) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	if err := wire.Allow(ctx, "payments.cancel", mayPay); err != nil {
		return payments.Done{}, err
	}
	return a.next.Cancel(ctx, key, id, req)
}

// Capture implements payments.Service.
func (a allowedPayments) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	if err := wire.Allow(ctx, "payments.capture", mayPay); err != nil {
		return payments.Done{}, err
	}
	return a.next.Capture(ctx, key, id, req)
}

// Refund implements payments.Service.
func (a allowedPayments) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	if err := wire.Allow(ctx, "payments.refund", mayRefund); err != nil {
		return payments.Done{}, err
	}
	return a.next.Refund(ctx, key, id, req)
}

// Read implements payments.Service.
func (a allowedPayments) Read(ctx context.Context, id string) (payments.Payment, error) {
	if err := wire.Allow(ctx, "payments.read", mayRead); err != nil {
		return payments.Payment{}, err
	}
	return a.next.Read(ctx, id)
}

type allowedTokens struct{ next tokens.Service }

var _ tokens.Service = allowedTokens{}

// Create implements tokens.Service.
func (a allowedTokens) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	if err := wire.Allow(ctx, "tokens.create", mayTokens); err != nil {
		return tokens.Created{}, err
	}
	return a.next.Create(ctx, key, req)
}

// CreateRecurring implements tokens.Service.
func (a allowedTokens) CreateRecurring(ctx context.Context, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	if err := wire.Allow(ctx, "tokens.recurring", mayTokens); err != nil {
		return tokens.Created{}, err
	}
	return a.next.CreateRecurring(ctx, key, req)
}

// Verify implements tokens.Service.
func (a allowedTokens) Verify(ctx context.Context, key wire.Key, id string) (tokens.Created, error) {
	if err := wire.Allow(ctx, "tokens.verify", mayTokens); err != nil {
		return tokens.Created{}, err
	}
	return a.next.Verify(ctx, key, id)
}

// Token implements tokens.Service.
func (a allowedTokens) Token(ctx context.Context, id string) (tokens.TokenReply, error) {
	if err := wire.Allow(ctx, "tokens.token", mayTokens); err != nil {
		return tokens.TokenReply{}, err
	}
	return a.next.Token(ctx, id)
}

type allowedLinks struct{ next paylinks.Links }

var _ paylinks.Links = allowedLinks{}

// Create implements paylinks.Links.
func (a allowedLinks) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	if err := wire.Allow(ctx, "paylinks.create", mayLinks); err != nil {
		return paylinks.Created{}, err
	}
	return a.next.Create(ctx, key, req)
}

// Read implements paylinks.Links.
func (a allowedLinks) Read(ctx context.Context, id int64) (paylinks.Link, error) {
	if err := wire.Allow(ctx, "paylinks.read", mayRead); err != nil {
		return paylinks.Link{}, err
	}
	return a.next.Read(ctx, id)
}

// Delete implements paylinks.Links.
func (a allowedLinks) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	if err := wire.Allow(ctx, "paylinks.delete", mayLinks); err != nil {
		return paylinks.Deleted{}, err
	}
	return a.next.Delete(ctx, key, id)
}

type allowedTransactions struct{ next paylinks.Transactions }

var _ paylinks.Transactions = allowedTransactions{}

// Read implements paylinks.Transactions.
func (a allowedTransactions) Read(ctx context.Context, id int64) (paylinks.Transaction, error) {
	if err := wire.Allow(ctx, "paylinks.transaction", mayRead); err != nil {
		return paylinks.Transaction{}, err
	}
	return a.next.Read(ctx, id)
}

// Charge implements paylinks.Transactions.
func (a allowedTransactions) Charge(ctx context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	if err := wire.Allow(ctx, "paylinks.charge", mayLinks); err != nil {
		return paylinks.Done{}, err
	}
	return a.next.Charge(ctx, key, id, req)
}

// Capture implements paylinks.Transactions.
func (a allowedTransactions) Capture(ctx context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	if err := wire.Allow(ctx, "paylinks.capture", mayLinks); err != nil {
		return paylinks.Done{}, err
	}
	return a.next.Capture(ctx, key, id)
}

// Refund implements paylinks.Transactions.
func (a allowedTransactions) Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	if err := wire.Allow(ctx, "paylinks.refund", mayLinks, mayRefund); err != nil {
		return paylinks.Done{}, err
	}
	return a.next.Refund(ctx, key, id, req)
}

// Delete implements paylinks.Transactions.
func (a allowedTransactions) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	if err := wire.Allow(ctx, "paylinks.cancel", mayLinks); err != nil {
		return paylinks.Deleted{}, err
	}
	return a.next.Delete(ctx, key, id)
}

// List implements paylinks.Transactions.
func (a allowedTransactions) List(ctx context.Context, by paylinks.Filter) ([]paylinks.Transaction, error) {
	err := wire.Allow(ctx, "paylinks.list", mayRead)
	if err == nil {
		err = wire.Everything(ctx, "paylinks.list", "list the account's transactions")
	}
	if err != nil {
		return nil, err
	}
	return a.next.List(ctx, by)
}

type allowedMethods struct{ next methods.Service }

var _ methods.Service = allowedMethods{}

// List implements methods.Service.
func (a allowedMethods) List(ctx context.Context, q methods.Query) ([]methods.Definition, error) {
	if err := wire.Allow(ctx, "methods.list", mayRead); err != nil {
		return nil, err
	}
	return a.next.List(ctx, q)
}
