package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"posagent/store"
)

// settings is everything that decides how a connection to the file behaves.
type settings struct {
	path        string
	vfs         string
	synchronous string // FULL, except in tests
	readOnly    bool
}

// dsn spells the settings for the driver. journal_mode must be a shorthand key: the driver sorts
// _pragma values alphabetically, and journal_mode run before page_size fixes the page size at its
// default without a word.
func (s settings) dsn() string {
	var b strings.Builder
	b.WriteString("file:")
	b.WriteString(strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(s.path))
	b.WriteString("?_txlock=immediate&_pragma=page_size(1024)&_pragma=wal_autocheckpoint(0)&_pragma=foreign_keys(1)" +
		"&_pragma=cache_size(-512)&_pragma=cache_spill(4095)&_pragma=trusted_schema(0)&_pragma=secure_delete(1)")
	if s.readOnly {
		b.WriteString("&mode=ro")
	} else {
		b.WriteString("&_journal_mode=WAL")
	}
	b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")
	if s.vfs != "" {
		b.WriteString("&vfs=" + s.vfs)
	}
	return b.String()
}

// pragma is one setting that is read back from every connection.
type pragma struct {
	name string
	want string
}

func (s settings) pragmas() []pragma {
	level := map[string]string{"OFF": "0", "NORMAL": "1", "FULL": "2", "EXTRA": "3"}[s.synchronous]
	return []pragma{
		{"page_size", "1024"},
		{"journal_mode", "wal"},
		{"synchronous", level},
		{"foreign_keys", "1"},
		{"trusted_schema", "0"},
		{"busy_timeout", "5000"},
		{"wal_autocheckpoint", "0"},
		{"cache_size", "-512"},
		{"cache_spill", "4095"},
		{"secure_delete", "1"},
	}
}

// connector opens connections and refuses one whose settings did not take: a misspelt key is
// silently ignored by the driver, so nothing but reading back tells.
type connector struct {
	driver.Connector
	want []pragma
}

var _ driver.Connector = (*connector)(nil)

