package deletedrows

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

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
// of the end was changed. A journal without that record has none. It counts every row.
func Read(r store.Reader) ([]string, error) {
	w := Watch{piece: math.MaxInt64}
	return w.Read(r)
}

// pieceOf is how many numbers one reading of a watch goes on by.
const pieceOf = 20000

// Watch reads what Read reads, of a journal however long at a bounded cost: each reading counts the
// next rows and begins again after the last. The zero Watch is ready.
type Watch struct {
	mu    sync.Mutex
	piece int64 // 0 = pieceOf
	of    [2]round
}

// round goes through the numbers of one table.
type round struct {
	upTo       int64 // counted so far
	found, was gone  // in this round, and in the one before
}

// gone is what is missing: how many, and the first of them.
type gone struct{ rows, first int64 }

// Read is the package's Read, of what was counted so far.
func (w *Watch) Read(r store.Reader) (list []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	for i, c := range []struct {
		what, table string
		want        Range
	}{{"sale", sales, n.Sales}, {"operation", operations, n.Operations}} {
		lost, err := w.of[i].next(r, c.table, c.want, cmp.Or(w.piece, pieceOf))
		if err != nil {
			return list, err
		}
		if lost.rows <= 0 {
			continue
		}
		list = append(list, fmt.Sprintf("%d %s(s) were removed from the journal from outside, the first is number %d: compare it with the register's journal and a backup",
			lost.rows, c.what, lost.first))
	}
	return list, nil
}

// next counts the next piece and answers the larger of what this round and the one before found.
func (o *round) next(r store.Reader, table string, want Range, piece int64) (gone, error) {
	in := Range{max(o.upTo, want.Floor), want.Highest}
	if in.Highest-in.Floor > piece {
		in.Highest = in.Floor + piece
	}
	have, err := count(r, table, in)
	if err != nil {
		return gone{}, err
	}
	if rows := max(in.Highest-in.Floor, 0) - have; rows > 0 {
		if o.found.rows == 0 {
			if o.found.first, err = first(r, table, in.Floor); err != nil {
				return gone{}, err
			}
		}
		o.found.rows += rows
	}
	o.upTo = in.Highest
	lost := o.found
	if o.was.rows > lost.rows {
		lost = o.was
	}
	if o.upTo >= want.Highest {
		o.was, o.found, o.upTo = o.found, gone{}, 0
		lost = o.was
	}
	return lost, nil
}

// first is the lowest number above floor that has no row.
func first(r store.Reader, table string, floor int64) (n int64, err error) {
	err = r.QueryRow("SELECT MIN(a.n) FROM (SELECT ?1 + 1 AS n UNION ALL SELECT id + 1 FROM "+table+" WHERE id > ?1) a WHERE NOT EXISTS (SELECT 1 FROM "+
		table+" b WHERE b.id = a.n)", floor).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	return n, nil
}
