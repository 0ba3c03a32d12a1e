package journal

import (
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// traceStep is the table of the traces. A program that does not know it leaves it as it is.
func traceStep() store.Step {
	return store.Step{Name: "books/3 traces", Open: true, SQL: `
CREATE TABLE books_trace (
	service TEXT NOT NULL,
	txn TEXT NOT NULL,
	trace TEXT NOT NULL,
	PRIMARY KEY (service, txn)
) STRICT;`}
}

// Traced stores the trace of the request that makes a transaction. It does nothing for none, and where one is stored already.
func Traced(tx store.Tx, service, txn string, trace wire.Trace) error {
	if trace == "" {
		return nil
	}
	if _, err := tx.Exec(`INSERT INTO books_trace (service, txn, trace) VALUES (?, ?, ?) ON CONFLICT (service, txn) DO NOTHING`, service, txn, string(trace)); err != nil {
		return fmt.Errorf("store trace of %s %s: %w", service, txn, err)
	}
	return nil
}

// Traces returns the trace of each transaction of a service that has one.
func Traces(r store.Reader, service string) (map[string]wire.Trace, error) {
	all := map[string]wire.Trace{}
	err := store.Each(r, func(row store.Row) error {
		var txn, trace string
		err := row.Scan(&txn, &trace)
		all[txn] = wire.Trace(trace)
		return err
	}, `SELECT txn, trace FROM books_trace WHERE service = ?`, service)
	if err != nil {
		return nil, fmt.Errorf("read traces of %s: %w", service, err)
	}
	return all, nil
}
