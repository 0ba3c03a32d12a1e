package backend_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

func TestOnboardingConformance(t *testing.T) {
	b, srv := serve(t, t.TempDir(), -1)
	doer := bearer{srv.Client(), demoBearer}
	f := backendtest.Onboarding(b)
	both(t, func(t *testing.T) { onboardingtest.Run(t, f) }, func() {
		f.Service, f.Wire = &onboarding.Client{BaseURL: srv.URL, Doer: doer}, &wiretest.Site{BaseURL: srv.URL, Doer: doer}
	})
}

// Two applications over HTTP, and all six events at the applicant's own endpoint.
func TestOnboardingEventsArrive(t *testing.T) {
	arrived := make(chan webhooks.Event, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		e, bad := webhooks.Parse(body)
		if err != nil || bad != nil || r.Header.Get("Authorization") != "canary-authorization" || r.Header.Get("X-Shop") != "12" || r.Method != http.MethodPost {
			t.Errorf("%v %v %s", err, bad, body)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		arrived <- e
	}))
	t.Cleanup(receiver.Close)
	var log program.Talk
	b := run(t, backend.Config{
		Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", HookAllow: []string{strings.TrimPrefix(receiver.URL, "http://")},
		MerchantNumber: 4711, MerchantUUID: "0b1e6d1c-7f51-4b6e-9d3c-4f1f6f1a2b3c", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	url, doer := inMemory(t, b)
	client := &onboarding.Client{BaseURL: url, Doer: doer}
	app := onboardingtest.Fixture{HookURL: receiver.URL + "/hooks"}.Application()
	post := func(id int64, rest string) {
		text := onboarding.Prefix + "/" + strconv.FormatInt(id, 10) + rest
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+text, http.NoBody)
		require.NoError(t, err)
		resp, err := doer.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, rest)
	}
	var ids []int64
	for _, rests := range [][]string{{"/sign", "/approve"}, {"/fail", "/reject"}} {
		st, err := client.Create(t.Context(), wire.NewKey(), app)
		require.NoError(t, err)
		_, err = client.Submit(t.Context(), wire.NewKey(), st.OnboardingID)
		require.NoError(t, err)
		for _, rest := range rests {
			post(st.OnboardingID, rest)
		}
		ids = append(ids, st.OnboardingID)
	}
	got := map[int64]map[webhooks.Name]webhooks.Onboarding{ids[0]: {}, ids[1]: {}}
	for range 8 {
		e := need.Receive(t, "an event", arrived)
		data, ok := e.Data.(*webhooks.Onboarding)
		require.True(t, ok)
		require.EqualValues(t, 4711, e.MerchantNumber)
		require.Equal(t, "0b1e6d1c-7f51-4b6e-9d3c-4f1f6f1a2b3c", e.MerchantUUID)
		got[data.OnboardingID][e.Name] = *data
	}
	at := func(i int, status, reason string) webhooks.Onboarding {
		return webhooks.Onboarding{OnboardingID: ids[i], Status: status, Reason: reason}
	}
	require.Equal(t, map[int64]map[webhooks.Name]webhooks.Onboarding{
		ids[0]: {
			webhooks.OnboardingInitiated: at(0, "INITIATED", ""), webhooks.OnboardingAwaitingSignature: at(0, "AWAITING_SIGNATURE", ""),
			webhooks.OnboardingProcessing: at(0, "PROCESSING", ""), webhooks.OnboardingApproved: at(0, "APPROVED", ""),
		},
		ids[1]: {
			webhooks.OnboardingInitiated: at(1, "INITIATED", ""), webhooks.OnboardingAwaitingSignature: at(1, "AWAITING_SIGNATURE", ""),
			webhooks.OnboardingSignatureFailed: at(1, "SIGNATURE_FAILED", "failed"), webhooks.OnboardingAbandoned: at(1, "ABANDONED", ""),
		},
	}, got)
	require.NotContains(t, log.String(), "canary")
}

func TestOnboardingIsRefusedInItsOwnShape(t *testing.T) {
	_, srv := serve(t, t.TempDir(), -1)
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Authorization", "", http.StatusUnauthorized},
		{"Authorization", "Bearer ", http.StatusUnauthorized},
		{"Authorization", "Bearer POSAGENT-DEMO-BEARER", http.StatusUnauthorized},
		{"Authorization", "Basic " + strings.TrimPrefix(demoBearer, "Bearer "), http.StatusUnauthorized},
		{"Origin", "http://127.0.0.1", http.StatusForbidden},
		{"Origin", "null", http.StatusForbidden},
		{"Referer", "http://evil.example/", http.StatusForbidden},
	} {
		for _, path := range []string{onboarding.Prefix, "/API/V1/Onboarding/Applications/1/approve", onboarding.Prefix + "//"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader("{}"))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			if c.header != "Authorization" {
				req.Header.Set("Authorization", demoBearer)
			}
			if c.value != "" {
				req.Header.Set(c.header, c.value)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, c.status, resp.StatusCode, "%s %s: %s", path, c.value, body)
			require.Equal(t, wire.ProblemType, resp.Header.Get("Content-Type"))
			require.NotContains(t, string(body), "posagent-demo-bearer")
		}
	}
}
