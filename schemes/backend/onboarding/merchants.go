package onboarding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	deliver "posagent/schemes/backend/webhooks"
	"posagent/schemes/onboarding"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Emitter takes what the applicants' endpoints are to be told, in the commit of what it tells about.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []deliver.Hook) error
	Emit(tx store.Tx, m deliver.Message) (int, error)
	Poke()
}

var _ Emitter = (*deliver.Deliver)(nil)

// Options are what Merchants needs; its own are required.
type Options struct {
	room.Options
	Deliver        Emitter
	MerchantNumber int64  // of every event
	MerchantUUID   string // likewise
}

// Merchants is the onboarding desk.
type Merchants struct {
	*room.Room
	opt Options
}

var _ onboarding.Service = (*Merchants)(nil)

// New makes the desk; it starts nothing.
func New(opt Options) (*Merchants, error) {
	if opt.DB == nil || opt.Deliver == nil || opt.MerchantNumber < 1 || opt.MerchantUUID == "" {
		return nil, errors.New("merchants: want a store, a sender, a merchant number and a merchant UUID")
	}
	r, err := room.New("merchants", opt.Options)
	if err != nil {
		return nil, err
	}
	return &Merchants{Room: r, opt: opt}, nil
}

const (
	opCreate = "onboarding.create"
	opRead   = "onboarding.read"
	opUpdate = "onboarding.update"
	opSubmit = "onboarding.submit"
)

// Create implements onboarding.Service.
func (m *Merchants) Create(ctx context.Context, key wire.Key, app onboarding.Application) (onboarding.State, error) {
	body, err := canonical(opCreate, app)
	if err != nil {
		return onboarding.State{}, err
	}
	return m.write(ctx, opCreate, 0, key, body, func(tx store.Tx, r *row) error {
		if err := r.fill(app); err != nil {
			return err
		}
		var err error
		if r.id, err = tx.Number("merchants_application"); err != nil {
			return fmt.Errorf("number application: %w", err)
		}
		r.created = r.updated
		_, err = tx.Exec(`INSERT INTO merchants_application (id, status, reason, reference, merchant, created_ms, updated_ms) VALUES (?, '', '', ?, ?, ?, ?)`,
			r.id, r.reference, r.merchant, r.created, r.updated)
		if err != nil {
			return fmt.Errorf("store application: %w", err)
		}
		if err := room.Claim(tx, resource, strconv.FormatInt(r.id, 10)); err != nil {
			return err
		}
		if err := m.register(tx, r, app.Notifications); err != nil {
			return err
		}
		return m.move(tx, opCreate, r, onboarding.Initiate, "")
	})
}

// Read implements onboarding.Service.
func (m *Merchants) Read(ctx context.Context, id int64) (st onboarding.State, err error) {
	err = m.DB.Read(ctx, func(rd store.Reader) error {
		var r row
		if err := r.load(rd, id); err != nil {
			return err
		}
		st, err = m.state(&r)
		return err
	})
	if err != nil {
		return onboarding.State{}, wire.AsError(opRead, err)
	}
	return st, nil
}

// Update implements onboarding.Service.
func (m *Merchants) Update(ctx context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	body, err := canonical(opUpdate, app)
	if err != nil {
		return onboarding.State{}, err
	}
	return m.write(ctx, opUpdate, id, key, body, func(tx store.Tx, r *row) error {
		if !r.status.Editable() {
			return onboarding.Refused(opUpdate, onboarding.NotEditable, "the status is "+string(r.status))
		}
		if err := r.fill(app); err != nil {
			return err
		}
		if err := m.register(tx, r, app.Notifications); err != nil {
			return err
		}
		return r.save(tx)
	})
}

// Submit implements onboarding.Service.
func (m *Merchants) Submit(ctx context.Context, key wire.Key, id int64) (onboarding.State, error) {
	return m.write(ctx, opSubmit, id, key, nil, func(tx store.Tx, r *row) error {
		return m.move(tx, opSubmit, r, onboarding.Submit, "")
	})
}

