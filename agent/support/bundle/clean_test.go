package bundle_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/support/bundle"
)

// JSON stays JSON, whatever is masked in it: a number that has a secret in it, a name, an escaped text, one text behind another.
func TestJSONStaysJSON(t *testing.T) {
	c := bundle.NewCleaner([]string{"948213", "hush", `quo"te`, "true", "a+b/c ="})
	for in, want := range map[string]string{
		`{"amount": 948213, "n": 12}`:                                  `{"amount": "***", "n": 12}`,
		`[19482130]`:                                                   `["***"]`,
		`{"a":"pay 948213 now","b":-1.5e3}`:                            `{"a":"pay *** now","b":-1.5e3}`,
		`{"hush":{"hush":1}}`:                                          `{"***":{"***":1}}`,
		`{"a":"h\u0075sh","b":"<quo\"te>"}`:                            `{"a":"***","b":"<***>"}`,
		"{\"a\": 1}\n{\"amount\":948213}\n":                            "{\"a\": 1}\n{\"amount\":\"***\"}\n",
		`{"n":4111111111111111}`:                                       `{"n":"***"}`,
		`{"text":"card 4111111111111111"}`:                             `{"text":"card 411111******1111"}`,
		`{"ok":true,"none":null,"list":[],"o":{}}`:                     `{"ok":true,"none":null,"list":[],"o":{}}`,
		`{"validationCode":"737","pan":1,"cvv":null}`:                  `{"validationCode":"***","pan":"***","cvv":null}`,
		`{"customerInfo":{"name":"Anna","x":[1,{}]},"y":1}`:            `{"customerInfo":"***","y":1}`,
		`{"Access-Token":"x","tokens":"x","secret":""}`:                `{"Access-Token":"***","tokens":"x","secret":""}`,
		`{"log":"password=geheim, user=anna"}`:                         `{"log":"password=***, user=anna"}`,
		`{"idToken":"x","q":"at=a%2Bb%2Fc+%3D&x","p":"/a+b%2Fc%20=/"}`: `{"idToken":"***","q":"at=***&x","p":"/***/"}`,
		`"hush"`:        `"***"`,
		`1{"a":"hush"}`: `1{"a":"***"}`,
		` `:             ` `,
		`{"a": 948213`:  `{"a": ***`, // it was none before
	} {
		got := string(c.Data([]byte(in)))
		require.Equal(t, want, got, in)
		if json.Valid([]byte(in)) {
			require.True(t, json.Valid([]byte(got)), got)
		}
	}
}

// What stands behind a name of the specification's list of secrets goes, however a text writes it down.
func TestWhatANameHidesGoes(t *testing.T) {
	c := bundle.NewCleaner(nil)
	for in, want := range map[string]string{
		`Authorization: Bearer abc.def-ghi next`:                `Authorization: *** next`,
		`curl -H "X-API-KEY: abc" -d 'iban=DE02 x'`:             `curl -H "X-API-KEY: ***" -d 'iban=*** x'`,
		`sent {"pan":"5","validationCode": "737","x":1}`:        `sent {"pan":***,"validationCode": ***,"x":1}`,
		`err="bad \"sessionId\":\"s-1\" in reply" x=1`:          `err="bad \"sessionId\":*** x=1`,
		`GET /x?ApiSignature=abc%3D&instance=demo`:              `GET /x?ApiSignature=***&instance=demo`,
		`consumer_secret = "a b c", port = 1`:                   `consumer_secret = ***, port = 1`,
		`demo_token='x y' more`:                                 `demo_token=*** more`,
		`a Bearer abcdefgh12345678 of old`:                      `a Bearer *** of old`,
		`the bearer of this letter; 3 tokens: fine`:             `the bearer of this letter; 3 tokens: fine`,
		`customerEmail: anna@example.com, consumerId=+46701234`: `customerEmail: ***, consumerId=***`,
		`time=2026-11-23T10:00:00Z level=WARN msg="not ready"`:  `time=2026-11-23T10:00:00Z level=WARN msg="not ready"`,
	} {
		require.Equal(t, want, c.Text(in), in)
	}
}

// FuzzJSONStaysJSON: no text makes it fail, and valid JSON stays valid and loses the secret.
func FuzzJSONStaysJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":"948213"}]}`, `948213`, `1{}`, `[[[]]]`, "\"\\u0039\\u00348213\"", `{"token":{"a":[1]}}`, `{"a"`, `nulltrue`, `""""`, `{"":""}`} {
		f.Add(seed)
	}
	c := bundle.NewCleaner([]string{"948213"})
	f.Fuzz(func(t *testing.T, in string) {
		out := c.Data([]byte(in))
		if !json.Valid([]byte(in)) {
			return
		}
		require.True(t, json.Valid(out), "%q: %q", in, out)
		var v any
		numbers := json.NewDecoder(bytes.NewReader(out)) // as they are written
		numbers.UseNumber()
		require.NoError(t, numbers.Decode(&v))
		again, err := json.Marshal(v)
		require.NoError(t, err)
		require.False(t, strings.Contains(string(again), "948213"), "%q: %q", in, out)
	})
}
