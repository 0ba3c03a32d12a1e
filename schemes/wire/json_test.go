package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// corpus is our own list of JSON texts: y_ must be accepted as such by Check, n_ refused.
var corpus = []struct{ name, text string }{
	{"y_empty_object", `{}`},
	{"y_empty_array", `[]`},
	{"y_space_everywhere", " \t\r\n{ \"a\" : [ 1 , 2 ] }\n"},
	{"y_string_alone", `"x"`},
	{"y_number_alone", `-0.5e+10`},
	{"y_null_alone", `null`},
	{"y_true_alone", `true`},
	{"y_all_escapes", `"\"\\\/\b\f\n\r\t\u00e9"`},
	{"y_surrogate_pair", `"\ud83d\ude00"`},
	{"y_surrogate_pair_capitals", `"\uD83D\uDE00"`},
	{"y_utf8", `"héllo 日本 😀"`},
	{"y_del_and_line_separators", "\"\x7f\u2028\u2029\""},
	{"y_escaped_nul", `"\u0000"`},
	{"y_zero_exponent", `0e0`},
	{"y_big_number", `1` + strings.Repeat("0", 400)},
	{"y_same_key_in_other_objects", `[{"a":1},{"a":2},{"b":{"a":1}}]`},
	{"y_empty_key", `{"":1}`},
	{"y_depth_64", strings.Repeat("[", 64) + strings.Repeat("]", 64)},
	{"n_empty", ``},
	{"n_space_only", " \n"},
	{"n_bom", "\xef\xbb\xbf{}"},
	{"n_utf16", "{\x00}\x00"},
	{"n_trailing_brace", `{}}`},
	{"n_trailing_text", `{} x`},
	{"n_trailing_nul", "{}\x00"},
	{"n_two_documents", `{}{}`},
	{"n_lines", "{}\n{}"},
	{"n_comment", `{/* */}`},
	{"n_line_comment", "{} // x"},
	{"n_trailing_comma_object", `{"a":1,}`},
	{"n_trailing_comma_array", `[1,]`},
	{"n_leading_comma", `[,1]`},
	{"n_double_comma", `[1,,2]`},
	{"n_no_comma", `[1 2]`},
	{"n_single_quotes", `{'a':1}`},
	{"n_bare_key", `{a:1}`},
	{"n_number_key", `{1:1}`},
	{"n_no_colon", `{"a" 1}`},
	{"n_no_value", `{"a":}`},
	{"n_open_object", `{"a":1`},
	{"n_open_array", `[1`},
	{"n_open_string", `"a`},
	{"n_open_escape", `"\`},
	{"n_closed_by_other", `[1}`},
	{"n_unknown_escape", `"\x41"`},
	{"n_short_escape", `"\u12"`},
	{"n_bad_hex", `"\u12g4"`},
	{"n_hex_with_sign", `"\u+123"`},
	{"n_lone_high", `"\ud800"`},
	{"n_lone_low", `"\udc00"`},
	{"n_low_low", `"\udc00\udc00"`},
	{"n_high_high", `"\ud800\ud800"`},
	{"n_high_then_text", `"\ud800abcdef"`},
	{"n_high_then_short_low", `"\ud800\udc0"`},
	{"n_lone_in_key", `{"\ud800":1}`},
	{"n_raw_surrogate", "\"\xed\xa0\x80\""},
	{"n_overlong", "\"\xc0\xaf\""},
	{"n_ff", "\"\xff\""},
	{"n_cut_utf8", "\"\xe2\x82\""},
	{"n_above_unicode", "\"\xf4\x90\x80\x80\""},
	{"n_raw_newline", "\"a\nb\""},
	{"n_raw_nul", "\"a\x00b\""},
	{"n_leading_zero", `01`},
	{"n_minus_leading_zero", `-01`},
	{"n_plus", `+1`},
	{"n_hex", `0x10`},
	{"n_point_first", `.5`},
	{"n_point_last", `1.`},
	{"n_open_exponent", `1e`},
	{"n_open_signed_exponent", `1e+`},
	{"n_two_signs", `1e+-1`},
	{"n_minus_only", `-`},
	{"n_nan", `NaN`},
	{"n_infinity", `-Infinity`},
	{"n_wide_digits", `１`},
	{"n_capital_true", `True`},
	{"n_short_word", `nul`},
	{"n_long_word", `nulls`},
	{"n_no_break_space", "\u00a0{}"},
	{"n_vertical_tab", "\v{}"},
	{"n_duplicate_key", `{"a":1,"a":1}`},
	{"n_duplicate_after_unescape", `{"a":1,"\u0061":2}`},
	{"n_duplicate_deep_in_unknown", `{"x":[{"y":{"a":1,"b":2,"a":3}}]}`},
	{"n_duplicate_empty_key", `{"":1,"":2}`},
	{"n_depth_65", strings.Repeat("[", 65) + strings.Repeat("]", 65)},
	{"n_depth_65_objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)},
	{"n_depth_10001_open", strings.Repeat("[", 10001)},
	{"n_depth_10001_objects_open", strings.Repeat(`{"a":`, 10001)},
}

func TestCheckCorpus(t *testing.T) {
	for _, c := range corpus {
		t.Run(c.name, func(t *testing.T) {
			err := wire.Check([]byte(c.text))
			if strings.HasPrefix(c.name, "y_") {
				require.NoError(t, err)
				require.True(t, json.Valid([]byte(c.text)))
				return
			}
			var fe *wire.FieldError
			require.ErrorAs(t, err, &fe)
			require.NotEmpty(t, fe.Reason)
		})
	}
}

type inner struct {
	Key   string `json:"key"`
	Value *int64 `json:"value"`
}

type target struct {
	Amount   int64            `json:"amount"`
	Small    int32            `json:"small"`
	Tiny     int8             `json:"tiny"`
	Count    uint16           `json:"count"`
	Rate     float64          `json:"rate"`
	Rate32   float32          `json:"rate32"`
	Text     string           `json:"text"`
	Flag     bool             `json:"flag"`
	Inner    inner            `json:"inner"`
	Ptr      *inner           `json:"ptr"`
	List     []inner          `json:"list"`
	Map      map[string]int32 `json:"map"`
	Raw      json.RawMessage  `json:"raw"`
	Any      any              `json:"any"`
	Optional string           `json:"optional,omitempty"`
	Zeroed   int64            `json:"zeroed,omitzero"`
	Nullable int32            `json:"nullable" wire:"nullable"`
	Number   json.Number      `json:"number"`
	Bytes    []byte           `json:"bytes"`
	Pair     [2]int32         `json:"pair"`
	Kind     string           `json:"kiSs"`
	Hidden   string           `json:"-"`
	Untagged string
	embedded
}

type embedded struct {
	Promoted int32 `json:"promoted"`
}

func TestDecodeAccepts(t *testing.T) {
	const text = `{"amount":9223372036854775807,"small":-2147483648,"tiny":-128,"count":65535,"rate":1.5e3,"rate32":-0,
		"text":"a","flag":true,"inner":{"key":"k","value":null},"ptr":{"key":"p","value":7},"list":[{"key":"1"},{"key":"2"}],
		"map":{"Amount":1,"amount":2},"raw":{"x":[1,null]},"any":[1,"2",null],"optional":null,"zeroed":null,"nullable":null,
		"number":12.50,"bytes":"YWI=","pair":[1,2],"Untagged":"u","promoted":3,"-":"?","Hidden":1,"extra":{"amount":null}}`
	got := target{Optional: "old", Hidden: "old"}
	require.NoError(t, wire.Decode([]byte(text), &got))
	require.Equal(t, int64(1<<63-1), got.Amount)
	require.Equal(t, int32(-1<<31), got.Small)
	require.Equal(t, "2", got.List[1].Key)
	require.Equal(t, map[string]int32{"Amount": 1, "amount": 2}, got.Map)
	require.Equal(t, "", got.Optional, "the value is replaced")
	require.Equal(t, "ab", string(got.Bytes))
	require.EqualValues(t, 3, got.Promoted)
	require.Equal(t, json.Number("12.50"), got.Number)
	require.EqualValues(t, 7, *got.Ptr.Value)

	var list []inner
	require.NoError(t, wire.Decode([]byte(`[{"key":"a"}]`), &list))
	require.Len(t, list, 1)
	var ptr *inner
	require.NoError(t, wire.Decode([]byte(`{"key":"a"}`), &ptr))
	require.Equal(t, "a", ptr.Key)
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, path, reason string }{
		{"null for number", `{"amount":null}`, "amount", "null"},
		{"null for text", `{"text":null}`, "text", "null"},
		{"null for bool", `{"flag":null}`, "flag", "null"},
		{"null for struct", `{"inner":null}`, "inner", "null"},
		{"null in list", `{"list":[null]}`, "list[0]", "null"},
		{"null in map", `{"map":{"a":null}}`, "map.a", "null"},
		{"null in a number array", `{"pair":[1,null]}`, "pair[1]", "null"},
		{"null as a whole", `null`, "", "null"},
		{"twin", `{"Amount":1}`, "Amount", "case"},
		{"twin after the known one", `{"amount":1,"AMOUNT":2}`, "AMOUNT", "case"},
		{"twin with long s", `{"kiſs":"x"}`, `"ki\u017fs"`, "case"},
		{"twin with kelvin", `{"\u212aiss":"x"}`, `"\u212aiss"`, "case"},
		{"twin of an untagged field", `{"untagged":"x"}`, "untagged", "case"},
		{"twin of a promoted field", `{"Promoted":1}`, "Promoted", "case"},
		{"twin deep", `{"list":[{},{"KEY":"a"}]}`, "list[1].KEY", "case"},
		{"int64 + 1", `{"amount":9223372036854775808}`, "amount", "range"},
		{"int64 huge", `{"amount":1` + strings.Repeat("0", 400) + `}`, "amount", "range"},
		{"int32 + 1", `{"small":2147483648}`, "small", "range"},
		{"int8 - 1", `{"tiny":-129}`, "tiny", "range"},
		{"uint16 + 1", `{"count":65536}`, "count", "range"},
		{"uint16 negative", `{"count":-1}`, "count", "range"},
		{"float range", `{"rate":1e400}`, "rate", "range"},
		{"float32 range", `{"rate32":1e39}`, "rate32", "range"},
		{"1.0 for int", `{"amount":1.0}`, "amount", "integer"},
		{"1e3 for int", `{"amount":1e3}`, "amount", "integer"},
		{"-0 for int", `{"amount":-0}`, "amount", "integer"},
		{"-0 for uint", `{"count":-0}`, "count", "integer"},
		{"no JSON", `{"amount":garbage}`, "amount", "no JSON value where a number"},
		{"no JSON for object", `{"inner":garbage}`, "inner", "no JSON value where an object"},
		{"string for int", `{"amount":"100"}`, "amount", "a string where a number"},
		{"int for string", `{"text":100}`, "text", "a number where a string"},
		{"bool for string", `{"text":true}`, "text", "a boolean where a string"},
		{"number for bool", `{"flag":1}`, "flag", "a number where a boolean"},
		{"object for int", `{"amount":{}}`, "amount", "an object where a number"},
		{"array for object", `{"inner":[]}`, "inner", "an array where an object"},
		{"object for array", `{"list":{}}`, "list", "an object where an array"},
		{"array for string", `{"text":["a"]}`, "text", "an array where a string"},
		{"string for json number", `{"number":"1"}`, "number", "a string where a number"},
		{"array for bytes", `{"bytes":[1]}`, "bytes", "base64"},
		{"broken base64", `{"bytes":"%"}`, "", "not readable"},
		{"text as a whole", `"x"`, "", "a string where an object"},
		{"array as a whole", `[]`, "", "an array where an object"},
		{"duplicate", `{"amount":1,"amount":99999}`, "amount", "duplicate"},
		{"duplicate escaped", `{"amount":1,"\u0061mount":99999}`, "amount", "duplicate"},
		{"duplicate in a map", `{"map":{"a":1,"a":2}}`, "map.a", "duplicate"},
		{"duplicate in raw", `{"raw":{"a":1,"a":2}}`, "raw.a", "duplicate"},
		{"path of a wild key", "{\"a\\u0000\\u001b[0m" + strings.Repeat("x", 100) + "\":\xff}", `"a\x00\x1b[0m` + strings.Repeat("x", 34) + `\u2026"`, "JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := target{Text: "old"}
			err := wire.Decode([]byte(c.text), &got)
			var fe *wire.FieldError
			require.ErrorAs(t, err, &fe)
			require.Equal(t, c.path, fe.Path)
			require.Contains(t, fe.Reason, c.reason)
			require.Equal(t, target{Text: "old"}, got, "untouched on error")
		})
	}
}

func TestDecodeCodes(t *testing.T) {
	var v any
	var fe *wire.FieldError
	require.ErrorAs(t, wire.Decode([]byte(strings.Repeat("[", 65)+strings.Repeat("]", 65)), &v), &fe)
	require.Equal(t, wire.TooLarge, fe.Code)
	require.ErrorAs(t, wire.Decode([]byte(`[`), &v), &fe)
	require.Equal(t, wire.Invalid, fe.Code)
	require.Error(t, wire.Decode([]byte(`{}`), nil))
	require.Error(t, wire.Decode([]byte(`{}`), target{}))
	require.Equal(t, "body: empty", wire.Check(nil).Error())
}

func TestRequiredAndNotNull(t *testing.T) {
	const text = `{"a":{"b":1,"n":null},"list":[{"k":1},{},{"k":null}],"none":null}`
	require.NoError(t, wire.Required([]byte(text), "a", "a.b"))
	err := wire.Required([]byte(text), "a.c", "a.n", "list[].k", "none", "none.x", "gone", "gone.x")
	var paths []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var fe *wire.FieldError
		require.True(t, errors.As(e, &fe))
		paths = append(paths, fe.Error())
	}
	require.Equal(t, []string{
		"a.c: missing", "a.n: null where a value is required", "list[1].k: missing",
		"list[2].k: null where a value is required", "none: null where a value is required", "gone: missing",
	}, paths)
}

// A field that may be absent is not null by that.
func TestNotNullMayBeAbsent(t *testing.T) {
	var v struct {
		A struct {
			N string `json:"n,omitempty" wire:"notnull"`
			M string `json:"m,omitempty"`
		} `json:"a"`
	}
	require.NoError(t, wire.Decode([]byte(`{"a":{"m":null}}`), &v))
	require.NoError(t, wire.Decode([]byte(`{"a":{"n":""}}`), &v))
	require.EqualError(t, wire.Decode([]byte(`{"a":{"n":null}}`), &v), "a.n: null where a value is required")
}

// A path is found wherever a reader of JSON finds it, however the text is written.
func TestRequiredReadsAnySpelling(t *testing.T) {
	for _, text := range []string{
		`{"a":{"b":[{"c":1},{"c":[]}]}}`,
		" {\n\t\"a\" : { \"b\" : [ { \"c\" : 1 } , {\"c\":\"x\"} ] } } ",
		`{"\u0061":{"b":[]}}`,
		`{"x":"}],{\"a\":","y":["]","}",{"a":null}],"a":{"x":{"b":null},"b":[{"d":"\\","c":{}}]}}`,
	} {
		require.NoError(t, wire.Check([]byte(text)))
		require.NoError(t, wire.Required([]byte(text), "a", "a.b", "a.b[].c"), text)
		require.ErrorContains(t, wire.Required([]byte(text), "a.c"), "a.c: missing", text)
	}
	for _, text := range []string{
		``, `7`, `"a"`, `[]`, `[{"a":1}]`, `null`, `{"a":null}`, `{"a":7}`, `{"a":[]}`, `{"a":[{}]}`, `{"a":{"b":{}}}`, `{"a":{"b":[7,null,[{}],"c"]}}`, // other kinds of a parent
		`{"a":{"b":[`, `{"a":{"b`, `{"a"`, `{`, `{"a":{"b":["\`, `{,,}`, `{"a":}`, // nothing that Decode accepted, but nothing hangs
	} {
		require.NoError(t, wire.Required([]byte(text), "a.b[].c"), text)
	}
	require.EqualError(t, wire.Required([]byte(`{"a":{"b":[{"c":1},{"d":1}, {"c": null }]}}`), "a.b[].c"),
		"a.b[1].c: missing\na.b[2].c: null where a value is required")
}

func FuzzDecode(f *testing.F) {
	for _, c := range corpus {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(`{"amount":1,"list":[{"key":"a","value":1}],"map":{"x":1},"raw":[1],"any":{"a":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checked := wire.Check(data)
		if checked == nil {
			require.True(t, json.Valid(data), "accepted what is not JSON")
		}
		var got target
		if wire.Decode(data, &got) != nil {
			return
		}
		require.NoError(t, checked)
		again, err := json.Marshal(got)
		require.NoError(t, err)
		var second target
		require.NoError(t, wire.Decode(again, &second))
		third, err := json.Marshal(second)
		require.NoError(t, err)
		require.Equal(t, string(again), string(third))
	})
}

// Field2 R1b: a field whose absence means all takes neither null nor an empty text nor a zero, however they are written.
func TestGiven(t *testing.T) {
	type part struct {
		Amount *int32      `json:"amount,omitempty" wire:"notnull"`
		Number json.Number `json:"number,omitempty" wire:"given"`
		Text   string      `json:"text,omitempty" wire:"given"`
		Count  int32       `json:"count,omitempty" wire:"given"`
		List   []int       `json:"list,omitempty" wire:"given"`
	}
	for _, good := range []string{`{}`, `{"amount":0}`, `{"amount":-1,"number":0.5,"text":"0","count":-1,"list":[]}`, `{"number":1e0}`, `{"text":" "}`} {
		var p part
		require.NoError(t, wire.Decode([]byte(good), &p), good)
	}
	for _, bad := range [][2]string{
		{"amount", "null"}, {"number", "null"}, {"number", "0"}, {"number", "-0"}, {"number", "0.00"}, {"number", "0e7"}, {"number", `""`},
		{"text", "null"}, {"text", `""`}, {"count", "null"}, {"count", "0"}, {"list", "null"},
	} {
		var p part
		err := wire.Decode([]byte(`{"`+bad[0]+`": `+bad[1]+`}`), &p)
		var field *wire.FieldError
		require.ErrorAs(t, err, &field, "%s: %s", bad[0], bad[1])
		require.Equal(t, bad[0], field.Path, bad[1])
	}
}
