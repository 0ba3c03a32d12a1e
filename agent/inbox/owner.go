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

// owner is whose an item is. An event may arrive before the answer to the call that made its thing.
func (b *Inbox) owner(ctx context.Context, it Item) (owner string, err error) {
	if b.opt.Owner == nil || thingOf(it.About, it.ID) == "" {
		return "", nil
	}
	for until := time.Now().Add(ownerWithin); ; {
		found := false
		err = b.opt.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = b.opt.Owner(r, it.About, it.ID); return err })
		if !found {
			owner = ""
		}
		if err != nil || found || b.opt.Making == nil || !b.opt.Making(it.About) || time.Now().After(until) {
			return owner, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(ownerEvery):
		}
	}
}

// Own gives what arrived about a thing to a local client, in the caller's commit.
func Own(tx store.Tx, about, id, owner string) error {
	if _, err := tx.Exec(`UPDATE inbox_event SET owner = ? WHERE thing = ? AND thing <> ''`, owner, thingOf(about, id)); err != nil {
		return fmt.Errorf("owner of what arrived: %w", err)
	}
	return nil
}
