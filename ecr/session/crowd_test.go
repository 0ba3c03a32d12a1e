package session

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
)

// TestField_L16RegisteredConnectionsAreEvictedLast: a register that is connected and quiet keeps
// its connection beside any number of others, silent ones and such that send commands; where a
// password is set, one that has not shown it is no register.
func TestField_L16RegisteredConnectionsAreEvictedLast(t *testing.T) {
	for _, password := range []string{"", "123456"} {
		address, s := serveTCP(t, desk.New(), func(o *setup) { o.zvt.Password = password; o.MaxConns = 4 })
		till := dial(t, address)
		till.register(noPrint)
		for i := range 30 {
			p := dial(t, address)
			switch i % 3 {
			case 0:
				p.send("05 01 00")
				p.next()
			case 1:
				if password != "" {
					p.send("06 00 00") // a registration without the password is none
					p.expect("84 37 00")
				}
			}
			need.Until(t, "five connections at most", func() bool { return s.Stats().Connections <= 5 })
		}
		till.send("05 01 05 12 34 56 03 02")
		till.expect("80 00 00", "06 0F 01 00")
	}
}

// counting is a memory that counts what it is given.
type counting struct {
	ecr.Memory
	saves atomic.Int64
}

func (c *counting) Save(ctx context.Context, line string, data []byte) error {
	c.saves.Add(1)
	return c.Memory.Save(ctx, line, data)
}

// TestField_L16StrangersArePaced: a line takes a message of a stranger every 2 ms, holds none back
// for more than 50 ms, and never one of the connection that runs its dialogue.
func TestField_L16StrangersArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := set("tcp", desk.New()).session()
		stranger := func() *dialog { return &dialog{s: s, from: netip.MustParseAddr("192.0.2.7")} }
		one, began := stranger(), time.Now()
		for range 100 {
			require.NoError(t, one.turn(t.Context()))
		}
		require.Equal(t, 198*time.Millisecond, time.Since(began), "the first waits for nothing")

		pause(t.Context(), time.Second)
		began = time.Now()
		var crowd sync.WaitGroup
		for range 500 {
			crowd.Go(func() { _ = stranger().turn(t.Context()) })
		}
		synctest.Wait()
		till := stranger()
		s.owner = till
		require.NoError(t, till.turn(t.Context()))
		require.Zero(t, time.Since(began))
		crowd.Wait()
		require.Equal(t, 50*time.Millisecond, time.Since(began))

		one.lost = true
		require.ErrorIs(t, one.turn(t.Context()), errEvicted)
	})
}

// TestField_L16ARegistrationIsWrittenOnce: a flood of registrations does not keep the disk busy;
// another registration than the stored one is written.
func TestField_L16ARegistrationIsWrittenOnce(t *testing.T) {
	d := desk.New()
	kept := &counting{Memory: d}
	address, _ := serveTCP(t, d, func(o *setup) { o.Memory = kept })
	for range 10 {
		dial(t, address).register(noPrint)
	}
	require.EqualValues(t, 1, kept.saves.Load())
	for range 3 {
		dial(t, address).register("06 00 06 12 34 56 08 09 78")
	}
	require.EqualValues(t, 2, kept.saves.Load())
}

// TestField_L16ALineOfStrangersIsLoggedOnceAMinute: however many strangers come, the log says so
// once.
func TestField_L16ALineOfStrangersIsLoggedOnceAMinute(t *testing.T) {
	var text bytes.Buffer
	var mu sync.Mutex
	address, s := serveTCP(t, desk.New(), func(o *setup) {
		o.Log, o.Allow = slog.New(slog.NewTextHandler(writer{&mu, &text}, nil)), []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	for range 30 {
		require.Empty(t, dial(t, address).next())
	}
	need.Until(t, "30 are turned away", func() bool { return s.Stats().Turned == 30 })
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 1, strings.Count(text.String(), "from an address that is not allowed"), text.String())
}

// TestField_L16AFloodStopsNoSale: connections that come and go as fast as they can, with commands
// that are stored, that are answered, and that are asked again, do not keep a sale from its end,
// and fill no log.
func TestField_L16AFloodStopsNoSale(t *testing.T) {
	var text bytes.Buffer
	var mu sync.Mutex
	d := desk.New()
	address, _ := serveTCP(t, d, func(o *setup) { o.Log = slog.New(slog.NewTextHandler(writer{&mu, &text}, nil)) })
	till := dial(t, address)
	till.register(noPrint)
	till.begin(payOpen)
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	var came atomic.Int64
	burst := unhexed(t, "06 00 06 12 34 56 00 09 78 05 01 00 06 20 00 06 01 07 04 00 00 00 00 99 00 06 B1 00")
	for range 3 {
		flood.Go(func() {
			for ctx.Err() == nil {
				if conn, err := net.Dial("tcp", address); err == nil {
					_, _ = conn.Write(burst)
					_ = conn.Close()
					came.Add(1)
				}
			}
		})
	}
	for came.Load() < 500 {
		till.send("05 01 05 12 34 56 03 02")
		till.expect("80 00 00", "06 0F 01 9C")
		till.send("80 00 00")
	}
	began := time.Now()
	d.Approve()
	till.expectApproval()
	till.send("80 00 00")
	till.expect("06 0F 00")
	t.Logf("%d connections; told within %s", came.Load(), time.Since(began))
	require.Equal(t, []string{"told s1"}, d.Recorded()[:1])
	cancel()
	flood.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, strings.Count(text.String(), "\n"), 8, text.String())
}
