package backend_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/disputes"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/wire/wiretest"
)

// desk is a backend whose clock a test moves.
func desk(t *testing.T, dir string) (*backend.Backend, string, *atomic.Int64) {
	t.Helper()
	var ahead atomic.Int64
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: dir, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF",
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	require.NoError(t, err)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = backend.Server(b.Handler())
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, b.Close())
	})
	return b, srv.URL, &ahead
}

func TestDisputesConformance(t *testing.T) {
	fixture := func(b *backend.Backend, ahead *atomic.Int64) disputestest.Fixture {
		return backendtest.Disputes(b, func(d time.Duration) { ahead.Add(int64(d)) })
	}
	t.Run("in process", func(t *testing.T) {
		b, _, ahead := desk(t, t.TempDir())
		disputestest.Run(t, fixture(b, ahead))
		booked(t, b)
	})
	t.Run("client to handler", func(t *testing.T) {
		b, url, ahead := desk(t, t.TempDir())
		f, doer := fixture(b, ahead), bearer{http.DefaultClient, demoBearer}
		c := &disputes.Client{BaseURL: url, Doer: doer, Dir: t.TempDir(), Operator: "Nets"}
		f.Service, f.Keys = c, c
		f.Wire = &wiretest.Site{BaseURL: url, Doer: doer}
		disputestest.Run(t, f)
	})
}

// What the dispute service judges is answered in its own shape: 200, responseCode 99 and a code.
func TestField_B3DisputesAnswerInTheirOwnShape(t *testing.T) {
	b, base, _ := desk(t, t.TempDir())
	bought := backendtest.Buyer(b, backendtest.Visa)(t, 1250)
	send := func(method, path, body string) (int, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, base+"/api/v1/disputes"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var out map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
		return resp.StatusCode, out
	}
	create := func(more string) (int, map[string]any) {
		return send("POST", "", `{"providerTransactionID":"`+bought.ID+`","providerFraudReasonCode":"F001"`+more+`}`)
	}
	for more, code := range map[string]string{
		`,"cardNumber":"4111111111111111"`:                                             "DIS0004E",
		`,"cardNumber":"` + base64.StdEncoding.EncodeToString(make([]byte, 256)) + `"`: "DIS0004E",
		`,"transactionAmount":12.5`:                                                    "DIS0004E",
		`,"transactionCurrency":"eur"`:                                                 "DIS0004E",
		`,"transactionAmount":-1250`:                                                   "DIS0002E",
		`,"disputeAmount":12.5`:                                                        "DIS0005E",
		`,"disputeAmount":-1250`:                                                       "DIS0005E",
		`,"disputeAmount":1,"disputeCurrency":"eur"`:                                   "DIS0005E",
		`,"transactionDate":"21.11.2026"`:                                              "DIS0012E",
	} {
		status, out := create(more)
		require.Equal(t, http.StatusOK, status, more)
		require.Equal(t, "99", out["responseCode"], more)
		require.Equal(t, code, out["disputeErrorCode"], more)
		require.NotEmpty(t, out["disputeErrorCodeText"], more)
		require.NotContains(t, out["disputeErrorCodeText"], "4111111111111111")
	}
	status, out := send("POST", "/list", `{"cardNumber":"4111111111111111"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "DIS0004E", out["disputeErrorCode"])

	_, made := create(`,"disputeAmount":1250,"transactionAmount":1250.00`)
	require.Equal(t, "00", made["responseCode"], made)
	number := made["disputeCaseNumber"].(string)
	status, out = send("PATCH", "/"+number, `{"acknowledgeClosure":"Y"}`) // a new case is in no queue that has it
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "99", out["responseCode"])
	require.Equal(t, "DIS0101E", out["errorCode"])
	status, _ = send("POST", "", `{"providerTransactionID":`) // nothing to judge
	require.Equal(t, http.StatusBadRequest, status)
}
