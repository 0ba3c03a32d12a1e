package reconcile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestJudge walks the whole table. The expectation is written by hand: rows are what the journal says, columns what the backend says.
func TestJudge(t *testing.T) {
	backend := []word{paid, unpaid, open, absent, unasked}
	short := map[byte]Class{
		'=': Agree, 'N': PaidTillNo, 'Y': TillYesOnly, 'D': Differ, 'X': NotHere, 'O': Open, '?': Unasked,
	}
	for _, want := range []struct {
		till, journal word
		settling      bool
		classes       string // paid, unpaid, open, absent, unasked
	}{
		{paid, paid, false, "=DDD?"},
		{unpaid, paid, false, "NDDD?"},
		{absent, paid, false, "NDDD?"},
		{paid, paid, true, "=DOD?"},
		{unpaid, paid, true, "NDOD?"},
		{absent, paid, true, "NDOD?"},
		{paid, unpaid, false, "DYDY?"},
		{unpaid, unpaid, false, "D=D=?"},
		{absent, unpaid, false, "D=D=?"},
		{paid, open, false, "OOOOO"},
		{unpaid, open, false, "O=O=O"},
		{absent, open, false, "O=O=O"},
		{paid, altered, false, "DDDDD"},
		{unpaid, altered, false, "DDDDD"},
		{absent, altered, false, "DDDDD"},
		{paid, absent, false, "XXXXX"},
		{unpaid, absent, false, "N=X=="},
	} {
		require.Len(t, want.classes, len(backend))
		for i, b := range backend {
			require.Equal(t, short[want.classes[i]], judge(want.till, want.journal, b, want.settling), "till %s, journal %s, backend %s, settling %v", want.till, want.journal, b, want.settling)
		}
	}
}

// TestEveryFindingHasWords: each class has a title, and each finding a remedy.
func TestEveryFindingHasWords(t *testing.T) {
	for _, c := range Classes() {
		require.NotEmpty(t, c.Title())
		for _, f := range []Finding{{Class: c}, {Class: c, Twice: true}, {Class: c, Backend: BackendSays{Says: "paid"}}} {
			if c == Agree {
				continue
			}
			if c != PaidTillNo && c != NotHere {
				f.Journal = &JournalSays{Sale: "k", Kind: "payment"}
			}
			require.NotEmpty(t, f.remedy(), c)
		}
	}
}

// TestWordOf: what a status means for the money (S1 2.4, S1 3.2).
func TestWordOf(t *testing.T) {
	for _, want := range []struct {
		kind    ecr.Kind
		state   aapay.State
		account aapay.AccountState
		ok      []string
		word    word
	}{
		{ecr.Payment, "FINALIZED", "COMMIT", nil, paid},
		{ecr.Payment, "FINALIZED", "ROLLBACK", nil, unpaid},
		{ecr.Payment, "REJECTED", "", nil, unpaid},
		{ecr.Payment, "REJECTED", "COMMIT", nil, paid},
		{ecr.Payment, "TIMEDOUT", "", nil, unpaid},
		{ecr.Payment, "TIMEDOUT", "COMMIT", nil, paid},
		{ecr.Payment, "INITIALIZED", "", nil, open},
		{ecr.Payment, "RESERVED", "", nil, open},
		{ecr.Payment, "RESERVED", "", []string{"RESERVED"}, paid},
		{ecr.Payment, "REVERSED", "", nil, open},
		{ecr.Reversal, "REVERSED", "", nil, paid},
		{ecr.Refund, "REFUNDED", "", nil, paid},
		{ecr.Refund, "FAILED", "", nil, unpaid},
	} {
		require.Equal(t, want.word, wordOf(aapay.Status{State: want.state, AccountState: want.account}, want.kind, want.ok), "%+v", want)
	}
}
