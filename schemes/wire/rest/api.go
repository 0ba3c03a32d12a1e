package rest

import (
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
)

// API is what all endpoints of a service have in common.
type API struct {
	Prefix  string   // of every path: "/api/v1/tokens", without a slash at its end
	Aliases []string // other prefixes that a Handler knows; a Client writes Prefix
	Fold    bool     // paths are the same in any case of letters
	First   []string // how a path begins below a prefix that other services have too; nil = in any way
	Type    string   // content type of bodies, "" = wire.JSONType
	Shape   Shape
	// Pieces brings the pieces of a path to the form that the endpoints have; false = it is no route. nil = they have it.
	Pieces func(list []string) ([]string, bool)
	// Wrap makes the body of a success of an endpoint's Out; nil = it is the body.
	Wrap func(out any) any
	// Accept checks the headers that the service wants besides; nil = it wants none. The error is that of the request.
	Accept func(r *http.Request) error
	// Reason is the service's word for a request that cannot be read, cannot be sent or breaks a rule; nil = it has none.
	Reason func(err error) string
}

// refused is the error of a request that the service is not asked about, with the service's word for it.
func (a API) refused(op string, err error) *wire.Error {
	e := wire.AsError(op, err)
	if a.Reason != nil && e.Code == wire.Invalid && e.Reason == "" {
		e.Reason = a.Reason(err)
	}
	return e
}

// Shape is how a service says no, on both sides of its wire.
type Shape interface {
	// Refuse answers with err. log may be nil; it gets Internal errors, which no client sees.
	Refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, err *wire.Error)
	// NoRoute answers 404 for a path that the service does not have, and 405 where allow names the methods it has.
	NoRoute(w http.ResponseWriter, r *http.Request, allow string)
	// Refusal reads a reply that is no success. keyed says that the request carried a Key.
	Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error
}

// Problems is the shape of S0 7: problem bodies, with the service's own reasons.
type Problems struct{ Catalogue wire.Catalogue }

var _ Shape = Problems{}

// Refuse implements Shape.
func (p Problems) Refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, err *wire.Error) {
	wire.WriteProblem(w, r, log, err, p.Catalogue)
}

// NoRoute implements Shape.
func (p Problems) NoRoute(w http.ResponseWriter, r *http.Request, allow string) {
	wire.WriteProblemNoRoute(w, r, allow)
}

// Refusal implements Shape.
func (p Problems) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	return c.Problem(a, keyed, p.Catalogue)
}

// Faults is the shape of S1 2.4: valid=false and a list of faults.
type Faults struct{ Type string } // content type of an error

var _ Shape = Faults{}

// Refuse implements Shape.
func (f Faults) Refuse(w http.ResponseWriter, _ *http.Request, log *slog.Logger, err *wire.Error) {
	wire.WriteFault(w, log, f.Type, err)
}

// NoRoute implements Shape.
func (f Faults) NoRoute(w http.ResponseWriter, _ *http.Request, allow string) {
	if allow == "" {
		wire.WriteNoRoute(w, f.Type)
		return
	}
	wire.WriteMethodNotAllowed(w, f.Type, allow)
}

// Refusal implements Shape.
func (f Faults) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	return c.Refusal(a, keyed)
}

func (a API) contentType() string {
	if a.Type == "" {
		return wire.JSONType
	}
	return a.Type
}
