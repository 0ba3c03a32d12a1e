package protocol

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/ecr17"
	"posagent/ecr/ecrtest/lines"
)

// line is the terminal's end of a line in made-up time, and the register's.
type line struct {
	t   *testing.T
	w   *wire
	far net.Conn
}

func inTime(t *testing.T, cable bool, o Options, play func(l *line)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		l := &line{t, newWire(near, o, cable), far}
		defer func() {
			_ = far.Close()
			_ = l.w.Close()
		}()
		play(l)
	})
}

func (l *line) write(text string) {
	l.t.Helper()
	require.NoError(l.t, l.far.SetDeadline(time.Now().Add(time.Minute)))
	_, err := io.WriteString(l.far, text)
	require.NoError(l.t, err)
}

// hears reads what the terminal has sent.
func (l *line) hears(want string) {
	l.t.Helper()
	require.NoError(l.t, l.far.SetDeadline(time.Now().Add(time.Minute)))
	buf := make([]byte, len(want))
	_, err := io.ReadFull(l.far, buf)
	require.NoError(l.t, err)
	require.Equal(l.t, want, string(buf))
}

// silent says that the terminal sends nothing for a while.
func (l *line) silent() {
	l.t.Helper()
	require.NoError(l.t, l.far.SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := l.far.Read(make([]byte, 1))
	require.Zero(l.t, n)
	require.ErrorIs(l.t, err, os.ErrDeadlineExceeded)
}

func (l *line) receives(want string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	data, err := l.w.Receive(ctx)
	require.NoError(l.t, err)
	require.Equal(l.t, want, string(data))
}

func (l *line) send(text string) <-chan error {
	out := make(chan error, 1)
	go func() { out <- l.w.Send(l.t.Context(), []byte(text)) }()
	return out
}

const (
	ackStd = "\x06\x03\x79"
	nakStd = "\x15\x03\x6a"
	hello  = "123456780s"
)

// TestFrames: what is delivered, what is answered NAK, on a cable. A frame may come in pieces, and two
// in one piece.
func TestFrames(t *testing.T) {
	for name, c := range map[string]struct {
		bytes string
		gets  int
		naks  bool
	}{
		"one":                       {bytes: frame(0, hello), gets: 1},
		"two in one piece":          {bytes: frame(0, hello) + frame(0, hello), gets: 2},
		"wrong check byte":          {bytes: "\x02" + hello + "\x03\x00", naks: true},
		"of another scope":          {bytes: frame(1, hello), naks: true},
		"it ends before its check":  {bytes: "\x02" + hello + "\x03", naks: true},
		"it does not end":           {bytes: "\x02" + hello, naks: true},
		"noise before it":           {bytes: "\xff\x00\x31" + frame(0, hello), gets: 1},
		"progress":                  {bytes: "\x01ELABORAZIONE...     \x04" + frame(0, hello), gets: 1},
		"an ACK nobody waits for":   {bytes: ackStd + nakStd + frame(0, hello), gets: 1},
		"an ACK that does not end":  {bytes: "\x06"},
		"an ACK without its second": {bytes: "\x06" + frame(0, hello), gets: 1},
		"too long":                  {bytes: "\x02" + strings.Repeat("1", 2000), naks: true},
		"the check byte is an ETX":  {bytes: "\x02" + "\x7c" + "\x03\x03", gets: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, true, Options{}, func(l *line) {
				l.write(c.bytes)
				for range c.gets {
					data, err := l.w.Receive(l.t.Context())
					require.NoError(t, err)
					require.Contains(t, []string{hello, "\x7c"}, string(data))
				}
				if c.naks {
					l.hears(nakStd)
				}
				l.silent()
				require.Empty(t, l.w.Came)
				l.write(frame(0, hello))
				l.receives(hello)
			})
		})
	}
	t.Run("byte by byte", func(t *testing.T) {
		inTime(t, true, Options{}, func(l *line) {
			for _, b := range frame(0, hello) {
				l.write(string(b))
				<-time.After(900 * time.Millisecond)
			}
			l.receives(hello)
		})
	})
}

// TestForeignScope: a register of another scope is named to the person who reads the log.
func TestForeignScope(t *testing.T) {
	var heard []string
	inTime(t, true, Options{Foreign: func(s string) { heard = append(heard, s) }}, func(l *line) {
		l.write(frame(3, hello) + "\x02" + hello + "\x03\x00")
		l.hears(nakStd)
		synctest.Wait()
	})
	require.Equal(t, []string{"noext"}, heard)
}

// TestStrangersOnTCP: a byte that begins no frame ends the connection without an answer; a frame that
// trickles in does so too.
func TestStrangersOnTCP(t *testing.T) {
	for _, text := range []string{"G", "\x00", "\x03", "\x04", "\x06\x06", "\x15x", "{", frame(0, hello) + "\r\n", "\x02" + strings.Repeat("1", 2000)} {
		inTime(t, false, Options{}, func(l *line) {
			_, _ = io.WriteString(l.far, text)
			<-l.w.Done.Done()
			require.ErrorIs(t, context.Cause(l.w.Done), ecr.ErrStrange, "%q", text)
			n, err := l.far.Read(make([]byte, 1))
			require.Zero(t, n, "%q", text)
			require.Error(t, err)
		})
	}
	inTime(t, false, Options{}, func(l *line) {
		for began := time.Now(); l.w.Done.Err() == nil; {
			require.Less(t, time.Since(began), 20*time.Second)
			_, _ = io.WriteString(l.far, "\x02")
			<-time.After(900 * time.Millisecond)
		}
		require.ErrorIs(t, context.Cause(l.w.Done), errSlow)
	})
}

