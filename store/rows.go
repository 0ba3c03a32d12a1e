package store

import (
	"fmt"
	"time"
)

// Allowed refuses arguments that columns do not hold.
func Allowed(args []any) error {
	for i, a := range args {
		if _, ok := a.(time.Time); ok {
			return fmt.Errorf("store: argument %d is a time.Time: store int64 unix milliseconds", i+1)
		}
	}
	return nil
}

// Row is one row of an answer.
type Row interface{ Scan(dest ...any) error }

// Each calls row for each row that query reads. It returns the first error of the query, of row or
// of the reading, and no statement is open then.
func Each(from Reader, row func(Row) error, query string, args ...any) error {
	rows, err := from.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column returns what query reads, one column, in the order of its rows. It fails as Each does.
func Column[T any](from Reader, query string, args ...any) (list []T, err error) {
	err = Each(from, func(row Row) error {
		var v T
		err := row.Scan(&v)
		list = append(list, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Beyond counts what r has and other has not, from the newest back to the first that both have. keys lists keys of r, the newest first;
// has asks other for one of them.
func Beyond(r, other Reader, keys, has string) (n int, err error) {
	rows, err := r.Query(keys)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var key string
		if err := rows.Scan(&key); err != nil {
			return 0, err
		}
		var there int
		if err := other.QueryRow(has, key).Scan(&there); err != nil {
			return 0, err
		}
		if there > 0 {
			break
		}
	}
	return n, rows.Err()
}
