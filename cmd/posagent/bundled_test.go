package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/agent/lifecycle/enrol"
	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
)

// Each refusal of a bundle has an exit code and says what to do.
func TestBundlesAreRefusedWithARemedy(t *testing.T) {
	for _, tc := range []struct {
		err    error
		code   int
		remedy string
	}{
		{fleet.ErrBundle, exitFailed, "to the stick again"}, {fleet.ErrBundleNewer, exitRefused, "install that program"}, {fleet.ErrBundleCode, exitAuth, "read the code again"},
		{fleet.ErrBundleSigner, exitAuth, "tell the operator"}, {enrol.ErrOtherBox, exitRefused, "take it to that box"}, {enrol.ErrOlder, exitRefused, "use the newer one"},
		{enrol.ErrExpired, exitRefused, "date -u -s"}, {&enrol.RefusedError{Err: errors.New("used up")}, exitAuth, "ask the operator for another"},
	} {
		var e *exit
		require.ErrorAs(t, bundleRefused("a.pabundle", fmt.Errorf("seen: %w", tc.err)), &e)
		require.Equal(t, tc.code, e.Code, tc.err)
		require.ErrorIs(t, e, tc.err)
		require.Contains(t, e.Error(), "a.pabundle: ")
		require.Contains(t, e.Error(), tc.remedy)
	}
	require.NoError(t, bundleRefused("a.pabundle", nil))
	require.ErrorIs(t, bundleRefused("a.pabundle", enrol.ErrBusy), enrol.ErrBusy)
}

// The operator vouches for the addresses that the bundle has, and not for those that this box sets; and only until it is confirmed.
func TestTheOperatorVouchesForItsOwnAddresses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(file, []byte("[upstream]\ntokens = \"https://typed.example\"\n"), 0o600))
	text := "[terminal]\nbax_id = \"B\"\nterminal_id = \"T\"\nmerchant_id = \"M\"\n[upstream]\nbase = \"https://pay.example\"\npaylinks = \"https://links.example\"\n"
	cfg, err := config.Load(file, nil, config.Layer{Name: layerName(3), Text: []byte(text)})
	require.NoError(t, err)
	require.Equal(t, []string{"payments", "paylinks", "schemes", "methods", "hosted", "disputes"}, vouched(cfg, enrol.Active{Revision: 3, Unconfirmed: true}))
	require.Empty(t, vouched(cfg, enrol.Active{Revision: 3}))
	require.Empty(t, vouched(cfg, enrol.Active{Revision: 2, Unconfirmed: true}))
	over, err := config.Load(file, []string{"POSAGENT_UPSTREAM_BASE=https://other.example"}, config.Layer{Name: layerName(3), Text: []byte(text)})
	require.NoError(t, err)
	require.Equal(t, []string{"paylinks"}, vouched(over, enrol.Active{Revision: 3, Unconfirmed: true}))
}

// A certificate that was renewed is the same device: the backend's answer to the one before is proof enough.
func TestARenewedCertificateNeedsNoNewProof(t *testing.T) {
	made := func(key *ecdsa.PrivateKey, serial int64) config.Config {
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(serial)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
		require.NoError(t, err)
		pair := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
		return config.Config{Upstream: config.Upstream{Device: func() *tls.Certificate { return pair }}}
	}
	one, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	two, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	require.Equal(t, settingsOf(made(one, 2)), settingsOf(made(one, 3)))
	require.NotEqual(t, settingsOf(made(one, 2)), settingsOf(made(two, 2)))
	require.NotEqual(t, settingsOf(made(one, 2)), settingsOf(config.Config{}))
}

// What a service says reaches a terminal window as one line without commands.
func TestTheHistoryIsOneLineEach(t *testing.T) {
	for _, what := range []string{enrol.Enrolled, enrol.TakenFromBundle, enrol.TakenUp, enrol.GivenUp, enrol.Chosen, enrol.Renewed, enrol.RefusedCode, enrol.Revoked, "of a newer program"} {
		text := changeText(enrol.Entry{What: what, Text: "a\x1b[2J\r\nb\u009b31m", Revision: 2, To: 1})
		require.NotEmpty(t, text)
		require.NotRegexp(t, `[\x00-\x1f\x7f-\x{9f}]`, text, what)
	}
}

// buffer may be written and read at once.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A terminal whose certificate has used up two thirds of its time gets another while it runs, and goes on with it.
func TestARunningTerminalRenewsItsCertificate(t *testing.T) {
	need.Verify(t, "waits up to a minute for the terminal to look at its certificate")
	t.Parallel()
	began := time.Now()
	const age = 600 * 24 * time.Hour // of 731 days
	var present atomic.Bool          // the desk's clock: it has issued the certificate long ago
	clock := func() time.Time {
		if present.Load() {
			return time.Now()
		}
		return time.Now().Add(-age)
	}
	srv := httptest.NewUnstartedServer(nil)
	soon := 50 * time.Millisecond
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), PublicURL: "http://" + srv.Listener.Addr().String(), WalletDelay: &soon, Fleet: true, Now: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	handler := b.Handler()
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if r.URL.Path == "/fleet/v1/enrolments" {
			present.Store(true)
		}
	})
	srv.Start()
	t.Cleanup(srv.Close)
	made, err := b.Fleet().Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M1", TerminalID: "T1", BaxID: "B1"}})
	require.NoError(t, err)

	dir := t.TempDir()
	file, state := filepath.Join(dir, "c.toml"), filepath.Join(dir, "s")
	require.NoError(t, os.WriteFile(file, []byte("[port]\nlisten = \"127.0.0.1:0\"\n[ecr]\ntcp = \"127.0.0.1:0\"\n[display]\nconsole = false\n"), 0o600))
	ticket := fleet.Ticket{URL: made.URL, Code: made.Code, Fingerprint: made.Fingerprint}
	var talk bytes.Buffer
	require.Equal(t, exitOK, execute(t.Context(), []string{"enroll", ticket.Text(), "--serial", "PA-1", "--config", file, "--state", state}, std{strings.NewReader(""), io.Discard, &talk}), talk.String())
	box := enrol.At(filepath.Join(state, "enrolment"), time.Now)
	first, err := box.Active()
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	out, ended := &buffer{}, make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"run", "--config", file, "--state", state}, std{strings.NewReader(""), out, io.Discard})
	}()
	defer func() {
		stop()
		require.Equal(t, exitOK, <-ended)
	}()
	need.Until(t, "another certificate, and the terminal ready with it", func() bool {
		now, err := box.Active()
		return err == nil && !sameCertificate(now.Certificate, first.Certificate) && strings.Count(out.String(), "ready port=") >= 2
	})
	s, err := box.Summary()
	require.NoError(t, err)
	until, err := time.Parse(time.RFC3339, s.Certificate)
	require.NoError(t, err)
	require.WithinRange(t, until, began.AddDate(2, 0, -1), time.Now().AddDate(2, 0, 1))
	list, err := b.Fleet().List(t.Context(), fleet.ListRequest{})
	require.NoError(t, err)
	require.Equal(t, s.Certificate, list.Enrolments[0].CertificateExpiresAt)
	code, text, _ := ask(t, "history", "--config", file, "--state", state)
	require.Equal(t, exitOK, code)
	require.Contains(t, text, "the certificate was renewed: until ")
}
