package session

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/zvt/frame"
)

// modem is a line with modem wires.
type modem struct {
	Opener
	up atomic.Bool
}

type modemConn struct {
	ecr.Conn
	m *modem
}

func (c modemConn) Carrier() (up, ok bool) { return c.m.up.Load(), true }

func (m *modem) Open(ctx context.Context) (ecr.Conn, error) {
	conn, err := m.Opener.Open(ctx)
	if err != nil {
		return nil, err
	}
	return modemConn{conn, m}, nil
}

// TestField_L12BadDataIsCounted: noise, a bad checksum and a NAK are counted and logged once; the
// last contact, the carrier and that the line is open are known, and that it is not any more.
func TestField_L12BadDataIsCounted(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	var mu sync.Mutex
	logged := func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
	d := desk.New()
	end, path := cablePair(t)
	p := newTTYs(path)
	m := &modem{Opener: p}
	o := set("serial", d)
	o.frame.T1 = 20 * time.Millisecond
	o.Log = slog.New(slog.NewTextHandler(writer{&mu, &text}, nil))
	s := o.session()
	require.False(t, s.Stats().Open)
	serve(t, func(ctx context.Context) error { return s.ServeSerial(ctx, m) })
	<-p.opened
	eventually := func(what string, ok func(Stats) bool) {
		t.Helper()
		need.Until(t, what, func() bool { return ok(s.Stats()) })
	}
	eventually("open", func(st Stats) bool { return st.Open })
	require.Zero(t, s.Stats().LastContact)
	require.Equal(t, NoCarrierWire, s.Stats().Carrier)

	_, err := end.Write([]byte("0123456789"))
	require.NoError(t, err)
	eventually("noise", func(st Stats) bool { return st.Link.Noise == 10 })
	broken := frame.EncodeBlock([]byte{0x06, 0xC0, 0x00})
	broken[len(broken)-1] ^= 1
	_, err = end.Write(broken)
	require.NoError(t, err)
	eventually("bad checksum", func(st Stats) bool { return st.Link.Bad == 1 && st.Link.Received == 0 })
	require.Zero(t, s.Stats().LastContact, "that was no message")

	_, err = end.Write(frame.EncodeBlock([]byte{0x06, 0xC0, 0x00}))
	require.NoError(t, err)
	eventually("a message", func(st Stats) bool { return st.Link.Received == 1 && !st.LastContact.IsZero() && st.Received == 1 })
	_, err = end.Write([]byte{0x15}) // NAK to the answer
	require.NoError(t, err)
	eventually("NAK", func(st Stats) bool { return st.Link.Naks == 1 && st.Link.Repeated == 1 })
	_, err = end.Write([]byte{0x06})
	require.NoError(t, err)
	eventually("sent", func(st Stats) bool { return st.Link.Sent == 1 && st.Sent == 1 })
	need.Until(t, "the log has it", func() bool { return strings.Contains(logged(), "bad data on the line") })
	require.Equal(t, 1, strings.Count(logged(), "bad data on the line"), "once a minute at most")

	m.up.Store(true)
	eventually("carrier", func(st Stats) bool { return st.Carrier == CarrierUp })
	m.up.Store(false)
	eventually("carrier lost", func(st Stats) bool { return st.Carrier == CarrierLost && st.Open })
	require.Contains(t, logged(), "the register's end of the cable is gone")

	require.NoError(t, end.Close())
	eventually("closed", func(st Stats) bool { return !st.Open })
	st := s.Stats()
	require.Equal(t, []int{1, 1, 1, 1}, []int{st.Link.Received, st.Link.Sent, st.Link.Bad, st.Link.Naks}, "what was counted stays")
}

// TestField_L12TCPIsCounted: who speaks another protocol is counted, and when a register was heard
// last.
func TestField_L12TCPIsCounted(t *testing.T) {
	address, s := serveTCP(t, desk.New(), nil)
	need.Until(t, "the line is open", func() bool { return s.Stats().Open })
	p := dial(t, address)
	p.send("50 4F 53 54")
	require.Empty(t, p.next())
	need.Until(t, "a stranger is counted", func() bool { return s.Stats().Strange == 1 })
	require.True(t, s.Stats().LastContact.IsZero())
	p = dial(t, address)
	p.send("05 01 05 12 34 56 03 02")
	p.expect("80 00 00")
	require.False(t, s.Stats().LastContact.IsZero())
}
