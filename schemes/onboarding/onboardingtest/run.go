package onboardingtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven, with the moves of signer and review. Every Key is fresh, so one service serves the
// whole run.
type Fixture struct {
	Service onboarding.Service
	// Sandbox moves an application as the signer or the review would.
	Sandbox func(ctx context.Context, key wire.Key, id int64, t onboarding.Trigger, reason string) (onboarding.State, error)
	HookURL string // an address that webhooks may have; "" = https://receiver.example/hooks
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.NotNil(t, f.Sandbox)
	if f.HookURL == "" {
		f.HookURL = "https://receiver.example/hooks"
	}
	wiretest.Groups{
		{"life", f.life}, {"moves", f.moves}, {"edit", f.edit}, {"idempotency", f.idempotency},
		{"unknown", f.unknown}, {"validation", f.validation},
	}.Run(t, f.Wire != nil, f.wire)
}

// Application makes a good application.
func (f Fixture) Application() onboarding.Application {
	app := onboarding.Application{
		Reference: "shop 12",
		Merchant: &onboarding.Merchant{
			RegistrationNumber: "556000-0000", CompanyName: "Kött & Fisk AB", ContactFirstName: "Ann", ContactLastName: "Öberg",
			Address: &onboarding.Address{Address1: "Storgatan 1", Address2: "c/o Öberg", City: "Malmö", PostalCode: "211 34", CountryCode: "SE"},
			Email:   "ann@shop.example", Phone: "+46701234567",
		},
		Notifications: &onboarding.Notifications{},
	}
	for _, m := range onboarding.Moves() {
		app.Notifications.WebHooks = append(app.Notifications.WebHooks, onboarding.WebHook{
			EventName: m.Event, URL: f.HookURL, Authorization: "canary-authorization", Headers: []map[string]string{{"X-Shop": "12"}},
		})
	}
	app.Notifications.WebHooks = app.Notifications.WebHooks[:len(app.Notifications.WebHooks)-1] // two moves share an event
	return app
}

func (f Fixture) made(t *testing.T) onboarding.State {
	t.Helper()
	st, err := f.Service.Create(t.Context(), wire.NewKey(), f.Application())
	require.NoError(t, err)
	return st
}

// at brings a new application to a status.
func (f Fixture) at(t *testing.T, status onboarding.Status) onboarding.State {
	t.Helper()
	ways := map[onboarding.Status][]onboarding.Trigger{
		onboarding.Initiated:         {},
		onboarding.AwaitingSignature: {onboarding.Submit},
		onboarding.SignatureFailed:   {onboarding.Submit, onboarding.SignFail},
		onboarding.Processing:        {onboarding.Submit, onboarding.Sign},
		onboarding.Approved:          {onboarding.Submit, onboarding.Sign, onboarding.Approve},
		onboarding.Abandoned:         {onboarding.Submit, onboarding.Sign, onboarding.Reject},
	}
	st := f.made(t)
	for _, trigger := range ways[status] {
		var err error
		st, err = f.do(t.Context(), "", st.OnboardingID, trigger)
		require.NoError(t, err)
	}
	require.Equal(t, status, st.Status)
	return st
}

func (f Fixture) do(ctx context.Context, key wire.Key, id int64, trigger onboarding.Trigger) (onboarding.State, error) {
	if trigger == onboarding.Submit {
		return f.Service.Submit(ctx, key, id)
	}
	return f.Sandbox(ctx, key, id, trigger, "")
}

