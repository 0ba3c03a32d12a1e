package gaps

import (
	"encoding/binary"
	"fmt"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/store"
)

// Numbers are what the journal's end and its marks carry of it: what a later journal must not give
// again, and between which numbers its rows are dense, so that one that is removed from outside
// leaves a gap.
type Numbers struct {
	Receipt, Trace, Batch int64
	Sales, Operations     Range
}

// Range has a row for each number above Floor up to Highest. Rows below the floor may have been
// purged.
type Range struct{ Floor, Highest int64 }

// Pack returns the note of sqlite.Options.
func (n Numbers) Pack() (b [32]byte) {
	for i, v := range []int64{n.Receipt, n.Trace, n.Batch, n.Sales.Floor, n.Sales.Highest, n.Operations.Floor, n.Operations.Highest} {
		binary.BigEndian.PutUint32(b[4*i:], uint32(v))
	}
	return b
}

// Unpack reads a note.
func Unpack(b [32]byte) (n Numbers) {
	for i, v := range []*int64{&n.Receipt, &n.Trace, &n.Batch, &n.Sales.Floor, &n.Sales.Highest, &n.Operations.Floor, &n.Operations.Highest} {
		*v = int64(binary.BigEndian.Uint32(b[4*i:]))
	}
	return n
}

// Note is sqlite.Options.Note. A number never falls: a row that is removed does not lower it.
func Note(r store.Reader, last [32]byte) ([32]byte, error) {
	given, err := journal.Given(r)
	if err != nil {
		return last, err
	}
	op, err := outbox.Highest(r)
	if err != nil {
		return last, err
	}
	was := Unpack(last)
	n := Numbers{Receipt: given.Receipt, Trace: given.Trace, Batch: given.Batch}
	if n.Sales, err = was.Sales.grown(r, sales, given.Sale, last == [32]byte{}); err != nil {
		return last, err
	}
	if n.Operations, err = was.Operations.grown(r, operations, op, last == [32]byte{}); err != nil {
		return last, err
	}
	return n.Pack(), nil
}

// The tables whose rows are numbered.
const (
	sales      = "checkout_sales"
	operations = "outbox_ops"
)

// grown is the range with the numbers of now. The first range of a journal that an older program
// wrote, and left gaps in, is empty.
func (was Range) grown(r store.Reader, table string, highest int64, first bool) (Range, error) {
	floor, err := store.FloorOf(r, table)
	now := Range{max(was.Floor, floor), max(was.Highest, highest)}
	if err != nil || !first || highest == 0 {
		return now, err
	}
	have, err := count(r, table, now)
	if have < now.Highest-now.Floor {
		now.Floor = now.Highest
	}
	return now, err
}

func count(r store.Reader, table string, in Range) (n int64, err error) {
	if err = r.QueryRow("SELECT COUNT(*) FROM "+table+" WHERE id > ? AND id <= ?", in.Floor, in.Highest).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	return n, nil
}

// Read returns a sentence for each kind of row of which some are missing, and one where the record
// of the end was changed. A journal without that record has none.
func Read(r store.Reader) (list []string, err error) {
	end, known, err := store.EndOf(r)
	if err != nil {
		return nil, err
	}
	if !known {
		if end.Generation > 0 {
			list = append(list, "the record of the journal's last commit was changed from outside")
		}
		return list, nil
	}
	n := Unpack(end.Note)
	for _, c := range []struct {
		what, table string
		want        Range
	}{{"sale", sales, n.Sales}, {"operation", operations, n.Operations}} {
		have, err := count(r, c.table, c.want)
		if err != nil {
			return list, err
		}
		gone := c.want.Highest - c.want.Floor - have
		if gone <= 0 {
			continue
		}
		var first int64
		err = r.QueryRow("SELECT MIN(a.n) FROM (SELECT ?1 + 1 AS n UNION ALL SELECT id + 1 FROM "+c.table+" WHERE id > ?1) a WHERE NOT EXISTS (SELECT 1 FROM "+
			c.table+" b WHERE b.id = a.n)", c.want.Floor).Scan(&first)
		if err != nil {
			return list, fmt.Errorf("count %s: %w", c.table, err)
		}
		list = append(list, fmt.Sprintf("%d %s(s) were removed from the journal from outside, the first is number %d: compare it with the register's journal and a backup",
			gone, c.what, first))
	}
	return list, nil
}
