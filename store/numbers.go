package store

import "fmt"

// NumberTable is the table of the counts: one row for each, with the last number that it gave. A
// step that declares counts begins with it, and inserts a row (name, last) for each, where last is
// the first number less 1, or the highest that was given before. The step is the place of the first
// number, because only a step knows what older books have given. A name is of a-z, 0-9 and _, with 40
// characters at most; a number is less than 2^63 - 1.
//
// A closure does not write the table: it asks Tx.Number. An engine may have a view in its place.
const NumberTable = `
CREATE TABLE IF NOT EXISTS store_number (
	name TEXT NOT NULL PRIMARY KEY,
	last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

// NoCount is what Tx.Number answers where no step declares the count.
func NoCount(name string) error {
	return fmt.Errorf("store: no step declares the count %q: insert it into store_number", name)
}
