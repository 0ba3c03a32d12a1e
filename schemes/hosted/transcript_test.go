package hosted_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of the service.
type call struct {
	Op     string               `json:"op"`
	Key    wire.Key             `json:"key"`
	ID     string               `json:"id"`
	Amount hosted.Text          `json:"amount"`
	Build  *hosted.BuildRequest `json:"build"`
	Post   *hosted.PostRequest  `json:"post"`
}

// result is what it comes to.
type result struct {
	Built   *hosted.Built        `json:"built"`
	State   *hosted.SessionState `json:"state"`
	Card    *hosted.CardData     `json:"card"`
	Methods *hosted.MethodList   `json:"methods"`
	Report  *hosted.Report       `json:"report"`
	Posted  *hosted.Posted       `json:"posted"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, s hosted.Sessions, o hosted.Orders) (result, error) {
	var posted hosted.Posted
	var state hosted.SessionState
	var err error
	switch c.Op {
	case "build":
		out, err := s.Build(ctx, c.Key, *c.Build)
		return result{Built: &out}, err
	case "card":
		out, err := s.Card(ctx, c.ID)
		return result{Card: &out}, err
	case "methods":
		out, err := o.Methods(ctx)
		return result{Methods: &out}, err
	case "order":
		out, err := o.Order(ctx, c.ID)
		return result{Report: &out}, err
	case "finalize":
		state, err = s.Finalize(ctx, c.Key, c.ID, c.Amount)
	case "cancel":
		state, err = s.Cancel(ctx, c.Key, c.ID)
	case "state":
		state, err = s.State(ctx, c.ID)
	case "capture":
		posted, err = o.Capture(ctx, c.Key, c.ID, *c.Post)
	case "refund":
		posted, err = o.Refund(ctx, c.Key, c.ID, *c.Post)
	case "undo":
		posted, err = o.Cancel(ctx, c.Key, c.ID, *c.Post)
	}
	if c.Post != nil {
		return result{Posted: &posted}, err
	}
	return result{State: &state}, err
}

// correlated checks the Correlation-Id of a request, fresh for each, and sends the transcripts' own.
type correlated struct {
	t    *testing.T
	next wire.Doer
	seen map[string]bool
}

func (c correlated) Do(req *http.Request) (*http.Response, error) {
	id := req.Header.Get(hosted.CorrelationHeader)
	require.Regexp(c.t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`), id)
	require.NotContains(c.t, c.seen, id, "a new one for every call")
	c.seen[id] = true
	req.Header.Set(hosted.CorrelationHeader, hostedtest.Correlation)
	return c.next.Do(req)
}

func TestClientAlone(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				srv := tr.Server(t)
				client := &hosted.Client{BaseURL: wiretest.BaseURL, APIKey: "demo-api-key", Doer: correlated{t, srv, seen}}
				got, err := c.on(t.Context(), client.Sessions(), client.Orders())
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want, got)
					return
				}
				want.Check(t, err)
				for _, secret := range []string{"demo-api-key", "4111111111111111"} {
					require.NotContains(t, err.Error(), secret)
				}
			})
		}
	}
}

// scripted is a service that expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

func (s *scripted) answer(got call) (result, error) {
	s.hits++
	require.Equal(s.t, s.want, got)
	if s.give.Code != "" {
		return result{Built: &hosted.Built{}, State: &hosted.SessionState{}, Card: &hosted.CardData{}, Methods: &hosted.MethodList{}, Report: &hosted.Report{}, Posted: &hosted.Posted{}}, s.give.Err()
	}
	return s.give, nil
}

func (s *scripted) Build(_ context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	res, err := s.answer(call{Op: "build", Key: key, Build: &req})
	return *res.Built, err
}

func (s *scripted) Finalize(_ context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
	res, err := s.answer(call{Op: "finalize", Key: key, ID: id, Amount: amount})
	return *res.State, err
}

func (s *scripted) Cancel(_ context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	res, err := s.answer(call{Op: "cancel", Key: key, ID: id})
	return *res.State, err
}

func (s *scripted) State(_ context.Context, id string) (hosted.SessionState, error) {
	res, err := s.answer(call{Op: "state", ID: id})
	return *res.State, err
}

func (s *scripted) Card(_ context.Context, id string) (hosted.CardData, error) {
	res, err := s.answer(call{Op: "card", ID: id})
	return *res.Card, err
}

// later is the other half.
type later struct{ *scripted }

func (s later) Methods(context.Context) (hosted.MethodList, error) {
	res, err := s.answer(call{Op: "methods"})
	return *res.Methods, err
}

func (s later) Order(_ context.Context, id string) (hosted.Report, error) {
	res, err := s.answer(call{Op: "order", ID: id})
	return *res.Report, err
}

func (s later) Capture(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	res, err := s.answer(call{Op: "capture", Key: key, ID: id, Post: &req})
	return *res.Posted, err
}

func (s later) Refund(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	res, err := s.answer(call{Op: "refund", Key: key, ID: id, Post: &req})
	return *res.Posted, err
}

func (s later) Cancel(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	res, err := s.answer(call{Op: "undo", Key: key, ID: id, Post: &req})
	return *res.Posted, err
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, hosted.Handler(svc, later{svc}, hosted.HandlerOptions{}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	rows := hosted.Reasons()
	for _, code := range wire.Codes() {
		rows = append(rows, wire.Error{Code: code})
	}
	require.Greater(t, len(rows), 30)
	post, build := hosted.PostRequest{}, hostedtest.Good()
	for _, row := range rows {
		row.Msg, row.RetryAfter = "because", 3*time.Second
		svc := &scripted{t: t, give: result{Failure: wiretest.Failure{Code: row.Code, Reason: row.Reason, Msg: row.Msg, RetryAfter: 3}}}
		client := &hosted.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(hosted.Handler(svc, later{svc}, hosted.HandlerOptions{}))}
		for _, c := range []call{
			{Op: "build", Build: &build}, {Op: "finalize", ID: "s"}, {Op: "cancel", ID: "s"}, {Op: "state", ID: "s"}, {Op: "card", ID: "s"}, {Op: "methods"}, {Op: "order", ID: "o"},
			{Op: "capture", Key: "k", ID: "7", Post: &post}, {Op: "refund", Key: "k", ID: "7", Post: &post}, {Op: "undo", Key: "k", ID: "7", Post: &post},
		} {
			svc.want = c
			_, err := c.on(t.Context(), client.Sessions(), client.Orders())
			var e *wire.Error
			require.ErrorAs(t, err, &e)
			want := row.Reason
			switch {
			case row.Code == wire.Invalid && want == "":
				want = hosted.BadParameter // what is not said is a parameter
			case row.Code == wire.KeyReused:
				want = ""
			}
			require.Equal(t, row.Code, e.Code, c.Op)
			require.Equal(t, want, e.Reason, c.Op)
			require.Equal(t, "hosted."+c.Op, e.Op)
			require.Equal(t, 3*time.Second, e.RetryAfter)
		}
	}
	// An error without a code is Internal and keeps its words to itself.
	client := &hosted.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(hosted.Handler(nil, broken{}, hosted.HandlerOptions{}))}
	_, err := client.Orders().Methods(t.Context())
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.NotContains(t, err.Error(), "secret")
}

type broken struct{ later }

func (broken) Methods(context.Context) (hosted.MethodList, error) {
	return hosted.MethodList{}, errors.New("dsn=secret")
}
