package view_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/agent/records/events"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// What is given to a client is new for that client: a webhook that overtook the answer to the call that made its thing (a payment's, an
// application's, a session's), and the history of what a person moved to another client. The client reads it once, whether it listens,
// resumes behind it or reads from the beginning; whoever sees everything has read it when it came, and reads it once too.
func TestField2_M46WhatIsGivenToAClientIsNewForIt(t *testing.T) {
	for _, about := range []string{inbox.AboutPayment, inbox.AboutApplication, inbox.AboutSession, view.OfOperation} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := append(append(append(events.Schema(), inbox.Schema()...), inbox.BuildSchema()...), ownership.Schema()...)
				db := storetest.Open(t, steps...)
				log, in := events.New(events.Options{DB: db}), inbox.New(inbox.Options{DB: db})
				h := &view.Daemon{DB: db, Inbox: in, Happened: log, Now: time.Now}
				type reader struct {
					seen []string
					at   view.Cursor
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				listen := func(name string, from view.Cursor) *reader {
					r, next := &reader{at: from}, h.EventsOf(wire.Caller{Name: name, Own: name != ""}, from)
					go func() {
						for {
							e, err := next(ctx)
							if err != nil {
								return
							}
							r.seen, r.at = append(r.seen, e.Ref+" "+string(e.Body)), e.Resume
						}
					}()
					synctest.Wait()
					return r
				}
				arrive := func(n int) {
					body := []byte(`{"n":` + strconv.Itoa(n) + `}`)
					if about == view.OfOperation {
						require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
							return log.Add(tx, events.Item{Source: about, Ref: "K", Event: "x", Body: body})
						}))
						return
					}
					_, err := in.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: "E" + strconv.Itoa(n), Event: "x", Body: body, About: about, ID: "7"})
					require.NoError(t, err)
				}
				give := func(owner string) {
					require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
						if about == view.OfOperation {
							return log.Give(tx, about, "K", owner)
						}
						return inbox.Own(db, tx, about, "7", "", owner)
					}))
					synctest.Wait()
				}
				ref := func(n int) string {
					if about == view.OfOperation {
						return "K {\"n\":" + strconv.Itoa(n) + "}"
					}
					return "E" + strconv.Itoa(n) + " {\"n\":" + strconv.Itoa(n) + "}"
				}

				beta, gamma, all := listen("beta", view.Cursor{}), listen("gamma", view.Cursor{}), listen("", view.Cursor{})
				arrive(1)
				synctest.Wait()
				require.Empty(t, beta.seen, "nobody here has made its thing yet")
				before, err := h.Newest(t.Context()) // the cursor that beta's stream has come to
				require.NoError(t, err)
				if about == inbox.AboutApplication { // as the answer gives it
					c := ownership.New(db, nil)
					c.Given = func(tx store.Tx, about, id, owner string) error { return inbox.Own(db, tx, about, id, "", owner) }
					require.NoError(t, c.Claim(t.Context(), about, "7", "beta"))
					synctest.Wait()
				}
				give("beta")
				give("beta") // as each repeat of the answer does
				require.Equal(t, []string{ref(1)}, beta.seen, "listening")
				require.Equal(t, []string{ref(1)}, listen("beta", before).seen, "resumed")
				require.Equal(t, []string{ref(1)}, listen("beta", view.Cursor{}).seen, "from the beginning")
				require.Empty(t, listen("beta", beta.at).seen, "behind it")

				give("gamma")
				require.Equal(t, []string{ref(1)}, gamma.seen)
				require.Empty(t, listen("beta", view.Cursor{}).seen, "it is not beta's any more")
				give("beta")
				require.Equal(t, []string{ref(1), ref(1)}, beta.seen, "given again")
				require.Equal(t, []string{ref(1)}, listen("beta", view.Cursor{}).seen)
				give("")
				require.Empty(t, listen("gamma", view.Cursor{}).seen)
				require.Equal(t, []string{ref(1)}, all.seen)
				require.Equal(t, []string{ref(1)}, listen("", view.Cursor{}).seen)
				cancel()
				synctest.Wait()
			})
		})
	}
}
