package rest

import "reflect"

// Wants is what an endpoint needs of a request besides its path and body.
type Wants uint8

// The wants.
const (
	Write      Wants = 1 << iota // it changes something: an Idempotency-Key is honoured, and a lost reply leaves the outcome unknown
	NeedsKey                     // the Idempotency-Key must be there
	MayBody                      // the body may be absent, which reads as {}
	EmptyArray                   // [] reads as {}: some writers know no other empty object
	CheckFirst                   // a Client applies the request's rules before it sends
	SendsNone                    // a Client sends no body: a Handler reads one, and the service ignores it
)

// Info is what an endpoint is known by: what documents, the local port and the store-and-forward queue read.
type Info struct {
	Op, What, Example string
	Method, Path      string
	Status            int
	Also              []int
	Wants             Wants
	May               []string // as in Endpoint
	In, Out           reflect.Type
	Params            []Param // in the order of In
	HasBody           bool    // In has a body
	Pends             bool    // a write whose Out may hold a pending operation, which is answered 202 with a Location
}

// WithExample is i with an example of a request's body.
func (i Info) WithExample(text string) Info {
	i.Example = text
	return i
}

// Write returns whether the endpoint changes something.
func (i Info) Write() bool { return i.Wants&Write != 0 }

// Param is a field of a request that stands in its address.
type Param struct {
	Name  string
	Place string // "path" or "query"
	Type  reflect.Type
	Max   int // bytes of a text: the tag `max:"64"`, or MaxID; 0, the tag `max:"-"`: the request's Check has its rule
	index []int
}

// Of returns the parameter's field of a request.
func (p Param) Of(in reflect.Value) reflect.Value { return in.FieldByIndex(p.index) }
