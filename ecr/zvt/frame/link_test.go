package frame

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// peer is the other end of a line, moved by hand.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   chan byte
}

// newLine makes a link and its hand-moved peer over a pipe. Call it inside a synctest bubble.
func newLine(t *testing.T, cfg Config) (*Link, *peer) {
	a, b := net.Pipe()
	l := New(a, cfg)
	p := &peer{t: t, conn: b, in: make(chan byte, 100_000)}
	go func() {
		defer close(p.in)
		buf := make([]byte, 64)
		for {
			n, err := b.Read(buf)
			for _, x := range buf[:n] {
				p.in <- x
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		b.Close()
		l.Close()
	})
	return l, p
}

func (p *peer) send(b ...byte) {
	p.t.Helper()
	_, err := p.conn.Write(b)
	require.NoError(p.t, err)
	synctest.Wait()
}

// got takes what came so far.
func (p *peer) got() []byte {
	synctest.Wait()
	var out []byte
	for len(p.in) > 0 {
		out = append(out, <-p.in)
	}
	return out
}

func (l *Link) pending() (out [][]byte) {
	synctest.Wait()
	for len(l.recv) > 0 {
		out = append(out, <-l.recv)
	}
	return out
}

var (
	sale   = []byte{6, 1, 7, 4, 0, 0, 0, 0, 0x12, 0x50}
	ok     = []byte{0x80, 0, 0}
	busy   = []byte{0x84, 0xA0, 0}
	status = []byte{4, 0xFF, 1, 0x0E}
)

// background runs Send and gives its error later.
func background(l *Link, data []byte) <-chan error {
	done := make(chan error, 1)
	go func() { done <- l.Send(context.Background(), data) }()
	synctest.Wait()
	return done
}

func TestSendUntilAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		answers [][]byte // to each sending; nil = silence
		sends   int
		err     error
		after   time.Duration
	}{
		"ack":                    {[][]byte{{ACK}}, 1, nil, 0},
		"nak, ack":               {[][]byte{{NAK}, {ACK}}, 2, nil, 0},
		"silence, ack":           {[][]byte{nil, {ACK}}, 2, nil, 5 * time.Second},
		"silence, nak, ack":      {[][]byte{nil, {NAK}, {ACK}}, 3, nil, 5 * time.Second},
		"noise before the ack":   {[][]byte{{0, 0xFF, 'x', ACK}}, 1, nil, 0},
		"silence":                {[][]byte{nil, nil, nil}, 3, ErrTransmit, 15 * time.Second},
		"naks":                   {[][]byte{{NAK}, {NAK}, {NAK}}, 3, ErrTransmit, 0},
		"nak storm":              {[][]byte{bytes.Repeat([]byte{NAK}, 100)}, 3, ErrTransmit, 10 * time.Second},
		"acks after giving up":   {[][]byte{nil, nil, nil, {ACK, ACK}}, 3, ErrTransmit, 15 * time.Second},
		"acknowledged twice":     {[][]byte{{ACK, ACK}}, 1, nil, 0},
		"ack inside noise later": {[][]byte{nil, {0x41, ACK}}, 2, nil, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p := newLine(t, Config{})
				began := time.Now()
				done := background(l, sale)
				block := EncodeBlock(sale)
				sends := 0
				for i := 0; i < c.sends; i++ {
					synctest.Wait()
					sends += bytes.Count(p.got(), block)
					if i < len(c.answers) && c.answers[i] != nil {
						p.send(c.answers[i]...)
					} else {
						time.Sleep(5 * time.Second)
					}
				}
				require.Equal(t, c.err, <-done)
				require.Equal(t, c.after, time.Since(began))
				sends += bytes.Count(p.got(), block)
				require.Equal(t, c.sends, sends)
				for _, late := range c.answers[min(len(c.answers), c.sends):] {
					p.send(late...)
				}
				// Whatever is left over does not disturb the next block.
				next := background(l, status)
				require.Equal(t, EncodeBlock(status), p.got())
				p.send(ACK)
				require.NoError(t, <-next)
			})
		})
	}
}

