package port_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// stream is one listener.
type stream struct {
	t *testing.T
	*bufio.Scanner
}

// listen opens one; last "" = from the beginning.
func (x *rig) listen(t *testing.T, last string) stream {
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, x.addr+"/agent/v1/events", http.NoBody))
	req.Header.Set("Authorization", bearer)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	return stream{t, bufio.NewScanner(resp.Body)}
}

// next reads one event; id "" = the stream has ended.
func (s stream) next() (id string, e view.Event) {
	name := ""
	for s.Scan() {
		switch key, value, _ := strings.Cut(s.Text(), ": "); key {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			require.NoError(s.t, json.Unmarshal([]byte(value), &e), value)
			require.Equal(s.t, name, e.Event)
			require.Equal(s.t, id, e.Resume.String())
			require.Equal(s.t, "posagent.event/1", e.Schema)
			return id, e
		}
	}
	return "", e
}

// Events come in order, once, go on where a reader left, and end when the port does.
func TestEvents(t *testing.T) {
	x := start(t, false)
	put := func(ref string) {
		_, err := x.inbox.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: ref, Event: "payment.created", Body: []byte(`{"id":"` + ref + `"}`)})
		require.NoError(t, err)
	}
	put("a")
	put("b")
	first := x.listen(t, "")
	id, e := first.next()
	require.Equal(t, "1-0", id)
	require.JSONEq(t, `{"id":"a"}`, string(e.Body))
	id, _ = first.next()
	require.Equal(t, "2-0", id)
	put("c")
	id, e = first.next()
	require.Equal(t, "3-0", id)
	require.Equal(t, "c", e.Ref)
	again := x.listen(t, "2")
	id, _ = again.next()
	require.Equal(t, "3-0", id)
	for _, bad := range []string{"-1", "x", "1e3", "1-", "1-x", "1--2", "+1", "1-2-3"} {
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, x.addr+"/agent/v1/events", http.NoBody))
		req.Header.Set("Authorization", bearer)
		req.Header.Set("Last-Event-ID", bad)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 400, resp.StatusCode, bad)
	}
	x.stop()
	id, _ = again.next()
	require.Empty(t, id, "streams end with the port")
}

// What becomes of an operation is told as it happens, once, and a reader that was away learns what it missed and nothing twice.
func TestEventsOfOperations(t *testing.T) {
	x := start(t, false)
	key := wire.NewKey()
	accept := func(key wire.Key) {
		require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
			return x.outbox.Accept(tx, outbox.New{Key: key, Kind: "test", Aggregate: string(key), Payload: []byte("card-canary"), AmountMin: 1250, Currency: "EUR"})
		}))
		x.outbox.Wake()
	}
	accept(key)
	s := x.listen(t, "")
	id, e := s.next()
	require.Equal(t, "0-1", id)
	require.Equal(t, "operation.accepted", e.Event)
	require.Equal(t, string(key), e.Ref)
	require.JSONEq(t, `{"state":"PENDING","key":"`+string(key)+`","kind":"test","amount":1250,"currency":"EUR","attempts":0}`, string(e.Body))
	require.NoError(t, x.outbox.Hold(t.Context(), key, "wait"))
	_, e = s.next()
	require.Equal(t, "operation.held", e.Event)
	require.Contains(t, string(e.Body), `"reason":"wait"`)
	require.NoError(t, x.outbox.Release(t.Context(), key))
	away, e := s.next()
	require.Equal(t, "operation.released", e.Event)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.outbox.Run(ctx) }()
	var words []string
	for range 2 {
		_, e = s.next()
		words = append(words, e.Event)
	}
	require.Equal(t, []string{"operation.sent", "operation.done"}, words)
	_, err := x.inbox.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: "a", Event: "payment.created", Body: []byte(`{}`)})
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)

	back := x.listen(t, away)
	words = nil
	for range 3 {
		id, e = back.next()
		words = append(words, e.Event)
	}
	require.Equal(t, []string{"operation.sent", "operation.done", "payment.created"}, words)
	require.Equal(t, "1-5", id)
}
