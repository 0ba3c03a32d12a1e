package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

func cat() wire.Catalogue {
	return wire.Catalogue{
		{Code: wire.Invalid, Reason: "ZeroCharge", Title: "Zero"},
		{Code: wire.Conflict, Reason: "OverCharge", Title: "Too much"},
		{Code: wire.TooMany, Reason: "Over2Limit", Title: "Limit"},
	}
}

// told writes err as a problem and reads it back.
func told(t *testing.T, path string, err *wire.Error) (wire.Answer, map[string]any) {
	t.Helper()
	rec := httptest.NewRecorder()
	wire.WriteProblem(rec, httptest.NewRequest(http.MethodPost, path, nil), nil, err, cat())
	var body map[string]any
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &body))
	require.Len(t, body, 5)
	require.EqualValues(t, rec.Code, body["status"])
	return wire.Answer{Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}, body
}

func TestProblemsSurviveTheWire(t *testing.T) {
	for _, c := range []struct {
		code   wire.Code
		reason string
		typ    string
		status int
	}{
		{wire.Invalid, "", "urn:problem:invalid", 400},
		{wire.Unauthorized, "", "urn:problem:unauthorized", 401},
		{wire.Forbidden, "", "urn:problem:forbidden", 403},
		{wire.NotFound, "", "urn:problem:not-found", 404},
		{wire.Conflict, "", "urn:problem:conflict", 422},
		{wire.KeyReused, "", "urn:problem:key-reused", 422},
		{wire.TooLarge, "", "urn:problem:too-large", 413},
		{wire.TooMany, "", "urn:problem:too-many", 429},
		{wire.Unavailable, "", "urn:problem:unavailable", 503},
		{wire.UnknownOutcome, "", "urn:problem:unknown-outcome", 504},
		{wire.Internal, "", "urn:problem:internal", 500},
		{wire.Gone, "", "urn:problem:gone", 410},
		{wire.Invalid, "ZeroCharge", "urn:problem:zero-charge", 400},
		{wire.Conflict, "OverCharge", "urn:problem:over-charge", 422},
		{wire.TooMany, "Over2Limit", "urn:problem:over2-limit", 429},
	} {
		a, body := told(t, "/api/v1/payments/P1/Capture", &wire.Error{Code: c.code, Reason: c.reason, Msg: "because", RetryAfter: 3 * time.Second})
		require.Equal(t, c.typ, body["type"])
		require.Equal(t, c.status, a.Status)
		require.Equal(t, "/api/v1/payments/P1/Capture", body["instance"])
		require.NotEmpty(t, body["title"])
		for _, write := range []bool{true, false} {
			for _, keyed := range []bool{true, false} {
				e := wire.Call{Op: "x", Write: write}.Problem(a, keyed, cat())
				require.Equal(t, c.code, e.Code)
				require.Equal(t, c.reason, e.Reason)
				require.Equal(t, "x", e.Op)
				require.Equal(t, 3*time.Second, e.RetryAfter)
				require.ErrorIs(t, e, &wire.Error{Code: c.code})
				require.ErrorIs(t, e, &wire.Error{Code: c.code, Reason: c.reason})
				require.NotErrorIs(t, e, &wire.Error{Code: c.code, Reason: "Other"})
				require.Equal(t, c.reason, wire.ReasonOf(errors.Join(errors.New("x"), e)))
			}
		}
	}
	require.Len(t, wire.Codes(), 12, "a new code needs a row above")
}

