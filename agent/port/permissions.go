package port

import (
	"context"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// DefaultMay is what a client with a name may do where its Client says nothing.
func DefaultMay() []string {
	return []string{wire.MayRead, wire.MayPay, wire.MayRefund, wire.MayLinks, wire.MayTokens}
}

// permit checks what a caller may do before the service is asked. It panics where an endpoint does
// not say: a new one must not pass by.
func permit(infos []rest.Info) func(context.Context, *rest.Asked) (any, error) {
	for _, i := range infos {
		if i.May == nil {
			panic("port: " + i.Op + ": nothing says who may")
		}
	}
	return func(ctx context.Context, a *rest.Asked) (any, error) {
		if a.May == nil {
			return nil, wire.Errorf(wire.Internal, a.Op, "nothing says who may")
		}
		for _, word := range a.May {
			if err := allow(ctx, a, word); err != nil {
				return nil, err
			}
		}
		return a.Do(ctx)
	}
}

// allow checks one word.
func allow(ctx context.Context, a *rest.Asked, word string) error {
	if word == wire.MayAll { // it permits no write, but shows what others made
		return wire.Everything(ctx, a.Op, a.What)
	}
	return wire.Allow(ctx, a.Op, word)
}
