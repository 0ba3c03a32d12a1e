package onboarding_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	merchants "posagent/schemes/backend/onboarding"
	"posagent/schemes/backend/room"
	deliver "posagent/schemes/backend/webhooks"
	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

const uuid = "0b1e6d1c-7f51-4b6e-9d3c-4f1f6f1a2b3c"

// recorder is the real sender, with a copy of what was queued.
type recorder struct {
	*deliver.Deliver
	mu   sync.Mutex
	sent []deliver.Message
	fail error
}

func (r *recorder) Emit(tx store.Tx, m deliver.Message) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, r.fail
	}
	r.sent = append(r.sent, m)
	return r.Deliver.Emit(tx, m)
}

func steps() []store.Step {
	var out []store.Step
	for _, list := range [][]store.Step{deliver.Schema(), room.Schema(), merchants.Schema()} {
		out = append(out, list...)
	}
	return out
}

func desk(tb testing.TB) (*merchants.Merchants, *recorder, store.Store) {
	tb.Helper()
	return deskOn(tb, storetest.Open(tb, steps()...))
}

func deskOn(tb testing.TB, db store.Store) (*merchants.Merchants, *recorder, store.Store) {
	tb.Helper()
	var mu sync.Mutex
	at := time.Date(2026, 11, 21, 10, 0, 0, 123_400_000, time.UTC)
	rec := &recorder{Deliver: deliver.New(deliver.Options{DB: db})}
	m, err := merchants.New(merchants.Options{Deliver: rec, MerchantNumber: 100000001, MerchantUUID: uuid, Options: room.Options{DB: db, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}}})
	require.NoError(tb, err)
	return m, rec, db
}

func TestConformance(t *testing.T) {
	m, rec, _ := desk(t)
	onboardingtest.Run(t, onboardingtest.Fixture{Service: m, Sandbox: m.Sandbox})
	// Every message is an event that a receiver understands, and its id is its own.
	seen := map[string]bool{}
	for _, msg := range rec.sent {
		e, err := webhooks.Parse(msg.Body)
		require.NoError(t, err)
		require.Equal(t, msg.ID, e.ID)
		require.Equal(t, msg.Event, string(e.Name))
		require.False(t, seen[e.ID])
		seen[e.ID] = true
		require.NotContains(t, string(msg.Body), "canary")
	}
	moves, err := m.Moves(t.Context())
	require.NoError(t, err)
	require.Len(t, moves, len(rec.sent), "one event per move")
}

func app(events ...string) onboarding.Application {
	a := onboarding.Application{Notifications: &onboarding.Notifications{}}
	for _, e := range events {
		a.Notifications.WebHooks = append(a.Notifications.WebHooks, onboarding.WebHook{EventName: e, URL: "https://receiver.example/hooks", Authorization: "canary-authorization"})
	}
	return a
}

// The six events, byte for byte but for their ids (S0 6.5).
func TestEventsAreThoseOfTheSpecification(t *testing.T) {
	m, rec, _ := desk(t)
	ctx := t.Context()
	run := func(steps ...func(id int64) error) {
		st, err := m.Create(ctx, "", onboarding.Application{})
		require.NoError(t, err)
		for _, step := range steps {
			require.NoError(t, step(st.OnboardingID))
		}
	}
	box := func(trigger onboarding.Trigger, reason string) func(int64) error {
		return func(id int64) error {
			_, err := m.Sandbox(ctx, "", id, trigger, reason)
			return err
		}
	}
	submit := func(id int64) error {
		_, err := m.Submit(ctx, "", id)
		return err
	}
	run(submit, box(onboarding.Sign, ""), box(onboarding.Approve, ""))
	run(submit, box(onboarding.SignFail, "expired"), box(onboarding.Reject, ""))
	run(submit, box(onboarding.Sign, ""), box(onboarding.Reject, ""))
	require.Equal(t, []string{
		event(1, "10:00:01", "initiated", "100001", "INITIATED", ""),
		event(2, "10:00:02", "awaiting_signature", "100001", "AWAITING_SIGNATURE", ""),
		event(3, "10:00:03", "processing", "100001", "PROCESSING", ""),
		event(4, "10:00:04", "approved", "100001", "APPROVED", ""),
		event(5, "10:00:05", "initiated", "100002", "INITIATED", ""),
		event(6, "10:00:06", "awaiting_signature", "100002", "AWAITING_SIGNATURE", ""),
		event(7, "10:00:07", "signature_failed", "100002", "SIGNATURE_FAILED", "expired"),
		event(8, "10:00:08", "abandoned", "100002", "ABANDONED", ""),
		event(9, "10:00:09", "initiated", "100003", "INITIATED", ""),
		event(10, "10:00:10", "awaiting_signature", "100003", "AWAITING_SIGNATURE", ""),
		event(11, "10:00:11", "processing", "100003", "PROCESSING", ""),
		event(12, "10:00:12", "abandoned", "100003", "ABANDONED", ""),
	}, bodies(t, rec.sent))
	for _, msg := range rec.sent {
		require.Empty(t, msg.ContentType)
		require.Equal(t, deliver.Standard, msg.Schedule)
	}
}

