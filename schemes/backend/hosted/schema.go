package hosted

import "posagent/store"

// Schema is the tables of the sessions, append-only. data is JSON of what no query asks for.
func Schema() []store.Step {
	return []store.Step{{Name: "sessions/1 orders, sessions, operations, contracts", SQL: `
CREATE TABLE sessions_order (
	id TEXT PRIMARY KEY,
	created_ms INTEGER NOT NULL,
	currency TEXT NOT NULL,
	payment TEXT NOT NULL, -- the operation that paid it, '' while none has
	data TEXT NOT NULL,
	private BLOB           -- sealed: the customer
) STRICT;
CREATE TABLE sessions_session (
	id TEXT PRIMARY KEY,
	order_id TEXT NOT NULL,
	created_ms INTEGER NOT NULL,
	state TEXT NOT NULL,
	next_ms INTEGER,
	data TEXT NOT NULL,
	private BLOB           -- sealed: the token
) STRICT;
CREATE INDEX sessions_session_next ON sessions_session (next_ms) WHERE next_ms IS NOT NULL;
CREATE TABLE sessions_operation (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	order_id TEXT NOT NULL,
	session TEXT NOT NULL,
	payment TEXT NOT NULL, -- the operation whose ledger it moves: itself, for a payment
	kind TEXT NOT NULL,
	result TEXT NOT NULL,
	amount INTEGER NOT NULL,
	cancels TEXT NOT NULL, -- the operation it undoes, '' = none
	at_ms INTEGER NOT NULL,
	due_ms INTEGER,
	data TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_operation_order ON sessions_operation (order_id);
CREATE INDEX sessions_operation_due ON sessions_operation (due_ms) WHERE due_ms IS NOT NULL;
CREATE TABLE sessions_contract (
	id TEXT PRIMARY KEY,
	data TEXT NOT NULL
) STRICT;`}}
}
