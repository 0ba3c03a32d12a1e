package outbox

import "posagent/store"

// Schema returns the migration steps of the outbox's tables.
func Schema() []store.Step {
	return []store.Step{{
		Name: "outbox/1 operations",
		SQL: `
CREATE TABLE outbox_ops (
	id           INTEGER PRIMARY KEY,
	key          TEXT NOT NULL UNIQUE,
	kind         TEXT NOT NULL,
	aggregate    TEXT NOT NULL,
	state        TEXT NOT NULL,
	resume       TEXT NOT NULL,    -- the state a HELD or DOUBT operation returns to
	note         TEXT NOT NULL,
	amount       INTEGER NOT NULL, -- minor units
	currency     TEXT NOT NULL,
	digest       BLOB NOT NULL,    -- keyed digest of what was accepted
	payload      BLOB,             -- sealed
	memo         BLOB,             -- sealed
	result       BLOB,
	reason       TEXT NOT NULL,
	attempts     INTEGER NOT NULL,
	created_ms   INTEGER NOT NULL, -- wall clock, for people
	settled_ms   INTEGER NOT NULL, -- wall clock, for people; 0 = not final
	accepted_run INTEGER NOT NULL, -- ms of running time when accepted
	next_run     INTEGER NOT NULL, -- ms of running time before which nothing is tried
	sent_age     INTEGER NOT NULL, -- ms on the key clock before the first send; -1 = never sent
	open         INTEGER NOT NULL, -- 1 until final
	ready        INTEGER NOT NULL, -- 1 = first of its aggregate and sendable
	mac          BLOB NOT NULL
) STRICT;
CREATE INDEX outbox_ops_due ON outbox_ops (ready, kind, next_run, id);
CREATE INDEX outbox_ops_line ON outbox_ops (aggregate, open, id);
CREATE INDEX outbox_ops_state ON outbox_ops (state, kind, accepted_run);
CREATE TABLE outbox_clock (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	run_ms  INTEGER NOT NULL, -- running time
	age_ms  INTEGER NOT NULL, -- running time plus the known time between runs
	wall_ms INTEGER NOT NULL  -- wall clock when both were written
) STRICT;
INSERT INTO outbox_clock (id, run_ms, age_ms, wall_ms) VALUES (1, 0, 0, 0);
`,
	}, {
		Name: "outbox/2 sums",
		SQL: `
CREATE TABLE outbox_sums ( -- of outbox_ops, kept by the triggers below
	kind     TEXT NOT NULL,
	currency TEXT NOT NULL,
	state    TEXT NOT NULL,
	count    INTEGER NOT NULL,
	sum      INTEGER NOT NULL, -- minor units
	PRIMARY KEY (kind, currency, state)
) STRICT, WITHOUT ROWID;
INSERT INTO outbox_sums (kind, currency, state, count, sum)
	SELECT kind, currency, state, COUNT(*), SUM(amount) FROM outbox_ops GROUP BY kind, currency, state;
CREATE TRIGGER outbox_ops_added AFTER INSERT ON outbox_ops BEGIN
	INSERT INTO outbox_sums VALUES (NEW.kind, NEW.currency, NEW.state, 1, NEW.amount)
		ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + 1, sum = sum + excluded.sum;
END;
CREATE TRIGGER outbox_ops_moved AFTER UPDATE OF state ON outbox_ops WHEN OLD.state <> NEW.state BEGIN
	UPDATE outbox_sums SET count = count - 1, sum = sum - OLD.amount
		WHERE kind = OLD.kind AND currency = OLD.currency AND state = OLD.state;
	INSERT INTO outbox_sums VALUES (NEW.kind, NEW.currency, NEW.state, 1, NEW.amount)
		ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + 1, sum = sum + excluded.sum;
END;
CREATE TRIGGER outbox_ops_removed AFTER DELETE ON outbox_ops BEGIN
	UPDATE outbox_sums SET count = count - 1, sum = sum - OLD.amount
		WHERE kind = OLD.kind AND currency = OLD.currency AND state = OLD.state;
END;
DROP INDEX outbox_ops_due;
CREATE INDEX outbox_ops_due ON outbox_ops (kind, next_run, id) WHERE ready = 1;
`,
	}, {
		Name: "outbox/3 purge",
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN settled_run INTEGER NOT NULL DEFAULT 0; -- ms of running time when it became final
UPDATE outbox_ops SET settled_run = MAX(accepted_run, (SELECT run_ms FROM outbox_clock)) WHERE open = 0;
ALTER TABLE outbox_clock ADD COLUMN purged_id INTEGER NOT NULL DEFAULT 0; -- the highest id that was deleted
CREATE TABLE outbox_purged ( -- what was deleted, in the state in which it ended
	kind     TEXT NOT NULL,
	currency TEXT NOT NULL,
	state    TEXT NOT NULL,
	count    INTEGER NOT NULL,
	sum      INTEGER NOT NULL, -- minor units
	PRIMARY KEY (kind, currency, state)
) STRICT, WITHOUT ROWID;
DROP TRIGGER outbox_ops_removed;
CREATE TRIGGER outbox_ops_removed AFTER DELETE ON outbox_ops BEGIN
	UPDATE outbox_sums SET count = count - 1, sum = sum - OLD.amount
		WHERE kind = OLD.kind AND currency = OLD.currency AND state = OLD.state;
	INSERT INTO outbox_purged VALUES (OLD.kind, OLD.currency, OLD.state, 1, OLD.amount)
		ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + 1, sum = sum + excluded.sum;
	UPDATE outbox_clock SET purged_id = MAX(purged_id, OLD.id);
END;
`,
	}, {
		Name: "outbox/4 own keys, late sums",
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN data_key BLOB; -- of payload and memo, wrapped; NULL = none, or in store_keys
ALTER TABLE outbox_clock ADD COLUMN summed_id INTEGER NOT NULL DEFAULT 0; -- outbox_sums has what was accepted up to this id
UPDATE outbox_clock SET summed_id = (SELECT COALESCE(MAX(id), 0) FROM outbox_ops);
DROP TRIGGER outbox_ops_added;
DROP TRIGGER outbox_ops_moved;
CREATE TRIGGER outbox_ops_moved AFTER UPDATE OF state ON outbox_ops
		WHEN OLD.state <> NEW.state AND OLD.id <= (SELECT summed_id FROM outbox_clock) BEGIN
	UPDATE outbox_sums SET count = count - 1, sum = sum - OLD.amount
		WHERE kind = OLD.kind AND currency = OLD.currency AND state = OLD.state;
	INSERT INTO outbox_sums VALUES (NEW.kind, NEW.currency, NEW.state, 1, NEW.amount)
		ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + 1, sum = sum + excluded.sum;
END;
DROP TRIGGER outbox_ops_removed;
CREATE TRIGGER outbox_ops_removed AFTER DELETE ON outbox_ops BEGIN
	UPDATE outbox_sums SET count = count - 1, sum = sum - OLD.amount
		WHERE kind = OLD.kind AND currency = OLD.currency AND state = OLD.state AND OLD.id <= (SELECT summed_id FROM outbox_clock);
	INSERT INTO outbox_purged VALUES (OLD.kind, OLD.currency, OLD.state, 1, OLD.amount)
		ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + 1, sum = sum + excluded.sum;
	UPDATE outbox_clock SET purged_id = MAX(purged_id, OLD.id);
END;
`,
	}, {
		Name: "outbox/5 owners",
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client it belongs to; '' = the terminal
CREATE INDEX outbox_ops_owner ON outbox_ops (owner, id) WHERE owner <> '';
`,
	}, {
		Name: "outbox/6 revived, restored",
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN revived_run INTEGER NOT NULL DEFAULT 0; -- ms of running time when it was accepted again; 0 = never
ALTER TABLE outbox_clock ADD COLUMN restored_age INTEGER NOT NULL DEFAULT -1; -- ms on the key clock up to which a restored journal knows; -1 = all of it
`,
	}, {
		Name: "outbox/7 alerts",
		SQL: `
CREATE TABLE outbox_alerts ( -- what came to nothing after its client was told "stored", until a person acknowledges it
	key      TEXT PRIMARY KEY,
	kind     TEXT NOT NULL,
	subject  TEXT NOT NULL, -- local id of what it was about
	state    TEXT NOT NULL,
	amount   INTEGER NOT NULL, -- minor units
	currency TEXT NOT NULL,
	reason   TEXT NOT NULL,
	at_ms    INTEGER NOT NULL -- wall clock, for people
) STRICT, WITHOUT ROWID;
`,
	}, {
		Name: "outbox/8 leaders by key",
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN leads INTEGER NOT NULL DEFAULT 0; -- 1 = its aggregate is named after its Key, by which it is found
DROP INDEX outbox_ops_line;
CREATE INDEX outbox_ops_line ON outbox_ops (aggregate, open, id) WHERE leads = 0;
`,
	}, {
		Name: "outbox/9 traces", Open: true,
		SQL: `
ALTER TABLE outbox_ops ADD COLUMN trace TEXT NOT NULL DEFAULT ''; -- the trace id of who asked for it; '' = that of its Key
`,
	}, {
		Name: "outbox/10 alerts of sales", Open: true,
		SQL: `
ALTER TABLE outbox_alerts ADD COLUMN short TEXT NOT NULL DEFAULT ''; -- who is short of the amount; '' = nobody
ALTER TABLE outbox_alerts ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client it belongs to; '' = the terminal
`,
	}, {
		Name: "outbox/11 trusted time", Open: true,
		SQL: `
ALTER TABLE outbox_clock ADD COLUMN boot TEXT NOT NULL DEFAULT ''; -- the boot of the last save
ALTER TABLE outbox_clock ADD COLUMN boot_ms INTEGER NOT NULL DEFAULT 0; -- its clock then
ALTER TABLE outbox_clock ADD COLUMN sure INTEGER NOT NULL DEFAULT 0; -- 1 = age_ms has all time between runs in it
ALTER TABLE outbox_clock ADD COLUMN anchor_age INTEGER NOT NULL DEFAULT 0; -- age_ms at anchor_ms
ALTER TABLE outbox_clock ADD COLUMN anchor_ms INTEGER NOT NULL DEFAULT 0; -- a true time, unix ms; 0 = none was heard yet
`,
	}}
}
