package inbox

import "posagent/store"

// Schema is the inbox's tables, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "inbox/1 events", SQL: `
CREATE TABLE inbox_event (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	source      TEXT NOT NULL,
	ref         TEXT NOT NULL,    -- the source's own id: repeats have the same
	event       TEXT NOT NULL,
	body        BLOB NOT NULL,    -- sealed
	received_ms INTEGER NOT NULL, -- wall clock, for people
	UNIQUE (source, ref)
) STRICT;`}, {Name: "inbox/3 owners", SQL: `
ALTER TABLE inbox_event ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client that it is about; '' = the terminal
ALTER TABLE inbox_event ADD COLUMN thing TEXT NOT NULL DEFAULT ''; -- what it is about: "payment/ID"
CREATE INDEX inbox_event_thing ON inbox_event (thing) WHERE thing <> '';`}}
}

// BuildSchema is the table of the builds, append-only: url is where a build's notifications go,
// token is sealed, built_ms is the wall clock's, for people.
func BuildSchema() []store.Step {
	return []store.Step{{Name: "inbox/2 hosted builds", SQL: `
CREATE TABLE inbox_build (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL UNIQUE,
	order_id TEXT NOT NULL,
	url TEXT NOT NULL,
	token BLOB NOT NULL,
	built_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_build_order ON inbox_build (order_id);`}}
}
