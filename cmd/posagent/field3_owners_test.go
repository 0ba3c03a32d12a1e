package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// send sends a request as a client does; path is written as it stands.
func (c *client) send(method, path, body string, header ...string) (int, string) {
	t := c.p.t
	t.Helper()
	kind := "application/json"
	if strings.HasPrefix(path, "/v1.0/") { // these sign their form
		kind = "application/x-www-form-urlencoded"
		instance, signed := signedBy(c, body)
		if path, body = path+"?"+instance, signed; method != http.MethodPost {
			path, body = path+"&"+signed, ""
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, c.p.port, strings.NewReader(body))
	require.NoError(t, err)
	target, query, _ := strings.Cut(path, "?")
	plain, err := url.PathUnescape(target)
	require.NoError(t, err)
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = plain, target, query
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set(hosted.KeyHeader, c.token)
	req.Header.Set(hosted.CorrelationHeader, "0123abcd-4567-89ef-0123-456789abcdef")
	if method != http.MethodGet {
		req.Header.Set(wire.KeyHeader, string(wire.NewKey()))
	}
	if body != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err, "%s %s", method, path)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

// named are a client's things, by what a request may name.
func (c *client) named(b belongings) map[string][]string {
	t, ctx := c.p.t, c.p.t.Context()
	out := map[string][]string{
		aPayment: b.payments, aToken: b.tokens, aTokenValue: {b.token.Reveal()}, aTransaction: {strconv.FormatInt(b.txn, 10)}, aReference: b.references,
		aGivenID: b.given, anOrder: b.orders, aSession: b.sessions, aContract: {b.contract}, aKey: b.operations,
	}
	for _, id := range b.links {
		out[aLink] = append(out[aLink], strconv.FormatInt(id, 10))
	}
	for _, id := range b.applications {
		out[aRequest] = append(out[aRequest], strconv.FormatInt(id, 10))
	}

	// An order that a customer has paid, at the page of an alternative method.
	req := build(c.name + "-paid")
	req.PaymentSession.PaymentService = "PAYPAL"
	built, err := c.sessions.Build(ctx, wire.NewKey(), req)
	require.NoError(t, err)
	resp, err := http.Get(built.URL)
	require.NoError(t, err)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	token := regexp.MustCompile(`name="token"[^>]* value="([^"]+)"`).FindSubmatch(page)
	require.NotNil(t, token, "%s", page)
	answer, err := http.NewRequestWithContext(ctx, http.MethodPost, built.URL, strings.NewReader(url.Values{"token": {string(token[1])}, "say": {"yes"}}.Encode()))
	require.NoError(t, err)
	answer.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer.Header.Set("Origin", c.p.backend)
	resp, err = http.DefaultTransport.RoundTrip(answer)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	st, err := c.sessions.State(ctx, built.SessionID)
	require.NoError(t, err)
	require.NotNil(t, st.Operation)
	out[anOrder], out[aSession], out[anOperation] = append(out[anOrder], c.name+"-paid"), append(out[aSession], built.SessionID), []string{st.Operation.OperationID}

	// A sale over HTTP, and a write under an Idempotency-Key of its own.
	key := c.name + "-sale-key"
	status, text := c.send(http.MethodPost, "/agent/v1/sales?wait=50s", `{"amount":300,"currency":"EUR","reference":"`+c.name+`-bill"}`, wire.KeyHeader, key)
	require.Equal(t, http.StatusOK, status, text)
	var sale struct {
		ID, Outcome, Transaction string
		Receipt                  int
		Sale                     struct{ Reference string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &sale))
	require.Equal(t, "approved", sale.Outcome, text)
	receipt := strconv.Itoa(sale.Receipt)
	out[aSale], out[aSaleKey], out[aReceipt] = []string{sale.ID}, []string{key}, []string{receipt}
	out[anOriginal] = []string{"R" + receipt, "R1/" + receipt, "T" + sale.Transaction}
	out[aReference], out[aGivenID] = append(out[aReference], sale.Sale.Reference), append(out[aGivenID], sale.Transaction)
	idem := c.name + "-order-key"
	status, text = c.send(http.MethodPost, "/api/v1/tokens/recurring", `{"tokenSecret":"secret-of-`+c.name+`"}`, wire.KeyHeader, idem)
	require.Equal(t, http.StatusCreated, status, text)
	out[anIdem] = []string{idem}
	return out
}

// requests are an intrusion for each of the things that it names, one of them in each spelling; exact says that the spelling is the thing's own.
func requests(t *testing.T, in intrusion, things map[string][]string, send func(path, body, id string, exact bool)) {
	t.Helper()
	what := regexp.MustCompile(`\{[a-z' ]+\}`).FindString(in.path + in.body)
	if what == "" {
		send(in.path, in.body, "", true)
		return
	}
	require.NotEmpty(t, things[what], "nobody has made a %s", what)
	for n, id := range things[what] {
		list := []string{id}
		if n == 0 { // one of each kind in every spelling
			list = append(list, otherSpellings(id)...)
		}
		for i, s := range list {
			if strings.Contains(in.path, what) {
				ways := inPath(s)
				if strings.Contains(in.path, "?") && strings.Index(in.path, "?") < strings.Index(in.path, what) {
					ways[0] = url.QueryEscape(s)
				}
				for _, way := range ways {
					send(strings.ReplaceAll(in.path, what, way), strings.ReplaceAll(in.body, what, url.QueryEscape(s)), s, i == 0)
				}
				continue
			}
			ways := inJSON(s)
			if !strings.Contains(in.body, `"`+what) { // a number
				ways = ways[:1]
			}
			for _, way := range ways {
				send(in.path, strings.ReplaceAll(in.body, what, way), s, i == 0)
			}
		}
	}
}

// stays reads what a client has, so that it can be compared.
func (c *client) stays() (list string) {
	for _, path := range []string{"/agent/v1/operations?limit=200", "/agent/v1/sales?limit=200"} {
		status, text := c.send(http.MethodGet, path, "")
		require.Equal(c.p.t, http.StatusOK, status, text)
		list += text
	}
	return list
}

// booked are the lines of the backend's books, by their ids.
func (p *program) booked() map[string]string {
	var lines []map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(p.verb("backend", "books", "--json")), &lines))
	out := map[string]string{}
	for _, l := range lines {
		out[fmt.Sprint(l["service"], " ", l["type"], " ", l["id"])] = fmt.Sprint(l)
	}
	return out
}

