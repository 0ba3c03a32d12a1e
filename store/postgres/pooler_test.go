package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// pooler gives its clients sessions of the server: each its own, or all of them one, a transaction at a time, as PgBouncer's pool_mode
// = transaction does. To both kinds of client it says another process than the session's, as poolers do.
type pooler struct {
	server string // unix socket
	shared bool

	mu      sync.Mutex // of the one session, from the first message of a transaction to its end
	session net.Conn
	hello   []byte // what the server said as the session began
}

func (p *pooler) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, mine := net.Pipe()
	go func() {
		defer mine.Close()
		_ = p.serve(ctx, mine) // a client that goes away is no fault
	}()
	return client, nil
}

// message reads one of the protocol's messages whole.
func message(r io.Reader) (kind byte, all []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(r, body)
	return head[0], append(head, body...), err
}

// answer copies what the server says to its end; idle: the transaction is over.
func answer(server io.Reader, to io.Writer) (idle bool, err error) {
	for {
		kind, all, err := message(server)
		if err != nil {
			return false, err
		}
		if kind == 'K' {
			all[5], all[8] = 0x7f, 0x7f // the pooler's own word for the process
		}
		if _, err := to.Write(all); err != nil {
			return false, err
		}
		if kind == 'Z' {
			return all[5] == 'I', nil
		}
	}
}

func (p *pooler) serve(ctx context.Context, client net.Conn) error {
	size := make([]byte, 4)
	if _, err := io.ReadFull(client, size); err != nil {
		return err
	}
	start := make([]byte, binary.BigEndian.Uint32(size)-4)
	if _, err := io.ReadFull(client, start); err != nil {
		return err
	}
	p.mu.Lock()
	session, hello := p.session, p.hello
	if session == nil {
		var err error
		if session, err = (&net.Dialer{}).DialContext(context.WithoutCancel(ctx), "unix", p.server); err == nil {
			_, err = session.Write(append(size, start...))
		}
		var said bytes.Buffer
		if err == nil {
			_, err = answer(session, &said)
		}
		if err != nil {
			p.mu.Unlock()
			return err
		}
		if hello = said.Bytes(); p.shared {
			p.session, p.hello = session, hello
		} else {
			defer session.Close()
		}
	}
	p.mu.Unlock()
	if _, err := client.Write(hello); err != nil {
		return err
	}
	var waiting []byte
	for held := false; ; {
		kind, all, err := message(client)
		if err != nil || kind == 'X' {
			if held {
				p.mu.Unlock()
			}
			return err
		}
		if waiting = append(waiting, all...); kind != 'S' && kind != 'Q' {
			continue
		}
		if p.shared && !held {
			p.mu.Lock()
		}
		_, err = session.Write(waiting)
		waiting = nil
		idle := true
		if err == nil {
			idle, err = answer(session, client)
		}
		if held = p.shared && !idle; p.shared && !held {
			p.mu.Unlock()
		}
		if err != nil {
			return err
		}
	}
}

// A pooler that does not keep sessions is found at the start, and named with what to set; one that keeps them, and the server itself,
// are taken.
func TestField2_G2_APoolerThatKeepsNoSessionsIsNamed(t *testing.T) {
	server := pgtest.Open(t)
	through := func(shared bool, mode string) error {
		p := &pooler{server: server.Socket(), shared: shared}
		opt := at(server.Place()+mode, "")
		opt.Dial, opt.Beat = p.dial, -1
		s, err := postgres.Open(t.Context(), opt)
		if err != nil {
			return err
		}
		return s.Close()
	}
	for _, mode := range []string{"", "&default_query_exec_mode=exec"} { // with statements that are prepared, and without
		require.NoError(t, through(false, mode))
		err := through(true, mode)
		require.ErrorIs(t, err, postgres.ErrPooler, mode)
		require.ErrorContains(t, err, "pool_mode = session")
	}
	kept(t, at(server.Place(), ""))
}
