package methods_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
)

// qrMethod is a good definition: a QR method whose every transaction type works.
func qrMethod() methods.Definition {
	five := int32(5)
	return methods.Definition{
		Priority: 1, PaymentProviderID: 10, Name: "EASY", MeanDelay: 10, WalletID: "easy", Label: "Easy",
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		Trigger:          []methods.Trigger{methods.QR},
		OKCodes: []methods.OKCode{
			{Type: methods.Refund, Value: "REFUNDED"}, {Type: methods.Reversal, Value: "REVERSED"},
		},
		MerchRcptReq:  []methods.ReceiptRule{{FiTxnTypes: methods.Refund, Req: methods.Required}},
		TriggerParams: &methods.TriggerParams{Qr: &methods.QRParams{ShortcutKey: "1", PushText: "Scan to pay", Type: "0", BgColor: "#FFFFFF"}},
		StaleTimeOut:  &five, FinalizeTimeOut: &five,
	}
}

// manualMethod is a good definition with a prompt: the consumer's id is typed in.
func manualMethod() methods.Definition {
	byQR := methods.QR
	return methods.Definition{
		Priority: 2, PaymentProviderID: 20, Name: "SWISH_E_COM", MeanDelay: 15, WalletID: "swish", Label: "Swish",
		Queries:          []map[string]methods.QueryPrompt{{"1": {Label: "Mobile number", Min: 8, Max: 15}}, {"2": {Label: "Order", Min: 1, Max: 12}}},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
		Trigger:          []methods.Trigger{methods.Manual, methods.QR}, DefaultTrigger: &byQR,
		OKCodes: []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}},
		TxnQueryFlow: []methods.QueryFlow{
			{TransactionType: methods.Payment, QueryIDs: []int32{2, 1}, Triggers: []methods.Trigger{methods.Manual}},
		},
		DelayedAmount: 1,
	}
}

func TestStaleAge(t *testing.T) {
	for _, c := range []struct {
		delay int32
		want  time.Duration
	}{
		{10, 30_000 * time.Millisecond},
		{1, 3 * time.Second},
		{15, 45 * time.Second},
		{0, 30 * time.Second},
		{-1, 30 * time.Second},
		{math.MinInt32, 30 * time.Second},
		{math.MaxInt32, 6442450941 * time.Second},
	} {
		require.Equal(t, c.want, methods.StaleAge(methods.Definition{MeanDelay: c.delay}), "%d", c.delay)
		require.Equal(t, c.want/3, methods.MeanDelay(methods.Definition{MeanDelay: c.delay}))
	}
}

func TestTimeOuts(t *testing.T) {
	n := func(v int32) *int32 { return &v }
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		value *int32
		unit  string
		want  time.Duration
	}{
		{nil, "m", 5 * time.Minute},
		{n(0), "s", 5 * time.Minute},
		{n(-1), "ms", 5 * time.Minute},
		{n(math.MinInt32), "m", 5 * time.Minute},
		{n(5), "m", 5 * time.Minute},
		{n(5), "", 5 * time.Minute},
		{n(300), "s", 5 * time.Minute},
		{n(1500), "ms", 1500 * time.Millisecond},
		{n(math.MaxInt32), "m", year},
		{n(math.MaxInt32), "s", year},
		{n(math.MaxInt32), "ms", math.MaxInt32 * time.Millisecond},
	} {
		stale, finalize := methods.TimeOuts(methods.Definition{StaleTimeOut: c.value}, c.unit)
		require.Equal(t, c.want, stale)
		require.Equal(t, 5*time.Minute, finalize)
		_, finalize = methods.TimeOuts(methods.Definition{FinalizeTimeOut: c.value}, c.unit)
		require.Equal(t, c.want, finalize)
	}
}

func TestOK(t *testing.T) {
	d := methods.Definition{}
	for _, w := range []string{"PAID", "RESERVED", "PENDING", "FAILED", "REJECTED", "CANCELLED", "TIMEDOUT", "STALE", "INITIALIZED", ""} {
		d.OKCodes = append(d.OKCodes, methods.OKCode{Type: methods.Payment, Value: w})
	}
	for w, want := range map[string]bool{
		"PAID": true, "RESERVED": true, "paid": false, "APPROVED": false, "FINALIZED": false,
		"PENDING": false, "FAILED": false, "REJECTED": false, "CANCELLED": false, "TIMEDOUT": false, "STALE": false, "INITIALIZED": false, "": false,
	} {
		require.Equal(t, want, methods.OK(d, methods.Payment, w), w)
		require.False(t, methods.OK(d, methods.Refund, w), w)
	}
}

