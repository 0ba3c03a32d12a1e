package life_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/life"
)

func TestLife(t *testing.T) {
	conn, peer := net.Pipe()
	defer peer.Close()
	var l life.Life
	l.Begin(conn, 1)
	worked := make(chan struct{})
	l.Go(func() { <-l.Done.Done(); close(worked) })
	while := l.While(t.Context())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Receive(gone)
	require.ErrorIs(t, err, context.Canceled)

	first := errors.New("first")
	l.Came <- []byte("a")
	l.Count(func(s *ecr.Counters) { s.Received++ })
	require.ErrorIs(t, l.End(first), first)
	data, err := l.Receive(t.Context())
	require.NoError(t, err, "it came before the end")
	require.Equal(t, "a", string(data))
	_, err = l.Receive(t.Context())
	require.ErrorIs(t, err, first)
	require.ErrorIs(t, err, ecr.ErrClosed)
	require.ErrorIs(t, l.End(errors.New("second")), first, "the first cause stays")
	<-while.Done()
	require.NoError(t, l.Close())
	select {
	case <-worked:
	default:
		require.Fail(t, "Close returned before its work")
	}
	_, err = peer.Read(make([]byte, 1))
	require.Error(t, err, "the line is closed")
	require.Equal(t, ecr.Counters{Received: 1}, l.Stats())

	var closed life.Life
	line, _ := net.Pipe()
	closed.Begin(line, 0)
	require.NoError(t, closed.Close())
	_, err = closed.Receive(t.Context())
	require.Equal(t, ecr.ErrClosed, err, "without a cause")
}
