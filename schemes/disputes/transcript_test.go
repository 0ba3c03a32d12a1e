package disputes_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of a Service; texts are the contents of its documents.
type call struct {
	Op     string                  `json:"op"`
	Key    wire.Key                `json:"key"`
	ID     string                  `json:"id"`
	Limit  int64                   `json:"limit"`
	Create *disputes.CreateRequest `json:"create"`
	List   *disputes.ListRequest   `json:"list"`
	Queue  *disputes.QueueRequest  `json:"queue"`
	Update *disputes.UpdateRequest `json:"update"`
	Docs   []document              `json:"documents"`
}

type document struct{ ID, Type, Mime, Text string }

// result is what it comes to.
type result struct {
	Created *disputes.CreateReply `json:"created"`
	Listed  *disputes.ListReply   `json:"listed"`
	Queued  *disputes.QueueReply  `json:"queued"`
	Updated *disputes.UpdateReply `json:"updated"`
	File    *file                 `json:"file"`
	Public  *disputes.PublicKey   `json:"public"`
	wiretest.Failure
}

type file struct{ Name, Description, Text string }

// complete gives the requests their documents.
func (c *call) complete() {
	var list []disputes.Document
	for _, d := range c.Docs {
		list = append(list, disputes.Document{Binary: disputes.Bytes([]byte(d.Text)), ID: d.ID, Type: d.Type, MimeType: d.Mime})
	}
	if c.Create != nil {
		c.Create.DocumentsList = list
	}
	if c.Update != nil {
		c.Update.DocumentsList = list
	}
}

// text writes a call down: contents by their digests.
func (c call) text(t *testing.T) string {
	var out []string
	add := func(data []byte, err error) {
		require.NoError(t, err)
		out = append(out, string(data))
	}
	if c.Create != nil {
		add(wire.Encode(*c.Create))
	}
	if c.List != nil {
		add(wire.Encode(*c.List))
	}
	if c.Queue != nil {
		add(wire.Encode(*c.Queue))
	}
	if c.Update != nil {
		add(wire.Encode(*c.Update))
	}
	return c.Op + " " + string(c.Key) + " " + c.ID + " " + strings.Join(out, " ")
}

type service interface {
	disputes.Service
	disputes.Keys
}

func read(t *testing.T, b disputes.Binary) string {
	r, err := b.Open()
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(data)
}

func (c call) on(t *testing.T, ctx context.Context, svc service) (out result, err error) {
	switch c.Op {
	case "create":
		got, err := svc.Create(ctx, c.Key, *c.Create)
		return result{Created: &got}, err
	case "list":
		got, err := svc.List(ctx, *c.List)
		return result{Listed: &got}, err
	case "queue":
		got, err := svc.Queue(ctx, *c.Queue)
		return result{Queued: &got}, err
	case "update":
		got, err := svc.Update(ctx, c.Key, c.ID, *c.Update)
		return result{Updated: &got}, err
	case "key":
		got, err := svc.PublicKey(ctx)
		return result{Public: &got}, err
	}
	got, err := svc.Document(ctx, c.ID, c.Limit)
	if err != nil {
		return result{}, err
	}
	text := read(t, got.Content)
	return result{File: &file{got.Name, got.Description, text}}, got.Close()
}

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				c.complete()
				srv := tr.Server(t)
				got, err := c.on(t, t.Context(), &disputes.Client{BaseURL: wiretest.BaseURL, Doer: srv, Dir: t.TempDir()})
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want, got)
					return
				}
				want.Check(t, err)
				for _, secret := range []string{sealed, "Ann Holder", "pass-canary"} {
					require.NotContains(t, err.Error(), secret)
				}
			})
		}
	}
}

// sealed is the encrypted card number of the transcripts.
var sealed = strings.Repeat("QUFB", 85) + "QQ=="

// scripted is a Service that expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

func (s *scripted) answer(got call) error {
	s.hits++
	require.Equal(s.t, s.want.text(s.t), got.text(s.t))
	var docs []disputes.Document
	if got.Create != nil {
		docs = got.Create.DocumentsList
	}
	if got.Update != nil {
		docs = got.Update.DocumentsList
	}
	for i, d := range docs {
		require.Equal(s.t, s.want.Docs[i].Text, read(s.t, d.Binary))
	}
	return s.give.Err()
}

