package doctor

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// desk is an operator's backend that enrols terminals.
type desk struct {
	state string
	stop  func()
}

// operator starts one, for as long as the box is there.
func (b *box) operator() desk {
	b.t.Helper()
	d := desk{state: filepath.Join(b.dir, "desk")}
	p, _, err := program.Start(exec.Command(b.bin, "backend", "--fleet", "--listen", "127.0.0.1:0", "--state", d.state), "listening on ")
	require.NoError(b.t, err)
	d.stop = func() { _ = p.Cmd.Process.Signal(syscall.SIGTERM); <-p.Dead }
	b.t.Cleanup(d.stop)
	return d
}

// fleet runs a verb of the operator's.
func (b *box) fleet(d desk, args ...string) []byte {
	b.t.Helper()
	out, err := exec.Command(b.bin, append([]string{"backend", "fleet"}, append(args, "--state", d.state, "--json")...)...).Output()
	require.NoError(b.t, err)
	return out
}

// bareBox takes what names a backend out of the box's configuration: the operator gives it.
func (b *box) bareBox() {
	for key := range b.set {
		if strings.HasPrefix(key, "upstream.") || strings.HasPrefix(key, "terminal.") {
			delete(b.set, key)
		}
	}
	b.flags = []string{"--no-sandbox"}
	b.write()
}

// enrolled makes the box a terminal of an operator's, and returns the enrolment's id.
func (b *box) enrolled(d desk, serial string) (id string) {
	b.t.Helper()
	b.bareBox()
	var made struct {
		Ticket    string
		Enrolment struct{ ID string }
	}
	require.NoError(b.t, json.Unmarshal(b.fleet(d, "create", "--merchant", "M1", "--terminal", "T1", "--bax", "B1"), &made))
	b.must("enroll", made.Ticket, "--serial", serial)
	return made.Enrolment.ID
}

// enrolmentFaults are those of a box that is no terminal yet, or not any more.
func enrolmentFaults() []fault {
	return []fault{
		{name: "enrolment: all is well", seed: func(b *box) {
			b.enrolled(b.operator(), "PA-1")
			b.run(isReady)
		}},
		{name: "enrolment: none", want: "PA-CFG-009", code: 5, seen: "posagent enroll", quick: true, seed: func(b *box) {
			b.bareBox()
			b.run(notReady + "the terminal is not enrolled")
		}},
		{name: "enrolment: none, and the terminal does not run", want: "PA-CFG-009", code: 5, seen: "posagent enroll", quick: true, seed: func(b *box) { b.bareBox() }},
		{name: "enrolment: begun, and the operator's service is away", want: "PA-CFG-009", code: 5, seen: "is not at its end", quick: true, seed: func(b *box) {
			b.bareBox()
			out, err := b.command(b.t.Context(), "enroll", "7K3M-9QXD-2PV", "--url", "http://"+need.ClosedPort(b.t), "--serial", "PA-1").CombinedOutput()
			require.Error(b.t, err)
			require.Contains(b.t, string(out), "nothing is lost")
			b.run(notReady + "the enrolment at ")
		}},
		{name: "enrolment: revoked by the operator", as: "revoked key", want: "PA-CFG-009", code: 5, seen: "is not the terminal any more", seed: func(b *box) {
			d := b.operator()
			id := b.enrolled(d, "PA-1")
			b.run(isReady)
			b.stop()
			b.fleet(d, "revoke", id, "--reason", "stolen")
			b.run(notReady + "this box is not the terminal any more")
		}},
		{name: "enrolment: another box took its place", want: "PA-CFG-009", code: 5, seen: "is not the terminal any more", seed: func(b *box) {
			d := b.operator()
			b.enrolled(d, "PA-1")
			b.run(isReady)
			b.stop()
			other := newBox(b.t, b.bin, b.backend)
			other.enrolled(d, "PA-2")
			b.run(notReady + "this box is not the terminal any more")
		}},
		{name: "enrolment: the backend of the operator's revision refuses connections", want: "PA-NET-005", code: 1, seen: "[upstream] base in revision 1; ", seed: func(b *box) {
			d := b.operator()
			b.enrolled(d, "PA-1")
			b.run(isReady)
			b.stop()
			d.stop()
			b.run(isReady) // offline
		}},
	}
}
