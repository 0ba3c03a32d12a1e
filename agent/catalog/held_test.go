package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// While the backend does not answer, a client gets the list that the terminal holds, with its age; of another terminal it gets none.
func TestField_P10TheHeldListIsServed(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A"), definition(2, "B")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		list := catalog.Holding(r.db, r.query, svc)
		ctx := wire.WithCaller(r.t.Context(), wire.Caller{})
		defs, err := list.List(ctx, query)
		require.NoError(t, err)
		require.Len(t, defs, 2)
		_, held := wire.HeldSince(ctx)
		require.False(t, held, "the backend's own answer")
		svc.set(nil, errDown)
		pass(10 * time.Minute)
		ask := query
		ask.Exclude = []int32{1}
		defs, err = list.List(ctx, ask)
		require.NoError(t, err)
		require.Len(t, defs, 1)
		require.Equal(t, "B", defs[0].Name)
		since, held := wire.HeldSince(ctx)
		require.True(t, held)
		require.InDelta(t, 601, time.Since(since).Seconds(), 2)
		ask.TerminalID = "another"
		_, err = list.List(ctx, ask)
		require.ErrorIs(t, err, errDown)
	})
}
