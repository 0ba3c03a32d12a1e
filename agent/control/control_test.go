package control

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/control/socket"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/schemes/wire"
)

// fake notes what it is asked, and refuses what it is told to.
type fake struct {
	mu    sync.Mutex
	asked []string
	err   error
	news  chan view.Event
}

func (f *fake) note(words ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, strings.Join(words, " "))
	return f.err
}

func (f *fake) SendNow(_ context.Context, key wire.Key) error { return f.note("send", string(key)) }
func (f *fake) SendAll(context.Context) (int, error)          { return 3, f.note("send all") }
func (f *fake) Hold(_ context.Context, k wire.Key, r string) error {
	return f.note("hold", string(k), r)
}
func (f *fake) HoldEach(_ context.Context, r string) (int, error) { return 2, f.note("hold all", r) }
func (f *fake) Release(_ context.Context, key wire.Key) error     { return f.note("release", string(key)) }
func (f *fake) ReleaseEach(context.Context) (int, error)          { return 1, f.note("release all") }
func (f *fake) Resolve(_ context.Context, k wire.Key, s outbox.State, n string) error {
	return f.note("resolve", string(k), string(s), n)
}
func (f *fake) Acknowledge(_ context.Context, k wire.Key) error { return f.note("ack", string(k)) }
func (f *fake) Newest(context.Context) (view.Cursor, error)     { return view.Cursor{Log: 7}, nil }
func (f *fake) Events(from view.Cursor) func(context.Context) (view.Event, error) {
	return func(ctx context.Context) (view.Event, error) {
		select {
		case e := <-f.news:
			e.Resume = from
			return e, nil
		case <-ctx.Done():
			return view.Event{}, ctx.Err()
		}
	}
}

// serve runs a server at path until the test ends, or until stop is called.
func serve(t *testing.T, path string, f *fake) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(Options{Path: path, Ops: f, House: f}).Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(t, <-ended) })
	t.Cleanup(stop)
	need.Until(t, "the service answers", func() bool {
		conn, err := socket.Dial(t.Context(), path)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return stop
}

// another is what a second server at path ends with, at once or soon.
func another(t *testing.T, path string, f *fake) error {
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	return New(Options{Path: path, Ops: f, House: f}).Run(ctx)
}

// Every verb reaches the queue as it was meant, and what is refused says why by its code.
func TestVerbs(t *testing.T) {
	f := &fake{}
	path := filepath.Join(t.TempDir(), Name)
	serve(t, path, f)
	c := Client{path}
	ctx := t.Context()
	require.NoError(t, c.Send(ctx, "k/../1"))
	n, err := c.SendAll(ctx)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.NoError(t, c.Hold(ctx, "k", "why"))
	n, err = c.HoldAll(ctx, "why all")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, c.Release(ctx, "k"))
	n, err = c.ReleaseAll(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, c.Resolve(ctx, "k", outbox.Done, "seen"))
	require.NoError(t, c.Acknowledge(ctx, "k"))
	require.Equal(t, []string{"send k/../1", "send all", "hold k why", "hold all why all", "release k", "release all", "resolve k DONE seen", "ack k"}, f.asked)

	for _, bad := range []error{c.Resolve(ctx, "k", outbox.Held, "seen"), c.Resolve(ctx, "k", outbox.Failed, "")} {
		require.ErrorIs(t, bad, &wire.Error{Code: wire.Invalid}, "nothing is resolved without a decision and its proof")
	}
	for err, code := range map[error]wire.Code{outbox.ErrUnknown: wire.NotFound, outbox.ErrState: wire.Conflict, outbox.ErrAltered: wire.Conflict, errors.New("disk"): wire.Internal} {
		f.err = err
		got := c.Release(ctx, "k")
		require.ErrorIs(t, got, &wire.Error{Code: code})
		require.ErrorContains(t, got, err.Error())
	}
	require.Len(t, f.asked, 8+4)
}

// The stream begins before anything is missed, and ends with the server.
func TestEvents(t *testing.T) {
	f := &fake{news: make(chan view.Event)}
	path := filepath.Join(t.TempDir(), Name)
	stop := serve(t, path, f)
	begun, seen, over := make(chan struct{}), make(chan view.Event, 1), make(chan error, 1)
	c := Client{path}
	go func() {
		over <- c.Events(t.Context(), func() { close(begun) }, func(e view.Event) bool { seen <- e; return false })
	}()
	<-begun
	f.news <- view.Event{ID: 8, Event: "operation.done", Body: []byte("{}")}
	e := <-seen
	require.Equal(t, "operation.done", e.Event)
	require.Equal(t, view.Cursor{Log: 7}, e.Resume, "from now on, not from the beginning")
	stop()
	require.NoError(t, <-over)
}

// The socket is its owner's; what a crash left is replaced, and nothing else ever is.
func TestSocketFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	c := Client{path}
	require.ErrorIs(t, c.Send(t.Context(), "k"), ErrNoDaemon)

	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.ErrorIs(t, c.Send(t.Context(), "k"), ErrNoDaemon)
	f := &fake{}
	stop := serve(t, path, f)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	require.NoError(t, c.Send(t.Context(), "k"))
	require.ErrorContains(t, another(t, path, f), "somebody answers")
	require.NoError(t, c.Send(t.Context(), "k"), "the first is still there")
	stop()
	require.NoFileExists(t, path)

	for what, make := range map[string]func() error{
		"file":   func() error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"folder": func() error { return os.Mkdir(path, 0o700) },
		"link":   func() error { return os.Symlink(filepath.Join(dir, "elsewhere"), path) },
	} {
		require.NoError(t, make(), what)
		before, err := os.Lstat(path)
		require.NoError(t, err)
		require.ErrorContains(t, another(t, path, f), "not a socket", what)
		after, err := os.Lstat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after), what)
		require.NoError(t, os.Remove(path))
	}
}

// A path longer than a socket may have works all the same.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, Name)
	f := &fake{}
	stop := serve(t, path, f)
	c := Client{path}
	require.NoError(t, c.Send(t.Context(), "k"))
	stop()
	require.NoFileExists(t, path)
}

// Only the own user and root are heard; the kernel says who it is.
func TestPeers(t *testing.T) {
	own := uint32(os.Geteuid())
	for _, c := range []struct {
		uid   uint32
		err   error
		heard bool
	}{{own, nil, true}, {0, nil, true}, {own + 4711, nil, false}, {own, errors.ErrUnsupported, false}} {
		path := filepath.Join(t.TempDir(), Name)
		ln, err := listen(path)
		require.NoError(t, err)
		p := ln
		require.Equal(t, own, p.own)
		var kernel uint32
		p.uid = func(conn net.Conn) (uint32, error) {
			kernel, _ = uidOf(conn)
			return c.uid, c.err
		}
		accepted := make(chan net.Conn, 1)
		go func() {
			defer close(accepted)
			if conn, err := p.Accept(); err == nil {
				accepted <- conn
			}
		}()
		conn, err := socket.Dial(t.Context(), path)
		require.NoError(t, err)
		if c.heard {
			require.NoError(t, (<-accepted).Close())
		}
		require.NoError(t, conn.SetReadDeadline(need.Deadline()))
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, conn.Close())
		require.NoError(t, p.Close())
		_, more := <-accepted
		require.False(t, more, "uid %d: %v", c.uid, c.err)
		require.Equal(t, own, kernel)
	}
}
