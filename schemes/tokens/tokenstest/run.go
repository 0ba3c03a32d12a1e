package tokenstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven. Every Key is fresh, so one service serves the whole run.
type Fixture struct {
	Service  tokens.Service
	Card     tokens.CardDetails // a card that is accepted
	Declined tokens.CardDetails // a card that is refused when it is stored or verified
	Past     string             // a day before today, DateLayout
	// Settle lets a stored call be sent; nil: answers are never pending. The cards have no validation code then: none is stored.
	Settle func(t *testing.T, op *wire.Pending)
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.True(t, f.Card.PAN.Valid())
	require.True(t, f.Declined.PAN.Valid())
	require.NotEmpty(t, f.Past)
	wiretest.Groups{
		{"create", f.create}, {"recurring", f.recurring}, {"idempotency", f.idempotency},
		{"unknown", f.unknown}, {"validation", f.validation}, {"secrets", f.secrets},
	}.Run(t, f.Wire != nil, f.wire)
}

// Request makes a good request.
func (f Fixture) Request() tokens.CreateRequest {
	card := f.Card
	return tokens.CreateRequest{
		TokenSecret: "my-token-secret", ReturnURL: "https://shop.example/back", Description: "stored for later",
		OrderDescription: "the order", PayPageConfiguration: &tokens.PayPageConfiguration{Language: "SE"}, CardDetails: &card,
	}
}

// Recurring makes a good recurring request.
func (f Fixture) Recurring() tokens.RecurringRequest {
	return tokens.RecurringRequest{
		TokenSecret: "my-token-secret", ReturnURL: "https://shop.example/back", Description: "monthly",
		OrderDescription: "the order", PayPageConfiguration: &tokens.PayPageConfiguration{Language: "EN"},
		RecurringType: tokens.Subscription, OrderNumber: "A-1", Amount: 1250, CurrencyCode: "EUR",
		RecurringExpiryDate: "2098-12-31", RecurringFrequency: 30,
	}
}

// unkeyed is no key, where the answer comes with the call.
func (f Fixture) unkeyed() wire.Key {
	if f.Settle != nil {
		return wire.NewKey()
	}
	return ""
}

// final repeats a call under its key until its answer is final. Without a key the first answer's id serves.
func (f Fixture) final(t *testing.T, key wire.Key, do func() (tokens.Created, error)) (tokens.Created, error) {
	t.Helper()
	for range 200 {
		out, err := do()
		if err != nil || out.Operation == nil {
			return out, err
		}
		require.Equal(t, wire.PendingStatus, out.Operation.Status)
		require.NotNil(t, f.Settle, "a pending answer of a service that has none")
		f.Settle(t, out.Operation)
		if out.Operation = nil; key == "" {
			return out, nil
		}
	}
	require.Fail(t, "the answer stays pending")
	panic("unreachable")
}

func (f Fixture) store(t *testing.T, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	t.Helper()
	return f.final(t, key, func() (tokens.Created, error) {
		out, err := f.Service.Create(t.Context(), key, req)
		if out.Operation != nil {
			require.Equal(t, "L"+string(out.Operation.Key), out.TokenizationID)
		}
		return out, err
	})
}

func (f Fixture) terms(t *testing.T, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	t.Helper()
	return f.final(t, key, func() (tokens.Created, error) { return f.Service.CreateRecurring(t.Context(), key, req) })
}

func (f Fixture) verify(t *testing.T, key wire.Key, id string) (tokens.Created, error) {
	t.Helper()
	return f.final(t, key, func() (tokens.Created, error) { return f.Service.Verify(t.Context(), key, id) })
}

func (f Fixture) made(t *testing.T, req tokens.CreateRequest) tokens.Created {
	t.Helper()
	out, err := f.store(t, wire.NewKey(), req)
	require.NoError(t, err)
	require.NotEmpty(t, out.TokenizationID)
	return out
}

func (f Fixture) token(t *testing.T, id string) wire.Secret {
	t.Helper()
	reply, err := f.Service.Token(t.Context(), id)
	require.NoError(t, err)
	require.NotEmpty(t, reply.Token)
	return reply.Token
}