// TestMoneyF5_ToldIsTheRegistersACK: Send says that the register has a message only if its ACK came
// behind it, whatever check byte that has.
func TestMoneyF5_ToldIsTheRegistersACK(t *testing.T) {
	const result = "123456780E00"
	for _, cable := range []bool{false, true} {
		for _, ack := range []string{ackStd, "\x06\x03\x78", "\x06\x03\x7a", "\x06\x03\x7b", "\x06\x03\x7c", "\x06\x03\x02"} {
			inTime(t, cable, Options{}, func(l *line) {
				sent := l.send(result)
				l.hears(frame(0, result))
				l.write(ack)
				require.NoError(t, <-sent)
				l.write(frame(0, hello))
				l.receives(hello)
			})
		}
		inTime(t, cable, Options{}, func(l *line) { // what was there before is no acknowledgement
			l.write(ackStd)
			synctest.Wait()
			sent := l.send(result)
			l.hears(frame(0, result))
			require.Error(t, <-sent)
		})
		inTime(t, cable, Options{}, func(l *line) { // the register's ACK, then it closes
			sent := l.send(result)
			l.hears(frame(0, result))
			l.write(ackStd)
			require.NoError(t, l.far.Close())
			require.NoError(t, <-sent)
		})
	}
}

// TestAResultIsSentOnce: silence ends a TCP connection, and nothing more goes out on it; a cable is
// silent, and the message is not sent on another line.
func TestAResultIsSentOnce(t *testing.T) {
	const result = "123456780E00"
	inTime(t, false, Options{}, func(l *line) {
		sent := l.send(result)
		l.hears(frame(0, result))
		n, err := l.far.Read(make([]byte, 1))
		require.Zero(t, n)
		require.ErrorIs(t, err, io.EOF)
		require.ErrorIs(t, <-sent, errUnheard)
		require.ErrorIs(t, l.w.Send(l.t.Context(), []byte{ecr17.NAK}), ecr.ErrClosed)
	})
	inTime(t, true, Options{}, func(l *line) {
		began := time.Now()
		sent := l.send(result)
		l.hears(frame(0, result))
		err := <-sent
		require.Equal(t, 2*time.Second, time.Since(began))
		require.ErrorIs(t, err, errUnheard)
		require.NotErrorIs(t, err, ecr.ErrClosed)
		l.silent()
	})
	inTime(t, true, Options{}, func(l *line) { // the cable is lost under it
		sent := l.send(result)
		l.hears(frame(0, result))
		require.NoError(t, l.far.Close())
		require.NotErrorIs(t, <-sent, ecr.ErrClosed)
		require.ErrorIs(t, l.w.Send(l.t.Context(), []byte(result)), ecr.ErrClosed, "this one has not left: it may on another line")
		require.NotErrorIs(t, l.w.Send(l.t.Context(), []byte{ecr17.ACK}), ecr.ErrClosed, "an ACK may not")
	})
}

// TestNAKRepeats: a message that the register did not take is sent again, three times at most.
func TestNAKRepeats(t *testing.T) {
	const result = "123456780E00"
	for naks := range 5 {
		inTime(t, false, Options{Scope: ecr17.NoExt}, func(l *line) {
			sent := l.send(result)
			for range min(naks, 4) {
				l.hears(frame(3, result))
				l.write(nakStd)
			}
			if naks < 4 {
				l.hears(frame(3, result))
				l.write(ackStd)
				require.NoError(t, <-sent)
				require.Equal(t, naks, l.w.Stats().Repeated)
				return
			}
			require.ErrorIs(t, <-sent, errUnheard)
		})
	}
}

// TestUnacknowledgedMessages: ACK, NAK and progress are sent and not waited for.
func TestUnacknowledgedMessages(t *testing.T) {
	inTime(t, false, Options{Scope: ecr17.Stx}, func(l *line) {
		for data, want := range map[string]string{"\x06": "\x06\x03\x78", "\x15": "\x15\x03\x6b", "\x01ATTENDERE           \x04": "\x01ATTENDERE           \x04"} {
			sent := l.send(data)
			l.hears(want)
			require.NoError(t, <-sent)
		}
	})
}

// TestAPseudoTerminal: the same over a real serial line.
func TestAPseudoTerminal(t *testing.T) {
	far, path, err := lines.PTY()
	require.NoError(t, err)
	defer far.Close()
	near, err := lines.OpenRaw(path)
	require.NoError(t, err)
	w := newWire(near, Options{}, true)
	defer func() { require.NoError(t, w.Close()) }()
	_, err = io.WriteString(far, "\x00"+frame(0, hello))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	data, err := w.Receive(ctx)
	require.NoError(t, err)
	require.Equal(t, hello, string(data))
	sent := make(chan error, 1)
	go func() { sent <- w.Send(ctx, []byte("123456780s0")) }()
	want := frame(0, "123456780s0")
	buf := make([]byte, len(want))
	require.NoError(t, far.SetReadDeadline(need.Deadline()))
	_, err = io.ReadFull(far, buf)
	require.NoError(t, err)
	require.Equal(t, want, string(buf))
	_, err = io.WriteString(far, ackStd)
	require.NoError(t, err)
	if err := <-sent; !errors.Is(err, errUnheard) { // a machine under load may take more than 2 s
		require.NoError(t, err)
	}
}
