package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

const mostRolls = 20 // of a list

// roll is a roll-out of settings as stored, with what has become of its terminals.
type roll struct {
	fleet.Roll
	all     int32 // terminals, with those that were revoked since
	bad     int32 // terminals that failed or are silent, without those that were revoked
	excused int32 // terminals whose failure does not count any more, and that are not healthy
	ended   bool
}

// asked is what a roll-out was asked for, as it is stored.
type asked struct {
	Settings []fleet.Setting
	Stages   []int32
}

// tally counts the terminals of a roll-out. A terminal that was revoked counts only where it failed: boxes that fail are replaced.
const tally = `SELECT COUNT(*), COUNT(CASE WHEN ` + confirmed + ` THEN 1 END), COUNT(CASE WHEN ` + confirmed + ` AND b.number > 0 THEN 1 END),
	COUNT(CASE WHEN ` + confirmed + ` AND b.taken_ms > 0 AND b.failed_ms = 0 THEN 1 END), COUNT(CASE WHEN ` + confirmed + ` AND b.done_ms > 0 AND b.failed_ms = 0 THEN 1 END),
	COUNT(CASE WHEN b.failed_ms > 0 AND b.lifted = 0 THEN 1 END), COUNT(CASE WHEN ` + confirmed + ` AND b.lifted = 0 AND ` + silent + ` THEN 1 END),
	COUNT(CASE WHEN b.back > 0 THEN 1 END), COUNT(CASE WHEN ` + confirmed + ` AND b.lifted = 1 AND (b.done_ms = 0 OR b.failed_ms > 0) THEN 1 END),
	COUNT(CASE WHEN ` + confirmed + ` AND b.lifted = 0 AND (b.failed_ms > 0 OR ` + silent + `) THEN 1 END)
	FROM fleet_roll_box b JOIN fleet_enrolment e ON e.id = b.enrolment WHERE b.roll = ?`

const (
	confirmed = `e.state = 'CONFIRMED'`
	silent    = `b.taken_ms > 0 AND b.done_ms = 0 AND b.failed_ms = 0 AND b.seen_ms <= ?`
	open      = `(state IN ('RUNNING', 'PAUSED') OR state = 'BACK' AND ended_ms = 0)`
)

// silentSince is the moment since which a terminal that took the settings has to have reported.
func (r *roll) silentSince(now int64) int64 { return now - int64(r.SilenceSeconds)*1000 }

// rolls reads roll-outs, the newest first.
func rolls(rd store.Reader, now int64, where string, args ...any) (list []roll, err error) {
	err = store.Each(rd, func(from store.Row) error {
		var r roll
		var text string
		var started, stage, ended int64
		err := from.Scan(&r.ID, &r.State, &r.Reason, &text, &r.Stage, &r.Enough, &r.SoakSeconds, &r.SilenceSeconds, &started, &stage, &ended)
		if err != nil {
			return err
		}
		var a asked
		err = json.Unmarshal([]byte(text), &a)
		r.Settings, r.Stages, r.StartedAt, r.StageAt, r.EndedAt, r.ended = a.Settings, a.Stages, stamp(started), stamp(stage), stamp(ended), ended > 0
		list = append(list, r)
		return err
	}, `SELECT id, state, reason, asked, stage, enough, soak_s, silence_s, started_ms, stage_ms, ended_ms FROM fleet_roll WHERE `+where+` ORDER BY seq DESC LIMIT ?`, append(args, mostRolls)...)
	for i := range list {
		if r := &list[i]; err == nil {
			since := r.silentSince(now)
			err = rd.QueryRow(tally, since, since, r.ID).Scan(&r.all, &r.Boxes, &r.Given, &r.Taken, &r.Healthy, &r.Failed, &r.Silent, &r.Back, &r.excused, &r.bad)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read roll-outs: %w", err)
	}
	return list, nil
}

// ReadRolls lists the newest roll-outs of settings. It needs no key of the store.
func ReadRolls(rd store.Reader, now int64) ([]fleet.Roll, error) {
	all, err := rolls(rd, now, `1 = 1`)
	list := make([]fleet.Roll, len(all))
	for i, r := range all {
		list[i] = r.Roll
	}
	return list, err
}

// Rolls implements fleet.Rollouts.
func (f *Fleet) Rolls(ctx context.Context) (out fleet.RollsReply, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) error {
		out.Rolls, err = ReadRolls(rd, f.Now().UnixMilli())
		return err
	})
	if err != nil {
		return fleet.RollsReply{}, wire.AsError(opRolls, err)
	}
	return out, nil
}

// oneAtATime refuses a roll-out beside another one that is open.
func oneAtATime(rd store.Reader, op, id string) error {
	ids, err := store.Column[string](rd, `SELECT id FROM fleet_roll WHERE id <> ? AND `+open+` LIMIT 1`, id)
	if err == nil && len(ids) > 0 {
		err = fleet.Refused(op, fleet.RollOpen, "the roll-out "+ids[0]+" is not ended: wait for its end, or take it back")
	}
	return err
}

