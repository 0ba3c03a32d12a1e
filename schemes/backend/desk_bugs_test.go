package backend_test

import (
	"context"

	"posagent/schemes/onboarding"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// wrongTokens is the token service with one fault. It writes out every method: a new one must not pass by.
type wrongTokens struct {
	next  tokens.Service
	fault string
}

var _ tokens.Service = wrongTokens{}

// tokensBugs are the mistakes that the suite of tokens must find.
func tokensBugs() map[string]func(tokens.Service) tokens.Service {
	out := map[string]func(tokens.Service) tokens.Service{}
	for _, fault := range []string{
		"", "forgets keys", "keys by key alone", "takes everything", "quotes the card", "new token each time", "does not know is unavailable", "card of nobody",
		"verifies another",
	} {
		out[fault] = func(s tokens.Service) tokens.Service { return wrongTokens{s, fault} }
	}
	return out
}

func (w wrongTokens) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	switch {
	case w.fault == "forgets keys":
		key = fresh(key)
	case w.fault == "keys by key alone" && req.Description != "":
		req.Description, req.TokenSecret = "same", "same"
	}
	out, err := w.next.Create(ctx, key, req)
	switch {
	case w.fault == "takes everything" && wire.CodeOf(err) == wire.Invalid && wire.ReasonOf(err) == "":
		return w.next.Create(ctx, key, tokens.CreateRequest{})
	case w.fault == "quotes the card" && err != nil:
		err = &wire.Error{Code: wire.CodeOf(err), Reason: wire.ReasonOf(err), Msg: err.Error() + req.CardDetails.PAN.Reveal()}
	}
	return out, err
}

func (w wrongTokens) CreateRecurring(ctx context.Context, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	return w.next.CreateRecurring(ctx, key, req)
}

func (w wrongTokens) Verify(ctx context.Context, key wire.Key, id string) (tokens.Created, error) {
	out, err := w.next.Verify(ctx, key, id)
	if w.fault == "verifies another" && err == nil {
		out.TokenizationID += "0"
	}
	return out, err
}

func (w wrongTokens) Token(ctx context.Context, id string) (tokens.TokenReply, error) {
	out, err := w.next.Token(ctx, id)
	switch {
	case w.fault == "new token each time" && err == nil:
		out.Token = wire.Secret(wire.NewKey())
	case w.fault == "does not know is unavailable" && wire.CodeOf(err) == wire.NotFound:
		err = wire.Errorf(wire.Unavailable, "", "not found")
	case w.fault == "card of nobody" && wire.ReasonOf(err) == tokens.CardMissing:
		return tokens.TokenReply{Token: "t"}, nil
	}
	return out, err
}

// wrongOnboarding is the onboarding service with one fault. It writes out every method: a new one must not pass by.
type wrongOnboarding struct {
	next  onboarding.Service
	fault string
}

var _ onboarding.Service = wrongOnboarding{}

// onboardingBugs are the mistakes that the suite of onboarding must find.
func onboardingBugs() map[string]func(onboarding.Service) onboarding.Service {
	out := map[string]func(onboarding.Service) onboarding.Service{}
	for _, fault := range []string{"", "forgets keys", "edits for ever", "submits twice", "takes everything", "keeps nothing", "loses the reason"} {
		out[fault] = func(s onboarding.Service) onboarding.Service { return wrongOnboarding{s, fault} }
	}
	return out
}

func (w wrongOnboarding) Create(ctx context.Context, key wire.Key, app onboarding.Application) (onboarding.State, error) {
	if w.fault == "forgets keys" {
		key = fresh(key)
	}
	st, err := w.next.Create(ctx, key, app)
	if w.fault == "takes everything" && wire.CodeOf(err) == wire.Invalid {
		return w.next.Create(ctx, key, onboarding.Application{})
	}
	return st, err
}

func (w wrongOnboarding) Update(ctx context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	st, err := w.next.Update(ctx, key, id, app)
	switch {
	case w.fault == "edits for ever" && wire.CodeOf(err) == wire.Conflict:
		return w.Read(ctx, id)
	case w.fault == "keeps nothing":
		st.Reference = ""
	}
	return st, err
}

func (w wrongOnboarding) Submit(ctx context.Context, key wire.Key, id int64) (onboarding.State, error) {
	st, err := w.next.Submit(ctx, key, id)
	if w.fault == "submits twice" && wire.CodeOf(err) == wire.Conflict {
		return w.Read(ctx, id)
	}
	return st, err
}

func (w wrongOnboarding) Read(ctx context.Context, id int64) (onboarding.State, error) {
	st, err := w.next.Read(ctx, id)
	if w.fault == "loses the reason" {
		st.Reason = ""
	}
	return st, err
}
