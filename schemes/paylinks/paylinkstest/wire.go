package paylinkstest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/wiretest"
)

// raw is one request as it stands. Its parameters are signed unless Signature says otherwise.
type raw struct {
	method, path string // below the prefix
	form         bracket.Form
	inQuery      bool    // form and signature stand in the query, as on GET
	signature    *string // nil = the right one, "" = none; in the query it is not escaped
	instance     string  // "" = the fixture's, "-" = none
	kind         string  // content type; "" = a form's, "-" = none
	body         *string // in place of the form
	header       [2]string
	prefix       string
}

// answer is what came back.
type answer struct {
	*http.Response
	text string
	body struct {
		Status  string                       `json:"status"`
		Message string                       `json:"message"`
		Data    []map[string]json.RawMessage `json:"data"`
	}
}

func (f Fixture) send(t *testing.T, r raw) answer {
	t.Helper()
	signature := paylinks.Sign(f.Wire.Secret, r.form)
	if r.signature != nil {
		signature = *r.signature
	}
	query := bracket.Form{}
	if r.instance == "" {
		r.instance = f.Wire.Instance
	}
	if r.instance != "-" {
		query = append(query, bracket.Pair{Name: "instance", Value: r.instance})
	}
	q, body := query.Encode(), ""
	if r.inQuery || r.method == http.MethodGet {
		if q = append(query, r.form...).Encode(); signature != "" {
			q += "&ApiSignature=" + signature // + / = as they are
		}
	} else {
		sent := r.form
		if signature != "" {
			sent = append(sent[:len(sent):len(sent)], bracket.Pair{Name: "ApiSignature", Value: signature})
		}
		body = sent.Encode()
	}
	if r.body != nil {
		body = *r.body
	}
	if r.prefix == "" {
		r.prefix = paylinks.Prefix
	}
	switch {
	case r.kind == "-":
		r.kind = ""
	case r.kind == "" && body != "":
		r.kind = "application/x-www-form-urlencoded"
	}
	resp, text := wiretest.Raw(t, f.Wire.Doer, r.method, f.Wire.BaseURL+r.prefix+r.path+"?"+strings.Trim(q, "&"), r.kind, body, r.header[:]...)
	a := answer{Response: resp, text: text}
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"), "clients compare it to the letter: %s", text)
	require.NoError(t, json.Unmarshal([]byte(text), &a.body), "%s", text)
	require.NotContains(t, a.text, f.Wire.Secret.Reveal())
	return a
}

// ok asks for a success with one record, and no for an error with a status and, where given, words.
func (a answer) ok(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	require.Equal(t, http.StatusOK, a.StatusCode, a.text)
	require.Equal(t, "success", a.body.Status)
	require.Len(t, a.body.Data, 1)
	return a.body.Data[0]
}

func (a answer) no(t *testing.T, status int, words ...string) {
	t.Helper()
	require.Equal(t, status, a.StatusCode, a.text)
	require.Equal(t, "error", a.body.Status)
	require.True(t, strings.HasPrefix(a.body.Message, "An error occurred: "), a.text)
	for _, w := range words {
		require.Contains(t, a.body.Message, w)
	}
}

func form(list ...string) bracket.Form {
	var f bracket.Form
	for i := 0; i < len(list); i += 2 {
		f = append(f, bracket.Pair{Name: list[i], Value: list[i+1]})
	}
	return f
}

// good are the pairs of a create request, in the official client's way: with its own extras, and empty texts for what it does not set.
func (f Fixture) good() bracket.Form {
	return form("model", "Invoice", "referenceId", string(wire.NewKey()), "title", "Shop ~ order (1)", "description", "a+b & c", "psp", "36", "name", "",
		"purpose", "Order", "amount", strconv.FormatInt(f.Amount, 10), "currency", f.Currency, "subscriptionState", "0", "subscriptionInterval", "",
		"subscriptionPeriodMinAmount", "", "preAuthorization", "0", "fields[email][name]", "", "fields[email][mandatory]", "1",
		"fields[email][defaultValue]", "a@b.example", "fields[custom_field_1][name]", "Feld", "fields[custom_field_1][mandatory]", "0",
		"fields[custom_field_1][defaultValue]", "")
}

