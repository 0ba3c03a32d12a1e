package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/store"
	"posagent/store/storetest"
)

// An id of a service carries its account: where an allowed change of provider has come between, what a client owned there is not its own
// at the new provider, and another client may be given the same id; where the service comes back, it is again. A person who says that
// the same books stand at another address changes nothing. The kinds: what clients own of hosted, schemes, payments (with onboarding),
// tokens and payment links, and what has arrived about it. Sales and things made here: agent/checkout/drive, agent/gateway.
func TestField2_M41WhatAClientOwnsIsOfOneAccount(t *testing.T) {
	const client, other, id = "alpha", "beta", "100001"
	place := func(host string) string { return agent.Place("https://"+host+".example", "x") }
	name := func(host string) string { return agent.Owner("https://"+host+".example", "m", "1") }
	for service, about := range map[string][]string{
		"schemes": {"transaction of a scheme"}, "hosted": {"order", "session", "operation", "contract"}, "payments": {"application", "payment", "token value"},
		"tokens": {"token", "token value"}, "paylinks": {"link", "transaction"},
	} {
		t.Run(service, func(t *testing.T) {
			db := storetest.Open(t, agent.Schema()...)
			c := ownership.New(db, nil)
			owner := func(about string) (owner string) {
				t.Helper()
				require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { owner, _, err = c.Owner(r, about, id); return err }))
				return owner
			}
			bind := func(host string) {
				t.Helper()
				all, who := agent.Places{"payments": place("a"), "tokens": place("a"), "paylinks": place("a"), "hosted": place("a")}, name("a")
				if service == agent.Schemes {
					who = name(host)
				} else {
					all[service] = place(host)
				}
				require.NoError(t, agent.Bind(t.Context(), db, store.Beside{}, who, all))
			}
			bind("a")
			for _, a := range about {
				require.NoError(t, c.Claim(t.Context(), a, id, client))
			}
			bind("a")
			require.Equal(t, client, owner(about[0]), "nothing has changed")
			bind("b")
			for _, a := range about {
				require.Empty(t, owner(a), a)
			}
			require.NoError(t, c.Claim(t.Context(), about[0], id, other), "it is another's there")
			require.Equal(t, other, owner(about[0]))
			bind("a")
			require.NotEqual(t, other, owner(about[0]))
			for _, a := range about[1:] {
				require.Equal(t, client, owner(a), a)
			}

			bind("c")
			require.NoError(t, c.Claim(t.Context(), about[0], id, client))
			all, who := agent.Places{service: place("d")}, name("a")
			if service == agent.Schemes {
				who = name("d")
			}
			require.NoError(t, agent.Moved(t.Context(), db, store.Beside{}, time.UnixMilli(1), agent.Move{Service: service, Reason: "a new host name"}, who, all))
			bind("d")
			require.Equal(t, client, owner(about[0]))
		})
	}
}

// What has arrived about a payment of the provider before is not given to the client whose new payment has the same id.
func TestField2_M41WhatHasArrivedIsOfOneAccount(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	at := func(host string) {
		require.NoError(t, agent.Bind(t.Context(), db, store.Beside{}, agent.Owner("https://a.example", "m", "1"), agent.Places{"payments": "https://" + host, "hosted": "https://a"}))
	}
	box := inbox.New(inbox.Options{DB: db})
	arrive := func(ref, about string) {
		_, err := box.Take(t.Context(), inbox.Item{Source: "x", Ref: ref, About: about, ID: "P1", Body: []byte("{}")})
		require.NoError(t, err)
	}
	give := func(about, place, owner string) {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return inbox.Own(db, tx, about, "P1", place, owner) }))
	}
	owners := func() (list []string) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
			list, err = store.Column[string](r, `SELECT COALESCE((SELECT owner FROM inbox_event g WHERE g.given = e.id AND g.owner <> ''), owner) FROM inbox_event e WHERE given = 0 ORDER BY ref`)
			return err
		}))
		return list
	}
	at("a")
	arrive("1", inbox.AboutPayment)
	arrive("2", inbox.AboutSession)
	at("b")
	arrive("3", inbox.AboutPayment)
	give(inbox.AboutPayment, "", "beta")
	give(inbox.AboutSession, "", "gamma")
	require.Equal(t, []string{"", "gamma", "beta"}, owners())
	give(inbox.AboutPayment, "https://a", "alpha")
	require.Equal(t, []string{"alpha", "gamma", "beta"}, owners())
	at("a")
	give(inbox.AboutPayment, "", "delta")
	require.Equal(t, []string{"delta", "gamma", "beta"}, owners())
}
