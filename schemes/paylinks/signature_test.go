package paylinks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// TestSignatureVectors holds known answers, worked out from the rule with openssl: printf %s TEXT | openssl dgst -sha256 -hmac
// demo-secret -binary | base64.
func TestSignatureVectors(t *testing.T) {
	for _, c := range []struct {
		name string
		sent bracket.Form
		text string
		want string
	}{
		{"nothing", nil, "", "eFVTiulQTbw10wuFcVgINLMPH/vj503CbtQyveLdgT8="},
		{"instance and signature are not signed", pairs("instance", "demo", "ApiSignature", "x"), "", "eFVTiulQTbw10wuFcVgINLMPH/vj503CbtQyveLdgT8="},
		{"space is +", pairs("title", "a b"), "title=a+b", "KtVHQ1Hg3HVzTnvmtC2HmGs+sXrUvhJa6umrxHap4CY="},
		{"order sent", pairs("b", "1", "a", "2"), "b=1&a=2", "h2nd7OW5qhe1tVlJYS9ru9AQJ7JxMiW1lLLxD2cRuA4="},
		{"reserved", pairs("x", "~!'()*-_.+&="), "x=%7E%21%27%28%29%2A-_.%2B%26%3D", "bB7x15lEOXWNL5punFcvQFfraw0MMWB9qFIsTrUk2pI="},
		{"brackets", pairs("fields[email][mandatory]", "1", "psp[0]", "36"), "fields%5Bemail%5D%5Bmandatory%5D=1&psp%5B0%5D=36", "+q2iCMzcbuv1FplfMO5gndwSdpxsVz/tYhOfa0TIWdE="},
		{"utf-8", pairs("purpose", "Zürich €"), "purpose=Z%C3%BCrich+%E2%82%AC", "BaSNHWa9NiqI1yBz3PgH0COTHMTfCnO8qLbQ0tAYvEA="},
		{"number", pairs("vatRate", "7.7"), "vatRate=7.7", "amqKAybOJ44smvrMozOINjZFjn9+9cCLmP5zOGCfXIU="},
	} {
		require.Equal(t, c.text, c.sent.Without(paylinks.SignatureParam, paylinks.InstanceParam).EncodeRFC1738(), c.name)
		require.Equal(t, c.want, paylinks.Sign("demo-secret", c.sent), c.name)
	}
}

// pairs makes a form of names and values in turn.
func pairs(list ...string) bracket.Form {
	var f bracket.Form
	for i := 0; i < len(list); i += 2 {
		f = append(f, bracket.Pair{Name: list[i], Value: list[i+1]})
	}
	return f
}

// TestField2_S2TheSignatureOfNothing: a request with no payload is signed by the empty text (S1 5), a write, too, as the client for
// JavaScript deletes a link. Strict refuses it on writes. The kind: each route without a needed parameter, with and without its id,
// by the empty text and by the id; with a parameter besides, the empty text proves nothing.
func TestField2_S2TheSignatureOfNothing(t *testing.T) {
	empty, byID := paylinks.Sign("demo-secret", nil), paylinks.Sign("demo-secret", pairs("id", "7"))
	for _, strict := range []bool{false, true} {
		h := paylinks.Handler(failing{}, failingTxns{}, paylinks.HandlerOptions{Secret: demo, Strict: strict})
		code := func(method, path string, sent bracket.Form, signature string) int {
			text, query := append(sent, bracket.Pair{Name: "ApiSignature", Value: signature}).Encode(), "?instance=demo"
			var body io.Reader
			if method == http.MethodGet {
				query += "&" + text
			} else {
				body = strings.NewReader(text)
			}
			req := httptest.NewRequest(method, "/v1.0/"+path+query, body)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			return rec.Code
		}
		for path, methods := range map[string][]string{
			"Invoice/7/": {"GET", "DELETE"}, "Transaction/7/": {"GET", "DELETE", "POST"}, "Transaction/7/charge": {"POST"}, "Transaction/7/capture": {"POST"}, "Transaction/7/refund": {"POST"},
		} {
			for _, method := range methods {
				route := method + " " + path
				refused := strict && method != http.MethodGet
				require.Equal(t, refused, code(method, path, nil, empty) == http.StatusForbidden, "%s, nothing sent, strict %t", route, strict)
				require.Equal(t, refused, code(method, path, pairs("id", "7"), empty) == http.StatusForbidden, "%s, its id sent, strict %t", route, strict)
				require.NotEqual(t, http.StatusForbidden, code(method, path, pairs("id", "7"), byID), "%s, its id signed, strict %t", route, strict)
				for _, sent := range []bracket.Form{pairs("id", "8"), pairs("model", "Invoice"), pairs("amount", "1"), pairs("id", "7", "amount", "1")} {
					require.Equal(t, http.StatusForbidden, code(method, path, sent, empty), "%s with %s, strict %t", route, sent.Encode(), strict)
				}
				require.Equal(t, http.StatusForbidden, code(method, path, nil, paylinks.Sign("another", nil)), route)
			}
		}
	}
}

