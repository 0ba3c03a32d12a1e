package session

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
)

// TestField2_D8ANewcomerHasTimeToSayWhatItIs: where a line has no place left, the connections that have shown that they are no register
// are closed, and those that have been silent for long, before one that has just come; a crowd of newcomers waits, so that each is heard.
func TestField2_D8ANewcomerHasTimeToSayWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := set("tcp", desk.New())
		o.MaxConns = 4
		s := o.session()
		comes := func(heard bool, r rank) *dialog {
			require.True(t, s.makeRoom(t.Context()))
			d := s.dialog(false, func(context.Context, []byte) error { return nil })
			d.from, d.heard, d.rank = netip.MustParseAddr("192.0.2.7"), heard, r
			return d
		}
		leave := func() {
			for d := range s.dialogs {
				if d.lost {
					delete(s.dialogs, d)
				}
			}
		}
		began := time.Now()
		for range 8 {
			comes(true, speaking)
			leave()
		}
		till := comes(false, silent)
		for _, r := range []rank{speaking, silent} { // silent: no password was shown
			for range 8 {
				comes(true, r)
				leave()
			}
		}
		require.False(t, till.lost, "16 greetings came after it, and it has not been heard yet")
		require.Zero(t, time.Since(began), "nobody waits while a stranger can be closed")

		time.Sleep(newcomerGrace)
		for range 3 { // fill the places of those that have greeted
			comes(false, silent)
			leave()
		}
		comes(false, silent)
		require.True(t, till.lost, "it had its time, and says nothing")
		leave()

		began = time.Now()
		till = comes(false, silent)
		for range 3 {
			comes(false, silent)
			require.False(t, till.lost)
			leave()
		}
		require.Equal(t, 4*newcomerEvery, time.Since(began), "a place of a newcomer is not given away at once")
		till.heard, till.rank = true, registered
		for range 8 {
			comes(false, silent)
			leave()
		}
		require.False(t, till.lost, "it has registered")
	})
}
