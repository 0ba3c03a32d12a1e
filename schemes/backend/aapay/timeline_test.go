package aapay_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
)

// SWISH_E_COM of the built-in seed: mean delay 10 s, stale age 30 s, both time-outs 5 min.
const swish = "SWISH_E_COM"

// moment is what a payment looks like at a time after its creation.
type moment struct {
	at      time.Duration
	state   aapay.State
	account aapay.AccountState
	net     int64 // the merchant's, in minor units of the row's amount
}

// Each wallet row of the table in virtual time, one millisecond before, at and after each of its moments.
func TestWalletRows(t *testing.T) {
	const ms, s, m = time.Millisecond, time.Second, time.Minute
	stale, out := 30*s, 30*s+5*m
	rows := map[string][]moment{
		"approve":   {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "FINALIZED", "COMMIT", 1}, {10*s + ms, "FINALIZED", "COMMIT", 1}, {time.Hour, "FINALIZED", "COMMIT", 1}},
		"declined":  {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "REJECTED", "", 0}, {time.Hour, "REJECTED", "", 0}},
		"cancelled": {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "CANCELLED", "", 0}, {time.Hour, "CANCELLED", "", 0}},
		"failed":    {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "FAILED", "", 0}, {time.Hour, "FAILED", "", 0}},
		"slow":      {{10*s + ms, "INITIALIZED", "", 0}, {24*s - ms, "INITIALIZED", "", 0}, {24 * s, "FINALIZED", "COMMIT", 1}},
		"stale-commit": {
			{stale - ms, "INITIALIZED", "", 0}, {stale, "STALE", "", 0}, {stale + ms, "STALE", "", 0},
			{stale + 150*s - ms, "STALE", "", 0}, {stale + 150*s, "FINALIZED", "COMMIT", 1},
		},
		"never": {
			{stale - ms, "INITIALIZED", "", 0}, {stale, "STALE", "", 0}, {stale + ms, "STALE", "", 0},
			{out - ms, "STALE", "", 0}, {out, "TIMEDOUT", "", 0}, {out + ms, "TIMEDOUT", "", 0}, {24 * time.Hour, "TIMEDOUT", "", 0},
		},
		"reserve":         {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "RESERVED", "", 0}, {20*s - ms, "RESERVED", "", 0}, {20 * s, "FINALIZED", "COMMIT", 1}},
		"reserve-timeout": {{10 * s, "RESERVED", "", 0}, {10*s + 5*m - ms, "RESERVED", "", 0}, {10*s + 5*m, "TIMEDOUT", "ROLLBACK", 0}, {10*s + 5*m + ms, "TIMEDOUT", "ROLLBACK", 0}},
		"provider-word":   {{10 * s, "APPROVED", "", 0}, {20*s - ms, "APPROVED", "", 0}, {20 * s, "FINALIZED", "COMMIT", 1}},
		"late-commit":     {{stale, "STALE", "", 0}, {out, "TIMEDOUT", "", 0}, {out + 2*s - ms, "TIMEDOUT", "", 0}, {out + 2*s, "TIMEDOUT", "COMMIT", 1}},
		"bad-word-commit": {{10*s - ms, "INITIALIZED", "", 0}, {10 * s, "FAILED", "COMMIT", 1}, {time.Hour, "FAILED", "COMMIT", 1}},
		"rollback":        {{10 * s, "FINALIZED", "ROLLBACK", 0}, {time.Hour, "FINALIZED", "ROLLBACK", 0}},
		"unknown-word":    {{0, "AWAITING_BANK", "", 0}, {10*s - ms, "AWAITING_BANK", "", 0}, {10 * s, "FINALIZED", "COMMIT", 1}},
		"pending":         {{0, "PENDING", "", 0}, {10*s - ms, "PENDING", "", 0}, {10 * s, "FINALIZED", "COMMIT", 1}},
	}
	amounts := map[string]int64{"approve": 1250}
	for _, row := range scenario.Table() {
		amounts[row.Name] = row.AmountHundredths
		if row.On == scenario.Wallet {
			require.Contains(t, rows, row.Name, "every wallet row is proven")
		}
	}
	w := newWorld(t, "", nil)
	for name, moments := range rows {
		t.Run(name, func(t *testing.T) {
			for _, lazy := range []bool{false, true} { // read at every moment, or only at the last
				req := w.pay(swish, amounts[name])
				begun := w.Now()
				for i, m := range moments {
					if lazy && i < len(moments)-1 {
						continue
					}
					w.Set(begun.Add(m.at))
					st := w.status(req.TerminalReference)
					at := fmt.Sprintf("lazy %t after %s", lazy, m.at)
					require.Equal(t, m.state, st.State, at)
					require.Equal(t, m.account, st.AccountState, at)
					require.EqualValues(t, m.net*amounts[name], w.net(req.TerminalReference), at)
				}
			}
		})
	}
	w.sound()
}

