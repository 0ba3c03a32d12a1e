package bracket_test

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]bracket.Form{
		"":                             nil,
		"a=1&b=2":                      {{"a", "1"}, {"b", "2"}},
		"b=2&a=1&b=3":                  {{"b", "2"}, {"a", "1"}, {"b", "3"}},
		"a=x+y%20z%2Bw":                {{"a", "x y z+w"}},
		"name%5B0%5D=1&name[k][s]=%7E": {{"name[0]", "1"}, {"name[k][s]", "~"}},
		"a&b=&=c&&":                    {{"a", ""}, {"b", ""}, {"", "c"}},
		"sig=ab+c/d==":                 {{"sig", "ab c/d=="}},
		"%C3%BC=%e2%82%ac":             {{"ü", "€"}},
		"a=1;b=2":                      {{"a", "1;b=2"}},
	} {
		got, err := bracket.Parse(text, bracket.Limits{})
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, code := range map[string]wire.Code{
		"a=%":                                 wire.Invalid,
		"a=%4":                                wire.Invalid,
		"%zz=1":                               wire.Invalid,
		"a=%u0041":                            wire.Invalid,
		"a=%ff":                               wire.Invalid,
		"a=\xff":                              wire.Invalid,
		"a=%ed%a0%80":                         wire.Invalid,
		"a=%c0%af":                            wire.Invalid,
		strings.Repeat("a=1&", 1001):          wire.TooLarge,
		strings.Repeat("n", 257) + "=1":       wire.TooLarge,
		"a" + strings.Repeat("[b]", 9) + "=1": wire.TooLarge,
		"a" + strings.Repeat("[", 9) + "=1":   wire.TooLarge,
		"x=1&a" + strings.Repeat("%5B", 60) + "=": wire.TooLarge,
	} {
		_, err := bracket.Parse(text, bracket.Limits{})
		require.Equal(t, code, wire.CodeOf(err), "%.40q", text)
	}
}

func TestTree(t *testing.T) {
	f, err := bracket.Parse("psp[0]=36&psp[1]=44&fields[email][mandatory]=1&fields[email][defaultValue]=a%40b&x=1&pm[]=twint&pm[]=visa&big[999999999]=9", bracket.Limits{})
	require.NoError(t, err)
	o, err := f.Tree()
	require.NoError(t, err)
	require.Equal(t, []bracket.Field{{"0", "36"}, {"1", "44"}}, o.Get("psp").(*bracket.Object).Fields)
	require.Equal(t, "a@b", o.Get("fields").(*bracket.Object).Get("email").(*bracket.Object).Get("defaultValue"))
	require.True(t, o.Get("pm").(*bracket.Object).Auto)
	require.Equal(t, []bracket.Field{{"0", "twint"}, {"1", "visa"}}, o.Get("pm").(*bracket.Object).Fields)
	require.False(t, o.Get("psp").(*bracket.Object).Auto)
	require.Equal(t, []bracket.Field{{"999999999", "9"}}, o.Get("big").(*bracket.Object).Fields)
	require.Nil(t, o.Get("none"))

	for _, text := range []string{
		"a=1&a=2", "a=1&a[b]=2", "a[b]=2&a=1", "a[b]=1&a[b]=2", "a[b]=1&a[b][c]=2", "[a]=1", "=1", "a[b=1", "a]b=1", "a[b]c=1", "a[b]c[d]=1", "a[[b]]=1", "a[=1", "a[b][=1",
	} {
		f, err := bracket.Parse(text, bracket.Limits{})
		require.NoError(t, err, text)
		_, err = f.Tree()
		require.Equal(t, wire.Invalid, wire.CodeOf(err), text)
	}
}

func TestEncode(t *testing.T) {
	f := bracket.Form{{"a b[0]", "x ~!'()*-_.€"}}
	require.Equal(t, "a%20b%5B0%5D=x%20~%21%27%28%29%2A-_.%E2%82%AC", f.Encode())
	require.Equal(t, "a+b%5B0%5D=x+%7E%21%27%28%29%2A-_.%E2%82%AC", f.EncodeRFC1738())
}

