package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Fields are the columns of a row and where each lies in it: name, pointer, name, pointer, and so
// on.
type Fields []any

// Table maps rows of type R to columns, each named beside its field: no statement counts places.
// Make one per table, as a variable of the package that owns it.
type Table[R any] struct {
	fields         func(*R) Fields
	names          []string
	name           string
	columns        string
	insert, choose string
	keys           int // how many of the first columns tell which row
}

// NewTable returns the mapping of a table, or of a join that is only read. It panics where fields
// are not pairs of a column's name and a pointer, or name a column twice.
func NewTable[R any](name string, fields func(*R) Fields) *Table[R] {
	t := &Table[R]{fields: fields, name: name, keys: 1}
	list := fields(new(R))
	if len(list) == 0 || len(list)%2 != 0 {
		panic(fmt.Sprintf("store: the fields of %s are not pairs", name))
	}
	for i := 0; i < len(list); i += 2 {
		column, ok := list[i].(string)
		_, scanner := list[i+1].(sql.Scanner)
		if !ok || slices.Contains(t.names, column) || !scanner && reflect.ValueOf(list[i+1]).Kind() != reflect.Pointer {
			panic(fmt.Sprintf("store: field %d of %s is %v, not a column named once with its pointer", i/2+1, name, list[i]))
		}
		t.names = append(t.names, column)
	}
	t.columns = strings.Join(t.names, ", ")
	t.choose = "SELECT " + t.columns + " FROM " + name + " "
	t.insert = "INSERT INTO " + name + " (" + t.columns + ") VALUES (?" + strings.Repeat(", ?", len(t.names)-1) + ")"
	return t
}

// Keyed says that the first n columns together tell which row, and returns the table. Without it
// the first one does. It panics where no other column is left.
func (t *Table[R]) Keyed(n int) *Table[R] {
	if n < 1 || n >= len(t.names) {
		panic(fmt.Sprintf("store: %d key columns of %s, which has %d columns", n, t.name, len(t.names)))
	}
	t.keys = n
	return t
}

// Columns returns the names of all columns, as a SELECT lists them.
func (t *Table[R]) Columns() string { return t.columns }

// Scan fills r from a row of all columns.
func (t *Table[R]) Scan(row Row, r *R) error {
	fields := t.fields(r)
	dest := make([]any, len(t.names))
	for i := range dest {
		dest[i] = fields[2*i+1]
	}
	return row.Scan(dest...)
}

// One reads the row that rest picks ("WHERE id = ?"); sql.ErrNoRows where there is none.
func (t *Table[R]) One(from Reader, rest string, args ...any) (r R, err error) {
	err = t.Scan(from.QueryRow(t.choose+rest, args...), &r)
	return r, err
}

// All reads the rows that rest picks ("WHERE state = ? ORDER BY id").
func (t *Table[R]) All(from Reader, rest string, args ...any) (list []R, err error) {
	err = Each(from, func(row Row) error {
		var r R
		err := t.Scan(row, &r)
		list = append(list, r)
		return err
	}, t.choose+rest, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Insert stores a row that is not there yet.
func (t *Table[R]) Insert(tx Tx, r *R) error {
	_, err := tx.Exec(t.insert, t.values(r)...)
	return err
}

// Update returns what stores the named columns of a row that is there, all of them where none is
// named. It panics where one is not a column of the table.
func (t *Table[R]) Update(columns ...string) func(tx Tx, r *R) error {
	if len(columns) == 0 {
		columns = t.names[t.keys:]
	}
	places := make([]int, len(columns)+t.keys)
	for i, c := range columns {
		if places[i] = slices.Index(t.names, c); places[i] < 0 {
			panic(fmt.Sprintf("store: %s has no column %q", t.name, c))
		}
	}
	for i := range t.keys {
		places[len(columns)+i] = i
	}
	query := "UPDATE " + t.name + " SET " + strings.Join(columns, " = ?, ") + " = ? WHERE " + strings.Join(t.names[:t.keys], " = ? AND ") + " = ?"
	return func(tx Tx, r *R) error {
		fields := t.fields(r)
		args := make([]any, len(places))
		for i, at := range places {
			args[i] = valueOf(fields[2*at+1])
		}
		_, err := tx.Exec(query, args...)
		return err
	}
}

// Put returns what stores a row, or the named columns of one that is there.
func (t *Table[R]) Put(columns ...string) func(tx Tx, r *R) error {
	sets := make([]string, len(columns))
	for i, c := range columns {
		if !slices.Contains(t.names, c) {
			panic(fmt.Sprintf("store: %s has no column %q", t.name, c))
		}
		sets[i] = c + " = excluded." + c
	}
	query := t.insert + " ON CONFLICT (" + strings.Join(t.names[:t.keys], ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
	return func(tx Tx, r *R) error {
		_, err := tx.Exec(query, t.values(r)...)
		return err
	}
}

// values are the arguments of an INSERT of all columns.
func (t *Table[R]) values(r *R) []any {
	fields := t.fields(r)
	args := make([]any, len(t.names))
	for i := range args {
		args[i] = valueOf(fields[2*i+1])
	}
	return args
}

// valueOf returns what a field holds, as a column takes it: a named type as its kind, a bool as 0
// or 1.
func valueOf(field any) any {
	switch p := field.(type) {
	case *int64:
		return *p
	case *string:
		return *p
	case *[]byte:
		return *p
	case driver.Valuer:
		return p
	}
	v := reflect.ValueOf(field).Elem()
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		if v.Bool() {
			return int64(1)
		}
		return int64(0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	}
	return v.Interface()
}

// OrNull is a field whose zero value is NULL in its column.
func OrNull[T comparable](p *T) any { return orNull[T]{p} }

type orNull[T comparable] struct{ p *T }

// Scan implements sql.Scanner.
func (n orNull[T]) Scan(src any) error {
	var v sql.Null[T]
	err := v.Scan(src)
	*n.p = v.V
	return err
}

// Value implements driver.Valuer.
func (n orNull[T]) Value() (driver.Value, error) {
	if *n.p == *new(T) {
		return nil, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(*n.p)
}

// JSON is a field that its column holds as JSON text. v is a pointer.
func JSON(v any) any { return jsonField{v} }

type jsonField struct{ v any }

// Scan implements sql.Scanner.
func (j jsonField) Scan(src any) error {
	switch text := src.(type) {
	case string:
		return json.Unmarshal([]byte(text), j.v)
	case []byte:
		return json.Unmarshal(text, j.v)
	}
	return fmt.Errorf("store: JSON in a %T", src)
}

// Value implements driver.Valuer.
func (j jsonField) Value() (driver.Value, error) {
	text, err := json.Marshal(j.v)
	return string(text), err
}
