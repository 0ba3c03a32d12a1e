package audit_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
)

// TestField2_A5OneVisitorIsOneLine: every process of the box has 16 million loopback addresses, and every IPv6 customer a network of
// addresses. The kind: addresses that one visitor can take at will.
func TestField2_A5OneVisitorIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
		r := audit.NewRefusals(x.db, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- r.Run(ctx) }()
		for i := 2; i < 200; i++ {
			r.Note("port", fmt.Sprintf("127.0.0.%d:4711", i))
			r.Note("port", fmt.Sprintf("[::ffff:127.1.0.%d]:4711", i))
			r.Note("port", fmt.Sprintf("[2001:db8::%x]:4711", i))
		}
		r.Note("port", "[::1]:4711")
		r.Note("port", "[fe80::1%eth0]:4711")
		r.Note("register tcp", "127.0.0.9:1")
		r.Note("port", "192.0.2.1:1")
		r.Note("port", "192.0.2.2:1")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		var got []string
		for _, l := range x.lines() {
			got = append(got, l.Name+" "+l.Address)
		}
		require.ElementsMatch(t, []string{
			"port 127.0.0.2", "port 2001:db8::2", "port fe80::1%eth0", "register tcp 127.0.0.9", "port 192.0.2.1", "port 192.0.2.2",
		}, got)
		cancel()
		require.NoError(t, <-over)
		require.NoError(t, x.db.Close())
		x.closed = true
	})
}

// A flood of wrong credentials is one line for each address and minute, and one for all addresses beyond sixty.
func TestField_P2RefusedLoginsAreOneLineAnAddressAndMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
		r := audit.NewRefusals(x.db, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- r.Run(ctx) }()
		for range 90 { // 45 seconds
			for i := range 20 {
				r.Note("port", fmt.Sprintf("192.0.2.7:%d", 1000+i))
			}
			r.Note("port", "[2001:db8::1]:5")
			time.Sleep(500 * time.Millisecond)
		}
		synctest.Wait()
		list := x.lines()
		require.Len(t, list, 2)
		require.Equal(t, audit.Actor{Kind: "stranger", Name: "port", Address: "192.0.2.7"}, list[0].Actor)
		require.Equal(t, "2001:db8::1", list[1].Address)
		require.Equal(t, "login.refused", list[0].Deed.Deed)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		list = x.lines()
		require.Len(t, list, 4, "the rest of that minute")
		total := 0
		for _, l := range list {
			var n int
			_, err := fmt.Sscanf(l.Detail, "%d", &n)
			require.NoError(t, err)
			total += n
		}
		require.Equal(t, 90*21, total, "none is lost")

		time.Sleep(3 * time.Minute)
		for i := range 1000 {
			r.Note("register tcp", fmt.Sprintf("198.51.100.%d:%d", i%250, i))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		list = x.lines()[4:]
		require.Len(t, list, 61)
		require.Equal(t, "other addresses", list[60].Address)
		r.Note("port", "127.0.0.1:1")
		cancel()
		require.NoError(t, <-over)
		require.Len(t, x.lines(), 66, "what was counted is written at the end")
		require.NoError(t, x.db.Close())
		x.closed = true
	})
}
