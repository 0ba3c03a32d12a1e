package postgres

import (
	"slices"

	"posagent/store"
)

// Catalog lists the tables of the rooms by name, and those of the store that any engine has.
func Catalog(r store.Reader) (list []store.Catalog, err error) {
	err = store.Each(r, func(row store.Row) error {
		var table, column, kind string
		var key int
		if err := row.Scan(&table, &column, &kind, &key); err != nil {
			return err
		}
		if len(list) == 0 || list[len(list)-1].Table != table {
			list = append(list, store.Catalog{Table: table})
		}
		t := &list[len(list)-1]
		t.Columns = append(t.Columns, column)
		switch kind {
		case "bytea":
			t.Bytes = append(t.Bytes, column)
		case "text":
			t.Texts = append(t.Texts, column)
		}
		for len(t.Key) < key {
			t.Key = append(t.Key, "")
		}
		if key > 0 {
			t.Key[key-1] = column
		}
		return nil
	}, `SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)::text, coalesce(array_position(i.indkey::smallint[], a.attnum) + 1, 0)::int
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relnamespace = current_schema()::regnamespace AND (c.relkind = 'r' AND c.relname NOT IN ('store_steps', 'store_server', 'store_beat') OR c.relname = 'store_number')
		ORDER BY c.relname COLLATE "C", a.attnum`)
	if err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		if t.Table == "store_number" { // a view
			t.Key = []string{"name"}
		}
		if t.Parents, err = store.Column[string](r, `SELECT DISTINCT p.relname::text COLLATE "C" FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid
			WHERE f.contype = 'f' AND f.conrelid = to_regclass('"' || ? || '"') ORDER BY 1`, t.Table); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Copied lets numbers that the server gives go on behind those that were copied into a table.
func Copied(tx store.Tx, t store.Catalog) error {
	for _, column := range t.Key {
		var sequence *string
		if err := tx.QueryRow(`SELECT pg_get_serial_sequence('"' || ? || '"', ?)`, t.Table, column).Scan(&sequence); err != nil {
			return err
		}
		if sequence == nil || slices.Contains(t.Bytes, column) {
			continue
		}
		var last int64
		if err := tx.QueryRow(`SELECT setval(?::text::regclass, (SELECT coalesce(max("`+column+`"), 1) FROM "`+t.Table+`"), (SELECT count(*) > 0 FROM "`+t.Table+`"))`, *sequence).Scan(&last); err != nil {
			return err
		}
	}
	return nil
}
