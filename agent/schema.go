package agent

import (
	"slices"

	"posagent/agent/audit"
	"posagent/agent/catalog"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/daily"
	"posagent/agent/events"
	"posagent/agent/history"
	"posagent/agent/inbox"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/agent/owned"
	"posagent/agent/paper"
	"posagent/agent/paylink"
	"posagent/store"
)

// Schema is the ordered, append-only list of migrations of agent.db. New steps go to the end of their package's; those that shut older
// programs out, and that a program on trial works without, to the end of all.
func Schema() []store.Step {
	return slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), bindSchema(), paylink.Schema(), inbox.Schema(), events.Schema(),
		offline.ThingSchema(), inbox.BuildSchema(), audit.Schema(), owned.Schema(), proofSchema(), history.Schema(), pinSchema(), paper.Schema(), daily.Schema(), placesSchema(), idsSchema(), besideSchema(), offline.KeySchema())
}
