package roomtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/store"
)

// Sound holds a room's report against its postings. Each transaction sums to zero. COMMIT stands
// exactly where the merchant's money moved. Money is held for the payments that holds names, as a
// whole, and for no other. A payment gives back no more than it took. It returns what the merchant
// has by all postings.
func Sound(tb testing.TB, r store.Reader, service string, lines []room.Line, holds func(room.Line) bool) (net money.Minor) {
	tb.Helper()
	posts, err := journal.ByTxn(r, service)
	require.NoError(tb, err)
	held := map[string]money.Minor{}
	for _, l := range lines {
		require.Zero(tb, books.Sum(posts[l.ID]), "%+v", l)
		require.Equal(tb, books.NetOf(posts[l.ID]) != 0, l.AccountState == "COMMIT", "%+v %v", l, posts[l.ID])
		net += books.NetOf(posts[l.ID])
		id := l.ID
		if l.Original != "" {
			id = l.Original
		}
		for _, p := range posts[l.ID] {
			if p.Account == books.Reserved {
				held[id] += p.Amount
			}
		}
		delete(posts, l.ID)
	}
	require.Empty(tb, posts, "postings of nobody")
	for _, l := range lines {
		one, err := journal.NetOf(r, service, l.ID)
		require.NoError(tb, err)
		require.GreaterOrEqual(tb, one, money.Minor(0), "%+v", l)
		if l.Type == "payment" {
			require.LessOrEqual(tb, one, l.Amount, "%+v", l)
			want := money.Minor(0)
			if holds(l) {
				want = l.Amount
			}
			require.Equal(tb, want, held[l.ID], "%+v", l)
		}
	}
	return net
}
