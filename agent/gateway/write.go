package gateway

import (
	"encoding/json"

	"posagent/schemes/wire"
)

// write is a call as a typed adapter hands it over: checked, and in one form.
type write struct {
	row      *bound
	key      wire.Key // the caller's, "" = none
	id       string   // of the thing, as the caller named it; "" where it is made
	body     []byte   // everything
	keep     []byte   // what of it may be stored
	same     []byte   // what of it is compared when the key comes again
	part     bool     // keep is not everything: answered now, or not at all
	why      string   // that part is so; "" = for secrets
	amount   int64    // minor units
	currency string
	unknown  bool   // the amount is not known: the backend takes the rest
	seen     []byte // what may be shown of the thing made without the backend
	refusal  error  // why nothing new is taken; what came before under the key is answered all the same
}

// encodeBody is a request's body, with its secrets, as it is compared, stored and sent. wire.Invalid.
func encodeBody(b *bound, req any) ([]byte, error) {
	body, err := wire.Encode(req)
	if err != nil {
		return nil, wire.Errorf(wire.Invalid, b.Kind, "request cannot be written")
	}
	return body, nil
}

// answer is what a caller is told: the backend's own Body, or Pending.
type answer struct {
	key     wire.Key
	local   string // id of what is made
	body    []byte
	pending *wire.Pending
}

// acceptance is what Accept came to.
type acceptance struct {
	key   wire.Key
	local string
	now   string // why the answer is now or never, "" = it may be stored
	fresh bool
	held  bool     // a person has to release it
	lent  bool     // its body lies here for the sender
	heard wire.Key // whose end the caller listens for already
}

// readAnswer fills out with the backend's own answer, where there is one.
func readAnswer(b *bound, a answer, out any) error {
	if a.pending != nil || len(a.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return &wire.Error{Code: wire.Internal, Op: b.Kind, Msg: "the stored answer is not readable", Err: err}
	}
	return nil
}
