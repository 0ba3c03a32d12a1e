package aapay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

func TestParseSeed(t *testing.T) {
	s, err := wallets.ParseSeed(nil)
	require.NoError(t, err)
	require.Len(t, s.Methods, 8)
	require.Equal(t, scenario.FlowReserve, s.Methods[2].Flow)
	plain, err := wallets.ParseSeed([]byte(`[{"priority":2,"paymentProviderId":1,"name":"B"},{"priority":1,"paymentProviderId":2,"name":"A"}]`))
	require.NoError(t, err)
	require.Equal(t, "A", plain.Methods[0].Name, "best first")
	require.NotEmpty(t, plain.MerchantName)
}

// A caller of a list gets that list, best first, and any other caller the usual one. What is sold by any of them is one provider's.
func TestSeedLists(t *testing.T) {
	w := newWorld(t, `{"merchants":["b"],"methods":[{"priority":1,"paymentProviderId":1,"name":"A"}],"lists":{
		"winter":[{"priority":2,"paymentProviderId":2,"name":"B","flow":"word"},{"priority":1,"paymentProviderId":1,"name":"A"}],"none":[]}}`, nil)
	for caller, want := range map[string][]string{"": {"A"}, "posagent": {"A"}, "Winter": {"A"}, "winter": {"A", "B"}, "none": {}} {
		list, err := w.List(t.Context(), methods.Query{BaxID: "b", TerminalID: "t", Caller: caller})
		require.NoError(t, err)
		names := []string{}
		for _, d := range list {
			names = append(names, d.Name)
		}
		require.Equal(t, want, names, caller)
	}
	_, err := w.List(t.Context(), methods.Query{BaxID: "c", TerminalID: "t", Caller: "winter"})
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "a list gives no merchant what it has not")
	list, err := w.List(t.Context(), methods.Query{BaxID: "b", TerminalID: "t", Caller: "winter", Exclude: []int32{1}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	reply, err := w.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, w.request("B", 1250))
	require.NoError(t, err)
	require.NotNil(t, reply.Response, "what one list alone has is sold")

	for text, want := range map[string]string{
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"w":[{"paymentProviderId":2,"name":"A"}]}}`:                                                     "lists.w A: another list has it with another",
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"w":[{"paymentProviderId":1,"name":"A","flow":"reserve"}]}}`:                                    "lists.w A: another list has it with another",
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"v":[{"paymentProviderId":2,"name":"B"}],"w":[{"paymentProviderId":2,"name":"B","word":"X"}]}}`: "lists.w B: another list has it with another",
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"w":[{"paymentProviderId":2}]}}`:                                                                "lists.w[0]: name is missing",
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"w":[{"paymentProviderId":2,"name":"B"},{"paymentProviderId":2,"name":"C"}]}}`:                  "lists.w[1] C: name or paymentProviderId is there twice",
		`{"methods":[{"paymentProviderId":1,"name":"A"}],"lists":{"w":[{"paymentProviderId":2,"name":"B","flow":"x"}]}}`:                                          `lists.w[0] B: flow "x"`,
	} {
		_, err := wallets.ParseSeed([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseSeed(f *testing.F) {
	for _, s := range []string{"", "{}", "[]", `[{"name":"A"}]`, `{"methods":[{"name":"A","flow":"word","word":"PAID"}]}`, `{"methods":null}`, `[{"name":"A","name":"B"}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := wallets.ParseSeed(data)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for i, m := range s.Methods {
			require.NotEmpty(t, m.Name)
			require.False(t, names[m.Name])
			names[m.Name] = true
			if i > 0 {
				require.LessOrEqual(t, s.Methods[i-1].Priority, m.Priority)
			}
		}
	})
}
