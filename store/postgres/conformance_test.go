package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

// crashes is how many moments of the workload the server crashes at.
const crashes = 6

func open(ctx context.Context, url string, steps []store.Step, w store.Wrapper) (store.Store, error) {
	s, err := postgres.Open(ctx, postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: url, Steps: steps, Wrapper: w})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func TestConformance(t *testing.T) {
	server := pgtest.Open(t)
	storetest.Run(t, storetest.Engine{
		Place: func(testing.TB) string { return server.Place() },
		Open:  open,
		Crash: func(tb testing.TB, c storetest.Crash) {
			own := pgtest.Start(tb)
			for range crashes {
				place := own.Place()
				s, err := open(tb.Context(), place, c.Steps, storetest.Wrapper{})
				require.NoError(tb, err)
				var mu sync.Mutex
				var acked []any
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = c.Work(s, func(v any) { // it fails where the server does
						mu.Lock()
						defer mu.Unlock()
						acked = append(acked, v)
					})
				}()
				at := rand.N(30)
				need.Until(tb, "the workload to write", func() bool {
					mu.Lock()
					defer mu.Unlock()
					return len(acked) >= at
				})
				own.Crash()
				<-ended
				require.NoError(tb, s.Close())
				own.Start()
				s, err = open(tb.Context(), place, c.Steps, storetest.Wrapper{})
				require.NoError(tb, err)
				require.NoError(tb, c.Check(s, acked))
				require.NoError(tb, s.Close())
			}
		},
		Faulty: func(tb testing.TB, steps []store.Step) storetest.Faulty {
			place := server.Place()
			s, err := open(tb.Context(), place, steps, storetest.Wrapper{})
			require.NoError(tb, err)
			return storetest.Faulty{DB: s,
				Fault: func(as error) { // what a server says whose disk is full, or broken
					code := map[bool]string{true: "53100", false: "58030"}[errors.Is(as, store.ErrFull)]
					server.Exec(place, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '`+code+`'; END $$;
						CREATE TRIGGER refuse BEFORE INSERT ON suite_rows FOR EACH ROW EXECUTE FUNCTION refuse();`)
				},
				Heal: func() { server.Exec(place, "DROP TRIGGER refuse ON suite_rows; DROP FUNCTION refuse()") },
				Reopen: func() store.Store {
					require.NoError(tb, s.Close())
					s, err := open(tb.Context(), place, steps, storetest.Wrapper{})
					require.NoError(tb, err)
					return s
				},
			}
		},
		Lose: func(tb testing.TB, place string, steps []store.Step) storetest.Losing {
			way := &way{to: server.Socket()}
			s, err := postgres.Open(tb.Context(), postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: place, Steps: steps, Wrapper: storetest.Wrapper{}, Dial: way.dial, Beat: -1})
			require.NoError(tb, err)
			return storetest.Losing{DB: s, Lose: func(took bool) {
				way.took.Store(took)
				way.armed.Store(true)
			}}
		},
	})
}

// way leads to a server, and breaks at the next COMMIT once it is armed: before the server has it, or after.
type way struct {
	to          string
	armed, took atomic.Bool
}

func (w *way) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", w.to)
	return &breaking{Conn: conn, way: w}, err
}

// breaking is a connection over it.
type breaking struct {
	net.Conn
	way  *way
	deaf atomic.Bool // what the server says is lost
}

// Write implements net.Conn.
func (b *breaking) Write(p []byte) (int, error) {
	if !bytes.Contains(bytes.ToUpper(p), []byte("COMMIT")) || !b.way.armed.CompareAndSwap(true, false) {
		return b.Conn.Write(p)
	}
	if !b.way.took.Load() {
		_ = b.Close()
		return 0, net.ErrClosed
	}
	b.deaf.Store(true)
	return b.Conn.Write(p)
}

// Read implements net.Conn.
func (b *breaking) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.deaf.Load() { // the server has answered
		_ = b.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}
