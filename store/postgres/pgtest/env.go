package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"posagent/store/postgres/pgserver"
)

// Env names the server on which suites run that usually run on files: a URL, as Server.URL("") has it.
const Env = "POSAGENT_TEST_POSTGRES"

// EnvBooks names books with which suites begin that usually begin with none: a database of that server. Each suite has a copy of its own.
// EnvKey names the file of their key.
const (
	EnvBooks = "POSAGENT_TEST_BOOKS"
	EnvKey   = "POSAGENT_TEST_KEY"
)

// Instead returns the URL of the schema that takes the place of the file at path, and makes it where it is not there; "" = suites run on
// files.
func Instead(path string) (string, error) {
	url := os.Getenv(Env)
	if url == "" {
		return "", nil
	}
	sum := sha256.Sum256([]byte(path))
	name := "file" + hex.EncodeToString(sum[:8])
	if books := os.Getenv(EnvBooks); books != "" {
		return In(url, name), copied(url, books, name)
	}
	if _, err := pgserver.Column[string](url, "CREATE SCHEMA IF NOT EXISTS "+name); err != nil {
		return "", err
	}
	return url + "&search_path=" + name, nil
}

// In is the URL of another database of a server, whose URL Server.URL("") has made.
func In(url, database string) string { return strings.Replace(url, "/postgres?", "/"+database+"?", 1) }

// copied makes a copy of a database where it is not there.
func copied(url, books, name string) error {
	there, err := pgserver.Column[string](url, "SELECT datname::text FROM pg_database WHERE datname = $1", name)
	if err != nil || len(there) > 0 {
		return err
	}
	_, err = pgserver.Column[string](url, "CREATE DATABASE "+name+" TEMPLATE "+books)
	return err
}

// Text is all that a schema holds, as the server writes it: bytes are raw.
func Text(url string) (string, error) {
	tables, err := pgserver.Column[string](url, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace")
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var all []byte
	for _, table := range tables {
		rows, err := conn.Query(ctx, `SELECT * FROM "`+table+`"`)
		if err != nil {
			return "", err
		}
		for rows.Next() {
			for _, value := range rows.RawValues() {
				all = append(append(all, value...), '\n')
			}
		}
		if rows.Err() != nil {
			return "", rows.Err()
		}
	}
	return string(all), nil
}