// streamTo reads a client's events from behind a cursor until one contains a mark.
func (c *client) streamTo(last, mark string) string {
	ctx, cancel := context.WithTimeout(c.p.t.Context(), need.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.p.port+"/agent/v1/events", http.NoBody)
	require.NoError(c.p.t, err)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := c.Do(req)
	require.NoError(c.p.t, err)
	defer resp.Body.Close()
	require.Equal(c.p.t, http.StatusOK, resp.StatusCode)
	var all strings.Builder
	for lines := bufio.NewScanner(resp.Body); ; {
		require.True(c.p.t, lines.Scan(), "the stream ended: %s", &all)
		all.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), mark) {
			return all.String()
		}
	}
}

// holds says that a text has an id as a value of its own.
func holds(text, id string) bool {
	return strings.Contains(text, id) && regexp.MustCompile(`(^|[^0-9A-Za-z_-])`+regexp.QuoteMeta(id)+`($|[^0-9A-Za-z_-])`).MatchString(text)
}

// reads requires that one client reaches nothing of what another has: over every route that /openapi.json names, each id in every spelling
// and place, lists and their filters, the stream from every cursor; and that nothing of it has moved.
func (c *client) reads(t *testing.T, another *client, things map[string][]string) {
	status, doc := c.send(http.MethodGet, "/openapi.json", "")
	require.Equal(t, http.StatusOK, status)
	var v struct {
		Paths map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	table, known := portRoutes(), map[string]bool{}
	for path, methods := range v.Paths {
		for method := range methods {
			name := strings.ToUpper(method) + " " + path
			known[name] = true
			_, has := table[name]
			require.True(t, has, "a route without a row: say how a client may reach for another's things at %q", name)
		}
	}
	var secret []string // what no answer may show
	for what, ids := range things {
		for _, id := range ids {
			if len(id) > 3 || what == aTokenValue {
				secret = append(secret, id)
			}
		}
	}
	before, has := c.p.booked(), another.stays()
	var faults []string
	for name, list := range table {
		require.True(t, known[name], "no route: %q", name)
		method, _, _ := strings.Cut(name, " ")
		for _, in := range list {
			requests(t, in, things, func(path, body, id string, exact bool) {
				status, text := c.send(method, path, body)
				at := fmt.Sprintf("%s %s %s: %d %s", method, path, body, status, text)
				shown := text
				if id != "" { // what the caller itself has sent
					shown = strings.NewReplacer(inJSON(id)[0], "", id, "").Replace(text)
				}
				for _, s := range secret {
					if !holds(path+body, s) && holds(shown, s) {
						faults = append(faults, at+": it shows "+s)
					}
				}
				good := in.makes || status >= 400 && status < 500
				switch {
				case in.shows:
					good = status == http.StatusOK
				case exact && id != "":
					good = status == http.StatusNotFound || status == http.StatusForbidden
				}
				if !good {
					faults = append(faults, at)
				}
			})
		}
	}
	require.Empty(t, faults)
	// A mark of its own ends the stream.
	mark := c.name + "-mark-" + string(wire.NewKey())
	status, text := c.send(http.MethodPost, "/api/v1/tokens/recurring", `{"tokenSecret":"secret-of-`+c.name+`"}`, wire.KeyHeader, mark)
	require.Equal(t, http.StatusCreated, status, text)
	var made struct{ TokenizationID string }
	require.NoError(t, json.Unmarshal([]byte(text), &made))
	for _, last := range []string{"", "0", "0-0", "0-1", "0-7"} {
		told := c.streamTo(last, made.TokenizationID)
		for _, s := range secret {
			require.False(t, holds(told, s), "the stream behind %q shows %s:\n%s", last, s, told)
		}
	}
	after := c.p.booked()
	for id, line := range before {
		require.Equal(t, line, after[id], "it has moved")
	}
	require.Equal(t, has, another.stays())
}

// TestField3_C3NothingOfAnothersOverAnyRoute: two clients and every route of the port. First what beta has made is out of alpha's reach;
// then a person gives all of it to alpha, and it is out of beta's.
func TestField3_C3NothingOfAnothersOverAnyRoute(t *testing.T) {
	t.Parallel()
	p := runProgram(t, strings.ReplaceAll(twoClients, `"onboarding"]`, `"onboarding", "sales"]`)+"[hooks]\nauthorization = \"Bearer the-backend's-own-word\"\n")
	alpha, beta := p.client("alpha", "alpha-token-0123456789"), p.client("beta", "beta-token-0123456789")
	b := beta.makes()
	things := beta.named(b)
	alpha.reads(t, beta, things)

	// The same writes under beta's Idempotency-Keys are alpha's own.
	for _, key := range append(slices.Clone(things[anIdem]), things[aSaleKey]...) {
		status, text := alpha.send(http.MethodPost, "/api/v1/tokens/recurring", `{"tokenSecret":"secret-of-beta"}`, wire.KeyHeader, key)
		require.Equal(t, http.StatusCreated, status, text)
		for _, id := range b.everything {
			require.False(t, holds(text, id), text)
		}
	}
	status, text := alpha.send(http.MethodPost, "/agent/v1/sales?wait=50s", `{"amount":300,"currency":"EUR","reference":"beta-bill"}`, wire.KeyHeader, things[aSaleKey][0])
	require.Equal(t, http.StatusOK, status, text)
	require.False(t, holds(text, things[aSale][0]), text)

	// Given to alpha.
	for _, key := range b.operations {
		p.verb("ops", "own", key, "alpha")
	}
	moved := map[string][]string{}
	for _, what := range []string{aPayment, aToken, aTokenValue, aLink, aTransaction, aKey} {
		moved[what] = things[what]
	}
	for what, ids := range alpha.named(belongings{token: wire.Secret("none")}) { // and what is alpha's own
		if moved[what] == nil {
			moved[what] = ids
		}
	}
	moved[aContract], moved[aRequest] = []string{"alpha-contract"}, []string{"999999"}
	beta.reads(t, alpha, moved)
	for _, id := range things[aPayment] {
		status, text := alpha.send(http.MethodGet, "/api/v1/payments/"+id, "")
		require.Equal(t, http.StatusOK, status, text)
	}
}
