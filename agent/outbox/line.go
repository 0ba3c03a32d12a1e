package outbox

import "strings"

// An operation leads where its aggregate is named after its own Key, as that of what it makes is. It is found by its Key. The index
// outbox_ops_line holds the others: names made of Keys are in the order of chance, and each would change a page of its own.

// keyLength is the length of the Keys that can lead; SQL takes as much from the end of an aggregate.
const keyLength = 36

// leads says whether an operation does, as outbox_ops has it.
func leads(aggregate, key string) int {
	if len(key) == keyLength && strings.HasSuffix(aggregate, key) {
		return 1
	}
	return 0
}

// inLine is the condition for an operation of an aggregate, an SQL expression. and = " AND …", or "".
func inLine(aggregate, and string) string {
	return `(leads = 0 AND aggregate = ` + aggregate + and + ` OR leads = 1 AND key = substr(` + aggregate + `, -36) AND aggregate = ` + aggregate + and + `)`
}

// firstInLine is the least id of an aggregate's operations, NULL = there is none. An aggregate may hold many: it reads none but this.
func firstInLine(aggregate, and string) string {
	return `(SELECT MIN(id) FROM (SELECT MIN(id) AS id FROM outbox_ops WHERE leads = 0 AND aggregate = ` + aggregate + and + `
		UNION ALL SELECT id FROM outbox_ops WHERE leads = 1 AND key = substr(` + aggregate + `, -36) AND aggregate = ` + aggregate + and + `))`
}

// The questions about an aggregate. Each is one seek in an index or two (TestQuestionsAboutALineAreSeeks).
var (
	openBefore  = `SELECT EXISTS (SELECT 1 FROM outbox_ops WHERE ` + inLine(`?1`, ` AND open = 1 AND id < ?2`) + `)`
	openAfter   = `SELECT EXISTS (SELECT 1 FROM outbox_ops WHERE ` + inLine(`?1`, ` AND open = 1 AND id > ?2`) + `)`
	openAhead   = `SELECT ` + columns + ` FROM outbox_ops WHERE id = ` + firstInLine(`?1`, ` AND open = 1 AND id < ?2`)
	nextPending = `SELECT ` + columns + ` FROM outbox_ops WHERE id = ` + firstInLine(`?1`, ` AND open = 1 AND id > ?2 AND state = 'PENDING'`)
	nextInLine  = `SELECT ` + columns + ` FROM outbox_ops WHERE ` + inLine(`?1`, ` AND id > ?2`) + ` ORDER BY id LIMIT 1`
	markFirst   = `UPDATE outbox_ops SET ready = CASE WHEN state IN ('PENDING', 'SENT') THEN 1 ELSE 0 END WHERE id = ` + firstInLine(`?1`, ` AND open = 1`)
	insertRow   = `INSERT INTO outbox_ops (id, key, kind, aggregate, state, resume, note, amount, currency, digest, payload, reason, attempts,
		created_ms, settled_ms, accepted_run, next_run, sent_age, mac, data_key, owner, leads, trace, open, ready)
		VALUES (?1, ?2, ?3, ?4, ?15, ?16, ?5, ?6, ?7, ?8, ?9, '', 0, ?10, 0, ?11, ?11, -1, ?12, ?13, ?14, ?17, ?18, 1,
		NOT EXISTS (SELECT 1 FROM outbox_ops WHERE ` + inLine(`?4`, ` AND open = 1`) + `)) ON CONFLICT (key) DO NOTHING`
	updateRow = `UPDATE outbox_ops SET settled_run = ?, state = ?, resume = ?, payload = ?, memo = ?, result = ?, reason = ?, attempts = ?,
		settled_ms = ?, next_run = ?, sent_age = ?, open = ?, mac = ?, data_key = ?,
		ready = CASE WHEN ? = 0 OR EXISTS (SELECT 1 FROM outbox_ops b WHERE ` + inLine(`outbox_ops.aggregate`, ` AND open = 1 AND id < outbox_ops.id`) + `) THEN 0 ELSE 1 END
		WHERE id = ? AND state = ?`
)
