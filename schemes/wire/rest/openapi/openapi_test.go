package openapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
	"posagent/schemes/wire/rest/openapi/openapitest"
)

type (
	about struct {
		ID string `path:"id" json:"-" max:"20"`
	}
	chair struct {
		Legs   int32       `json:"legs" wire:"required"`
		Colour string      `json:"colour,omitempty"`
		Lock   wire.Secret `json:"lock,omitempty"`
	}
	painting struct {
		about
		chair
	}
	painted struct {
		Name      string        `json:"name"`
		Price     *int32        `json:"price"`
		Dried     time.Time     `json:"dried"`
		Parts     []chair       `json:"parts"`
		Operation *wire.Pending `json:"operation,omitempty"`
	}
	refused struct {
		Why string `json:"why"`
	}
)

func document() openapi.Document {
	paint := rest.Endpoint[struct{}, painting, painted]{
		Op: "chairs.paint", What: "paint a chair", Example: `{"legs":4}`, Method: http.MethodPost, Path: "/{id}/paint", Status: 201, Wants: rest.Write | rest.NeedsKey,
	}
	sell := rest.Endpoint[struct{}, about, painted]{Op: "chairs.move", What: "sell it", Method: http.MethodPost, Path: "/{id}/sell", Status: 200, Wants: rest.Write}
	lend := rest.Endpoint[struct{}, about, painted]{Op: "chairs.move", What: "lend it", Method: http.MethodPost, Path: "/{id}/lend", Status: 200, Wants: rest.Write}
	return openapi.Document{
		Title: "chairs", Version: "7", Server: "http://127.0.0.1:1", Stores: true, Proofs: []openapi.Proof{{Name: "token", Type: "http", Scheme: "bearer"}},
		Groups: []openapi.Group{{
			Name: "chairs", Prefix: "/chairs", Infos: []rest.Info{paint.Info(), sell.Info(), lend.Info()}, Proofs: []string{"token"},
			Header:  []openapi.Header{{Name: "Correlation-Id", About: "of the call", Example: "7"}},
			Refusal: openapi.Refusal{Name: "refused", Body: refused{}, Example: func(int) any { return refused{"no paint"} }},
		}},
	}
}

// One operation, written out.
const paint = `{
	"operationId": "chairs.paint", "summary": "paint a chair", "tags": ["chairs"], "security": [{"token": []}],
	"parameters": [
		{"name": "id", "in": "path", "required": true, "example": "7", "schema": {"type": "string", "minLength": 1, "maxLength": 20}},
		{"name": "Idempotency-Key", "in": "header", "required": true, "example": "01936f0e-7c1a-7b3e-9a52-4d1f0c2b8e77",
			"description": "made by the caller before its first try; the same call under the same key has one effect and one answer",
			"schema": {"type": "string", "minLength": 1, "maxLength": 64}},
		{"name": "Correlation-Id", "in": "header", "required": true, "description": "of the call", "example": "7", "schema": {"type": "string"}}
	],
	"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Chair"}, "example": {"legs": 4}}}},
	"responses": {
		"201": {"description": "done", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Painted"},
			"example": {"name": "text", "price": 1, "dried": "2026-11-22T10:00:00Z", "parts": [{"legs": 1}]}}}},
		"202": {"description": "stored, not yet answered by the backend; Location names the operation",
			"headers": {"Location": {"description": "where the operation is read", "schema": {"type": "string", "format": "uri-reference"}}},
			"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Painted"},
				"example": {"name": "text", "price": 1, "dried": "2026-11-22T10:00:00Z", "parts": [{"legs": 1}],
					"operation": {"key": "01936f0e-7c1a-7b3e-9a52-4d1f0c2b8e77", "status": "pending"}}}}},
		"400": {"$ref": "#/components/responses/refused.400"}, "401": {"$ref": "#/components/responses/refused.401"},
		"403": {"$ref": "#/components/responses/refused.403"}, "404": {"$ref": "#/components/responses/refused.404"},
		"413": {"$ref": "#/components/responses/refused.413"}, "422": {"$ref": "#/components/responses/refused.422"},
		"429": {"$ref": "#/components/responses/refused.429"}, "500": {"$ref": "#/components/responses/refused.500"},
		"503": {"$ref": "#/components/responses/refused.503"}, "504": {"$ref": "#/components/responses/refused.504"},
		"default": {"description": "refused", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refused"}, "example": {"why": "no paint"}}}}
	}
}`

