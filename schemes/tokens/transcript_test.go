package tokens_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

const visa = "4111111111111111"

// fixture makes good requests.
func fixture() tokenstest.Fixture {
	return tokenstest.Fixture{Card: tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2030, ExpiryMonth: 12, ValidationCode: "123"}}
}

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: tokens.API(), Reasons: tokens.Problems(), Fault: (*tokens.Fault)(nil), Secrets: []string{visa, "shh-1", "123 wrong"},
		Client: func(base string, d wire.Doer) []rest.Bound {
			return tokens.Table().Bind(&tokens.Client{BaseURL: base, Doer: d})
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	transcripts().CodesSurvive(t, func(t *testing.T, internal error) {
		var f *tokens.Fault
		require.ErrorAs(t, internal, &f)
		require.Equal(t, tokens.Netaxept, f.System)
	})
}

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts().NeverSent(t) }

// A card, its code, a secret and a token never appear where they are not sent on purpose.
func TestNothingSecretIsMarshalledByAccident(t *testing.T) {
	f := fixture()
	_, err := json.Marshal(f.Request())
	require.ErrorContains(t, err, "card number")
	text, err := json.Marshal(f.Recurring())
	require.NoError(t, err)
	require.NotContains(t, string(text), "my-token-secret")
	text, err = json.Marshal(tokens.TokenReply{Token: "secret-token-1"})
	require.NoError(t, err)
	require.NotContains(t, string(text), "secret-token-1")
	text, err = wire.Encode(tokens.TokenReply{Token: "secret-token-1"})
	require.NoError(t, err)
	require.JSONEq(t, `{"token":"secret-token-1"}`, string(text))
}

// A service behind Handler is never asked about a request that breaks a stateless rule.
func TestHandlerChecksBeforeItAsks(t *testing.T) {
	f := fixture()
	client := &tokens.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(tokens.Handler(nil, tokens.HandlerOptions{}))}
	for _, c := range tokenstest.Broken() {
		req := f.Request()
		c.Break(&req)
		_, err := client.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
	for _, c := range tokenstest.BrokenRecurring() {
		req := f.Recurring()
		c.Break(&req)
		_, err := client.CreateRecurring(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
}