func (f Fixture) wire(t *testing.T) {
	t.Run("creation", f.creation)
	t.Run("types", f.types)
	t.Run("signature", f.signature)
	t.Run("every route needs a proof", f.everyRoute)
	t.Run("variants", f.variants)
	t.Run("broken requests", f.brokenRequests)
	t.Run("attachments", f.attachments)
}

func (f Fixture) creation(t *testing.T) {
	for _, path := range []string{"Invoice/", "Invoice/0/", "Invoice"} {
		made := f.send(t, raw{method: "POST", path: path, form: f.good()}).ok(t)
		require.NotEqual(t, "null", string(made["hash"]))
	}
	for _, name := range []string{"title", "description", "referenceId", "purpose", "amount", "currency"} {
		f.send(t, raw{method: "POST", path: "Invoice/", form: f.good().Without(name)}).no(t, http.StatusBadRequest, name+": missing")
	}
	for _, bad := range [][2]string{
		{"amount", "1e3"}, {"amount", "1.0"}, {"amount", "-1"}, {"amount", "+1"}, {"amount", "01"}, {"amount", " 100"}, {"amount", "2147483648"}, {"amount", "١٠٠"},
		{"preAuthorization", "2"}, {"reservation", "yes"}, {"hideFields", "null"}, {"psp[0]", "x"}, {"psp[1]", "-1"}, {"vatRate", "7,7"}, {"fields", "x"},
		{"fields[email][mandatory]", "maybe"}, {"title[x]", "y"}, {"currency", "eur"}, {"attachments", "x"}, {"expirationDate", "31.12.2030"},
	} {
		sent := append(f.good().Without("psp", bad[0]), form(bad[0], bad[1])...)
		if bad[0] == "fields" || bad[0] == "title[x]" {
			sent = append(f.good().Without("title", "fields[email][name]", "fields[email][mandatory]", "fields[email][defaultValue]",
				"fields[custom_field_1][name]", "fields[custom_field_1][mandatory]", "fields[custom_field_1][defaultValue]"), form(bad[0], bad[1])...)
		}
		f.send(t, raw{method: "POST", path: "Invoice/", form: sent}).no(t, http.StatusBadRequest)
	}
	a := f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), form("pm", "twint")...)}).ok(t)
	require.Equal(t, "[]", string(a["pm"]), "what is no indexed list is passed over")
	a = f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), form("pm[]", "twint")...)}).ok(t)
	require.Equal(t, "[]", string(a["pm"]))
	a = f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), form("pm[0]", "twint", "unknown[thing]", "1")...)}).ok(t)
	require.Equal(t, `["twint"]`, string(a["pm"]))
}

// types: what creation and retrieval write differently (S1 2.1).
func (f Fixture) types(t *testing.T) {
	sent := append(f.good().Without("subscriptionState", "subscriptionInterval", "subscriptionPeriodMinAmount"),
		form("subscriptionState", "true", "subscriptionInterval", "P1M", "subscriptionPeriodMinAmount", "500")...)
	made := f.send(t, raw{method: "POST", path: "Invoice/", form: sent}).ok(t)
	id := string(made["id"])
	read := f.send(t, raw{method: "GET", path: "Invoice/" + id + "/"}).ok(t)
	require.Equal(t, `"500"`, string(made["subscriptionPeriodMinAmount"]))
	require.Equal(t, `500`, string(read["subscriptionPeriodMinAmount"]))
	require.NotContains(t, made, "status")
	require.Equal(t, `"waiting"`, string(read["status"]))
	require.Equal(t, "0", string(made["reservation"]))
	require.NotContains(t, read, "reservation")
	require.Contains(t, string(made["fields"]), `"privacy_policy":{"active":`)
	require.NotContains(t, string(read["fields"]), "privacy_policy")
	for _, l := range []map[string]json.RawMessage{made, read} {
		require.Equal(t, []string{"0", "36", "true", "true"}, []string{string(l["preAuthorization"]), string(l["psp"]), string(l["api"]), string(l["subscriptionState"])})
		require.Contains(t, string(l["fields"]), `"names":{"de":`)
		require.Contains(t, string(l["fields"]), `"email":{"active":true,"mandatory":true}`)
	}
}

