package aapaytest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// raw sends one request as it stands and returns the answer's status and body.
func (f Fixture) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if method == http.MethodPost {
		typ = aapay.ContentType
	}
	return f.Wire.Raw(t, method, aapay.Prefix+path, typ, body, header...)
}

// fields gives a good body as a map, to be spoilt.
func (f Fixture) fields(t *testing.T) map[string]any {
	t.Helper()
	req := f.Request(f.Approve)
	req.Params = []aapay.KeyValue{{Key: "k", Value: "v"}}
	req.AdditionalProperties = []aapay.KeyValue{{Key: "k", Value: "v"}}
	data, err := json.Marshal(req)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	return m
}

// required are the fields of S1 2.4 that must be there, as paths; a number is the index in an array.
var required = [...]string{
	"merchantId", "method", "purchaseAmount", "purchaseAmount.currencyCode", "purchaseAmount.vatAmount",
	"purchaseAmount.nominalAmount", "purchaseAmount.totalAmount", "consumer", "consumer.consumerId", "consumer.name",
	"params.0.key", "params.0.value", "additionalProperties.0.key", "additionalProperties.0.value",
}

// change applies fn to the object that holds path's last key.
func change(m map[string]any, path string, fn func(m map[string]any, key string)) {
	parts := strings.Split(path, ".")
	for _, p := range parts[:len(parts)-1] {
		if p == "0" {
			continue
		}
		switch v := m[p].(type) {
		case map[string]any:
			m = v
		case []any:
			m = v[0].(map[string]any)
		}
	}
	fn(m, parts[len(parts)-1])
}

func text(t *testing.T, m map[string]any) string {
	t.Helper()
	data, err := json.Marshal(m)
	require.NoError(t, err)
	return string(data)
}

// refused checks a refusal in the service's own shape.
func refused(t *testing.T, resp *http.Response, body string, status int, names string) {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, aapay.ContentType, resp.Header.Get("Content-Type"))
	var reply aapay.Reply
	require.NoError(t, wire.Decode([]byte(body), &reply))
	require.False(t, reply.Valid)
	require.NotNil(t, reply.Error)
	require.NotEmpty(t, reply.Error.Message)
	require.NotNil(t, reply.Error.ComponsiteFault)
	require.Contains(t, body, `"componsiteFault"`)
	require.Contains(t, reply.Error.Message, names)
}

