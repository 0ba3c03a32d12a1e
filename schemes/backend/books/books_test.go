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
		_, err := Open(bad, 0)
		require.ErrorIs(t, err, ErrAmount)
	}
}

// Whatever happens in whatever order: every event sums to zero, the accounts always agree with the ledger,
// the merchant never owes and never has more than the payment.
func TestAnyInterleavingSumsToZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Minor(rapid.Int64Range(1, 1_000_000).Draw(t, "amount"))
		fee := money.Minor(rapid.SampledFrom([]int64{0, 0, 7}).Draw(t, "fee"))
		l, err := Open(amount, fee)
		require.NoError(t, err)
		var all []Posting
		commits, reversals := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			ev := Event{
				Kind: rapid.SampledFrom([]Kind{
					Reserve, Commit, Release, Close, Reverse, Refund, Authorize, Capture, BeginRefund, EndRefund, FailRefund,
				}).Draw(t, "kind"),
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
			require.Equal(t, l.held(), balance[Reserved])
			require.Equal(t, l.Returning, balance[Returning])
			require.Equal(t, l.Charged, balance[Fees])
			require.Equal(t, l.Net(), balance[Merchant])
			require.Equal(t, l.Net(), NetOf(all))
			require.GreaterOrEqual(t, balance[Merchant], money.Minor(0))
			require.LessOrEqual(t, balance[Merchant]+balance[Returning]+balance[Reserved]+balance[Fees], amount+fee)
			require.LessOrEqual(t, l.Returned+l.Returning, l.Committed)
			require.LessOrEqual(t, l.Committed, amount)
		}
		require.LessOrEqual(t, commits, 1)
		require.LessOrEqual(t, reversals, 1)
		require.Zero(t, Sum(all))
	})
}

// A card payment: a part is held, collected in parts, given back in parts, and the fee is taken once.
func TestEveryCardLedgerTimesEveryEvent(t *testing.T) {
	fresh := Ledger{Amount: 100, Fee: 5}
	held := Ledger{Amount: 100, Fee: 5, Reserved: 80}
	part := Ledger{Amount: 100, Fee: 5, Reserved: 50, Committed: 30, Charged: 5}
	full := Ledger{Amount: 100, Fee: 5, Committed: 80, Charged: 5}
	back := Ledger{Amount: 100, Fee: 5, Committed: 80, Charged: 5, Returning: 20}
	gone := Ledger{Amount: 100, Fee: 5, Committed: 80, Charged: 5, Returned: 20}
	shut := Ledger{Amount: 100, Fee: 5, Closed: true}
	c, r, m, w, f := Consumer, Reserved, Merchant, Returning, Fees
	for _, row := range []struct {
		name  string
		from  Ledger
		ev    Event
		to    Ledger
		posts []Posting
		err   error
	}{
		{"hold a part", fresh, Event{Authorize, 80}, held, []Posting{{c, -85}, {r, 85}}, nil},
		{"hold too much", fresh, Event{Authorize, 101}, fresh, nil, ErrRest},
		{"hold nothing", fresh, Event{Authorize, 0}, fresh, nil, ErrAmount},
		{"hold again", held, Event{Authorize, 20}, held, nil, ErrReserved},
		{"hold after a capture", full, Event{Authorize, 20}, full, nil, ErrCommitted},
		{"hold when closed", shut, Event{Authorize, 20}, shut, nil, ErrClosed},
		{"capture of nothing", fresh, Event{Capture, 1}, fresh, nil, ErrHeld},
		{"capture zero", held, Event{Capture, 0}, held, nil, ErrAmount},
		{"capture too much", held, Event{Capture, 81}, held, nil, ErrRest},
		{"capture when closed", shut, Event{Capture, 1}, shut, nil, ErrClosed},
		{"first capture takes the fee", held, Event{Capture, 30}, part, []Posting{{r, -30}, {m, 30}, {r, -5}, {f, 5}}, nil},
		{"second capture does not", part, Event{Capture, 50}, full, []Posting{{r, -50}, {m, 50}}, nil},
		{"release gives the fee back", held, Event{Release, 0}, fresh, []Posting{{r, -85}, {c, 85}}, nil},
		{"release of the rest", part, Event{Release, 0}, Ledger{Amount: 100, Fee: 5, Committed: 30, Charged: 5}, []Posting{{r, -50}, {c, 50}}, nil},
		{"close after a capture", part, Event{Close, 0}, part, nil, ErrCommitted},
		{"close gives the fee back", held, Event{Close, 0}, shut, []Posting{{r, -85}, {c, 85}}, nil},
		{"commit of a part", held, Event{Commit, 0}, held, nil, ErrRest},
		{"commit takes the fee", fresh, Event{Commit, 0}, Ledger{Amount: 100, Fee: 5, Committed: 100, Charged: 5}, []Posting{{c, -100}, {m, 100}, {c, -5}, {f, 5}}, nil},
		{"refund begins", full, Event{BeginRefund, 20}, back, []Posting{{m, -20}, {w, 20}}, nil},
		{"refund above the rest", back, Event{BeginRefund, 61}, back, nil, ErrRest},
		{"refund of nothing", held, Event{BeginRefund, 1}, held, nil, ErrNothing},
		{"refund arrives", back, Event{EndRefund, 20}, gone, []Posting{{w, -20}, {c, 20}}, nil},
		{"refund comes back", back, Event{FailRefund, 20}, full, []Posting{{w, -20}, {m, 20}}, nil},
		{"more arrives than began", back, Event{EndRefund, 21}, back, nil, ErrRest},
		{"nothing arrives", back, Event{FailRefund, 0}, back, nil, ErrAmount},
		{"close while a refund is under way", Ledger{Amount: 9, Committed: 9, Returning: 9}, Event{Close, 0}, Ledger{Amount: 9, Committed: 9, Returning: 9}, nil, ErrCommitted},
		{"reverse while a refund is under way", back, Event{Reverse, 0}, back, nil, ErrRefunded},
		{"reverse of a part", part, Event{Reverse, 0}, Ledger{Amount: 100, Fee: 5, Committed: 30, Charged: 5, Returned: 30, Reversed: true, Closed: true},
			[]Posting{{r, -50}, {c, 50}, {m, -30}, {c, 30}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, posts, err := Apply(row.from, row.ev)
			require.ErrorIs(t, err, row.err)
			require.Equal(t, row.to, got)
			require.Equal(t, row.posts, posts)
			require.Zero(t, Sum(posts))
		})
	}
	for _, bad := range []money.Minor{-1, 1<<63 - 1} {
		_, err := Open(1, bad)
		require.ErrorIs(t, err, ErrAmount)
	}
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
