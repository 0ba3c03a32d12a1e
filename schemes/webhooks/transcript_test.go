package webhooks_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
	"posagent/schemes/wire/wiretest"
)

// call is an event in a transcript.
type call struct {
	ID             string          `json:"id"`
	MerchantNumber int64           `json:"merchantNumber"`
	MerchantUUID   string          `json:"merchantUuid"`
	Time           time.Time       `json:"time"`
	Name           webhooks.Name   `json:"name"`
	Data           json.RawMessage `json:"data"`
}

// result is what sending it comes to.
type result struct {
	wiretest.Failure
}

// event finds the type of the data among the samples.
func (c call) event(t *testing.T) webhooks.Event {
	t.Helper()
	e := webhooks.Event{ID: c.ID, MerchantNumber: c.MerchantNumber, MerchantUUID: c.MerchantUUID, Time: c.Time, Name: c.Name}
	for _, s := range webhookstest.Samples() {
		if s.Name == c.Name {
			switch s.Data.(type) {
			case *webhooks.Checkout:
				e.Data = new(webhooks.Checkout)
			case *webhooks.Reservation:
				e.Data = new(webhooks.Reservation)
			case *webhooks.Movement:
				e.Data = new(webhooks.Movement)
			case *webhooks.Onboarding:
				e.Data = new(webhooks.Onboarding)
			}
		}
	}
	require.NoError(t, json.Unmarshal(c.Data, e.Data))
	return e
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
				client := &webhooks.Client{URL: wiretest.BaseURL + "/hook", Authorization: "Bearer shop", Doer: srv}
				err := client.Receive(t.Context(), c.event(t))
				require.Equal(t, 1, srv.Hits, "each event is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					return
				}
				want.Check(t, err)
			})
		}
	}
}

// scripted expects one event and gives one result.
type scripted struct {
	t    *testing.T
	want webhooks.Event
	give result
	hits int
}

func (s *scripted) Receive(_ context.Context, e webhooks.Event) error {
	s.hits++
	require.NotEmpty(s.t, e.Body)
	e.Body = nil
	require.True(s.t, s.want.Time.Equal(e.Time))
	e.Time = s.want.Time
	require.Equal(s.t, s.want, e)
	return s.give.Err()
}

func TestHandlerAlone(t *testing.T) {
	seen := map[webhooks.Name]bool{}
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			var c call
			tr.Call(t, &c)
			svc.want = c.event(t)
			tr.Result(t, &svc.give)
			tr.Serve(t, webhooks.Handler(svc, webhooks.HandlerOptions{}))
			require.Equal(t, 1, svc.hits)
			seen[c.Name] = true
		})
	}
	for _, name := range webhooks.Names() {
		require.True(t, seen[name], "no transcript of %s", name)
	}
}
