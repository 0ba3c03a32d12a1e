package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// tea is a row of the room's table.
type tea struct {
	id    int64
	name  string
	grams int64
}

func (t *tea) fields() store.Fields {
	return store.Fields{"id", &t.id, "name", &t.name, "grams", &t.grams}
}

var teas = store.NewTable("teas", (*tea).fields)

// A room brings its tables and plain SQL; who assembles the program opens an engine for it.
func Example() {
	dir, err := os.MkdirTemp("", "store-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	db, err := sqlite.Open(ctx, sqlite.Options{
		Path:    filepath.Join(dir, "shop.db"),
		Steps:   []store.Step{{Name: "shop/1 teas", SQL: `CREATE TABLE teas (id INTEGER PRIMARY KEY, name TEXT NOT NULL, grams INTEGER NOT NULL) STRICT`}},
		Wrapper: storetest.Wrapper{}, // hides nothing; a product gives one with a key
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	err = db.Write(ctx, func(tx store.Tx) error {
		return teas.Insert(tx, &tea{id: 1, name: "Assam", grams: 250})
	})
	fmt.Println("stored:", err)

	err = db.Write(ctx, func(tx store.Tx) error {
		if err := teas.Update("grams")(tx, &tea{id: 1, grams: 0}); err != nil {
			return err
		}
		return fmt.Errorf("the customer has gone")
	})
	fmt.Println("not stored:", err)

	err = db.Read(ctx, func(r store.Reader) error {
		t, err := teas.One(r, "WHERE id = ?", 1)
		fmt.Println(t.name, t.grams)
		return err
	})
	fmt.Println("read:", err)
	// Output:
	// stored: <nil>
	// not stored: the customer has gone
	// Assam 250
	// read: <nil>
}