func event(n int, at, name, id, status, reason string) string {
	if reason != "" {
		reason = `,"reason":"` + reason + `"`
	}
	return `{"id":"id-` + strconv.Itoa(n) + `","merchantId":"` + uuid + `","merchantNumber":100000001,"timestamp":"2026-11-21T` + at +
		`.1230+00:00","event":"onboarding.` + name + `","data":{"onboardingId":` + id + `,"status":"` + status + `"` + reason + `}}`
}

// bodies writes the ids out as numbers.
func bodies(t *testing.T, list []deliver.Message) (out []string) {
	t.Helper()
	shape := regexp.MustCompile(`"id":"[0-9a-f]{32}"`)
	for i, m := range list {
		require.True(t, shape.Match(m.Body), string(m.Body))
		out = append(out, string(shape.ReplaceAll(m.Body, []byte(`"id":"id-`+strconv.Itoa(i+1)+`"`))))
	}
	return out
}

// queued says which events wait for their endpoints.
func queued(t *testing.T, r *recorder) []string {
	t.Helper()
	list, err := r.List(t.Context(), deliver.Filter{})
	require.NoError(t, err)
	var out []string
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i].Event)
	}
	return out
}

func TestExactlyTheNamedEventsAreSent(t *testing.T) {
	m, rec, _ := desk(t)
	ctx := t.Context()
	st, err := m.Create(ctx, "", app("onboarding.initiated", "onboarding.processing", "onboarding.iniated", "payment.created"))
	require.NoError(t, err)
	other, err := m.Create(ctx, "", onboarding.Application{})
	require.NoError(t, err)
	_, err = m.Submit(ctx, "", other.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, []string{"onboarding.initiated"}, queued(t, rec))
	// An update without notifications keeps them, one with others replaces them, one with none removes them.
	_, err = m.Update(ctx, "", st.OnboardingID, onboarding.Application{Reference: "x"})
	require.NoError(t, err)
	_, err = m.Submit(ctx, "", st.OnboardingID)
	require.NoError(t, err)
	_, err = m.Sandbox(ctx, "", st.OnboardingID, onboarding.Sign, "")
	require.NoError(t, err)
	require.Equal(t, []string{"onboarding.initiated", "onboarding.processing"}, queued(t, rec))
	for _, a := range []onboarding.Application{app("onboarding.awaiting_signature"), app()} {
		st, err = m.Create(ctx, "", app("onboarding.initiated"))
		require.NoError(t, err)
		_, err = m.Update(ctx, "", st.OnboardingID, a)
		require.NoError(t, err)
		_, err = m.Submit(ctx, "", st.OnboardingID)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"onboarding.initiated", "onboarding.processing", "onboarding.initiated", "onboarding.awaiting_signature", "onboarding.initiated"}, queued(t, rec))
}

// rows counts what is stored.
func rows(t require.TestingT, db store.Store, ctx context.Context) (n [3]int) {
	require.NoError(t, db.Read(ctx, func(r store.Reader) error {
		for i, table := range []string{"merchants_application", "merchants_move", "once_answer"} {
			if err := r.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n[i]); err != nil {
				return err
			}
		}
		return nil
	}))
	return n
}