func given[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

func (s *scripted) Create(_ context.Context, key wire.Key, req disputes.CreateRequest) (disputes.CreateReply, error) {
	err := s.answer(call{Op: "create", Key: key, Create: &req})
	return given(s.give.Created), err
}

func (s *scripted) List(_ context.Context, req disputes.ListRequest) (disputes.ListReply, error) {
	err := s.answer(call{Op: "list", List: &req})
	return given(s.give.Listed), err
}

func (s *scripted) Queue(_ context.Context, req disputes.QueueRequest) (disputes.QueueReply, error) {
	err := s.answer(call{Op: "queue", Queue: &req})
	return given(s.give.Queued), err
}

func (s *scripted) Update(_ context.Context, key wire.Key, id string, req disputes.UpdateRequest) (disputes.UpdateReply, error) {
	err := s.answer(call{Op: "update", Key: key, ID: id, Update: &req})
	return given(s.give.Updated), err
}

func (s *scripted) Document(_ context.Context, id string, limit int64) (disputes.File, error) {
	require.Equal(s.t, s.want.Limit, limit)
	if err := s.answer(call{Op: "document", ID: id}); err != nil {
		return disputes.File{}, err
	}
	f := given(s.give.File)
	return disputes.File{Name: f.Name, Description: f.Description, Content: disputes.Bytes([]byte(f.Text)), Close: func() error { return nil }}, nil
}

func (s *scripted) PublicKey(context.Context) (disputes.PublicKey, error) {
	err := s.answer(call{Op: "key"})
	return given(s.give.Public), err
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			svc.want.complete()
			tr.Serve(t, disputes.Handler(svc, svc, disputes.HandlerOptions{Dir: t.TempDir()}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

// failing is a Service that always fails.
type failing struct{ err error }

func (f failing) Create(context.Context, wire.Key, disputes.CreateRequest) (disputes.CreateReply, error) {
	return disputes.CreateReply{}, f.err
}

func (f failing) List(context.Context, disputes.ListRequest) (disputes.ListReply, error) {
	return disputes.ListReply{}, f.err
}

func (f failing) Queue(context.Context, disputes.QueueRequest) (disputes.QueueReply, error) {
	return disputes.QueueReply{}, f.err
}

func (f failing) Update(context.Context, wire.Key, string, disputes.UpdateRequest) (disputes.UpdateReply, error) {
	return disputes.UpdateReply{}, f.err
}

func (f failing) Document(context.Context, string, int64) (disputes.File, error) {
	return disputes.File{}, f.err
}

func (f failing) PublicKey(context.Context) (disputes.PublicKey, error) {
	return disputes.PublicKey{}, f.err
}

func calls() []call {
	return []call{
		{Op: "create", Key: "k", Create: &disputes.CreateRequest{OperatorTransactionID: "p", OperatorFraudReasonCode: "F1"}},
		{Op: "list", List: &disputes.ListRequest{CaseNumber: "1"}}, {Op: "queue", Queue: &disputes.QueueRequest{QueueID: 7000}},
		{Op: "update", ID: "1", Update: &disputes.UpdateRequest{CloseDispute: disputes.Yes}}, {Op: "document", ID: "d"}, {Op: "key"},
	}
}

func through(svc service) *disputes.Client {
	return &disputes.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(disputes.Handler(svc, svc, disputes.HandlerOptions{}))}
}

// Every code and every reason of S1 7 survives client and handler, on every route; and a second handler and client behind them,
// as the terminal puts there.
func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	var all []wire.Problem
	for _, code := range wire.Codes() {
		all = append(all, wire.Problem{Code: code})
	}
	for _, reason := range []string{disputes.NoMatch, disputes.Missing, disputes.BadAmount, disputes.Exists, disputes.BadDate, disputes.WrongStatus} {
		all = append(all, wire.Problem{Code: disputes.Refused("", reason, "").Code, Reason: reason})
	}
	for _, p := range all {
		for _, c := range calls() {
			problem := c.Op == "document" || c.Op == "key"
			if problem && disputes.Meaning(p.Reason) != "" {
				continue // no case is made there
			}
			err := &wire.Error{Code: p.Code, Reason: p.Reason, Msg: disputes.Meaning(p.Reason) + "because", RetryAfter: 3 * time.Second}
			want := p.Reason
			if p.Code == wire.Internal && !problem {
				want = disputes.SystemError
			}
			for hops, svc := 1, service(through(failing{err})); hops < 3; hops, svc = hops+1, through(svc) {
				_, err := c.on(t, t.Context(), svc)
				require.Equal(t, p.Code, wire.CodeOf(err), "%s %v", c.Op, err)
				require.Equal(t, want, wire.ReasonOf(err), "%s %v", c.Op, err)
				if p.Code != wire.Internal {
					require.Contains(t, err.Error(), disputes.Meaning(p.Reason)+"because")
				}
			}
		}
	}
	// An error without a code is Internal and keeps its words to itself.
	for _, c := range calls() {
		_, err := c.on(t, t.Context(), through(failing{errors.New("dsn=secret")}))
		require.Equal(t, wire.Internal, wire.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestWhatWasProvablyNotSent(t *testing.T) {
	for _, c := range calls() {
		_, err := c.on(t, t.Context(), &disputes.Client{BaseURL: "http://a b", Doer: http.DefaultClient})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.on(t, ctx, &disputes.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(nil)})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.ErrorIs(t, err, context.Canceled)
	}
}
