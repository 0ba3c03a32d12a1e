package wire

import "context"

// clientKey is where a context carries a client's name.
type clientKey struct{}

// WithClient says on whose behalf a call is made: the name that whoever checked the caller's credential knows it by.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

// Client is that name, "" where there is only one client or none was checked. It is the scope of the caller's
// Idempotency-Key: two clients may use the same one.
func Client(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}