func TestARefusedWebhookLeavesNothing(t *testing.T) {
	m, rec, db := desk(t)
	ctx := t.Context()
	st, err := m.Create(ctx, wire.NewKey(), app("onboarding.initiated"))
	require.NoError(t, err)
	before := rows(t, db, ctx)
	for _, url := range []string{
		"http://receiver.example/", "https://127.0.0.1/", "https://[::1]/", "https://0/", "https://2130706433/", "https://169.254.169.254/",
		"https://localhost/", "https://box.local/", "https://10.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/",
	} {
		bad := app("onboarding.initiated")
		bad.Reference, bad.Notifications.WebHooks[0].URL = "changed", url
		_, err := m.Create(ctx, wire.NewKey(), bad)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", url, err)
		require.NotContains(t, err.Error(), "canary")
		_, err = m.Update(ctx, wire.NewKey(), st.OnboardingID, bad)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", url, err)
	}
	for _, header := range []string{"Host", "Content-Length", "Transfer-Encoding", "a b", "X\u00e4"} {
		bad := app("onboarding.initiated")
		bad.Notifications.WebHooks[0].Headers = []map[string]string{{header: "x"}}
		_, err := m.Create(ctx, wire.NewKey(), bad)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", header, err)
	}
	require.Equal(t, before, rows(t, db, ctx))
	got, err := m.Read(ctx, st.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, st, got)
	_, err = m.Submit(ctx, "", st.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, []string{"onboarding.initiated"}, queued(t, rec), "the hooks are the old ones")
}

// A commit whose answer was lost is unknown, never "not stored": the same key finds what it has come to.
func TestACommitThatIsNotKnownIsUnknown(t *testing.T) {
	m, _, db := deskOn(t, storetest.Forgets(storetest.Open(t, steps()...)))
	key := wire.NewKey()
	_, err := m.Create(t.Context(), key, app("onboarding.initiated"))
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
	require.ErrorIs(t, err, store.ErrCommitUnknown)
	before := rows(t, db, t.Context())
	st, err := m.Create(t.Context(), key, app("onboarding.initiated"))
	require.NoError(t, err)
	require.NotZero(t, st.OnboardingID)
	require.Equal(t, before, rows(t, db, t.Context()), "it was stored the first time")
}

// An event that cannot be queued takes its move back with it.
func TestNoMoveWithoutItsEvent(t *testing.T) {
	m, rec, db := desk(t)
	ctx := t.Context()
	st, err := m.Create(ctx, "", app("onboarding.initiated"))
	require.NoError(t, err)
	before := rows(t, db, ctx)
	rec.fail = errors.New("disk")
	key := wire.NewKey()
	_, err = m.Submit(ctx, key, st.OnboardingID)
	require.Equal(t, wire.Internal, wire.CodeOf(err), "%v", err)
	_, err = m.Create(ctx, key, app())
	require.Equal(t, wire.Internal, wire.CodeOf(err), "%v", err)
	require.Equal(t, before, rows(t, db, ctx))
	rec.fail = nil
	got, err := m.Submit(ctx, key, st.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, onboarding.AwaitingSignature, got.Status)
}

func TestAReplayTellsNothingTwice(t *testing.T) {
	m, rec, _ := desk(t)
	ctx := t.Context()
	key := wire.NewKey()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			st, err := m.Create(ctx, key, app("onboarding.initiated", "onboarding.awaiting_signature"))
			if err == nil {
				_, _ = m.Submit(ctx, key, st.OnboardingID)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []string{"onboarding.initiated", "onboarding.awaiting_signature"}, queued(t, rec))
	// A refusal is an answer too: it stays when the state would allow the move later.
	st, err := m.Create(ctx, "", app())
	require.NoError(t, err)
	early := wire.NewKey()
	_, err = m.Sandbox(ctx, early, st.OnboardingID, onboarding.Sign, "")
	require.Equal(t, onboarding.WrongStatus, wire.ReasonOf(err))
	_, err = m.Submit(ctx, "", st.OnboardingID)
	require.NoError(t, err)
	_, err = m.Sandbox(ctx, early, st.OnboardingID, onboarding.Sign, "")
	require.Equal(t, onboarding.WrongStatus, wire.ReasonOf(err))
	// One key may be used on two applications, and on two kinds of calls.
	other, err := m.Create(ctx, early, app())
	require.NoError(t, err)
	require.NotEqual(t, st.OnboardingID, other.OnboardingID)
	for _, id := range []int64{st.OnboardingID, other.OnboardingID} {
		got, err := m.Update(ctx, early, id, onboarding.Application{Reference: "same"})
		if id == st.OnboardingID {
			require.Equal(t, onboarding.NotEditable, wire.ReasonOf(err))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, id, got.OnboardingID)
	}
	// Another reason is another body.
	lost := wire.NewKey()
	_, err = m.Sandbox(ctx, lost, st.OnboardingID, onboarding.SignFail, "expired")
	require.NoError(t, err)
	_, err = m.Sandbox(ctx, lost, st.OnboardingID, onboarding.SignFail, "cancelled")
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
	_, err = m.Sandbox(ctx, "", st.OnboardingID, onboarding.Submit, "")
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
}

