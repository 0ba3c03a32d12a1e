package roomtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// Open opens the store at path with the tables of steps and of the shared rooms; the caller closes
// it. It does not wait for the disk. Where the tests run on a server, a schema takes the place of the file.
func Open(tb testing.TB, path string, steps []store.Step) store.Store {
	tb.Helper()
	url, err := pgtest.Instead(path)
	require.NoError(tb, err)
	if url != "" {
		db, err := postgres.Open(context.Background(), postgres.Options{
			Tolerate: postgres.Tolerated{NoFsync: true}, URL: url, Wrapper: storetest.Wrapper{}, Conns: 8, Steps: slices.Concat(journal.Schema(), form.Schema(), room.Schema(), steps),
		})
		require.NoError(tb, err)
		return db
	}
	db, err := sqlite.Open(context.Background(), sqlite.Options{
		Path: path, Wrapper: storetest.Wrapper{}, Synchronous: "OFF", Ballast: -1,
		Steps: slices.Concat(journal.Schema(), form.Schema(), room.Schema(), steps),
	})
	require.NoError(tb, err)
	return db
}

// Site is what a room stands on.
type Site struct {
	DB    store.Store
	Mail  Mail
	tb    testing.TB
	path  string
	steps []store.Step
	setup func()
	ms    atomic.Int64
}

// New makes a Site whose clock stands at a moment, with the tables of steps and of the shared rooms.
// Its store is closed at the test's end.
func New(tb testing.TB, at time.Time, steps []store.Step) *Site {
	tb.Helper()
	s := &Site{tb: tb, path: filepath.Join(tb.TempDir(), "backend.db"), steps: steps, Mail: Mail{Hooks: hooks{}}}
	s.Set(at)
	s.DB = Open(tb, s.path, steps)
	tb.Cleanup(func() { require.NoError(tb, s.DB.Close()) })
	return s
}

// Setup makes the room, now and after each Restart.
func (s *Site) Setup(room func()) {
	s.tb.Helper()
	s.setup = room
	room()
}

// Restart closes the store, opens it again and makes the room anew.
func (s *Site) Restart() {
	s.tb.Helper()
	require.NoError(s.tb, s.DB.Close())
	s.DB = Open(s.tb, s.path, s.steps)
	s.setup()
}

// Options are those of a room on this site.
func (s *Site) Options(publicURL, merchant string) room.Options {
	return room.Options{DB: s.DB, PublicURL: publicURL, Merchant: merchant, Now: s.Now}
}

// Now is the site's time.
func (s *Site) Now() time.Time { return time.UnixMilli(s.ms.Load()) }

// Set sets the clock.
func (s *Site) Set(at time.Time) { s.ms.Store(at.UnixMilli()) }

// Pass lets time pass on the clock.
func (s *Site) Pass(d time.Duration) { s.ms.Add(d.Milliseconds()) }

// Text is all that the store has on the disk.
func (s *Site) Text() string {
	s.tb.Helper()
	url, err := pgtest.Instead(s.path)
	require.NoError(s.tb, err)
	if url != "" {
		text, err := pgtest.Text(url)
		require.NoError(s.tb, err)
		require.NotEmpty(s.tb, text)
		return text
	}
	files, err := filepath.Glob(s.path + "*")
	require.NoError(s.tb, err)
	require.NotEmpty(s.tb, files)
	var all strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(s.tb, err)
		all.Write(data)
	}
	return all.String()
}

// Start runs a room; stop ends it and looks at how it ended.
func Start(tb testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	return func() {
		tb.Helper()
		cancel()
		require.ErrorIs(tb, <-done, context.Canceled)
	}
}

// PAN is the number of a test card of the scenario table.
func PAN(tb testing.TB, name string) string {
	tb.Helper()
	list := scenario.Cards()
	i := slices.IndexFunc(list, func(c scenario.Card) bool { return c.Name == name })
	require.GreaterOrEqual(tb, i, 0, name)
	return list[i].PAN
}