// second is the rule once more, by PHP's own http_build_query, which is what the service and its official client sign with.
const second = `
function plain($v) {
    if (!is_array($v)) return $v;
    if (isset($v['l'])) return array_map('plain', $v['l']);
    $out = [];
    foreach ($v['o'] as [$name, $value]) $out[$name] = plain($value);
    return $out;
}
while (($line = fgets(STDIN)) !== false) {
    $sent = plain(json_decode($line, true, 64, JSON_THROW_ON_ERROR));
    unset($sent['ApiSignature'], $sent['instance']);
    echo base64_encode(hash_hmac('sha256', http_build_query($sent, '', '&'), 'demo-secret', true)), "\n";
}
`

// TestASecondImplementationAgrees draws nested parameter sets (SETS of them, 200 without) and has them signed in PHP.
func TestASecondImplementationAgrees(t *testing.T) {
	php := need.Tool(t, "php")
	sets := 200
	if s := os.Getenv("SETS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		sets = n
	}
	g := generator{rand.New(rand.NewPCG(1, 2))}
	var in bytes.Buffer
	want := make([]string, sets)
	for i := range want {
		o, text := g.object(3)
		in.WriteString(text + "\n")
		want[i] = paylinks.Sign("demo-secret", o.Form())
		// What travels says the same: the signature is worked out over what was sent.
		got, err := bracket.Parse(o.Form().Encode(), bracket.Limits{Name: 1 << 10})
		require.NoError(t, err)
		require.Equal(t, want[i], paylinks.Sign("demo-secret", got))
	}
	cmd := exec.CommandContext(t.Context(), php, "-r", second)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := strings.Fields(string(out))
	require.Len(t, lines, sets)
	for i, line := range lines {
		require.Equal(t, want[i], line, "set %d", i)
	}
	t.Logf("%d nested sets signed alike", sets)
}

// generator draws values, and writes them as the second implementation reads them: an object is {"o":[[name,value],…]}.
type generator struct{ *rand.Rand }

func (g generator) object(depth int) (*bracket.Object, string) {
	o, parts := new(bracket.Object), []string{}
	for i := range 1 + g.IntN(6) {
		name := g.text(1) + strconv.Itoa(i)
		if depth == 3 && g.IntN(8) == 0 {
			name = []string{"ApiSignature", "instance"}[i%2]
		}
		if o.Get(name) != nil {
			continue
		}
		v, text := g.value(depth - 1)
		if name == "ApiSignature" || name == "instance" { // they are texts
			v, text = "x", `"x"`
		}
		o.Add(name, v)
		parts = append(parts, fmt.Sprintf("[%s,%s]", quote(name), text))
	}
	return o, `{"o":[` + strings.Join(parts, ",") + "]}"
}

func (g generator) value(depth int) (any, string) {
	kind := g.IntN(8)
	if depth <= 0 {
		kind = g.IntN(6)
	}
	switch kind {
	case 0:
		return nil, "null"
	case 1:
		b := g.IntN(2) == 0
		return b, strconv.FormatBool(b)
	case 2:
		n := g.Int64() - g.Int64()
		return n, strconv.FormatInt(n, 10)
	case 3:
		f := float64(g.IntN(100000)) / 100
		if g.IntN(4) == 0 {
			f = g.NormFloat64() * []float64{1, 1e-9, 1e20, 1e13}[g.IntN(4)]
		}
		return f, fmt.Sprintf("%.17e", f)
	case 6:
		o, text := g.object(depth)
		return o, text
	case 7:
		var list []any
		var parts []string
		for range g.IntN(4) {
			v, text := g.value(depth - 1)
			list, parts = append(list, v), append(parts, text)
		}
		return list, `{"l":[` + strings.Join(parts, ",") + "]}"
	}
	s := g.text(0)
	return s, quote(s)
}

func (g generator) text(least int) string {
	const letters = "abcXYZ019 ~!'()*-_.+&=%#/?:@$,;\"\\<>^`{|}äß€漢🙂\t\n\x00"
	runes := []rune(letters)
	var b strings.Builder
	for range least + g.IntN(10) {
		b.WriteRune(runes[g.IntN(len(runes))])
	}
	return b.String()
}

func quote(s string) string {
	data, _ := json.Marshal(s) // a text
	return string(data)
}

func TestHookSignature(t *testing.T) {
	body := []byte(`{"transaction":{"id":1}}`)
	sig := paylinks.SignHook("demo-secret", body)
	require.Equal(t, "9db16a5352fb1c17d623a217e1ace60d0977084ada20db3be9519fef7651574d", sig)
	require.True(t, paylinks.VerifyHook("demo-secret", body, sig))
	for _, bad := range []string{"", strings.ToUpper(sig), sig + "0", sig[1:]} {
		require.False(t, paylinks.VerifyHook("demo-secret", body, bad), bad)
	}
	require.False(t, paylinks.VerifyHook("other", body, sig))
	require.False(t, paylinks.VerifyHook("demo-secret", append(body, ' '), sig))
	require.False(t, paylinks.VerifyHook("", body, paylinks.SignHook("", body)), "no key, no proof")
	require.NotContains(t, fmt.Sprintf("%v %+v", wire.Secret("demo-secret"), &paylinks.Client{Secret: "demo-secret"}), "demo-secret")
}
