package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"posagent/schemes/wire"
)

// shortest is the length from which a secret is looked for: a shorter one stands in any text.
const shortest = 4

// masked stands where a secret was.
const masked = "***"

// secretNames are the names behind which a text has a secret, card data or a person, in small letters without dashes and underscores.
func secretNames() []string {
	return []string{
		"pan", "validationcode", "cvv", "cvc", "expiryyear", "expirymonth", "token", "tokensecret", "authorization", "consumerkey", "consumersecret",
		"clientsecret", "apikey", "xapikey", "apisignature", "instancesecret", "secret", "securitytoken", "sessionid", "accesstoken", "refreshtoken",
		"password", "passphrase", "userid", "cardnumber", "cardexpirydate", "cardholdername", "holdername", "iban", "mandateurl", "customeremail", "consumerid",
		"payerid", "documentbinary", "customerinfo", "webhooksecret", "bearer", "cookie", "setcookie", "privatekey",
	}
}

// secretEnds are what the name of a secret ends with, whatever stands before it.
func secretEnds() []string { return []string{"token", "secret", "password", "passphrase"} }

// Cleaner takes out of texts what must not be seen: secrets, card numbers, and what stands behind a name of a secret. It is safe for
// concurrent use.
type Cleaner struct {
	secrets *strings.Replacer
	names   map[string]bool
	named   *regexp.Regexp
	proof   *regexp.Regexp
}

// NewCleaner makes a Cleaner that knows these secrets.
func NewCleaner(secrets []string) *Cleaner {
	c := &Cleaner{names: map[string]bool{}}
	var pairs []string
	sorted := slices.Clone(secrets)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	for _, s := range sorted {
		if len(s) < shortest {
			continue
		}
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		if quoted, err := json.Marshal(s); err == nil {
			forms = append(forms, string(quoted[1:len(quoted)-1]))
		}
		for i, form := range forms {
			if !slices.Contains(forms[:i], form) {
				pairs = append(pairs, form, masked)
			}
		}
	}
	c.secrets = strings.NewReplacer(pairs...)
	var names []string
	for _, name := range secretNames() { // between two letters may be a dash
		c.names[name] = true
		names = append(names, strings.Join(strings.Split(name, ""), "[-_]?"))
	}
	names = append(names, `[a-z0-9]*(?:`+strings.Join(secretEnds(), "|")+`)`)
	c.named = regexp.MustCompile(`(?i)((?:\b|[-_])(?:` + strings.Join(names, "|") + `)\\?["']?\s*[:=]\s*)(?:\\?"(?:[^"\\]|\\.)*"|'[^']*'|(?:(?:bearer|basic|device)\s+)?[^\s"',;&}\])]+)`)
	c.proof = regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`)
	return c
}

// Text masks in a text of any form.
func (c *Cleaner) Text(s string) string {
	s = c.secrets.Replace(s)
	s = c.named.ReplaceAllString(s, "${1}"+masked)
	s = c.proof.ReplaceAllString(s, "${1}"+masked)
	return wire.MaskPANs(s)
}

// Data is Text for what may be JSON. JSON, one text or several, stays JSON: a value with something to mask becomes a string.
func (c *Cleaner) Data(data []byte) []byte {
	if !isJSON(data) {
		return []byte(c.Text(string(data)))
	}
	w := walker{in: data, c: c}
	for w.space(); w.at < len(w.in); w.space() {
		w.value("")
	}
	return w.out.Bytes()
}

// Hides says whether a secret stands behind a name.
func (c *Cleaner) Hides(name string) bool {
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	return c.names[name] || slices.ContainsFunc(secretEnds(), func(end string) bool { return strings.HasSuffix(name, end) })
}

// isJSON says whether data is one text of JSON or more.
func isJSON(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	for n := 0; ; n++ {
		var v json.RawMessage
		if err := d.Decode(&v); err == io.EOF {
			return n > 0
		} else if err != nil {
			return false
		}
	}
}

// walker copies valid JSON as it is written, and masks its names and values.
type walker struct {
	in  []byte
	at  int
	out bytes.Buffer
	c   *Cleaner
}

// space copies what stands between two tokens.
func (w *walker) space() {
	from := w.at
	for w.at < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.at]) >= 0 {
		w.at++
	}
	w.out.Write(w.in[from:w.at])
}

// take copies one letter.
func (w *walker) take() {
	w.out.WriteByte(w.in[w.at])
	w.at++
}

// value copies the value behind a name, "" = none.
func (w *walker) value(name string) {
	if w.c.Hides(name) {
		w.hide()
		return
	}
	switch w.in[w.at] {
	case '{', '[':
		w.members()
	case '"':
		w.put(w.token(), w.c.Text)
	default:
		w.put(w.token(), func(s string) string { // true, false and null are no secrets
			if s[0] >= 'a' && s[0] <= 'z' || w.c.Text(s) == s {
				return s
			}
			return masked
		})
	}
}

// members copies an object or an array.
func (w *walker) members() {
	end, object := byte(']'), w.in[w.at] == '{'
	if object {
		end = '}'
	}
	w.take()
	for w.space(); w.in[w.at] != end; w.space() {
		if w.in[w.at] == ',' {
			w.take()
			w.space()
		}
		name := ""
		if object {
			token := w.token()
			name = unquoted(token)
			w.put(token, w.c.Text)
			w.space()
			w.take() // the colon
			w.space()
		}
		w.value(name)
	}
	w.take()
}

// token reads a string, a number or a word.
func (w *walker) token() []byte {
	from := w.at
	if w.in[w.at] != '"' {
		for w.at < len(w.in) && strings.IndexByte(" \t\r\n,:]}[{\"", w.in[w.at]) < 0 {
			w.at++
		}
		return w.in[from:w.at]
	}
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.in[from:w.at]
}

// put writes a token, as a string where it has been masked.
func (w *walker) put(token []byte, mask func(string) string) {
	plain := string(token)
	if token[0] == '"' {
		plain = unquoted(token)
	}
	clean := mask(plain)
	if clean == plain {
		w.out.Write(token)
		return
	}
	w.quote(clean)
}

// hide skips a value, and leaves the mask in its place; null and an empty text stay.
func (w *walker) hide() {
	from := w.at
	skipped := walker{in: w.in, at: w.at, c: w.c}
	if c := w.in[w.at]; c == '{' || c == '[' {
		skipped.members()
	} else {
		skipped.token()
	}
	w.at = skipped.at
	switch value := string(w.in[from:w.at]); value {
	case "null", `""`, "true", "false":
		w.out.WriteString(value)
	default:
		w.quote(masked)
	}
}

func (w *walker) quote(s string) {
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)                 // a string has no error
	w.out.Truncate(w.out.Len() - 1) // the line's end
}

// unquoted is the text of a string of JSON.
func unquoted(token []byte) string {
	var s string
	_ = json.Unmarshal(token, &s) // the token is valid
	return s
}
