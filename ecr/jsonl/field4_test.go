package jsonl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField4_TillsAReversalsAmountIsRead: the amount and the currency of a reversal were ignored as unknown
// keys, so that one of 5.00 gave 12.50 back. The desk is asked with both now, and refuses what is not the
// whole; what is no amount or no currency is refused here.
func TestField4_TillsAReversalsAmountIsRead(t *testing.T) {
	m, f := decode([]byte(`{"op":"reverse","id":"7","receipt":17,"amount":500,"currency":"EUR"}`))
	require.Nil(t, f)
	require.Equal(t, ecr.Request{Kind: ecr.Reversal, Sequence: "7", Receipt: 17, Amount: 500, Currency: "EUR", Progress: true}, m.request)
	whole, f := decode([]byte(`{"op":"reverse","id":"7","receipt":17}`))
	require.Nil(t, f)
	require.NotEqual(t, whole.body(), m.body(), "another request")
	for _, wrong := range []string{`"amount":0`, `"amount":null`, `"amount":"500"`, `"amount":5.00`, `"currency":""`, `"currency":null`, `"currency":"XXY"`} {
		_, f := decode([]byte(`{"op":"reverse","id":"7","receipt":17,` + wrong + `}`))
		require.NotNil(t, f, wrong)
	}
}
