package port

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// proofs are the document's security schemes.
const proofs = `{"token":{"type":"http","scheme":"bearer","description":"the terminal's token"},` +
	`"signature":{"type":"apiKey","in":"query","name":"ApiSignature","description":"HMAC-SHA256 of the parameters under the terminal's token, Base64; in the body where there is one"},` +
	`"key":{"type":"apiKey","in":"header","name":"X-API-KEY"},` +
	`"hook":{"type":"apiKey","in":"header","name":"Authorization","description":"what the webhook was registered with"}}`

// document serves the OpenAPI description, made of the table that mounts the routes.
func (a *api) document(w http.ResponseWriter, _ *http.Request) {
	paths := map[string]map[string]json.RawMessage{}
	for _, m := range a.mounts {
		m.each(func(r route) {
			if paths[r.path] == nil {
				paths[r.path] = map[string]json.RawMessage{}
			}
			paths[r.path][strings.ToLower(r.method)] = m.describe(r)
		})
	}
	_ = wire.WriteJSON(w, http.StatusOK, jsonBody, map[string]any{ // a lost connection has no reader
		"openapi": "3.1.0", "info": map[string]string{"title": "posagent", "version": a.o.Version},
		"paths": paths, "components": map[string]json.RawMessage{"securitySchemes": json.RawMessage(proofs)},
	})
}

// describe writes one operation. Its texts are the table's own.
func (m mount) describe(r route) json.RawMessage {
	var b, params strings.Builder
	param := func(name, in string, required bool) {
		if params.Len() > 0 {
			params.WriteByte(',')
		}
		params.WriteString(`{"name":` + strconv.Quote(name) + `,"in":"` + in + `","required":` + strconv.FormatBool(required) + `,"schema":{"type":"string"}}`)
	}
	for piece := range strings.SplitSeq(r.path, "/") {
		if name := strings.Trim(piece, "{}"); name != piece {
			param(name, "path", true)
		}
	}
	for name := range strings.SplitSeq(r.query, ",") {
		if name != "" {
			param(name, "query", name == "instance")
		}
	}
	b.WriteString(`{"tags":[` + strconv.Quote(m.name) + `],"summary":` + strconv.Quote(r.what) + `,"parameters":[` + params.String() + `],`)
	if m.proof != "" {
		b.WriteString(`"security":[{"` + m.proof + `":[]}],`)
	}
	if r.method != http.MethodGet && m.body != "" {
		b.WriteString(`"requestBody":{"content":{"` + m.body + `":{}}},`)
	}
	b.WriteString(`"responses":{`)
	for i, status := range strings.Split(r.status, ",") {
		what := "done"
		if i > 0 {
			what = "stored, not yet answered by the backend; Location names the operation"
		}
		b.WriteString(`"` + status + `":{"description":"` + what + `"},`)
	}
	b.WriteString(`"default":{"description":"refused","content":{"` + m.errors + `":{}}}}}`)
	return json.RawMessage(b.String())
}
