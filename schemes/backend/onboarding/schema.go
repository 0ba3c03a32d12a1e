package onboarding

import "posagent/store"

// Schema is the tables of the merchants, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "merchants/1 applications", SQL: `
CREATE TABLE merchants_application (
	id INTEGER PRIMARY KEY,
	status TEXT NOT NULL,
	reason TEXT NOT NULL,
	reference TEXT NOT NULL,
	merchant TEXT NOT NULL,
	created_ms INTEGER NOT NULL,
	updated_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE merchants_move (
	id INTEGER PRIMARY KEY,
	application INTEGER NOT NULL REFERENCES merchants_application (id),
	from_status TEXT NOT NULL,
	to_status TEXT NOT NULL,
	reason TEXT NOT NULL,
	event TEXT NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX merchants_move_application ON merchants_move (application);`}, {Name: "merchants/2 numbers of the store", SQL: store.NumberTable + `
INSERT INTO store_number (name, last) SELECT 'merchants_application', coalesce(max(id), 100000) FROM merchants_application;`}}
}
