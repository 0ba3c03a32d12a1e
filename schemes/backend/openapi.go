package backend

import (
	"net/http"
	"slices"
	"sync"

	"posagent/schemes/backend/webhooks"
	"posagent/schemes/contracts"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

type (
	nothing   struct{}
	replaying struct {
		ID    string `json:"id,omitempty"`
		Since string `json:"since,omitempty"`
	}
	replayed struct {
		Replayed int `json:"replayed"`
	}
	resuming struct {
		URL string `json:"url" wire:"required"`
	}
	resumed struct {
		Resumed bool `json:"resumed"`
	}
)

// document is what the backend serves, beside the pages for browsers.
func document(cfg Config) openapi.Document {
	onboard := contracts.Onboarding()
	onboard.Infos = slices.Concat(onboard.Infos, onboarding.SandboxTable().Infos())
	live := contracts.Describe[nothing, nothing]("probes.live", "the backend runs", http.MethodGet, "/livez", 0)
	live.Status, live.Out = http.StatusNoContent, nil
	doc := openapi.Document{
		Title: "posagent: the embedded backend", Version: "1", Server: cfg.PublicURL,
		About:  "The services, simulated: no real money moves. The pages for browsers are not described here.",
		Proofs: contracts.Proofs("the static token, or one that /token gave"),
		Groups: []openapi.Group{
			{Name: "probes", About: "For supervisors and tools.", Infos: []rest.Info{
				live, contracts.Describe[nothing, openapi.Any]("probes.openapi", "this document", http.MethodGet, "/openapi.json", 0),
			}},
			contracts.Access(), contracts.Payments(), contracts.Tokens(), onboard, contracts.Links(), contracts.Schemes(), contracts.Methods(),
			contracts.Hosted(), contracts.Disputes(), deliveries(),
		},
	}
	if cfg.Fleet {
		doc.Groups, doc.Proofs = append(doc.Groups, contracts.Fleet()...), append(doc.Proofs, contracts.DeviceProof())
	}
	return doc
}

// deliveries describes what hooks serves.
func deliveries() openapi.Group {
	const get, post = http.MethodGet, http.MethodPost
	return openapi.Group{
		Name: "deliveries", About: "What was sent to others' endpoints.", Prefix: HooksPrefix, Proofs: []string{contracts.ByToken}, Refusal: contracts.Faults(),
		Infos: []rest.Info{
			contracts.Describe[nothing, []webhooks.Delivery]("deliveries.list", "the newest thousand deliveries with their attempts", get, "", 0),
			contracts.Describe[nothing, []webhooks.Delivery]("deliveries.dead", "those that were given up", get, "/dead", 0),
			contracts.Describe[replaying, replayed]("deliveries.replay", "send one event again, or all dead ones since a time", post, "/replay", 0).WithExample(`{"id":"0193a5b27c1a7b3e9a524d1f0c2b8e77"}`),
			contracts.Describe[resuming, resumed]("deliveries.resume", "end the pause of an endpoint", post, "/resume", 0).WithExample(`{"url":"https://shop.example/hooks"}`),
		},
	}
}

// described serves the OpenAPI document, which is made when it is first asked for. It needs no credential: it holds nothing of anybody.
func described(cfg Config) http.HandlerFunc {
	text := sync.OnceValues(document(cfg).JSON)
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := text()
		if err != nil {
			wire.WriteProblem(w, r, cfg.Log, wire.AsError("backend.openapi", err), nil)
			return
		}
		_ = wire.WriteBody(w, http.StatusOK, wire.JSONType, data) // a lost connection has no reader
	}
}
