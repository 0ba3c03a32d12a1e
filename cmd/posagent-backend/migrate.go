package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posagent/cmd/usage"
	"posagent/device/file"
	"posagent/schemes/backend"
	"posagent/store/move"
)

// migration are the flags of the verb.
type migration struct {
	from, to string
	dryRun   bool
	giveUp   bool
}

const migrationSchema = "posagent.backend-migration/1"

func migrateVerb() usage.Command[*call] {
	return usage.Command[*call]{
		Verb: usage.Verb{
			Name: "migrate", Short: "copy all books from a file to a database, or back; then they work there, and no longer here",
			Long: "End what works on them first: it is refused otherwise. Stopped at any moment and typed again, it goes on. The books that were copied take no\n" +
				"work from its beginning on, and the copy takes some once each table was counted and compared. A sqlite: place is a backend's directory.",
			JSON: []string{migrationSchema},
			Examples: []string{
				name + " migrate --from sqlite:/var/lib/posagent/backend --to postgres://posagent@db/pos --dry-run",
				name + " migrate --from sqlite:/var/lib/posagent/backend --to postgres://posagent@db/pos",
				name + " migrate --from postgres://posagent@db/pos --to sqlite:/srv/backend",
				name + " migrate --give-up --from sqlite:/var/lib/posagent/backend     # go on where they were; drop the copy",
			},
		},
		Options: func(c *call, fs *flag.FlagSet) {
			fs.StringVar(&c.from, "from", "", "`place` of the books: sqlite:DIR, postgres://…, or db for the one of --db and --db-file")
			fs.StringVar(&c.to, "to", "", "`place` of the copy, where no books are yet")
			fs.BoolVar(&c.dryRun, "dry-run", false, "count, compare the tables, and change nothing but bring their tables up to date")
			fs.BoolVar(&c.giveUp, "give-up", false, "let the books of --from take work again, from which a copy was begun and not completed")
		},
		Run: migrate,
	}
}

// migrationView is what the verb prints (posagent.backend-migration/1).
type migrationView struct {
	Schema string       `json:"schema"`
	From   string       `json:"from"`
	To     string       `json:"to"`
	DryRun bool         `json:"dryRun"`
	Tables []move.Table `json:"tables"`
	Rows   int64        `json:"rows"`
}

// opened are books with what closes them.
type opened struct {
	move.Books
	close func() error
}

func migrate(ctx context.Context, c *call) (err error) {
	if c.from == "" || c.to == "" && !c.giveUp {
		return usage.Fail(usage.ExitUsage, "migrate: want --from PLACE and --to PLACE, each sqlite:DIR or postgres://…")
	}
	made, err := c.oneKey()
	if err != nil {
		return err
	}
	from, err := c.books(ctx, c.from)
	if err != nil {
		return ended(err)
	}
	defer func() { err = errors.Join(err, from.close()) }()
	if c.giveUp {
		if err := move.GiveUp(ctx, from.DB); err != nil {
			return moved(err)
		}
		return c.Print(migrationView{Schema: migrationSchema, From: from.Name}, from.Name+" takes work again; drop the copy")
	}
	to, err := c.books(ctx, c.to)
	if err != nil && made != "" { // --from has it, and nothing was copied
		err = errors.Join(err, os.Remove(made))
	}
	if err != nil {
		return ended(err)
	}
	defer func() { err = errors.Join(err, to.close()) }()
	last := time.Now()
	tables, err := move.Copy(ctx, from.Books, to.Books, move.Options{DryRun: c.dryRun, Progress: func(doing, table string, done, of int64) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(c.Err, "%-9s %-24s %d of %d rows\n", doing, table, done, of)
		}
	}})
	if err != nil {
		return moved(err)
	}
	v := migrationView{Schema: migrationSchema, From: from.Name, To: to.Name, DryRun: c.dryRun, Tables: tables}
	text := ""
	for _, t := range tables {
		v.Rows += t.Rows
		text += strings.TrimRight(fmt.Sprintf("%-24s %12d  %.16s", t.Name, t.Rows, t.SHA256), " ") + "\n"
	}
	if c.dryRun {
		return c.Print(v, fmt.Sprintf("%s%d rows to copy; nothing was changed", text, v.Rows))
	}
	return c.Print(v, fmt.Sprintf("%s%d rows copied and compared: %s takes work now, and %s does not", text, v.Rows, to.Name, from.Name))
}

