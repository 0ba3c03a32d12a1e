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
CREATE INDEX inbox_event_thing ON inbox_event (thing) WHERE thing <> '';`}, {Name: "inbox/4 shares, ids", Open: true, SQL: `
CREATE TABLE inbox_owners ( -- what is kept for each local client; '' = the terminal
	owner TEXT PRIMARY KEY,
	kept  INTEGER NOT NULL,
	lost  INTEGER NOT NULL -- the highest id of its events that is not kept any more; 0 = none was lost
) STRICT, WITHOUT ROWID;
INSERT INTO inbox_owners SELECT owner, COUNT(*), 0 FROM inbox_event GROUP BY owner;
INSERT INTO inbox_owners SELECT '', 0, COALESCE((SELECT MIN(id) FROM inbox_event), 1) - 1 WHERE true ON CONFLICT (owner) DO UPDATE SET lost = excluded.lost;
CREATE INDEX inbox_event_owner ON inbox_event (owner, id);
CREATE TRIGGER inbox_event_came AFTER INSERT ON inbox_event BEGIN
	INSERT INTO inbox_owners VALUES (NEW.owner, 1, 0) ON CONFLICT (owner) DO UPDATE SET kept = kept + 1;
END;
CREATE TRIGGER inbox_event_went AFTER DELETE ON inbox_event BEGIN
	UPDATE inbox_owners SET kept = kept - 1, lost = MAX(lost, OLD.id) WHERE owner = OLD.owner;
END;
CREATE TRIGGER inbox_event_given AFTER UPDATE OF owner ON inbox_event WHEN OLD.owner <> NEW.owner BEGIN
	UPDATE inbox_owners SET kept = kept - 1 WHERE owner = OLD.owner;
	INSERT INTO inbox_owners VALUES (NEW.owner, 1, 0) ON CONFLICT (owner) DO UPDATE SET kept = kept + 1;
END;
CREATE TABLE inbox_seen ( -- the ids of events that are not kept any more
	id   INTEGER PRIMARY KEY, -- of the event
	ref  BLOB NOT NULL UNIQUE, -- digest of source and ref
	body BLOB NOT NULL         -- digest
) STRICT;`}, {Name: "inbox/5 given", Open: true, SQL: `
ALTER TABLE inbox_event ADD COLUMN given INTEGER NOT NULL DEFAULT 0; -- the row that this one gives to a client; 0 = it arrived
CREATE INDEX inbox_event_given ON inbox_event (given) WHERE given <> 0;`}}
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
CREATE INDEX inbox_build_order ON inbox_build (order_id);`}, {Name: "inbox/6 owners of builds", Open: true, SQL: `
ALTER TABLE inbox_build ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client that built it; '' = the terminal's own token
CREATE INDEX inbox_build_owner ON inbox_build (owner, n);`}}
}