func (f Fixture) life(t *testing.T) {
	t.Run("new", func(t *testing.T) {
		app := f.Application()
		st, err := f.Service.Create(t.Context(), wire.NewKey(), app)
		require.NoError(t, err)
		require.Equal(t, onboarding.Initiated, st.Status)
		require.Positive(t, st.OnboardingID)
		require.Len(t, st.MerchantID, 36)
		require.Positive(t, st.MerchantNumber)
		require.Equal(t, app.Reference, st.Reference)
		require.Equal(t, app.Merchant, st.Merchant)
		require.Empty(t, st.Reason)
		for _, s := range []string{st.Created, st.Updated} {
			_, err := time.Parse(time.RFC3339, s)
			require.NoError(t, err)
		}
		other := f.made(t)
		require.NotEqual(t, st.OnboardingID, other.OnboardingID)
		got, err := f.Service.Read(t.Context(), st.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, st, got)
	})
	t.Run("empty", func(t *testing.T) {
		st, err := f.Service.Create(t.Context(), "", onboarding.Application{})
		require.NoError(t, err)
		st, err = f.Service.Submit(t.Context(), "", st.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, onboarding.AwaitingSignature, st.Status)
	})
	for _, reason := range []string{"", onboarding.ReasonFailed, onboarding.ReasonExpired, onboarding.ReasonCancelled} {
		t.Run("failed signature "+reason, func(t *testing.T) {
			st := f.at(t, onboarding.AwaitingSignature)
			st, err := f.Sandbox(t.Context(), "", st.OnboardingID, onboarding.SignFail, reason)
			require.NoError(t, err)
			if reason == "" {
				reason = onboarding.ReasonFailed
			}
			require.Equal(t, onboarding.SignatureFailed, st.Status)
			require.Equal(t, reason, st.Reason)
			got, err := f.Service.Read(t.Context(), st.OnboardingID)
			require.NoError(t, err)
			require.Equal(t, st, got)
			st, err = f.Sandbox(t.Context(), "", st.OnboardingID, onboarding.Reject, "")
			require.NoError(t, err)
			require.Equal(t, onboarding.Abandoned, st.Status)
			require.Empty(t, st.Reason)
		})
	}
	t.Run("reason nobody knows", func(t *testing.T) {
		st := f.at(t, onboarding.AwaitingSignature)
		_, err := f.Sandbox(t.Context(), "", st.OnboardingID, onboarding.SignFail, "lost")
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		got, err := f.Service.Read(t.Context(), st.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, st, got)
	})
}

// moves walks every status and every trigger: what S0 3 has no row for is refused and changes nothing.
func (f Fixture) moves(t *testing.T) {
	for _, from := range []onboarding.Status{
		onboarding.Initiated, onboarding.AwaitingSignature, onboarding.SignatureFailed, onboarding.Processing, onboarding.Approved, onboarding.Abandoned,
	} {
		for _, trigger := range []onboarding.Trigger{onboarding.Submit, onboarding.Sign, onboarding.SignFail, onboarding.Approve, onboarding.Reject} {
			t.Run(string(from)+" "+string(trigger), func(t *testing.T) {
				st := f.at(t, from)
				key := wire.NewKey()
				got, err := f.do(t.Context(), key, st.OnboardingID, trigger)
				if m, ok := onboarding.Next(from, trigger); ok {
					require.NoError(t, err)
					require.Equal(t, m.To, got.Status)
					again, err := f.do(t.Context(), key, st.OnboardingID, trigger)
					require.NoError(t, err, "the same key is the same move")
					require.Equal(t, got, again)
					return
				}
				want := onboarding.WrongStatus
				if trigger == onboarding.Submit {
					want = onboarding.NotSubmittable
				}
				for range 2 {
					require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
					require.Equal(t, want, wire.ReasonOf(err), "%v", err)
					_, err = f.do(t.Context(), key, st.OnboardingID, trigger)
				}
				got, err = f.Service.Read(t.Context(), st.OnboardingID)
				require.NoError(t, err)
				require.Equal(t, st, got)
			})
		}
	}
}

func (f Fixture) edit(t *testing.T) {
	t.Run("initiated", func(t *testing.T) {
		st := f.made(t)
		app := f.Application()
		app.Reference, app.Merchant.CompanyName, app.Merchant.Address = "shop 13", "Other AB", nil
		got, err := f.Service.Update(t.Context(), wire.NewKey(), st.OnboardingID, app)
		require.NoError(t, err)
		require.Equal(t, onboarding.Initiated, got.Status)
		require.Equal(t, st.OnboardingID, got.OnboardingID)
		require.Equal(t, st.Created, got.Created)
		require.Equal(t, app.Reference, got.Reference)
		require.Equal(t, app.Merchant, got.Merchant)
		read, err := f.Service.Read(t.Context(), st.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, got, read)
		got, err = f.Service.Update(t.Context(), "", st.OnboardingID, onboarding.Application{})
		require.NoError(t, err)
		require.Empty(t, got.Reference)
		require.Nil(t, got.Merchant, "what is left out is gone")
	})
	for _, status := range []onboarding.Status{
		onboarding.AwaitingSignature, onboarding.SignatureFailed, onboarding.Processing, onboarding.Approved, onboarding.Abandoned,
	} {
		t.Run(string(status), func(t *testing.T) {
			st := f.at(t, status)
			_, err := f.Service.Update(t.Context(), wire.NewKey(), st.OnboardingID, onboarding.Application{Reference: "late"})
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
			require.Equal(t, onboarding.NotEditable, wire.ReasonOf(err))
			got, err := f.Service.Read(t.Context(), st.OnboardingID)
			require.NoError(t, err)
			require.Equal(t, st, got)
		})
	}
}

