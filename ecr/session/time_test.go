package session

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
)

func connect(t *testing.T, l *lines.Pipes) *peer {
	conn := l.Dial()
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{t: t, conn: conn}
}

// inTime runs a session and a register in made-up time; it fails on any goroutine that is left
// behind.
func inTime(t *testing.T, d *desk.Desk, play func(t *testing.T, p *peer, l *lines.Pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.Changed = make(chan struct{})
		l := lines.NewPipes()
		s := set("tcp", d).session()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.ServeTCP(ctx, l) }()
		p := connect(t, l)
		play(t, p, l)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		synctest.Wait()
		require.Zero(t, s.Stats().Connections)
	})
}

func TestIntermediateStatusKeepsTheRegisterWaiting(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.register(withStatus)
		p.send(payOpen)
		p.expect("80 00 00", "04 FF 01 0E")
		last := time.Now()
		for range 20 { // longer than T4
			p.send("80 00 00")
			p.expect("04 FF 01 0E")
			require.LessOrEqual(t, time.Since(last), 15*time.Second)
			last = time.Now()
		}
		p.send("80 00 00")
		d.Approve()
		p.expectApproval()
		p.send("80 00 00")
		p.expect("06 0F 00")
		p.send("80 00 00")
		synctest.Wait()
		require.Equal(t, []string{"told s1"}, d.Recorded())
	})
}

func TestUnansweredIntermediateStatusDoesNotHoldUpTheOutcome(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.register(withStatus)
		p.send(payOpen)
		p.expect("80 00 00", "04 FF 01 0E") // and no answer
		start := time.Now()
		d.Approve()
		p.expectApproval()
		require.LessOrEqual(t, time.Since(start), 5*time.Second)
		p.send("80 00 00")
		p.expect("06 0F 00")
	})
}

func TestNoAnswerToTheOutcomeIsLost(t *testing.T) {
	for _, c := range []struct {
		send string
		wait time.Duration
	}{{pay, 30 * time.Second}, {"06 01 09 01 14 04 00 00 00 00 12 50", 20 * time.Second}} {
		d := desk.New()
		inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
			p.send(c.send)
			p.expect("80 00 00")
			p.expectApproval()
			start := time.Now()
			require.NoError(t, d.Until(t.Context(), "lost", func() bool { return len(d.Deliveries) == 1 }))
			require.Equal(t, c.wait, time.Since(start))
			require.Equal(t, []string{"lost s1"}, d.Recorded())
			p.send("05 01 05 12 34 56 03 02")
			p.expect("80 00 00", "06 0F 01 00")
		})
	}
}

func TestAskAgainKeepsThePause(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.send("06 01 09 02 02 04 00 00 00 00 12 50")
		p.expect("80 00 00")
		start := time.Now()
		for i := range 4 { // the first time and BMP 02 + 1 more
			p.expectApproval()
			require.Equal(t, time.Duration(i)*2*time.Second, time.Since(start))
			p.send("84 9C 00")
		}
		p.expect("04 0F 07 27 6C")
		p.send("80 00 00")
		p.expect("06 1E 01 6C")
		require.Equal(t, []string{"refused s1"}, d.Recorded())
	})
}

func TestDeliveryIsRecordedInTheEnd(t *testing.T) {
	d := desk.New()
	d.Failures = 3
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.register(noPrint)
		p.begin(pay)
		p.expectApproval()
		p.send("80 00 00")
		p.expect("06 0F 00")
		require.Equal(t, []string{"told s1"}, d.Recorded())
	})
	// Longer than the register waits: it gets its completion, the record is made all the same, even
	// without a line.
	d = desk.New()
	d.Failures = 9
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.register(noPrint)
		p.begin(pay)
		p.expectApproval()
		p.send("80 00 00")
		start := time.Now()
		p.expect("06 0F 00")
		require.LessOrEqual(t, time.Since(start), recordWithin)
		require.Empty(t, d.Recorded())
		require.NoError(t, p.conn.Close())
		require.NoError(t, d.Until(t.Context(), "told", func() bool { return len(d.Deliveries) == 1 }))
		require.Equal(t, []string{"told s1"}, d.Recorded())
	})
}