func (f Fixture) signature(t *testing.T) {
	good := f.good()
	right := paylinks.Sign(f.Wire.Secret, good)
	mac, err := base64.StdEncoding.DecodeString(right)
	require.NoError(t, err)
	for name, bad := range map[string]string{
		"none": "", "of nothing": paylinks.Sign(f.Wire.Secret, nil), "of another secret": paylinks.Sign(f.Wire.Secret+"x", good), "cut": right[:len(right)-1],
		"longer": right + "=", "hex": hex.EncodeToString(mac), "other case": strings.ToLower(right), "of another order": paylinks.Sign(f.Wire.Secret, append(good[1:len(good):len(good)], good[0])),
		"of another value": paylinks.Sign(f.Wire.Secret, append(good.Without("amount"), form("amount", "1")...)), "of fewer": paylinks.Sign(f.Wire.Secret, good[1:]), "word": "null",
	} {
		a := f.send(t, raw{method: "POST", path: "Invoice/", form: good, signature: &bad})
		require.Equal(t, http.StatusForbidden, a.StatusCode, name)
		a.no(t, http.StatusForbidden, "The API secret is not correct.")
	}
	none := ""
	twice := append(good[:len(good):len(good)], form("ApiSignature", right, "ApiSignature", right)...)
	f.send(t, raw{method: "POST", path: "Invoice/", form: twice, signature: &none}).no(t, http.StatusForbidden)
	f.send(t, raw{method: "POST", path: "Invoice/", form: good, instance: "somebody"}).no(t, http.StatusForbidden)
	f.send(t, raw{method: "POST", path: "Invoice/", form: good, instance: "-"}).no(t, http.StatusUnprocessableEntity, "Unprocessable Content", "instance: missing")
	f.send(t, raw{method: "GET", path: "SignatureCheck/", form: form("instance", f.Wire.Instance)}).no(t, http.StatusUnprocessableEntity)
	f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), form("instance", f.Wire.Instance)...)}).ok(t)
	f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), form("instance", "somebody")...)}).no(t, http.StatusBadRequest)
	// Extra parameters are ignored, but they are signed.
	extra := append(good[:len(good):len(good)], form("filterMyTransactionsOnly", "0")...)
	f.send(t, raw{method: "POST", path: "Invoice/", form: extra, signature: &right}).no(t, http.StatusForbidden)
	f.send(t, raw{method: "POST", path: "Invoice/", form: extra}).ok(t)
	// The body's escapes are the sender's own affair.
	text := strings.NewReplacer("%20", "+", "~", "%7E", "%5B", "[", "%5D", "]").Replace(append(good[:len(good):len(good)], form("ApiSignature", right)...).Encode())
	f.send(t, raw{method: "POST", path: "Invoice/", body: &text}).ok(t)
	// The empty text is a proof of nothing but a bare route.
	empty := paylinks.Sign(f.Wire.Secret, nil)
	id := strconv.FormatInt(f.create(t, nil).ID, 10)
	f.send(t, raw{method: "GET", path: "Invoice/" + id + "/", signature: &empty}).ok(t)
	f.send(t, raw{method: "GET", path: "Invoice/" + id + "/", form: form("id", id), signature: &empty}).ok(t)
	f.send(t, raw{method: "GET", path: "Invoice/" + id + "/", form: form("model", "Invoice", "id", id), signature: &empty}).no(t, http.StatusForbidden)
	f.send(t, raw{method: "GET", path: "Transaction/", form: form("limit", "1"), signature: &empty}).no(t, http.StatusForbidden)
	f.send(t, raw{method: "DELETE", path: "Invoice/" + id + "/", form: form("model", "Invoice"), signature: &empty}).no(t, http.StatusForbidden)
	for _, r := range []raw{{}, {inQuery: true}, {kind: "-"}, {form: form("id", "ID")}} { // S1 5: a write with no payload, too
		id := strconv.FormatInt(f.create(t, nil).ID, 10)
		if r.form != nil {
			r.form = form("id", id)
		}
		r.method, r.path, r.signature = "DELETE", "Invoice/"+id+"/", &empty
		f.send(t, r).ok(t)
	}
	for path, method := range map[string]string{"Transaction/5/refund": "POST", "Transaction/5/capture": "POST", "Transaction/5/charge": "POST", "Transaction/5/": "DELETE"} {
		f.send(t, raw{method: method, path: path, signature: &empty}).no(t, http.StatusNotFound)
	}
	f.send(t, raw{method: "POST", path: "Transaction/5/", form: form("id", "5"), signature: &empty}).no(t, http.StatusNotFound)
	f.send(t, raw{method: "POST", path: "Invoice/", signature: &empty}).no(t, http.StatusBadRequest)
	f.send(t, raw{method: "POST", path: "Transaction/5/refund", form: form("amount", "1"), signature: &empty}).no(t, http.StatusForbidden)
	_, err = f.Links.Read(t.Context(), f.create(t, nil).ID)
	require.NoError(t, err)
}

