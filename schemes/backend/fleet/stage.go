package fleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store"
)

// batch is how many terminals get a revision in one commit.
const batch = 50

// Advance takes the roll-out of settings that is open as far as it goes now: it gives out revisions, begins the next stage, pauses.
// Run does so by itself. Each step is decided and done in one commit, so that several processes may call it.
func (f *Fleet) Advance(ctx context.Context) error {
	for {
		var ids []string
		err := f.DB.Read(ctx, func(rd store.Reader) (err error) {
			ids, err = store.Column[string](rd, `SELECT id FROM fleet_roll WHERE state <> 'PAUSED' AND `+open+` LIMIT 1`)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		ca, err := f.authority(ctx)
		if err != nil {
			return err
		}
		var r roll
		more := false
		err = f.DB.Write(ctx, func(tx store.Tx) (err error) {
			now := f.Now().UnixMilli()
			list, err := rolls(tx, now, `id = ? AND state <> 'PAUSED' AND `+open, ids[0])
			if r, more = (roll{}), false; err == nil && len(list) > 0 {
				r = list[0]
				more, err = f.step(tx, ca, &r, now)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("advance the roll-out %s: %w", ids[0], err)
		}
		if r.State == fleet.Paused {
			f.Log.Warn("a roll-out of settings is paused", "roll", r.ID, "stage", r.Stage, "why", r.Reason)
		}
		if !more {
			return nil
		}
	}
}

// step takes a roll-out one step on; more says that another one may follow.
func (f *Fleet) step(tx store.Tx, ca *authority, r *roll, now int64) (more bool, err error) {
	if r.State == fleet.Back {
		n, err := f.give(tx, ca, r, now, `b.number > 0 AND b.back = 0`)
		if err == nil && n == 0 {
			err = become(tx, r.ID, fleet.Back, "", now)
		}
		return n > 0, err
	}
	if tooMany(r.Failed+r.Silent, r.Taken+r.Failed) {
		return false, pause(tx, r)
	}
	part := (r.all*r.Stages[r.Stage-1] + 99) / 100
	n, err := f.give(tx, ca, r, now, `b.number = 0 AND `+confirmed+` AND b.place <= ?`, part)
	switch {
	case err != nil || n > 0:
		return true, err
	case r.hopeless():
		return false, pause(tx, r)
	case r.Healthy*100 < r.Enough*(r.Given-r.excused):
		return false, nil
	case int(r.Stage) == len(r.Stages):
		return false, become(tx, r.ID, fleet.Done, "", now)
	}
	if _, err = tx.Exec(`UPDATE fleet_roll SET stage = ?, stage_ms = ? WHERE id = ?`, r.Stage+1, now, r.ID); err != nil {
		return false, fmt.Errorf("store stage: %w", err)
	}
	return true, nil
}

// hopeless reports whether a stage has no terminal left that it could wait for, and not enough healthy ones: it would stand for ever.
func (r *roll) hopeless() bool {
	counted := r.Given - r.excused
	return r.Healthy+r.bad >= counted && r.Healthy*100 < r.Enough*counted
}

// pause pauses a roll-out because of its terminals, and says what one of them said.
func pause(tx store.Tx, r *roll) error {
	r.State, r.Reason = fleet.Paused, fmt.Sprintf("%d of %d terminals refused it or went back, %d are silent", r.Failed, r.Taken+r.Failed, r.Silent)
	said, err := store.Column[string](tx, `SELECT e.refusal FROM fleet_roll_box b JOIN fleet_enrolment e ON e.id = b.enrolment
		WHERE b.roll = ? AND b.failed_ms > 0 AND e.refusal <> '' ORDER BY b.failed_ms DESC LIMIT 1`, r.ID)
	if err != nil {
		return fmt.Errorf("read refusals: %w", err)
	}
	if len(said) > 0 {
		r.Reason += ": " + said[0]
	}
	return become(tx, r.ID, r.State, r.Reason, 0)
}

// give gives a newer revision to the next terminals: with the settings, or with those of before where the roll-out is taken back. It
// returns how many terminals it has dealt with.
func (f *Fleet) give(tx store.Tx, ca *authority, r *roll, now int64, which string, args ...any) (n int, err error) {
	ids, err := store.Column[string](tx, `SELECT b.enrolment FROM fleet_roll_box b JOIN fleet_enrolment e ON e.id = b.enrolment WHERE b.roll = ? AND `+which+` ORDER BY b.place LIMIT ?`,
		append(append([]any{r.ID}, args...), batch)...)
	for _, id := range ids {
		if err == nil {
			err = f.giveOne(tx, ca, r, id, now)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("give a revision: %w", err)
	}
	return len(ids), nil
}

func (f *Fleet) giveOne(tx store.Tx, ca *authority, r *roll, id string, now int64) error {
	var e row
	if err := e.load(tx, "id", id); err != nil {
		return err
	}
	if e.state != fleet.Confirmed { // of one that is revoked nothing is taken back
		_, err := tx.Exec(`UPDATE fleet_roll_box SET back = -1 WHERE roll = ? AND enrolment = ?`, r.ID, id)
		return err
	}
	is, err := f.newest(tx, &e)
	if err != nil {
		return err
	}
	list := r.Settings
	if r.State == fleet.Back {
		if list, err = restored(tx, r, id, is.Text.Reveal()); err != nil {
			return err
		}
	}
	text, before := fleet.Apply(is.Text.Reveal(), list)
	if text != is.Text.Reveal() {
		e.revision++
		err = f.keep(tx, id, fleet.SignRevision(ca.key, id, e.revision, wire.Secret(text)), now)
		if err == nil {
			err = e.save(tx)
		}
		if err != nil {
			return err
		}
	}
	if r.State == fleet.Back {
		_, err = tx.Exec(`UPDATE fleet_roll_box SET back = ? WHERE roll = ? AND enrolment = ?`, e.revision, r.ID, id)
		return err
	}
	was, err := json.Marshal(before)
	if err == nil {
		_, err = tx.Exec(`UPDATE fleet_roll_box SET number = ?, was = ? WHERE roll = ? AND enrolment = ?`, e.revision, string(was), r.ID, id)
	}
	return err
}

// restored returns the settings that a terminal had before a roll-out. What was configured since stays.
func restored(rd store.Reader, r *roll, id, text string) (list []fleet.Setting, err error) {
	var was string
	var before []fleet.Setting
	err = rd.QueryRow(`SELECT was FROM fleet_roll_box WHERE roll = ? AND enrolment = ?`, r.ID, id).Scan(&was)
	if err == nil {
		err = json.Unmarshal([]byte(was), &before)
	}
	_, is := fleet.Apply(text, r.Settings)
	for i, s := range before {
		if is[i].Value == r.Settings[i].Value {
			list = append(list, s)
		}
	}
	return list, err
}

// box is a terminal of the roll-out that is open, as stored. Moments are Unix milliseconds, 0 = not yet.
type box struct {
	roll                               string
	number                             int64 // of the revision with the settings
	taken, healthy, seen, done, failed int64
	soak, silence                      int64 // of the roll-out, in milliseconds
}

// load reads the box of an enrolment to which an open roll-out has given a revision; ok is false where there is none.
func (b *box) load(rd store.Reader, enrolment string) (ok bool, err error) {
	err = rd.QueryRow(`SELECT b.roll, b.number, b.taken_ms, b.healthy_ms, b.seen_ms, b.done_ms, b.failed_ms, r.soak_s * 1000, r.silence_s * 1000
		FROM fleet_roll_box b JOIN fleet_roll r ON r.id = b.roll WHERE b.enrolment = ? AND b.number > 0 AND r.state IN ('RUNNING', 'PAUSED')`, enrolment).
		Scan(&b.roll, &b.number, &b.taken, &b.healthy, &b.seen, &b.done, &b.failed, &b.soak, &b.silence)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("read roll-out: %w", err)
	}
	return err == nil, nil
}

// heard takes up what a terminal says, and returns whether that is to be stored.
func (b *box) heard(is fleet.Applied, now int64) bool {
	was := *b
	switch {
	case is.Revision >= b.number:
		if b.taken == 0 || b.failed > 0 || now-b.seen >= b.silence/4 && b.done == 0 {
			b.seen = now
		}
		if b.taken == 0 || b.failed > 0 { // it refused it before, and works with it now
			b.taken, b.healthy, b.done, b.failed = now, 0, 0, 0
		}
		if is.Proven && b.healthy == 0 {
			b.healthy, b.seen = now, now
		}
		if is.Proven && b.done == 0 && now-b.healthy >= b.soak {
			b.done, b.seen = now, now
		}
	case b.failed == 0 && (is.Refused >= b.number || b.taken > 0):
		b.failed = now
	}
	return *b != was
}

// hear stores what a terminal says where the open roll-out is to know it.
func (f *Fleet) hear(tx store.Tx, enrolment string, is fleet.Applied) error {
	var b box
	ok, err := b.load(tx, enrolment)
	if err != nil || !ok || !b.heard(is, f.Now().UnixMilli()) {
		return err
	}
	_, err = tx.Exec(`UPDATE fleet_roll_box SET taken_ms = ?, healthy_ms = ?, seen_ms = ?, done_ms = ?, failed_ms = ?, lifted = CASE WHEN ? > 0 THEN 0 ELSE lifted END
		WHERE roll = ? AND enrolment = ?`, b.taken, b.healthy, b.seen, b.done, b.failed, b.done, b.roll, enrolment)
	if err != nil {
		return fmt.Errorf("store roll-out: %w", err)
	}
	return nil
}

// offered is the number of the revision that a terminal is to have: of a roll-out that is paused or taken back it gets nothing new.
func (r *row) offered(rd store.Reader) (int64, error) {
	if r.revision <= r.confirmedRevision || r.confirmedRevision == 0 {
		return r.revision, nil
	}
	held, err := store.Column[string](rd, `SELECT r.id FROM fleet_roll_box b JOIN fleet_roll r ON r.id = b.roll WHERE b.enrolment = ? AND b.number = ? AND r.state IN ('PAUSED', 'BACK')`,
		r.id, r.revision)
	if err != nil {
		return 0, fmt.Errorf("read roll-out: %w", err)
	}
	if len(held) > 0 {
		return r.confirmedRevision, nil
	}
	return r.revision, nil
}
