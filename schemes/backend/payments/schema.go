package payments

import "posagent/store"

// Schema is the tables of the cards, append-only. data is JSON of what no query asks for.
func Schema() []store.Step {
	return []store.Step{{Name: "cards/1 payments, operations, vault, tokens", SQL: `
CREATE TABLE cards_payment (
	id TEXT PRIMARY KEY,
	created_ms INTEGER NOT NULL,
	state TEXT NOT NULL,
	next_ms INTEGER,
	data TEXT NOT NULL,
	private BLOB
) STRICT;
CREATE INDEX cards_payment_next ON cards_payment (next_ms) WHERE next_ms IS NOT NULL;
CREATE TABLE cards_op (
	ref TEXT PRIMARY KEY,
	payment TEXT NOT NULL,
	kind TEXT NOT NULL,
	amount INTEGER NOT NULL,
	state TEXT NOT NULL,
	description TEXT NOT NULL,
	terminal TEXT NOT NULL,
	at_ms INTEGER NOT NULL,
	due_ms INTEGER
) STRICT;
CREATE INDEX cards_op_payment ON cards_op (payment);
CREATE TABLE cards_card (
	mac TEXT PRIMARY KEY,
	masked TEXT NOT NULL,
	pan BLOB NOT NULL,
	created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE cards_token (
	id TEXT PRIMARY KEY,
	mac BLOB NOT NULL UNIQUE,
	token BLOB NOT NULL,
	created_ms INTEGER NOT NULL,
	data TEXT NOT NULL
) STRICT;`}, {Name: "cards/2 payments by day", SQL: `
CREATE INDEX cards_payment_created ON cards_payment (created_ms);`}}
}