func (f Fixture) idempotency(t *testing.T) {
	key := wire.NewKey()
	first, err := f.Service.Create(t.Context(), key, f.Application())
	require.NoError(t, err)
	t.Run("same body gives the same answer", func(t *testing.T) {
		again, err := f.Service.Create(t.Context(), key, f.Application())
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
	t.Run("other body is refused", func(t *testing.T) {
		for name, change := range map[string]func(*onboarding.Application){
			"reference":     func(a *onboarding.Application) { a.Reference += "!" },
			"merchant":      func(a *onboarding.Application) { a.Merchant.Phone = "1" },
			"authorization": func(a *onboarding.Application) { a.Notifications.WebHooks[0].Authorization = "other" },
			"header":        func(a *onboarding.Application) { a.Notifications.WebHooks[0].Headers[0]["X-Shop"] = "13" },
			"webhook":       func(a *onboarding.Application) { a.Notifications.WebHooks = a.Notifications.WebHooks[1:] },
		} {
			other := f.Application()
			change(&other)
			_, err := f.Service.Create(t.Context(), key, other)
			require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%s: %v", name, err)
		}
	})
	t.Run("update", func(t *testing.T) {
		key, app := wire.NewKey(), f.Application()
		app.Reference = "changed"
		a, err := f.Service.Update(t.Context(), key, first.OnboardingID, app)
		require.NoError(t, err)
		_, err = f.Service.Update(t.Context(), "", first.OnboardingID, f.Application())
		require.NoError(t, err)
		b, err := f.Service.Update(t.Context(), key, first.OnboardingID, app)
		require.NoError(t, err)
		require.Equal(t, a, b, "a replay tells the answer of then")
		now, err := f.Service.Read(t.Context(), first.OnboardingID)
		require.NoError(t, err)
		require.Equal(t, f.Application().Reference, now.Reference, "and changes nothing")
		_, err = f.Service.Update(t.Context(), key, first.OnboardingID, f.Application())
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("keys that are none", func(t *testing.T) {
		for _, key := range []wire.Key{"a b", "ä", wire.Key(make([]byte, 65))} {
			_, err := f.Service.Create(t.Context(), key, f.Application())
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			_, err = f.Service.Submit(t.Context(), key, first.OnboardingID)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		}
	})
	t.Run("at once", func(t *testing.T) {
		key := wire.NewKey()
		ids := wiretest.AtOnce(func(int) int64 {
			st, err := f.Service.Create(t.Context(), key, f.Application())
			if err != nil {
				return 0
			}
			return st.OnboardingID
		})
		delete(ids, 0)
		require.Len(t, ids, 1, "one key, one application")
	})
	t.Run("submitted once of many", func(t *testing.T) {
		st := f.made(t)
		won := wiretest.AtOnce(func(int) bool {
			_, err := f.Service.Submit(t.Context(), wire.NewKey(), st.OnboardingID)
			return err == nil
		})
		require.Equal(t, 1, won[true])
	})
}

func (f Fixture) unknown(t *testing.T) {
	for _, id := range []int64{1, 1<<63 - 1} {
		_, err := f.Service.Read(t.Context(), id)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = f.Service.Update(t.Context(), wire.NewKey(), id, f.Application())
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = f.Service.Submit(t.Context(), wire.NewKey(), id)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	}
}

func (f Fixture) validation(t *testing.T) {
	st := f.made(t)
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			app := f.Application()
			c.Break(&app)
			_, err := f.Service.Create(t.Context(), wire.NewKey(), app)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
			require.NotContains(t, err.Error(), "canary")
			_, err = f.Service.Update(t.Context(), wire.NewKey(), st.OnboardingID, app)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
		})
	}
	got, err := f.Service.Read(t.Context(), st.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, st, got, "a refused update changes nothing")
}