// Start implements fleet.Rollouts.
func (f *Fleet) Start(ctx context.Context, key wire.Key, req fleet.StartRequest) (out fleet.Roll, err error) {
	_, body, err := f.ready(ctx, opStart, req)
	if err != nil {
		return out, err
	}
	req = req.Defaults()
	text, err := json.Marshal(asked{req.Settings, req.Stages})
	if err != nil {
		return out, wire.AsError(opStart, err)
	}
	id := room.Name(8)
	err = f.Once(ctx, room.Keyed{Op: opStart, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		if err := oneAtATime(tx, opStart, id); err != nil {
			return none, err
		}
		boxes, err := store.Column[string](tx, `SELECT id FROM fleet_enrolment e WHERE `+confirmed)
		if err != nil {
			return none, fmt.Errorf("read enrolments: %w", err)
		}
		if len(boxes) == 0 {
			return none, wire.Errorf(wire.Invalid, opStart, "no terminal is enrolled")
		}
		_, err = tx.Exec(`INSERT INTO fleet_roll (id, state, reason, asked, stage, enough, soak_s, silence_s, started_ms, stage_ms, ended_ms) VALUES (?, ?, '', ?, 1, ?, ?, ?, ?, ?, 0)`,
			id, string(fleet.Running), string(text), req.Enough, req.SoakSeconds, req.SilenceSeconds, now, now)
		slices.SortFunc(boxes, func(a, b string) int { x, y := rank(id, a), rank(id, b); return bytes.Compare(x[:], y[:]) })
		for place, box := range boxes {
			if err == nil {
				_, err = tx.Exec(`INSERT INTO fleet_roll_box (roll, enrolment, place, number, was, taken_ms, healthy_ms, seen_ms, done_ms, failed_ms, lifted, back)
					VALUES (?, ?, ?, 0, '', 0, 0, 0, 0, 0, 0, 0)`, id, box, place+1)
			}
		}
		if err != nil {
			return none, fmt.Errorf("store roll-out: %w", err)
		}
		out, err = one(tx, opStart, id, now)
		return none, err
	})
	if err != nil {
		return fleet.Roll{}, err
	}
	return out, nil
}

// rank orders the terminals of a roll-out: always the same for one of them, and another order for the next.
func rank(roll, enrolment string) [sha256.Size]byte {
	return sha256.Sum256([]byte(roll + "\n" + enrolment))
}

// one reads a roll-out; wire.NotFound.
func one(rd store.Reader, op, id string, now int64) (fleet.Roll, error) {
	list, err := rolls(rd, now, `id = ?`, id)
	if err == nil && len(list) == 0 {
		err = wire.Errorf(wire.NotFound, op, "no such roll-out")
	}
	if err != nil {
		return fleet.Roll{}, err
	}
	return list[0].Roll, nil
}

// Move implements fleet.Rollouts.
func (f *Fleet) Move(ctx context.Context, key wire.Key, req fleet.MoveRequest) (out fleet.Roll, err error) {
	if err := check.Request(opMove, req); err != nil {
		return out, err
	}
	err = f.Once(ctx, room.Keyed{Op: opMove, About: req.ID, Key: key, Body: []byte(req.Move)}, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		is, err := one(tx, opMove, req.ID, now)
		if err != nil {
			return none, err
		}
		to, ok := fleet.NextRoll(is.State, req.Move)
		switch {
		case !ok:
			return none, fleet.Refused(opMove, fleet.RollEnded, "the roll-out is "+string(is.State)+": only back goes on from there")
		case to == fleet.Back && is.State != to:
			err = oneAtATime(tx, opMove, req.ID)
		case req.Move == fleet.Resume: // its terminals are counted anew
			r := roll{Roll: is}
			_, err = tx.Exec(`UPDATE fleet_roll_box AS b SET lifted = 1 WHERE roll = ? AND (failed_ms > 0 OR `+silent+`)`, req.ID, r.silentSince(now))
		}
		if err == nil && is.State != to {
			why := ""
			if to == fleet.Paused {
				why = "by the operator"
			}
			err = become(tx, req.ID, to, why, 0)
		}
		if err == nil {
			out, err = one(tx, opMove, req.ID, now)
		}
		return none, err
	})
	if err != nil {
		return fleet.Roll{}, err
	}
	return out, nil
}

// become stores the state of a roll-out; ended is when it came to its end, 0 = it has not.
func become(tx store.Tx, id string, to fleet.RollState, why string, ended int64) error {
	_, err := tx.Exec(`UPDATE fleet_roll SET state = ?, reason = ?, ended_ms = ? WHERE id = ?`, string(to), why, ended, id)
	if err != nil {
		return fmt.Errorf("store roll-out: %w", err)
	}
	return nil
}
