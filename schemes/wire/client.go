package wire

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// Caller is the local client on whose behalf a call is made, as the one who checked its credential knows it.
type Caller struct {
	Name string // owns what is made, and is the scope of its Idempotency-Key; "" = the terminal's own token, or no token was checked
	Own  bool   // it reaches its own things only

	Words []string // what it may do; nil = everything
}

// The words of Caller.Words that endpoints ask for.
const (
	MayRead   = "read"
	MayPay    = "pay"
	MayRefund = "refund"
	MayLinks  = "links"
	MayTokens = "tokens"
	MaySales  = "sales" // to sell through the terminal, and to see sales
	MayAll    = "all"   // to see what other clients and the backend have
)

// callerKey is where a context carries a Caller.
type callerKey struct{}

// WithCaller says on whose behalf a call is made.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(context.WithValue(ctx, callerKey{}, c), notesKey{}, &notes{})
}

// CallerOf is that client. The zero value, which reaches everything, is the answer where none was checked.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithClient is WithCaller for a client that reaches everything.
func WithClient(ctx context.Context, name string) context.Context {
	return WithCaller(ctx, Caller{Name: name})
}

// Client is the caller's name. It is the scope of the caller's Idempotency-Key: two clients may use the same one.
func Client(ctx context.Context) string { return CallerOf(ctx).Name }

// ClientOf is Client, and says whether a caller's credential was checked at all.
func ClientOf(ctx context.Context) (name string, checked bool) {
	c, checked := ctx.Value(callerKey{}).(Caller)
	return c.Name, checked
}

// Reaches tells whether the caller may see and change a thing of that owner.
func (c Caller) Reaches(owner string) bool { return !c.Own || c.Name == owner }

// May tells whether the caller may do what a word of its list stands for. A nil list allows everything.
func (c Caller) May(word string) bool { return c.Words == nil || slices.Contains(c.Words, word) }

// Allow is nil where the caller may do what each of the words stands for, else wire.Forbidden.
func Allow(ctx context.Context, op string, words ...string) error {
	c := CallerOf(ctx)
	for _, word := range words {
		if !c.May(word) {
			return deny(ctx, op, "%s may not %s: [port.clients.%s] may does not name it", c.Name, word, c.Name)
		}
	}
	return nil
}

// Everything returns nil if the caller may reach records that no client of this terminal made, else wire.Forbidden. what names the
// action in its text.
func Everything(ctx context.Context, op, what string) error {
	c := CallerOf(ctx)
	if !c.Own {
		return nil
	}
	return deny(ctx, op, "%s may not %s: [port.clients.%s] may does not name all", c.Name, what, c.Name)
}

func deny(ctx context.Context, op, format string, args ...any) error {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.denied.Store(true)
	}
	return Errorf(Forbidden, op, format, args...)
}

// notesKey is where the context of a call carries its notes.
type notesKey struct{}

// notes is what a call has come to, for the one who writes its answer.
type notes struct {
	denied atomic.Bool
	key    atomic.Value // Key
	held   atomic.Int64 // unix seconds; 0 = none
}

// Held notes that a call was answered with what the terminal had at that time, because the backend did not answer.
func Held(ctx context.Context, since time.Time) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.held.Store(since.Unix())
	}
}

// HeldSince is that time; false = the call was not answered so.
func HeldSince(ctx context.Context) (time.Time, bool) {
	n, ok := ctx.Value(notesKey{}).(*notes)
	if !ok || n.held.Load() == 0 {
		return time.Time{}, false
	}
	return time.Unix(n.held.Load(), 0), true
}

// Did notes the operation that a call came to.
func Did(ctx context.Context, key Key) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.key.Store(key)
	}
}

// OperationOf is the Key of the operation that a call came to, "" where it came to none.
func OperationOf(ctx context.Context) Key {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		key, _ := n.key.Load().(Key)
		return key
	}
	return ""
}

// Denied tells whether a wire.Forbidden of a call is about its caller, and not the backend's word about the terminal.
func Denied(ctx context.Context) bool {
	n, ok := ctx.Value(notesKey{}).(*notes)
	return ok && n.denied.Load()
}
