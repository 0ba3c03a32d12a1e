package port

import (
	"context"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
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

// deeds is the word that a caller needs for each operation of the services that are tables.
var deeds = map[string]string{
	"payments.create": mayPay, "payments.authorize": mayPay, "payments.cancel": mayPay, "payments.capture": mayPay,
	"payments.refund": mayRefund, "payments.read": mayRead,
	"tokens.create": mayTokens, "tokens.recurring": mayTokens, "tokens.verify": mayTokens, "tokens.token": mayTokens,
	"methods.list": mayRead,
}

// asking asks what a caller may before the service is asked. It panics where an endpoint has no word: a new one must not pass by.
func asking(infos []rest.Info) func(context.Context, *rest.Asked) (any, error) {
	for _, i := range infos {
		if deeds[i.Op] == "" {
			panic("port: " + i.Op + ": nothing says who may")
		}
	}
	return func(ctx context.Context, a *rest.Asked) (any, error) {
		if err := wire.Allow(ctx, a.Op, deeds[a.Op]); err != nil {
			return nil, err
		}
		return a.Do(ctx)
	}
}

// The services below ask the same. Each writes out every method: a new one must not pass by.

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