func TestProblemsTellNothingInternal(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	rec := httptest.NewRecorder()
	wire.WriteProblem(rec, httptest.NewRequest(http.MethodGet, "/a", nil), log, &wire.Error{Code: wire.Internal, Msg: "dsn", Err: errors.New("secret")}, nil)
	require.NotContains(t, rec.Body.String(), "secret")
	require.NotContains(t, rec.Body.String(), "dsn")
	require.Contains(t, out.String(), "secret")

	_, body := told(t, "/a", &wire.Error{Code: wire.Conflict, Reason: "NotInTheCatalogue"})
	require.Equal(t, "urn:problem:conflict", body["type"])
	require.Equal(t, body["title"], body["detail"])
	_, body = told(t, "/a", &wire.Error{Code: wire.NotFound, Reason: "OverCharge"}) // a reason under another code
	require.Equal(t, "urn:problem:not-found", body["type"])
	_, body = told(t, "/a", &wire.Error{Code: wire.Invalid, Err: wire.ErrKey})
	require.Equal(t, wire.ErrKey.Error(), body["detail"])

	_, body = told(t, "/card/4111111111111111/"+strings.Repeat("x", 300), &wire.Error{Code: wire.Invalid, Msg: "4111 1111 1111 1111: duplicate key"})
	require.Equal(t, "4111 11** **** 1111: duplicate key", body["detail"])
	require.Len(t, body["instance"], 255)
	require.NotContains(t, body["instance"], "4111111111111111")
}

func TestProblemNoRoute(t *testing.T) {
	for _, allow := range []string{"", "POST"} {
		rec := httptest.NewRecorder()
		wire.WriteProblemNoRoute(rec, httptest.NewRequest(http.MethodGet, "/x", nil), allow)
		require.Equal(t, allow, rec.Header().Get("Allow"))
		a := wire.Answer{Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}
		require.Equal(t, wire.UnknownOutcome, wire.Call{Write: true}.Problem(a, true, cat()).Code, "says nothing of a thing")
		require.Equal(t, wire.Unavailable, wire.Call{}.Problem(a, false, cat()).Code)
	}
}

func TestForeignProblems(t *testing.T) {
	const lost = "lost"
	for _, c := range []struct {
		name, typ, body string
		status          int
		keyed           bool
		want            wire.Code
	}{
		{"422", "application/problem+json", `{"title":"t","status":422}`, 422, true, wire.Conflict},
		{"409 with a key", "application/json", `{"title":"t"}`, 409, true, wire.KeyReused},
		{"409 without", "application/json", `{"type":"about:blank"}`, 409, false, wire.Conflict},
		{"404", "application/json", `{"title":"t","status":404}`, 404, false, wire.NotFound},
		{"404 of another status", "application/json", `{"title":"t","status":400}`, 404, false, lost},
		{"no title", "application/json", `{"detail":"t","status":404}`, 404, false, lost},
		{"title that is no text", "application/json", `{"title":7}`, 404, false, lost},
		{"duplicate", "application/json", `{"title":"a","title":"b"}`, 400, false, lost},
		{"html", "text/html", `{"title":"t"}`, 400, false, lost},
		{"a code of ours under another status", "application/json", `{"type":"urn:problem:key-reused","title":"t","status":400}`, 400, true, wire.Invalid},
		{"401 of a proxy", "text/html", `<html>`, 401, false, wire.Unauthorized},
		{"500", "application/json", `{"title":"t"}`, 500, false, lost},
		{"502", "application/json", `{"title":"t"}`, 502, false, lost},
		{"408", "application/json", `{"title":"t"}`, 408, false, lost},
		{"425", "application/json", `{"title":"t"}`, 425, false, lost},
		{"503 of ours", "application/json", `{"type":"urn:problem:unavailable","title":"t","status":503}`, 503, false, wire.Unavailable},
		{"503 of a gateway", "application/json", `{"title":"t"}`, 503, false, lost},
	} {
		a := wire.Answer{Status: c.status, Header: http.Header{"Content-Type": {c.typ}}, Body: []byte(c.body)}
		e := wire.Call{Write: true}.Problem(a, c.keyed, cat())
		want := c.want
		if want == lost {
			want = wire.UnknownOutcome
		}
		require.Equal(t, want, e.Code, c.name)
		require.NotEmpty(t, e.Msg, c.name)
	}
}