func TestAnApplicationSurvivesARestartAndItsSecretsAreSealed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "backend.db")
	db := storetest.OpenAt(t, path, steps()...)
	m, _, _ := deskOn(t, db)
	a := app("onboarding.approved")
	a.Reference, a.Merchant = "shop 12", &onboarding.Merchant{CompanyName: "Fisk AB"}
	a.Notifications.WebHooks[0].Headers = []map[string]string{{"X-Shop": "canary-header"}}
	key := wire.NewKey()
	st, err := m.Create(t.Context(), key, a)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	db = storetest.OpenAt(t, path, steps()...)
	m, _, _ = deskOn(t, db)
	got, err := m.Read(t.Context(), st.OnboardingID)
	require.NoError(t, err)
	require.Equal(t, st, got)
	got, err = m.Create(t.Context(), key, a)
	require.NoError(t, err)
	require.Equal(t, st, got)
	next, err := m.Create(t.Context(), "", onboarding.Application{})
	require.NoError(t, err)
	require.Equal(t, st.OnboardingID+1, next.OnboardingID)
	require.NoError(t, db.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.False(t, bytes.Contains(data, []byte("canary")), f)
	}
}

// Whatever is asked in whatever order, the history is a path through S0 3, and the last step is the status.
func TestTheHistoryIsAlwaysAPath(t *testing.T) {
	m, rec, db := desk(t)
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		first, err := m.Moves(ctx)
		require.NoError(t, err)
		var ids []int64
		for range rapid.IntRange(1, 3).Draw(t, "applications") {
			st, err := m.Create(ctx, "", app("onboarding.approved"))
			require.NoError(t, err)
			ids = append(ids, st.OnboardingID)
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			var key wire.Key
			if rapid.Bool().Draw(t, "keyed") {
				key = wire.Key(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key") + string(wire.NewKey())[:8])
			}
			switch trigger := rapid.SampledFrom([]onboarding.Trigger{onboarding.Initiate, onboarding.Submit, onboarding.Sign, onboarding.SignFail, onboarding.Approve, onboarding.Reject}).Draw(t, "trigger"); trigger {
			case onboarding.Initiate:
				_, err = m.Update(ctx, key, id, onboarding.Application{Reference: "r"})
			case onboarding.Submit:
				_, err = m.Submit(ctx, key, id)
			default:
				_, err = m.Sandbox(ctx, key, id, trigger, "")
			}
			if err != nil {
				require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
			}
		}
		moves, err := m.Moves(ctx)
		require.NoError(t, err)
		at := map[int64]onboarding.Status{}
		for _, mv := range moves[len(first):] {
			require.Equal(t, at[mv.Application], mv.From)
			want := false
			for _, row := range onboarding.Moves() {
				want = want || row.From == mv.From && row.To == mv.To && row.Event == mv.Event
			}
			require.True(t, want, "%+v", mv)
			at[mv.Application] = mv.To
		}
		for _, id := range ids {
			st, err := m.Read(ctx, id)
			require.NoError(t, err)
			require.Equal(t, at[id], st.Status)
			text, err := json.Marshal(st)
			require.NoError(t, err)
			require.NotContains(t, string(text), "canary")
		}
	})
	require.Len(t, rec.sent, rows(t, db, ctx)[1], "one event per move")
}
