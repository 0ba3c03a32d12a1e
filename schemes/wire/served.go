package wire

import "context"

// Served is what the handlers below a server's outermost one say of a request, for its log and its figures. They run on the request's
// goroutine. Methods of a nil *Served do nothing.
type Served struct {
	Op string // "payments.create", "" = no endpoint has taken it
	By string // the name of the credential that was shown, never its value; "" = none was accepted
}

type servedKey struct{}

// WithServed returns a context whose request s describes.
func WithServed(ctx context.Context, s *Served) context.Context {
	return context.WithValue(ctx, servedKey{}, s)
}

// ServedOf returns what describes the request of ctx, nil where nothing does.
func ServedOf(ctx context.Context) *Served {
	s, _ := ctx.Value(servedKey{}).(*Served)
	return s
}

// Names says which endpoint has taken the request.
func (s *Served) Names(op string) {
	if s != nil {
		s.Op = op
	}
}

// Proves says whose credential was accepted.
func (s *Served) Proves(by string) {
	if s != nil {
		s.By = by
	}
}
