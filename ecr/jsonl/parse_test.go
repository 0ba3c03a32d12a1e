package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/money"
)

// TestWhatIsNotClearBeginsNothing: each way to write a message that two readers could understand in
// two ways, and each value out of its bounds.
func TestWhatIsNotClearBeginsNothing(t *testing.T) {
	for text, want := range map[string]fault{
		``:                           {malformed, "", ""},
		`{`:                          {malformed, "", ""},
		`null`:                       {malformed, "", ""},
		`7`:                          {malformed, "", ""},
		`[{"op":"hello"}]`:           {malformed, "", ""},
		`{"op":"hello"} {}`:          {malformed, "", ""},
		`{"op":"hello"},`:            {malformed, "", ""},
		`{"op":"hello",}`:            {malformed, "", ""},
		"\xef\xbb\xbf{\"op\":\"a\"}": {malformed, "", ""},
		"{\"op\":\"\xff\"}":          {malformed, "", ""},
		`{"op":"sale","id":"7","amount":1250,"amount":1250}`:                  {malformed, "", "amount"},
		`{"op":"sale","id":"7","amount":1250,"Amount":1}`:                     {malformed, "", "Amount"},
		`{"op":"sale","id":"7","AMOUNT":1,"amount":1250}`:                     {malformed, "", "amount"},
		`{"op":"sale","id":"7","amount":1,"x":{"a":1,"A":2}}`:                 {malformed, "", "x.A"},
		`{"op":"sale","id":"7","amount":1,"lines":[{"name":"a","name":"b"}]}`: {malformed, "", "lines[0].name"},
		`{"op":"status","id":"7","ſ":1,"S":2}`:                                {malformed, "", "S"},
		`{"a":[[[[[[[[[1]]]]]]]]]}`:                                           {malformed, "", "a[0][0][0][0][0][0][0]"},
		`{"op":"sale","id":"7","Amount":1250}`:                                {invalid, "", "Amount"},
		`{"Op":"sale"}`:                                                       {invalid, "", "Op"},
		`{"op":"sale","id":"7","amount":1,"Reference":"a"}`:                   {invalid, "", "Reference"},
		`{"id":"7"}`:                                                                       {invalid, "", "op"},
		`{"op":null,"id":"7"}`:                                                             {invalid, "", "op"},
		`{"op":"Sale","id":"7","amount":1}`:                                                {unknownOp, "", "op"},
		`{"op":"payment","id":"7","amount":1}`:                                             {unknownOp, "", "op"},
		`{"op":"sale","amount":1}`:                                                         {invalid, "", "id"},
		`{"op":"sale","id":null,"amount":1}`:                                               {invalid, "", "id"},
		`{"op":"sale","id":7,"amount":1}`:                                                  {invalid, "", "id"},
		`{"op":"sale","id":"","amount":1}`:                                                 {invalid, "", "id"},
		`{"op":"sale","id":"a b","amount":1}`:                                              {invalid, "", "id"},
		`{"op":"sale","id":"a/b","amount":1}`:                                              {invalid, "", "id"},
		`{"op":"sale","id":"` + strings.Repeat("x", 65) + `","amount":1}`:                  {invalid, "", "id"},
		`{"op":"status","id":""}`:                                                          {invalid, "", "id"},
		`{"op":"ack"}`:                                                                     {invalid, "", "id"},
		`{"op":"sale","id":"7"}`:                                                           {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":null}`:                                             {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":"1250"}`:                                           {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":1250.0}`:                                           {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":1.25e3}`:                                           {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":125e1}`:                                            {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":0}`:                                                {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":-0}`:                                               {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":-1250}`:                                            {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":1000000000000}`:                                    {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":18446744073709551617}`:                             {invalid, "", "amount"},
		`{"op":"sale","id":"7","amount":01250}`:                                            {malformed, "", ""},
		`{"op":"sale","id":"7","amount":+1250}`:                                            {malformed, "", ""},
		`{"op":"sale","id":"7","amount":1,"currency":"eur"}`:                               {invalid, "", "currency"},
		`{"op":"sale","id":"7","amount":1,"currency":null}`:                                {invalid, "", "currency"},
		`{"op":"sale","id":"7","amount":1,"currency":978}`:                                 {invalid, "", "currency"},
		`{"op":"sale","id":"7","amount":1,"reference":"a\nb"}`:                             {invalid, "", "reference"},
		`{"op":"sale","id":"7","amount":1,"reference":"a\u0000b"}`:                         {invalid, "", "reference"},
		`{"op":"sale","id":"7","amount":1,"reference":""}`:                                 {invalid, "", "reference"},
		`{"op":"sale","id":"7","amount":1,"lines":{}}`:                                     {invalid, "", "lines"},
		`{"op":"sale","id":"7","amount":1,"lines":[1]}`:                                    {invalid, "", "lines[0]"},
		`{"op":"sale","id":"7","amount":1,"lines":[{"name":"a","quantity":1}]}`:            {invalid, "", "lines[0].amount"},
		`{"op":"sale","id":"7","amount":1,"lines":[{"name":"a","quantity":0,"amount":1}]}`: {invalid, "", "lines[0].quantity"},
		`{"op":"refund","id":"7","amount":1}`:                                              {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"17"}`:                              {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"R"}`:                               {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"R-17"}`:                            {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"R+17"}`:                            {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"R3/17/2"}`:                         {invalid, "", "original"},
		`{"op":"refund","id":"7","amount":1,"original":"T3/17"}`:                           {invalid, "", "original"},
		`{"op":"reverse","id":"7","receipt":0}`:                                            {invalid, "", "receipt"},
		`{"op":"reverse","id":"7","receipt":10000}`:                                        {invalid, "", "receipt"},
		`{"op":"totals","id":"7","close":1}`:                                               {invalid, "", "close"},
		`{"op":"totals","id":"7","close":"true"}`:                                          {invalid, "", "close"},
		`{"op":"hello","till":"a/b"}`:                                                      {invalid, "", "till"},
		`{"op":"hello","password":null}`:                                                   {invalid, "", "password"},
	} {
		_, f := decode([]byte(text))
		require.NotNil(t, f, text)
		require.Equal(t, [2]string{string(want.Code), want.At}, [2]string{string(f.Code), f.At}, "%s: %s", text, f.Text)
		require.NotEmpty(t, f.Text, text)
		s := newScript(testConfig())
		s.step(ecr.Received{Data: []byte(text)})
		require.Len(t, s.out, 1, text)
		require.Contains(t, s.out[0], `"error":{"code":"`+string(want.Code)+`"`)
		require.False(t, s.d.Holds(), text)
	}
}

// TestWhatIsReadIsWhatWasSaid: the bounds themselves, and keys that are not known.
func TestWhatIsReadIsWhatWasSaid(t *testing.T) {
	m, f := decode([]byte(` { "op" : "sale" , "id" : "T1.2_3:4-5" , "amount" : 999999999999 , "tip" : null , "more" : [ { "a" : 1.5e3 } ] } ` + "\r"))
	require.Nil(t, f)
	require.Equal(t, ecr.Request{Kind: ecr.Payment, Sequence: "T1.2_3:4-5", Amount: 999_999_999_999, Progress: true}, m.request)

	m, f = decode([]byte(`{"op":"sale","id":"7","amount":1,"currency":"JPY","reference":"\u00e4 \"x\"","language":"de","method":"TWINT","consumerId":"28 76"}`))
	require.Nil(t, f)
	require.Equal(t, ecr.Request{Kind: ecr.Payment, Sequence: "7", Amount: 1, Currency: "JPY", Reference: `ä "x"`, Method: "TWINT", ConsumerID: "28 76",
		Progress: true}, m.request)
	require.Equal(t, "de", m.language)

	for _, original := range []string{"R17", "R3/17", "T4711"} {
		m, f = decode([]byte(`{"op":"refund","id":"7","amount":500,"original":"` + original + `"}`))
		require.Nil(t, f)
		require.Equal(t, ecr.Request{Kind: ecr.Refund, Sequence: "7", Amount: 500, Original: original, Progress: true}, m.request)
	}
	m, f = decode([]byte(`{"op":"reverse","id":"7","receipt":9999,"amount":1}`))
	require.Nil(t, f)
	require.Equal(t, ecr.Request{Kind: ecr.Reversal, Sequence: "7", Receipt: 9999, Amount: 1, Progress: true}, m.request)
}

func TestClaims(t *testing.T) {
	for text, want := range map[string]ecr.Claim{
		`{"op":"hello","password":"tea"}`:        {Password: true, Right: true, Register: true},
		`{"op":"hello","password":"coffee"}`:     {Password: true, Register: true},
		`{"op":"hello","password":""}`:           {Password: true, Register: true},
		`{"op":"hello"}`:                         {Register: true},
		`{"op":"sale","id":"7","amount":1}`:      {Register: true},
		`{"op":"status"}`:                        {},
		`{"op":"status","password":"tea"}`:       {},
		`{"op":"hello","password":"tea"`:         {},
		`{"op":"hello","Password":"tea"}`:        {},
		`{"op":"hello","password":"tea","id":1}`: {},
	} {
		require.Equal(t, want, ClaimOf([]byte(text), "tea"), text)
	}
}

// TestOutlinesTellNoValue: what a person's log says of a message.
func TestOutlinesTellNoValue(t *testing.T) {
	for text, want := range map[string]string{
		`{"op":"sale","id":"secret","amount":1250}`:     "sale",
		`{"op":"hello","password":"secret"}`:            "hello",
		`{"op":"secret"}`:                               "not understood",
		`{"id":"7","outcome":"approved","amount":1250}`: "outcome approved",
		`{"id":"7","outcome":"secret"}`:                 "not understood",
		`{"id":"7","accepted":true}`:                    "accepted",
		`{"id":"7","step":"secret","text":"secret"}`:    "progress",
		`{"id":"7","acknowledged":true}`:                "acknowledged",
		`{"id":"7","abort":"too_late"}`:                 "abort too_late",
		`{"error":{"code":"busy","text":"secret"}}`:     "error",
		`{"id":"d","totals":{}}`:                        "totals",
		`{"hello":{}}`:                                  "hello",
		`{"status":{}}`:                                 "status",
		`{"notice":"undoing"}`:                          "notice",
		`secret`:                                        "not understood",
	} {
		require.Equal(t, want, Outline([]byte(text)), text)
	}
}

// FuzzDecode: whatever comes in, an answer is one line of JSON, and what begins a sale says so
// without a doubt: encoding/json reads the same amount and the same id.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"op":"sale","id":"7","amount":1250,"currency":"EUR","reference":"a","lines":[{"name":"Coffee","quantity":1,"amount":1250}]}`,
		`{"op":"refund","id":"8","amount":500,"original":"R3/17"}`, `{"op":"reverse","id":"9","receipt":17}`, `{"op":"hello","till":"bar","password":"x"}`,
		`{"op":"totals","id":"d","close":true}`, `{"op":"status"}`, `{"op":"ack","id":"7"}`, `{"op":"abort","id":"7"}`, `{"op":"last","id":"q"}`,
		`{"op":"sale","id":"7","amount":1250,"Amount":1}`, `{"op":"sale","id":"7","amount":1e3}`, "{\"op\":\"\xff\"}", `[[[[[[[[[[`, `{"op":"sale","id":"\u0037","amount":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newScript(testConfig())
		s.step(ecr.Received{Data: data})
		for _, line := range s.out {
			if said, ok := strings.CutPrefix(line, "P "); ok {
				require.True(t, json.Valid([]byte(said)), said)
				require.NotContains(t, said, "\n")
				require.Less(t, len(said), 2000)
			}
		}
		m, fault := decode(data)
		if fault != nil || !m.op.money() {
			return
		}
		require.True(t, bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")))
		var loose struct {
			ID     string
			Amount money.Minor
		}
		require.NoError(t, json.Unmarshal(data, &loose))
		require.Equal(t, m.id, loose.ID)
		require.Equal(t, m.request.Amount, loose.Amount)
		if m.op != reverse {
			require.Positive(t, loose.Amount)
		}
	})
}
