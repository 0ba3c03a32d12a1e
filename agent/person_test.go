package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
	"posagent/store"
	"posagent/store/storetest"
)

// Tries at the PIN are in the journal: another run reads them, another PIN has none, and a login ends them and stands in the audit
// log in one commit.
func TestTriesAtThePIN(t *testing.T) {
	db := storetest.Open(t, Schema()...)
	at := audit.With(t.Context(), audit.Actor{Kind: audit.Person, Name: "page", Address: "127.0.0.1"})
	for run := range 3 {
		p := pinTries{db, time.Now}
		for want := 2*run + 1; want <= 2*run+2; want++ {
			n, err := p.Count(at, "first")
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
	}
	p := pinTries{db, time.Now}
	made := func(pin string) int {
		n, err := p.Made(at, pin)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 6, made("first"))
	require.Zero(t, made("second"))
	n, err := p.Count(at, "second")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, made("first"), "the PIN that was replaced")

	before := db.Commits()
	require.NoError(t, p.Right(at, "second"))
	require.Equal(t, before+1, db.Commits())
	require.Zero(t, made("second"))
	var lines []string
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		list, err := audit.Page(r, 0)
		for _, l := range list {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", l.Kind, l.Name, l.Address, l.Deed.Deed))
		}
		return err
	}))
	require.Equal(t, []string{"person page 127.0.0.1 page.login"}, lines)

	ended, cancel := context.WithCancel(at)
	cancel()
	_, err = p.Count(ended, "second")
	require.Error(t, err)
	require.Zero(t, made("second"), "what was not counted is not there")
	require.Error(t, p.Right(ended, "second"))
}