func (f Fixture) everyRoute(t *testing.T) {
	link, tx := f.txn(t, paylinks.Reserved, func(r *paylinks.CreateRequest) { r.Reservation = true })
	open := f.create(t, nil)
	id, txn := strconv.FormatInt(open.ID, 10), "Transaction/"+strconv.FormatInt(tx.ID, 10)+"/"
	none, wrong := "", paylinks.Sign("wrong", nil)
	for _, r := range []raw{
		{method: "GET", path: "SignatureCheck/"}, {method: "GET", path: "SignatureCheck/0/"}, {method: "GET", path: "Invoice/" + id + "/"},
		{method: "DELETE", path: "Invoice/" + id + "/"}, {method: "POST", path: "Invoice/", form: f.good()}, {method: "POST", path: txn}, {method: "GET", path: txn},
		{method: "DELETE", path: txn}, {method: "POST", path: txn + "refund"}, {method: "GET", path: "Transaction/"}, {method: "POST", path: txn + "capture"}, {method: "POST", path: txn + "charge"},
	} {
		r.signature = &none
		f.send(t, r).no(t, http.StatusForbidden, "The API secret is not correct.")
		r.signature = &wrong
		f.send(t, r).no(t, http.StatusForbidden)
		r.signature, r.header = &none, [2]string{paylinks.APIKeyHeader, "wrong"}
		f.send(t, r).no(t, http.StatusForbidden)
		r.signature = nil // a right signature does not mend a wrong key
		f.send(t, r).no(t, http.StatusForbidden)
	}
	for _, l := range []paylinks.Link{link, open} {
		read, err := f.Links.Read(t.Context(), l.ID)
		require.NoError(t, err)
		require.Equal(t, map[bool]paylinks.Status{true: paylinks.Waiting, false: paylinks.Reserved}[l.ID == open.ID], read.Status)
	}
	read, err := f.Transactions.Read(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, tx, read, "an unproven request changed something")
}

