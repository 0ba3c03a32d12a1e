package inbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/webhooks"
	"posagent/store"
)

// What an item may be about.
const (
	AboutPayment     = "payment"
	AboutApplication = "application"
	AboutSession     = "session" // of hosted build
)

// subject is the thing that a webhook is about.
func subject(e webhooks.Event) (about, id string) {
	switch d := e.Data.(type) {
	case *webhooks.Checkout:
		return AboutPayment, d.PaymentID
	case *webhooks.Reservation:
		return AboutPayment, d.PaymentID
	case *webhooks.Movement:
		return AboutPayment, d.PaymentID
	case *webhooks.Onboarding:
		return AboutApplication, strconv.FormatInt(d.OnboardingID, 10)
	}
	return "", ""
}

// thingOf is how the column names a thing.
func thingOf(about, id string) string {
	if about == "" || id == "" {
		return ""
	}
	return about + "/" + id // ids are compared as they are spelled
}

// How long an event waits for the answer to the call that made its thing: a sender's limit is ten seconds.
const (
	ownerWithin = 3 * time.Second
	ownerEvery  = 50 * time.Millisecond
)

// owner is whose an item is.
func (b *Inbox) owner(r store.Reader, it Item) (string, error) {
	if b.opt.Owner == nil || thingOf(it.About, it.ID) == "" {
		return it.Owner, nil
	}
	owner, found, err := b.opt.Owner(r, it.About, it.ID)
	if err != nil || !found {
		return "", err
	}
	return owner, nil
}

// await waits until it is known whose an item is, where that is about to be: an event may arrive before the answer to the call that made
// its thing.
func (b *Inbox) await(ctx context.Context, it Item) error {
	if b.opt.Owner == nil || b.opt.Making == nil || thingOf(it.About, it.ID) == "" {
		return nil
	}
	for until := time.Now().Add(ownerWithin); ; {
		found := false
		err := b.opt.DB.Read(ctx, func(r store.Reader) (err error) { _, found, err = b.opt.Owner(r, it.About, it.ID); return err })
		if err != nil || found || !b.opt.Making(it.About) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(ownerEvery):
		}
	}
}

// givenMark parts the ref of what arrived from the number of the row that gives it to a client.
const givenMark = "#given "

// Own gives what arrived about a thing to a local client, in the caller's commit. It is new for that client: the client reads it behind
// what it has read before. place is where the thing's service stood, if it stands at other books now; else "".
func Own(db store.DB, tx store.Tx, about, id, place, owner string) error {
	thing := thingOf(about, id)
	if thing == "" {
		return nil
	}
	if place != "" {
		thing += at + place
	}
	type row struct {
		id, received       int64
		source, ref, event string
		body               []byte
		whose              string
	}
	var list []row
	err := store.Each(tx, func(found store.Row) error {
		var x row
		err := found.Scan(&x.id, &x.source, &x.ref, &x.event, &x.body, &x.received, &x.whose)
		list = append(list, x)
		return err
	}, `SELECT id, source, ref, event, body, received_ms, `+whose+` FROM inbox_event e WHERE thing = ? ORDER BY id`, thing)
	for _, x := range list {
		if err == nil && x.whose != owner {
			_, err = tx.Exec(`UPDATE inbox_event SET owner = '' WHERE id = ?1 OR given = ?1 AND given <> 0`, x.id)
			if err == nil && owner != "" {
				x.body, err = db.Unseal(tx, cell(x.id), x.body)
			}
			if err == nil && owner != "" {
				err = give(db, tx, x.id, x.received, x.source, x.ref, x.event, x.body, owner)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("owner of what arrived: %w", err)
	}
	return nil
}

// whose is the client that an arrival e belongs to, an SQL expression.
const whose = `COALESCE((SELECT owner FROM inbox_event g WHERE g.given = e.id AND g.given <> 0 AND g.owner <> ''), e.owner)`

// give adds the row that gives an arrival to a client.
func give(db store.DB, tx store.Tx, of, received int64, source, ref, event string, body []byte, owner string) error {
	res, err := tx.Exec(`INSERT INTO inbox_event (source, ref, event, body, received_ms, owner, given)
		VALUES (?1, ?2 || (SELECT COUNT(*) FROM inbox_event WHERE given = ?6 AND given <> 0), ?3, x'', ?4, ?5, ?6)`, source, ref+givenMark, event, received, owner, of)
	if err != nil {
		return err
	}
	row, err := res.LastInsertId()
	if err == nil {
		body, err = db.Seal(tx, cell(row), body)
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE inbox_event SET body = ? WHERE id = ?`, body, row)
	}
	return err
}

// at parts a thing from where its service stood; no id has a space.
const at = " at "

// aboutOf are the kinds of things of the services.
var aboutOf = map[string][]string{"payments": {AboutPayment, AboutApplication}, "hosted": {AboutSession}}

// Leave notes, in the caller's commit, that what has arrived from a service is about things of a place that the service has left.
func Leave(tx store.Tx, service, place string) error {
	return setPlace(tx, service, `UPDATE inbox_event SET thing = thing || ? WHERE thing > ? AND thing < ? AND instr(thing, ' ') = 0`, at+place)
}

// Return notes that a service stands at a place: what arrived from there is about its things again.
func Return(tx store.Tx, service, place string) error {
	return setPlace(tx, service, `UPDATE inbox_event SET thing = substr(thing, 1, instr(thing, ' ') - 1) WHERE substr(thing, instr(thing, ' ')) = ? AND thing > ? AND thing < ?`, at+place)
}

func setPlace(tx store.Tx, service, query, place string) error {
	for _, about := range aboutOf[service] {
		if _, err := tx.Exec(query, place, about+"/", about+"0"); err != nil {
			return fmt.Errorf("what arrived about %s: %w", about, err)
		}
	}
	return nil
}
