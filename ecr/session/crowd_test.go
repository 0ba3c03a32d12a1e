package session

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
			require.Eventually(t, func() bool { return s.Stats().Connections <= 5 }, time.Minute, time.Millisecond)
		}
		till.send("05 01 05 12 34 56 03 02")
		till.expect("80 00 00", "06 0F 01 00")
	}
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
	took := time.Since(began)
	t.Logf("%d connections; told within %s", came.Load(), took)
	require.Equal(t, []string{"told s1"}, d.Recorded()[:1])
	require.Less(t, took, 20*time.Second)
	cancel()
	flood.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, strings.Count(text.String(), "\n"), 8, text.String())
}
