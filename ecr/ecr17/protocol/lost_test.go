package protocol

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecr17"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/session"
	"posagent/ecr/till"
)

// wired is a connection in memory that ends after so many bytes, both ways.
type wired struct {
	mu   sync.Mutex
	left int
	ends [2]net.Conn
}

type wiredEnd struct {
	net.Conn
	w *wired
}

func (e wiredEnd) Write(p []byte) (int, error) {
	e.w.mu.Lock()
	n := min(len(p), e.w.left)
	e.w.left -= n
	over := e.w.left == 0
	e.w.mu.Unlock()
	if n > 0 {
		if n, err := e.Conn.Write(p[:n]); err != nil {
			return n, err
		}
	}
	if over {
		for _, c := range e.w.ends {
			_ = c.Close()
		}
	}
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// shop is a terminal with a desk and one line, in made-up time.
type shop struct {
	t     *testing.T
	desk  *desk.Desk
	pipes *lines.Pipes
	stop  []func()
	near  net.Conn // of the newest till
}

func inShop(t *testing.T, play func(s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, desk: desk.New(), pipes: lines.NewPipes()}
		one := session.New(session.Options{Line: "tcp", Desk: s.desk, Till: s.desk, Memory: s.desk, Protocol: New(Options{Config: ecr17.Config{Currency: "EUR"}})})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- one.ServeTCP(ctx, s.pipes) }()
		defer func() {
			for _, stop := range s.stop {
				stop()
			}
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
		}()
		play(s)
	})
}

// till connects a register; its connection ends after so many bytes, 0 = never.
func (s *shop) till(id string, bytes int) *till.ECR17 {
	w := &wired{left: bytes}
	if bytes == 0 {
		w.left = 1 << 30
	}
	w.ends[0], w.ends[1] = net.Pipe()
	s.pipes.Connect(wiredEnd{w.ends[1], w})
	s.near = wiredEnd{w.ends[0], w}
	z := till.NewECR17(s.near, till.ECR17Options{ID: id})
	s.stop = append(s.stop, func() { _ = z.Close() })
	return z
}

// result is what E says: the result, the number, and the authorisation.
func result(said string, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s %s", said[10:12], said[59:65], said[34:40])
}

// TestMoneyF4_LostAtEveryByte: two tills share the line, and each has sold before. Wherever the
// connection of the one breaks in its next sale, G tells it that sale if the terminal has
// acknowledged or stored it, and the one before if nothing of the new one is there; and never a sale
// of the other till, which has sold meanwhile.
func TestMoneyF4_LostAtEveryByte(t *testing.T) {
	seen := map[string]int{}
	for bytes := 1; ; bytes++ {
		done := false
		inShop(t, func(s *shop) {
			one, two := s.till("00000001", 0), s.till("00000002", 0)
			require.Equal(t, "00 000101 T07001", result(one.Ask(one.Sale("P", 500))))
			require.Equal(t, "00 000102 T07002", result(two.Ask(two.Sale("P", 99))))
			synctest.Wait()
			require.NoError(t, one.Close())
			one = s.till("00000001", bytes)
			said, err := one.Ask(one.Sale("P", 1250))
			synctest.Wait()
			done = err == nil
			before := len(s.desk.Begun)
			meanwhile := result(two.Ask(two.Sale("P", 2000)))
			require.Equal(t, fmt.Sprintf("00 %06d T%05d", 101+before, 7001+before), meanwhile)
			again := s.till("00000001", 0)
			got := result(again.Ask(again.Last()))
			synctest.Wait()
			at := fmt.Sprintf("cut after %d bytes, it heard %q %v, the desk %v", bytes, said, err, s.desk.Log)
			if before == 2 {
				require.Equal(t, "00 000101 T07001", got, at)
				require.Error(t, err, at)
			} else {
				require.Equal(t, "00 000103 T07003", got, at)
				require.True(t, s.desk.Sales[2].Told, at)
			}
			require.Equal(t, meanwhile, result(two.Ask(two.Last())), at)
			seen[fmt.Sprintf("stored %t, heard %t", before == 3, err == nil)]++
			<-time.After(time.Minute)
			require.Equal(t, 1+before, len(s.desk.Begun), at)
			for _, sold := range s.desk.Sales {
				require.True(t, sold.Told && !sold.Undone, at)
			}
		})
		if done {
			break
		}
		require.Less(t, bytes, 1000)
	}
	t.Log(seen)
	require.Len(t, seen, 3)
}

