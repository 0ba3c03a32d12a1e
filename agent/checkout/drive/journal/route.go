package journal

import (
	"fmt"
	"time"

	"posagent/store"
)

// routesSchema: a row says that the idempotent route of the schemes has worked at an address. It is
// never removed: a route that has worked is not missing, whatever is answered in its place.
func routesSchema() store.Step {
	return store.Step{Name: "checkout/5 routes", Open: true, SQL: `
CREATE TABLE checkout_routes (address TEXT PRIMARY KEY, worked_ms INTEGER NOT NULL) STRICT;`}
}

// RouteWorked returns whether the idempotent route has ever worked at an address.
func RouteWorked(r store.Reader, address string) (worked bool, err error) {
	if err := r.QueryRow(`SELECT EXISTS (SELECT 1 FROM checkout_routes WHERE address = ?)`, address).Scan(&worked); err != nil {
		return false, fmt.Errorf("read route: %w", err)
	}
	return worked, nil
}

// NoteRoute notes in the caller's commit that the idempotent route has worked at an address.
func NoteRoute(tx store.Tx, address string, now time.Time) error {
	if _, err := tx.Exec(`INSERT INTO checkout_routes (address, worked_ms) VALUES (?, ?) ON CONFLICT (address) DO NOTHING`, address, now.UnixMilli()); err != nil {
		return fmt.Errorf("note route: %w", err)
	}
	return nil
}
