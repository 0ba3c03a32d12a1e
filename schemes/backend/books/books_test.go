package books

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/money"
)

// The whole matrix: every shape a ledger can have, every event.
func TestEveryLedgerTimesEveryEvent(t *testing.T) {
	fresh := Ledger{Amount: 100}
	held := Ledger{Amount: 100, Reserved: 100}
	paid := Ledger{Amount: 100, Committed: 100}
	part := Ledger{Amount: 100, Committed: 100, Returned: 40}
	empty := Ledger{Amount: 100, Committed: 100, Returned: 100}
	undone := Ledger{Amount: 100, Committed: 100, Returned: 100, Reversed: true, Closed: true}
	voided := Ledger{Amount: 100, Reversed: true, Closed: true}
	closed := Ledger{Amount: 100, Closed: true}

	c, r, m := Consumer, Reserved, Merchant
	for _, row := range []struct {
		name   string
		from   Ledger
		ev     Event
		to     Ledger
		source Account
		dest   Account
		moved  money.Minor
		err    error
	}{
		{"fresh reserve", fresh, Event{Reserve, 0}, held, c, r, 100, nil},
		{"fresh commit", fresh, Event{Commit, 0}, paid, c, m, 100, nil},
		{"fresh release", fresh, Event{Release, 0}, fresh, "", "", 0, nil},
		{"fresh close", fresh, Event{Close, 0}, closed, "", "", 0, nil},
		{"fresh reverse", fresh, Event{Reverse, 0}, voided, "", "", 0, nil},
		{"fresh refund", fresh, Event{Refund, 1}, fresh, "", "", 0, ErrNothing},
		{"held reserve", held, Event{Reserve, 0}, held, "", "", 0, ErrReserved},
		{"held commit", held, Event{Commit, 0}, paid, r, m, 100, nil},
		{"held release", held, Event{Release, 0}, fresh, r, c, 100, nil},
		{"held close", held, Event{Close, 0}, closed, r, c, 100, nil},
		{"held reverse", held, Event{Reverse, 0}, voided, r, c, 100, nil},
		{"held refund", held, Event{Refund, 1}, held, "", "", 0, ErrNothing},
		{"paid reserve", paid, Event{Reserve, 0}, paid, "", "", 0, ErrCommitted},
		{"paid commit", paid, Event{Commit, 0}, paid, "", "", 0, ErrCommitted},
		{"paid release", paid, Event{Release, 0}, paid, "", "", 0, nil},
		{"paid close", paid, Event{Close, 0}, paid, "", "", 0, ErrCommitted},
		{"paid reverse", paid, Event{Reverse, 0}, undone, m, c, 100, nil},
		{"paid refund part", paid, Event{Refund, 40}, part, m, c, 40, nil},
		{"paid refund whole", paid, Event{Refund, 100}, empty, m, c, 100, nil},
		{"paid refund above", paid, Event{Refund, 101}, paid, "", "", 0, ErrRest},
		{"paid refund zero", paid, Event{Refund, 0}, paid, "", "", 0, ErrAmount},
		{"paid refund negative", paid, Event{Refund, -5}, paid, "", "", 0, ErrAmount},
		{"part reverse", part, Event{Reverse, 0}, part, "", "", 0, ErrRefunded},
		{"part refund rest", part, Event{Refund, 60}, empty, m, c, 60, nil},
		{"part refund above rest", part, Event{Refund, 61}, part, "", "", 0, ErrRest},
		{"part commit", part, Event{Commit, 0}, part, "", "", 0, ErrCommitted},
		{"empty refund", empty, Event{Refund, 1}, empty, "", "", 0, ErrRest},
		{"empty reverse", empty, Event{Reverse, 0}, empty, "", "", 0, ErrRefunded},
		{"undone reverse", undone, Event{Reverse, 0}, undone, "", "", 0, ErrReversed},
		{"undone refund", undone, Event{Refund, 1}, undone, "", "", 0, ErrReversed},
		{"undone commit", undone, Event{Commit, 0}, undone, "", "", 0, ErrClosed},
		{"undone reserve", undone, Event{Reserve, 0}, undone, "", "", 0, ErrClosed},
		{"voided commit", voided, Event{Commit, 0}, voided, "", "", 0, ErrClosed},
		{"voided reverse", voided, Event{Reverse, 0}, voided, "", "", 0, ErrReversed},
		{"closed commit", closed, Event{Commit, 0}, closed, "", "", 0, ErrClosed},
		{"closed reserve", closed, Event{Reserve, 0}, closed, "", "", 0, ErrClosed},
		{"closed close", closed, Event{Close, 0}, closed, "", "", 0, nil},
		{"closed reverse", closed, Event{Reverse, 0}, voided, "", "", 0, nil},
		{"unknown", fresh, Event{"gift", 1}, fresh, "", "", 0, ErrKind},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, posts, err := Apply(row.from, row.ev)
			if row.err != nil {
				require.ErrorIs(t, err, row.err)
				require.Empty(t, posts)
				require.Equal(t, row.from, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.to, got)
			if row.moved == 0 {
				require.Empty(t, posts)
				return
			}
			require.Equal(t, []Posting{{row.source, -row.moved}, {row.dest, row.moved}}, posts)
		})
	}
}

func TestOpenRefusesNothing(t *testing.T) {
	for _, bad := range []money.Minor{0, -1} {
		_, err := Open(bad)
		require.ErrorIs(t, err, ErrAmount)
	}
}

// Whatever happens in whatever order: every event sums to zero, the accounts always agree with the ledger,
// the merchant never owes and never has more than the payment.
func TestAnyInterleavingSumsToZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Minor(rapid.Int64Range(1, 1_000_000).Draw(t, "amount"))
		l, err := Open(amount)
		require.NoError(t, err)
		var all []Posting
		commits, reversals := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			ev := Event{
				Kind:   rapid.SampledFrom([]Kind{Reserve, Commit, Release, Close, Reverse, Refund}).Draw(t, "kind"),
				Amount: money.Minor(rapid.Int64Range(-1, int64(amount)+1).Draw(t, "part")),
			}
			next, posts, err := Apply(l, ev)
			require.Zero(t, Sum(posts))
			if err != nil {
				require.Equal(t, l, next)
				continue
			}
			if ev.Kind == Commit {
				commits++
			}
			if ev.Kind == Reverse {
				reversals++
			}
			l, all = next, append(all, posts...)
			balance := map[Account]money.Minor{}
			for _, p := range all {
				balance[p.Account] += p.Amount
			}
			require.Equal(t, l.Reserved, balance[Reserved])
			require.Equal(t, l.Net(), balance[Merchant])
			require.Equal(t, l.Net(), NetOf(all))
			require.GreaterOrEqual(t, balance[Merchant], money.Minor(0))
			require.LessOrEqual(t, balance[Merchant]+balance[Reserved], amount)
			require.LessOrEqual(t, l.Returned, l.Committed)
		}
		require.LessOrEqual(t, commits, 1)
		require.LessOrEqual(t, reversals, 1)
		require.Zero(t, Sum(all))
	})
}

// The core reaches no outside world.
func TestImportsAreThoseOfACore(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	allowed := map[string]bool{"errors": true, "fmt": true, "posagent/schemes/money": true}
	seen := 0
	for _, f := range files {
		if f.IsDir() || !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imp := range tree.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			require.True(t, allowed[path], "%s imports %s", f.Name(), path)
			seen++
		}
	}
	require.NotZero(t, seen)
}
