package disputes

import "posagent/store"

// Schema is the tables of the cases, append-only. data is JSON of what no query asks for.
func Schema() []store.Step {
	return []store.Step{{Name: "cases/1 cases, statuses, documents, key", SQL: `
CREATE TABLE cases_case (
	number INTEGER PRIMARY KEY,
	grp INTEGER NOT NULL,
	queue INTEGER NOT NULL,
	card TEXT NOT NULL,
	purchase TEXT NOT NULL UNIQUE,
	created_day TEXT NOT NULL,
	modified_day TEXT NOT NULL,
	due_ms INTEGER,
	data TEXT NOT NULL,
	private BLOB
) STRICT;
CREATE INDEX cases_case_queue ON cases_case (queue, number);
CREATE INDEX cases_case_card ON cases_case (card, created_day);
CREATE INDEX cases_case_grp ON cases_case (grp, queue);
CREATE INDEX cases_case_due ON cases_case (due_ms) WHERE due_ms IS NOT NULL;
CREATE TABLE cases_status (
	id INTEGER PRIMARY KEY,
	number INTEGER NOT NULL,
	queue INTEGER NOT NULL,
	user TEXT NOT NULL,
	notes TEXT NOT NULL,
	action TEXT NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX cases_status_number ON cases_status (number);
CREATE TABLE cases_document (
	id TEXT PRIMARY KEY,
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	mime TEXT NOT NULL,
	size INTEGER NOT NULL,
	sha256 TEXT NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX cases_document_number ON cases_document (number);
CREATE INDEX cases_document_name ON cases_document (name);
CREATE TABLE cases_file (
	document TEXT NOT NULL,
	seq INTEGER NOT NULL,
	data BLOB NOT NULL,
	claimed INTEGER NOT NULL,
	at_ms INTEGER NOT NULL,
	PRIMARY KEY (document, seq)
) STRICT;
CREATE INDEX cases_file_loose ON cases_file (at_ms) WHERE claimed = 0;
CREATE TABLE cases_key (
	id INTEGER PRIMARY KEY,
	pem TEXT NOT NULL,
	private BLOB NOT NULL,
	at_ms INTEGER NOT NULL
) STRICT;`}, {Name: "cases/2 the order of documents", SQL: `
ALTER TABLE cases_document ADD COLUMN place INTEGER NOT NULL DEFAULT 0;`}, {Name: "cases/3 numbers of the store", SQL: store.NumberTable + `
INSERT INTO store_number (name, last) SELECT 'cases_case', coalesce(max(number), 500000) FROM cases_case;
INSERT INTO store_number (name, last) SELECT 'cases_group', coalesce(max(grp), 700000) FROM cases_case;`}}
}
