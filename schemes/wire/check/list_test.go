package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// faults are the fields that a rule refuses.
func faults(rule func(l *List)) string {
	var l List
	rule(&l)
	var paths []string
	for _, f := range l.faults {
		path, _, _ := strings.Cut(f.Error(), ":")
		paths = append(paths, path)
	}
	return strings.Join(paths, " ")
}

func TestRules(t *testing.T) {
	text := func(s string) func(*List) { return func(l *List) { l.Text("f", s, 5) } }
	email := func(s string) func(*List) { return func(l *List) { l.Email("f", s) } }
	back := func(s string) func(*List) { return func(l *List) { l.ReturnURL("f", s) } }
	web := func(s string) func(*List) { return func(l *List) { l.WebURL("f", s) } }
	country := func(s string) func(*List) { return func(l *List) { l.Country("f", s) } }
	payable := func(s string) func(*List) { return func(l *List) { l.Payable("f", s) } }
	currency := func(s string) func(*List) { return func(l *List) { l.Currency("f", s) } }
	date := func(s string) func(*List) { return func(l *List) { l.Date("f", s) } }
	language := func(s string) func(*List) { return func(l *List) { l.PageLanguage("f", s) } }
	country3 := func(s string) func(*List) { return func(l *List) { l.Country3("f", s) } }
	tongue := func(s string) func(*List) { return func(l *List) { l.Language("f", s) } }
	word := func(s string) func(*List) { return func(l *List) { l.Word("f", s, 3) } }
	for _, c := range []struct {
		rule      func(string) func(*List)
		good, bad []string
	}{
		{text, []string{"", "abcde", "a b", "äö"}, []string{"abcdef", "a\n", "a\x00", "a\u2028", "a\u2029", "\x7f", "\xff"}},
		{email, []string{"", "a@b", "a.b@c.example"}, []string{"a", "@b", "a@", "a b@c", "a@b,c@d", "a@b;c", "<a@b>", "\"a\"@b", "a@b\n", strings.Repeat("a", 255) + "@b"}},
		{back, []string{"", "https://a.example/x", "http://127.0.0.1:8/x", "http://localhost/"}, []string{"http://a.example/", "ftp://a.example", "/x", "https://u:p@a.example/"}},
		{web, []string{"https://a.example/x", "http://a.example/"}, []string{"", "ftp://a.example", "/x", "https://", "https://a b.example/"}},
		{country, []string{"", "SE", "CH"}, []string{"ZZ", "se", "SWE", "XK", "75", "S"}},
		{payable, []string{"EUR", "JPY"}, []string{"", "eur", "ZZZ", "XXX", "DEM"}},
		{currency, []string{"EUR", "SEK"}, []string{"", "eur", "EU", "ZZZ"}},
		{date, []string{"", "2026-11-21", "2028-02-29"}, []string{"2026-02-29", "21.11.2026", "0000-01-01", "2026-11-21 ", "0999-01-01"}},
		{language, []string{"", "EN", "SE"}, []string{"en", "ES ", "XX"}},
		{country3, []string{"", "ITA", "CHE"}, []string{"IT", "ita", "ZZZ", "ITALY"}},
		{tongue, []string{"", "eng", "ITA", "ger"}, []string{"en", "xxx", "english"}},
		{word, []string{"a", "a b", "abc"}, []string{"", "abcd", ".", "..", "a\n"}},
	} {
		for _, s := range c.good {
			require.Empty(t, faults(c.rule(s)), "%q", s)
		}
		for _, s := range c.bad {
			require.Contains(t, faults(c.rule(s)), "f", "%q", s)
		}
	}
}

func TestCard(t *testing.T) {
	card := func(pan string, year, month int32, code wire.Secret) string {
		return faults(func(l *List) { l.Card("c", wire.NewPAN(pan), year, month, code) })
	}
	require.Empty(t, card("4111111111111111", 2030, 12, "123"))
	require.Empty(t, card("4111111111111111", 2000, 1, ""))
	require.Empty(t, card("4111111111111111", 2099, 1, "1234"))
	require.Equal(t, "c.pan", card("4111111111111112", 2030, 12, ""))
	require.Equal(t, "c.pan c.expiryYear c.expiryMonth c.validationCode", card("", 30, 13, "12"))
	require.Equal(t, "c.expiryYear c.expiryMonth c.validationCode", card("4111111111111111", 2100, 0, "12a"))
	require.Equal(t, "c.validationCode", card("4111111111111111", 2030, 12, "12345"))
}

// A header that is taken can be sent: the rule of who takes it is the rule of who sends it.
func TestField_B7WhatIsTakenCanBeSent(t *testing.T) {
	hook := func(event, url string, authorization wire.Secret, headers ...map[string]string) string {
		return faults(func(l *List) { l.Hook("h", event, url, authorization, headers) })
	}
	require.Empty(t, hook("a.b", "https://a.example/", "Bearer x", map[string]string{"X-A": "1", "x_b": ""}))
	require.Equal(t, "h.eventName h.url", hook("", "", ""))
	for _, value := range []string{" a ", "a ", " a", "a\n", "ä", strings.Repeat("a", 4097)} {
		require.Equal(t, "h.authorization", hook("e", "https://a.example/", wire.Secret(value)), "%q", value)
		require.Equal(t, "h.headers", hook("e", "https://a.example/", "", map[string]string{"X-A": value}), "%q", value)
	}
	for _, name := range []string{"", "X-A.b", "a b", "Host", "content-length", "Proxy-X", "TE", strings.Repeat("x", 65), "ä"} {
		require.Equal(t, "h.headers", hook("e", "https://a.example/", "", map[string]string{name: "1"}), "%q", name)
	}
	require.Empty(t, hook("e", "https://a.example/", "", make([]map[string]string, 16)...))
	require.Equal(t, "h.headers", hook("e", "https://a.example/", "", make([]map[string]string, 17)...))
	many := map[string]string{}
	for i := range 17 {
		many["X-"+strings.Repeat("i", i)] = "1"
	}
	require.Contains(t, hook("e", "https://a.example/", "", many), "h.headers")
}

// asking is a request with rules.
type asking struct{ zero, long bool }

func (a asking) Check(l *List) {
	if a.zero {
		l.Reason("amount", "zero", "ZeroCharge")
	}
	if a.long {
		l.Text("text", "canary", 3)
	}
}

func TestRequest(t *testing.T) {
	require.NoError(t, Request("op", asking{}))
	err := Request("op", asking{zero: true})
	require.EqualError(t, err, "op: invalid: amount: zero")
	require.Equal(t, "ZeroCharge", wire.ReasonOf(err))
	err = Request("op", asking{true, true})
	require.EqualError(t, err, "op: invalid: amount: zero; text: longer than 3 bytes, or control characters")
	require.Empty(t, wire.ReasonOf(err), "two rules are broken")
	var whole List
	whole.Refuse(&wire.Error{Code: wire.Conflict, Msg: "closed"})
	whole.Refuse(&wire.Error{Code: wire.Invalid, Msg: "later"})
	require.EqualError(t, whole.Err("op"), "op: conflict: closed")
	whole = List{}
	whole.Add("f", "wrong")
	whole.Refuse(&wire.Error{Code: wire.Conflict})
	require.EqualError(t, whole.Err("op"), "op: invalid: f: wrong")
	l := List{First: true}
	l.Reason("amount", "zero", "ZeroCharge")
	l.Reason("currency", "none", "BadCurrency")
	require.Equal(t, "ZeroCharge", wire.ReasonOf(l.Err("op")))
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
}