// TestField2_M14AForeign409MayMeanThatItRuns: only the service's own word proves that a Key names
// another body. A bare 409 may mean that the first request under the Key still runs.
func TestField2_M14AForeign409MayMeanThatItRuns(t *testing.T) {
	for _, c := range []struct {
		body   string
		status int
		proves bool
	}{
		{`{"title":"t"}`, 409, false},
		{`{"type":"urn:problem:key-reused","title":"t","status":422}`, 422, true},
	} {
		a := wire.Answer{Status: c.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body)}
		e := wire.Call{Write: true}.Problem(a, true, cat())
		require.Equal(t, wire.KeyReused, e.Code)
		require.Equal(t, c.proves, wire.OtherBody(e), c.body)
	}
	for _, c := range []struct {
		body   string
		status int
		proves bool
	}{
		{`{"valid":false}`, 409, false},
		{`{"valid":false}`, 422, true},
		{`{"valid":false,"error":{"componsiteFault":{"faults":[{"params":{"code":"key_reused"}}]}}}`, 422, true},
	} {
		a := wire.Answer{Status: c.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body)}
		e := wire.Call{Write: true}.Refusal(a, true)
		require.Equal(t, wire.KeyReused, e.Code)
		require.Equal(t, c.proves, wire.OtherBody(e), c.body)
	}
	require.False(t, wire.OtherBody(nil))
}

func TestFoldSegments(t *testing.T) {
	for path, want := range map[string][]string{
		"/api/v1/payments": {}, "/api/v1/Payments/": {}, "/API/V1/PAYMENTS/P1": {"P1"}, "/api/v1/payments/p1/Capture/": {"p1", "Capture"},
		"/api/v1/payments/a%2Fb/x": {"a/b", "x"}, "/api/v1/paymentsx": nil, "/api/v1/payments//": nil, "/api/v1/payments//x": nil,
		"/api/v1": nil, "/x/api/v1/payments": nil, "/api/v1/%70ayments": nil,
	} {
		got, ok := wire.FoldSegments(httptest.NewRequest(http.MethodGet, path, nil), "/api/v1/payments")
		require.Equal(t, want != nil, ok, path)
		if len(want) > 0 {
			require.Equal(t, want, got, path)
		}
	}
}

// A foreign 409 to a write under a Key proves nothing of the write. It says that the first request still runs by a
// Retry-After, or in words.
func TestField2_M9WhatAForeign409Says(t *testing.T) {
	head := func(more ...string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		if len(more) > 0 {
			h.Set("Retry-After", more[0])
		}
		return h
	}
	problem := func(a wire.Answer) *wire.Error { return wire.Call{Write: true}.Problem(a, true, cat()) }
	fault := func(a wire.Answer) *wire.Error { return wire.Call{Write: true}.Refusal(a, true) }
	for name, c := range map[string]struct {
		read func(wire.Answer) *wire.Error
		a    wire.Answer
		runs bool
	}{
		"a problem":                 {problem, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"title":"Conflict"}`)}, false},
		"with a Retry-After":        {problem, wire.Answer{Status: 409, Header: head("2"), Body: []byte(`{"title":"Conflict"}`)}, true},
		"the draft's own title":     {problem, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"title":"A request is outstanding","detail":"A request with the same Idempotency-Key is being processed"}`)}, true},
		"in its type":               {problem, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"type":"https://pay.example/errors/request-in-progress","title":"t"}`)}, true},
		"a fault":                   {fault, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"valid":false,"error":{"message":"no"}}`)}, false},
		"a fault, and Retry-After":  {fault, wire.Answer{Status: 409, Header: head("2"), Body: []byte(`{"valid":false,"error":{"message":"no"}}`)}, true},
		"a fault, in words":         {fault, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"valid":false,"error":{"message":"a request with this key is In Progress"}}`)}, true},
		"as a machine writes words": {fault, wire.Answer{Status: 409, Header: head(), Body: []byte(`{"valid":false,"error":{"message":"IDEMPOTENCY_KEY_IN_PROGRESS"}}`)}, true},
	} {
		may, runs := wire.MayRun(c.read(c.a))
		require.True(t, may, name)
		require.Equal(t, c.runs, runs, name)
	}
	may, _ := wire.MayRun(problem(wire.Answer{Status: 422, Header: head("2"), Body: []byte(`{"type":"urn:problem:key-reused","title":"t","status":422}`)}))
	require.False(t, may, "our own word: another body")
	may, _ = wire.MayRun(nil)
	require.False(t, may)
}