// moved gives an error of a move its exit code and its remedy.
func moved(err error) error {
	switch {
	case errors.Is(err, move.ErrNotEmpty):
		return usage.Fail(usage.ExitRefused, "%v (name a schema or a directory without books)", err)
	case errors.Is(err, move.ErrBegun):
		return usage.Fail(usage.ExitRefused, "%v (go on with that one, or drop it: "+name+" migrate --give-up --from PLACE)", err)
	case errors.Is(err, move.ErrMoved), errors.Is(err, move.ErrIncomplete), errors.Is(err, move.ErrSchema):
		return usage.Fail(usage.ExitRefused, "%v", err)
	case errors.Is(err, move.ErrDiffers):
		return usage.Fail(usage.ExitDamaged, "%v (the books are as they were: drop the copy, "+name+" migrate --give-up --from PLACE, and begin again)", err)
	}
	return ended(err)
}

const sqlitePlace = "sqlite:"

// books opens the books of a place, which nobody else works on.
func (c *call) books(ctx context.Context, place string) (o opened, err error) {
	dir, isFile := strings.CutPrefix(place, sqlitePlace)
	if !isFile {
		dir = c.dir()
	}
	keys, err := backend.OpenKey(dir)
	if err != nil {
		return o, err
	}
	if isFile {
		db, catalog, err := backend.OpenFile(ctx, backend.StoreOptions{Dir: dir, Steps: backend.Schema(), Wrapper: keys, Log: c.Log})
		if err != nil {
			return o, err
		}
		same, err := whereIs(dir)
		if err != nil {
			return o, errors.Join(err, db.Close())
		}
		return opened{move.Books{DB: db, Name: sqlitePlace + same, Catalog: catalog}, db.Close}, nil
	}
	if place != "db" {
		c.url, c.file = place, ""
	}
	return c.alone(ctx, backend.StoreOptions{Steps: backend.Schema(), Wrapper: keys, Log: c.Log})
}

// whereIs is the one name of a directory that is there.
func whereIs(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("name the place: %w", err)
	}
	return dir, nil
}

// oneKey gives both places the same key: what is sealed is copied as it is. made is the file where there was none. Books without a key
// are none: nothing is made in the place of --from.
func (c *call) oneKey() (made string, err error) {
	var dirs []string
	for _, place := range []string{c.from, c.to} {
		dir, isFile := strings.CutPrefix(place, sqlitePlace)
		if !isFile {
			dir = c.dir()
		}
		dirs = append(dirs, dir)
	}
	const most = 4 << 10 // of a key
	paths := []string{filepath.Join(dirs[0], backend.KeyName), filepath.Join(dirs[1], backend.KeyName)}
	own, _, err := file.Read(paths[0], file.Follow, most)
	if err != nil {
		return "", usage.Fail(usage.ExitFailed, "the key of the books: %v (the place of the books is named by --from, for a database with --state; posagent backend --state DIR has its books in DIR/backend)", err)
	}
	if c.to == "" || dirs[0] == dirs[1] {
		return "", nil
	}
	other, _, err := file.Read(paths[1], file.Follow, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dirs[1], 0o700); err != nil {
			return "", ended(err)
		}
		return paths[1], ended(writeKey(paths[1], own))
	case err != nil:
		return "", ended(err)
	case !bytes.Equal(own, other):
		return "", usage.Fail(usage.ExitRefused, "%s is another key than %s: what is sealed could not be read in the copy (take it away where nothing needs it)", paths[1], paths[0])
	}
	return "", nil
}

// writeKey makes a file durably that was not there.
func writeKey(path string, key []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(path))
}
