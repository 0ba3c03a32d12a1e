package checkout

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
)

func method(name string, priority, id int32, triggers ...methods.Trigger) methods.Definition {
	return methods.Definition{
		Name: name, Priority: priority, PaymentProviderID: id, MeanDelay: 10, Trigger: triggers,
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal, methods.Refund},
	}
}

func offer(defs []methods.Definition, w Wish) []string {
	out := []string{}
	for _, p := range Offer(defs, w) {
		out = append(out, p.Method.Name+"/"+string(p.Trigger))
	}
	return out
}

func TestOffer(t *testing.T) {
	prompted := method("PROMPTED", 4, 4, methods.QR)
	prompted.Queries = []map[string]methods.QueryPrompt{{"1": {Label: "reference", Min: 2, Max: 5}}}
	prompted.TxnQueryFlow = []methods.QueryFlow{{TransactionType: methods.Payment, QueryIDs: []int32{1}, Triggers: []methods.Trigger{methods.QR}}}
	both := method("KLARNA", 3, 3, methods.Manual, methods.QR)
	manual := methods.Manual
	both.DefaultTrigger = &manual
	delayed := method("TWINT", 5, 5, methods.QR)
	delayed.DelayedAmount = 1
	defs := []methods.Definition{delayed, prompted, both, method("SWISH_E_COM", 2, 2, methods.QR), method("SANTANDER", 1, 1, methods.Manual)}

	require.Equal(t, []string{"SWISH_E_COM/QR", "KLARNA/QR", "TWINT/QR"}, offer(defs, Wish{}), "without a prompter nothing that asks")
	require.Equal(t, []string{"SANTANDER/MANUAL", "SWISH_E_COM/QR", "KLARNA/MANUAL", "KLARNA/QR", "PROMPTED/QR", "TWINT/QR"}, offer(defs, Wish{Prompter: true}))
	require.Equal(t, []string{"KLARNA/QR"}, offer(defs, Wish{CardType: 120}))
	require.Equal(t, []string{"KLARNA/QR"}, offer(defs, Wish{CardType: 120, Choice: "TWINT"}), "the register's card type comes first")
	require.Equal(t, []string{"SWISH_E_COM/QR"}, offer(defs, Wish{CardType: 280}))
	require.Empty(t, offer(defs, Wish{CardType: 5}))
	require.Equal(t, []string{"TWINT/QR"}, offer(defs, Wish{Choice: "TWINT"}))
	require.Equal(t, []string{"TWINT/QR"}, offer(defs, Wish{NoAmount: true}))
	require.Equal(t, []string{"KLARNA/QR"}, offer(defs, Wish{Exclude: []int32{2, 5}}))
	require.Empty(t, offer(nil, Wish{}))

	all := Offer(defs, Wish{Prompter: true})
	require.Equal(t, 1, Default(all, false), "the first that asks nothing")
	require.Equal(t, 1, Default(all, true), "several methods have that card type")
	require.Equal(t, 0, Default(all[2:4], true), "its own default")
	require.Equal(t, 0, Default(all[:1], false), "there is no other")
	long := method("LONG", 1, 1, methods.Manual)
	long.Queries = []map[string]methods.QueryPrompt{{"1": {Label: "reference", Min: 256, Max: 300}}}
	long.TxnQueryFlow = []methods.QueryFlow{{TransactionType: methods.Payment, QueryIDs: []int32{1}}}
	require.Empty(t, offer([]methods.Definition{long}, Wish{Prompter: true}), "an answer that no request has room for")
	long.Queries[0]["1"] = methods.QueryPrompt{Label: "reference", Min: 255, Max: 300}
	require.Equal(t, []string{"LONG/MANUAL"}, offer([]methods.Definition{long}, Wish{Prompter: true}))
	require.Error(t, CheckAnswers(Offer([]methods.Definition{long}, Wish{Prompter: true})[0].Prompts, map[int32]string{1: strings.Repeat("7", 256)}))

	prompts := Offer(defs, Wish{Choice: "PROMPTED", Prompter: true})[0].Prompts
	require.NoError(t, CheckAnswers(prompts, map[int32]string{1: "åäö"}))
	require.Error(t, CheckAnswers(prompts, map[int32]string{1: "x"}))
	require.Error(t, CheckAnswers(prompts, nil))
	require.Error(t, CheckAnswers(prompts, map[int32]string{1: "123456"}))
}

func TestPollSchedule(t *testing.T) {
	p := Poll{Mean: 10 * time.Second}
	for _, c := range []struct {
		elapsed, retry, want time.Duration
		code                 bool
	}{
		{0, 0, 2 * time.Second, false},
		{3 * time.Second, 0, 2 * time.Second, false}, // the code is still awaited
		{2 * time.Second, 0, 3 * time.Second, true},  // up to half the mean
		{5 * time.Second, 0, 2 * time.Second, true},  // dense
		{20 * time.Second, 0, 2 * time.Second, true},
		{36 * time.Second, 0, 6 * time.Second, true},
		{10 * time.Minute, 0, 10 * time.Second, true},
		{5 * time.Second, 17 * time.Second, 17 * time.Second, true},
		{5 * time.Second, 1000 * time.Hour, 5 * time.Minute, true},
		{5 * time.Second, -time.Second, 2 * time.Second, true},
	} {
		require.Equal(t, c.want, p.After(c.elapsed, c.code, c.retry), c)
	}
	for s := range 600 {
		require.GreaterOrEqual(t, p.After(time.Duration(s)*time.Second, true, 0), 2*time.Second)
	}
	require.Equal(t, 50*time.Millisecond, Poll{Floor: 50 * time.Millisecond}.After(0, false, 0))
}

// TestField2_S7AWalletIDNamesAMethod: a register names its method by the definition's name, or by the walletId that a wallet has (S1 2.5).
// The kind: a name, a walletId, one that is another's name, one that two have, and one that nobody has.
func TestField2_S7AWalletIDNamesAMethod(t *testing.T) {
	of := func(d methods.Definition, wallet string) methods.Definition {
		d.WalletID = wallet
		return d
	}
	defs := []methods.Definition{
		of(method("SWISH_E_COM", 2, 2, methods.QR), "swish"), of(method("TWINT", 3, 3, methods.QR), "KLARNA"), method("KLARNA", 4, 4, methods.QR),
		of(method("VIPPS_NO", 6, 6, methods.QR), "vipps"), of(method("VIPPS_DK", 5, 5, methods.QR), "vipps"),
	}
	for named, want := range map[string][]string{
		"SWISH_E_COM": {"SWISH_E_COM/QR"}, "swish": {"SWISH_E_COM/QR"}, "KLARNA": {"KLARNA/QR"}, "vipps": {"VIPPS_DK/QR", "VIPPS_NO/QR"}, "none": {}, "Swish": {},
	} {
		require.Equal(t, want, offer(defs, Wish{Method: named}), named)
	}
}
