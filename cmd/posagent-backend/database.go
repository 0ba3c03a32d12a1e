package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	cmdbackend "posagent/cmd/backend"
	"posagent/cmd/usage"
	"posagent/device/file"
	"posagent/schemes/backend"
	"posagent/store"
	"posagent/store/move"
	"posagent/store/postgres"
)

// database says which one, by the flags of every verb.
type database struct {
	url, file string
	tolerate  string
	reason    string // why a server is forgotten
}

const (
	maxURL = 4 << 10 // bytes of a file with one
	envURL = "POSAGENT_DB"
)

func (d *database) register(fs *flag.FlagSet) {
	fs.StringVar(&d.url, "db", "", "`URL` of the database, or "+envURL+": postgres://user@host/name, several hosts with commas; search_path=NAME names the schema")
	fs.StringVar(&d.file, "db-file", "", "`file` with the URL, which others may not read: for one with a password")
	fs.StringVar(&d.tolerate, "tolerate", "", "`dangers` to take, with commas: async (standbys that no commit waits for), no-fsync, plain (no TLS to another machine), "+cmdbackend.DemoCredentials+" (an address that other machines reach, with credentials that the documents print)")
}

// dangers are the words of --tolerate.
func (d *database) dangers() []string {
	return strings.FieldsFunc(d.tolerate, func(r rune) bool { return r == ',' || r == ' ' })
}

// options are how the store is opened.
func (c *call) options(opt backend.StoreOptions) (o postgres.Options, err error) {
	o = postgres.Options{Steps: opt.Steps, Wrapper: opt.Wrapper, Log: opt.Log, Wrote: opt.Wrote}
	switch {
	case c.url != "" && c.file != "":
		return o, usage.Fail(usage.ExitUsage, "name the database once: --db URL or --db-file FILE")
	case c.file != "":
		f, info, err := file.Open(c.file, file.Follow)
		if err != nil {
			return o, usage.Fail(usage.ExitConfig, "--db-file: %v", err)
		}
		_ = f.Close() // only read
		if info.Mode().Perm()&0o077 != 0 {
			return o, usage.Fail(usage.ExitConfig, "--db-file: %s may be read by others (mode %04o): chmod 600 %[1]s", c.file, info.Mode().Perm())
		}
		data, _, err := file.Read(c.file, file.Follow, maxURL)
		if err != nil {
			return o, usage.Fail(usage.ExitConfig, "--db-file: %v", err)
		}
		o.URL = strings.TrimSpace(string(data))
	case c.url != "":
		o.URL = c.url
	default:
		o.URL = os.Getenv(envURL)
	}
	if !strings.HasPrefix(o.URL, "postgres://") && !strings.HasPrefix(o.URL, "postgresql://") {
		return o, usage.Fail(usage.ExitUsage, "which database? --db postgres://user@host/name, or --db-file FILE with that in it")
	}
	for _, word := range c.dangers() {
		switch word {
		case "async":
			o.Tolerate.Async = true
		case "no-fsync":
			o.Tolerate.NoFsync = true
		case "plain":
			o.Tolerate.Plain = true
		case cmdbackend.DemoCredentials: // of who serves
		default:
			return o, usage.Fail(usage.ExitUsage, "--tolerate: no danger %q: async, no-fsync, plain or "+cmdbackend.DemoCredentials, word)
		}
	}
	return o, nil
}

