package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
)

// books are where the services of a test stand.
type books struct {
	owner  string
	places agent.Places
}

// at puts one service to a host and account, and leaves the others where they are.
func at(service, host, account string) books {
	b := books{agent.Owner("https://a.example", "m", "1"), agent.Places{}}
	for _, s := range []string{"payments", "tokens", "paylinks", "hosted"} {
		b.places[s] = agent.Place("https://a.example", "x")
	}
	if service == agent.Schemes {
		b.owner = agent.Owner("https://"+host+".example", "m", "1")
	} else {
		b.places[service] = agent.Place("https://"+host+".example", account)
	}
	return b
}

func (b *terminal) bind(t *testing.T, to books) error {
	return agent.Bind(t.Context(), b.db, b.beside, to.owner, to.places)
}

// refuses says that the terminal neither starts nor reloads there, because of what may have been sent to was.
func (b *terminal) refuses(t *testing.T, service, was string, to books) {
	t.Helper()
	now, name := to.places[service], service
	if service == agent.Schemes {
		now, name = to.owner, ""
	} else {
		was = service + " at " + was
	}
	var other *agent.OtherBackendError
	require.ErrorAs(t, b.bind(t, to), &other)
	require.NotEmpty(t, other.Replaced)
	require.Equal(t, agent.OtherBackendError{Service: name, Was: was, Now: now, Replaced: other.Replaced}, *other)
	require.Contains(t, other.Error(), was)
	require.ErrorAs(t, b.db.Read(t.Context(), func(r store.Reader) error { return agent.Fits(r, to.owner, to.places) }), &other)
}

func (b *terminal) moved(t *testing.T, service string, others bool, to books) error {
	return agent.Moved(t.Context(), b.db, b.beside, time.UnixMilli(1), agent.Move{Service: service, Others: others, Reason: "the portal was compared"}, to.owner, to.places)
}

// TestField2_M20AReplacedJournalStaysWithItsBooks: a journal that took another's place does not know what that one has sent, and went to
// another address or account as one in which nothing is open: a client's repeat was charged at both. Kind: each service; address and
// account; a journal that was lost, restored or accepted; the move after it, before it, and there and back before it. A person's word
// releases it, for the same books and for others; so do 90 days. One that took no other's place is as free as before.
func TestField2_M20AReplacedJournalStaysWithItsBooks(t *testing.T) {
	for service, account := range map[string]string{"payments": "y", "tokens": "y", "paylinks": "y", "hosted": "", agent.Schemes: ""} {
		from, to, third := at(service, "a", "x"), at(service, "b", "x"), at(service, "c", "x")
		for what, to := range map[string]books{"address": to, "account": at(service, "a", account)} {
			if what == "account" && account == "" { // it has none of its own, or is another terminal's
				continue
			}
			place := func(b books) string {
				if service == agent.Schemes {
					return b.owner
				}
				return b.places[service]
			}
			for _, how := range []store.Kind{store.WasLost, store.WasRestored, store.WasAccepted} {
				if how == store.WasAccepted && service != "payments" { // as one that was restored
					continue
				}
				play := func(name string, before []books, is func(t *testing.T, b *terminal)) {
					t.Run(fmt.Sprint(service, " ", what, " ", how, ": ", name), func(t *testing.T) {
						b := newTerminal(t)
						first := &terminal{db: emptyJournal(t), beside: store.Beside{Path: b.beside.Path + ".first", Secret: b.beside.Secret}}
						require.NoError(t, first.bind(t, before[0]))
						for _, at := range before {
							require.NoError(t, b.bind(t, at))
						}
						with := first.db
						if how == store.WasLost {
							with = emptyJournal(t)
						}
						b.replace(t, with, how)
						b.remember(t)
						b.remember(t)
						is(t, b)
					})
				}
				play("moves after it", []books{from}, func(t *testing.T, b *terminal) {
					b.refuses(t, service, place(from), to)
					require.NoError(t, b.bind(t, from), "where it was")
					b.refuses(t, service, place(from), to)
					require.NoError(t, b.moved(t, service, false, to))
					require.NoError(t, b.bind(t, to))
					require.ErrorIs(t, b.moved(t, service, false, to), agent.ErrNotMoved)
					b.refuses(t, service, place(to), third)
					require.NoError(t, b.moved(t, service, true, third))
					require.NoError(t, b.bind(t, third))
				})
				play("moved before it", []books{from, to}, func(t *testing.T, b *terminal) {
					unknown := place(from) // of a lost journal the file beside it says so, of an older one the journal itself
					b.refuses(t, service, unknown, to)
					b.refuses(t, service, place(to), from)
					require.NoError(t, b.moved(t, service, true, to))
					require.NoError(t, b.bind(t, to))
					b.remember(t)
					require.NoError(t, b.bind(t, to))
				})
				play("there and back before it", []books{from, to, from}, func(t *testing.T, b *terminal) {
					b.refuses(t, service, place(to), from)
					require.NoError(t, b.moved(t, service, true, from))
					require.NoError(t, b.bind(t, from))
					b.remember(t)
					require.NoError(t, b.bind(t, from))
				})
				play("nobody asks any more", []books{from, to}, func(t *testing.T, b *terminal) {
					require.NoError(t, b.moved(t, service, true, to))
					require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
						_, err := tx.Exec(`UPDATE outbox_clock SET run_ms = ?`, (90*24*time.Hour).Milliseconds()+1)
						return err
					}))
					require.NoError(t, b.bind(t, third))
				})
			}
			t.Run(service+" "+what+" not replaced", func(t *testing.T) {
				b := newTerminal(t)
				for _, at := range []books{from, to, from} {
					b.remember(t)
					require.NoError(t, b.bind(t, at))
				}
				lagging := b.db
				b.db = emptyJournal(t)
				require.NoError(t, b.bind(t, from))
				b.remember(t) // a start was broken off after it had written the file
				require.NoError(t, b.bind(t, to))
				b.db = lagging
			})
		}
	}
}

// TestField2_M20ALostJournalIsNoOthers: another merchant or terminal does not begin on a box whose journal was lost. A reset is a person's
// word that nothing of before counts: it makes another secret, which opens nothing of it. A sandbox holds no money.
func TestField2_M20ALostJournalIsNoOthers(t *testing.T) {
	here, other := at("payments", "a", "x"), at("payments", "a", "x")
	other.owner = agent.Owner("https://a.example", "n", "1")
	lost := func(first books) *terminal {
		b := newTerminal(t)
		require.NoError(t, b.bind(t, first))
		b.replace(t, emptyJournal(t), store.WasLost)
		return b
	}
	b := lost(here)
	b.remember(t)
	var foreign *agent.OtherBackendError
	require.ErrorAs(t, b.bind(t, other), &foreign)
	require.True(t, foreign.Foreign())
	require.ErrorAs(t, b.moved(t, agent.Schemes, true, other), &foreign)

	b = lost(here)
	b.beside.Secret = make([]byte, 31)
	b.remember(t)
	require.NoError(t, b.bind(t, other))

	bare := at("paylinks", "a", "")
	b = lost(bare)
	b.remember(t)
	require.NoError(t, b.bind(t, here), "links had no credentials yet")
	b.refuses(t, "paylinks", here.places["paylinks"], bare)

	play := books{agent.Owner(agent.Sandbox, "m", "1"), agent.Places{"payments": agent.Sandbox}}
	b = lost(play)
	b.remember(t)
	require.NoError(t, b.bind(t, here))
	b = lost(here)
	b.remember(t)
	require.ErrorAs(t, b.bind(t, play), &foreign)
	require.True(t, foreign.ToSandbox())
}
