package main

import (
	"errors"
	"strings"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// findSale finds a sale by its id, by its reference, or by the beginning or the end of either.
func findSale(r store.Reader, name string) (string, error) {
	rows, err := journal.Sales(r, 10000)
	if err != nil {
		return "", err
	}
	var found []string
	for _, row := range rows {
		id := string(row.Key)
		if name == id || name == row.Reference {
			return id, nil
		}
		for _, s := range []string{id, row.Reference} {
			if len(name) >= 4 && (strings.HasPrefix(s, name) || strings.HasSuffix(s, name)) {
				found = append(found, id)
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return "", journal.ErrUnknown
	case 1:
		return found[0], nil
	}
	return "", fail(exitUsage, "%q is the beginning or the end of %d sales: give more of it", name, len(found))
}

// lookedThrough is how many operations are looked at for a part of a key.
const lookedThrough = 10_000

// findOp finds an operation by its key, its local id, or the beginning or the end of its key.
func findOp(r store.Reader, name string) (wire.Key, error) {
	key, err := view.FindOperation(r, offline.Find, wire.Caller{}, name)
	if !errors.Is(err, outbox.ErrUnknown) || len(name) < 4 {
		return key, err
	}
	list, err := outbox.LookAll(r, outbox.Filter{Limit: lookedThrough})
	if err != nil {
		return "", err
	}
	n := 0
	for _, op := range list {
		if k := string(op.Key); strings.HasPrefix(k, name) || strings.HasSuffix(k, name) {
			key, n = op.Key, n+1
		}
	}
	switch n {
	case 0:
		return "", outbox.ErrUnknown
	case 1:
		return key, nil
	}
	return "", fail(exitUsage, "%q is the beginning or the end of %d operations: give more of it", name, n)
}
