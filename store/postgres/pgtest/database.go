package pgtest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgserver"
)

// EnvRun names the server that a run of tests shares: a URL, as Server.URL("") has it. cross/postgres sets it.
const EnvRun = "RUN_POSTGRES"

// Database is a database of a test's own, whose errors fail the test. It is gone after the test.
type Database struct {
	tb          testing.TB
	url, socket string
	places      atomic.Int64
}

// Open makes a database on the run's server, or on a server of its own where the run has none. Whatever holds for all databases of a
// server (accounts, settings, what it says of its sessions) is for tests with Start.
func Open(tb testing.TB) *Database {
	tb.Helper()
	Need(tb)
	run := os.Getenv(EnvRun)
	if run == "" {
		return &Start(tb).Database
	}
	at, err := url.Parse(run)
	require.NoError(tb, err)
	name := fmt.Sprintf("test%x", rand.Uint64())
	require.NoError(tb, pgserver.Exec(run, "CREATE DATABASE "+name))
	tb.Cleanup(func() { require.NoError(tb, pgserver.Exec(run, "DROP DATABASE "+name+" WITH (FORCE)")) })
	return &Database{tb: tb, url: In(run, name), socket: filepath.Join(at.Query().Get("host"), ".s.PGSQL.5432")}
}

// URL leads to a schema; "" = the default one.
func (d *Database) URL(schema string) string {
	if schema == "" {
		return d.url
	}
	return d.url + "&search_path=" + schema
}

// Socket is where the server listens.
func (d *Database) Socket() string { return d.socket }

// Place makes a schema of a test's own, and returns its URL.
func (d *Database) Place() string {
	d.tb.Helper()
	name := fmt.Sprint("place", d.places.Add(1))
	d.Exec("", "CREATE SCHEMA "+name)
	return d.URL(name)
}

// Exec runs statements as the account that the URL names; "" = the server's owner.
func (d *Database) Exec(url, text string) {
	d.tb.Helper()
	require.NoError(d.tb, d.Try(url, text))
}

// Try runs statements as Exec does, and returns what the server says.
func (d *Database) Try(url, text string) error {
	if url == "" {
		url = d.url
	}
	return pgserver.Exec(url, text)
}

// Count is the number that a query reads.
func (d *Database) Count(query string) int {
	d.tb.Helper()
	n, err := pgserver.Column[int](d.url, query)
	require.NoError(d.tb, err)
	require.Len(d.tb, n, 1)
	return n[0]
}
