package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

const paid = `{"op":"sale","id":"7","amount":1250,"currency":"EUR"}`

// TestChecksum: the published check value of CRC-16/CCITT-FALSE, and the line of the README.
func TestChecksum(t *testing.T) {
	require.EqualValues(t, 0x29B1, Checksum([]byte("123456789")))
	require.EqualValues(t, 0xFFFF, Checksum(nil))
	require.Equal(t, paid+"*881A", string(seal([]byte(paid))))
}

// rig is the terminal's end of a line, and the far end.
type rig struct {
	l   *lines
	far net.Conn
	in  *bufio.Reader
}

func newRig(t *testing.T, times times, checked bool) *rig {
	near, far := net.Pipe()
	r := &rig{l: newLines(near, times, checked), far: far, in: bufio.NewReader(far)}
	t.Cleanup(func() {
		_ = far.Close()
		_ = r.l.Close()
	})
	return r
}

func (r *rig) write(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(r.far, text)
	require.NoError(t, err)
}

func (r *rig) hears(t *testing.T, want string) {
	t.Helper()
	got, err := r.in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, got, want)
}

func (r *rig) receives(t *testing.T, want string) {
	t.Helper()
	got, err := r.l.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func (r *rig) nothing(t *testing.T, what string) {
	t.Helper()
	synctest.Wait()
	require.Empty(t, r.l.Came, what)
}

// TestNoSpoiltByteIsDelivered flips every bit of a line on a cable, and drops and doubles every
// byte of it. Each time the terminal asks for it again and delivers nothing else.
func TestNoSpoiltByteIsDelivered(t *testing.T) {
	line := paid + "*881A"
	var spoilt []string
	for i := range len(line) {
		for bit := range 8 {
			b := []byte(line)
			b[i] ^= 1 << bit
			spoilt = append(spoilt, string(b))
		}
		spoilt = append(spoilt, line[:i]+line[i+1:], line[:i]+line[i:i+1]+line[i:])
	}
	synctest.Test(t, func(t *testing.T) {
		for _, s := range spoilt {
			func() {
				near, far := net.Pipe()
				r := &rig{newLines(near, cableTimes, true), far, bufio.NewReader(far)}
				defer func() {
					_ = far.Close()
					_ = r.l.Close()
				}()
				if strings.EqualFold(s, line) || strings.TrimSpace(s) == line {
					return // a hexadecimal digit in the other case, a blank behind the line
				}
				r.write(t, s+"\n")
				r.hears(t, `{"error":{"code":"damaged"`)
				r.nothing(t, s)
				r.write(t, line+"\n")
				r.receives(t, paid)
			}()
		}
	})
}

func TestACableRequiresTheChecksum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cableTimes, true)
		r.write(t, paid+"\n")
		r.hears(t, "the line has no checksum")
		r.nothing(t, "no checksum")
		require.NoError(t, func() error {
			go func() { _ = r.l.Send(t.Context(), []byte(`{"id":"7","accepted":true}`)) }()
			return nil
		}())
		r.hears(t, `{"id":"7","accepted":true}*2912`)
	})
}

// TestTheTerminalAnswersAsItIsAsked: where a checksum may be left out, the terminal sends it to a
// register that does, and one that is there must be right.
func TestTheTerminalAnswersAsItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, times := range []times{tcpTimes, cableTimes} {
			r := newRig(t, times, false)
			send := func() { go func() { _ = r.l.Send(t.Context(), []byte(`{"id":"7","accepted":true}`)) }() }
			r.write(t, paid+"\r\n")
			r.receives(t, paid)
			send()
			r.hears(t, "{\"id\":\"7\",\"accepted\":true}\n")
			r.write(t, paid+"*881a\n")
			r.receives(t, paid)
			send()
			r.hears(t, "{\"id\":\"7\",\"accepted\":true}*2912\n")
			r.write(t, paid+"*881B\n")
			r.hears(t, "damaged")
			r.nothing(t, "wrong checksum")
			r.write(t, paid+"\n")
			r.receives(t, paid)
			send()
			r.hears(t, "{\"id\":\"7\",\"accepted\":true}\n")
		}
	})
}

// TestMoneyE3_WhatBeginsNoMessageEndsTheConnection: it is closed without an answer.
func TestMoneyE3_WhatBeginsNoMessageEndsTheConnection(t *testing.T) {
	for _, first := range []string{"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: x\r\n\r\n" + paid + "\n", "\x16\x03\x01", "[", "\"", "7", "\xef\xbb\xbfGET / HTTP/1.1\r\n", "\xef\xbb\xbf\xef\xbb\xbf" + paid, "\xef\xbb{",
		"\n \t\r\nX" + paid, paid + "\nGET / HTTP/1.1\r\n", "\x00", "\x81\x05"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, tcpTimes, false)
			go func() { _, _ = io.WriteString(r.far, first) }()
			heard, err := io.ReadAll(r.far)
			require.NoError(t, err)
			require.Empty(t, heard, first)
			synctest.Wait()
			_, err = r.l.Receive(t.Context())
			if strings.HasPrefix(first, "{") { // a whole message before it is delivered
				require.NoError(t, err)
				_, err = r.l.Receive(t.Context())
			}
			require.ErrorIs(t, err, ecr.ErrStrange, first)
			require.ErrorIs(t, err, ecr.ErrClosed, first)
		})
	}
}

