package frame

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTCPAnySplit(t *testing.T) {
	long := append([]byte{6, 0xD3, 0xFF, 0x2C, 0x01}, make([]byte, 300)...)
	forced := []byte{6, 0xD1, 0xFF, 2, 0, 0, 'x'}
	var stream []byte
	all := [][]byte{sale, ok, long, forced, status}
	for _, m := range all {
		stream = append(stream, m...)
	}
	for size := 1; size <= len(stream); size += 1 + size/8 {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			l := NewTCP(a, 0)
			defer l.Close()
			go func() {
				for part := range slices.Chunk(stream, size) {
					b.Write(part)
				}
			}()
			for _, m := range all {
				got, err := l.Receive(t.Context())
				require.NoError(t, err)
				require.Equal(t, m, got)
			}
			synctest.Wait() // the line reads again: a pipe that is closed before takes no deadline
			b.Close()
			_, err := l.Receive(t.Context())
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestTCPIncompleteClosesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		l := NewTCP(a, 5*time.Second)
		defer l.Close()
		began := time.Now()
		go func() { // dripping does not help: the time counts from the first byte
			for _, x := range sale {
				if _, err := b.Write([]byte{x}); err != nil {
					return
				}
				time.Sleep(900 * time.Millisecond)
			}
		}()
		_, err := l.Receive(t.Context())
		require.ErrorIs(t, err, ErrIncomplete)
		require.Equal(t, 5*time.Second, time.Since(began))
		time.Sleep(time.Second) // the dripper notices
	})
}

func TestTCPQuietLineStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		l := NewTCP(a, 5*time.Second)
		defer l.Close()
		time.Sleep(24 * time.Hour)
		go b.Write(sale)
		got, err := l.Receive(t.Context())
		require.NoError(t, err)
		require.Equal(t, sale, got)
		go io.Copy(io.Discard, b)
		require.NoError(t, l.Send(t.Context(), ok))
	})
}

func TestTCPLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		l := NewTCP(a, 0, WithMaxAPDU(100))
		defer l.Close()
		go b.Write([]byte{6, 0xD3, 0xFF, 0xFF, 0xFF, 1, 2, 3})
		_, err := l.Receive(t.Context())
		require.ErrorIs(t, err, ErrTooLong)
		require.ErrorIs(t, l.Send(t.Context(), ok), ErrClosed)
	})
}

func TestTCPStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		l := NewTCP(a, 5*time.Second)
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.Send(ctx, ok), context.DeadlineExceeded)
		require.ErrorIs(t, l.Send(t.Context(), ok), ErrClosed, "a half-written APDU cannot be mended")
	})
}
