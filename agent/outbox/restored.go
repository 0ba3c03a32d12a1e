package outbox

import (
	"context"
	"fmt"
	"time"

	"posagent/store"
)

// Forgotten says why a write under a key that this journal does not know may be a repeat that the
// backend does not know by its Key either; "" = it is not. keyed says that the backend honours the
// Key. changed is the age at which programs began to make the write's Key as this one does; -1 = all
// have. It may be a repeat in a restored journal where the backend honours no Keys, or where the
// journal is older than the backend's memory of one, or from before the change; and at once where
// the journal was lost whole, and nothing says how long ago it used a key, or the callers' secret is not
// the one before, which our Keys come of: the device key was lost, or a reset deleted it. It ends when ReleaseEach has released everything.
func (o *Outbox) Forgotten(r store.Reader, keyed bool, changed int64) (string, error) {
	if err := o.clock.load(r); err != nil {
		return "", err
	}
	var restored int64
	if err := r.QueryRow(`SELECT restored_age FROM outbox_clock WHERE id = 1`).Scan(&restored); err != nil {
		return "", fmt.Errorf("outbox clock: %w", err)
	}
	if restored < 0 {
		return "", nil
	}
	l, _, err := store.LostIn(r)
	if err != nil {
		return "", fmt.Errorf("outbox clock: %w", err)
	}
	locked := l.Kind == store.WasLocked
	if !locked {
		if locked, err = store.SecretMade(r); err != nil {
			return "", fmt.Errorf("outbox clock: %w", err)
		}
	}
	past, err := happened(r)
	switch age, unsure := o.clock.old(restored); {
	case err != nil:
		return "", err
	case locked:
		return past + ", and what makes keys of the clients' keys was lost with it: this may be a repeat of what that journal has sent", nil
	case l.Kind == store.WasLost, l.Ageless: // what is unknown to it may be as old as anything
		return past + ", and how long ago keys were used in it cannot be told: this may be a repeat of what that journal has sent and the backend has forgotten", nil
	case !keyed:
		return past + ", and the backend honours no keys: this may be a repeat of what the journal has lost", nil
	case unsure:
		return past + ", and how old it is cannot be told until the backend has told the time: this may be a repeat of what the journal has lost and the backend has forgotten", nil
	case age > o.ttl.Milliseconds():
		return past + " and is older than " + o.ttl.String() + ": this may be a repeat of what the journal has lost and the backend has forgotten", nil
	case restored <= changed:
		return past + " and is older than the program, which makes another key of the client's: this may be a repeat of what the journal has lost", nil
	}
	return "", nil
}

// IDAgeMax is for how much running time an id of a register's or a client's names one request, and may be asked for again (MONEY B.12).
const IDAgeMax = 90 * 24 * time.Hour

// Replaced says what made the journal take another's place, if ids of before may still be asked for; "" = nothing did.
func Replaced(r store.Reader) (string, error) {
	l, ok, err := store.LostIn(r)
	if err != nil || !ok {
		return "", err
	}
	run, err := Running(r)
	if err != nil || l.RunMS != 0 && run-l.RunMS >= IDAgeMax.Milliseconds() {
		return "", err
	}
	return happened(r)
}

// Ageless says that a journal holds writes for a person whose keys may be as old as anything: it was begun anew, and no person has
// released them since. A copy of it lacks the same. Ask it before HoldRestored.
func Ageless(r store.Reader) (bool, error) {
	past, err := Past(r)
	if err != nil || past == "" {
		return false, err
	}
	l, ok, err := store.LostIn(r) // a reset keeps nothing
	return !ok || l.Ageless || l.Kind == store.WasLost || l.Kind == store.WasLocked, err
}

// Past says what made the journal one that may not know everything that was sent, as long as no person has released everything since;
// "" = nothing did.
func Past(r store.Reader) (string, error) {
	var yes bool
	if err := r.QueryRow(`SELECT restored_age >= 0 FROM outbox_clock WHERE id = 1`).Scan(&yes); err != nil {
		return "", fmt.Errorf("outbox clock: %w", err)
	}
	if !yes {
		return "", nil
	}
	return happened(r)
}

// happened says how the journal took another's place. A reset alone keeps nothing of the journal before it.
func happened(r store.Reader) (string, error) {
	l, ok, err := store.LostIn(r)
	switch {
	case err != nil:
		return "", fmt.Errorf("outbox clock: %w", err)
	case !ok:
		return "the journal was begun anew after a reset, or restored by an older program", nil
	case l.Kind == store.WasLocked:
		return "the journal was begun anew where no key opened the one before it", nil
	case l.Kind == store.WasLost:
		return "the journal was begun anew after one was lost", nil
	case l.Kind == store.WasAccepted:
		return "the journal was cut and accepted", nil
	}
	return "the journal was restored", nil
}

// holdBatch is how many operations HoldRestored sets aside in one commit.
const holdBatch = 200

// HoldRestored sets aside everything that is not at its end, for a journal that was put back from an
// earlier time; it returns how many. Whatever is released later counts as sent once, right after
// that time, also what was held then: it may have been, so it is never sent where the backend may
// have forgotten its Key, nor where that is no protection. What was withdrawn counts so if it is
// revived. Call it before Run; broken off, it may be called again.
func (o *Outbox) HoldRestored(ctx context.Context, reason string) (int, error) {
	held := 0
	var last int64
	err := o.db.Write(ctx, func(tx store.Tx) error {
		if err := o.clock.load(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE outbox_clock SET restored_age = CASE WHEN restored_age < 0 THEN ?1 ELSE MIN(restored_age, ?1) END WHERE id = 1`, o.clock.stored())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("hold restored operations: %w", err)
	}
	for more := true; more; {
		var n int
		var upTo int64
		var full bool
		err := o.db.Write(ctx, func(tx store.Tx) error {
			n, upTo = 0, last
			if err := o.clock.load(tx); err != nil {
				return err
			}
			rows, err := o.uncertain(tx, last)
			if err != nil {
				return err
			}
			for i := range rows {
				if err := o.holdRestored(tx, &rows[i], reason); err != nil {
					return err
				}
				upTo = rows[i].id
				if rows[i].state == Held {
					n++
				}
			}
			full = len(rows) == holdBatch
			return nil
		})
		if err != nil {
			return held, fmt.Errorf("hold restored operations: %w", err)
		}
		held, last, more = held+n, upTo, full
	}
	return held, nil
}

// uncertain reads the next operations of which an earlier journal does not know whether they were sent since, in the order of their ids.
func (o *Outbox) uncertain(r store.Reader, after int64) (list []row, err error) {
	err = each(r, func(rw row) { list = append(list, rw) },
		`id > ? AND (+state IN ('PENDING', 'SENT') OR +state IN ('HELD', 'EXPIRED') AND resume = 'PENDING') ORDER BY id LIMIT ?`, after, holdBatch)
	return list, err
}

func (o *Outbox) holdRestored(tx store.Tx, r *row, reason string) error {
	switch {
	case r.state == Held && r.reason != "":
		r.reason = reason + "; held before: " + r.reason
	case r.state != Expired:
		r.reason = reason
	}
	if err := o.verify(r); err != nil {
		r.reason = err.Error()
	}
	_, err := o.apply(tx, r, event{verb: holdRestored})
	return err
}
