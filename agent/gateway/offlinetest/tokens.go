package offlinetest

import (
	"context"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

func tokenPlans() []plan {
	return []plan{
		{"card", false, func(Story, int64, int64) []Write { return []Write{createToken(), verify(0)} }},
		{"terms", false, func(_ Story, whole, _ int64) []Write { return []Write{recurring(int32(whole)), verify(0)} }},
	}
}

func createToken() Write {
	req := tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}}
	return Write{"tokens.create", -1, false, 0, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Tokens.Create(ctx, key, req)
		return out.TokenizationID, out.Operation, err
	}}
}

func recurring(amount int32) Write {
	req := tokens.RecurringRequest{RecurringType: tokens.CardOnFile, Amount: amount, CurrencyCode: "EUR"}
	return Write{"tokens.recurring", -1, false, 0, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Tokens.CreateRecurring(ctx, key, req)
		return out.TokenizationID, out.Operation, err
	}}
}

func verify(about int) Write {
	return Write{"tokens.verify", about, false, 0, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		out, err := s.Tokens.Verify(ctx, key, id)
		return out.TokenizationID, out.Operation, err
	}}
}

// bankTokens is the bank's own contract.
type bankTokens struct{ b *Bank }

func (t bankTokens) Create(_ context.Context, key wire.Key, _ tokens.CreateRequest) (tokens.Created, error) {
	e, err := t.b.act(Effect{Key: key, Kind: "tokens.create"}, always)
	return tokens.Created{TokenizationID: e.Made}, err
}

func (t bankTokens) CreateRecurring(_ context.Context, key wire.Key, _ tokens.RecurringRequest) (tokens.Created, error) {
	e, err := t.b.act(Effect{Key: key, Kind: "tokens.recurring"}, always)
	return tokens.Created{TokenizationID: e.Made}, err
}

func (t bankTokens) Verify(_ context.Context, key wire.Key, id string) (tokens.Created, error) {
	_, err := t.b.act(Effect{Key: key, Kind: "tokens.verify", About: id}, t.b.about(id, "tokens.create", "tokens.recurring"))
	return tokens.Created{TokenizationID: id}, err
}

func (t bankTokens) Token(context.Context, string) (tokens.TokenReply, error) {
	return tokens.TokenReply{}, wire.Errorf(wire.NotFound, "tokens.token", "no such tokenization")
}