const schemas = `{
	"Chair": {"type": "object", "required": ["legs"], "properties": {
		"legs": {"type": "integer", "format": "int32"}, "colour": {"type": "string"}, "lock": {"type": "string", "format": "password"}}},
	"Painted": {"type": "object", "required": ["name", "price", "dried", "parts"], "properties": {
		"name": {"type": "string"}, "price": {"type": ["integer", "null"], "format": "int32"}, "dried": {"type": "string", "format": "date-time"},
		"parts": {"type": "array", "items": {"$ref": "#/components/schemas/Chair"}},
		"operation": {"$ref": "#/components/schemas/Pending"}}},
	"Refused": {"type": "object", "required": ["why"], "properties": {"why": {"type": "string"}}},
	"Pending": {"type": "object", "required": ["key", "status"], "properties": {
		"key": {"type": "string"}, "status": {"type": "string"}, "note": {"type": "string"}}}
}`

// The document of a small service is the one that is written out above.
func TestField_P7DocumentOfASmallService(t *testing.T) {
	data, err := document().JSON()
	require.NoError(t, err)
	doc := openapitest.Read(t, data)
	require.Equal(t, []string{"POST /chairs/{id}/lend", "POST /chairs/{id}/paint", "POST /chairs/{id}/sell"}, doc.Routes)
	require.Equal(t, doc.Routes, document().Routes())
	require.JSONEq(t, paint, doc.Part(t, "paths", "/chairs/{id}/paint", "post"))
	require.JSONEq(t, schemas, doc.Part(t, "components", "schemas"))
	require.JSONEq(t, `"chairs.move.sell"`, doc.Part(t, "paths", "/chairs/{id}/sell", "post", "operationId"), "two of one name")
	require.JSONEq(t, `"chairs.move.lend"`, doc.Part(t, "paths", "/chairs/{id}/lend", "post", "operationId"))
	require.JSONEq(t, `{"description":"seconds","schema":{"type":"integer","minimum":0}}`, doc.Part(t, "components", "responses", "refused.503", "headers", "Retry-After"))
	again, err := document().JSON()
	require.NoError(t, err)
	require.Equal(t, data, again)
}

// A backend that answers each write says nothing of stored ones.
func TestNothingIsStored(t *testing.T) {
	d := document()
	d.Stores = false
	data, err := d.JSON()
	require.NoError(t, err)
	require.NotContains(t, string(data), `"202"`)
}

// An example that is no JSON is a mistake of the group, and is named.
func TestBrokenExample(t *testing.T) {
	d := document()
	d.Groups[0].Infos[0].Example = "{"
	_, err := d.JSON()
	require.ErrorContains(t, err, "chairs.paint")
}

// The validator sees what does not fit.
func TestFlaw(t *testing.T) {
	data, err := document().JSON()
	require.NoError(t, err)
	doc := openapitest.Read(t, data)
	schema := map[string]any{"$ref": "#/components/schemas/Painted"}
	good := func() map[string]any {
		return map[string]any{"name": "x", "price": nil, "dried": "2026-11-22T10:00:00Z", "parts": []any{map[string]any{"legs": 4.0}}}
	}
	require.Empty(t, doc.Flaw(schema, good()))
	for name, bad := range map[string]any{"name": 1.0, "price": "1", "parts": []any{map[string]any{}}, "dried": nil, "operation": true, "size": 1.0} {
		v := good()
		v[name] = bad
		require.NotEmpty(t, doc.Flaw(schema, v), name)
	}
	v := good()
	delete(v, "price")
	require.NotEmpty(t, doc.Flaw(schema, v), "missing")
}
