package port_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire/rest/openapi/openapitest"
)

// TestField2_U2SchemasHavePlainNames: a schema is called as its type is, with its service before it where several have that name; no dot of a Go
// package. A sale is one schema, alone and in lists.
func TestField2_U2SchemasHavePlainNames(t *testing.T) {
	x := start(t, true)
	doc := openapitest.Read(t, []byte(x.ask("GET", "/openapi.json", "", "", "").body))
	var schemas map[string]any
	require.NoError(t, json.Unmarshal([]byte(doc.Part(t, "components", "schemas")), &schemas))
	require.Greater(t, len(schemas), 100)
	for name := range schemas {
		require.Regexp(t, `^[A-Z][A-Za-z0-9]*$`, name)
	}
	for _, name := range []string{"Sale", "Sales", "PaymentsPayment", "TokensCreated"} {
		require.Contains(t, schemas, name)
	}
	const sale, sales = `{"$ref":"#/components/schemas/Sale"}`, `{"$ref":"#/components/schemas/Sales"}`
	answer := func(path, method, status string) string {
		return doc.Part(t, "paths", path, method, "responses", status, "content", "application/json", "schema")
	}
	require.JSONEq(t, sales, answer("/agent/v1/sales", "get", "200"))
	require.JSONEq(t, sale, doc.Part(t, "components", "schemas", "Sales", "properties", "sales", "items"))
	require.JSONEq(t, sale, answer("/agent/v1/sales", "post", "200"))
	require.JSONEq(t, sale, answer("/agent/v1/sales", "post", "202"))
	require.JSONEq(t, sale, answer("/agent/v1/sales/{id}", "get", "200"))
	for _, field := range []string{"type", "state", "outcome", "backendState"} {
		require.NotEqual(t, "null", doc.Part(t, "components", "schemas", "Sale", "properties", field), field)
	}
}
