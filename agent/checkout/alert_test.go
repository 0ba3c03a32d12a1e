package checkout

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_M5EveryExceptionNamesWhoIsShort walks the whole machine: no rule tells the merchant of an
// exception without saying who is short of the amount.
func TestField2_M5EveryExceptionNamesWhoIsShort(t *testing.T) {
	seen := map[string]Short{}
	for _, p := range Phases() {
		for _, s := range variants(p) {
			for _, till := range []Till{{}, {Keep: true}, {ByTCP: true}} {
				s.Till, s.UndoTries, s.UndoRefund = till, loudUndo, !s.CanReverse
				s.Leaves, s.Left = till.ByTCP && p == Approved, till.ByTCP && p == Unconfirmed
				s.ReadFirst = p == Initializing
				for _, n := range Names() {
					for _, e := range eventsOf(n) {
						e.SameAmount = till.ByTCP
						_, effects, err := Next(s, e)
						if err != nil {
							continue
						}
						for _, f := range effects {
							if f.Do == Exception {
								require.Contains(t, []Short{Merchant, Customer, NotKnown}, f.Short, "%s in %s: %s", n, p, f.Text)
								seen[strings.ReplaceAll(f.Text, " ended "+string(e.Status.State)+" ", " ended WORD ")] = f.Short
							}
						}
					}
				}
			}
		}
	}
	require.Equal(t, map[string]Short{
		"approved and kept, but the till never fetched the outcome: compare with the till":                                   Customer,
		"approved, but it ended WORD without COMMIT":                                                                         Merchant,
		"approved as the terminal stopped, and kept: the till may not have heard it, compare with the till":                  Customer,
		"possibly charged twice: the till may not have heard the approval, and has asked for the same amount again":          Customer,
		"approved and reserved, but not finalized in time":                                                                   Merchant,
		"the backend knew it and does not find it any more: no proof that the money went back, compare the backend's portal": Customer,
		"held: the backend says that it was paid. Compare it with the till, nothing is undone by itself":                     Customer,
		"held: the backend does not know it. Compare it with the till, nothing is undone by itself":                          NotKnown,
		"paid, and let go on by hand":               Customer,
		"approved, but it timed out without COMMIT": Merchant,
		"the journal was replaced, and the one before it has used the id: compare the backend's portal before anything is paid again": NotKnown,
		"in doubt: ":                   Customer,
		"undo by refund is in doubt: ": Customer,
		"undo did not succeed: ":       Customer,
	}, seen)
}