func TestReadingRules(t *testing.T) {
	d, m := qrMethod(), manualMethod()
	require.True(t, methods.Supports(d, methods.Refund))
	require.False(t, methods.Supports(m, methods.Refund))
	require.True(t, methods.HasTrigger(d, methods.QR))
	require.False(t, methods.HasTrigger(d, methods.Manual))
	require.True(t, methods.HasTrigger(methods.Definition{}, methods.Manual))
	require.False(t, methods.HasTrigger(methods.Definition{}, methods.QR))
	require.True(t, methods.ReceiptRequired(d, methods.Refund))
	require.False(t, methods.ReceiptRequired(d, methods.Payment))
	require.True(t, methods.StartsWithoutAmount(m))
	require.False(t, methods.StartsWithoutAmount(d))
	require.False(t, methods.EMVQR(d))
	require.False(t, methods.EMVQR(m))
	d.TriggerParams.Qr.Type = "1"
	require.True(t, methods.EMVQR(d))
	for _, c := range []struct {
		types []methods.TransactionType
		want  bool
	}{
		{nil, false},
		{[]methods.TransactionType{methods.Payment}, false},
		{[]methods.TransactionType{methods.Payment, methods.Refund}, true},
		{[]methods.TransactionType{methods.Payment, methods.Reversal}, true},
	} {
		require.Equal(t, c.want, methods.Undoable(methods.Definition{TransactionTypes: c.types}))
	}
}

func TestPrompts(t *testing.T) {
	m := manualMethod()
	got := methods.Prompts(m, methods.Payment, methods.Manual)
	require.Equal(t, []methods.Prompt{
		{ID: 2, QueryPrompt: methods.QueryPrompt{Label: "Order", Min: 1, Max: 12}},
		{ID: 1, QueryPrompt: methods.QueryPrompt{Label: "Mobile number", Min: 8, Max: 15}},
	}, got, "in the order of the flow")
	require.Empty(t, methods.Prompts(m, methods.Payment, methods.QR))
	require.Empty(t, methods.Prompts(m, methods.Refund, methods.Manual))
	m.TxnQueryFlow = []methods.QueryFlow{
		{TransactionType: methods.Payment, QueryIDs: []int32{1, 9}},
		{TransactionType: methods.Payment, QueryIDs: []int32{1, 2}, Triggers: []methods.Trigger{methods.QR}},
	}
	got = methods.Prompts(m, methods.Payment, methods.QR)
	require.Len(t, got, 2, "each once, what does not exist left out")
	require.EqualValues(t, 1, got[0].ID)
}

