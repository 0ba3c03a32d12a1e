package scenario

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTableIsOneRowPerNameAmountAndConsumer(t *testing.T) {
	names, amounts, consumers := map[string]bool{}, map[int64]bool{}, map[string]bool{}
	for i, r := range Table() {
		require.False(t, names[r.Name] || amounts[r.AmountHundredths] || consumers[r.ConsumerID], r.Name)
		names[r.Name], amounts[r.AmountHundredths], consumers[r.ConsumerID] = true, true, true
		require.EqualValues(t, 90001+i, r.AmountHundredths)
		require.NotEmpty(t, r.What)
		require.Equal(t, r, Pick(r.AmountHundredths, ""))
		require.Equal(t, r, Pick(1, r.ConsumerID))
		require.Equal(t, r, Named(r.Name))
	}
	require.Equal(t, Default(), Pick(90000, "somebody"))
	require.Equal(t, Default(), Pick(90000+int64(len(names))+1, ""))
	require.Equal(t, Default(), Named("gone"))
}

// Amounts are promised to people and tests: rows are appended, never moved.
func TestAmountsThatArePromised(t *testing.T) {
	for name, amount := range map[string]int64{
		"reject": 90001, "declined": 90003, "slow": 90006, "never": 90008, "reserve": 90009, "late-commit": 90012,
		"bad-word-commit": 90013, "reversal-fails": 90016, "lost-initialize": 90021, "500-before": 90024, "429": 90026,
		"resend": 90031, "slow-reply": 90033, "lost-refund": 90054,
	} {
		require.Equal(t, amount, Named(name).AmountHundredths, name)
	}
}

func TestScriptsAreInOrderAndEndWithTheirMoney(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second, 10 * time.Second, time.Minute} {
		for _, flow := range []Flow{"", FlowCommit, FlowReserve, FlowWord} {
			tm := Timing{Delay: delay, StaleAge: 30 * time.Second, TimeOut: time.Minute, Finalize: 20 * time.Second, Flow: flow, Word: "PAID"}
			for _, r := range append(Table(), Default()) {
				at, moved := time.Duration(0), NoMove
				for _, s := range Script(r.Do, tm) {
					require.GreaterOrEqual(t, s.At, at, r.Name)
					require.Equal(t, s.Account == "COMMIT", s.Move == Commit, r.Name)
					if s.Move == Commit {
						require.NotEqual(t, Commit, moved, "%s commits once", r.Name)
					}
					at, moved = s.At, s.Move
				}
			}
			slow := Script(SlowCommit, tm)[0].At
			require.Less(t, slow, max(tm.StaleAge, delay))
		}
	}
}

func TestSlowReplyComesAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Perform(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			require.True(t, Ask(r.Context(), Slow))
			w.WriteHeader(http.StatusAccepted)
		}))
		rec, begun := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
		require.Equal(t, SlowReply, time.Since(begun))
		require.Equal(t, http.StatusAccepted, rec.Code)
	})
	require.False(t, Ask(t.Context(), Slow), "nobody stands around")
}
