package fleet

import "posagent/store"

// Schema is the tables of the fleet, append-only. Moments are Unix milliseconds, 0 = not yet.
func Schema() []store.Step {
	return []store.Step{{Name: "fleet/1 authority, enrolments, revisions", SQL: `
CREATE TABLE fleet_authority (
	id INTEGER PRIMARY KEY,
	certificate BLOB NOT NULL,
	private BLOB NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE fleet_enrolment (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	digest BLOB NOT NULL UNIQUE,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	merchant TEXT NOT NULL,
	terminal TEXT NOT NULL,
	bax TEXT NOT NULL,
	serial TEXT NOT NULL,
	bound INTEGER NOT NULL,
	created_ms INTEGER NOT NULL,
	expires_ms INTEGER NOT NULL,
	redeemed_ms INTEGER NOT NULL,
	confirmed_ms INTEGER NOT NULL,
	revoked_ms INTEGER NOT NULL,
	device TEXT NOT NULL,
	certificate BLOB,
	version TEXT NOT NULL,
	revision INTEGER NOT NULL,
	confirmed_revision INTEGER NOT NULL,
	superseded INTEGER NOT NULL
) STRICT;
CREATE INDEX fleet_enrolment_serial ON fleet_enrolment (serial);
CREATE INDEX fleet_enrolment_terminal ON fleet_enrolment (merchant, terminal);
CREATE TABLE fleet_revision (
	enrolment TEXT NOT NULL,
	number INTEGER NOT NULL,
	text BLOB NOT NULL,
	signature TEXT NOT NULL,
	at_ms INTEGER NOT NULL,
	PRIMARY KEY (enrolment, number)
) STRICT, WITHOUT ROWID;`}, {Name: "fleet/2 bundles", SQL: `
ALTER TABLE fleet_enrolment ADD COLUMN bundle INTEGER NOT NULL DEFAULT 0;`}, {Name: "fleet/3 outcomes of updates, holds", SQL: `
CREATE TABLE fleet_outcome (
	enrolment TEXT NOT NULL,
	version TEXT NOT NULL,
	kept INTEGER NOT NULL,
	reason TEXT NOT NULL,
	at TEXT NOT NULL,
	seen_ms INTEGER NOT NULL,
	lifted INTEGER NOT NULL,
	PRIMARY KEY (enrolment, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX fleet_outcome_version ON fleet_outcome (version);
CREATE TABLE fleet_hold (
	version TEXT PRIMARY KEY,
	taken_back INTEGER NOT NULL,
	tried INTEGER NOT NULL,
	held_ms INTEGER NOT NULL,
	lifted_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`}, {Name: "fleet/4 roll-outs of settings", SQL: `
ALTER TABLE fleet_enrolment ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fleet_enrolment ADD COLUMN refusal TEXT NOT NULL DEFAULT '';
CREATE TABLE fleet_roll (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	asked TEXT NOT NULL,
	stage INTEGER NOT NULL,
	enough INTEGER NOT NULL,
	soak_s INTEGER NOT NULL,
	silence_s INTEGER NOT NULL,
	started_ms INTEGER NOT NULL,
	stage_ms INTEGER NOT NULL,
	ended_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE fleet_roll_box (
	roll TEXT NOT NULL,
	enrolment TEXT NOT NULL,
	place INTEGER NOT NULL,
	number INTEGER NOT NULL,
	was TEXT NOT NULL,
	taken_ms INTEGER NOT NULL,
	healthy_ms INTEGER NOT NULL,
	seen_ms INTEGER NOT NULL,
	done_ms INTEGER NOT NULL,
	failed_ms INTEGER NOT NULL,
	lifted INTEGER NOT NULL,
	back INTEGER NOT NULL,
	PRIMARY KEY (roll, enrolment)
) STRICT, WITHOUT ROWID;
CREATE INDEX fleet_roll_box_enrolment ON fleet_roll_box (enrolment);`}, {Name: "fleet/5 holds of a merchant's boxes", SQL: `
CREATE TABLE fleet_hold_before (version TEXT PRIMARY KEY, taken_back INTEGER NOT NULL, tried INTEGER NOT NULL, held_ms INTEGER NOT NULL, lifted_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO fleet_hold_before (version, taken_back, tried, held_ms, lifted_ms) SELECT version, taken_back, tried, held_ms, lifted_ms FROM fleet_hold;
DROP TABLE fleet_hold;
CREATE TABLE fleet_hold (
	version TEXT NOT NULL,
	merchant TEXT NOT NULL, -- whose boxes alone it is held for; '' = for all
	taken_back INTEGER NOT NULL,
	tried INTEGER NOT NULL,
	held_ms INTEGER NOT NULL,
	lifted_ms INTEGER NOT NULL,
	PRIMARY KEY (version, merchant)
) STRICT, WITHOUT ROWID;
INSERT INTO fleet_hold (version, merchant, taken_back, tried, held_ms, lifted_ms) SELECT version, '', taken_back, tried, held_ms, lifted_ms FROM fleet_hold_before;
DROP TABLE fleet_hold_before;`}}
}
