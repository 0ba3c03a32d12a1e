package tokens_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of a Service.
type call struct {
	Op        string                   `json:"op"`
	Key       wire.Key                 `json:"key"`
	ID        string                   `json:"id"`
	Create    *tokens.CreateRequest    `json:"create"`
	Recurring *tokens.RecurringRequest `json:"recurring"`
}

// result is what it comes to.
type result struct {
	Created *tokens.Created `json:"created"`
	Token   wire.Secret     `json:"token"`
	Fault   *tokens.Fault   `json:"fault"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, svc tokens.Service) (result, error) {
	var out tokens.Created
	var err error
	switch c.Op {
	case "create":
		out, err = svc.Create(ctx, c.Key, *c.Create)
	case "recurring":
		out, err = svc.CreateRecurring(ctx, c.Key, *c.Recurring)
	case "verify":
		out, err = svc.Verify(ctx, c.Key, c.ID)
	default:
		reply, err := svc.Token(ctx, c.ID)
		return result{Token: reply.Token}, err
	}
	return result{Created: &out}, err
}

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				srv := tr.Server(t)
				got, err := c.on(t.Context(), &tokens.Client{BaseURL: wiretest.BaseURL, Doer: srv})
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want, got)
					return
				}
				want.Check(t, err)
				var f *tokens.Fault
				errors.As(err, &f)
				require.Equal(t, want.Fault, f)
				for _, secret := range []string{visa, "shh-1", "123 wrong"} {
					require.NotContains(t, err.Error(), secret)
				}
			})
		}
	}
}

// scripted is a Service that expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

func (s *scripted) answer(got call) (tokens.Created, error) {
	s.hits++
	require.Equal(s.t, s.want, got)
	if s.give.Fault != nil {
		return tokens.Created{}, &wire.Error{Code: s.give.Code, Msg: s.give.Msg, Err: s.give.Fault}
	}
	if err := s.give.Err(); err != nil {
		return tokens.Created{}, err
	}
	if s.give.Created == nil {
		return tokens.Created{}, nil
	}
	return *s.give.Created, nil
}

func (s *scripted) Create(_ context.Context, key wire.Key, req tokens.CreateRequest) (tokens.Created, error) {
	return s.answer(call{Op: "create", Key: key, Create: &req})
}

func (s *scripted) CreateRecurring(_ context.Context, key wire.Key, req tokens.RecurringRequest) (tokens.Created, error) {
	return s.answer(call{Op: "recurring", Key: key, Recurring: &req})
}

func (s *scripted) Verify(_ context.Context, key wire.Key, id string) (tokens.Created, error) {
	return s.answer(call{Op: "verify", Key: key, ID: id})
}

func (s *scripted) Token(_ context.Context, id string) (tokens.TokenReply, error) {
	_, err := s.answer(call{Op: "token", ID: id})
	return tokens.TokenReply{Token: s.give.Token}, err
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, tokens.Handler(svc, tokens.HandlerOptions{
				OperationURL: func(k wire.Key) string { return "/agent/v1/operations/" + string(k) },
			}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

// failing is a Service that always fails.
type failing struct{ err error }

func (f failing) Create(context.Context, wire.Key, tokens.CreateRequest) (tokens.Created, error) {
	return tokens.Created{}, f.err
}

func (f failing) CreateRecurring(context.Context, wire.Key, tokens.RecurringRequest) (tokens.Created, error) {
	return tokens.Created{}, f.err
}

func (f failing) Verify(context.Context, wire.Key, string) (tokens.Created, error) {
	return tokens.Created{}, f.err
}

func (f failing) Token(context.Context, string) (tokens.TokenReply, error) {
	return tokens.TokenReply{}, f.err
}

func calls() []call {
	f := fixture(nil)
	create, recurring := f.Request(), f.Recurring()
	return []call{
		{Op: "create", Key: "k", Create: &create}, {Op: "recurring", Recurring: &recurring}, {Op: "verify", ID: "x"}, {Op: "token", ID: "x"},
	}
}

func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	all := tokens.Problems()
	for _, code := range wire.Codes() {
		all = append(all, wire.Problem{Code: code})
	}
	for _, p := range all {
		for _, c := range calls() {
			svc := failing{&wire.Error{Code: p.Code, Reason: p.Reason, Msg: "because", RetryAfter: 3 * time.Second}}
			_, err := c.on(t.Context(), &tokens.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(tokens.Handler(svc, tokens.HandlerOptions{}))})
			require.Equal(t, p.Code, wire.CodeOf(err), "%s %v", c.Op, err)
			require.Equal(t, p.Reason, wire.ReasonOf(err), "%s %v", c.Op, err)
		}
	}
	// An error without a code is Internal and keeps its words to itself.
	for _, c := range calls() {
		client := &tokens.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(tokens.Handler(failing{errors.New("dsn=secret")}, tokens.HandlerOptions{}))}
		_, err := c.on(t.Context(), client)
		require.Equal(t, wire.Internal, wire.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
		var f *tokens.Fault
		require.ErrorAs(t, err, &f)
		require.Equal(t, tokens.Netaxept, f.System)
	}
}

func TestWhatWasProvablyNotSent(t *testing.T) {
	for _, c := range calls() {
		_, err := c.on(t.Context(), &tokens.Client{BaseURL: "http://a b", Doer: http.DefaultClient})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.on(ctx, &tokens.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(nil)})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.ErrorIs(t, err, context.Canceled)
	}
}

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
	text, err = tokens.EncodeToken(tokens.TokenReply{Token: "secret-token-1"})
	require.NoError(t, err)
	require.JSONEq(t, `{"token":"secret-token-1"}`, string(text))
}
