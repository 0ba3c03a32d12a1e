package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

func schema() []store.Step { return slices.Concat(inbox.Schema(), inbox.BuildSchema()) }

// The sessions keep every promise of their contract with the builds kept.
func TestBuildsConformance(t *testing.T) {
	f := backendtest.Hosted(backendtest.Open(t))
	f.Sessions = inbox.Builds(storetest.Open(t, schema()...), f.Sessions, time.Now)
	hostedtest.Run(t, f)
}

// builder makes builds, and nothing else.
type builder struct{ hosted.Sessions }

func (builder) Build(context.Context, wire.Key, hosted.BuildRequest) (hosted.Built, error) {
	return hosted.Built{SessionID: string(wire.NewKey()), SecurityToken: wire.Secret(wire.NewKey())}, nil
}

// full is a store that takes no writes.
type full struct{ store.DB }

func (full) Write(context.Context, func(store.Tx) error) error { return errors.New("disk full") }

// A build that is not kept is not relayed: its notifications could not be told from anybody's.
func TestNoBuildIsRelayedUnkept(t *testing.T) {
	b := inbox.Builds(full{storetest.Open(t, schema()...)}, builder{}, time.Now)
	out, err := b.Build(t.Context(), "", hostedtest.Good())
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.Empty(t, out.SecurityToken)
}

func notice(t *testing.T, event, order, token string) string {
	t.Helper()
	data, err := wire.Encode(hosted.Notice{EventID: event, EventTime: "2026-11-22T10:00:00.000Z", SecurityToken: wire.Secret(token), Operation: hosted.Operation{
		OrderID: order, OperationID: "7", OperationType: hosted.Capture, OperationResult: hosted.Executed, OperationAmount: "5000", OperationCurrency: "EUR",
	}})
	require.NoError(t, err)
	return string(data)
}

