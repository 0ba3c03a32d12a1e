package paylink

import (
	"context"
	"slices"
	"time"

	"posagent/agent/gateway"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// Provider is the paymentProviderId of the method: no backend's list uses a negative one.
const Provider int32 = -1

// Definition is the method as the checkout offers it.
func Definition(label string, priority int32, meanDelay time.Duration) methods.Definition {
	qr := methods.QR
	return methods.Definition{
		Priority: priority, PaymentProviderID: Provider, Name: gateway.MethodPaylink, Label: label, MeanDelay: int32(meanDelay / time.Second),
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		Trigger:          []methods.Trigger{methods.QR}, DefaultTrigger: &qr,
	}
}

// Offer is the backend's list with the terminal's own method behind it, if it has one. A method of the backend that
// has its name is left out: its transactions would be taken for links.
func Offer(list []methods.Definition, own *methods.Definition) []methods.Definition {
	list = slices.DeleteFunc(slices.Clone(list), func(d methods.Definition) bool { return d.Name == gateway.MethodPaylink })
	if own != nil {
		list = append(list, *own)
	}
	return list
}

// Router is the scheme service the checkout talks to: transactions of the method are links, all others are Rest's.
type Router struct {
	Links aapay.Service // nil = no account is configured: such transactions wait
	Rest  aapay.Service
	// Sold says whether the journal has sold by payment links; nil = it has not. One that has does not
	// begin under a used id without their account.
	Sold func(context.Context) (bool, error)
}

var _ aapay.Service = Router{}

// Own is the service of links.
func (r Router) Own() aapay.Service {
	if r.Links == nil {
		return noAccount{}
	}
	return r.Links
}

func (r Router) by(method string) aapay.Service {
	if method == gateway.MethodPaylink {
		return r.Own()
	}
	return r.Rest
}

// Initialize implements aapay.Service.
func (r Router) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return r.by(req.Method).Initialize(ctx, typ, req)
}

// InitializeWithIdempotency implements aapay.Service.
func (r Router) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return r.by(req.Method).InitializeWithIdempotency(ctx, key, typ, req)
}

// Status implements aapay.Service.
func (r Router) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	return r.by(method).Status(ctx, id, method)
}

// Used reads what any of the services knows under a reference of which this journal has nothing: a
// journal before it may have sold under it, by whatever method there was then. wire.NotFound where none
// of them knows anything.
func (r Router) Used(ctx context.Context, reference string) (aapay.Status, error) {
	st, err := r.Rest.Status(ctx, reference, "")
	if wire.CodeOf(err) != wire.NotFound {
		return st, err
	}
	if links, ok := r.Links.(interface {
		Used(ctx context.Context, reference string) (aapay.Status, error)
	}); ok {
		return links.Used(ctx, reference)
	}
	sold := false
	if r.Sold != nil {
		var bad error
		if sold, bad = r.Sold(ctx); bad != nil {
			return st, bad
		}
	}
	if sold {
		return st, noAccount{}.no()
	}
	return st, err
}

// noAccount stands in where no payment-link account is configured: what is owed stays owed.
type noAccount struct{}

func (noAccount) no() error {
	return wire.Errorf(wire.Unavailable, op, "no payment-link account is configured")
}

// Initialize implements aapay.Service.
func (n noAccount) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, n.no()
}

// InitializeWithIdempotency implements aapay.Service.
func (n noAccount) InitializeWithIdempotency(context.Context, wire.Key, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, n.no()
}

// Status implements aapay.Service.
func (n noAccount) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{}, n.no()
}