// engine opens the backend's books in the database.
func (c *call) engine() backend.Engine {
	return backend.Engine{
		Shared: true,
		Held: func(dir string) (pid int, held bool, err error) {
			held, err = postgres.Held(memoryFile(dir))
			return 0, held, err
		},
		Open: func(ctx context.Context, opt backend.StoreOptions) (store.Store, error) {
			o, err := c.options(opt)
			if err != nil {
				return nil, err
			}
			o.Memory = memoryFile(opt.Dir)
			s, err := postgres.Open(ctx, o)
			if err != nil {
				return nil, err
			}
			return s, nil
		},
		Read: func(ctx context.Context, _ string) (store.Store, error) {
			o, err := c.options(backend.StoreOptions{Steps: backend.Schema()})
			if err != nil {
				return nil, err
			}
			s, err := postgres.OpenReader(ctx, o)
			var coded *usage.Exit
			if errors.As(ended(err), &coded) && coded.Code != usage.ExitFailed {
				return nil, coded
			}
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	}
}

// alone opens the books of the database for what copies all of them.
func (c *call) alone(ctx context.Context, opt backend.StoreOptions) (o opened, err error) {
	to, err := c.options(opt)
	if err != nil {
		return o, err
	}
	to.Alone, to.StatementWithin = true, time.Hour // one statement reads a whole table
	if err := c.goesOn(ctx, to); err != nil {
		return o, err
	}
	db, err := postgres.Open(ctx, to)
	if err != nil {
		return o, err
	}
	return opened{move.Books{DB: db, Name: db.Health(ctx).Path, Catalog: postgres.Catalog, Copied: postgres.Copied}, db.Close}, nil
}

// ended gives an error of the store its exit code and its remedy.
func ended(err error) error {
	var coded *usage.Exit
	var locked *store.LockedError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &coded):
		return err
	case errors.Is(err, move.ErrMoved), errors.Is(err, move.ErrIncomplete):
		return usage.Fail(usage.ExitRefused, "%v ("+name+" migrate goes on with it, or gives it up)", err)
	case errors.As(err, &locked):
		return usage.Fail(usage.ExitRefused, "%v (another process runs on this directory: give each its own --state DIR, with the same backend.key)", err)
	case errors.Is(err, store.ErrLocked):
		return usage.Fail(usage.ExitRefused, "%v", err)
	case errors.Is(err, postgres.ErrBackwards):
		return usage.Fail(usage.ExitRefused, "%v (nothing was read or written; look which server is the right one; "+name+" database forget --reason TEXT takes the one that is there)", err)
	case errors.Is(err, postgres.ErrPooler):
		return usage.Fail(usage.ExitRefused, "%v", err)
	case errors.Is(err, postgres.ErrUnsafe):
		return usage.Fail(usage.ExitRefused, "%v (--tolerate takes the danger)", err)
	case errors.Is(err, postgres.ErrRights):
		return usage.Fail(usage.ExitAuth, "%v ("+name+" database upgrade, as the owner of the tables, brings them up to date and prints what to grant)", err)
	case errors.Is(err, postgres.ErrURL):
		return usage.Fail(usage.ExitUsage, "%v (postgres://user@host/name, several hosts with commas)", err)
	case errors.Is(err, store.ErrNewer):
		return usage.Fail(usage.ExitRefused, "%v (a newer program has brought the database up to date: install that one)", err)
	case errors.Is(err, store.ErrReadOnly):
		return usage.Fail(usage.ExitRefused, "%v", err)
	case errors.Is(err, backend.ErrKey):
		return usage.Fail(usage.ExitDamaged, "%v (backend.key in --state is not the one of this database: copy the one that the first process made)", err)
	case errors.Is(err, store.ErrFull):
		return usage.Fail(usage.ExitFailed, "%v (free some space on the server)", err)
	case errors.Is(err, store.ErrIO):
		return usage.Fail(usage.ExitNoBackend, "%v", err)
	case errors.Is(err, os.ErrPermission):
		return usage.Fail(usage.ExitFailed, "%v (run as the owner of the directory)", err)
	}
	return usage.Fail(usage.ExitFailed, "%w", err)
}

const (
	databaseSchema = "posagent.backend-database/1"
	grantsSchema   = "posagent.backend-grants/1"
)

func databaseVerbs() usage.Command[*call] {
	return usage.Command[*call]{
		Verb: usage.Verb{
			Name: "database", Args: "[upgrade | forget]", Short: "the server, and the one that this directory remembers; upgrade makes its tables, forget takes another one",
			Long: "upgrade makes the tables, or brings them up to date, as the account that owns them, and prints what an account that only serves needs.\n" +
				"A server that lacks what an earlier one has confirmed is refused: it was restored from a copy, or was given up. Where it is the right one\n" +
				"all the same, what lies between is lost: forget, with the reason, and compare each terminal with posagent reconcile.",
			JSON:     []string{databaseSchema, grantsSchema},
			Examples: []string{name + " database --db URL", name + " database upgrade --db OWNER-URL > grants.sql", name + " database forget --reason 'restored to 14:30 after the fire' --state DIR"},
		},
		Options: func(c *call, fs *flag.FlagSet) {
			fs.StringVar(&c.reason, "reason", "", "forget: `why`, for the log")
		},
		Run: runDatabase,
	}
}

