package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/cross/need"
	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/storetest"
)

func TestConformance(t *testing.T) {
	for _, over := range []bool{false, true} {
		b := inbox.New(inbox.Options{DB: storetest.Open(t, inbox.Schema()...)})
		feed := b.Subscribe(0)
		f := webhookstest.Fixture{Service: b, Received: func(t *testing.T) []webhooks.Event {
			var list []webhooks.Event
			for _, e := range drain(t, feed) {
				got, err := webhooks.Parse(e.Body)
				require.NoError(t, err)
				list = append(list, got)
			}
			return list
		}}
		if over {
			srv := httptest.NewServer(b.Handler("Bearer hook"))
			t.Cleanup(srv.Close)
			f.Service = &webhooks.Client{URL: srv.URL, Authorization: "Bearer hook", Doer: srv.Client()}
			f.Wire = &wiretest.Site{BaseURL: srv.URL, Doer: shown{srv.Client()}}
		}
		webhookstest.Run(t, f)
	}
}

// shown adds the credentials.
type shown struct{ wire.Doer }

func (s shown) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer hook")
	return s.Doer.Do(r)
}

// drain takes everything a feed has now.
func drain(t *testing.T, f *inbox.Feed) (list []inbox.Event) {
	for {
		e, found, err := f.Try(t.Context())
		require.NoError(t, err)
		if !found {
			return list
		}
		list = append(list, e)
	}
}

func event(id string) []byte {
	e := webhookstest.Samples()[0]
	e.ID = id
	body, err := webhooks.Marshal(e)
	if err != nil {
		panic(err)
	}
	return body
}

func post(h http.Handler, body []byte, auth ...string) int {
	r := httptest.NewRequest(http.MethodPost, inbox.WebhooksPath, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, a := range auth {
		r.Header.Add("Authorization", a)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// Ten thousand repeats of one event, eight at a time, are one row and one event for every subscription.
func TestRepeatsHaveNoSecondEffect(t *testing.T) {
	db := storetest.Open(t, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db})
	h := b.Handler("secret")
	first, second := b.Subscribe(0), b.Subscribe(0)
	body := event(webhooks.NewID())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range need.Size(100, 1250) {
				if code := post(h, body, "secret"); code != 200 {
					t.Errorf("answered %d", code)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, drain(t, first), 1)
	got := drain(t, second)
	require.Len(t, got, 1)
	require.Equal(t, body, got[0].Body)
	require.Equal(t, "payment.created", got[0].Event)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		var n int
		require.NoError(t, r.QueryRow(`SELECT count(*) FROM inbox_event`).Scan(&n))
		require.Equal(t, 1, n)
		return nil
	}))
}

// broken refuses the commit.
type broken struct {
	store.DB
	err error
}

func (d *broken) Write(ctx context.Context, fn func(store.Tx) error) error {
	return d.DB.Write(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), d.err) })
}

func TestNothingIsAcknowledgedBeforeItsCommit(t *testing.T) {
	db := &broken{storetest.Open(t, inbox.Schema()...), errors.New("disk full")}
	b := inbox.New(inbox.Options{DB: db})
	h, feed := b.Handler("secret"), b.Subscribe(0)
	body := event(webhooks.NewID())
	require.Equal(t, 500, post(h, body, "secret"))
	require.Empty(t, drain(t, feed))
	db.err = nil
	require.Equal(t, 200, post(h, body, "secret"))
	require.Len(t, drain(t, feed), 1)
}

func TestOnlyTheConfiguredSenderIsHeard(t *testing.T) {
	b := inbox.New(inbox.Options{DB: storetest.Open(t, inbox.Schema()...)})
	h, feed := b.Handler("Bearer secret"), b.Subscribe(0)
	body := event(webhooks.NewID())
	for _, auth := range [][]string{nil, {""}, {"Bearer secre"}, {"Bearer secret "}, {"bearer secret"}, {"secret"}, {"Bearer secret", "Bearer secret"}, {"x", "Bearer secret"}} {
		require.Equal(t, 401, post(h, body, auth...), "%q", auth)
		require.Equal(t, 401, post(h, []byte("{broken"), auth...), "the body is not looked at")
	}
	require.Empty(t, drain(t, feed))
	require.Equal(t, 200, post(h, body, "Bearer secret"))
	require.Panics(t, func() { b.Handler("") })
}

func TestAFeedResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := storetest.OpenAt(t, path, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db})
	take := func(ref string) bool {
		fresh, err := b.Take(t.Context(), inbox.Item{Source: "links", Ref: ref, Event: "transaction", Body: []byte("whisper " + ref)})
		require.NoError(t, err)
		return fresh
	}
	for i := range 10 {
		require.True(t, take(strconv.Itoa(i)))
	}
	feed := b.Subscribe(0)
	var last inbox.Event
	for i := range 4 {
		var err error
		last, err = feed.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(i), last.Ref)
	}
	require.NoError(t, db.Close())
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
		require.False(t, strings.Contains(string(data), "whisper"), "bodies are sealed")
	}
	db = storetest.OpenAt(t, path, inbox.Schema()...)
	defer db.Close()
	b = inbox.New(inbox.Options{DB: db})
	require.False(t, take("3"), "still known")
	fresh, err := b.Take(t.Context(), inbox.Item{Source: "hosted", Ref: "3"})
	require.NoError(t, err)
	require.True(t, fresh, "another source")
	list := drain(t, b.Subscribe(last.Row))
	require.Len(t, list, 7)
	require.Equal(t, "4", list[0].Ref)
	require.Equal(t, "whisper 4", string(list[0].Body))
	_, err = b.Take(t.Context(), inbox.Item{Source: "links"})
	require.Error(t, err)
}

func TestAWaitingFeedIsWoken(t *testing.T) {
	b := inbox.New(inbox.Options{DB: storetest.Open(t, inbox.Schema()...)})
	got := make(chan inbox.Event, 3)
	for range 3 {
		feed := b.Subscribe(0)
		go func() {
			e, err := feed.Next(t.Context())
			if err == nil {
				got <- e
			}
		}()
	}
	_, err := b.Take(t.Context(), inbox.Item{Source: "links", Ref: "1"})
	require.NoError(t, err)
	for range 3 {
		require.EqualValues(t, 1, (<-got).Row)
	}
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	db := storetest.Open(t, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db, Keep: 20})
	for i := range 50 {
		_, err := b.Take(t.Context(), inbox.Item{Source: "links", Ref: strconv.Itoa(i)})
		require.NoError(t, err)
	}
	list := drain(t, b.Subscribe(0))
	require.Len(t, list, 20)
	require.Equal(t, "30", list[0].Ref)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		var n int
		require.NoError(t, r.QueryRow(`SELECT count(*) FROM store_keys WHERE tbl = 'inbox_event'`).Scan(&n))
		require.Equal(t, 20, n, "the keys of the others are destroyed")
		return nil
	}))
}

// Who holds the credentials cannot change what an id was known for: another body is refused and shown.
func TestField_B9AnotherBodyUnderAKnownIDIsRefused(t *testing.T) {
	db := storetest.Open(t, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db})
	h := b.Handler("secret")
	first := event("a1")
	other := bytes.Replace(first, []byte(`"amount":5500,`), []byte(`"amount":1,`), 1)
	require.NotEqual(t, first, other)
	require.Equal(t, 200, post(h, first, "secret"))
	require.Equal(t, 200, post(h, first, "secret"), "a repeat")
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(first, &members))
	turned, err := json.Marshal(members) // the same in another order
	require.NoError(t, err)
	require.NotEqual(t, first, turned)
	require.Equal(t, 200, post(h, turned, "secret"))
	for range 3 {
		require.Equal(t, 409, post(h, other, "secret"))
	}
	feed, list := b.Subscribe(0), []inbox.Event{}
	for range 2 {
		e, err := feed.Next(t.Context())
		require.NoError(t, err)
		list = append(list, e)
	}
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		var n int
		require.NoError(t, r.QueryRow(`SELECT count(*) FROM inbox_event`).Scan(&n))
		require.Equal(t, 2, n, "shown once")
		return nil
	}))
	require.Equal(t, string(first), string(list[0].Body), "the first one stays")
	require.Equal(t, "refused", list[1].Event)
	require.JSONEq(t, `{"id":"a1","event":"payment.created","refused":"the id came before with another body; the first one stays"}`, string(list[1].Body))
	require.True(t, strings.HasPrefix(list[1].Ref, "a1#"))
}
