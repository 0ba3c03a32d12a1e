package sqlite

import (
	"maps"
	"slices"

	"posagent/store"
)

// Catalog lists the tables of the rooms by name, and those of the store that any engine has.
func Catalog(r store.Reader) (list []store.Catalog, err error) {
	names, err := store.Column[string](r, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ('store_steps', 'store_end') ORDER BY name")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t := store.Catalog{Table: name}
		keys := map[int]string{}
		err := store.Each(r, func(row store.Row) error {
			var column, kind string
			var key int
			err := row.Scan(&column, &kind, &key)
			t.Columns = append(t.Columns, column)
			switch kind {
			case "BLOB":
				t.Bytes = append(t.Bytes, column)
			case "TEXT":
				t.Texts = append(t.Texts, column)
			}
			if key > 0 {
				keys[key] = column
			}
			return err
		}, "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", name)
		if err != nil {
			return nil, err
		}
		for _, i := range slices.Sorted(maps.Keys(keys)) {
			t.Key = append(t.Key, keys[i])
		}
		if t.Parents, err = store.Column[string](r, `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?) ORDER BY "table"`, name); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}
