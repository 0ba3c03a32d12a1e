package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"posagent/device/file"
	"posagent/store"
)

type plainWrapper struct{}

func (plainWrapper) Wrap(b []byte) ([]byte, error)   { return append([]byte("w"), b...), nil }
func (plainWrapper) Unwrap(b []byte) ([]byte, error) { return b[1:], nil }

func openPlain(t *testing.T, opt Options) *Store {
	t.Helper()
	if opt.Path == "" {
		opt.Path = filepath.Join(t.TempDir(), "a.db")
	}
	opt.Wrapper = plainWrapper{}
	s, err := Open(t.Context(), opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestDSNIsTheMeasuredOne(t *testing.T) {
	got := settings{path: "/var/lib/a?b#c%d.db", synchronous: "FULL"}.dsn()
	require.Equal(t, "file:/var/lib/a%3fb%23c%25d.db?_txlock=immediate&_pragma=page_size(1024)&_pragma=wal_autocheckpoint(0)"+
		"&_pragma=foreign_keys(1)&_pragma=cache_size(-512)&_pragma=cache_spill(4095)&_pragma=trusted_schema(0)&_pragma=secure_delete(1)"+
		"&_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000", got)
}

// The three kinds of connection of a running store, asked themselves.
func TestPragmasOnEveryConnection(t *testing.T) {
	s := openPlain(t, Options{Readers: 2})
	var readers []*sql.Conn
	require.NoError(t, s.Read(t.Context(), func(r1 store.Reader) error {
		return s.Read(t.Context(), func(r2 store.Reader) error {
			readers = append(readers, r1.(*scope).l.conn, r2.(*scope).l.conn)
			return nil
		})
	}))
	conns := map[string]*sql.Conn{"writer": s.w.conn, "checkpointer": s.ckpt.conn, "reader 1": readers[0], "reader 2": readers[1]}
	want := map[string]string{
		"page_size": "1024", "journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "trusted_schema": "0",
		"busy_timeout": "5000", "wal_autocheckpoint": "0", "cache_size": "-512", "cache_spill": "4095", "secure_delete": "1", "mmap_size": "0",
	}
	for who, conn := range conns {
		for name, value := range want {
			var got string
			require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got))
			require.Equal(t, value, got, "%s: %s", who, name)
		}
	}
	_, err := readers[0].ExecContext(t.Context(), "CREATE TABLE no (a)")
	require.Error(t, err, "readers cannot write")
}

func TestConnectionWithOtherPragmasIsRefused(t *testing.T) {
	good := settings{path: filepath.Join(t.TempDir(), "%s.db"), synchronous: "FULL"}
	for name, change := range map[string]func(string) string{
		"misspelt journal_mode": func(d string) string { return strings.Replace(d, "_journal_mode=", "_jurnal_mode=", 1) },
		"misspelt busy_timeout": func(d string) string { return strings.Replace(d, "_busy_timeout=", "_busytimeout=", 1) },
		"misspelt pragma key":   func(d string) string { return strings.Replace(d, "_pragma=foreign", "_pragmas=foreign", 1) },
		"misspelt pragma":       func(d string) string { return strings.Replace(d, "trusted_schema(0)", "trust_schema(0)", 1) },
		"synchronous normal":    func(d string) string { return strings.Replace(d, "_synchronous=FULL", "_synchronous=NORMAL", 1) },
		"file prefix lost":      func(d string) string { return strings.Replace(d, "?", "?_journal_mode=DELETE&", 1) },
		// The driver runs _pragma values in alphabetical order: the page size comes too late.
		"alphabet": func(d string) string { return strings.Replace(d, "_journal_mode=WAL", "_pragma=journal_mode(WAL)", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			dsn := change(strings.ReplaceAll(good.dsn(), "%25s", strings.ReplaceAll(name, " ", "-")))
			c, err := newConnector(dsn, good.pragmas())
			require.NoError(t, err)
			_, err = c.Connect(context.Background())
			require.ErrorContains(t, err, "pragma ")
		})
	}
}

// 3.51.3 mended a corruption by two connections that commit and checkpoint at the same time.
func TestSQLiteVersion(t *testing.T) {
	require.GreaterOrEqual(t, sqlite3.SQLITE_VERSION_NUMBER, 3051003)
}

func TestOtherPageSizeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_journal_mode=WAL")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE a (b)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = Open(t.Context(), Options{Path: path, Wrapper: plainWrapper{}})
	require.ErrorContains(t, err, `page_size is "4096"`)
}

func TestBallast(t *testing.T) {
	dir := t.TempDir()
	free := int64(1 << 30)
	b := &reserve{path: filepath.Join(dir, "b"), size: 64 << 10, free: func(string) (int64, error) { return free, nil }}
	require.NoError(t, b.ensure())
	require.True(t, b.held())
	require.Equal(t, b.size, fileSize(b.path))

	b.releaseIfLow()
	require.True(t, b.held(), "kept while there is space")
	free = lowWater - 1
	b.releaseIfLow()
	require.False(t, b.held())
	require.Zero(t, fileSize(b.path))
	require.ErrorIs(t, b.ensure(), store.ErrFull)
	free = b.size + lowWater
	require.ErrorIs(t, b.ensure(), store.ErrFull, "taking it back must not use up what it was given for")
	free = 2*b.size + lowWater
	require.NoError(t, b.ensure())

	other := &reserve{path: b.path, size: b.size, free: b.free}
	free = 0
	require.NoError(t, other.ensure(), "found again at the next start")
	require.EqualValues(t, lowWater-100, b.short(100, true), "the next write gives the reserve up")
	require.EqualValues(t, 2*b.size, b.short(lowWater, false))
	require.Zero(t, b.short(lowWater, true))
	require.Zero(t, b.short(2*b.size+lowWater, false))
	none := &reserve{path: b.path + "none", size: -1, free: b.free}
	require.Zero(t, none.short(0, false))
	require.NoError(t, none.ensure())
}

func TestReservedRefusesWithoutBallast(t *testing.T) {
	s := openPlain(t, Options{Ballast: 32 << 10, Steps: []store.Step{{Name: "t/1", SQL: "CREATE TABLE t (a INTEGER) STRICT"}}})
	require.NoError(t, s.Reserved(t.Context()))
	require.True(t, s.Health(t.Context()).Reserved)
	s.reserve.mu.Lock()
	s.reserve.free = func(string) (int64, error) { return 10, nil }
	s.reserve.mu.Unlock()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO t VALUES (1)")
		return err
	}), "what was begun is finished with the reserve's space")
	require.ErrorIs(t, s.Reserved(t.Context()), store.ErrFull)
	require.False(t, s.Health(t.Context()).Reserved)
	s.reserve.mu.Lock()
	s.reserve.free = file.Free
	s.reserve.mu.Unlock()
	require.NoError(t, s.Reserved(t.Context()), "space has returned")
}
