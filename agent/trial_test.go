package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// sinceNovember27 are the steps that builds of 2026-11-27 do not have.
var sinceNovember27 = []string{
	"agent/3 places", "agent/4 ids", "agent/5 beside", "checkout/5 routes", "checkout/6 ids", "checkout/7 names", "checkout/8 accounts", "daily/2 through",
	"events/3 given", "events/4 shares", "inbox/4 shares, ids", "inbox/5 given", "inbox/6 owners of builds", "offline/9 ids as they are spelled",
	"offline/10 accounts and dependants", "offline/11 things by the keys of their creates", "offline/12 operations of other books",
	"outbox/10 alerts of sales", "outbox/11 trusted time",
	"owned/2 as it is spelled, made or named", "owned/3 accounts", "owned/4 calls",
}

// TestField4_UpdateAProgramOnTrialStarts: on trial a journal gets no step that shuts the program before out, and none behind one. The start
// read tables of such steps, so each update from a build of the day before failed its trial and was taken back. The kind: each step since
// then is open, or is one of those that agent/gateway works without (and tests so), and what a start does first finds its tables.
func TestField4_UpdateAProgramOnTrialStarts(t *testing.T) {
	works := []string{"offline/9 ids as they are spelled", "offline/11 things by the keys of their creates"}
	var before []store.Step
	all := agent.Schema()
	for i, st := range all {
		if !slices.Contains(sinceNovember27, st.Name) {
			before = append(before, st)
			continue
		}
		require.Equal(t, slices.Contains(works, st.Name), !st.Open, st.Name)
		if !st.Open {
			for _, behind := range all[i+1:] {
				require.False(t, behind.Open, "%s waits behind %s", behind.Name, st.Name)
			}
		}
	}
	require.Len(t, before, len(all)-len(sinceNovember27))
	opt := sqlite.Options{Path: filepath.Join(t.TempDir(), "agent.db"), Wrapper: storetest.Wrapper{}, Ballast: -1}
	opt.Marks = []string{store.MarkPath(opt.Path)}
	old := opt
	old.Steps = before
	db, err := sqlite.Open(t.Context(), old)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	opt.Trial = true
	beside := store.Beside{Path: filepath.Join(t.TempDir(), "terminal.known"), Secret: make([]byte, 32)}
	log := slog.New(slog.DiscardHandler)
	for _, trial := range []bool{true, true, false} {
		opt.Trial = trial
		s, err := agent.Open(t.Context(), opt)
		require.NoError(t, err)
		_, err = agent.Recover(t.Context(), s, time.Now, func() time.Duration { return time.Hour }, log)
		require.NoError(t, err)
		require.NoError(t, agent.Remember(t.Context(), s, beside, log))
		require.NoError(t, agent.Bind(t.Context(), s, beside, agent.Owner("https://a", "M", "T"), agent.Places{"payments": "https://a"}))
		line := []agent.Known{{Speaks: "jsonl", Name: "till-tcp", Base: "till", Place: "tcp:1"}}
		require.NoError(t, agent.Identify(t.Context(), s, beside, agent.AsLine, line))
		require.NoError(t, s.Close())
		if trial { // it is taken back
			db, err := sqlite.Open(t.Context(), old)
			require.NoError(t, err, "the program before goes on")
			require.NoError(t, db.Close())
		}
	}
	_, err = sqlite.Open(t.Context(), old)
	require.ErrorIs(t, err, store.ErrNewer, "it would make other Keys")
	_, err = os.Stat(beside.Path)
	require.NoError(t, err)
}
