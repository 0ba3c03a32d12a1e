package gateway

import (
	"context"

	"posagent/agent/outbox"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// The kinds of the tokens' writes.
const (
	KindTokenCreate    = "tokens.create"
	KindTokenRecurring = "tokens.recurring"
	KindTokenVerify    = "tokens.verify"
)

// tokenRows are the tokens' part of the table. An orphan token moves no money.
func tokenRows() []Row {
	row := func(kind, note string, makes bool, pending string, adapt func(*Front) adapter) Row {
		return Row{
			Kind: kind, Service: Tokens, Thing: "token", Makes: makes, Offline: Limited, Replay: outbox.Safe, Keyless: outbox.Safe, Breaks: makes,
			Note: note, Pending: pending, Risk: laterYes, adapt: adapt,
		}
	}
	const stored, asked = `{"tokenizationId":"L<key>"}`, `{"tokenizationId":"<as asked>"}`
	return []Row{
		row(KindTokenCreate, "card to store", true, stored, withToken(KindTokenCreate, func(svc tokens.Service, ctx context.Context, key wire.Key, _ string, req tokens.CreateRequest) (tokens.Created, error) {
			return svc.Create(ctx, key, req)
		})),
		row(KindTokenRecurring, "recurring terms", true, stored, withToken(KindTokenRecurring, func(svc tokens.Service, ctx context.Context, key wire.Key, _ string, req tokens.RecurringRequest) (tokens.Created, error) {
			return svc.CreateRecurring(ctx, key, req)
		})),
		row(KindTokenVerify, "card check", false, asked, withToken(KindTokenVerify, func(svc tokens.Service, ctx context.Context, key wire.Key, id string, _ struct{}) (tokens.Created, error) {
			return svc.Verify(ctx, key, id)
		})),
	}
}

// withToken is what a write does with the service.
func withToken[R any](kind string, do func(tokens.Service, context.Context, wire.Key, string, R) (tokens.Created, error)) func(*Front) adapter {
	return func(f *Front) adapter {
		svc := f.o.Tokens
		return adapter{send: func(ctx context.Context, key wire.Key, id string, body []byte) (reply, error) {
			req, err := wire.Parse[R](kind, body)
			if err != nil {
				return reply{}, err
			}
			c, err := do(svc, ctx, key, id, req)
			return reply{made: c.TokenizationID, body: c, pending: c.Operation != nil}, err
		}}
	}
}

// Tokens is the tokenization service that stores what the backend does not take.
func (f *Front) Tokens() tokens.Service { return tokenFront{f} }

// tokenFront implements the contract. It writes out every method: a new one must not pass the outbox by.
type tokenFront struct{ f *Front }

var _ tokens.Service = tokenFront{}

// Create implements tokens.Service.
func (s tokenFront) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	if err := check.Request(KindTokenCreate, req); err != nil {
		return tokens.Created{}, err
	}
	b := s.f.rows[KindTokenCreate]
	w := write{row: b, key: key}
	var err error
	if w.body, err = encodeBody(b, req); err != nil {
		return tokens.Created{}, err
	}
	w.same, w.keep = w.body, w.body
	if c := req.CardDetails; c != nil && c.ValidationCode != "" { // it is never written
		card := *c
		card.ValidationCode, req.CardDetails, w.part = "", &card, true
		if w.same, err = encodeBody(b, req); err != nil {
			return tokens.Created{}, err
		}
		w.keep = w.same
	}
	if s.f.o.RefuseCards && req.CardDetails != nil {
		req.CardDetails, w.part = nil, true
		if w.keep, err = encodeBody(b, req); err != nil {
			return tokens.Created{}, err
		}
	}
	return s.write(ctx, w)
}

// CreateRecurring implements tokens.Service.
func (s tokenFront) CreateRecurring(ctx context.Context, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	if err := check.Request(KindTokenRecurring, req); err != nil {
		return tokens.Created{}, err
	}
	b := s.f.rows[KindTokenRecurring]
	body, err := encodeBody(b, req)
	if err != nil {
		return tokens.Created{}, err
	}
	return s.write(ctx, write{row: b, key: key, body: body, keep: body, same: body})
}

// Verify implements tokens.Service.
func (s tokenFront) Verify(ctx context.Context, key wire.Key, id string) (tokens.Created, error) {
	if err := tokens.CheckID(id); err != nil {
		return tokens.Created{}, err
	}
	body := []byte("{}")
	return s.write(ctx, write{row: s.f.rows[KindTokenVerify], key: key, id: id, body: body, keep: body, same: body})
}

func (s tokenFront) write(ctx context.Context, w write) (tokens.Created, error) {
	a, err := s.f.do(ctx, w)
	if err != nil {
		return tokens.Created{}, err
	}
	out := tokens.Created{TokenizationID: w.id, Operation: a.pending}
	if w.row.Makes {
		out.TokenizationID = a.local
	}
	err = readAnswer(w.row, a, &out)
	if !w.row.Makes {
		out.TokenizationID = w.id // what was asked for, by whichever of its ids
	}
	return out, err
}

// Token implements tokens.Service, by any of a tokenization's ids. A token needs the backend: while it does not know the
// tokenization this is Unavailable.
func (s tokenFront) Token(ctx context.Context, id string) (tokens.TokenReply, error) {
	if err := tokens.CheckID(id); err != nil {
		return tokens.TokenReply{}, err
	}
	const op = "tokens.token"
	var t thing
	var maker outbox.Op
	var ended end
	known := false
	err := s.f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		if t, known, err = s.f.findThing(r, "token", id); err == nil {
			_, err = s.f.ownerOf(r, op, "token", id, t, known, wire.CallerOf(ctx))
		}
		if err == nil {
			err = t.elsewhere(op)
		}
		if err != nil || !known || t.backend != "" || s.f.box == nil {
			return err
		}
		maker, ended, err = s.f.madeBy(r, t)
		return err
	})
	switch {
	case err != nil:
		return tokens.TokenReply{}, unread(op, err)
	case known && t.backend == "" && ended.State == outbox.Done:
		return tokens.TokenReply{}, wire.Errorf(wire.Conflict, op, "%s", ended.text())
	case known && t.backend == "" && ended.State != "":
		return tokens.TokenReply{}, wire.Errorf(wire.NotFound, op, "%s", ended.text())
	case known && t.backend == "" && (maker.State == outbox.Doubt || maker.State == outbox.Held):
		return tokens.TokenReply{}, wire.Errorf(wire.Unavailable, op, "%s", doubtNote(t.key))
	case known && t.backend == "":
		return tokens.TokenReply{}, wire.Errorf(wire.Unavailable, op, "stored, not yet known to the backend: operation %s", t.key)
	case known && (id == t.local || id == string(t.key)):
		id = t.backend
	}
	out, err := s.f.o.Tokens.Token(ctx, id)
	err = s.f.doubtNotFound(ctx, op, "token", id, known, err)
	if err == nil && known {
		err = s.f.keepToken(ctx, op, t, out.Token)
	}
	return out, err
}
