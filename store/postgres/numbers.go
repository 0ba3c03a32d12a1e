package postgres

import (
	"fmt"
	"math"

	"posagent/store"
)

// numberStep makes store_number a view of the schema's sequences of that name. A row is inserted or deleted as in a table, by the owner
// of the schema and in its transaction, which setval is not. A deleted count keeps its sequence, with the rights on it, at the end
// where none of its numbers is taken. A step's CREATE TABLE IF NOT EXISTS finds the view there.
func numberStep() store.Step {
	return store.Step{Name: "store/2 numbers", SQL: `
CREATE VIEW store_number AS SELECT name, last FROM (
	SELECT substr(c.relname::text, 14) COLLATE "C" AS name, coalesce(pg_sequence_last_value(c.oid), s.seqstart - 1) AS last
	FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'store\_number\_%'
) AS counts WHERE last < 9223372036854775806;
CREATE FUNCTION store_number_set() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	count text;
	next bigint;
BEGIN
	IF TG_OP = 'DELETE' THEN
		count := OLD.name;
		next := 9223372036854775807;
	ELSIF NEW.name !~ '^[a-z0-9_]{1,40}$' OR EXISTS (SELECT 1 FROM store_number WHERE name = NEW.name) THEN
		RAISE unique_violation USING MESSAGE = 'store_number: ' || NEW.name || ' is there already, or is no name of a count';
	ELSE
		count := NEW.name;
		next := NEW.last + 1;
	END IF;
	EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %I MINVALUE -9223372036854775808 CACHE 1', 'store_number_' || count);
	EXECUTE format('ALTER SEQUENCE %I START WITH %s RESTART', 'store_number_' || count, next);
	IF TG_OP = 'DELETE' THEN
		RETURN OLD;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER store_number_set INSTEAD OF INSERT OR DELETE ON store_number FOR EACH ROW EXECUTE FUNCTION store_number_set();`}
}

// guardedStep takes the right to call the functions of the steps before it from everybody: PostgreSQL gives it to all accounts of a
// database, and one of these functions runs as the owner. A later step that makes a function revokes it itself.
func guardedStep() store.Step {
	return store.Step{Name: "store/5 functions", SQL: `REVOKE ALL ON FUNCTION store_numbers_by(text, boolean), store_number_set() FROM PUBLIC;`}
}

// Number implements store.Tx with a sequence: no transaction waits for another one's number.
func (t *scope) Number(name string) (n int64, err error) {
	if t.readOnly {
		return 0, store.ErrReadOnly
	}
	err = t.QueryRow("SELECT nextval(?::text::regclass)", `"store_number_`+name+`"`).Scan(&n)
	if code := codeOf(err); code == undefinedTable || code == sequenceEnded || err == nil && n == math.MaxInt64 { // the last two: it was deleted
		return 0, store.NoCount(name)
	}
	if err != nil {
		return 0, fmt.Errorf("number %s: %w", name, err)
	}
	return n, nil
}
