package enrol

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
)

// result is what `posagent enroll --json` says.
type result struct {
	State, ID            string
	Enrolled             bool
	BundleInUse          bool
	CertificateExpiresAt string
	Revision             int64
}

// enroll runs a verb to its end.
func enroll(t *testing.T, about string, verb []string) (r result) {
	t.Helper()
	out, err := exec.Command(verb[0], verb[1:]...).CombinedOutput()
	require.NoError(t, err, "%s: %s", about, out)
	require.NoError(t, json.Unmarshal(out[strings.IndexByte(string(out), '{'):], &r), "%s: %s", about, out)
	return r
}

const box = "[ecr]\ntcp = \"127.0.0.1:0\"\n[port]\nlisten = \"127.0.0.1:0\"\n[display]\nconsole = false\n"

// TestAKilledBundleGoesOn: whatever call the taking up of a bundle is killed at, the same command ends it without a network, and the
// terminal is the operator's once there is one; the code is burned once, by this box.
func TestAKilledBundleGoesOn(t *testing.T) {
	need.Verify(t, "kills at each system call")
	strace := need.Tool(t, "strace")
	rounds, step := size(10)
	dir := t.TempDir()
	bin := program.Path(t, "posagent")
	desk := filepath.Join(dir, "backend")
	backend, _, err := program.Start(exec.Command(bin, "backend", "--fleet", "--listen", "127.0.0.1:0", "--state", desk), "listening on ")
	require.NoError(t, err)
	t.Cleanup(backend.Kill)
	online, away := filepath.Join(dir, "box.toml"), filepath.Join(dir, "away.toml")
	require.NoError(t, os.WriteFile(online, []byte(box), 0o600))
	require.NoError(t, os.WriteFile(away, []byte(box+"[upstream]\nproxy = \"http://"+need.ClosedPort(t)+"\"\n"), 0o600))

	boxes, killed := 0, 0
	for range rounds {
		for _, call := range []string{"flock", "openat", "fsync", "renameat", "write", "read"} {
			for at := 1; at <= most; at += step {
				boxes++
				serial := fmt.Sprintf("PA-%d", boxes)
				stick, state := filepath.Join(dir, serial+".pabundle"), filepath.Join(dir, serial)
				var made struct {
					Code      string
					Enrolment struct{ ID string }
				}
				out, err := exec.Command(bin, "backend", "fleet", "bundle", "--serial", serial, "--merchant", "M1", "--terminal", serial, "--bax", "B1", "--out", stick, "--state", desk, "--json").Output()
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(out, &made))
				about := fmt.Sprintf("%s %d", call, at)
				verb := []string{bin, "enroll", made.Code, "--bundle", stick, "--serial", serial, "--state", state, "--json", "--config", away}
				_, survived := kill(t, strace, call, at, verb)
				if !survived {
					killed++
				}
				got := enroll(t, about, verb)
				require.True(t, got.BundleInUse, about)
				require.False(t, got.Enrolled, about)
				require.Equal(t, made.Enrolment.ID, got.ID, about)
				again := []string{bin, "enroll", "--serial", serial, "--state", state, "--json", "--config", online}
				if boxes%2 == 0 {
					kill(t, strace, call, at, again)
				}
				got = enroll(t, about, again)
				require.True(t, got.Enrolled, about)
				require.False(t, got.BundleInUse, about)
				require.Equal(t, made.Enrolment.ID, got.ID, about)
				require.NoError(t, os.RemoveAll(state))
				require.NoError(t, os.Remove(stick))
				if survived {
					break
				}
			}
		}
	}
	var list struct {
		Enrolments []struct{ State string }
	}
	out, err := exec.Command(bin, "backend", "fleet", "list", "--state", desk, "--json").Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &list))
	require.Len(t, list.Enrolments, min(boxes, 1000))
	for _, e := range list.Enrolments {
		require.Equal(t, "CONFIRMED", e.State)
	}
	require.Greater(t, killed, 15*rounds/step, "the kills met their calls")
	t.Logf("%d boxes with bundles, %d killed: 0 lost, 0 codes burned for nobody", boxes, killed)
}

// TestAKilledRenewalGoesOn: whatever call a renewal is killed at, the terminal has the old certificate or the new one, and the next
// attempt ends with the one that the operator sees.
func TestAKilledRenewalGoesOn(t *testing.T) {
	need.Verify(t, "kills at each system call")
	strace := need.Tool(t, "strace")
	rounds, step := size(10)
	dir := t.TempDir()
	bin := program.Path(t, "posagent")
	config := filepath.Join(dir, "box.toml")
	require.NoError(t, os.WriteFile(config, []byte(box), 0o600))

	const age = 600 * 24 * time.Hour // of 731 days: the desk has issued the certificate long ago
	var past atomic.Bool
	clock := func() time.Time {
		if past.Load() {
			return time.Now().Add(-age)
		}
		return time.Now()
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
			past.Store(false)
		}
	})
	srv.Start()
	t.Cleanup(srv.Close)

	boxes, killed := 0, 0
	for range rounds {
		for _, call := range calls {
			for at := 1; at <= most; at += step {
				boxes++
				serial, about := fmt.Sprintf("PA-%d", boxes), fmt.Sprintf("%s %d", call, at)
				past.Store(true)
				made, err := b.Fleet().Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M1", TerminalID: serial, BaxID: "B1"}})
				require.NoError(t, err)
				ticket := fleet.Ticket{URL: made.URL, Code: made.Code, Fingerprint: made.Fingerprint}
				state := filepath.Join(dir, serial)
				verb := []string{bin, "enroll", "--config", config, "--state", state, "--json"}
				old := enroll(t, about, append(verb, ticket.Text(), "--serial", serial))
				_, survived := kill(t, strace, call, at, verb)
				if !survived {
					killed++
				}
				got := enroll(t, about, verb)
				require.Greater(t, got.CertificateExpiresAt, old.CertificateExpiresAt, about)
				list, err := b.Fleet().List(t.Context(), fleet.ListRequest{SerialNumber: serial})
				require.NoError(t, err)
				require.Len(t, list.Enrolments, 1)
				require.Equal(t, fleet.Confirmed, list.Enrolments[0].State)
				require.Equal(t, list.Enrolments[0].CertificateExpiresAt, got.CertificateExpiresAt, about)
				require.NoError(t, os.RemoveAll(state))
				if survived {
					break
				}
			}
		}
	}
	require.Greater(t, killed, 20*rounds/step, "the kills met their calls")
	t.Logf("%d renewals, %d killed: 0 lost, each terminal has the certificate that the operator sees", boxes, killed)
}
