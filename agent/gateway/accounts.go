package gateway

import (
	"fmt"
	"slices"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// A backend's id names a thing at one account. Where the service stands at other books now, the same id is another thing's there: what
// was made at the books before is found by its local id alone, and refused (MONEY, laws III and IV).

// aboutOf are the kinds of things of the services.
var aboutOf = map[string]string{Payments: "payment", Tokens: "token", Paylinks: linkThing}

// Leave notes, in the caller's commit, that what a service has named so far was named at a place that the service has left.
func Leave(tx store.Tx, service, place string) error {
	if aboutOf[service] != "" {
		last, err := outbox.Highest(tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO offline_left (service, upto, account) VALUES (?, ?, '') ON CONFLICT DO NOTHING`, service, last); err != nil {
			return fmt.Errorf("operations of %s: %w", service, err)
		}
	}
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
	if err == nil {
		_, err = tx.Exec(`UPDATE offline_left SET account = ? WHERE service = ? AND account = ?`, is, service, was)
	}
	if err != nil {
		return fmt.Errorf("ids of %s: %w", service, err)
	}
	return nil
}

// here leaves of operations of a service those that were asked of the books where it stands now. What has a local id is of one account;
// the number of a transaction is that of others at other books.
func here(r store.Reader, service string, ops []outbox.Op) ([]outbox.Op, error) {
	places, err := askedAt(r, service, ops)
	var list []outbox.Op
	for i, place := range places {
		if place == "" {
			list = append(list, ops[i])
		}
	}
	return list, err
}

// askedAt says of each operation of a service at which other books it was asked for, "" = at those where the service stands now.
func askedAt(r store.Reader, service string, ops []outbox.Op) ([]string, error) {
	type left struct {
		upto    int64
		account string
	}
	var list []left
	err := store.Each(r, func(row store.Row) error {
		var l left
		err := row.Scan(&l.upto, &l.account)
		list = append(list, l)
		return err
	}, `SELECT upto, account FROM offline_left WHERE service = ? ORDER BY upto`, service)
	if err != nil {
		return nil, fmt.Errorf("operations of %s: %w", service, err)
	}
	places := make([]string, len(ops))
	for n, op := range ops {
		if i := slices.IndexFunc(list, func(l left) bool { return op.ID <= l.upto }); i >= 0 {
			places[n] = list[i].account
		}
	}
	return places, nil
}

// notThere refuses to send what was asked for at other books, and never sent there: a number that it names is another's here.
func (w *write) notThere(r store.Reader, op outbox.Op) error {
	if w.row.Makes {
		return nil
	}
	places, err := askedAt(r, w.row.Service, []outbox.Op{op})
	if err != nil || places[0] == "" {
		return err
	}
	return wire.Errorf(wire.Conflict, w.row.Kind, "this Idempotency-Key asked it of %s, before the provider changed, and nothing was sent: take a new one to ask it of what is called %s now",
		places[0], wire.MaskPANs(w.id))
}

// elsewhere refuses a call about a thing of other books.
func (t thing) elsewhere(op string) error {
	if t.account == "" {
		return nil
	}
	return wire.Errorf(wire.Conflict, op, "it was made at %s, before the provider changed: ask there; nothing was sent", t.account)
}
