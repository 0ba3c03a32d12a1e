package hosted_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
)

// fixture is a fake in process, or behind Handler and Client.
func fixture(t *testing.T, fake *hostedtest.Fake, over bool) hostedtest.Fixture {
	f := hostedtest.Fixture{
		Sessions: fake.Sessions(), Orders: fake.Orders(), Approved: hostedtest.FakeApproved, Declined: hostedtest.FakeDeclined, Asks: hostedtest.FakeAsks,
		Fill:   func(t *testing.T, id, pan string) { require.True(t, fake.Fill(id, pan)) },
		Answer: func(t *testing.T, id string, pass bool) { require.True(t, fake.Answer(id, pass)) },
	}
	if over {
		srv := httptest.NewServer(hosted.Handler(fake.Sessions(), fake.Orders(), hosted.HandlerOptions{}))
		t.Cleanup(srv.Close)
		c := &hosted.Client{BaseURL: srv.URL, Doer: srv.Client()}
		f.Sessions, f.Orders = c.Sessions(), c.Orders()
		f.Wire = &hostedtest.Wire{BaseURL: srv.URL, Doer: srv.Client()}
	}
	return f
}

func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) { hostedtest.Run(t, fixture(t, &hostedtest.Fake{}, false)) })
	t.Run("over http", func(t *testing.T) { hostedtest.Run(t, fixture(t, &hostedtest.Fake{}, true)) })
}

const bugVariable = "HOSTED_FAKE_BUG"

// TestWithABug is run by TestTheSuiteFindsBugs in a process of its own.
func TestWithABug(t *testing.T) {
	hostedtest.Run(t, fixture(t, &hostedtest.Fake{Bug: os.Getenv(bugVariable)}, false))
}

func TestTheSuiteFindsBugs(t *testing.T) {
	for _, bug := range hostedtest.Bugs() {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWithABug$", "-test.failfast")
			cmd.Env = append(os.Environ(), bugVariable+"="+bug)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.True(t, errors.As(err, &exit), "the suite is green with a service that %s", bug)
			require.Contains(t, string(out), "--- FAIL: TestWithABug/")
		})
	}
}

// Finalize and cancel always have the list of warnings (S2 4), and no shop takes what was cancelled for paid.
func TestField_B4FinalizeHasWarnings(t *testing.T) {
	f := &hostedtest.Fake{}
	h := hosted.Handler(f.Sessions(), f.Orders(), hosted.HandlerOptions{})
	for path, want := range map[string]string{
		"finalize_payment": `{"state":"PAYMENT_COMPLETE","warnings":[],"operation":`,
		"cancel":           `{"state":"CANCELED","warnings":[]}`,
	} {
		b, err := f.Sessions().Build(t.Context(), "", hostedtest.Good())
		require.NoError(t, err)
		require.True(t, f.Fill(b.SessionID, "4111111111111111"))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/build/"+path, strings.NewReader(`{"sessionId":"`+b.SessionID+`"}`))
		r.Header.Set("Correlation-Id", "0123abcd-4567-89ef-0123-456789abcdef")
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
		require.True(t, strings.HasPrefix(rec.Body.String(), want), rec.Body.String())
	}
}
