package fleet

import (
	"cmp"
	"context"
	"crypto"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// A version is held for a merchant's boxes once so many of them took it back, and more than this share of those that tried it: one box with
// a bad medium stops nothing. It is held for all once the same is true of merchants: what the boxes of one merchant say, however many
// they are, is that one's word. A box without a merchant counts as a merchant of its own.
const (
	heldBoxes = 2 // or merchants
	heldShare = 5 // of a hundred
)

const (
	mostOutcomes = 20  // of one enrolment
	mostVersions = 100 // of a list
)

// tooMany says whether a version is to be held.
func tooMany(takenBack, tried int32) bool {
	return takenBack >= heldBoxes && int64(takenBack)*100 > int64(tried)*heldShare
}

// Report implements fleet.Service. A report that says nothing new writes nothing: each box sends one every minute.
func (f *Fleet) Report(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (out fleet.ReportReply, err error) {
	if err := errors.Join(room.CheckKey(opReport, key), check.Request(opReport, req)); err != nil {
		return out, wire.AsError(opReport, err)
	}
	r, err := f.proven(ctx, opReport, by, func(public crypto.PublicKey, now time.Time) error { return by.CheckReport(public, now, req) })
	known := false
	if err == nil {
		err = f.DB.Read(ctx, func(rd store.Reader) error {
			if known, err = r.told(rd, req, f.Now().UnixMilli()); err == nil && known {
				out.Held, err = held(rd, r.slot.MerchantID)
			}
			return err
		})
	}
	if err == nil && !known {
		var holds *trials
		err = f.DB.Write(ctx, func(tx store.Tx) error {
			if holds, err = f.report(tx, &r, req); err == nil {
				out.Held, err = held(tx, r.slot.MerchantID)
			}
			return err
		})
		if err == nil && holds != nil {
			f.Log.Warn("a version is held: boxes took it back", "version", holds.version, "taken_back", holds.takenBack, "kept", holds.tried-holds.takenBack,
				"for", cmp.Or(holds.merchant, "all"))
		}
	}
	if err != nil {
		return fleet.ReportReply{}, wire.AsError(opReport, err)
	}
	return out, nil
}

// applied is which configuration a terminal says that it works with. A program from before does not say: its confirmation stands.
func (r *row) applied(req fleet.ReportRequest) fleet.Applied {
	if req.Configuration == (fleet.Applied{}) {
		return fleet.Applied{Revision: r.confirmedRevision, Proven: true, Refused: r.refused, Reason: r.refusal}
	}
	return req.Configuration
}

// told returns whether a report says what is stored already.
func (r *row) told(rd store.Reader, req fleet.ReportRequest, now int64) (bool, error) {
	is := r.applied(req)
	if r.version != req.Version || r.refused != is.Refused || r.refusal != is.Reason {
		return false, nil
	}
	var b box
	if there, err := b.load(rd, r.id); err != nil || there && b.heard(is, now) {
		return false, err
	}
	if req.Update == (fleet.Outcome{}) {
		return true, nil
	}
	var was fleet.Outcome
	err := rd.QueryRow(`SELECT version, kept, reason, at FROM fleet_outcome WHERE enrolment = ? AND version = ?`, r.id, req.Update.Version).
		Scan(&was.Version, &was.Kept, &was.Reason, &was.At)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("read outcome: %w", err)
	}
	return was == req.Update, nil
}

// report stores a report, and holds the version where that is due. It returns what is held since now, nil = nothing is.
func (f *Fleet) report(tx store.Tx, r *row, req fleet.ReportRequest) (holds *trials, err error) {
	id, is := r.id, r.applied(req)
	if _, err := tx.Exec(`UPDATE fleet_enrolment SET version = ?, refused = ?, refusal = ? WHERE id = ?`, req.Version, is.Refused, is.Reason, id); err != nil {
		return nil, fmt.Errorf("store version: %w", err)
	}
	if err := f.hear(tx, id, is); err != nil {
		return nil, err
	}
	u, now := req.Update, f.Now().UnixMilli()
	if u == (fleet.Outcome{}) {
		return nil, nil
	}
	// A box that had reported before a hold was lifted does not count again, also where it was enrolled again since.
	var before int64
	err = tx.QueryRow(`SELECT COUNT(*) FROM fleet_outcome o JOIN fleet_enrolment e ON e.id = o.enrolment WHERE o.version = ? AND o.lifted = 1
		AND e.serial = ? AND e.merchant = ? AND e.terminal = ?`, u.Version, r.serial, r.slot.MerchantID, r.slot.TerminalID).Scan(&before)
	if err != nil {
		return nil, fmt.Errorf("read outcome: %w", err)
	}
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO fleet_outcome (enrolment, version, kept, reason, at, seen_ms, lifted) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (enrolment, version) DO UPDATE
			SET kept = excluded.kept, reason = excluded.reason, at = excluded.at, seen_ms = excluded.seen_ms`,
			[]any{id, u.Version, u.Kept, u.Reason, u.At, now, min(before, 1)}},
		{`DELETE FROM fleet_outcome WHERE enrolment = ?
			AND version NOT IN (SELECT version FROM fleet_outcome WHERE enrolment = ? ORDER BY lifted DESC, seen_ms DESC, version LIMIT ?)`,
			[]any{id, id, mostOutcomes}},
	} {
		if _, err := tx.Exec(step.sql, step.args...); err != nil {
			return nil, fmt.Errorf("store outcome: %w", err)
		}
	}
	return f.judge(tx, r.slot.MerchantID, u.Version, now)
}

// trials is the boxes of one merchant, or of all, that tried a version since it was lifted last.
type trials struct {
	version, merchant string // merchant "" = all
	takenBack, tried  int32
}

// judge holds a version for a merchant's boxes, and for all, where that is due. It returns the widest hold that began, nil = none did.
func (f *Fleet) judge(tx store.Tx, merchant, version string, now int64) (holds *trials, err error) {
	own, all := trials{version: version, merchant: merchant}, trials{version: version}
	var bad, merchants int32
	err = store.Each(tx, func(from store.Row) error {
		var c trials
		if err := from.Scan(&c.merchant, &c.takenBack, &c.tried); err != nil {
			return err
		}
		if c.merchant == "m"+merchant {
			own.takenBack, own.tried = c.takenBack, c.tried
		}
		all.takenBack, all.tried, merchants = all.takenBack+c.takenBack, all.tried+c.tried, merchants+1
		if int64(c.takenBack)*100 > int64(c.tried)*heldShare {
			bad++
		}
		return nil
	}, `SELECT party, COUNT(DISTINCT CASE WHEN kept = 0 THEN box END), COUNT(DISTINCT CASE WHEN kept = 0 THEN box END) + COUNT(DISTINCT CASE WHEN kept = 1 THEN box END)
		FROM (SELECT o.kept AS kept, `+boxOf+` AS box, CASE WHEN e.merchant = '' THEN 'b' || `+boxOf+` ELSE 'm' || e.merchant END AS party
			FROM fleet_outcome o JOIN fleet_enrolment e ON e.id = o.enrolment WHERE o.version = ? AND o.lifted = 0) tries GROUP BY party`, version)
	if err != nil {
		return nil, fmt.Errorf("count boxes: %w", err)
	}
	type counted struct {
		trials
		due bool
	}
	var list []counted
	if merchant != "" { // a box without one is a merchant of its own, and one box
		list = append(list, counted{own, tooMany(own.takenBack, own.tried)})
	}
	for _, c := range append(list, counted{all, tooMany(bad, merchants)}) {
		res, err := tx.Exec(`UPDATE fleet_hold SET taken_back = ?, tried = ? WHERE version = ? AND merchant = ? AND lifted_ms = 0`, c.takenBack, c.tried, version, c.merchant)
		if err != nil {
			return nil, fmt.Errorf("store hold: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return nil, fmt.Errorf("store hold: %w", err)
		}
		if n > 0 || !c.due { // the boxes are told how many there are by now
			continue
		}
		if err := hold(tx, c.trials, now); err != nil {
			return nil, fmt.Errorf("store hold: %w", err)
		}
		holds = &c.trials
	}
	return holds, nil
}

// hold holds a version. Of more than fleet.MaxHolds of a merchant, or for all, those go that were lifted, and then the oldest: no merchant's
// boxes push out what is held for others.
func hold(tx store.Tx, c trials, now int64) error {
	_, err := tx.Exec(`INSERT INTO fleet_hold (version, merchant, taken_back, tried, held_ms, lifted_ms) VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (version, merchant) DO UPDATE
		SET taken_back = excluded.taken_back, tried = excluded.tried, held_ms = excluded.held_ms, lifted_ms = excluded.lifted_ms`, c.version, c.merchant, c.takenBack, c.tried, now)
	if err == nil {
		_, err = tx.Exec(`DELETE FROM fleet_hold WHERE merchant = ?
			AND version NOT IN (SELECT version FROM fleet_hold WHERE merchant = ? ORDER BY lifted_ms = 0 DESC, held_ms DESC, version LIMIT ?)`, c.merchant, c.merchant, fleet.MaxHolds)
	}
	return err
}

// held lists the versions that the boxes of a merchant must not take: those that are held for all first, the newest hold first.
func held(rd store.Reader, merchant string) ([]fleet.Hold, error) {
	list, known := []fleet.Hold{}, map[string]bool{}
	err := store.Each(rd, func(from store.Row) error {
		var h fleet.Hold
		err := from.Scan(&h.Version, &h.TakenBack, &h.Tried)
		if !known[h.Version] && len(list) < fleet.MaxHolds {
			list, known[h.Version] = append(list, h), true
		}
		return err
	}, `SELECT version, taken_back, tried FROM fleet_hold WHERE lifted_ms = 0 AND merchant IN ('', ?) ORDER BY merchant, held_ms DESC, version LIMIT ?`, merchant, 2*fleet.MaxHolds)
	if err != nil {
		return nil, fmt.Errorf("read holds: %w", err)
	}
	return list, nil
}

// boxOf names the box of an enrolment: one that was enrolled again is the same.
const boxOf = `e.serial || '\n' || e.merchant || '\n' || e.terminal`

// counted is the boxes of outcomes that count: those since the version was lifted last. A box that was enrolled again is the same box.
const counted = `COUNT(DISTINCT CASE WHEN o.lifted = 0 AND o.kept = `

// rollouts lists what has become of versions, the one reported last first.
func rollouts(rd store.Reader, where string, args ...any) ([]fleet.Rollout, error) {
	const box = ` THEN ` + boxOf + ` END)`
	list := []fleet.Rollout{}
	err := store.Each(rd, func(from store.Row) error {
		var r fleet.Rollout
		var heldMS, liftedMS int64
		err := from.Scan(&r.Version, &r.TakenBack, &r.Kept, &heldMS, &liftedMS)
		if r.LiftedAt = stamp(liftedMS); r.LiftedAt == "" {
			r.HeldAt = stamp(heldMS)
		}
		list = append(list, r)
		return err
	}, `SELECT v.version, `+counted+`0`+box+`, `+counted+`1`+box+`, COALESCE(h.held_ms, 0), CASE WHEN h.held_ms IS NULL THEN COALESCE(h.lifted_ms, 0) ELSE 0 END
		FROM (SELECT version FROM fleet_outcome WHERE lifted = 0 UNION SELECT version FROM fleet_hold) v
		LEFT JOIN (SELECT version, MIN(CASE WHEN lifted_ms = 0 THEN held_ms END) AS held_ms, MAX(lifted_ms) AS lifted_ms FROM fleet_hold GROUP BY version) h ON h.version = v.version
		LEFT JOIN fleet_outcome o ON o.version = v.version LEFT JOIN fleet_enrolment e ON e.id = o.enrolment `+where+`
		GROUP BY v.version, h.held_ms, h.lifted_ms ORDER BY MAX(COALESCE(o.seen_ms, h.held_ms, h.lifted_ms)) DESC, v.version LIMIT ?`, append(args, mostVersions)...)
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return list, nil
}

// ReadVersions lists what has become of the newest versions, and which are held. It needs no key of the store.
func ReadVersions(rd store.Reader) ([]fleet.Rollout, error) { return rollouts(rd, ``) }

// Versions implements fleet.Rollouts.
func (f *Fleet) Versions(ctx context.Context) (out fleet.VersionsReply, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) error {
		out.Versions, err = ReadVersions(rd)
		return err
	})
	if err != nil {
		return fleet.VersionsReply{}, wire.AsError(opVersions, err)
	}
	return out, nil
}

// Lift implements fleet.Rollouts.
func (f *Fleet) Lift(ctx context.Context, key wire.Key, req fleet.LiftRequest) (out fleet.Rollout, err error) {
	if err := check.Request(opLift, req); err != nil {
		return out, err
	}
	k := room.Keyed{Op: opLift, Key: key, Body: []byte(strconv.Quote(req.Version))}
	err = f.Once(ctx, k, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		res, err := tx.Exec(`UPDATE fleet_hold SET lifted_ms = ? WHERE version = ? AND lifted_ms = 0`, now, req.Version)
		if err != nil {
			return none, fmt.Errorf("lift: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil {
			return none, err
		} else if n > 0 {
			if _, err := tx.Exec(`UPDATE fleet_outcome SET lifted = 1 WHERE version = ?`, req.Version); err != nil {
				return none, fmt.Errorf("lift: %w", err)
			}
		}
		list, err := rollouts(tx, `WHERE v.version = ?`, req.Version)
		if err != nil {
			return none, err
		}
		if len(list) == 0 || list[0].LiftedAt == "" {
			return none, wire.Errorf(wire.NotFound, opLift, "this version is not held")
		}
		out = list[0]
		return none, nil
	})
	if err != nil {
		return fleet.Rollout{}, err
	}
	return out, nil
}

// outcomes reads how the last update of each box ended, by enrolment.
func outcomes(rd store.Reader) (map[string]fleet.Outcome, error) {
	all := map[string]fleet.Outcome{}
	err := store.Each(rd, func(from store.Row) error {
		var id string
		var u fleet.Outcome
		var seen int64
		err := from.Scan(&id, &u.Version, &u.Kept, &u.Reason, &u.At, &seen)
		all[id] = u
		return err
	}, `SELECT enrolment, version, kept, reason, at, seen_ms FROM fleet_outcome o WHERE NOT EXISTS (SELECT 1 FROM fleet_outcome n
		WHERE n.enrolment = o.enrolment AND (n.seen_ms > o.seen_ms OR n.seen_ms = o.seen_ms AND n.version > o.version))`)
	if err != nil {
		return nil, fmt.Errorf("read outcomes: %w", err)
	}
	return all, nil
}
