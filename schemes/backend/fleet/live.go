package fleet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"posagent/schemes/fleet"
	"posagent/store"
)

// live is the enrolments that a box has or may have: what was redeemed, and a bundle, on which a box runs before it redeems.
const live = `(state IN ('REDEEMED', 'CONFIRMED') OR state = 'FRESH' AND bundle <> 0 AND expires_ms > ?)`

// place is the enrolments of r's terminal, and of its box. A box that only says a serial number is that of its own merchant alone,
// and of none where its code names no merchant.
const place = `id <> ? AND (serial = ? AND (? = 1 OR merchant = ? AND merchant <> '') OR merchant = ? AND terminal = ? AND terminal <> '')`

func (r *row) place() []any {
	return []any{r.id, r.serial, r.bound, r.slot.MerchantID, r.slot.MerchantID, r.slot.TerminalID}
}

// supersede revokes the other certificates of the terminal that r is now, and of its box.
func supersede(tx store.Tx, r *row, now int64) (int32, error) {
	args := append([]any{string(fleet.Revoked), "superseded by " + r.id, now, now}, r.place()...)
	res, err := tx.Exec(`UPDATE fleet_enrolment SET state = ?, reason = ?, revoked_ms = ? WHERE `+live+` AND `+place, args...)
	if err != nil {
		return 0, fmt.Errorf("supersede: %w", err)
	}
	n, err := res.RowsAffected()
	return int32(n), err //nolint:gosec // as many as a shop has boxes
}

// stillLive refuses a bundle for a terminal or a box that another enrolment is, or may be: the box runs on its bundle before the
// service hears of it, so nothing could be revoked in time.
func stillLive(rd store.Reader, r *row, now int64) error {
	ids, err := store.Column[string](rd, `SELECT id FROM fleet_enrolment WHERE `+live+` AND `+place+` ORDER BY seq DESC LIMIT 1`, append([]any{now}, r.place()...)...)
	if err != nil {
		return fmt.Errorf("read enrolments: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	return fleet.Refused(opCreate, fleet.StillLive,
		"the terminal, or the box, is that of enrolment "+ids[0]+", and a box that has no network cannot end it: revoke that first (posagent backend fleet revoke "+ids[0]+"), or make a code alone")
}

// mostUnused is how many unused codes of a terminal are told.
const mostUnused = 10

// unused lists the other codes of r's terminal, and of its box, that can still be shown, the newest first.
func unused(rd store.Reader, r *row, now int64) (list []fleet.Unused, err error) {
	err = store.Each(rd, func(from store.Row) error {
		var u fleet.Unused
		var until int64
		err := from.Scan(&u.EnrolmentID, &u.SerialNumber, &until)
		u.ExpiresAt = stamp(until)
		list = append(list, u)
		return err
	}, `SELECT id, serial, expires_ms FROM fleet_enrolment WHERE state = 'FRESH' AND expires_ms > ? AND id <> ?
		AND (merchant = ? AND terminal = ? AND terminal <> '' OR ? = 1 AND bound = 1 AND serial = ?) ORDER BY seq DESC LIMIT ?`,
		now, r.id, r.slot.MerchantID, r.slot.TerminalID, r.bound, r.serial, mostUnused)
	if err != nil {
		return nil, fmt.Errorf("read unused codes: %w", err)
	}
	return list, nil
}

// Holder is whom the credentials of an enrolment name.
type Holder struct {
	Enrolment string
	Slot      fleet.Slot
}

// Held reads whom an enrolment's credentials name; nil where it has ended: they end with it.
func (f *Fleet) Held(ctx context.Context, id string) (h *Holder, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) error {
		var r row
		h = nil
		err := r.load(rd, "id", id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if state := r.at(f.Now().UnixMilli()); err == nil && state != fleet.Revoked && state != fleet.Expired {
			h = &Holder{Enrolment: id, Slot: r.slot}
		}
		return err
	})
	return h, err
}

// Living lists the enrolments of a terminal that a box has or may have, the newest first.
func (f *Fleet) Living(ctx context.Context, merchant, terminal string) (ids []string, err error) {
	err = f.DB.Read(ctx, func(rd store.Reader) (err error) {
		ids, err = store.Column[string](rd, `SELECT id FROM fleet_enrolment WHERE `+live+` AND merchant = ? AND terminal = ? ORDER BY seq DESC LIMIT ?`,
			f.Now().UnixMilli(), merchant, terminal, mostUnused)
		return err
	})
	return ids, err
}
