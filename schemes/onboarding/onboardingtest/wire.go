package onboardingtest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// raw sends one request as it stands; path begins at the root, header names and values alternate.
func (f Fixture) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if body != "" {
		typ = wire.JSONType
	}
	return f.Wire.Raw(t, method, path, typ, body, header...)
}

// problem checks a refusal in the service's own shape.
func problem(t *testing.T, resp *http.Response, body string, status int, names string) {
	t.Helper()
	wiretest.Problem(t, resp, body, status, names)
	require.NotContains(t, body, "canary")
}

// success reads an application.
func success(t *testing.T, resp *http.Response, body string, status int) onboarding.State {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, wire.JSONType, resp.Header.Get("Content-Type"))
	require.NotContains(t, body, "canary", "no secret of a webhook comes back")
	var st onboarding.State
	require.NoError(t, wire.Decode([]byte(body), &st))
	require.NoError(t, wire.Required([]byte(body), "onboardingId", "status", "merchantId", "created", "updated"))
	return st
}

func (f Fixture) wire(t *testing.T) {
	data, err := wire.Encode(f.Application())
	require.NoError(t, err)
	good := string(data)
	path := func(st onboarding.State) string {
		return onboarding.Prefix + "/" + strconv.FormatInt(st.OnboardingID, 10)
	}
	t.Run("a life", func(t *testing.T) {
		resp, body := f.raw(t, http.MethodPost, onboarding.Prefix, good)
		st := success(t, resp, body, http.StatusCreated)
		require.Equal(t, onboarding.Initiated, st.Status)
		resp, body = f.raw(t, http.MethodPut, path(st), good)
		require.Equal(t, onboarding.Initiated, success(t, resp, body, http.StatusOK).Status)
		for _, step := range []struct {
			rest string
			want onboarding.Status
		}{{"/submit", onboarding.AwaitingSignature}, {"/Sign/", onboarding.Processing}, {"/APPROVE", onboarding.Approved}} {
			resp, body = f.raw(t, http.MethodPost, path(st)+step.rest, "")
			require.Equal(t, step.want, success(t, resp, body, http.StatusOK).Status)
		}
		resp, body = f.raw(t, http.MethodGet, strings.ToUpper(path(st))+"/", "")
		require.Equal(t, onboarding.Approved, success(t, resp, body, http.StatusOK).Status)
	})
	t.Run("a failed signature", func(t *testing.T) {
		for body, want := range map[string]string{"": "failed", "{}": "failed", `{"reason":null}`: "failed", `{"reason":"expired"}`: "expired", `{"reason":"cancelled","x":1}`: "cancelled"} {
			st := f.at(t, onboarding.AwaitingSignature)
			resp, got := f.raw(t, http.MethodPost, path(st)+"/fail", body)
			st = success(t, resp, got, http.StatusOK)
			require.Equal(t, onboarding.SignatureFailed, st.Status)
			require.Equal(t, want, st.Reason)
			resp, got = f.raw(t, http.MethodPost, path(st)+"/reject", "{}")
			require.Equal(t, onboarding.Abandoned, success(t, resp, got, http.StatusOK).Status)
		}
		st := f.at(t, onboarding.AwaitingSignature)
		for _, body := range []string{`{"reason":"lost"}`, `{"reason":1}`, `{"Reason":"failed"}`, `{`, `[]`} {
			resp, got := f.raw(t, http.MethodPost, path(st)+"/fail", body)
			problem(t, resp, got, http.StatusBadRequest, "")
		}
	})
	t.Run("unsuitable", func(t *testing.T) {
		st := f.at(t, onboarding.Approved)
		for rest, typ := range map[string]string{"/submit": "not-submittable", "/sign": "wrong-status", "/fail": "wrong-status", "/approve": "wrong-status", "/reject": "wrong-status"} {
			resp, body := f.raw(t, http.MethodPost, path(st)+rest, "")
			problem(t, resp, body, http.StatusUnprocessableEntity, "")
			require.Contains(t, body, `"urn:problem:`+typ+`"`)
		}
		resp, body := f.raw(t, http.MethodPut, path(st), good)
		problem(t, resp, body, http.StatusUnprocessableEntity, "")
		require.Contains(t, body, `"urn:problem:not-editable"`)
	})
	t.Run("bodies", func(t *testing.T) {
		st := f.made(t)
		for _, c := range append(wiretest.WrongBodies(good, "reference", `"x"`), []wiretest.WrongBody{
			{"number as text", strings.Replace(good, `"reference":"`, `"reference":1,"was":"`, 1), "reference"},
			{"merchant as text", `{"merchant":"me"}`, "merchant"},
			{"hooks as object", `{"notifications":{"webHooks":{}}}`, "webHooks"},
			{"hook without an event", `{"notifications":{"webHooks":[{"url":"https://receiver.example/"}]}}`, "webHooks[0].eventName"},
			{"hook without an address", `{"notifications":{"webHooks":[{"eventName":"onboarding.approved"}]}}`, "webHooks[0].url"},
			{"hook with a null address", `{"notifications":{"webHooks":[{"eventName":"onboarding.approved","url":null}]}}`, "webHooks[0].url"},
			{"null as a hook", `{"notifications":{"webHooks":[null]}}`, "webHooks[0]"},
			{"header as a number", `{"notifications":{"webHooks":[{"eventName":"a","url":"https://receiver.example/","headers":[{"a":1}]}]}}`, "headers"},
			{"lone surrogate", `{"reference":"\ud800"}`, "surrogate"},
			{"not utf-8", "{\"reference\":\"\xff\"}", "UTF-8"},
		}...) {
			t.Run(c.Name, func(t *testing.T) {
				resp, body := f.raw(t, http.MethodPost, onboarding.Prefix, c.Body)
				problem(t, resp, body, http.StatusBadRequest, c.Names)
				resp, body = f.raw(t, http.MethodPut, path(st), c.Body)
				problem(t, resp, body, http.StatusBadRequest, c.Names)
			})
		}
		resp, body := f.raw(t, http.MethodPost, onboarding.Prefix, strings.Repeat(`{"a":`, 10_000))
		problem(t, resp, body, http.StatusRequestEntityTooLarge, "nested")
		resp, body = f.raw(t, http.MethodPost, onboarding.Prefix, `{"x":"`+strings.Repeat("x", wire.MaxRequest)+`"}`)
		problem(t, resp, body, http.StatusRequestEntityTooLarge, "bytes")
		resp, body = f.raw(t, http.MethodPost, onboarding.Prefix, `{"later":1,"reference":null,"merchant":null,"notifications":null}`)
		success(t, resp, body, http.StatusCreated)
		got, err := f.Service.Read(t.Context(), st.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, st, got)
	})
	t.Run("headers", func(t *testing.T) {
		for _, c := range wiretest.WrongHeaders() {
			resp, body := f.raw(t, http.MethodPost, onboarding.Prefix, good, c.Header, c.Value)
			problem(t, resp, body, http.StatusBadRequest, "")
		}
	})
	t.Run("routes", func(t *testing.T) {
		st := f.made(t)
		for _, c := range []struct {
			method, path, allow string
			status              int
		}{
			{http.MethodGet, onboarding.Prefix, "POST", 405},
			{http.MethodDelete, path(st), "GET, PUT", 405},
			{http.MethodPost, path(st), "GET, PUT", 405},
			{http.MethodGet, path(st) + "/submit", "POST", 405},
			{http.MethodGet, path(st) + "/approve", "POST", 405},
			{http.MethodPost, path(st) + "/initiate", "", 404},
			{http.MethodPost, path(st) + "/submit/now", "", 404},
			{http.MethodGet, onboarding.Prefix + "/1", "", 404},
			{http.MethodPost, onboarding.Prefix + "/1/submit", "", 404},
			{http.MethodGet, onboarding.Prefix + "/-1", "", 400},
			{http.MethodGet, onboarding.Prefix + "/0", "", 400},
			{http.MethodGet, onboarding.Prefix + "/01001", "", 400},
			{http.MethodGet, onboarding.Prefix + "/+1001", "", 400},
			{http.MethodGet, onboarding.Prefix + "/9223372036854775808", "", 400},
			{http.MethodGet, onboarding.Prefix + "/1;2", "", 400},
			{http.MethodGet, onboarding.Prefix + "/1%20OR%201=1", "", 400},
			{http.MethodGet, onboarding.Prefix + "/%EF%BC%91", "", 400},
		} {
			resp, body := f.raw(t, c.method, c.path, "")
			problem(t, resp, body, c.status, "")
			require.Equal(t, c.allow, resp.Header.Get("Allow"), c.path)
		}
	})
}