// databaseView is what the verb prints (posagent.backend-database/1).
type databaseView struct {
	Schema     string            `json:"schema"`
	Remembered *postgres.Primary `json:"remembered"` // null = none
	Server     *postgres.Primary `json:"server"`     // null = it was not reached
	Problem    string            `json:"problem,omitempty"`
}

func runDatabase(ctx context.Context, c *call) error {
	memory := memoryFile(c.dir())
	switch {
	case slices.Equal(c.Args, []string{"forget"}):
		if c.reason == "" {
			return usage.Fail(usage.ExitUsage, "database forget: --reason TEXT: why is the server taken that lacks something?")
		}
		switch err := postgres.Forget(memory); {
		case errors.Is(err, fs.ErrNotExist):
			return usage.Fail(usage.ExitFailed, "nothing is remembered in %s (--state names the directory)", c.dir())
		case err != nil:
			return ended(err)
		}
		c.Log.Warn("the server was forgotten", "reason", c.reason)
		return c.Print(databaseView{Schema: databaseSchema}, "forgotten: the next start takes the server that is there")
	case slices.Equal(c.Args, []string{"upgrade"}):
		return upgrade(ctx, c)
	case len(c.Args) > 0:
		return usage.Fail(usage.ExitUsage, "database: want nothing, upgrade or forget, not %q", strings.Join(c.Args, " "))
	}
	v := databaseView{Schema: databaseSchema}
	var err error
	if v.Remembered, err = remembered(c.dir()); err != nil {
		return err
	}
	o, err := c.options(backend.StoreOptions{})
	if err != nil {
		return err
	}
	at, err := postgres.Look(ctx, o, v.Remembered)
	if at.System != "" {
		v.Server = &at
	}
	if err != nil {
		v.Problem = err.Error()
	}
	text := "remembered  " + described(v.Remembered) + "\nserver      " + described(v.Server)
	return errors.Join(c.Print(v, text), ended(err))
}

// remembered returns the server that a directory remembers, nil = none.
func remembered(dir string) (*postgres.Primary, error) {
	last, err := postgres.Remembered(memoryFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, ended(err)
	}
	return &last, nil
}

// goesOn refuses a server that a process on the directory would refuse.
func (c *call) goesOn(ctx context.Context, o postgres.Options) error {
	last, err := remembered(c.dir())
	if err == nil {
		_, err = postgres.Look(ctx, o, last)
	}
	return ended(err)
}

// grants are what an account needs that serves, and no more. SERVES is its name, SCHEMA that of the tables.
const grants = `GRANT USAGE ON SCHEMA SCHEMA TO SERVES;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO SERVES;
REVOKE INSERT, UPDATE, DELETE ON SCHEMA.store_steps, SCHEMA.store_server FROM SERVES;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA SCHEMA TO SERVES;
GRANT EXECUTE ON FUNCTION SCHEMA.store_numbers_by TO SERVES;`

// upgrade makes the tables, or brings them up to date, with the key of this directory.
func upgrade(ctx context.Context, c *call) error {
	keys, err := backend.OpenKey(c.dir())
	if err != nil {
		return ended(err)
	}
	o, err := c.options(backend.StoreOptions{Steps: backend.Schema(), Wrapper: keys, Log: c.Log})
	if err != nil {
		return err
	}
	if err := c.goesOn(ctx, o); err != nil {
		return err
	}
	s, err := postgres.Open(ctx, o)
	if err != nil {
		return ended(err)
	}
	schema, steps := s.Place()
	if err := s.Close(); err != nil {
		return ended(err)
	}
	fmt.Fprintf(c.Err, "schema %s is up to date, with %d steps in all; the account that serves needs:\n", schema, steps)
	text := strings.ReplaceAll(grants, "SCHEMA SCHEMA", `SCHEMA "`+schema+`"`)
	text = strings.ReplaceAll(text, "SCHEMA.store", `"`+schema+`".store`)
	return c.Print(struct {
		Schema string `json:"schema"`
		Steps  int    `json:"steps"`
		Grants string `json:"grants"`
	}{grantsSchema, steps, text}, text)
}

func described(p *postgres.Primary) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%s, timeline %d, at %s", p.System, p.Timeline, p.Position)
}
