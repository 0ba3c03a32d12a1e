package pgserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Exec runs statements as the account that the URL names; "" = the server's owner. Its error is the
// server's.
func (s *Server) Exec(url, text string) error {
	if url == "" {
		url = s.URL("")
	}
	return Exec(url, text)
}

// Exec runs statements as the account that the URL names. Its error is the server's.
func Exec(url, text string) error {
	return ask(url, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(text), err)
		}
		return nil
	})
}

// Column returns the one column that a query reads.
func Column[T any](url, query string, args ...any) (list []T, err error) {
	err = ask(url, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowTo[T])
		return err
	})
	return list, err
}

// Set changes a setting of a running server; "" is what it was.
func (s *Server) Set(name, value string) error {
	text := "ALTER SYSTEM SET " + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'"
	if value == "" {
		text = "ALTER SYSTEM RESET " + name
	}
	return errors.Join(s.Exec("", text), s.Exec("", "SELECT pg_reload_conf()"))
}

// ask connects for one question.
func ask(url string, question func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, conn), conn.Close(ctx))
}