func (f Fixture) wire(t *testing.T) {
	const initialize = "payment/initialize"
	for _, path := range required {
		named := strings.ReplaceAll(path, ".0.", "[0].")
		t.Run("missing "+path, func(t *testing.T) {
			m := f.fields(t)
			change(m, path, func(m map[string]any, key string) { delete(m, key) })
			resp, body := f.raw(t, http.MethodPost, initialize, text(t, m))
			refused(t, resp, body, http.StatusBadRequest, named)
		})
		t.Run("null "+path, func(t *testing.T) {
			m := f.fields(t)
			change(m, path, func(m map[string]any, key string) { m[key] = nil })
			resp, body := f.raw(t, http.MethodPost, initialize, text(t, m))
			refused(t, resp, body, http.StatusBadRequest, named)
		})
	}
	t.Run("originalReference null", func(t *testing.T) {
		m := f.fields(t)
		m["originalReference"] = nil
		for _, route := range []string{initialize, "refund/initialize", "reversal/initialize"} {
			resp, body := f.raw(t, http.MethodPost, route, text(t, m))
			refused(t, resp, body, http.StatusBadRequest, "originalReference")
		}
	})
	t.Run("every missing field is named at once", func(t *testing.T) {
		resp, body := f.raw(t, http.MethodPost, initialize, "{}")
		refused(t, resp, body, http.StatusBadRequest, "merchantId")
		for _, name := range []string{"method", "purchaseAmount", "consumer"} {
			require.Contains(t, body, name)
		}
	})
	t.Run("bodies", func(t *testing.T) {
		good := text(t, f.fields(t))
		for _, c := range append(wiretest.WrongBodies(good, "merchantId", `"x"`), []wiretest.WrongBody{
			{"no body", "", "empty"},
			{"folded twin", strings.Replace(good, `"consumer":`, `"conſumer":{},"consumer":`, 1), "case"},
			{"number as text", strings.Replace(good, `"vatAmount":0`, `"vatAmount":"0"`, 1), "purchaseAmount.vatAmount"},
			{"text as number", strings.Replace(good, `"trigger":"2"`, `"trigger":2`, 1), "trigger"},
			{"decimal", strings.Replace(good, `"vatAmount":0`, `"vatAmount":1.5`, 1), "purchaseAmount.vatAmount"},
			{"exponent", strings.Replace(good, `"vatAmount":0`, `"vatAmount":1e2`, 1), "purchaseAmount.vatAmount"},
			{"int64 + 1", strings.Replace(good, `"vatAmount":0`, `"vatAmount":9223372036854775808`, 1), "purchaseAmount.vatAmount"},
			{"int32 + 1", strings.Replace(good, `"merchantId":`, `"ecr2Naa":{"order":{"items":[{"quantity":2147483648}]}},"merchantId":`, 1), "items[0].quantity"},
			{"lone surrogate", strings.Replace(good, `"v"`, `"\ud800"`, 1), "surrogate"},
			{"not utf-8", strings.Replace(good, `"v"`, "\"\xff\"", 1), "UTF-8"},
		}...) {
			t.Run(c.Name, func(t *testing.T) {
				resp, body := f.raw(t, http.MethodPost, initialize, c.Body)
				refused(t, resp, body, http.StatusBadRequest, c.Names)
			})
		}
		resp, body := f.raw(t, http.MethodPost, initialize, strings.Repeat(`{"a":`, 10_000))
		refused(t, resp, body, http.StatusRequestEntityTooLarge, "nested")
		resp, body = f.raw(t, http.MethodPost, initialize, `{"x":"`+strings.Repeat("x", wire.MaxRequest)+`"}`)
		refused(t, resp, body, http.StatusRequestEntityTooLarge, "bytes")
	})
	t.Run("headers", func(t *testing.T) {
		for _, c := range []struct {
			name, route, header, value string
			status                     int
		}{
			{"no content type", initialize, "Content-Type", "", 400},
			{"text", initialize, "Content-Type", "text/plain", 400},
			{"form", initialize, "Content-Type", "application/x-www-form-urlencoded", 400},
			{"utf-16", initialize, "Content-Type", "application/json;charset=utf-16", 400},
			{"version 1.0", initialize, "Content-Type", "application/json;charset=utf-8;version=1.0", 400},
			{"no version", initialize, "Content-Type", "application/json", 202},
			{"quoted version", initialize, "Content-Type", `application/json; charset="UTF-8"; version="2.0"`, 202},
			{"gzip", initialize, "Content-Encoding", "gzip", 400},
			{"no key", "payment/initializeWithIdempotency", "X-None", "", 400},
			{"long key", "payment/initializeWithIdempotency", wire.KeyHeader, strings.Repeat("k", 65), 400},
			{"key with a space", "payment/initializeWithIdempotency", wire.KeyHeader, "a b", 400},
			{"key of 64", "payment/initializeWithIdempotency", wire.KeyHeader, string(wire.NewKey() + wire.NewKey())[:64], 202},
			{"purchase", "purchase/initialize", "X-None", "", 202},
			{"unknown type", "transfer/initialize", "X-None", "", 400},
			{"capital type", "Payment/initialize", "X-None", "", 400},
		} {
			t.Run(c.name, func(t *testing.T) {
				resp, body := f.raw(t, http.MethodPost, c.route, text(t, f.fields(t)), c.header, c.value)
				if c.status == http.StatusAccepted {
					require.Equal(t, c.status, resp.StatusCode, body)
					require.Equal(t, aapay.ContentType, resp.Header.Get("Content-Type"))
					return
				}
				refused(t, resp, body, c.status, "")
			})
		}
	})
	t.Run("unknown keys are ignored", func(t *testing.T) {
		m := f.fields(t)
		m["later"] = map[string]any{"version": 3}
		m["message"], m["batch"], m["ecr2Naa"] = nil, nil, nil
		resp, body := f.raw(t, http.MethodPost, initialize, text(t, m))
		require.Equal(t, http.StatusAccepted, resp.StatusCode, body)
	})
	t.Run("status of an unknown id", func(t *testing.T) {
		resp, body := f.raw(t, http.MethodGet, "no-such-id/status", "")
		refused(t, resp, body, http.StatusNotFound, "")
	})
	t.Run("methods", func(t *testing.T) {
		resp, body := f.raw(t, http.MethodGet, initialize, "")
		refused(t, resp, body, http.StatusMethodNotAllowed, "POST")
		resp, body = f.raw(t, http.MethodPost, "1/status", "{}")
		refused(t, resp, body, http.StatusMethodNotAllowed, "GET")
	})
}
