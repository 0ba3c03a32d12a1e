package offline

import (
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// A backend's id names a thing at one account. Where the service stands at other books now, the same id is another thing's there: what
// was made at the books before is found by its local id alone, and refused (MONEY, laws III and IV).

// aboutOf are the kinds of things of the services.
var aboutOf = map[string]string{Payments: "payment", Tokens: "token", Paylinks: linkThing}

// Leave notes, in the caller's commit, that what a service has named so far was named at a place that the service has left.
func Leave(tx store.Tx, service, place string) error {
	return setAccount(tx, service, "", place)
}

// Return notes that a service stands at a place: what was named there is known by its ids again.
func Return(tx store.Tx, service, place string) error {
	return setAccount(tx, service, place, "")
}

func setAccount(tx store.Tx, service, was, is string) error {
	about := aboutOf[service]
	_, err := tx.Exec(`UPDATE offline_things SET account = ? WHERE about = ? AND account = ? AND backend <> ''`, is, about, was)
	if err == nil {
		_, err = tx.Exec(`UPDATE offline_dependants SET account = ? WHERE parent >= ? AND parent < ? AND account = ?`, is, about+"/", about+"0", was)
	}
	if err != nil {
		return fmt.Errorf("ids of %s: %w", service, err)
	}
	return nil
}

// elsewhere refuses a call about a thing of other books.
func (t thing) elsewhere(op string) error {
	if t.account == "" {
		return nil
	}
	return wire.Errorf(wire.Conflict, op, "it was made at %s, before the provider changed: ask there; nothing was sent", t.account)
}