func TestRepeatedSaleIsDeliveredOnce(t *testing.T) {
	block := EncodeBlock(sale)
	t.Run("before we answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			for range 3 {
				p.send(block...)
				require.Equal(t, []byte{ACK}, p.got())
				time.Sleep(5 * time.Second)
			}
			require.Equal(t, [][]byte{sale}, l.pending())
			require.Equal(t, 2, l.Stats().Duplicates)
		})
	})
	t.Run("although the copy between was lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...) // our ACK is lost, then the second sending, then the third comes
			time.Sleep(10*time.Second + 200*time.Millisecond)
			p.send(block...)
			require.Equal(t, [][]byte{sale}, l.pending())
			require.Equal(t, 1, l.Stats().Duplicates)
		})
	})
	t.Run("after we answered 80 00: the answer is sent again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			p.got()
			done := background(l, ok)
			p.got()
			p.send(ACK)
			require.NoError(t, <-done)
			time.Sleep(5 * time.Second)
			p.send(block...)
			require.Equal(t, append([]byte{ACK}, EncodeBlock(ok)...), p.got())
			p.send(ACK)
			require.Equal(t, [][]byte{sale}, l.pending())
		})
	})
	t.Run("while our answer is waiting for its own acknowledgement", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			p.got()
			done := background(l, ok)
			require.Equal(t, EncodeBlock(ok), p.got())
			p.send(block...)
			require.Equal(t, []byte{ACK}, p.got(), "the sender repeats its block itself")
			p.send(ACK)
			require.NoError(t, <-done)
			require.Equal(t, [][]byte{sale}, l.pending())
		})
	})
	t.Run("after an intermediate status", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			for _, m := range [][]byte{ok, status} {
				done := background(l, m)
				p.send(ACK)
				require.NoError(t, <-done)
			}
			p.got()
			p.send(block...)
			p.got()
			require.Equal(t, [][]byte{sale}, l.pending())
		})
	})
}

func TestSameCommandAgainIsNewWhenItMustBe(t *testing.T) {
	block := EncodeBlock(sale)
	t.Run("after we refused it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			done := background(l, busy)
			p.send(ACK)
			require.NoError(t, <-done)
			p.send(block...)
			require.Equal(t, [][]byte{sale, sale}, l.pending())
		})
	})
	t.Run("after the register said something else", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			p.send(EncodeBlock(ok)...)
			p.send(block...)
			require.Equal(t, [][]byte{sale, ok, sale}, l.pending())
		})
	})
	t.Run("after the time of repetitions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block...)
			time.Sleep(13 * time.Second)
			p.send(block...)
			require.Len(t, l.pending(), 2)
		})
	})
	t.Run("never for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			for range 6 {
				p.send(block...)
				time.Sleep(5 * time.Second)
			}
			require.Len(t, l.pending(), 2)
		})
	})
}

func TestEqualStepsAreAllDelivered(t *testing.T) {
	blank := []byte{6, 0xD1, 1, 0}
	for name, c := range map[string]struct{ in, out []byte }{
		"replies to two steps":      {ok, status},
		"two blank lines":           {blank, ok},
		"two intermediate statuses": {status, ok},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p := newLine(t, Config{})
				for range 2 {
					p.send(EncodeBlock(c.in)...)
					p.send(EncodeBlock(c.in)...) // our acknowledgement was lost
					done := background(l, c.out)
					p.send(ACK)
					require.NoError(t, <-done)
				}
				require.Equal(t, [][]byte{c.in, c.in}, l.pending())
				require.Equal(t, 2, l.Stats().Duplicates)
			})
		})
	}
}

func TestCrossing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newLine(t, Config{})
		done := background(l, status)
		p.got()
		abort := []byte{6, 0xB0, 0}
		p.send(EncodeBlock(abort)...)
		require.Equal(t, []byte{ACK}, p.got(), "acknowledged although we wait for an acknowledgement")
		require.Equal(t, [][]byte{abort}, l.pending())
		require.Empty(t, done, "still waiting")
		p.send(ACK)
		require.NoError(t, <-done)
		require.Equal(t, 1, l.Stats().Sent)
		require.Zero(t, l.Stats().Repeated)
	})
}

func TestTwoLinksSendAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		la, lb := New(a, Config{}), New(b, Config{})
		defer lb.Close()
		defer la.Close()
		for i := range byte(50) {
			da := background(la, []byte{4, 0xFF, 1, i})
			db := background(lb, []byte{6, 0xB0, 1, i})
			require.NoError(t, <-da)
			require.NoError(t, <-db)
			require.Equal(t, [][]byte{{6, 0xB0, 1, i}}, la.pending())
			require.Equal(t, [][]byte{{4, 0xFF, 1, i}}, lb.pending())
		}
		require.Zero(t, la.Stats().Repeated)
	})
}

