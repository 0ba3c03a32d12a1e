package tokens_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

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
	f := fixture(nil)
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
