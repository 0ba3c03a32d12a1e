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

// TestField4_TillsWhatCannotBeReadIsNotRefused: the journal could not be written, nor the sale of a known id
// be told, and a register that asked again for a payment that it had acknowledged heard "refused": nothing
// was begun, and this id has no sale. It is told to ask again; "refused" stands where the id has none, and
// where the terminal says that its journal was replaced.
func TestField4_TillsWhatCannotBeReadIsNotRefused(t *testing.T) {
	const text = "the journal cannot be written"
	for want, found := range map[string]ecr.NotBegun{
		`{"id":"7","error":{"code":"busy","text":"` + text + `"}}`:                               {Code: ecr.SystemError},
		`{"id":"7","outcome":"refused","code":"not_stored","text":"` + text + `"}`:               {},
		`{"id":"7","outcome":"refused","code":"system_error","text":"the journal was replaced"}`: {Code: ecr.SystemError, Text: "the journal was replaced"},
	} {
		d := New(testConfig(), nil)
		step := func(ev ecr.Event) (gen int, said string) {
			for _, a := range d.Step(ev) {
				switch a := a.(type) {
				case ecr.Begin:
					gen = a.Gen
				case ecr.Last:
					gen = a.Gen
				case ecr.Send:
					said = string(a.Data)
				}
			}
			return gen, said
		}
		gen, _ := step(ecr.Received{Data: []byte(`{"op":"sale","id":"7","amount":1250}`)})
		found.Gen, _ = step(ecr.NotBegun{Gen: gen, Code: ecr.NotStored, Text: text})
		require.NotZero(t, found.Gen, "its id is looked for")
		_, said := step(found)
		require.Equal(t, want, said)
		require.Equal(t, idle, d.phase)
	}
}
