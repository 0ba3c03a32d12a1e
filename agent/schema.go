package agent

import (
	"slices"

	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/ownership"
	"posagent/agent/paylink"
	"posagent/agent/records/audit"
	"posagent/agent/records/events"
	"posagent/agent/records/history"
	"posagent/agent/support/daily"
	"posagent/store"
)

// Schema is the ordered, append-only list of migrations of agent.db. New steps go to the end of their package's; those that shut older
// programs out, and that a program on trial works without, to the end of all.
func Schema() []store.Step {
	return slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), bindSchema(), paylink.Schema(), inbox.Schema(), events.Schema(),
		gateway.ThingSchema(), inbox.BuildSchema(), audit.Schema(), ownership.Schema(), proofSchema(), history.Schema(), pinSchema(), printqueue.Schema(), daily.Schema(), placesSchema(), idsSchema(), besideSchema(), gateway.KeySchema())
}