func TestScalars(t *testing.T) {
	o := new(bracket.Object).Add("t", true).Add("f", false).Add("n", nil).Add("i", -5).Add("l", int64(math.MaxInt64)).
		Add("list", []any{1, "b", nil, []any{true}}).Add("o", new(bracket.Object).Add("k", 7.7)).Add("empty", new(bracket.Object))
	require.Equal(t, bracket.Form{{"t", "1"}, {"f", "0"}, {"i", "-5"}, {"l", "9223372036854775807"}, {"list[0]", "1"}, {"list[1]", "b"},
		{"list[3][0]", "1"}, {"o[k]", "7.7"}}, o.Form())
	for v, want := range map[float64]string{
		7.7: "7.7", 8: "8", 0: "0", -0.5: "-0.5", 0.1 + 0.2: "0.3", 1e13: "10000000000000", 1e14: "1.0E+14", 1e25: "1.0E+25", 1.5e-7: "1.5E-7", 0.0001: "0.0001", 0.00001: "1.0E-5",
		590.00000000000006: "590", 1998.9999999999998: "1999", 123456789012345678: "1.2345678901235E+17",
	} {
		require.Equal(t, bracket.Form{{"v", want}}, new(bracket.Object).Add("v", v).Form())
	}
	require.Panics(t, func() { new(bracket.Object).Add("v", struct{}{}).Form() })
}

var word = rapid.StringMatching(`[^\[\]]{1,8}`).Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s })

// object draws a tree of texts; objects in it are never empty, because a form cannot say that.
func object(t *rapid.T, depth int) *bracket.Object {
	o := new(bracket.Object)
	for _, name := range rapid.SliceOfNDistinct(word, 1, 4, rapid.ID).Draw(t, "names") {
		if depth > 0 && rapid.Bool().Draw(t, "nest") {
			o.Add(name, object(t, depth-1))
			continue
		}
		o.Add(name, strings.ToValidUTF8(rapid.String().Draw(t, "value"), "?"))
	}
	return o
}

func TestTreesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := object(t, 3)
		f := o.Form()
		for _, text := range []string{f.Encode(), f.EncodeRFC1738()} {
			again, err := bracket.Parse(text, bracket.Limits{})
			require.NoError(t, err)
			require.Equal(t, f, again)
			tree, err := again.Tree()
			require.NoError(t, err)
			require.Equal(t, o, tree)
		}
	})
}

// TestStandardLibraryAgrees holds values against another reader of the same notation.
func TestStandardLibraryAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := object(t, 2).Form()
		values, err := url.ParseQuery(f.Encode())
		require.NoError(t, err)
		require.Len(t, values, len(f))
		for _, p := range f {
			require.Equal(t, []string{p.Value}, values[p.Name])
		}
		require.Equal(t, url.QueryEscape(f[0].Value), strings.ReplaceAll(strings.SplitN(strings.SplitN(f.EncodeRFC1738(), "&", 2)[0], "=", 2)[1], "%7E", "~"))
	})
}

func TestFromJSON(t *testing.T) {
	f, err := bracket.FromJSON([]byte(`{"amount":590,"vatRate":7.70,"b":true,"c":false,"n":null,"fields":[],"o":{},"psp":[36,44],"fields2":{"email":{"mandatory":1}},"s":"ü"}`), bracket.Limits{})
	require.NoError(t, err)
	require.Equal(t, bracket.Form{{"amount", "590"}, {"vatRate", "7.70"}, {"b", "1"}, {"c", "0"}, {"psp[0]", "36"}, {"psp[1]", "44"}, {"fields2[email][mandatory]", "1"}, {"s", "ü"}}, f)
	for _, text := range []string{``, `[]`, `1`, `{`, `{"a":1,"a":2}`, `{"a":1}{}`, "{\"a\":\"\xff\"}", `null`} {
		_, err := bracket.FromJSON([]byte(text), bracket.Limits{})
		require.Equal(t, wire.Invalid, wire.CodeOf(err), text)
	}
	_, err = bracket.FromJSON([]byte(`{"a":[`+strings.Repeat("1,", 1000)+`1]}`), bracket.Limits{})
	require.Equal(t, wire.TooLarge, wire.CodeOf(err))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a=1&b[0]=2&b[k][s]=%20+", "a[]=1&a[]=2", "a%5Bb%5D=%C3%BC", "=&&a", "a[b]c=1", "%", "a[999999999]=1&a[]=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := bracket.Parse(text, bracket.Limits{})
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		again, err := bracket.Parse(form.Encode(), bracket.Limits{})
		require.NoError(t, err)
		require.Equal(t, len(form), len(again))
		for i := range form {
			require.Equal(t, form[i], again[i])
		}
		tree, err := form.Tree()
		if err != nil {
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
			return
		}
		flat := tree.Form()
		require.Equal(t, len(form), len(flat))
		back, err := flat.Tree()
		require.NoError(t, err)
		require.Equal(t, flat, back.Form())
	})
}

func FuzzFromJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null,"c":true}],"d":"x"}`))
	f.Add([]byte(`{"":{"[":[[]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		form, err := bracket.FromJSON(data, bracket.Limits{})
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		require.LessOrEqual(t, len(form), 1000)
	})
}

func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("fields[email][n"+strconv.Itoa(1)+"]=a%20b&", 40)
	for b.Loop() {
		_, _ = bracket.Parse(text, bracket.Limits{})
	}
}
