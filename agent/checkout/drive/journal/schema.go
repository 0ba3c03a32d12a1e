package journal

import "posagent/store"

// Schema is the tables of this package.
func Schema() []store.Step {
	return []store.Step{{Name: "checkout/1 sales", SQL: `
CREATE TABLE checkout_sales (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL,
	line TEXT NOT NULL,
	sequence TEXT NOT NULL,
	phase TEXT NOT NULL,
	active INTEGER NOT NULL,
	state BLOB NOT NULL,
	amount INTEGER NOT NULL,
	currency TEXT NOT NULL,
	method BLOB NOT NULL,
	reference TEXT NOT NULL,
	transaction_id INTEGER NOT NULL,
	original TEXT NOT NULL,
	asked TEXT NOT NULL,
	original_trace INTEGER NOT NULL,
	debited INTEGER NOT NULL,
	reversed INTEGER NOT NULL,
	receipt INTEGER NOT NULL,
	trace INTEGER NOT NULL,
	batch INTEGER NOT NULL,
	told TEXT NOT NULL,
	boot TEXT NOT NULL,
	created_ms INTEGER NOT NULL,
	decided_ms INTEGER NOT NULL,
	undo_key TEXT NOT NULL,
	request BLOB,
	resumes INTEGER NOT NULL,
	mac BLOB NOT NULL
) STRICT;
CREATE INDEX checkout_sales_active ON checkout_sales (id) WHERE active = 1;
CREATE INDEX checkout_sales_line ON checkout_sales (line, id);
CREATE INDEX checkout_sales_sequence ON checkout_sales (line, sequence, id) WHERE sequence != '';
CREATE INDEX checkout_sales_receipt ON checkout_sales (batch, receipt) WHERE receipt != 0;
CREATE INDEX checkout_sales_undo ON checkout_sales (undo_key) WHERE undo_key != '';
CREATE INDEX checkout_sales_transaction ON checkout_sales (transaction_id) WHERE transaction_id != 0;
CREATE INDEX checkout_sales_original ON checkout_sales (original) WHERE original != '';

CREATE TABLE checkout_entries (
	id INTEGER PRIMARY KEY,
	sale TEXT NOT NULL,
	at_ms INTEGER NOT NULL,
	batch INTEGER NOT NULL,
	loud INTEGER NOT NULL,
	text TEXT NOT NULL
) STRICT;
CREATE INDEX checkout_entries_sale ON checkout_entries (sale, id);
CREATE INDEX checkout_entries_loud ON checkout_entries (batch, id) WHERE loud = 1;

CREATE TABLE checkout_registers (line TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE checkout_batches (
	number INTEGER PRIMARY KEY, closed_ms INTEGER NOT NULL, report BLOB NOT NULL
) STRICT;
CREATE TABLE checkout_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;`}, {Name: "checkout/2 requests", SQL: `
CREATE TABLE checkout_requests (id INTEGER PRIMARY KEY, method BLOB NOT NULL, request BLOB) STRICT;
INSERT INTO checkout_requests (id, method, request) SELECT id, method, request FROM checkout_sales;
ALTER TABLE checkout_sales DROP COLUMN method;
ALTER TABLE checkout_sales DROP COLUMN request;`}, asideSchema(), agesSchema(), routesSchema(), idsSchema(), namesSchema(), accountsSchema(), joinedSchema()}
}