func TestUsableKeepsGoodOnes(t *testing.T) {
	in := []methods.Definition{qrMethod(), manualMethod()}
	before, err := json.Marshal(in)
	require.NoError(t, err)
	good, problems := methods.Usable(in)
	require.Empty(t, problems)
	require.Equal(t, in, good)
	after, err := json.Marshal(in)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestUsableRefusesSingly(t *testing.T) {
	for name, spoil := range map[string]func(*methods.Definition){
		"duplicate id":     func(d *methods.Definition) { d.PaymentProviderID = 10 },
		"no name":          func(d *methods.Definition) { d.Name = "" },
		"name control":     func(d *methods.Definition) { d.Name = "A\nB" },
		"long name":        func(d *methods.Definition) { d.Name = strings.Repeat("n", 256) },
		"no types":         func(d *methods.Definition) { d.TransactionTypes = nil },
		"unknown types":    func(d *methods.Definition) { d.TransactionTypes = []methods.TransactionType{"SALE"} },
		"unknown triggers": func(d *methods.Definition) { d.Trigger = []methods.Trigger{"NFC", "qr"} },
		"min above max":    func(d *methods.Definition) { d.Queries[0]["1"] = methods.QueryPrompt{Min: 9, Max: 8} },
		"negative min":     func(d *methods.Definition) { d.Queries[0]["1"] = methods.QueryPrompt{Min: -1, Max: 8} },
		"max zero":         func(d *methods.Definition) { d.Queries[0]["1"] = methods.QueryPrompt{} },
		"endless min":      func(d *methods.Definition) { d.Queries[0]["1"] = methods.QueryPrompt{Min: 5000, Max: 6000} },
		"unknown query":    func(d *methods.Definition) { d.TxnQueryFlow[0].QueryIDs = []int32{1, 7} },
		"many query ids":   func(d *methods.Definition) { d.TxnQueryFlow[0].QueryIDs = make([]int32, 101) },
		"many queries": func(d *methods.Definition) {
			for i := range 200 {
				d.Queries = append(d.Queries, map[string]methods.QueryPrompt{fmt.Sprint(i): {Max: 1}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad, third := manualMethod(), qrMethod()
			third.PaymentProviderID = 30
			spoil(&bad)
			good, problems := methods.Usable([]methods.Definition{qrMethod(), bad, third})
			require.Equal(t, []methods.Definition{qrMethod(), third}, good)
			require.Len(t, problems, 1)
			require.ErrorContains(t, problems[0], "definition 1")
			require.ErrorContains(t, problems[0], "left out")
		})
	}
}

func TestUsableMends(t *testing.T) {
	qr := methods.QR
	for _, c := range []struct {
		name, names string
		spoil       func(*methods.Definition)
		check       func(*testing.T, methods.Definition)
	}{
		{"trigger", "trigger", func(d *methods.Definition) { d.Trigger = append(d.Trigger, "NFC") },
			func(t *testing.T, d methods.Definition) { require.Equal(t, []methods.Trigger{methods.QR}, d.Trigger) }},
		{"type", "transactionTypes", func(d *methods.Definition) { d.TransactionTypes = append(d.TransactionTypes, "TIP") },
			func(t *testing.T, d methods.Definition) { require.Len(t, d.TransactionTypes, 3) }},
		{"default trigger", "defaultTrigger", func(d *methods.Definition) { d.Trigger, d.DefaultTrigger = []methods.Trigger{methods.Manual}, &qr },
			func(t *testing.T, d methods.Definition) { require.Nil(t, d.DefaultTrigger) }},
		{"ok codes", "okCodes", func(d *methods.Definition) {
			d.OKCodes = append(d.OKCodes, methods.OKCode{Type: methods.Payment, Value: "FAILED"}, methods.OKCode{Type: "X", Value: "PAID"})
		}, func(t *testing.T, d methods.Definition) { require.Len(t, d.OKCodes, 2) }},
		{"receipt rule", "merchRcptReq", func(d *methods.Definition) {
			d.MerchRcptReq = []methods.ReceiptRule{{FiTxnTypes: methods.Payment, Req: "MAYBE"}}
		},
			func(t *testing.T, d methods.Definition) { require.Empty(t, d.MerchRcptReq) }},
		{"query flow", "txnQueryFlow", func(d *methods.Definition) { d.TxnQueryFlow = []methods.QueryFlow{{TransactionType: "X"}} },
			func(t *testing.T, d methods.Definition) { require.Empty(t, d.TxnQueryFlow) }},
		{"label control", "label", func(d *methods.Definition) { d.Label = "Ea\x1b]8;;\u202e\u2028sy" },
			func(t *testing.T, d methods.Definition) { require.Equal(t, "Ea ]8;;  sy", d.Label) }},
		{"label not utf-8", "label", func(d *methods.Definition) { d.Label = "Ea\xffsy" },
			func(t *testing.T, d methods.Definition) { require.NotContains(t, d.Label, "\xff") }},
		{"label long", "label", func(d *methods.Definition) { d.Label = strings.Repeat("ä", 100_000) },
			func(t *testing.T, d methods.Definition) { require.Equal(t, strings.Repeat("ä", 64), d.Label) }},
		{"label empty", "label", func(d *methods.Definition) { d.Label = " \n " },
			func(t *testing.T, d methods.Definition) { require.Equal(t, "EASY", d.Label) }},
		{"delayed amount", "delayedAmount", func(d *methods.Definition) { d.DelayedAmount = 7 },
			func(t *testing.T, d methods.Definition) { require.Zero(t, d.DelayedAmount) }},
		{"colour", "bgcolor", func(d *methods.Definition) { d.TriggerParams.Qr.BgColor = `";alert(1)` },
			func(t *testing.T, d methods.Definition) { require.Empty(t, d.TriggerParams.Qr.BgColor) }},
		{"colour length", "bgcolor", func(d *methods.Definition) { d.TriggerParams.Qr.BgColor = "#ffff" },
			func(t *testing.T, d methods.Definition) { require.Empty(t, d.TriggerParams.Qr.BgColor) }},
		{"push text", "pushText", func(d *methods.Definition) { d.TriggerParams.Qr.PushText = "a\nb" },
			func(t *testing.T, d methods.Definition) { require.Equal(t, "a b", d.TriggerParams.Qr.PushText) }},
		{"query label", "query label", func(d *methods.Definition) {
			d.Queries = []map[string]methods.QueryPrompt{{"1": {Label: "a\tb", Min: 1, Max: math.MaxInt32}}}
		}, func(t *testing.T, d methods.Definition) {
			require.Equal(t, methods.QueryPrompt{Label: "a b", Min: 1, Max: 1000}, d.Queries[0]["1"])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := qrMethod()
			c.spoil(&d)
			good, problems := methods.Usable([]methods.Definition{d})
			require.Len(t, good, 1)
			require.Len(t, problems, 1)
			require.ErrorContains(t, problems[0], c.names)
			c.check(t, good[0])
			again, problems := methods.Usable(good)
			require.Empty(t, problems, "mending once is enough")
			require.Equal(t, good, again)
		})
	}
	for _, colour := range []string{"", "#fff", "#A0b1C2", "ffffff", "red", "DarkSlateGray"} {
		d := qrMethod()
		d.TriggerParams.Qr.BgColor = colour
		_, problems := methods.Usable([]methods.Definition{d})
		require.Empty(t, problems, colour)
	}
}

func TestUsableIsBounded(t *testing.T) {
	many := make([]methods.Definition, 100_000)
	for i := range many {
		many[i] = qrMethod()
		many[i].PaymentProviderID = int32(i)
	}
	good, problems := methods.Usable(many)
	require.Len(t, good, methods.MaxDefinitions)
	require.Len(t, problems, 1)
}