func tell(h http.Handler, method, kind, body string) (int, string) {
	r := httptest.NewRequest(method, inbox.NoticesPath, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const jsonKind = "application/json; charset=UTF-8"

// A notification is taken with the token of a session of its order, once, and answered as real receivers answer.
// A sender that is refused hears KO and no more; the log says why, once a minute, and never the token.
func TestTheLogSaysWhyANotificationIsRefused(t *testing.T) {
	var text bytes.Buffer
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	b := inbox.New(inbox.Options{
		DB: storetest.Open(t, schema()...), Log: slog.New(slog.NewTextHandler(&text, nil)), Now: func() time.Time { return now },
	})
	for range 3 {
		code, body := tell(b.Notices(), http.MethodPost, jsonKind, notice(t, "e1", "order7", "a-guessed-token"))
		require.Equal(t, http.StatusInternalServerError, code)
		require.Equal(t, `{"outcome":"KO"}`, body)
	}
	require.Equal(t, 1, strings.Count(text.String(), "notification refused"), text.String())
	require.Contains(t, text.String(), "not the token of a session of this order")
	now = now.Add(time.Minute)
	r := httptest.NewRequest(http.MethodPost, inbox.WebhooksPath, strings.NewReader("{}"))
	r.Header.Set("Authorization", "another-word")
	w := httptest.NewRecorder()
	b.Handler("the-word").ServeHTTP(w, r)
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Contains(t, w.Body.String(), "[hooks] authorization_file")
	require.Contains(t, text.String(), "webhook refused")
	require.Contains(t, text.String(), "unsaid=2")
	for _, secret := range []string{"a-guessed-token", "another-word", "the-word"} {
		require.NotContains(t, text.String()+w.Body.String(), secret)
	}
}

func TestNotices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open := func() store.Journal {
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: schema(), Wrapper: storetest.Wrapper{}, Synchronous: "OFF"})
		require.NoError(t, err)
		return db
	}
	db := open()
	sessions := inbox.Builds(db, builder{}, time.Now)
	req, other := hostedtest.Good(), hostedtest.Good()
	first, err := sessions.Build(t.Context(), "", req)
	require.NoError(t, err)
	second, err := sessions.Build(t.Context(), "", req)
	require.NoError(t, err)
	foreign, err := sessions.Build(t.Context(), "", other)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	db = open() // durable
	defer func() { require.NoError(t, db.Close()) }()
	b := inbox.New(inbox.Options{DB: db})
	h, feed := b.Notices(), b.Subscribe(0)

	good := notice(t, "e1", req.Order.OrderID, first.SecurityToken.Reveal())
	for name, c := range map[string][3]string{
		"other token":         {"POST", jsonKind, notice(t, "e1", req.Order.OrderID, "guess")},
		"other order's":       {"POST", jsonKind, notice(t, "e1", req.Order.OrderID, foreign.SecurityToken.Reveal())},
		"no token":            {"POST", jsonKind, notice(t, "e1", req.Order.OrderID, "")},
		"unknown order":       {"POST", jsonKind, notice(t, "e1", "nothing", first.SecurityToken.Reveal())},
		"longer":              {"POST", jsonKind, notice(t, "e1", req.Order.OrderID, first.SecurityToken.Reveal()+"0")},
		"prefix":              {"POST", jsonKind, notice(t, "e1", req.Order.OrderID, first.SecurityToken.Reveal()[:3])},
		"two documents":       {"POST", jsonKind, good + good},
		"a form":              {"POST", "application/x-www-form-urlencoded", good},
		"nothing":             {"POST", jsonKind, ""},
		"two tokens":          {"POST", jsonKind, strings.Replace(good, "{", `{"securityToken":"x",`, 1)},
		"operation in a list": {"POST", jsonKind, `{"securityToken":"x","operation":[]}`},
		"too long":            {"POST", jsonKind, `{"a":"` + strings.Repeat("x", wire.MaxRequest) + `"}`},
	} {
		code, body := tell(h, c[0], c[1], c[2])
		require.Equal(t, http.StatusInternalServerError, code, name)
		require.Equal(t, `{"outcome":"KO"}`, body, name)
	}
	code, body := tell(h, http.MethodGet, jsonKind, "")
	require.Equal(t, http.StatusMethodNotAllowed, code)
	require.Equal(t, `{"outcome":"KO"}`, body)
	require.Empty(t, drain(t, feed))

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if code, body := tell(h, http.MethodPost, jsonKind, good); code != 200 || body != `{"outcome":"OK"}` {
					t.Error(code, body)
				}
			}
		})
	}
	wg.Wait()
	code, _ = tell(h, http.MethodPost, jsonKind, notice(t, "e2", req.Order.OrderID, second.SecurityToken.Reveal()))
	require.Equal(t, 200, code)
	for range 2 { // without an event's id
		code, _ = tell(h, http.MethodPost, jsonKind, notice(t, "", req.Order.OrderID, second.SecurityToken.Reveal()))
		require.Equal(t, 200, code)
	}
	got := drain(t, feed)
	require.Len(t, got, 3)
	for i, ref := range []string{"e1", "e2", "7/CAPTURE/EXECUTED"} {
		require.Equal(t, inbox.Hosted, got[i].Source)
		require.Equal(t, ref, got[i].Ref)
		require.Equal(t, "CAPTURE.EXECUTED", got[i].Event)
		require.Contains(t, string(got[i].Body), `"operationAmount":"5000"`)
		require.NotContains(t, string(got[i].Body), "securityToken")
	}
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, s := range []hosted.Built{first, second, foreign} {
			require.NotContains(t, string(data), s.SecurityToken.Reveal())
		}
	}
}

// many is a backend whose tokens are long enough to be looked for.
type many struct {
	hosted.Sessions
	n int
}

func (m *many) Build(context.Context, wire.Key, hosted.BuildRequest) (hosted.Built, error) {
	m.n++
	return hosted.Built{SessionID: "s" + strconv.Itoa(m.n), SecurityToken: wire.Secret("token-number-" + strconv.Itoa(m.n))}, nil
}

// The same session again, as a reply to the same Key is, keeps its first token.
func TestAKnownSessionKeepsItsToken(t *testing.T) {
	db := storetest.Open(t, schema()...)
	m := &many{}
	b, req := inbox.Builds(db, m, time.Now), hostedtest.Good()
	_, err := b.Build(t.Context(), "", req)
	require.NoError(t, err)
	m.n = 0
	_, err = b.Build(t.Context(), "", req)
	require.NoError(t, err)
	code, _ := tell(inbox.New(inbox.Options{DB: db}).Notices(), http.MethodPost, jsonKind, notice(t, "e", req.Order.OrderID, "token-number-1"))
	require.Equal(t, 200, code)
}
