package zvt

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// openRaw opens a tty for a register.
func openRaw(_ context.Context, path string) (frame.Conn, error) {
	conn, err := lines.OpenRaw(path)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// noisy is a line that destroys the first copy of every block written to it, and loses the acknowledgements it is
// told to lose.
type noisy struct {
	frame.Conn
	mu       sync.Mutex
	damaged  map[string]bool
	loseAcks int
	lost     int
}

func (n *noisy) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(b) == 1 && b[0] == frame.ACK && n.loseAcks > 0 {
		n.loseAcks--
		n.lost++
		return 1, nil
	}
	if len(b) > 5 && !n.damaged[string(b)] {
		n.damaged[string(b)] = true
		bad := append([]byte("\x00noise\x15"[:6]), b...)
		bad[len(bad)-6] ^= 0x40
		_, err := n.Conn.Write(bad)
		return len(b), err
	}
	return n.Conn.Write(b)
}

// TestSaleOverAPTY sells over a real tty pair, clean and with every block damaged once and acknowledgements lost.
func TestSaleOverAPTY(t *testing.T) {
	script := "< 0601 .. 04 000000101010 49 0978\n> 800000\n> 04ff .. 0e\n< 800000\n> 06d1 .. 00 10101010\n< 800000\n" +
		"> 040f .. 27 00 04 000000101010 87 0010\n< 800000\n> 060f 00\n< 800000"
	for name, bad := range map[string]bool{"clean": false, "noisy": true} {
		t.Run(name, func(t *testing.T) {
			master, path, err := lines.PTY()
			require.NoError(t, err)
			near := &noisy{damaged: map[string]bool{}, loseAcks: 2}
			cfg := frame.Config{T1: 50 * time.Millisecond, T2: 300 * time.Millisecond}
			r, err := Dial(t.Context(), path, Options{
				Frame: cfg,
				OpenSerial: func(ctx context.Context, path string) (frame.Conn, error) {
					conn, err := openRaw(ctx, path)
					if !bad || err != nil {
						return conn, err
					}
					near.Conn = conn
					return near, nil
				},
			})
			require.NoError(t, err)
			defer r.Close()
			far := frame.New(master, cfg)
			defer far.Close()
			done := play(t, far, script)
			res, err := r.Pay(t.Context(), 1010_10, "EUR", PayOptions{})
			require.NoError(t, err)
			<-done
			require.True(t, res.Approved)
			require.Equal(t, 10, res.Receipt)
			require.Len(t, res.Intermediate, 1, "repeated blocks count once")
			require.Equal(t, []string{"\x10\x10\x10\x10"}, res.Printed)
			stats := far.Stats()
			require.Equal(t, 5, stats.Received)
			if bad {
				require.Equal(t, 2, near.lost)
				require.Positive(t, stats.Bad)
				require.Positive(t, stats.Repeated)
			} else {
				require.Zero(t, stats.Bad+stats.Repeated+stats.Noise+stats.Duplicates)
			}
		})
	}
}

func TestCableOutOverAPTY(t *testing.T) {
	master, path, err := lines.PTY()
	require.NoError(t, err)
	r, err := Dial(t.Context(), path, Options{OpenSerial: openRaw, Habit: func() Habit { h := Plain(); h.Charset = apdu.ASCII; return h }()})
	require.NoError(t, err)
	defer r.Close()
	far := frame.New(master, frame.Config{})
	done := play(t, far, "< 0601 .. 04 000000000001 49 0978 06 00\n> 800000\nhang up")
	_, err = r.Pay(t.Context(), 1, "EUR", PayOptions{})
	require.ErrorIs(t, err, frame.ErrClosed)
	<-done
}