// A byte order mark is skipped at the very beginning, however it is cut: a .NET writer of UTF-8 begins with it. Behind it only a message
// may begin, and inside a connection it is no mark.
func TestField2_R12_AByteOrderMarkIsSkipped(t *testing.T) {
	for _, pieces := range [][]string{{"\xef\xbb\xbf" + paid + "\n"}, {"\xef", "\xbb", "\xbf", paid + "\n"}, {"\xef\xbb\xbf\r\n", paid + "\n"}, {paid + "\n"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, tcpTimes, false)
			go func() {
				for _, p := range pieces {
					_, _ = io.WriteString(r.far, p)
				}
			}()
			data, err := r.l.Receive(t.Context())
			require.NoError(t, err, "%q", pieces)
			require.Equal(t, paid, string(data))
			go func() { _, _ = io.WriteString(r.far, "\xef\xbb\xbf"+paid+"\n") }()
			_, err = r.l.Receive(t.Context())
			require.ErrorIs(t, err, ecr.ErrStrange)
		})
	}
}

// TestALineHasItsBounds: a line that is too long or never ends is not waited for.
func TestALineHasItsBounds(t *testing.T) {
	long := `{"op":"` + strings.Repeat("x", 64<<10) + "\"}"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, tcpTimes, false)
		go func() { _, _ = io.WriteString(r.far, long) }()
		_, err := r.l.Receive(t.Context())
		require.ErrorIs(t, err, errLong)

		r = newRig(t, tcpTimes, false)
		began := time.Now()
		far := r.far
		go func() { // a byte a second keeps nothing open
			for _, b := range []byte(paid) {
				<-time.After(time.Second)
				if _, err := far.Write([]byte{b}); err != nil {
					return
				}
			}
		}()
		_, err = r.l.Receive(t.Context())
		require.ErrorIs(t, err, errSlow)
		require.Equal(t, 6*time.Second, time.Since(began))

		r = newRig(t, tcpTimes, false) // blanks keep nothing open, and break nothing
		r.write(t, strings.Repeat(" ", 70000)+"\n\n")
		r.write(t, paid+"\n")
		r.receives(t, paid)
		<-time.After(time.Hour)
		r.write(t, paid+"\n"+paid+"\n"+paid[:20])
		r.receives(t, paid)
		r.receives(t, paid)
		<-time.After(4 * time.Second)
		r.write(t, paid[20:]+"\n")
		r.receives(t, paid)
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cableTimes, true)
		go func() { _, _ = io.WriteString(r.far, long+long+"\n") }()
		r.hears(t, "64 KiB")
		<-time.After(complainEvery)
		r.write(t, paid+"*881A\n")
		r.receives(t, paid)
		r.write(t, paid[:20])
		r.hears(t, "the line ends in the middle")
		r.write(t, paid+"*881A\n")
		r.receives(t, paid)
	})
}

// TestNoiseIsNotAnsweredWithNoise: at most once a second while nothing readable comes.
func TestNoiseIsNotAnsweredWithNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cableTimes, true)
		heard := make(chan int, 1)
		go func() {
			n := 0
			for {
				if _, err := r.in.ReadString('\n'); err != nil {
					heard <- n
					return
				}
				n++
			}
		}()
		for range 1000 {
			r.write(t, "\x80\x00noise\n")
			<-time.After(10 * time.Millisecond)
		}
		synctest.Wait()
		require.Equal(t, 1000, r.l.Stats().Bad)
		_ = r.far.Close()
		require.Equal(t, 10, <-heard)
	})
}

// TestALoopbackPlugEchoesOnce: what the terminal hears of itself it does not answer.
func TestALoopbackPlugEchoesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cableTimes, true)
		r.write(t, "noise\n")
		line, err := r.in.ReadString('\n')
		require.NoError(t, err)
		r.write(t, line)
		for _, own := range []string{`{"id":"7","outcome":"approved","amount":1250}`, `{"id":"7","accepted":true}`, `{"hello":{}}`, `{"error":{"code":"malformed"}}`} {
			r.write(t, string(seal([]byte(own)))+"\n")
		}
		r.nothing(t, "an echo")
		require.Equal(t, 1, r.l.Stats().Bad)
	})
}

// stuck is a serial line whose Read returns nothing, as some drivers' do.
type stuck struct {
	net.Conn
	reads int
}

func (s *stuck) Read(p []byte) (int, error) {
	if s.reads++; s.reads%2 == 0 {
		return 0, nil
	}
	n, err := s.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

func TestNothingReadIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		l := newLines(&stuck{Conn: near}, cableTimes, false)
		r := &rig{l, far, bufio.NewReader(far)}
		r.write(t, paid[:9])
		r.write(t, paid[9:]+"\n")
		r.receives(t, paid)
		r.write(t, paid[:9])
		r.hears(t, "in the middle")
		_ = far.Close()
		require.NoError(t, l.Close())
		require.ErrorIs(t, l.Send(t.Context(), nil), ecr.ErrClosed)
	})
}

// TestARegisterThatReadsNothing does not keep its connection for ever.
func TestARegisterThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, tcpTimes, false)
		there := r.l.While(t.Context())
		require.ErrorIs(t, r.l.Send(t.Context(), []byte("{}")), ecr.ErrClosed)
		<-there.Done()
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cableTimes, true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, r.l.Send(ctx, []byte("{}")))
	})
}

// FuzzLines: whatever a line carries, a cable delivers nothing whose checksum is not right.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{paid + "*881A", paid, paid + "*881B", "{}*6696", "*FFFF", "}*", "noise", paid + "*881A" + paid} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		object, s := split(line)
		if s != right {
			return
		}
		require.Equal(t, fmt.Sprintf("%s*%04X", object, Checksum(object)), string(object)+strings.ToUpper(strings.TrimRight(string(line[len(object):]), " \t\r")))
	})
}