// TestMoneyF5_WhatGoesOnWithoutItUndoesIt: an unheard approval is undone by the next payment, the next
// reversal or the end of the day of its till, and by nothing that another till does.
func TestMoneyF5_WhatGoesOnWithoutItUndoesIt(t *testing.T) {
	unheard := func(s *shop) {
		z := s.till("00000001", 0)
		early, err := z.Begin(z.Sale("P", desk.StaysOpen))
		require.NoError(t, err)
		require.Empty(t, early)
		require.NoError(t, z.Close())
		synctest.Wait()
		s.desk.Approve()
		synctest.Wait()
		require.Equal(t, []string{"begin s1", "lost s1"}, s.desk.Log)
	}
	for name, c := range map[string]struct {
		id, ask string
		undone  bool
	}{
		"its next payment":          {"00000001", "P", true},
		"its next extended payment": {"00000001", "X", true},
		"its reversal":              {"00000001", "S", true},
		"another till's payment":    {"00000002", "P", false},
		"G of another till":         {"00000002", "G", false},
		"totals":                    {"00000001", "T", false},
		"status":                    {"00000001", "s", false},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, func(s *shop) {
				unheard(s)
				z := s.till(c.id, 0)
				message := map[string]string{"S": z.Reversal(0), "G": z.Last(), "T": z.Sums(), "s": z.Status()}[c.ask]
				if message == "" {
					message = z.Sale(c.ask, 700)
				}
				said, err := z.Ask(message)
				require.NoError(t, err)
				synctest.Wait()
				require.Equal(t, c.undone, s.desk.Sales[0].Undone)
				if c.ask == "G" {
					require.Contains(t, said, "NESSUNA OPERAZIONE")
				}
				if c.undone {
					return
				}
				one := s.till("00000001", 0)
				require.Equal(t, "00 000101 T07001", result(one.Ask(one.Last())), "G tells it still")
				synctest.Wait()
				require.True(t, s.desk.Sales[0].Told)
			})
		})
	}
}

// TestAForgottenSaleIsAbortedFirst: a till that comes back with another payment while its first one
// runs has forgotten that; another till is told that the terminal is busy.
func TestAForgottenSaleIsAbortedFirst(t *testing.T) {
	inShop(t, func(s *shop) {
		z := s.till("00000001", 0)
		_, err := z.Begin(z.Sale("P", desk.StaysOpen))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		synctest.Wait()
		other := s.till("00000002", 0)
		_, err = other.Ask(other.Sale("P", 99))
		require.ErrorIs(t, err, till.ErrNAK)
		require.True(t, s.desk.Sales[0].Open)
		z = s.till("00000001", 0)
		require.Equal(t, "00 000102 T07002", result(z.Ask(z.Sale("P", 700))))
		synctest.Wait()
		require.Equal(t, ecr.Aborted, s.desk.Sales[0].Outcome.Result)
		require.True(t, s.desk.Sales[1].Told)
		require.Equal(t, "00 000103 T07003", result(other.Ask(other.Sale("P", 99))))
	})
}

// TestADeadRegisterHoldsNobodyUp: a register that neither answers nor closes keeps the result for 2 s.
func TestADeadRegisterHoldsNobodyUp(t *testing.T) {
	inShop(t, func(s *shop) {
		z := s.till("00000001", 0)
		early, err := z.Begin(z.Sale("P", 700))
		require.NoError(t, err)
		require.Empty(t, early)
		require.NoError(t, s.near.SetReadDeadline(time.Time{}))
		go func(near net.Conn) { _, _ = io.Copy(io.Discard, near) }(s.near)
		<-time.After(5 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"begin s1", "lost s1"}, s.desk.Log)
		again := s.till("00000001", 0)
		require.Equal(t, "00 000101 T07001", result(again.Ask(again.Last())))
		synctest.Wait()
		require.True(t, s.desk.Sales[0].Told)
	})
}
