package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// A terminal enrols by what the operator's verbs print, with the backend's own configuration, which is a good one. The verbs see it,
// and take it back.
func TestAFleetEnrols(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var talk bytes.Buffer
	up, ended := handed{make(chan string, 8)}, make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"backend", "--listen", "127.0.0.1:0", "--state", dir, "--fleet"}, std{nil, up, &talk})
	}()
	defer func() {
		stop()
		require.Equal(t, exitOK, <-ended, talk.String())
	}()
	require.Contains(t, <-up.to, "listening on http://127.0.0.1:")
	verb := func(into any, args ...string) int {
		var out, talk bytes.Buffer
		code := execute(t.Context(), append([]string{"backend", "fleet"}, append(args, "--state", dir, "--json")...), std{nil, &out, &talk})
		if code == exitOK {
			require.NoError(t, json.Unmarshal(out.Bytes(), into), out.String())
		}
		return code
	}
	var made struct {
		Ticket    string
		Enrolment fleet.Enrolment
	}
	require.Equal(t, exitOK, verb(&made, "create", "--merchant", "M1", "--terminal", "T1", "--bax", "B1"))
	ticket, err := fleet.ParseTicket(made.Ticket)
	require.NoError(t, err)

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	csr, err := fleet.NewRequest(key, "PA-1")
	require.NoError(t, err)
	client := &fleet.Client{BaseURL: ticket.URL, Doer: http.DefaultClient}
	got, err := client.Redeem(t.Context(), "", fleet.RedeemRequest{Code: ticket.Code, CSR: csr, SerialNumber: "PA-1"})
	require.NoError(t, err)
	require.NoError(t, fleet.Verify(got, ticket.Fingerprint, key.Public(), time.Now()))
	confirm := fleet.ConfirmRequest{Revision: 1}
	by, err := fleet.ProveConfirmation(key, got.EnrolmentID, time.Now(), confirm)
	require.NoError(t, err)
	_, err = client.Confirm(t.Context(), "", by, confirm)
	require.NoError(t, err)

	config := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(config, []byte(got.Configuration.Text.Reveal()), 0o600))
	var out, complaint bytes.Buffer
	require.Equal(t, exitOK, execute(t.Context(), []string{"config", "check", "--config", config}, std{nil, &out, &complaint}), complaint.String())
	require.Contains(t, out.String(), "ok, for "+ticket.URL)

	var list struct{ Enrolments []fleet.Enrolment }
	require.Equal(t, exitOK, verb(&list, "list", "--with", "confirmed"))
	require.Len(t, list.Enrolments, 1)
	require.Equal(t, "PA-1", list.Enrolments[0].SerialNumber)
	require.NoError(t, os.WriteFile(config, []byte("[terminal]\nterminal_id = \"T2\"\n"), 0o600))
	var configured struct{ Enrolment fleet.Enrolment }
	require.Equal(t, exitOK, verb(&configured, "configure", made.Enrolment.ID, "--toml", config))
	require.EqualValues(t, 2, configured.Enrolment.Revision)
	by, err = fleet.ProveConfiguration(key, got.EnrolmentID, time.Now())
	require.NoError(t, err)
	rev, err := client.Configuration(t.Context(), by)
	require.NoError(t, err)
	require.Equal(t, wire.Secret("[terminal]\nterminal_id = \"T2\"\n"), rev.Text)
	var revoked struct{ Enrolment fleet.Enrolment }
	require.Equal(t, exitOK, verb(&revoked, "revoke", made.Enrolment.ID, "--reason", "stolen"))
	require.Equal(t, fleet.Revoked, revoked.Enrolment.State)
	require.Equal(t, exitRefused, verb(&revoked, "configure", made.Enrolment.ID, "--toml", config), "what has ended is not configured")
	by, err = fleet.ProveConfiguration(key, got.EnrolmentID, time.Now())
	require.NoError(t, err)
	_, err = client.Configuration(t.Context(), by)
	require.Equal(t, fleet.CertRevoked, wire.ReasonOf(err), "%v", err)
}

// A backend that leads on to another address is not followed: a configuration has credentials.
func TestAConfigurationGoesNowhereElse(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	one := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}
	}))
	defer one.Close()
	file := filepath.Join(t.TempDir(), "box.toml")
	require.NoError(t, os.WriteFile(file, []byte("[terminal]\n"), 0o600))
	var out, talk bytes.Buffer
	code := execute(t.Context(), []string{"backend", "fleet", "create", "--toml", file, "--backend", one.URL}, std{nil, &out, &talk})
	require.NotEqual(t, exitOK, code)
	require.Zero(t, asked.Load(), talk.String())
}

// handed hands each write on.
type handed struct{ to chan string }

func (l handed) Write(p []byte) (int, error) {
	l.to <- string(p)
	return len(p), nil
}

// What the words of a key call a secret is every secret that the configuration has, and is what no roll-out of settings takes.
func TestNoSecretIsGivenToAllTerminals(t *testing.T) {
	secrets := 0
	for _, s := range config.Default().Settings() {
		if _, err := config.Literal(s.Key, ""); err != nil && strings.Contains(err.Error(), "a secret") {
			secrets++
			require.NotEmpty(t, fleet.Fleetwide(s.Key), s.Key)
		}
	}
	require.Greater(t, secrets, 10)
}
