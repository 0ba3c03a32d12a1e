package aapay

import "posagent/store"

// Schema is the tables of the wallets, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "wallets/1 transactions", SQL: `
CREATE TABLE wallets_seq (
	name TEXT PRIMARY KEY,
	last INTEGER NOT NULL
) STRICT;
INSERT INTO wallets_seq (name, last) VALUES ('txn', 10000000);
CREATE TABLE wallets_txn (
	id INTEGER PRIMARY KEY,
	ppref TEXT NOT NULL UNIQUE,
	type TEXT NOT NULL,
	method TEXT NOT NULL,
	merchant TEXT NOT NULL,
	terminal_ref TEXT UNIQUE,
	original_ref TEXT NOT NULL,
	original_id INTEGER,
	currency TEXT NOT NULL,
	hundredths INTEGER NOT NULL,
	minor INTEGER NOT NULL,
	batch INTEGER NOT NULL,
	qr INTEGER NOT NULL,
	payload TEXT NOT NULL,
	request BLOB NOT NULL,
	state TEXT NOT NULL,
	account TEXT NOT NULL,
	created_ms INTEGER NOT NULL,
	since_ms INTEGER NOT NULL,
	stale_ms INTEGER NOT NULL,
	timeout_ms INTEGER NOT NULL,
	finalize_ms INTEGER NOT NULL,
	scenario TEXT NOT NULL,
	script TEXT NOT NULL,
	base_ms INTEGER NOT NULL,
	pos INTEGER NOT NULL,
	next_ms INTEGER
) STRICT;
CREATE INDEX wallets_txn_next ON wallets_txn (next_ms);
CREATE INDEX wallets_txn_original ON wallets_txn (original_id);
CREATE TABLE wallets_key (
	key TEXT PRIMARY KEY,
	body BLOB NOT NULL,
	reply TEXT NOT NULL,
	txn INTEGER,
	created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE wallets_once (
	mark TEXT PRIMARY KEY,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE wallets_tomb (
	reference TEXT PRIMARY KEY,
	txn INTEGER NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE wallets_form (
	token TEXT PRIMARY KEY,
	expires_ms INTEGER NOT NULL
) STRICT;`}, {Name: "wallets/2 the forms have a room of their own", SQL: `DROP TABLE wallets_form;`},
		{Name: "wallets/3 numbers of the store", SQL: store.NumberTable + `
INSERT INTO store_number (name, last) SELECT 'wallets_txn', last FROM wallets_seq WHERE name = 'txn';
DROP TABLE wallets_seq;`}}
}
