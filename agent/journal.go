package agent

import (
	"context"

	"posagent/agent/audit"
	"posagent/store"
)

// Open opens the journal with the terminal's schema and its audit log. Path, Wrapper and Log of o are the caller's. It answers
// what store.Open answers.
func Open(ctx context.Context, o store.Options) (*store.Store, error) {
	var db *store.Store
	chain := audit.Chain{MAC: func(table, key string, fields ...any) []byte { return db.MAC(table, key, fields...) }}
	o.Steps, o.AtCommit = Schema(), chain.AtCommit
	opened, err := store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	db = opened // before the first Write, and no commit of the store's own calls it
	return db, nil
}
