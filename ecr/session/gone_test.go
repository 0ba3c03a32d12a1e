package session

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/zvt/frame"
)

const repeat = "06 20 05 12 34 56 03 03"

// TestField_L2OpenDialogueIsNotTakenOver: a stranger's 06 20 neither acknowledges in the register's
// place nor ends its dialogue, while the sale runs and while 04 0F waits for its answer.
func TestField_L2OpenDialogueIsNotTakenOver(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, a *peer, l *lines.Pipes) {
		a.register(noPrint)
		a.begin(payOpen)
		b := connect(t, l)
		began := time.Now()
		b.send(repeat)
		b.expect("80 00 00")
		require.Zero(t, time.Since(began), "answered at once")
		b.expect("06 1E 01 A0")
		require.Equal(t, 11*time.Second, time.Since(began))
		b.send("80 00 00")
		b.send(repeat)
		b.expect("80 00 00")
		d.Approve()
		a.expectApproval()
		b.send("80 00 00") // an acknowledgement of nothing
		b.expect("06 1E 01 A0")
		b.send("80 00 00")
		require.Empty(t, d.Recorded(), "told by nobody but the register that asked")
		a.send("80 00 00")
		a.expect("06 0F 00")
		a.send("80 00 00")
		require.Equal(t, []string{"told s1"}, d.Recorded())
		b.send(repeat)
		b.expect("80 00 00")
		b.expectApproval()
	})
}

// TestField_L2ALostDialogueIsTakenOver: the 06 20 that waits is told the outcome once the
// connection that asked is gone, or once its dialogue is over; of two that wait, the first comes
// first.
func TestField_L2ALostDialogueIsTakenOver(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, a *peer, l *lines.Pipes) {
		a.begin(payOpen)
		d.Approve()
		a.expectApproval()
		b, c := connect(t, l), connect(t, l)
		b.send(repeat)
		b.expect("80 00 00")
		c.send(repeat)
		c.expect("80 00 00")
		<-time.After(9 * time.Second)
		require.NoError(t, a.conn.Close())
		b.expectApproval()
		synctest.Wait()
		require.Equal(t, []string{"lost s1"}, d.Recorded())
		c.expect("06 1E 01 A0") // b has the dialogue now
		c.send("80 00 00")
		c.send(repeat)
		c.expect("80 00 00")
		b.send("80 00 00")
		for got := b.next(); got != "060F00"; got = b.next() { // its receipts
			b.send("80 00 00")
		}
		b.send("80 00 00")
		c.expectApproval()
		c.send("80 00 00")
		synctest.Wait()
		require.Equal(t, []string{"lost s1", "told s1", "told s1"}, d.Recorded())
	})
}

// switchOff lets a register's end of a connection answer nothing any more, not even the kernel's
// probes: what a register without power does.
func switchOff(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
	program := unix.SockFprog{Len: uint16(len(drop)), Filter: &drop[0]}
	require.NoError(t, raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	}))
	if errors.Is(err, unix.EPERM) {
		need.Missing(t, "the right to filter a socket", "run it as root")
	}
	require.NoError(t, err)
}

// TestField_L2ARegisterWithoutPowerGetsItsDialogueBack: lines whose register loses power in the
// middle of a sale, some while the sale runs, some while 04 0F waits. A connection that asks for
// the status and answers everything confirms nothing; the register's own 06 20 after its restart is
// told. HALF_OPEN is the number of lines.
func TestField_L2ARegisterWithoutPowerGetsItsDialogueBack(t *testing.T) {
	t.Parallel()
	lines, err := strconv.Atoi(cmp.Or(os.Getenv("HALF_OPEN"), "6"))
	require.NoError(t, err)
	type one struct {
		d    *desk.Desk
		back *peer
		at   time.Time
	}
	var all []one
	for i := range lines {
		d := desk.New()
		address, _ := serveTCP(t, d, nil)
		off, stranger, back := dial(t, address), dial(t, address), dial(t, address)
		off.register(noPrint)
		off.begin(payOpen)
		switch i % 3 {
		case 0: // the sale runs
			switchOff(t, off.conn)
		case 1: // 04 0F arrives and is not answered
			d.Approve()
			off.expectApproval()
			switchOff(t, off.conn)
		case 2: // 04 0F does not arrive
			switchOff(t, off.conn)
			d.Approve()
		}
		stranger.send("05 01 05 12 34 56 03 02")
		stranger.expect("80 00 00", "06 0F 01 9C")
		stranger.send("80 00 00 80 00 00 84 00 00")
		back.send(repeat)
		back.expect("80 00 00")
		all = append(all, one{d, back, time.Now()})
	}
	within, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	for i, l := range all { // the lines wait side by side
		if i%3 == 0 {
			require.NoError(t, l.d.Until(within, "06 20 begins", func() bool { return l.d.Sales[0].Held == 1 }))
			l.d.Approve()
		}
		got := l.back.next()
		t.Logf("line %d after %s: %s", i, time.Since(l.at), got)
		require.Equal(t, "04 0F 27 00", got[:2]+" "+got[2:4]+" "+got[6:8]+" "+got[8:10])
		require.NotContains(t, l.d.Recorded(), "told s1", "confirmed before the register was asked")
		l.back.send("80 00 00")
		l.back.expect("06 0F 00")
		l.back.send("80 00 00")
		require.Contains(t, l.d.Recorded(), "told s1")
	}
}

// TestField_L6ASaleAskedForAnewIsNotTheOldOne: a register that starts again and asks for a sale
// gets the old 04 0F across it. It acknowledges that by itself; the old sale is lost all the same,
// and the new one is told.
func TestField_L6ASaleAskedForAnewIsNotTheOldOne(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"tcp", "serial"} {
		t.Run(line, func(t *testing.T) {
			d := desk.New()
			var link frame.Transport
			if line == "tcp" {
				address, _ := serveTCP(t, d, nil)
				conn, err := net.Dial("tcp", address)
				require.NoError(t, err)
				link = frame.NewTCP(conn, 0)
			} else {
				end, path := cablePair(t)
				p := newTTYs(path)
				serveSerial(t, d, p, frame.Config{})
				<-p.opened
				link = frame.New(end, frame.Config{})
			}
			t.Cleanup(func() { _ = link.Close() })
			within, cancel := context.WithTimeout(t.Context(), need.Limit())
			defer cancel()
			send := func(text string) { require.NoError(t, link.Send(within, unhexed(t, text))) }
			until := func(class, instr byte) {
				for {
					got, err := link.Receive(within)
					require.NoError(t, err)
					if got[0] == class && got[1] == instr {
						return
					}
				}
			}
			send("06 00 06 12 34 56 00 09 78")
			until(0x06, 0x0F)
			send("80 00 00")
			send(pay)
			until(0x04, 0x0F)
			send("06 01 07 04 00 00 00 00 20 00") // before it answers
			send("80 00 00")
			until(0x04, 0x0F)
			send("80 00 00")
			for len(d.Recorded()) < 2 { // where the answer may have been to the old one, it is asked once more
				got, err := link.Receive(within)
				require.NoError(t, err)
				if got[0] == 0x04 {
					send("80 00 00")
				} else if got[0] == 0x06 {
					break
				}
			}
			require.Equal(t, []string{"lost s1", "told s2"}, d.Recorded())
			require.Len(t, d.Begun, 2)
			require.EqualValues(t, 2000, d.Begun[1].Amount)
		})
	}
}
