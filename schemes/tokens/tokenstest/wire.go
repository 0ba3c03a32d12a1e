package tokenstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// raw sends one request as it stands; path is what follows /api/v1, header names and values alternate.
func (f Fixture) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if method == http.MethodPost && body != "" {
		typ = wire.JSONType
	}
	return f.Wire.Raw(t, method, path, typ, body, header...)
}

func (f Fixture) body(t *testing.T) string {
	t.Helper()
	data, err := wire.Encode(f.Request())
	require.NoError(t, err)
	return string(data)
}

func (f Fixture) recurringBody(t *testing.T) string {
	t.Helper()
	data, err := wire.Encode(f.Recurring())
	require.NoError(t, err)
	return string(data)
}

// id reads a success.
func id(t *testing.T, resp *http.Response, body string, status int) string {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, wire.JSONType, resp.Header.Get("Content-Type"))
	var got map[string]string
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Len(t, got, 1)
	require.NotEmpty(t, got["tokenizationId"])
	return got["tokenizationId"]
}

func (f Fixture) wire(t *testing.T) {
	t.Run("every spelling of a path", func(t *testing.T) {
		var made string
		for _, path := range []string{"/api/v1/tokens", "/api/v1/tokens/", "/api/v1/Tokens", "/api/v1/Tokens/", "/API/V1/TOKENS"} {
			resp, body := f.raw(t, http.MethodPost, path, f.body(t))
			made = id(t, resp, body, http.StatusCreated)
		}
		for _, path := range []string{"/api/v1/tokens/recurring", "/api/v1/Tokens/Recurring/"} {
			resp, body := f.raw(t, http.MethodPost, path, f.recurringBody(t))
			id(t, resp, body, http.StatusCreated)
		}
		for _, path := range []string{"/api/v1/tokens/" + made + "/Verify", "/api/v1/Tokens/" + made + "/verify/"} {
			for _, body := range []string{"", "{}"} {
				resp, got := f.raw(t, http.MethodPost, path, body)
				require.Equal(t, made, id(t, resp, got, http.StatusOK))
			}
		}
		for _, path := range []string{"/api/v1/tokens/" + made, "/api/v1/Tokens/" + made + "/"} {
			resp, body := f.raw(t, http.MethodGet, path, "")
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, wire.JSONType, resp.Header.Get("Content-Type"))
			require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
			var got map[string]string
			require.NoError(t, json.Unmarshal([]byte(body), &got))
			require.Len(t, got, 1)
			require.NotEmpty(t, got["token"])
		}
	})
	t.Run("every field is optional", func(t *testing.T) {
		for _, path := range []string{"/api/v1/tokens", "/api/v1/tokens/recurring"} {
			for _, body := range []string{"{}", `{"later":{"version":3},"description":null,"payPageConfiguration":null,"cardDetails":null}`} {
				resp, got := f.raw(t, http.MethodPost, path, body)
				id(t, resp, got, http.StatusCreated)
			}
		}
	})
	t.Run("cards are whole", func(t *testing.T) {
		for _, field := range []string{"pan", "expiryYear", "expiryMonth"} {
			for _, drop := range []bool{true, false} {
				var m map[string]any
				require.NoError(t, json.Unmarshal([]byte(f.body(t)), &m))
				card := m["cardDetails"].(map[string]any)
				if card[field] = nil; drop {
					delete(card, field)
				}
				data, err := json.Marshal(m)
				require.NoError(t, err)
				resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", string(data))
				wiretest.Problem(t, resp, body, http.StatusBadRequest, "cardDetails."+field)
			}
		}
	})
	t.Run("bodies", f.bodies)
	t.Run("headers", func(t *testing.T) {
		for _, c := range wiretest.WrongHeaders() {
			t.Run(c.Name, func(t *testing.T) {
				resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", f.body(t), c.Header, c.Value)
				wiretest.Problem(t, resp, body, http.StatusBadRequest, "")
			})
		}
		for name, h := range map[string][2]string{
			"bare json": {"Content-Type", "application/json"}, "key of 64": {wire.KeyHeader, string(wire.NewKey() + wire.NewKey())[:64]},
		} {
			t.Run(name, func(t *testing.T) {
				resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", f.body(t), h[:]...)
				id(t, resp, body, http.StatusCreated)
			})
		}
	})
	t.Run("a replay is the same answer, another body is 422", func(t *testing.T) {
		key := string(wire.NewKey())
		resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", f.body(t), wire.KeyHeader, key)
		first := id(t, resp, body, http.StatusCreated)
		resp, body = f.raw(t, http.MethodPost, "/api/v1/Tokens/", " "+f.body(t), wire.KeyHeader, key)
		require.Equal(t, first, id(t, resp, body, http.StatusCreated))
		resp, body = f.raw(t, http.MethodPost, "/api/v1/tokens", "{}", wire.KeyHeader, key)
		wiretest.Problem(t, resp, body, http.StatusUnprocessableEntity, "")
		require.Contains(t, body, "urn:problem:key-reused")
	})
	t.Run("routes", func(t *testing.T) {
		for _, c := range []struct {
			method, path, allow string
			status              int
		}{
			{http.MethodGet, "/api/v1/tokens", "POST", 405},
			{http.MethodGet, "/api/v1/tokens/recurring", "POST", 405},
			{http.MethodPut, "/api/v1/tokens/x", "GET", 405},
			{http.MethodDelete, "/api/v1/tokens/x", "GET", 405},
			{http.MethodGet, "/api/v1/tokens/x/Verify", "POST", 405},
			{http.MethodPost, "/api/v1/tokens/x/Revoke", "", 404},
			{http.MethodPost, "/api/v1/tokens/x/Verify/y", "", 404},
			{http.MethodGet, "/api/v1/tokens/no-such-id", "", 404},
			{http.MethodPost, "/api/v1/tokens/no-such-id/Verify", "", 404},
		} {
			resp, body := f.raw(t, c.method, c.path, "")
			wiretest.Problem(t, resp, body, c.status, "")
			require.Equal(t, c.allow, resp.Header.Get("Allow"))
		}
	})
}

