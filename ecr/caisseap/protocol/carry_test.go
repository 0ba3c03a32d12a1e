package protocol

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/caisseap"
)

var request = sale("01", "1250")

const approval = "CZ0040300CJ012012345678901CA00201CB0041250CD0010CE003978AC005R0001CC003607AE00210"

// writes notes what is written, one entry for each call.
type writes struct {
	net.Conn
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.all = append(w.all, string(p))
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// TestRequestsEnd: a request ends by silence, by CR LF, or because nothing more can come of it.
func TestRequestsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		send   []string // 100 ms between them
		want   string
		within time.Duration // after the last byte
		err    error
	}{
		"silence":              {send: []string{request}, want: request, within: quiet},
		"in pieces":            {send: []string{request[:7], request[7:40], request[40:]}, want: request, within: quiet},
		"a field that hurries": {send: []string{request, "CC00300C"}, want: request + "CC00300C", within: quiet},
		"CR LF":                {send: []string{request + "\r\n"}, want: request},
		"incomplete":           {send: []string{request[:50]}, want: request[:50], within: wholeWithin},
		"a bad size":           {send: []string{request + "CCabc"}, want: request + "CCabc"},
		"another protocol":     {send: []string{"\x02"}, err: ecr.ErrStrange},
		"HTTP":                 {send: []string{"CONNECT a:1 HTTP/1.1\r\n\r\n"}, err: ecr.ErrStrange},
		"nothing":              {send: []string{"C"}, want: "C", within: wholeWithin},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				register, terminal := net.Pipe()
				c0 := carry(terminal, caisseap.Config{})
				defer func() { require.NoError(t, c0.Close()) }()
				go func() {
					for i, s := range c.send {
						if i > 0 {
							<-time.After(100 * time.Millisecond)
						}
						_, _ = register.Write([]byte(s))
					}
				}()
				began := time.Now()
				data, err := c0.Receive(t.Context())
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want, string(data))
				if c.err == nil {
					require.Equal(t, c.within+time.Duration(len(c.send)-1)*100*time.Millisecond, time.Since(began))
				} else {
					_, err := register.Read(make([]byte, 1))
					require.ErrorIs(t, err, io.EOF, "closed without a byte")
				}
			})
		})
	}
}

// TestTheAnswerIsOneWrite: registers read once.
func TestTheAnswerIsOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register, terminal := net.Pipe()
		w := &writes{Conn: terminal}
		c := carry(w, caisseap.Config{})
		defer c.Close()
		go func() {
			_, _ = register.Write([]byte(request))
			_, _ = register.Read(make([]byte, 1024))
			_ = register.Close()
		}()
		_, err := c.Receive(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Send(t.Context(), []byte(approval)))
		require.Equal(t, []string{approval}, w.all)
		require.Error(t, c.Send(t.Context(), []byte(approval)), "a second answer")
		require.Len(t, w.all, 1)
	})
}

// hurried is a terminal's end of a connection whose peer has closed before its deadline is taken off.
type hurried struct {
	net.Conn
	closed <-chan struct{}
}

func (h hurried) SetReadDeadline(at time.Time) error {
	if at.IsZero() {
		<-h.closed
	}
	return h.Conn.SetReadDeadline(at)
}

// TestAnAnswerAtOnceIsTold: the answer leaves, and the register closes, before the terminal reads on.
func TestAnAnswerAtOnceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register, terminal := net.Pipe()
		closed := make(chan struct{})
		c := carry(hurried{terminal, closed}, caisseap.Config{})
		defer c.Close()
		go func() {
			_, _ = register.Write([]byte(request))
			_, _ = register.Read(make([]byte, 1024))
			_ = register.Close()
			close(closed)
		}()
		_, err := c.Receive(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Send(t.Context(), []byte(approval)))
	})
}

// TestTheAnswerIsBounded: 1024 bytes are read at once, and no more.
func TestTheAnswerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register, terminal := net.Pipe()
		c := carry(terminal, caisseap.Config{})
		defer c.Close()
		require.ErrorIs(t, c.Send(t.Context(), []byte(strings.Repeat("A", caisseap.MaxAnswer+1))), errTooLong)
		_, err := register.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	})
}

// TestARegisterThatStaysIsNotTold: without its FIN the register may not have read.
func TestARegisterThatStaysIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register, terminal := net.Pipe()
		c := carry(terminal, caisseap.Config{})
		defer c.Close()
		go func() { _, _ = register.Read(make([]byte, 1024)) }()
		began := time.Now()
		require.ErrorIs(t, c.Send(t.Context(), []byte(approval)), errStays)
		require.Equal(t, leaveWithin, time.Since(began))
	})
}

// TestBytesBehindTheRequest are handed over; the end of a line is none.
func TestBytesBehindTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register, terminal := net.Pipe()
		c := carry(terminal, caisseap.Config{})
		defer c.Close()
		_, err := register.Write([]byte(request + "\r\n"))
		require.NoError(t, err)
		_, err = c.Receive(t.Context())
		require.NoError(t, err)
		_, err = register.Write([]byte("\n CC00300C"))
		require.NoError(t, err)
		data, err := c.Receive(t.Context())
		require.NoError(t, err)
		require.Contains(t, string(data), "CC00300C")
		require.NoError(t, register.Close())
		_, err = c.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)
	})
}

