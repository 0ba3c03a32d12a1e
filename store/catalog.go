package store

// Catalog is one table as an engine has it, for what copies books from one engine to another.
type Catalog struct {
	Table   string
	Columns []string // in the order of the schema
	Bytes   []string // those of Columns that hold bytes; the others hold texts and numbers
	Key     []string // the columns of the primary key, in its order
}
