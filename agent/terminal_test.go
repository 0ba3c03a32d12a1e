package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/storetest"
)

// terminal is a journal, and what lies beside it.
type terminal struct {
	db     store.DB
	beside store.Beside
	files  [][]byte // the file beside it, after each start
}

func emptyJournal(t *testing.T) store.DB { return storetest.Open(t, agent.Schema()...) }

func newTerminal(t *testing.T) *terminal {
	return &terminal{db: emptyJournal(t), beside: store.Beside{Path: filepath.Join(t.TempDir(), "terminal.known"), Secret: make([]byte, 32)}}
}

// remember is what a start does first.
func (b *terminal) remember(t *testing.T) {
	t.Helper()
	if data, err := os.ReadFile(b.beside.Path); err == nil {
		b.files = append(b.files, data)
	}
	require.NoError(t, agent.Remember(t.Context(), b.db, b.beside, slog.New(slog.DiscardHandler)))
}

// replace puts another journal in the place of the terminal's.
func (b *terminal) replace(t *testing.T, with store.DB, how store.Kind) {
	t.Helper()
	b.db = with
	require.NoError(t, with.Write(t.Context(), func(tx store.Tx) error {
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: how, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli(), RunMS: 1})
	}))
}

// forget leaves the file beside the journal as it was at an earlier start; 0 = there is none.
func (b *terminal) forget(t *testing.T, start int) {
	t.Helper()
	if len(b.files) == 0 { // the first start of all
		return
	}
	if start == 0 {
		require.NoError(t, os.Remove(b.beside.Path))
		return
	}
	require.NoError(t, os.WriteFile(b.beside.Path, b.files[start-1], 0o600))
}
