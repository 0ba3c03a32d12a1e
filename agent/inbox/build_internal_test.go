package inbox

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// counting is a service that builds sessions.
type counting struct {
	hosted.Sessions
	n int
}

func (c *counting) Build(context.Context, wire.Key, hosted.BuildRequest) (hosted.Built, error) {
	c.n++
	return hosted.Built{SessionID: "s" + strconv.Itoa(c.n), SecurityToken: wire.Secret("t" + strconv.Itoa(c.n))}, nil
}

// TestField3_C4BuildsAreSharedToo: a client that builds session after session pushes out its own, and none of a client that built few:
// that one's notifications and orders stay known. They are the third of the lists that are bounded and have owners, beside what arrived and
// what happened.
func TestField3_C4BuildsAreSharedToo(t *testing.T) {
	db := storetest.Open(t, slices.Concat(Schema(), BuildSchema())...)
	b := &builds{db: db, next: &counting{}, now: time.Now, most: 128}
	build := func(client string, n int) {
		for range n {
			_, err := b.Build(wire.WithCaller(t.Context(), wire.Caller{Name: client, Own: client != ""}), "", hostedtest.Good())
			require.NoError(t, err)
		}
	}
	build("", 5)
	build("quiet", 5)
	build("loud", 1000)
	kept := map[string]int{}
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		return store.Each(r, func(row store.Row) error {
			var owner string
			var n int
			err := row.Scan(&owner, &n)
			kept[owner] = n
			return err
		}, `SELECT owner, COUNT(*) FROM inbox_build GROUP BY owner`)
	}))
	require.Equal(t, []int{5, 5}, []int{kept[""], kept["quiet"]})
	require.InDelta(t, 118, kept["loud"], pruneEvery)
	var keys int
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM inbox_build WHERE token <> x''`).Scan(&keys)
	}))
	require.Equal(t, kept[""]+kept["quiet"]+kept["loud"], keys)
}
