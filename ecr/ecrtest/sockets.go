package ecrtest

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/session"
)

// overSockets plays a day over real TCP connections: a sale, a decline, an answer that is lost and
// asked for again.
func overSockets(t *testing.T, f Fixture) {
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := desk.New()
	s := session.New(session.Options{Line: "tcp", Desk: d, Till: d, Memory: d, Protocol: f.Protocol})
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeTCP(serving, listener) }()
	defer func() {
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	}()
	var conn net.Conn // of the last register
	dial := func() (Register, error) {
		var err error
		if conn, err = net.Dial("tcp", listener.Addr().String()); err != nil {
			return nil, err
		}
		one, err := f.Connect(ctx, TCP, conn, "1")
		if err == nil {
			t.Cleanup(func() { _ = one.Close() })
		}
		return one, err
	}
	connect := func() Register {
		if f.Can.Once {
			return newOnce(dial)
		}
		one, err := dial()
		require.NoError(t, err)
		return one
	}
	hears := func(want Said, amount int64, got Answer, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, Answer{want, minor(amount)}, got)
	}
	first := connect()
	got, err := first.Pay(ctx, 1250, "1")
	hears(Approved, 1250, got, err)
	got, err = first.Pay(ctx, desk.Declines, "2")
	hears(Declined, 0, got, err)
	lost := make(chan error, 1)
	go func() {
		_, err := first.Pay(ctx, desk.StaysOpen, "3")
		lost <- err
	}()
	require.NoError(t, d.Until(ctx, "a sale that runs", func() bool { return len(d.Sales) == 3 }))
	require.NoError(t, conn.Close())
	require.Error(t, <-lost)
	d.Approve()
	require.NoError(t, d.Until(ctx, "lost", func() bool { return contains(d.Deliveries, "s3") }))
	second := connect()
	if f.Can.Mute {
		got, err = second.Pay(ctx, 2000, "4")
		hears(Approved, 2000, got, err)
		require.NoError(t, d.Until(ctx, "told", func() bool { return d.Sales[3].Told }))
		require.Equal(t, []string{"told s1", "told s2", "lost s3", "told s4"}, d.Recorded())
		return
	}
	got, err = second.Again(ctx, desk.StaysOpen, "3")
	hears(Approved, desk.StaysOpen, got, err)
	require.NoError(t, d.Until(ctx, "told", func() bool { return d.Sales[2].Told }))
	require.Equal(t, []string{"told s1", "told s2", "lost s3", "told s3"}, d.Recorded())
}
