package webhooks

import "posagent/store"

// Schema is deliver's tables, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "deliver/1 hooks, messages, deliveries", SQL: `
CREATE TABLE deliver_hook (
	id INTEGER PRIMARY KEY,
	subject TEXT NOT NULL,
	event TEXT NOT NULL,
	url TEXT NOT NULL,
	origin TEXT NOT NULL,
	secret BLOB,
	live INTEGER NOT NULL
) STRICT;
CREATE INDEX deliver_hook_subject ON deliver_hook (subject, event);
CREATE TABLE deliver_message (
	id TEXT PRIMARY KEY,
	event TEXT NOT NULL,
	subject TEXT NOT NULL,
	body BLOB NOT NULL,
	content_type TEXT NOT NULL,
	headers TEXT NOT NULL,
	schedule TEXT NOT NULL,
	created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX deliver_message_created ON deliver_message (created_ms);
CREATE TABLE deliver_delivery (
	id INTEGER PRIMARY KEY,
	message TEXT NOT NULL REFERENCES deliver_message (id),
	hook INTEGER NOT NULL REFERENCES deliver_hook (id),
	origin TEXT NOT NULL,
	state TEXT NOT NULL,
	tries INTEGER NOT NULL,
	step INTEGER NOT NULL,
	due_ms INTEGER,
	settled_ms INTEGER
) STRICT;
CREATE INDEX deliver_delivery_due ON deliver_delivery (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX deliver_delivery_origin ON deliver_delivery (origin, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX deliver_delivery_message ON deliver_delivery (message);
CREATE INDEX deliver_delivery_settled ON deliver_delivery (settled_ms);
CREATE TABLE deliver_attempt (
	delivery INTEGER NOT NULL REFERENCES deliver_delivery (id),
	n INTEGER NOT NULL,
	at_ms INTEGER NOT NULL,
	took_ms INTEGER NOT NULL,
	status INTEGER NOT NULL,
	note TEXT NOT NULL,
	PRIMARY KEY (delivery, n)
) STRICT;
CREATE TABLE deliver_endpoint (
	origin TEXT PRIMARY KEY,
	dead INTEGER NOT NULL,
	until_ms INTEGER NOT NULL,
	reason TEXT NOT NULL
) STRICT;`}}
}
