package onboardingtest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Fake is an onboarding.Service in memory, enough to prove clients, handlers and callers. The zero value works.
type Fake struct {
	mu     sync.Mutex
	list   []onboarding.State
	keys   map[string]fakeCall
	Events []string // of every application, in the order of their moves
}

type fakeCall struct {
	body string
	out  onboarding.State
	err  error
}

var _ onboarding.Service = (*Fake)(nil)

const fakeOp = "fake"

// Create implements onboarding.Service.
func (f *Fake) Create(_ context.Context, key wire.Key, app onboarding.Application) (onboarding.State, error) {
	if err := check.Request(fakeOp, app); err != nil {
		return onboarding.State{}, err
	}
	return f.once("create", key, app, func() (onboarding.State, error) {
		n := int64(len(f.list) + 1001)
		at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Format(time.RFC3339)
		f.list = append(f.list, onboarding.State{
			OnboardingID: n, MerchantID: "00000000-0000-4000-8000-000000000001", MerchantNumber: 100000001,
			Created: at, Updated: at, Reference: app.Reference, Merchant: app.Merchant,
		})
		return f.move(n, onboarding.Initiate, "")
	})
}

// once performs act under the key; refusals are kept too.
func (f *Fake) once(scope string, key wire.Key, app onboarding.Application, act func() (onboarding.State, error)) (onboarding.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == "" {
		return act()
	}
	if _, err := wire.ParseKey(string(key)); err != nil {
		return onboarding.State{}, &wire.Error{Code: wire.Invalid, Op: fakeOp, Err: err}
	}
	body, err := wire.Encode(app)
	if err != nil {
		return onboarding.State{}, err
	}
	at := scope + " " + string(key)
	if before, ok := f.keys[at]; ok {
		if before.body != string(body) {
			return onboarding.State{}, wire.Errorf(wire.KeyReused, fakeOp, "key was used with another body")
		}
		return before.out, before.err
	}
	out, err := act()
	if err == nil || wire.CodeOf(err) == wire.Conflict {
		if f.keys == nil {
			f.keys = map[string]fakeCall{}
		}
		f.keys[at] = fakeCall{string(body), out, err}
	}
	return out, err
}

func (f *Fake) find(id int64) (*onboarding.State, error) {
	for i := range f.list {
		if f.list[i].OnboardingID == id {
			return &f.list[i], nil
		}
	}
	return nil, wire.Errorf(wire.NotFound, fakeOp, "no such application")
}

func (f *Fake) move(id int64, t onboarding.Trigger, reason string) (onboarding.State, error) {
	st, err := f.find(id)
	if err != nil {
		return onboarding.State{}, err
	}
	m, ok := onboarding.Next(st.Status, t)
	if !ok {
		why := onboarding.WrongStatus
		if t == onboarding.Submit {
			why = onboarding.NotSubmittable
		}
		return onboarding.State{}, onboarding.Refused(fakeOp, why, "the status is "+string(st.Status))
	}
	st.Status, st.Reason = m.To, ""
	if m.To == onboarding.SignatureFailed {
		st.Reason = reason
	}
	f.Events = append(f.Events, m.Event)
	return *st, nil
}

// Read implements onboarding.Service.
func (f *Fake) Read(_ context.Context, id int64) (onboarding.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.find(id)
	if err != nil {
		return onboarding.State{}, err
	}
	return *st, nil
}

// Update implements onboarding.Service.
func (f *Fake) Update(_ context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	if err := check.Request(fakeOp, app); err != nil {
		return onboarding.State{}, err
	}
	return f.once("update "+strconv.FormatInt(id, 10), key, app, func() (onboarding.State, error) {
		st, err := f.find(id)
		if err != nil {
			return onboarding.State{}, err
		}
		if !st.Status.Editable() {
			return onboarding.State{}, onboarding.Refused(fakeOp, onboarding.NotEditable, "the status is "+string(st.Status))
		}
		st.Reference, st.Merchant = app.Reference, app.Merchant
		return *st, nil
	})
}

// Submit implements onboarding.Service.
func (f *Fake) Submit(_ context.Context, key wire.Key, id int64) (onboarding.State, error) {
	return f.once("submit "+strconv.FormatInt(id, 10), key, onboarding.Application{}, func() (onboarding.State, error) {
		return f.move(id, onboarding.Submit, "")
	})
}

// Sandbox performs a move of signer or review.
func (f *Fake) Sandbox(_ context.Context, key wire.Key, id int64, t onboarding.Trigger, reason string) (onboarding.State, error) {
	reason, err := onboarding.CheckReason(fakeOp, reason)
	if err != nil {
		return onboarding.State{}, err
	}
	return f.once(string(t)+strconv.FormatInt(id, 10), key, onboarding.Application{Reference: reason}, func() (onboarding.State, error) {
		return f.move(id, t, reason)
	})
}
