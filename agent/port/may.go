package port

import (
	"context"

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

// deed is what a caller needs for an operation: all of the words and, where it sees what others made, the sight of everything.
type deed struct {
	words []string
	sees  string // says what it sees; "" = only what the caller made
}

func words(list ...string) deed { return deed{words: list} }

// deeds has each operation of the services that are asked for words here.
var deeds = map[string]deed{
	"payments.create": words(mayPay), "payments.authorize": words(mayPay), "payments.cancel": words(mayPay), "payments.capture": words(mayPay),
	"payments.refund": words(mayRefund), "payments.read": words(mayRead),
	"tokens.create": words(mayTokens), "tokens.recurring": words(mayTokens), "tokens.verify": words(mayTokens), "tokens.token": words(mayTokens),
	"methods.list":    words(mayRead),
	"paylinks.create": words(mayLinks), "paylinks.read": words(mayRead), "paylinks.delete": words(mayLinks),
	"paylinks.transaction": words(mayRead), "paylinks.charge": words(mayLinks), "paylinks.capture": words(mayLinks),
	"paylinks.refund": words(mayLinks, mayRefund), "paylinks.cancel": words(mayLinks),
	"paylinks.list":  {words: []string{mayRead}, sees: "list the account's transactions"},
	"paylinks.check": words(), // it is answered by the signature alone
}

// asking asks what a caller may before the service is asked. It panics where an endpoint has no row: a new one must not pass by.
func asking(infos []rest.Info) func(context.Context, *rest.Asked) (any, error) {
	for _, i := range infos {
		if _, ok := deeds[i.Op]; !ok {
			panic("port: " + i.Op + ": nothing says who may")
		}
	}
	return func(ctx context.Context, a *rest.Asked) (any, error) {
		d, ok := deeds[a.Op]
		if !ok {
			return nil, wire.Errorf(wire.Internal, a.Op, "nothing says who may")
		}
		if err := wire.Allow(ctx, a.Op, d.words...); err != nil {
			return nil, err
		}
		if d.sees != "" {
			if err := wire.Everything(ctx, a.Op, d.sees); err != nil {
				return nil, err
			}
		}
		return a.Do(ctx)
	}
}
