package port

import (
	"net/http"

	"posagent/agent/view"
	"posagent/schemes/contracts"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// What is asked of the terminal itself.
type (
	nothing struct{}
	ofSales struct {
		Limit int64 `query:"limit" json:"-"`
	}
	ofSale struct {
		ID string `path:"id" json:"-"`
	}
	ofOperations struct {
		Kind  string `query:"kind" json:"-"`
		State string `query:"state" json:"-"`
		Open  string `query:"open" json:"-"`
		After int64  `query:"after" json:"-"`
		Limit int64  `query:"limit" json:"-"`
	}
	ofOperation struct {
		Key string `path:"key" json:"-"`
	}
)

// houseGroup describes what the terminal shows of itself.
func houseGroup() openapi.Group {
	const get = http.MethodGet
	return openapi.Group{
		Name: "terminal", About: "The terminal itself.", Proofs: []string{contracts.ByToken}, Refusal: contracts.Problems(),
		Infos: []rest.Info{
			contracts.Describe[nothing, view.Status]("agent.status", "one screen", get, housePrefix+"status", 0),
			contracts.Describe[ofSales, view.Sales]("agent.sales", "the newest sales", get, housePrefix+"sales", 0),
			contracts.Describe[ofSale, view.Timeline]("agent.sale", "one sale and its history", get, housePrefix+"sales/{id}", 0),
			contracts.Describe[nothing, view.Methods]("agent.methods", "what the terminal may be paid with", get, housePrefix+"methods", 0),
			contracts.Describe[ofOperations, view.Operations]("agent.operations", "what is owed to the backend, and what became of it", get, housePrefix+"operations", 0),
			contracts.Describe[ofOperation, view.OneOperation]("agent.operation", "one operation", get, housePrefix+"operations/{key}", 0),
			contracts.Describe[nothing, openapi.Stream]("agent.events",
				"what happens here and what arrives from the backend, as server-sent events; Last-Event-ID resumes", get, housePrefix+"events", 0),
			contracts.Describe[nothing, openapi.Text]("agent.metrics", "figures for a monitor, of all clients", get, "/metrics", 0),
		},
	}
}
