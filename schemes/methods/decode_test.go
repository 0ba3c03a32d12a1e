package methods_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
)

func TestDecodeList(t *testing.T) {
	const good = `{"name":"EASY","paymentProviderId":1}`
	for _, c := range []struct {
		name, text     string
		defs, problems int
		fails          bool
	}{
		{"array", `[` + good + `]`, 1, 0, false},
		{"one object", good, 1, 0, false},
		{"nothing", `[]`, 0, 0, false},
		{"null where the service says so", `[{"name":"A","paymentProviderId":1,"priority":null,"label":null,"meanDelay":null,"delayedAmount":null,"queries":null,"defaultTrigger":null,"walletId":null,"staleTimeOut":null,"triggerParams":{"Qr":null},"trigger":null}]`, 1, 0, false},
		{"unknown keys", `[{"name":"A","paymentProviderId":1,"new":{"x":[null]}}]`, 1, 0, false},
		{"one bad of two", `[` + good + `,{"name":"B","paymentProviderId":2147483648}]`, 1, 1, false},
		{"one null of two", `[null,` + good + `]`, 1, 1, false},
		{"one without name", `[{"paymentProviderId":1},` + good + `]`, 1, 1, false},
		{"one with null name", `[{"name":null,"paymentProviderId":1},` + good + `]`, 1, 1, false},
		{"one without id", `[{"name":"A"},` + good + `]`, 1, 1, false},
		{"one with float", `[{"name":"A","paymentProviderId":1,"meanDelay":1.5},` + good + `]`, 1, 1, false},
		{"one with a twin", `[{"name":"A","paymentProviderId":1,"Priority":1},` + good + `]`, 1, 1, false},
		{"none readable", `[{},1,"x",null]`, 0, 4, true},
		{"an error body", `{"valid":false,"error":{"message":"x"}}`, 0, 1, true},
		{"duplicate key anywhere", `[` + good + `,{"name":"B","name":"C","paymentProviderId":2}]`, 0, 0, true},
		{"trailing", `[` + good + `]x`, 0, 0, true},
		{"text", `"x"`, 0, 0, true},
		{"null", `null`, 0, 0, true},
		{"html", `<html>`, 0, 0, true},
		{"empty", ``, 0, 0, true},
		{"space", ` `, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			defs, problems, err := methods.DecodeList([]byte(c.text))
			require.Len(t, defs, c.defs)
			require.Len(t, problems, c.problems)
			require.Equal(t, c.fails, err != nil, "%v", err)
		})
	}
	defs, problems, err := methods.DecodeList([]byte(`[` + strings.TrimSuffix(strings.Repeat(good+",", 100_000), ",") + `]`))
	require.NoError(t, err)
	require.Len(t, defs, methods.MaxDefinitions)
	require.Len(t, problems, 1)
}

func FuzzDecodeList(f *testing.F) {
	f.Add([]byte(`[{"name":"EASY","paymentProviderId":1,"queries":[{"1":{"label":"a","min":1,"max":2}}],"txnQueryFlow":[{"transactionType":"PAYMENT","queryIds":[1],"triggers":["QR"]}],"trigger":["QR"],"transactionTypes":["PAYMENT"]}]`))
	f.Add([]byte(`{"name":"EASY","paymentProviderId":1,"meanDelay":-1,"staleTimeOut":2147483647}`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		defs, _, err := methods.DecodeList(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(defs)
		require.NoError(t, err)
		again, problems, err := methods.DecodeList(text)
		require.NoError(t, err)
		require.Empty(t, problems)
		text2, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(text2))
		good, _ := methods.Usable(defs)
		_, problems = methods.Usable(good)
		require.Empty(t, problems, "mending once is enough")
		for _, d := range good {
			require.Positive(t, methods.StaleAge(d))
			for _, p := range methods.Prompts(d, methods.Payment, methods.QR) {
				require.LessOrEqual(t, p.Min, p.Max)
			}
		}
	})
}
