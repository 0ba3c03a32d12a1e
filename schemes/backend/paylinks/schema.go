package paylinks

import "posagent/store"

// Schema is the tables of the links, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "links/1 links and transactions", SQL: `
CREATE TABLE links_seq (
	name TEXT PRIMARY KEY,
	last INTEGER NOT NULL
) STRICT;
INSERT INTO links_seq (name, last) VALUES ('link', 100000), ('txn', 500000);
CREATE TABLE links_link (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE,
	reference TEXT NOT NULL,
	hundredths INTEGER NOT NULL,
	minor INTEGER NOT NULL,
	currency TEXT NOT NULL,
	request BLOB NOT NULL,
	created_ms INTEGER NOT NULL,
	expires_ms INTEGER,
	deleted_ms INTEGER,
	txn INTEGER,
	charges INTEGER NOT NULL,
	next_ms INTEGER
) STRICT;
CREATE INDEX links_link_reference ON links_link (reference, id);
CREATE INDEX links_link_next ON links_link (next_ms);
CREATE TABLE links_txn (
	id INTEGER PRIMARY KEY,
	uuid TEXT NOT NULL UNIQUE,
	link INTEGER NOT NULL,
	type TEXT NOT NULL,
	original INTEGER,
	status TEXT NOT NULL,
	hundredths INTEGER NOT NULL,
	charged INTEGER NOT NULL,
	refunded INTEGER NOT NULL,
	currency TEXT NOT NULL,
	reference TEXT NOT NULL,
	purpose TEXT NOT NULL,
	lang TEXT NOT NULL,
	brand TEXT NOT NULL,
	card TEXT NOT NULL,
	contact BLOB,
	created_ms INTEGER NOT NULL,
	goal TEXT NOT NULL,
	next_ms INTEGER
) STRICT;
CREATE TABLE links_once (mark TEXT PRIMARY KEY) STRICT;
CREATE INDEX links_txn_link ON links_txn (link, id);
CREATE INDEX links_txn_original ON links_txn (original);
CREATE INDEX links_txn_created ON links_txn (created_ms, id);
CREATE INDEX links_txn_next ON links_txn (next_ms);`}, {Name: "links/2 attachments", SQL: `
CREATE TABLE links_file (
	upload TEXT NOT NULL,
	seq INTEGER NOT NULL,
	link INTEGER,
	data BLOB NOT NULL,
	at_ms INTEGER NOT NULL,
	PRIMARY KEY (upload, seq)
) STRICT;
CREATE INDEX links_file_link ON links_file (link, at_ms);`}, {Name: "links/3 numbers of the store", SQL: store.NumberTable + `
INSERT INTO store_number (name, last) SELECT 'links_' || name, last FROM links_seq;
DROP TABLE links_seq;`}}
}