// The flows of the built-in methods, and the sweeper that moves them with nobody asking.
func TestMethodFlows(t *testing.T) {
	w := newWorld(t, "", nil)
	s := time.Second
	for _, row := range []struct {
		method  string
		trigger string
		moments []moment
	}{
		{"EASY", aapay.TriggerManual, []moment{{10 * s, "FINALIZED", "COMMIT", 1}}},
		{"KLARNA", aapay.TriggerQR, []moment{{15 * s, "RESERVED", "", 0}, {30 * s, "FINALIZED", "COMMIT", 1}}},
		{"SANTANDER", aapay.TriggerManual, []moment{{20 * s, "RESERVED", "", 0}, {40 * s, "FINALIZED", "COMMIT", 1}}},
		{"TWINT", aapay.TriggerQR, []moment{{10 * s, "PAID", "", 0}, {20 * s, "FINALIZED", "COMMIT", 1}}},
		{"BLUECODE", aapay.TriggerQR, []moment{{10 * s, "FINALIZED", "COMMIT", 1}}},
		{"VIPPS", aapay.TriggerQR, []moment{{10 * s, "FINALIZED", "COMMIT", 1}}},
		{"GIFT_CARD", aapay.TriggerManual, []moment{{10 * s, "FINALIZED", "COMMIT", 1}}},
	} {
		t.Run(row.method, func(t *testing.T) {
			req := w.request(row.method, 1250)
			req.Trigger = row.trigger
			require.Equal(t, 202, w.begin(aapay.Payment, req).HTTPStatus)
			begun := w.Now()
			for _, m := range row.moments {
				w.Set(begun.Add(m.at))
				w.is(req.TerminalReference, m.state, m.account)
			}
		})
	}
	w.sound()
}

func TestConsumerPicksTheRowBeforeTheAmount(t *testing.T) {
	w := newWorld(t, "", nil)
	for _, row := range scenario.Table() {
		if row.Name != "declined" {
			continue
		}
		req := w.request("EASY", 90001) // the amount alone would be rejected at once
		req.Trigger, req.Consumer.ConsumerID = aapay.TriggerManual, row.ConsumerID
		require.Equal(t, 202, w.begin(aapay.Payment, req).HTTPStatus)
		w.Pass(10 * time.Second)
		w.is(req.TerminalReference, aapay.Rejected, "")
		require.Equal(t, row.ConsumerID, w.status(req.TerminalReference).PayerID)
	}
}

// A definition's own times, in another unit and absent.
func TestTimesComeFromTheDefinition(t *testing.T) {
	const seed = `[{"priority":1,"paymentProviderId":1,"name":"A","meanDelay":2,"label":"A","trigger":["QR"],"transactionTypes":["PAYMENT","REVERSAL"],"staleTimeOut":7},
		{"priority":2,"paymentProviderId":2,"name":"B","meanDelay":0,"label":"B","trigger":["QR"],"transactionTypes":["PAYMENT"]}]`
	never := time.Duration(-1)
	w := newWorld(t, seed, &never)
	w.opt.Unit = "s"
	w.Restart()
	for _, row := range []struct {
		method     string
		stale, out time.Duration
	}{{"A", 6 * time.Second, 7 * time.Second}, {"B", 30 * time.Second, 5 * time.Minute}} {
		req := w.pay(row.method, 90008)
		w.Pass(row.stale - time.Millisecond)
		w.is(req.TerminalReference, aapay.Initialized, "")
		w.Pass(time.Millisecond)
		w.is(req.TerminalReference, aapay.Stale, "")
		w.Pass(row.out - time.Millisecond)
		w.is(req.TerminalReference, aapay.Stale, "")
		w.Pass(time.Millisecond)
		w.is(req.TerminalReference, aapay.TimedOut, "")
	}
}

// TestField2_S7NaaSaysAdditionalInfo: naa2Ecr has additionalInfo in every answer, of initialize and status, of payments, refunds and reversals:
// the provider's message once a payment is paid or reserved, else the method's label. Loyalty ids come with a paid payment alone.
func TestField2_S7NaaSaysAdditionalInfo(t *testing.T) {
	w := newWorld(t, "", nil)
	for method, want := range map[string]struct {
		label, paid string
		loyalty     []string
	}{
		swish:      {"Swish", "Swish", nil},
		"KLARNA":   {"Klarna", "The invoice comes by e-mail, due in 30 days", nil},
		"BLUECODE": {"Bluecode", "12 points for this purchase", []string{"BC-4711-0815"}},
	} {
		req := w.request(method, 1250)
		begun := w.begin(aapay.Payment, req)
		require.Equal(t, 202, begun.HTTPStatus)
		require.Equal(t, want.label, begun.Response.NAA2ECR.AdditionalInfo, method)
		st := w.status(req.TerminalReference)
		require.Equal(t, want.label, st.NAA2ECR.AdditionalInfo, method)
		require.Empty(t, st.NAA2ECR.PayerID, method)
		require.Empty(t, st.NAA2ECR.LoyaltyIDs, method)
		w.Pass(time.Minute)
		st = w.status(req.TerminalReference)
		require.Equal(t, want.paid, st.NAA2ECR.AdditionalInfo, method)
		require.Equal(t, want.loyalty, st.NAA2ECR.LoyaltyIDs, method)
		require.NotEmpty(t, st.NAA2ECR.PayerID, method)
	}
	req := w.pay("BLUECODE", 900)
	w.Pass(10 * time.Second)
	back := w.undo(strconv.FormatInt(w.status(req.TerminalReference).TransactionID, 10), "BLUECODE", 900)
	begun := w.begin(aapay.Refund, back)
	require.Equal(t, 202, begun.HTTPStatus)
	require.Equal(t, "Bluecode", begun.Response.NAA2ECR.AdditionalInfo, "a refund")
	st := w.status(back.TerminalReference)
	require.Equal(t, "Bluecode", st.NAA2ECR.AdditionalInfo, "a refund")
	require.Empty(t, st.NAA2ECR.LoyaltyIDs, "a refund")
}
