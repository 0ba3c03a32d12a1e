package inbox_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField3_C2ANotificationUsesUpNoOtherSessions: whoever built a session holds its token, and can send a notification that names another
// client's operation or event. The other's own one arrives all the same, once, whether its sender gives events ids or not.
func TestField3_C2ANotificationUsesUpNoOtherSessions(t *testing.T) {
	for _, event := range []string{"", "e1"} {
		t.Run("event id "+event, func(t *testing.T) {
			db := storetest.Open(t, schema()...)
			owners := map[string]string{}
			b := inbox.New(inbox.Options{DB: db, Keep: 64, Owner: func(_ store.Reader, _, id string) (string, bool, error) { return owners[id], owners[id] != "", nil }})
			sessions := inbox.Builds(db, builder{}, time.Now)
			build := func(order, owner string) hosted.Built {
				req := hostedtest.Good()
				req.Order.OrderID = order
				out, err := sessions.Build(t.Context(), "", req)
				require.NoError(t, err)
				owners[out.SessionID] = owner
				return out
			}
			alphas, betas := build("alpha-1", "alpha"), build("beta-1", "beta")
			send := func(order string, of hosted.Built) {
				t.Helper()
				code, _ := tell(b.Notices(), http.MethodPost, jsonKind, notice(t, event, order, of.SecurityToken.Reveal()))
				require.Equal(t, http.StatusOK, code)
			}
			send("beta-1", betas) // names the operation 7, which is alpha's
			for range 2 {
				send("alpha-1", alphas)
			}
			got := drain(t, b.Subscribe(0))
			require.Len(t, got, 2)
			want := event
			if want == "" {
				want = "7/CAPTURE/EXECUTED"
			}
			for i, owner := range []string{"beta", "alpha"} {
				require.Equal(t, []string{owner, want}, []string{got[i].Owner, got[i].Ref}, "as its sender named it")
			}

			// Forgotten, it is known all the same; of each session by itself.
			for i := range 100 {
				_, err := b.Take(context.Background(), inbox.Item{Source: inbox.Webhooks, Ref: string(rune('a' + i)), Event: "e", Body: []byte("{}"), About: inbox.AboutSession, ID: alphas.SessionID})
				require.NoError(t, err)
			}
			before := drain(t, b.Subscribe(0))
			require.NotEqual(t, got[1].Row, before[0].Row, "it is not kept any more")
			send("alpha-1", alphas)
			require.Equal(t, before, drain(t, b.Subscribe(0)))
		})
	}
}

// between lets something happen before the next commit begins.
type between struct {
	store.Journal
	first func()
}

func (b *between) Write(ctx context.Context, fn func(store.Tx) error) error {
	if first := b.first; first != nil {
		b.first = nil
		first()
	}
	return b.Journal.Write(ctx, fn)
}

// TestField3_C7WhoseAnArrivalIsIsDecidedInItsCommit: the answer to the call that made a thing, or a person's word, may come while what
// arrived about the thing waits for its commit. The arrival is the one's whose the thing is then: it neither stays with nobody nor with the
// client before.
func TestField3_C7WhoseAnArrivalIsIsDecidedInItsCommit(t *testing.T) {
	for before, after := range map[string]string{"": "alpha", "alpha": "beta", "beta": ""} {
		t.Run(before+" to "+after, func(t *testing.T) {
			owner := before
			db := &between{Journal: storetest.Open(t, schema()...)}
			b := inbox.New(inbox.Options{DB: db, Owner: func(store.Reader, string, string) (string, bool, error) { return owner, owner != "", nil },
				Making: func(string) bool { return false }})
			db.first = func() {
				owner = after
				require.NoError(t, db.Journal.Write(t.Context(), func(tx store.Tx) error { return inbox.Own(db, tx, inbox.AboutPayment, "7", "", after) }))
			}
			_, err := b.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: "e", Event: "x", Body: []byte("{}"), About: inbox.AboutPayment, ID: "7"})
			require.NoError(t, err)
			require.Nil(t, db.first)
			got := drain(t, b.Subscribe(0))
			require.Len(t, got, 1)
			require.Equal(t, after, got[0].Owner)
		})
	}
}

// TestField3_C2WhatAnOlderProgramStoredIsNoSecondEvent: it stored a notification under its own id alone.
func TestField3_C2WhatAnOlderProgramStoredIsNoSecondEvent(t *testing.T) {
	db := storetest.Open(t, schema()...)
	b := inbox.New(inbox.Options{DB: db})
	req := hostedtest.Good()
	built, err := inbox.Builds(db, builder{}, time.Now).Build(t.Context(), "", req)
	require.NoError(t, err)
	data := notice(t, "", req.Order.OrderID, built.SecurityToken.Reveal())
	_, err = b.Take(t.Context(), inbox.Item{Source: inbox.Hosted, Ref: "7/CAPTURE/EXECUTED", Event: "CAPTURE.EXECUTED", Body: []byte("{}"), About: inbox.AboutSession, ID: built.SessionID, Made: true})
	require.NoError(t, err)
	code, _ := tell(b.Notices(), http.MethodPost, jsonKind, data)
	require.Equal(t, http.StatusOK, code)
	require.Len(t, drain(t, b.Subscribe(0)), 1)
}