// Sandbox performs a move of the signer or the review: onboarding.Sign, SignFail (reason "" is failed), Approve, Reject.
// Its outcomes are those of Submit, with WrongStatus where S0 3 has no such move.
func (m *Merchants) Sandbox(ctx context.Context, key wire.Key, id int64, t onboarding.Trigger, reason string) (onboarding.State, error) {
	op := "onboarding." + string(t)
	switch t {
	case onboarding.Sign, onboarding.SignFail, onboarding.Approve, onboarding.Reject:
	default:
		return onboarding.State{}, wire.Errorf(wire.Invalid, op, "want sign, fail, approve or reject")
	}
	reason, err := onboarding.CheckReason(op, reason)
	if err != nil {
		return onboarding.State{}, err
	}
	return m.write(ctx, op, id, key, []byte(reason), func(tx store.Tx, r *row) error { return m.move(tx, op, r, t, reason) })
}

// canonical applies the contract's rules and writes the application out again, for the key.
func canonical(op string, app onboarding.Application) ([]byte, error) {
	if err := check.Request(op, app); err != nil {
		return nil, err
	}
	body, err := wire.Encode(app)
	if err != nil {
		return nil, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	return body, nil
}

// write plays a keyed write on one application (id 0: on a new one) in one commit.
func (m *Merchants) write(ctx context.Context, op string, id int64, key wire.Key, body []byte, act func(store.Tx, *row) error) (onboarding.State, error) {
	var st onboarding.State
	err := m.Once(ctx, room.Keyed{Op: op, About: strconv.FormatInt(id, 10), Key: key, Body: body}, &st, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		st = onboarding.State{}
		var r row
		if id != 0 {
			if err := r.load(tx, id); err != nil {
				return none, err
			}
		}
		r.updated = now
		if err := act(tx, &r); err != nil {
			return none, err
		}
		st, err = m.state(&r)
		return none, err
	})
	if err != nil {
		return onboarding.State{}, err
	}
	m.opt.Deliver.Poke()
	return st, nil
}

// move takes an application along one row of S0 3 and tells its endpoints, all in the caller's commit.
func (m *Merchants) move(tx store.Tx, op string, r *row, t onboarding.Trigger, reason string) error {
	mv, ok := onboarding.Next(r.status, t)
	switch {
	case ok:
	case t == onboarding.Submit:
		return onboarding.Refused(op, onboarding.NotSubmittable, "the status is "+string(r.status))
	default:
		return onboarding.Refused(op, onboarding.WrongStatus, "the status is "+string(r.status))
	}
	if r.status, r.reason = mv.To, ""; mv.To == onboarding.SignatureFailed {
		r.reason = reason
	}
	if err := r.save(tx); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO merchants_move (application, from_status, to_status, reason, event, at_ms) VALUES (?, ?, ?, ?, ?, ?)`,
		r.id, string(mv.From), string(mv.To), r.reason, mv.Event, r.updated)
	if err != nil {
		return fmt.Errorf("store move: %w", err)
	}
	event := webhooks.Event{
		ID: webhooks.NewID(), MerchantNumber: m.opt.MerchantNumber, MerchantUUID: m.opt.MerchantUUID,
		Time: time.UnixMilli(r.updated).UTC(), Name: webhooks.Name(mv.Event),
		Data: &webhooks.Onboarding{OnboardingID: r.id, Status: string(mv.To), Reason: r.reason},
	}
	body, err := webhooks.Marshal(event)
	if err == nil {
		_, err = m.opt.Deliver.Emit(tx, deliver.Message{ID: event.ID, Event: mv.Event, Subject: r.subject(), Body: body})
	}
	if err != nil {
		return fmt.Errorf("emit %s: %w", mv.Event, err)
	}
	return nil
}

// subject names an application among those who have webhooks.
func (r *row) subject() string { return "onboarding " + strconv.FormatInt(r.id, 10) }

// register replaces an application's webhooks; nil keeps them.
func (m *Merchants) register(tx store.Tx, r *row, n *onboarding.Notifications) error {
	if n == nil {
		return nil
	}
	hooks := make([]deliver.Hook, 0, len(n.WebHooks))
	for _, h := range n.WebHooks {
		hook := deliver.Hook{Event: h.EventName, URL: h.URL, Authorization: h.Authorization}
		for _, pairs := range h.Headers {
			for _, name := range slices.Sorted(maps.Keys(pairs)) {
				hook.Headers = append(hook.Headers, [2]string{name, pairs[name]})
			}
		}
		hooks = append(hooks, hook)
	}
	return m.opt.Deliver.Register(tx, r.subject(), hooks)
}