func newConnector(dsn string, want []pragma) (*connector, error) {
	base, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	return &connector{Connector: base, want: want}, nil
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range c.want {
		got, err := readPragma(ctx, conn, p.name)
		if err == nil && got != p.want {
			err = fmt.Errorf("pragma %s is %q, want %q", p.name, got, p.want)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

func readPragma(ctx context.Context, conn driver.Conn, name string) (string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return "", fmt.Errorf("pragma %s: %w", name, err)
	}
	defer rows.Close()
	// Some pragmas return no row at all when they are unknown.
	dest := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(dest); errors.Is(err, io.EOF) || err == nil && len(dest) == 0 {
		return "", fmt.Errorf("pragma %s: no value", name)
	} else if err != nil {
		return "", fmt.Errorf("pragma %s: %w", name, err)
	}
	return strings.ToLower(fmt.Sprint(dest[0])), nil
}

// link is one connection with its prepared statements. It belongs to one goroutine at a time.
type link struct {
	db         *sql.DB
	conn       *sql.Conn
	stmts      map[string]*prepared
	rolledBack bool // SQLite has rolled back a transaction since begin
}

// effect is what a statement may do to rows.
type effect byte

const (
	anything effect = iota // also where that is not known
	counted                // inserts, updates or deletes: RowsAffected tells how many
	nothing                // only reads
)

// effectOf judges one statement by its first word; two in one text may do anything.
func effectOf(query string) effect {
	query = strings.TrimSpace(query)
	if i := strings.IndexByte(query, ';'); i >= 0 && i < len(query)-1 {
		return anything
	}
	word, _, _ := strings.Cut(query, " ")
	word, _, _ = strings.Cut(word, "\n")
	switch strings.ToUpper(word) {
	case "SELECT":
		return nothing
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		return counted
	}
	return anything
}

// prepared is a cached statement. A statement whose rows are still open must not be run again.
type prepared struct {
	*sql.Stmt
	rows *sql.Rows
	own  bool // the store's own; closures may not run it
	does effect
}

func (p *prepared) busy() bool {
	if p.rows == nil {
		return false
	}
	if _, err := p.rows.Columns(); err == nil {
		return true
	}
	p.rows = nil
	return false
}

const maxPrepared = 256

func openLink(ctx context.Context, set settings) (*link, error) {
	c, err := newConnector(set.dsn(), set.pragmas())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(classify(err), db.Close())
	}
	l := &link{db: db, conn: conn, stmts: make(map[string]*prepared)}
	if err := plainSchema(ctx, conn); err != nil {
		return nil, errors.Join(err, l.close())
	}
	err = conn.Raw(func(dc any) error {
		dc.(sqlite.HookRegisterer).RegisterRollbackHook(func() { l.rolledBack = true })
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// plainSchema refuses a file whose schema no step has made: one with a view, a virtual table or a column that is computed. Whoever
// may write to the file can have put them in the place of a table, and a query of it would run what they say: for ever, say, for
// root, who looks. It reads nothing but the schema. ErrDamaged.
func plainSchema(ctx context.Context, conn *sql.Conn) error {
	var kind, name string
	err := conn.QueryRowContext(ctx, `SELECT type, name FROM sqlite_schema WHERE type = 'view' OR rootpage = 0 AND type = 'table'
		UNION ALL SELECT 'computed column', s.name || '.' || c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type = 'table' AND s.rootpage != 0 AND c.hidden > 1 LIMIT 1`).Scan(&kind, &name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return classify(err)
	}
	return fmt.Errorf("%w: no step has made its %s %q", store.ErrDamaged, kind, name)
}

func (l *link) close() error {
	var errs []error
	for _, p := range l.stmts {
		errs = append(errs, p.Close())
	}
	l.stmts = nil
	return errors.Join(append(errs, l.conn.Close(), l.db.Close())...)
}

// discard closes a connection that must not be used again.
func discard(l *link) *link {
	_ = l.close()
	return nil
}

// prepare returns the cached statement of query, or nil when it must run unprepared.
func (l *link) prepare(query string) (*prepared, error) {
	if p, ok := l.stmts[query]; ok {
		if p.busy() {
			return nil, nil
		}
		return p, nil
	}
	if len(l.stmts) >= maxPrepared {
		return nil, nil
	}
	st, err := l.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	p := &prepared{Stmt: st, does: effectOf(query)}
	l.stmts[query] = p
	return p, nil
}

// exec runs one of the store's own statements.
func (l *link) exec(query string, args ...any) error {
	p, err := l.prepare(query)
	if err != nil {
		return err
	}
	if p == nil {
		_, err = l.conn.ExecContext(context.Background(), query, args...)
		return err
	}
	p.own = true
	_, err = p.ExecContext(context.Background(), args...)
	return err
}

func (l *link) begin(query string) error {
	l.rolledBack = false
	return l.exec(query)
}

// endRead ends the read transaction of a connection that may have none.
func (l *link) endRead() error {
	if l.rolledBack {
		return nil
	}
	_, err := l.conn.ExecContext(context.Background(), "ROLLBACK")
	if code(err) == sqlite3.SQLITE_ERROR { // none was begun
		return nil
	}
	return err
}

// checkpoint runs one checkpoint and returns the frames in the log, those folded back, and whether
// it was kept from finishing.
func (l *link) checkpoint(mode string) (frames, folded int64, busy bool, err error) {
	err = l.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &folded)
	return frames, folded, busy, err
}

func checkFile(ctx context.Context, conn *sql.Conn, kind string) error {
	var found string
	if err := conn.QueryRowContext(ctx, "PRAGMA "+kind+"(1)").Scan(&found); err != nil {
		return classify(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", store.ErrDamaged, strings.ReplaceAll(found, "\n", " "))
	}
	var table string
	var row, parent, id any
	err := conn.QueryRowContext(ctx, "PRAGMA foreign_key_check").Scan(&table, &row, &parent, &id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return classify(err)
	}
	return fmt.Errorf("%w: table %s row %v has no parent", store.ErrDamaged, table, row)
}
