package ownership

import (
	"fmt"

	"posagent/store"
)

// aboutOf are the kinds of things of the services. Two services have tokens; an older program claimed them, and the transactions of links.
var aboutOf = map[string][]string{
	"hosted":   {order, session, operation, contract},
	"schemes":  {reference, transaction},
	"payments": {"payment", tokenValue, application},
	"tokens":   {"token", tokenValue},
	"paylinks": {"link", "transaction"},
}

const tokenValue = "token value"

// Leave notes, in the caller's commit, that what clients own of a service is of a place that the service has left: an id is another
// thing's where it stands now.
func Leave(tx store.Tx, service, place string) error { return setAccount(tx, service, "", place) }

// Return notes that a service stands at a place: what clients own there is theirs again.
func Return(tx store.Tx, service, place string) error { return setAccount(tx, service, place, "") }

func setAccount(tx store.Tx, service, was, is string) error {
	for _, about := range aboutOf[service] {
		for _, query := range []string{
			`UPDATE owned_ids SET account = ? WHERE about = ? AND account = ?`,
			`UPDATE owned_things SET account = ? WHERE about = ? AND account = ?`,
			`UPDATE owned_named SET account = ? WHERE about = ? AND account = ?`,
		} {
			if _, err := tx.Exec(query, is, about, was); err != nil {
				return fmt.Errorf("ids of %s: %w", service, err)
			}
		}
	}
	return nil
}
