package onboarding

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/store"
)

// row is an application as stored.
type row struct {
	id                int64
	status            onboarding.Status
	reason, reference string
	merchant          string // JSON, "" = none
	created, updated  int64  // unix ms
}

// fill takes an application's fields over.
func (r *row) fill(app onboarding.Application) error {
	r.reference, r.merchant = app.Reference, ""
	if app.Merchant == nil {
		return nil
	}
	text, err := json.Marshal(app.Merchant)
	if err != nil {
		return fmt.Errorf("write merchant: %w", err)
	}
	r.merchant = string(text)
	return nil
}

// resource is what the owner of an application is stored under.
const resource = "merchants_application"

func (r *row) load(rd store.Reader, id int64) error {
	if err := room.Reaches(rd, "", resource, strconv.FormatInt(id, 10)); err != nil {
		return err
	}
	err := rd.QueryRow(`SELECT id, status, reason, reference, merchant, created_ms, updated_ms FROM merchants_application WHERE id = ?`, id).
		Scan(&r.id, &r.status, &r.reason, &r.reference, &r.merchant, &r.created, &r.updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return wire.Errorf(wire.NotFound, "", "no such application")
	case err != nil:
		return fmt.Errorf("read application: %w", err)
	}
	return nil
}

func (r *row) save(tx store.Tx) error {
	_, err := tx.Exec(`UPDATE merchants_application SET status = ?, reason = ?, reference = ?, merchant = ?, updated_ms = ? WHERE id = ?`,
		string(r.status), r.reason, r.reference, r.merchant, r.updated, r.id)
	if err != nil {
		return fmt.Errorf("store application: %w", err)
	}
	return nil
}

func (m *Merchants) state(r *row) (onboarding.State, error) {
	st := onboarding.State{
		OnboardingID: r.id, Status: r.status, Reason: r.reason, MerchantID: m.opt.MerchantUUID, MerchantNumber: m.opt.MerchantNumber,
		Created: stamp(r.created), Updated: stamp(r.updated), Reference: r.reference,
	}
	if r.merchant != "" {
		if err := json.Unmarshal([]byte(r.merchant), &st.Merchant); err != nil {
			return onboarding.State{}, fmt.Errorf("read merchant: %w", err)
		}
	}
	return st, nil
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// Move is one row of the history.
type Move struct {
	Application int64
	From, To    onboarding.Status
	Reason      string
	Event       string
	AtMS        int64
}

// Moves lists every move in the order it happened.
func (m *Merchants) Moves(ctx context.Context) (list []Move, err error) {
	err = m.DB.Read(ctx, func(rd store.Reader) error {
		return store.Each(rd, func(row store.Row) error {
			var mv Move
			err := row.Scan(&mv.Application, &mv.From, &mv.To, &mv.Reason, &mv.Event, &mv.AtMS)
			list = append(list, mv)
			return err
		}, `SELECT application, from_status, to_status, reason, event, at_ms FROM merchants_move ORDER BY id`)
	})
	return list, err
}