// variants: what real clients send (facts 1.3).
func (f Fixture) variants(t *testing.T) {
	for _, r := range []raw{
		{method: "GET", path: "SignatureCheck/"}, {method: "GET", path: "SignatureCheck"}, {method: "GET", path: "SignatureCheck/0/", form: form("model", "SignatureCheck")},
		{method: "GET", path: "SignatureCheck/", prefix: paylinks.ShortPrefix},
	} {
		require.NotEmpty(t, f.send(t, r).ok(t)["id"])
	}
	none, key := "", [2]string{paylinks.APIKeyHeader, f.Wire.Secret.Reveal()}
	f.send(t, raw{method: "GET", path: "SignatureCheck/", signature: &none, header: key}).ok(t)
	body := `{"title":"t","description":"d","referenceId":"r","purpose":"p","amount":` + strconv.FormatInt(f.Amount, 10) + `,"currency":"` + f.Currency +
		`","psp":[36],"pm":["visa"],"fields":[],"vatRate":7.7,"reservation":true,"sku":null}`
	a := f.send(t, raw{method: "POST", path: "Invoice/", kind: "application/json", body: &body, header: key}).ok(t)
	require.Equal(t, []string{"7.7", "1", `["visa"]`}, []string{string(a["vatRate"]), string(a["reservation"]), string(a["pm"])})
	f.send(t, raw{method: "POST", path: "Invoice/", kind: "application/json", body: &body}).no(t, http.StatusForbidden)
	said := form("title", "t", "description", "d", "referenceId", "r", "purpose", "p", "amount", strconv.FormatInt(f.Amount, 10), "currency", f.Currency,
		"psp[0]", "36", "pm[0]", "visa", "vatRate", "7.7", "reservation", "1") // true is 1, null and [] are nothing
	body = strings.TrimSuffix(body, "}") + `,"ApiSignature":"` + paylinks.Sign(f.Wire.Secret, said) + `"}`
	f.send(t, raw{method: "POST", path: "Invoice/", kind: "application/json", body: &body}).ok(t)

	remove := func(r raw) {
		t.Helper()
		id := strconv.FormatInt(f.create(t, nil).ID, 10)
		r.method, r.path = "DELETE", "Invoice/"+id+"/"
		for i := range r.form {
			r.form[i].Value = strings.ReplaceAll(r.form[i].Value, "ID", id)
		}
		require.Equal(t, id, string(f.send(t, r).ok(t)["id"]))
		f.send(t, raw{method: "GET", path: r.path}).no(t, http.StatusNotFound, "No Invoice found with id "+id)
		f.send(t, r).no(t, http.StatusNotFound)
	}
	remove(raw{form: form("model", "Invoice", "id", "ID")})                // all in the body, with instance
	remove(raw{form: form("model", "Invoice", "id", "ID"), inQuery: true}) // all in the query
	remove(raw{form: form("id", "ID"), kind: "-"})                         // in a body without a type
	remove(raw{form: form("id", "ID"), inQuery: true})

	_, tx := f.txn(t, paylinks.Reserved, func(r *paylinks.CreateRequest) { r.Reservation = true })
	txn := "Transaction/" + strconv.FormatInt(tx.ID, 10) + "/"
	sdk := form("model", "Transaction", "id", strconv.FormatInt(tx.ID, 10), "filterMyTransactionsOnly", "0", "orderByTime", "ASC")
	require.Contains(t, f.send(t, raw{method: "GET", path: txn, form: sdk}).ok(t), "invoice")
	a = f.send(t, raw{method: "POST", path: txn + "charge", form: sdk}).ok(t)
	require.Equal(t, `"confirmed"`, string(a["status"]))
	require.Len(t, a, 6, "id, uuid, time, status, lang, psp")
	f.send(t, raw{method: "POST", path: txn, form: sdk}).no(t, http.StatusNotFound, "No Transaction found with id "+strconv.FormatInt(tx.ID, 10)+" and status: ")
	f.send(t, raw{method: "POST", path: txn + "refund", form: append(sdk, form("amount", "100")...)}).ok(t)
	a2 := f.send(t, raw{method: "GET", path: "Transaction/0/", form: form("model", "Transaction", "orderByTime", "ASC", "filterDatetimeUtcGreaterThan", "2000-01-01 00:00:00",
		"filterDatetimeUtcLessThan", "2999-12-31 23:59:59", "offset", "0", "limit", "2")})
	require.Equal(t, http.StatusOK, a2.StatusCode, a2.text)
	require.Len(t, a2.body.Data, 2)
	f.send(t, raw{method: "GET", path: txn, form: form("id", "1")}).no(t, http.StatusBadRequest, "id")
}

