package tokens_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// broken is a service with one fault.
type broken struct {
	*tokenstest.Fake
	fault string
}

var faults = [...]string{"forgets keys", "keys by key alone", "takes everything", "quotes the card", "new token each time", "does not know is unavailable", "card of nobody", "verifies another"}

func (b broken) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	switch {
	case b.fault == "forgets keys" && key != "a b":
		key = ""
	case b.fault == "keys by key alone" && req.Description != "":
		req.Description, req.TokenSecret = "same", "same"
	case b.fault == "takes everything":
		req = tokens.CreateRequest{}
	}
	out, err := b.Fake.Create(ctx, key, req)
	if b.fault == "quotes the card" && err != nil {
		return out, &wire.Error{Code: wire.CodeOf(err), Reason: wire.ReasonOf(err), Msg: err.Error() + req.CardDetails.PAN.Reveal()}
	}
	return out, err
}

func (b broken) Verify(ctx context.Context, key wire.Key, id string) (tokens.Created, error) {
	out, err := b.Fake.Verify(ctx, key, id)
	if b.fault == "verifies another" && err == nil {
		out.TokenizationID += "0"
	}
	return out, err
}

func (b broken) Token(ctx context.Context, id string) (tokens.TokenReply, error) {
	out, err := b.Fake.Token(ctx, id)
	switch {
	case b.fault == "new token each time" && err == nil:
		out.Token = wire.Secret(wire.NewKey())
	case b.fault == "does not know is unavailable" && wire.CodeOf(err) == wire.NotFound:
		err = wire.Errorf(wire.Unavailable, "", "not found")
	case b.fault == "card of nobody" && wire.ReasonOf(err) == tokens.CardMissing:
		return tokens.TokenReply{Token: "t"}, nil
	}
	return out, err
}

// TestOneService runs the suite on the service that the environment names: without one, on the good fake.
func TestOneService(t *testing.T) {
	tokenstest.Run(t, fixture(broken{fake(), os.Getenv("TOKENS_FAULT")}))
}

// The suite is worth something only if it fails on a service that is wrong.
func TestTheSuiteCatchesEachFault(t *testing.T) {
	for _, fault := range faults {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneService$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "TOKENS_FAULT="+fault)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, fault)
		require.True(t, strings.Contains(string(out), "--- FAIL: TestOneService"), "%s: %s", fault, out)
	}
}

// A service behind Handler is never asked about a request that breaks a stateless rule.
func TestHandlerChecksBeforeItAsks(t *testing.T) {
	client := &tokens.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(tokens.Handler(nil, tokens.HandlerOptions{}))}
	for _, c := range tokenstest.Broken() {
		req := fixture(nil).Request()
		c.Break(&req)
		_, err := client.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
	for _, c := range tokenstest.BrokenRecurring() {
		req := fixture(nil).Recurring()
		c.Break(&req)
		_, err := client.CreateRecurring(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
}
