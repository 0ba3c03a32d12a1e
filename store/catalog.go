package store

// Catalog is one table as an engine has it, for what copies books from one engine to another.
type Catalog struct {
	Table   string
	Columns []string // in the order of the schema
	Bytes   []string // those of Columns that hold bytes
	Texts   []string // those of Columns that hold texts; the others hold numbers
	Key     []string // the columns of the primary key, in its order
	Parents []string // the other tables that its rows refer to, by name
}

// Filler is what an engine's Tx may be besides: it inserts many rows faster than INSERT does.
type Filler interface {
	// Fill inserts rows that are not there yet, each with the values of all columns of the table.
	// It fails as Exec does.
	Fill(table Catalog, rows [][]any) error
}