// A disk that hangs, instead of failing, keeps the register waiting no longer: it gets its
// completion, and the record is made once the disk goes on.
func TestField_J8AHangingDiskEndsTheDialogue(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		d.Hang = make(chan struct{}) // of this bubble
		p.register(noPrint)
		p.begin(pay)
		p.expectApproval()
		p.send("80 00 00")
		start := time.Now()
		time.AfterFunc(time.Minute, func() { close(d.Hang) })
		p.expect("06 0F 00")
		require.LessOrEqual(t, time.Since(start), recordWithin)
		p.send("80 00 00")
		require.NoError(t, d.Until(t.Context(), "told", func() bool { return len(d.Deliveries) == 1 }))
		require.Equal(t, []string{"told s1"}, d.Recorded())
	})
}

func TestSlowDeskIsAnsweredInTime(t *testing.T) {
	d := desk.New()
	d.Slow = 20 * time.Second
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		start := time.Now()
		p.send(payOpen)
		p.expect("84 A0 00")
		require.Less(t, time.Since(start), 5*time.Second)
		require.NoError(t, d.Until(t.Context(), "lost", func() bool { return len(d.Deliveries) == 1 }))
		require.Equal(t, []string{"lost s1"}, d.Recorded())
		require.False(t, d.Sales[0].Open, "aborted, because the register was told that nothing began")
	})
}

func TestIncompleteMessageEndsTheConnection(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
		p.send("06 01 07 04 00")
		start := time.Now()
		require.Empty(t, p.next())
		require.LessOrEqual(t, time.Since(start), 6*time.Second)
	})
}

func TestPeerThatStopsReadingIsLeft(t *testing.T) {
	d := desk.New()
	inTime(t, d, func(t *testing.T, p *peer, l *lines.Pipes) {
		p.send(pay) // and never reads
		require.NoError(t, d.Until(t.Context(), "lost", func() bool { return len(d.Deliveries) == 1 }))
		require.Equal(t, []string{"lost s1"}, d.Recorded())
		q := connect(t, l)
		q.send("06 20 05 12 34 56 03 03")
		q.expect("80 00 00")
		q.expectApproval()
	})
}

// TestCancelAtEveryMoment: an abort on either side of each step ends in one definite answer, and in
// agreement with what the desk recorded (security E 96).
func TestCancelAtEveryMoment(t *testing.T) {
	for ms := 0; ms <= 2000; ms += 125 {
		d := desk.New()
		d.Slow = time.Second
		inTime(t, d, func(t *testing.T, p *peer, _ *lines.Pipes) {
			p.send("06 01 07 04 00 00 00 00 99 00")
			pays := time.AfterFunc(1500*time.Millisecond, d.Approve)
			defer pays.Stop()
			<-time.After(time.Duration(ms) * time.Millisecond)
			go p.send("06 B0 00")
			var replies, results []string
			for len(results) == 0 {
				switch got := p.next(); got[:4] {
				case "040F":
					results = append(results, got[6:10])
				default:
					replies = append(replies, got)
				}
			}
			p.send("80 00 00")
			for len(replies) < 2 {
				if got := p.next(); got[:2] != "06" { // the receipt may come first
					replies = append(replies, got)
				}
			}
			require.Len(t, replies, 2)
			require.Equal(t, "800000", replies[0])
			switch replies[1] {
			case "800000":
				require.Equal(t, []string{"276C"}, results, "at %d ms", ms)
			case "848300":
				require.Equal(t, []string{"2700"}, results, "at %d ms", ms)
			default:
				t.Fatalf("answer %s at %d ms", replies[1], ms)
			}
			synctest.Wait()
			require.Equal(t, []string{"told s1"}, d.Recorded())
		})
	}
}

func TestAListenerClosedByOthersIsAnError(t *testing.T) {
	l := lines.NewPipes()
	require.NoError(t, l.Close())
	require.ErrorIs(t, set("tcp", desk.New()).session().ServeTCP(t.Context(), l), net.ErrClosed)
}

// TestAProtocolWithoutALineSaysSo: a session does not open a line that its protocol does not run
// on.
func TestAProtocolWithoutALineSaysSo(t *testing.T) {
	s := New(Options{Line: "none"})
	require.ErrorIs(t, s.ServeSerial(t.Context(), newTTYs()), errNoSerial)
	l := lines.NewPipes()
	require.ErrorIs(t, s.ServeTCP(t.Context(), l), errNoTCP)
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
