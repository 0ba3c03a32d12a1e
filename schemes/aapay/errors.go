package aapay

import (
	"errors"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// The codes of this service: every code of package wire survives its wire, because the code stands in
// the fault's params (wire.WriteFault). From a foreign service, by status, the first five only with
// the service's own body:
//
//	400  Invalid
//	404  NotFound
//	409  KeyReused on the idempotent route, else Conflict
//	422  KeyReused on the idempotent route, else Invalid
//	500  Internal on a status read
//	401  Unauthorized
//	403  Forbidden
//	429  TooMany, with RetryAfter
//
// Everything else, and every body that is not what the status promises, is UnknownOutcome on an initialize
// and Unavailable on a status read.

// ContentType is sent with requests and answers (S1 4.3, 9).
const ContentType = "application/json;charset=utf-8;version=" + version

const version = "2.0"

// ErrNoRoute is in an error of an initialize that met 404, 405 or 501, whatever the body: the service
// may not have the route, or something on the way answered in its place. The Code says what the answer
// proves for itself.
var ErrNoRoute = errors.New("no such route was found")

// shape is how the service says no.
type shape struct{ rest.Faults }

// Refusal implements rest.Shape.
func (s shape) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error {
	e := s.Faults.Refusal(c, a, keyed)
	switch a.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		if c.Write {
			e.Err = ErrNoRoute
		}
	}
	return e
}
