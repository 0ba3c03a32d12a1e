package update

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// changed says whether the second program's step is in the box's journal.
func (b *box) changed() bool {
	for _, name := range []string{"agent.db", "agent.db-wal"} {
		data, err := os.ReadFile(filepath.Join(b.state(), name))
		require.NoError(b.t, err)
		if bytes.Contains(data, []byte(step)) {
			return true
		}
	}
	return false
}

// TestAnUpdateThatWorks: the box gets the new program, keeps the one before, and puts it back when a person asks.
func TestAnUpdateThatWorks(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	b := newBox(t, d)
	if b == nil {
		return
	}
	code, said := b.updates("check")
	require.Zero(t, code, said)
	require.Contains(t, said, "2.0.0 is offered, and 1.0.0 is in place")
	require.Equal(t, firstVersion, b.version())

	code, said = b.updates("update")
	require.Zero(t, code, said)
	require.Contains(t, said, "updated from 1.0.0 to 2.0.0")
	require.Equal(t, secondVersion, b.version())
	require.NoFileExists(t, b.program()+".trial")
	require.FileExists(t, b.program()+".previous")
	require.True(t, b.changed())
	require.True(t, strings.HasPrefix(b.status(), "READY"), b.status())

	code, said = b.updates("update")
	require.Zero(t, code, said)
	require.Contains(t, said, "nothing to do")

	code, said = b.updates("rollback", "--reason", "the shop wants it")
	require.Zero(t, code, said)
	require.Equal(t, firstVersion, b.version())
	b.waitFor("the program before serves", func() bool { return strings.HasPrefix(b.status(), "READY") })
	code, said = b.updates("update")
	require.Zero(t, code, said)
	require.Contains(t, said, "the shop wants it", "it is not taken again by itself")
	require.Equal(t, firstVersion, b.version())
}

// TestAnUpdateThatDoesNot: whatever the new program does, the one before is back with the queue whole, in time, and it opens the
// journal that the new one has changed.
func TestAnUpdateThatDoesNot(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	faults := []string{"crash", "hang", "network", "line"}
	if !full {
		faults = faults[:1]
	}
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.offer(d.p.second, secondVersion)
			b := newBox(t, d)
			if b == nil {
				return
			}
			queued := 0
			if fault == "crash" { // it has to come through with something in the queue
				b.up.Kill()
				require.Equal(t, 202, b.pay("kept"))
				queued = b.pending()
				require.Equal(t, 1, queued)
			}
			require.NoError(t, os.WriteFile(b.program()+".fault", []byte(fault), 0o600))
			began := time.Now()
			code, said := b.updates("update")
			took := time.Since(began)
			require.Equal(t, 1, code, said)
			require.Contains(t, said, "was taken back")
			require.Less(t, took, 3*need.Limit()/2, "%s", said)
			t.Logf("%s: back after %s: %s", fault, took.Round(time.Second), lastLine(said))
			require.Equal(t, firstVersion, b.version())
			require.NoFileExists(t, b.program()+".trial")
			require.True(t, b.changed(), "it has changed the journal")
			b.waitFor("the program before serves", func() bool { return strings.HasPrefix(b.status(), "READY") })
			require.Equal(t, queued, b.pending())
			if fault == "crash" {
				b.startBackend()
				b.waitFor("the queue is sent", func() bool { return b.pending() == 0 })
				books, err := program.Books(d.p.first, b.books)
				require.NoError(t, err)
				require.Len(t, books, 1, "once")
			}
			code, said = b.updates("update")
			require.Zero(t, code, said)
			require.Contains(t, said, "it is tried again in", "not at once")
			code, said = b.updates("status", "--json")
			require.Zero(t, code, said)
			require.Contains(t, said, `"kept": false`)
		})
	}
}

func lastLine(s string) string {
	list := strings.Split(strings.TrimSpace(s), "\n")
	return list[len(list)-1]
}

// TestNoUpdateDuringASale: the terminal is restarted once the sale has ended, and no earlier.
func TestNoUpdateDuringASale(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	b := newBox(t, d)
	if b == nil {
		return
	}
	log, err := os.ReadFile(b.file("log"))
	require.NoError(t, err)
	line := ""
	for l := range strings.Lines(string(log)) {
		if at := program.Said(l, "register="); at != "" {
			line = at
		}
	}
	require.NotEmpty(t, line, string(log))
	pay := exec.Command(d.p.first, "register", "pay", "900.08", "--line", line) // nobody scans
	var talk program.Talk
	pay.Stdout, pay.Stderr = &talk, &talk
	sale, err := program.Run(pay)
	require.NoError(t, err)
	t.Cleanup(sale.Kill)
	b.waitFor("the sale is open", func() bool { return b.pending() == 1 })

	code, said := b.updates("update", "--idle", "2s")
	require.Equal(t, 6, code, said)
	require.Contains(t, said, "a sale is open")
	require.Equal(t, firstVersion, b.version(), "it was put back")
	require.True(t, sale.Alive(), talk.String())
	require.Equal(t, 1, b.pending())
}

// TestAKilledUpdateGoesOn: the updater is killed in the middle of a trial, and once more while it takes a program back.
func TestAKilledUpdateGoesOn(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	if !full {
		return
	}
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	b := newBox(t, d)
	if b == nil {
		return
	}
	kill := func(verb, word string, more ...string) {
		args := append([]string{verb, "--program", b.program(), "--terminal", b.state(), "--dir", b.file("updates"), "--target", "posagent-test",
			"--root", filepath.Join(d.repository(), "1.root.json"), "--steady", "3s", "--trial", "45s"}, more...)
		var talk program.Talk
		cmd := exec.Command(d.p.updater, args...)
		cmd.Stderr, cmd.Stdout = &talk, &talk
		p, err := program.Run(cmd)
		require.NoError(t, err)
		b.waitFor(word, func() bool { return strings.Contains(talk.String(), word) || !p.Alive() })
		require.NoError(t, p.Cmd.Process.Signal(syscall.SIGKILL), talk.String())
		<-p.Dead
	}
	require.NoError(t, os.WriteFile(b.program()+".fault", []byte("crash"), 0o600))
	kill("update", "is on trial", "--from", d.repository())
	_, said := b.updates("status")
	require.Contains(t, said, "under way: TRIAL")
	kill("resume", "is taken back")
	code, said := b.updates("resume")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "was taken back")
	require.Equal(t, firstVersion, b.version())

	require.NoError(t, os.Remove(b.program()+".fault"))
	kill("update", "is on trial", "--from", d.repository(), "--again")
	code, said = b.updates("resume")
	require.Zero(t, code, said)
	require.Equal(t, secondVersion, b.version())
	code, said = b.updates("resume")
	require.Zero(t, code, said)
	require.Contains(t, said, "no update was cut off")
}
