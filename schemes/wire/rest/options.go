package rest

import (
	"context"
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
)

// Options adjusts a Handler. The zero value works.
type Options struct {
	Log          *slog.Logger              // gets internal errors; nil drops them
	MaxBody      int64                     // bytes of a request body; 0 means wire.MaxRequest
	Dir          string                    // of bodies under way that are too long for memory; "" = the system's folder for such things
	OperationURL func(key wire.Key) string // names a pending operation in the Location header; nil = none
	Operator     string                    // its own spellings are read too: see Normalizer
	// Open reads a request, and proves who sent it, where a service has its own form of bodies; nil = they are JSON. Nothing else
	// of a request is looked at before. values are the pieces of its path in braces.
	Open func(r *http.Request, i Info, values []string) (Opened, error)
	// Admit gets every request that Open lets through, and calls serve or answers itself; nil = serve.
	Admit func(w http.ResponseWriter, r *http.Request, o Opened, serve http.HandlerFunc)
	// Around gets every good request in place of the service, which a.Do asks; nil = a.Do. Its answer is the endpoint's Out.
	Around func(ctx context.Context, a *Asked) (any, error)
}

// Opened is a request that was read in a service's own way.
type Opened interface {
	// Read fills the In that into points at; the parameters of the address are filled after it. The error is the request's.
	Read(into any) error
	// Close lets go of what was read.
	Close()
}

// Asked is one good request: read, masked and checked.
type Asked struct {
	Info
	Key     wire.Key // the caller's, "" = none
	Request any      // the endpoint's In
	body    []byte
	release func()
	do      func(context.Context) (any, error)
}

// Do asks the service. The answer is the endpoint's Out.
func (a *Asked) Do(ctx context.Context) (any, error) { return a.do(ctx) }

// Body returns the canonical bytes of the request's body, with its secrets: what is digested, stored and sent. They are
// written once; the caller must not change them. nil = there is no body. The error is Invalid: the body cannot be written.
func (a *Asked) Body() ([]byte, error) {
	if a.body == nil && a.HasBody {
		data, err := encode(a.Op, a.Request)
		if err != nil {
			return nil, err
		}
		a.body = data
	}
	return a.body, nil
}

func encode(op string, in any) ([]byte, error) {
	data, err := wire.Encode(in)
	if err != nil {
		return nil, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written"}
	}
	return data, nil
}
