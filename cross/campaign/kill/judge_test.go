package kill

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway/offlinetest"
	"posagent/store"
	"posagent/store/sqlite"
)

// backendSide is what the backend did: to each payment, token and link, and under which name.
type backendSide struct {
	done  map[string][]string
	names map[string]string // what an effect on a payment was, by its reference
}

// thing is what a story is about, as the backend names it.
func (c *client) thing() string {
	if len(c.id) == 0 {
		return ""
	}
	kind, _, _ := strings.Cut(c.Writes[0].Kind, ".")
	return strings.TrimSuffix(kind, "s") + " " + c.id[0]
}

// wants is what its client was told that was done to it.
func (c *client) wants() (list []string) {
	for _, w := range c.Writes[:len(c.id)] {
		service, name, _ := strings.Cut(w.Kind, ".")
		switch w.Kind {
		case "payments.create":
			if list = append(list, fmt.Sprint("made of ", w.Amount)); c.Reserves {
				list = append(list, fmt.Sprint("authorize ", w.Amount))
			}
		case "payments.cancel":
			list = append(list, "cancel")
		case "tokens.create", "tokens.recurring":
			list = append(list, "made")
		case "tokens.verify":
			list = append(list, "verified")
		case "paylinks.create":
			list = append(list, "made")
			if slices.ContainsFunc(c.Writes, func(w offlinetest.Write) bool { return w.Paid }) {
				list = append(list, "paid")
			}
		case "paylinks.delete":
			list = append(list, "taken back")
		case "paylinks.charge", "paylinks.capture":
			list = append(list, fmt.Sprint("collected ", w.Amount))
		case "paylinks.refund":
			list = append(list, fmt.Sprint("given back ", w.Amount))
		case "paylinks.cancel":
			list = append(list, "let go")
		default:
			if service != "payments" {
				name = "nobody knows what " + w.Kind + " does:"
			}
			list = append(list, fmt.Sprint(name, " ", w.Amount))
		}
	}
	return list
}

// look reads the backend's books and tables.
func (c *campaign) look() backendSide {
	b := backendSide{map[string][]string{}, map[string]string{}}
	note := func(id, what string) { b.done[id] = append(b.done[id], what) }
	of := map[string]string{} // a link by its transaction
	db, err := sqlite.OpenReader(c.t.Context(), filepath.Join(c.dir, "backend", "backend", "backend.db"))
	require.NoError(c.t, err)
	for _, q := range []struct {
		query string
		see   func(id, more string)
	}{
		{`SELECT id, '' FROM links_link`, func(id, _ string) { note("paylink "+id, "made") }},
		{`SELECT id, '' FROM links_link WHERE deleted_ms IS NOT NULL`, func(id, _ string) { note("paylink "+id, "taken back") }},
		{`SELECT id, link FROM links_txn WHERE original IS NULL`, func(id, link string) {
			of[id] = "paylink " + link
			note(of[id], "paid")
		}},
		{`SELECT id, '' FROM cards_token`, func(id, _ string) { note("token "+id, "made") }},
		{`SELECT id, '' FROM cards_token WHERE json_extract(data, '$.verified')`, func(id, _ string) { note("token "+id, "verified") }},
	} {
		require.NoError(c.t, db.Read(c.t.Context(), func(r store.Reader) error {
			return store.Each(r, func(row store.Row) error {
				var id, more string
				if err := row.Scan(&id, &more); err != nil {
					return err
				}
				q.see(id, more)
				return nil
			}, q.query)
		}))
	}
	require.NoError(c.t, db.Close())
	for _, e := range c.books() {
		net := e.Net()
		switch {
		case e.Service == "payments" && e.Original == "":
			note("payment "+e.ID, fmt.Sprint("made of ", e.Amount))
		case e.Service == "payments":
			what := fmt.Sprint(e.Type, " ", e.Amount)
			if e.Type == "cancel" {
				what = e.Type
			}
			note("payment "+e.Original, what)
			b.names[e.ID] = what + " of payment " + e.Original
		case e.Service != "paylinks":
		case e.Original != "":
			note(of[e.Original], fmt.Sprint("given back ", -net))
		case e.State == "cancelled":
			note(of[e.ID], "let go")
		case net != 0:
			note(of[e.ID], fmt.Sprint("collected ", net))
		}
	}
	return b
}

// checkClients holds what clients were told against the books. kinds are those that were asked for, as often as they were.
func (c *campaign) checkClients(all []client) (kinds map[string]int) {
	c.verdict()
	b, violations, kinds := c.look(), 0, map[string]int{}
	wrong := func(format string, args ...any) { violations++; c.t.Errorf(format, args...) }
	for i := range all {
		x := &all[i]
		for _, w := range x.Writes[:len(x.id)] {
			kinds[w.Kind]++
		}
		wants, has := x.wants(), b.done[x.thing()]
		delete(b.done, x.thing())
		for n, w := range x.Writes[:len(x.id)] {
			name, kind := x.id[n], strings.TrimPrefix(w.Kind, "payments.")
			if w.About >= 0 && kind != w.Kind && (!strings.HasPrefix(b.names[name], kind) || !strings.HasSuffix(b.names[name], x.thing())) {
				wrong("client %d, %s: told of %s of %s as %s, the books have %q", i, x.Name, kind, x.thing(), name, b.names[name])
			}
		}
		slices.Sort(wants)
		slices.Sort(has)
		if !slices.Equal(wants, has) {
			wrong("client %d, %s: told of %s %v; the backend has %v", i, x.Name, x.thing(), wants, has)
		}
	}
	for id, has := range b.done {
		wrong("nobody was told of %s: %v", id, has)
	}
	c.t.Logf("%d clients' stories, %d kills, %d violations: at most %.5f a client, %.5f a kill at 95 %%; %v",
		len(all), c.kills.Load(), violations, 3/float64(max(1, len(all))), 3/float64(max(1, c.kills.Load())), kinds)
	return kinds
}

// The judge knows what every write of a story does.
func TestEveryWriteIsJudged(t *testing.T) {
	for _, name := range offlinetest.Names() {
		x := client{Story: offlinetest.Tell(name, 1)}
		for range x.Writes {
			x.id = append(x.id, "1")
		}
		require.GreaterOrEqual(t, len(x.wants()), len(x.Writes), name)
		require.NotContains(t, strings.Join(x.wants(), " "), "nobody", name)
	}
}
