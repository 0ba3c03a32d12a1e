package postgres_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/storetest"
)

// bouncer takes connections as PgBouncer does: it refuses each with a text of its own under the code of a protocol's violation, or, with
// none, lets it wait.
func bouncer(t *testing.T, says string) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	serve := func(c net.Conn) error {
		defer c.Close()
		size := make([]byte, 4)
		if _, err := io.ReadFull(c, size); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, make([]byte, binary.BigEndian.Uint32(size)-4)); err != nil {
			return err
		}
		if says == "" {
			_, err := io.Copy(io.Discard, c) // until the client leaves
			return err
		}
		body := "SFATAL\x00C08P01\x00M" + says + "\x00\x00"
		_, err := c.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(body)+4)), body...))
		return err
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _ = serve(c) }() // a client that goes away is no fault
		}
	}()
	return "postgres://pos@" + ln.Addr().String() + "/pos?sslmode=disable&connect_timeout=1"
}

// TestField2_G6APoolersWordsAreTold: what a pooler says in place of the server reaches the start's error and doctor's survey as it is, and
// is told from a server that does not run. The kind: a parameter, a database, no room, a server that is away, no word at all.
func TestField2_G6APoolersWordsAreTold(t *testing.T) {
	for _, says := range []string{
		"unsupported startup parameter: jit", "no such database: pos", "no more connections allowed (max_client_conn)", "query_wait_timeout", "",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			opt := postgres.Options{URL: bouncer(t, says), Tolerate: postgres.Tolerated{Plain: true}, Wrapper: storetest.Wrapper{}}
			s, err := postgres.ReadSurvey(t.Context(), opt, nil)
			require.NoError(t, err)
			require.Error(t, s.None)
			require.NoError(t, s.Refused, "it is no refusal of the account")
			var word *postgres.PoolerError
			require.ErrorAs(t, s.Pooler, &word)
			require.Equal(t, says, word.Says)

			_, err = postgres.Open(t.Context(), opt)
			require.ErrorAs(t, err, &word)
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, "pgbouncer.ini")
			require.ErrorIs(t, err, store.ErrIO, "the process may wait for it")
		})
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	s, err := postgres.ReadSurvey(t.Context(), postgres.Options{URL: "postgres://pos@" + ln.Addr().String() + "/pos?sslmode=disable", Tolerate: postgres.Tolerated{Plain: true}}, nil)
	require.NoError(t, err)
	require.Error(t, s.None)
	require.NoError(t, s.Pooler, "nothing runs there")
	require.False(t, errors.Is(s.None, postgres.ErrPooler))
}