func (f Fixture) brokenRequests(t *testing.T) {
	for path, status := range map[string]int{
		"": 404, "Invoice/5/x": 404, "invoice/5/": 404, "Invoice/-1/": 404, "Invoice/x/": 404, "Invoice/2147483648/": 404, "Invoice/5/refund/x": 404, "Gateway/5/": 404,
		"Invoice/05/": 404, "Invoice/１/": 404, "Invoice/5/refund": 404, "Transaction/5/refund": 405, "Invoice/": 405, "SignatureCheck/5/": 404, "Invoice/..%2f5/": 404,
	} {
		a := f.send(t, raw{method: "GET", path: path})
		require.Equal(t, status, a.StatusCode, path)
		a.no(t, status)
	}
	require.Equal(t, "POST", f.send(t, raw{method: "PUT", path: "Invoice/"}).Header.Get("Allow"))
	for _, filter := range [][2]string{
		{"offset", "-1"}, {"limit", "x"}, {"limit", "1e9"}, {"offset", "9999999999"}, {"filterDatetimeUtcGreaterThan", "2026-01-01T00:00:00"}, {"filterDatetimeUtcLessThan", "2026-02-30 00:00:00"},
		{"filterDatetimeUtcLessThan", "2026-01-01 24:00:00"}, {"filterDatetimeUtcLessThan", "2026-1-1 0:0:0"}, {"limit[x]", "1"},
	} {
		f.send(t, raw{method: "GET", path: "Transaction/", form: form(filter[0], filter[1])}).no(t, http.StatusBadRequest)
	}
	for _, text := range []string{"a=%", "a=%u0041", "a=%ff", strings.Repeat("a=1&", 1001), strings.Repeat("x", 300) + "=1", "a" + strings.Repeat("[b]", 1000) + "=1"} {
		a := f.send(t, raw{method: "POST", path: "Invoice/", body: &text})
		require.Contains(t, []int{400, 413}, a.StatusCode, "%.30q: %s", text, a.text)
	}
	for _, add := range []bracket.Form{form("amount", "1"), form("amount[x]", "1"), form("x", "1", "x[y]", "2"), form("x[", "1"), form("[x]", "1"), form("", "1"), form("x[y]z", "1")} {
		f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good(), add...)}).no(t, http.StatusBadRequest)
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded; charset=utf-16", "application/json", "multipart/form-data", "x", ";"} {
		f.send(t, raw{method: "POST", path: "Invoice/", form: f.good(), kind: kind}).no(t, http.StatusBadRequest)
	}
	big := "description=" + strings.Repeat("x", wire.MaxRequest)
	f.send(t, raw{method: "POST", path: "Invoice/", body: &big}).no(t, http.StatusRequestEntityTooLarge)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("a=1"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	zipped := packed.String()
	f.send(t, raw{method: "POST", path: "Invoice/", body: &zipped, header: [2]string{"Content-Encoding", "gzip"}}).no(t, http.StatusBadRequest)
	for _, key := range []string{strings.Repeat("k", 65), "a b", "é"} {
		f.send(t, raw{method: "POST", path: "Invoice/", form: f.good(), header: [2]string{wire.KeyHeader, key}}).no(t, http.StatusBadRequest)
	}
	a := f.send(t, raw{method: "POST", path: "Invoice/", form: append(f.good().Without("referenceId"), form("referenceId", "x\r\nlevel=error"+url.QueryEscape("<b>"))...)})
	a.no(t, http.StatusBadRequest, "referenceId")
	require.NotContains(t, a.text, "level=error", "an error repeats nothing of what was sent")
}

func (f Fixture) attachments(t *testing.T) {
	send := func(good bracket.Form, size int64) answer {
		t.Helper()
		part := bracket.Part{Field: "attachments", Name: "terms.pdf", ContentType: "application/pdf", Size: size, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.LimitReader(letters{}, size)), nil
		}}
		good = append(good, form("ApiSignature", paylinks.Sign(f.Wire.Secret, good))...)
		kind, _, body := bracket.WriteMultipart(good, []bracket.Part{part}, "posagentBoundary")
		r, err := body()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		text := string(data)
		return f.send(t, raw{method: "POST", path: "Invoice/", kind: kind, body: &text})
	}
	send(f.good(), 100<<10).ok(t)
	send(append(f.good(), form("ApiSignature", "twice")...), 10).no(t, http.StatusForbidden)
	send(f.good(), bracket.MaxFiles+1).no(t, http.StatusRequestEntityTooLarge)
	text := "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nv"
	f.send(t, raw{method: "POST", path: "Invoice/", kind: "multipart/form-data; boundary=x", body: &text}).no(t, http.StatusBadRequest)
	f.send(t, raw{method: "POST", path: "Transaction/5/refund", kind: "multipart/form-data; boundary=x", body: &text}).no(t, http.StatusBadRequest)
}

// letters is an endless text.
type letters struct{}

// Read implements io.Reader.
func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
