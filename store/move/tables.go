package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posagent/store"
)

// meta is the table of the marks. Opening books for the first time puts secrets into it.
const meta = "store_meta"

// left are tables that belong to the processes, not to the books.
func left(table string) bool { return table == "lease_task" }

// compare returns the tables to copy, each behind those that its rows refer to. It fails where the engines have different ones.
func compare(ctx context.Context, from, to Books) (list []store.Catalog, err error) {
	var other []store.Catalog
	if err := from.Read(ctx, func(r store.Reader) (err error) { list, err = from.Catalog(r); return err }); err != nil {
		return nil, err
	}
	if err := to.Read(ctx, func(r store.Reader) (err error) { other, err = to.Catalog(r); return err }); err != nil {
		return nil, err
	}
	same := func(a, b store.Catalog) bool {
		return a.Table == b.Table && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Bytes, b.Bytes) && slices.Equal(a.Texts, b.Texts) && slices.Equal(a.Key, b.Key) && slices.Equal(a.Parents, b.Parents)
	}
	for i := range max(len(list), len(other)) {
		switch {
		case i >= len(list) || i >= len(other) || !same(list[i], other[i]):
			return nil, fmt.Errorf("%w: %s and %s (open each once with this program: it brings them up to date)", ErrSchema, nameAt(list, i), nameAt(other, i))
		case len(list[i].Key) == 0:
			return nil, fmt.Errorf("%w: %s has no primary key", ErrSchema, list[i].Table)
		}
	}
	return parentsFirst(slices.DeleteFunc(list, func(t store.Catalog) bool { return left(t.Table) }))
}

// parentsFirst puts each table behind those that its rows refer to.
func parentsFirst(tables []store.Catalog) (list []store.Catalog, err error) {
	there := map[string]bool{}
	for len(tables) > 0 {
		i := slices.IndexFunc(tables, func(t store.Catalog) bool {
			return !slices.ContainsFunc(t.Parents, func(p string) bool { return !there[p] })
		})
		if i < 0 {
			return nil, fmt.Errorf("%w: the rows of %s refer to each other in a circle, or to a table that is not copied", ErrSchema, tables[0].Table)
		}
		there[tables[i].Table] = true
		list = append(list, tables[i])
		tables = slices.Delete(tables, i, i+1)
	}
	return list, nil
}

func nameAt(list []store.Catalog, i int) string {
	if i >= len(list) {
		return "nothing"
	}
	return fmt.Sprintf("%s %v", list[i].Table, list[i].Columns)
}

// few is how many rows a table may have in a new place: those that its migrations put there, under keys that the books have, too.
const few = 100

// empty refuses a place that has rows of its own, and one whose own books were moved away: it says so for ever, and with what it
// would get neither would take work.
func empty(ctx context.Context, from, to Books, tables []store.Catalog) error {
	var away *mark
	if err := to.Read(ctx, func(r store.Reader) (err error) { away, err = markOf(r, metaTo); return err }); err != nil {
		return err
	}
	if away != nil {
		return fmt.Errorf("%w in %s: they were moved to %s, or are being moved", ErrNotEmpty, to.Name, away.To)
	}
	for _, t := range tables {
		if t.Table == meta { // the key and the secrets of an engine that was opened once: nothing is under them
			continue
		}
		var rows [][]any
		if err := to.Read(ctx, func(r store.Reader) (err error) {
			rows, err = page(r, store.Catalog{Table: t.Table, Columns: t.Key, Key: t.Key}, nil, few+1)
			return err
		}); err != nil {
			return err
		}
		for i, key := range rows {
			var known bool
			if err := from.Read(ctx, func(r store.Reader) error {
				return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM "`+t.Table+`" WHERE (`+quoted(t.Key)+`) = (?`+strings.Repeat(", ?", len(t.Key)-1)+`))`, key...).Scan(&known)
			}); err != nil {
				return err
			}
			if i == few || !known {
				return fmt.Errorf("%w in %s (table %s)", ErrNotEmpty, to.Name, t.Table)
			}
		}
	}
	return nil
}

// of is which rows of a table belong to the books.
func of(t store.Catalog) string {
	if t.Table == meta {
		return ` WHERE (name = 'mac_key' OR substr(name, 1, ` + fmt.Sprint(len(store.MetaSecrets)) + `) = '` + store.MetaSecrets + `')`
	}
	return " WHERE 1 = 1"
}

func quoted(columns []string) string { return `"` + strings.Join(columns, `", "`) + `"` }

func order(t store.Catalog, way string) string {
	return `"` + strings.Join(t.Key, `"`+way+`, "`) + `"` + way
}

func keyOf(t store.Catalog, row []any) (key []any) {
	for _, k := range t.Key {
		key = append(key, row[slices.Index(t.Columns, k)])
	}
	return key
}

func count(ctx context.Context, in Books, t store.Catalog) (n int64, err error) {
	err = in.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT count(*) FROM "` + t.Table + `"` + of(t)).Scan(&n)
	})
	return n, err
}
