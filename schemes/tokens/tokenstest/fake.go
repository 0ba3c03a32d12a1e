package tokenstest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Fake is a tokens.Service in memory, enough to prove clients, handlers and callers. Now and Refused must be set before use;
// the rest of the zero value works.
type Fake struct {
	Now     func() time.Time
	Refused string // the card number that is not accepted

	mu      sync.Mutex
	entries map[string]*fakeEntry
	keys    map[wire.Key]fakeCall
	Effects int // tokenizations made
}

type fakeEntry struct {
	token   string
	refused string // Reason, "" = a good card
}

type fakeCall struct {
	body string
	out  tokens.Created
	err  error
}

var _ tokens.Service = (*Fake)(nil)

// Create implements tokens.Service.
func (f *Fake) Create(_ context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	if err := check.Request("fake", req); err != nil {
		return tokens.Created{}, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return tokens.Created{}, err
	}
	return f.once(key, "create "+string(body), func() (tokens.Created, error) {
		e := &fakeEntry{refused: tokens.CardMissing}
		if c := req.CardDetails; c != nil {
			e.refused = ""
			now := f.Now()
			switch {
			case int(c.ExpiryYear)*12+int(c.ExpiryMonth) < now.Year()*12+int(now.Month()):
				return tokens.Created{}, tokens.Refused("fake", tokens.CardExpired, "the card is expired")
			case c.PAN.Reveal() == f.Refused:
				return tokens.Created{}, tokens.Refused("fake", tokens.CardNotAccepted, "the card is not accepted")
			}
		}
		return f.add(e), nil
	})
}

// CreateRecurring implements tokens.Service.
func (f *Fake) CreateRecurring(_ context.Context, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	if err := check.Request("fake", req); err != nil {
		return tokens.Created{}, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return tokens.Created{}, err
	}
	return f.once(key, "recurring "+string(body), func() (tokens.Created, error) {
		if d := req.RecurringExpiryDate; d != "" && d < f.Now().Format(check.DateLayout) {
			return tokens.Created{}, tokens.Refused("fake", tokens.ArrangementExpired, "the arrangement is over")
		}
		return f.add(&fakeEntry{refused: tokens.CardMissing}), nil
	})
}

func (f *Fake) add(e *fakeEntry) tokens.Created {
	f.Effects++
	id := "tok-" + strconv.Itoa(f.Effects)
	e.token = "secret-token-" + strconv.Itoa(f.Effects)
	if f.entries == nil {
		f.entries = map[string]*fakeEntry{}
	}
	f.entries[id] = e
	return tokens.Created{TokenizationID: id}
}

// once performs act under the key; refusals are kept too.
func (f *Fake) once(key wire.Key, body string, act func() (tokens.Created, error)) (tokens.Created, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == "" {
		return act()
	}
	if _, err := wire.ParseKey(string(key)); err != nil {
		return tokens.Created{}, &wire.Error{Code: wire.Invalid, Op: "fake", Err: err}
	}
	if before, ok := f.keys[key]; ok {
		if before.body != body {
			return tokens.Created{}, wire.Errorf(wire.KeyReused, "fake", "key was used with another body")
		}
		return before.out, before.err
	}
	out, err := act()
	if f.keys == nil {
		f.keys = map[wire.Key]fakeCall{}
	}
	f.keys[key] = fakeCall{body, out, err}
	return out, err
}

// Verify implements tokens.Service. A simulated customer gives the card that is missing.
func (f *Fake) Verify(_ context.Context, key wire.Key, id string) (tokens.Created, error) {
	if err := tokens.CheckID(id); err != nil {
		return tokens.Created{}, err
	}
	return f.once(key, "verify "+id, func() (tokens.Created, error) {
		e := f.entries[id]
		if e == nil {
			return tokens.Created{}, wire.Errorf(wire.NotFound, "fake", "no such tokenization")
		}
		e.refused = ""
		return tokens.Created{TokenizationID: id}, nil
	})
}

// Token implements tokens.Service.
func (f *Fake) Token(_ context.Context, id string) (tokens.TokenReply, error) {
	if err := tokens.CheckID(id); err != nil {
		return tokens.TokenReply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := f.entries[id]; {
	case e == nil:
		return tokens.TokenReply{}, wire.Errorf(wire.NotFound, "fake", "no such tokenization")
	case e.refused != "":
		return tokens.TokenReply{}, tokens.Refused("fake", e.refused, "no card yet")
	default:
		return tokens.TokenReply{Token: wire.Secret(e.token)}, nil
	}
}