// sockets returns both ends of a TCP connection, the terminal's as a carrier that has its request.
func sockets(t *testing.T) (register *net.TCPConn, c *carrier) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	terminal, err := listener.Accept()
	require.NoError(t, err)
	c = carry(terminal, caisseap.Config{})
	t.Cleanup(func() { _ = c.Close() })
	_, err = conn.Write([]byte(request))
	require.NoError(t, err)
	_, err = c.Receive(t.Context())
	require.NoError(t, err)
	return conn.(*net.TCPConn), c
}

// TestMoneyF5_ToldOverTCP: the register's FIN after all bytes is the only acknowledgement.
func TestMoneyF5_ToldOverTCP(t *testing.T) {
	send := func(c *carrier) <-chan error {
		out := make(chan error, 1)
		go func() { out <- c.Send(context.Background(), []byte(approval)) }()
		return out
	}
	t.Run("read and closed", func(t *testing.T) {
		register, c := sockets(t)
		sent := send(c)
		buf := make([]byte, 1024)
		n, err := register.Read(buf)
		require.NoError(t, err)
		require.Equal(t, approval, string(buf[:n]))
		require.NoError(t, register.Close())
		require.NoError(t, <-sent)
	})
	t.Run("closed with bytes unread", func(t *testing.T) {
		register, c := sockets(t)
		sent := send(c)
		_, err := register.Read(make([]byte, 9))
		require.NoError(t, err)
		require.NoError(t, register.Close())
		require.Error(t, <-sent)
	})
	t.Run("reset", func(t *testing.T) {
		register, c := sockets(t)
		sent := send(c)
		_, err := register.Read(make([]byte, 1024))
		require.NoError(t, err)
		require.NoError(t, register.SetLinger(0))
		require.NoError(t, register.Close())
		require.Error(t, <-sent)
	})
	t.Run("closed before", func(t *testing.T) {
		register, c := sockets(t)
		require.NoError(t, register.Close())
		_, err := c.Receive(t.Context())
		require.ErrorIs(t, err, ecr.ErrClosed)
		require.ErrorIs(t, <-send(c), ecr.ErrClosed)
	})
	t.Run("half closed before", func(t *testing.T) { // the kernel knows before the reader does
		register, c := sockets(t)
		require.NoError(t, register.CloseWrite())
		for there(c.conn) {
			select {
			case <-t.Context().Done():
				require.Fail(t, "the FIN does not come")
			case <-time.After(time.Millisecond):
			}
		}
		slow := &carrier{conn: c.conn, gone: make(chan struct{})} // whose reader has not noticed
		slow.Begin(c.conn, 0)
		require.ErrorIs(t, <-send(slow), errLeft)
		text, err := io.ReadAll(register)
		require.NoError(t, err)
		require.NotContains(t, string(text), "AE00210")
	})
	t.Run("read until the terminal's end", func(t *testing.T) {
		register, c := sockets(t)
		sent := send(c)
		text, err := io.ReadAll(register)
		require.NoError(t, err)
		require.Equal(t, approval, string(text))
		require.NoError(t, register.Close())
		require.NoError(t, <-sent)
	})
	t.Run("read until the terminal's end, and reset", func(t *testing.T) {
		register, c := sockets(t)
		sent := send(c)
		_, err := io.ReadAll(register)
		require.NoError(t, err)
		require.NoError(t, register.SetLinger(0))
		require.NoError(t, register.Close())
		require.Error(t, <-sent)
	})
}

// A till that ends its sending side with its request, or behind it, is told why nothing is sold, and is never told approved.
func TestField2_R2_AHalfCloseIsAnswered(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	for name, text := range map[string]string{"with its request": request, "behind it": request + "\r\n", "in the middle of it": request[:30], "at once": ""} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		register := conn.(*net.TCPConn)
		terminal, err := listener.Accept()
		require.NoError(t, err)
		c := carry(terminal, caisseap.Config{Currency: "EUR", Language: "en"})
		_, err = io.WriteString(register, text)
		require.NoError(t, err)
		if name == "behind it" {
			_, err := c.Receive(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, register.CloseWrite())
		answer, err := io.ReadAll(register)
		require.NoError(t, err, name)
		switch name {
		case "at once":
			require.Empty(t, answer)
		case "in the middle of it":
			require.Contains(t, string(answer), "AE00201AF00209", name)
		default:
			require.Contains(t, string(answer), "AE00201AF03706 CONNECTION ENDED BEFORE THE ANSWER", name)
		}
		_, err = c.Receive(t.Context())
		require.ErrorIs(t, err, ecr.ErrClosed, "%s: nothing is begun", name)
		require.NoError(t, c.Close())
		require.NoError(t, register.Close())
	}
}