func (f Fixture) bodies(t *testing.T) {
	good, recurring := f.body(t), f.recurringBody(t)
	for _, c := range append(wiretest.WrongBodies(good, "pan", `"x"`), []wiretest.WrongBody{
		{"folded twin", strings.Replace(good, `"tokenSecret":`, `"tokenſecret":"x","tokenSecret":`, 1), "case"},
		{"number as text", strings.Replace(good, `"expiryMonth":`, `"expiryMonth":"1","was":`, 1), "cardDetails.expiryMonth"},
		{"pan as number", strings.Replace(good, `"pan":"`, `"pan":4111111111111111,"was":"`, 1), "cardDetails.pan"},
		{"decimal", strings.Replace(good, `"expiryMonth":`, `"expiryMonth":1.5,"was":`, 1), "cardDetails.expiryMonth"},
		{"exponent", strings.Replace(good, `"expiryMonth":`, `"expiryMonth":1e0,"was":`, 1), "cardDetails.expiryMonth"},
		{"int32 + 1", strings.Replace(good, `"expiryYear":`, `"expiryYear":2147483648,"was":`, 1), "cardDetails.expiryYear"},
		{"lone surrogate", strings.Replace(good, `"SE"`, `"\ud800"`, 1), "surrogate"},
		{"not utf-8", strings.Replace(good, `"SE"`, "\"\xff\"", 1), "UTF-8"},
	}...) {
		t.Run(c.Name, func(t *testing.T) {
			resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", c.Body)
			wiretest.Problem(t, resp, body, http.StatusBadRequest, c.Names)
			require.NotContains(t, body, f.Card.PAN.Reveal())
		})
	}
	for _, c := range []struct{ name, body, names string }{
		{"amount as text", strings.Replace(recurring, `"amount":1250`, `"amount":"1250"`, 1), "amount"},
		{"amount with a point", strings.Replace(recurring, `"amount":1250`, `"amount":1250.0`, 1), "amount"},
		{"amount of int32 + 1", strings.Replace(recurring, `"amount":1250`, `"amount":2147483648`, 1), "amount"},
		{"amount below zero", strings.Replace(recurring, `"amount":1250`, `"amount":-1`, 1), "amount"},
		{"two amounts", strings.Replace(recurring, `"amount":1250`, `"amount":1,"amount":1250`, 1), "duplicate"},
		{"date as number", strings.Replace(recurring, `"recurringExpiryDate":"`, `"recurringExpiryDate":20981231,"was":"`, 1), "recurringExpiryDate"},
	} {
		t.Run("recurring "+c.name, func(t *testing.T) {
			require.NotEqual(t, recurring, c.body)
			resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens/recurring", c.body)
			wiretest.Problem(t, resp, body, http.StatusBadRequest, c.names)
		})
	}
	t.Run("verify", func(t *testing.T) {
		for _, body := range []string{"{", "x", "{}{}"} {
			resp, got := f.raw(t, http.MethodPost, "/api/v1/tokens/x/Verify", body)
			wiretest.Problem(t, resp, got, http.StatusBadRequest, "")
		}
	})
	t.Run("size", func(t *testing.T) {
		resp, body := f.raw(t, http.MethodPost, "/api/v1/tokens", strings.Repeat(`{"a":`, 10_000))
		wiretest.Problem(t, resp, body, http.StatusRequestEntityTooLarge, "nested")
		resp, body = f.raw(t, http.MethodPost, "/api/v1/tokens", `{"x":"`+strings.Repeat("x", wire.MaxRequest)+`"}`)
		wiretest.Problem(t, resp, body, http.StatusRequestEntityTooLarge, "bytes")
	})
}