// refused checks one reason.
func refused(t *testing.T, err error, reason string) {
	t.Helper()
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
}

func (f Fixture) create(t *testing.T) {
	t.Run("card", func(t *testing.T) {
		a, b := f.made(t, f.Request()), f.made(t, f.Request())
		require.NotEqual(t, a, b, "each tokenization has its own id")
		token := f.token(t, a.TokenizationID)
		require.Equal(t, token, f.token(t, a.TokenizationID), "a token stays")
		require.NotContains(t, token.Reveal(), f.Card.PAN.Reveal())
		verified, err := f.verify(t, wire.NewKey(), a.TokenizationID)
		require.NoError(t, err)
		require.Equal(t, a, verified)
		again, err := f.verify(t, f.unkeyed(), a.TokenizationID)
		require.NoError(t, err, "verifying twice is harmless")
		require.Equal(t, a, again)
		require.Equal(t, token, f.token(t, a.TokenizationID), "verifying does not change it")
	})
	t.Run("without a code and without a key", func(t *testing.T) {
		req := f.Request()
		card := *req.CardDetails
		card.ValidationCode = ""
		req = tokens.CreateRequest{CardDetails: &card}
		out, err := f.store(t, "", req)
		require.NoError(t, err)
		f.token(t, out.TokenizationID)
	})
	t.Run("without a card", func(t *testing.T) {
		out := f.made(t, tokens.CreateRequest{TokenSecret: "s"})
		_, err := f.Service.Token(t.Context(), out.TokenizationID)
		refused(t, err, tokens.CardMissing)
	})
	t.Run("declined", func(t *testing.T) {
		req := f.Request()
		req.CardDetails = &f.Declined
		out, err := f.store(t, wire.NewKey(), req)
		if err == nil {
			_, err = f.verify(t, wire.NewKey(), out.TokenizationID)
		}
		refused(t, err, tokens.CardNotAccepted)
	})
	t.Run("expired", func(t *testing.T) {
		req := f.Request()
		req.CardDetails.ExpiryYear, req.CardDetails.ExpiryMonth = 2001, 1
		out, err := f.store(t, wire.NewKey(), req)
		if err == nil {
			_, err = f.verify(t, wire.NewKey(), out.TokenizationID)
		}
		refused(t, err, tokens.CardExpired)
	})
}

func (f Fixture) recurring(t *testing.T) {
	for name, change := range map[string]func(*tokens.RecurringRequest){
		"subscription":  func(*tokens.RecurringRequest) {},
		"card on file":  func(r *tokens.RecurringRequest) { r.RecurringType = tokens.CardOnFile },
		"without terms": func(r *tokens.RecurringRequest) { *r = tokens.RecurringRequest{} },
	} {
		t.Run(name, func(t *testing.T) {
			req := f.Recurring()
			change(&req)
			out, err := f.terms(t, wire.NewKey(), req)
			require.NoError(t, err)
			require.NotEmpty(t, out.TokenizationID)
			verified, err := f.verify(t, wire.NewKey(), out.TokenizationID)
			require.NoError(t, err)
			require.Equal(t, out.TokenizationID, verified.TokenizationID)
			f.token(t, out.TokenizationID)
		})
	}
	t.Run("no card yet", func(t *testing.T) {
		out, err := f.terms(t, "", f.Recurring())
		require.NoError(t, err)
		_, err = f.Service.Token(t.Context(), out.TokenizationID)
		refused(t, err, tokens.CardMissing)
	})
	t.Run("already over", func(t *testing.T) {
		req := f.Recurring()
		req.RecurringExpiryDate = f.Past
		_, err := f.terms(t, wire.NewKey(), req)
		refused(t, err, tokens.ArrangementExpired)
	})
}

