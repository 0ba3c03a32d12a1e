package wallets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/wallets"
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
