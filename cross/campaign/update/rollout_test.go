package update

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/fleet"
)

// desk runs a verb of the fleet's operator, which has to succeed.
func (b *box) desk(args ...string) string {
	b.t.Helper()
	out, err := exec.Command(b.d.p.first, append(append([]string{"backend", "fleet"}, args...), "--state", b.books)...).Output()
	require.NoError(b.t, err, "%v: %s", args, out)
	return string(out)
}

// ticket makes a code for a box of its own terminal.
func (b *box) ticket(serial string) string {
	b.t.Helper()
	var made struct{ Ticket string }
	require.NoError(b.t, json.Unmarshal([]byte(b.desk("create", "--merchant", "M1", "--terminal", serial, "--bax", "B1", "--json")), &made))
	return made.Ticket
}

// other enrols another box of the fleet, by the contract alone, and tells how its update to the second version ended.
func (b *box) other(serial string, kept bool) {
	b.t.Helper()
	ticket, err := fleet.ParseTicket(b.ticket(serial))
	require.NoError(b.t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b.t, err)
	csr, err := fleet.NewRequest(key, serial)
	require.NoError(b.t, err)
	client := &fleet.Client{BaseURL: ticket.URL, Doer: http.DefaultClient}
	got, err := client.Redeem(b.t.Context(), "", fleet.RedeemRequest{Code: ticket.Code, CSR: csr, SerialNumber: serial})
	require.NoError(b.t, err)
	confirm := fleet.ConfirmRequest{Revision: 1}
	by, err := fleet.ProveConfirmation(key, got.EnrolmentID, time.Now(), confirm)
	require.NoError(b.t, err)
	_, err = client.Confirm(b.t.Context(), "", by, confirm)
	require.NoError(b.t, err)
	report := fleet.ReportRequest{Version: firstVersion, Update: fleet.Outcome{Version: secondVersion, Reason: "it has ended 4 times", At: "2026-11-23T10:00:00Z"}}
	if kept {
		report = fleet.ReportRequest{Version: secondVersion, Update: fleet.Outcome{Version: secondVersion, Kept: true, At: "2026-11-23T10:00:00Z"}}
	}
	by, err = fleet.ProveReport(key, got.EnrolmentID, time.Now(), report)
	require.NoError(b.t, err)
	_, err = client.Report(b.t.Context(), "", by, report)
	require.NoError(b.t, err)
}

// holds waits until the box holds something, or nothing.
func (b *box) holds(something bool) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf("the box holds something: %v", something), func() bool {
		_, err := os.Stat(b.file("state/enrolment/held.json"))
		return something == !errors.Is(err, fs.ErrNotExist)
	})
}

// became is what the desk has of the second version.
func (b *box) became() fleet.Rollout {
	b.t.Helper()
	var all struct{ Versions []fleet.Rollout }
	require.NoError(b.t, json.Unmarshal([]byte(b.desk("rollout", "--json")), &all))
	for _, v := range all.Versions {
		if v.Version == secondVersion {
			return v
		}
	}
	return fleet.Rollout{}
}

// TestAHeldRollout: two boxes of three take a version back, and the fourth, a real one, does not take it until the operator lifts the
// hold. What becomes of it there the operator sees.
func TestAHeldRollout(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	b := unpacked(t, d, "--fleet")
	if b == nil {
		return
	}
	config := fmt.Sprintf("[ecr]\nserial = %q\ntcp = \"127.0.0.1:0\"\n[display]\nconsole = false\n", b.cable.Name)
	require.NoError(t, os.WriteFile(b.file("config.toml"), []byte(config), 0o600))
	enroll := exec.Command(b.program(), "enroll", b.ticket("PA-4"), "--serial", "PA-4", "--config", b.file("config.toml"), "--state", b.state())
	out, err := enroll.CombinedOutput()
	require.NoError(t, err, "%s", out)
	b.other("PA-1", false)
	b.other("PA-2", true)
	require.Empty(t, b.became().HeldAt)
	b.other("PA-3", false)
	require.NotEmpty(t, b.became().HeldAt)
	b.supervise()
	b.waitFor("the terminal is ready", func() bool { return strings.HasPrefix(b.status(), "READY") })

	b.holds(true)
	for _, verb := range []string{"check", "update"} {
		code, said := b.updates(verb)
		require.Zero(t, code, said)
		require.Contains(t, said, "nothing to do: 2.0.0 is held: 2 of 3 boxes took it back", verb)
	}
	require.Equal(t, firstVersion, b.version())

	require.Contains(t, b.desk("rollout", "--lift", secondVersion), secondVersion)
	b.mu.Lock()
	require.NoError(t, b.run.Process.Signal(syscall.SIGTERM)) // it asks at its start, and else every minute
	b.mu.Unlock()
	b.holds(false)
	b.waitFor("the terminal is ready", func() bool { return strings.HasPrefix(b.status(), "READY") })
	code, said := b.updates("update")
	require.Zero(t, code, said)
	require.Equal(t, secondVersion, b.version())
	b.waitFor("the desk hears of it", func() bool { return b.became().Kept == 1 })
	require.Contains(t, b.desk("list", "--serial", "PA-4"), "  2.0.0, kept 2.0.0\n")

	code, said = b.updates("rollback", "--reason", "the card 4111-1111 1111 1111 was not read")
	require.Equal(t, 2, code, said)
	require.Contains(t, said, "the reason has 16 digits")
	require.Equal(t, secondVersion, b.version())
	code, said = b.updates("rollback", "--reason", "the card was not read")
	require.Zero(t, code, said)
	b.waitFor("the desk hears of it", func() bool { return b.became().TakenBack == 1 })
	require.Contains(t, b.desk("list", "--serial", "PA-4"), "took 2.0.0 back: the card was not read\n")
	require.Empty(t, b.became().HeldAt, "one box since it was lifted")
}