func (f Fixture) idempotency(t *testing.T) {
	key := wire.NewKey()
	first, err := f.store(t, key, f.Request())
	require.NoError(t, err)
	t.Run("same body gives the same answer", func(t *testing.T) {
		again, err := f.store(t, key, f.Request())
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
	t.Run("other body is refused", func(t *testing.T) {
		for name, change := range map[string]func(*tokens.CreateRequest){
			"description": func(r *tokens.CreateRequest) { r.Description += "!" },
			"card":        func(r *tokens.CreateRequest) { r.CardDetails.ExpiryMonth = r.CardDetails.ExpiryMonth%12 + 1 },
			"number":      func(r *tokens.CreateRequest) { r.CardDetails.PAN = f.Declined.PAN },
			"secret":      func(r *tokens.CreateRequest) { r.TokenSecret += "!" },
		} {
			other := f.Request()
			change(&other)
			_, err := f.store(t, key, other)
			require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%s: %v", name, err)
		}
	})
	t.Run("a key that is none", func(t *testing.T) {
		_, err := f.store(t, "a b", f.Request())
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		_, err = f.verify(t, "ä", first.TokenizationID)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	})
	t.Run("recurring", func(t *testing.T) {
		key := wire.NewKey()
		first, err := f.terms(t, key, f.Recurring())
		require.NoError(t, err)
		again, err := f.terms(t, key, f.Recurring())
		require.NoError(t, err)
		require.Equal(t, first, again)
		other := f.Recurring()
		other.Amount++
		_, err = f.terms(t, key, other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("an invalid request does not use the key up", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request()
		broken := f.Request()
		broken.CardDetails.ExpiryMonth = 13
		_, err := f.store(t, key, broken)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		_, err = f.store(t, key, req)
		require.NoError(t, err)
	})
	t.Run("at once", func(t *testing.T) {
		key := wire.NewKey()
		ids := wiretest.AtOnce(func(int) string {
			out, err := f.Service.Create(t.Context(), key, f.Request())
			if err != nil || out.Operation != nil {
				return ""
			}
			return out.TokenizationID
		})
		last, err := f.store(t, key, f.Request())
		require.NoError(t, err)
		delete(ids, "")
		delete(ids, last.TokenizationID)
		require.Empty(t, ids, "one key, one tokenization")
	})
}

func (f Fixture) unknown(t *testing.T) {
	for _, id := range []string{string(wire.NewKey()), "-1", "1;2", "1 OR 1=1", "１", "a/b", "%2f", "ünï"} {
		_, err := f.Service.Token(t.Context(), id)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
		_, err = f.verify(t, f.unkeyed(), id)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
	}
	for _, id := range []string{"", "..", "a\x00b", "a\nb", string(make([]byte, 300))} {
		_, err := f.Service.Token(t.Context(), id)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		_, err = f.verify(t, wire.NewKey(), id)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
	}
}

func (f Fixture) validation(t *testing.T) {
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			req := f.Request()
			c.Break(&req)
			_, err := f.store(t, wire.NewKey(), req)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
			if s := req.CardDetails.PAN.Reveal(); s != "" {
				require.NotContains(t, err.Error(), s)
			}
		})
	}
	for _, c := range BrokenRecurring() {
		t.Run("recurring "+c.Name, func(t *testing.T) {
			req := f.Recurring()
			c.Break(&req)
			_, err := f.terms(t, wire.NewKey(), req)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
		})
	}
}

// secrets proves that no refusal repeats what must stay secret.
func (f Fixture) secrets(t *testing.T) {
	req := f.Request()
	req.TokenSecret, req.CardDetails.ValidationCode = "canary-token-secret", "987"
	req.CardDetails.ExpiryMonth, req.ReturnURL, req.Description = 13, "canary-address", "canary\x00text"
	_, err := f.store(t, wire.NewKey(), req)
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	for _, s := range []string{req.TokenSecret.Reveal(), "987", f.Card.PAN.Reveal(), "canary"} {
		require.NotContains(t, err.Error(), s)
	}
	req = f.Request()
	req.TokenSecret, req.CardDetails.PAN, req.CardDetails.ValidationCode = "canary-token-secret", f.Declined.PAN, "987"
	out, err := f.store(t, wire.NewKey(), req)
	if err == nil {
		_, err = f.verify(t, f.unkeyed(), out.TokenizationID)
	}
	require.Error(t, err)
	for _, s := range []string{req.TokenSecret.Reveal(), "987", f.Declined.PAN.Reveal(), "canary"} {
		require.NotContains(t, err.Error(), s)
	}
}