func TestDamagedBlocks(t *testing.T) {
	bad := EncodeBlock(sale)
	bad[5] ^= 1
	for name, c := range map[string]struct {
		noNak bool
		want  []byte
	}{"nak": {false, []byte{NAK}}, "silent": {true, nil}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p := newLine(t, Config{NoNak: c.noNak})
				p.send(bad...)
				require.Equal(t, c.want, p.got())
				p.send(EncodeBlock(sale)...)
				require.Equal(t, []byte{ACK}, p.got())
				require.Equal(t, [][]byte{sale}, l.pending())
			})
		})
	}
}

// TestPulledAtEachByte cuts a block at every byte; the next one gets through less than a second later.
func TestPulledAtEachByte(t *testing.T) {
	block := EncodeBlock(sale)
	for n := 1; n < len(block); n++ {
		synctest.Test(t, func(t *testing.T) {
			l, p := newLine(t, Config{})
			p.send(block[:n]...)
			time.Sleep(250 * time.Millisecond)
			answer := p.got()
			if n >= 2 {
				require.Equal(t, []byte{NAK}, answer, "cut after %d", n)
			}
			p.send(block...)
			require.Equal(t, []byte{ACK}, p.got(), "cut after %d", n)
			require.Equal(t, [][]byte{sale}, l.pending())
		})
	}
}

func TestQueueOverflowIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newLine(t, Config{Queue: 2})
		for i := range byte(3) {
			p.send(EncodeBlock([]byte{5, 1, 1, i})...)
		}
		require.Equal(t, []byte{ACK, ACK}, p.got())
		require.Equal(t, 1, l.Stats().Overflow)
		require.Len(t, l.pending(), 2)
		p.send(EncodeBlock([]byte{5, 1, 1, 2})...) // the repetition
		require.Equal(t, []byte{ACK}, p.got())
		require.Equal(t, [][]byte{{5, 1, 1, 2}}, l.pending())
	})
}

func TestCloseAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newLine(t, Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.Send(ctx, sale), context.DeadlineExceeded)
		_, err := l.Receive(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		done := background(l, sale)
		synctest.Wait() // it waits for its answer: a pipe that is closed before ends with an error of its own
		p.conn.Close()
		err = <-done
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, err, io.EOF)
		_, err = l.Receive(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, l.Send(t.Context(), sale), ErrClosed)
		require.NoError(t, l.Close())
	})
}

// A message that waits for the one before it heeds its own context.
func TestCancelBehindAnotherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newLine(t, Config{})
		first := background(l, status)
		p.got()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.Send(ctx, ok), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		p.send(ACK)
		require.NoError(t, <-first)
	})
}

// slow is a line that gives one byte per Read and times out in between, as serial drivers do.
type slow struct {
	net.Conn
	empty bool
}

func (s *slow) Read(b []byte) (int, error) {
	if s.empty = !s.empty; s.empty {
		time.Sleep(10 * time.Millisecond)
		return 0, nil
	}
	n, err := s.Conn.Read(b[:1])
	return n, err
}

// late is a line whose reader is held up in the middle of a block for longer than T1.
type late struct {
	net.Conn
	reads int
}

func (l *late) SetReadDeadline(d time.Time) error {
	if l.reads++; l.reads == 4 {
		time.Sleep(400 * time.Millisecond)
	}
	return l.Conn.SetReadDeadline(d)
}

func TestStalledReaderDoesNotRefuseAGoodBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		l := New(&late{Conn: a}, Config{})
		defer l.Close()
		go func() {
			block := EncodeBlock(sale)
			for i := range block {
				if _, err := b.Write(block[i : i+1]); err != nil {
					return
				}
			}
		}()
		answer := make([]byte, 1)
		_, err := b.Read(answer)
		require.NoError(t, err)
		require.Equal(t, []byte{ACK}, answer)
		require.Equal(t, [][]byte{sale}, l.pending())
	})
}

func TestOneByteReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		l := New(&slow{Conn: a}, Config{})
		defer l.Close()
		go io.Copy(io.Discard, b)
		defer b.Close()
		for _, m := range [][]byte{sale, ok, status} {
			_, err := b.Write(EncodeBlock(m))
			require.NoError(t, err)
			got, err := l.Receive(t.Context())
			require.NoError(t, err)
			require.Equal(t, m, got)
		}
	})
}
