package protocol

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/ecr/caisseap"
	"posagent/ecr/life"
	"posagent/ecr/socket"
)

// Times of a connection.
const (
	firstWithin = 5 * time.Minute        // from its beginning to the first byte
	wholeWithin = 5 * time.Second        // from the first byte to a whole request
	quiet       = 200 * time.Millisecond // after whole fields: the request has ended
	leaveWithin = 5 * time.Second        // from the answer to the peer's FIN
)

// maxSurplus bounds what may come behind a request.
const maxSurplus = 64 << 10

// Errors of a connection.
var (
	errAnswered = errors.New("the connection has its answer")
	errSilent   = errors.New("no answer")
	errTooLong  = errors.New("the answer is too long")
	errLeft     = errors.New("the register has left before the answer")
	errStays    = errors.New("the register has not closed after the answer")
	errReset    = errors.New("the register has closed without reading all of the answer")
	errUnheard  = errors.New("the register's TCP has not acknowledged the answer")
)

// carrier is one connection: one request comes in, one answer goes out.
type carrier struct {
	life.Life
	conn net.Conn
	cfg  caisseap.Config
	gone chan struct{} // the peer has closed, or the connection is lost

	mu        sync.Mutex
	answering bool
	last      error // of reading, once gone is closed
}

var _ ecr.Transport = (*carrier)(nil)

func carry(conn net.Conn, cfg caisseap.Config) *carrier {
	c := &carrier{conn: conn, cfg: cfg, gone: make(chan struct{})}
	c.Begin(conn, 2)
	c.Go(c.read)
	return c
}

// Send implements ecr.Transport: nil means that the register has read the answer and closed. The
// terminal ends its side once the answer is acknowledged: tills exist that read until then. No data closes
// the connection without an answer.
func (c *carrier) Send(ctx context.Context, data []byte) error {
	if err := c.begin(data); err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { _ = c.End(ctx.Err()) })
	defer release()
	if err := c.conn.SetWriteDeadline(time.Now().Add(leaveWithin)); err != nil {
		return c.End(err)
	}
	if _, err := c.conn.Write(data); err != nil { // one write: registers read once
		return c.End(err)
	}
	late := time.NewTimer(leaveWithin)
	defer late.Stop()
	switch err := socket.Acknowledged(ctx, c.conn, leaveWithin); {
	case errors.Is(err, socket.ErrEnded):
		return c.End(errReset)
	case errors.Is(err, socket.ErrUnheard):
		return c.End(errUnheard)
	case err != nil:
		return c.End(err)
	}
	if half, can := c.conn.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite() // it fails where the register has closed meanwhile
	}
	select {
	case <-c.gone:
	case <-c.Done.Done():
		return context.Cause(c.Done)
	case <-late.C:
		return c.End(errStays)
	}
	if !errors.Is(c.last, io.EOF) {
		return c.End(errReset)
	}
	_ = c.End(errAnswered)
	return nil
}

// begin says why an answer cannot be sent.
func (c *carrier) begin(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.Done.Err() != nil:
		return context.Cause(c.Done)
	case c.answering:
		return c.End(errAnswered)
	case len(data) == 0:
		return c.End(errSilent)
	case len(data) > caisseap.MaxAnswer:
		return c.End(errTooLong)
	case c.last != nil: // the reader ends it
		<-c.Done.Done()
		return context.Cause(c.Done)
	case !there(c.conn):
		return c.End(errLeft)
	}
	c.answering = true
	return nil
}

// read takes the request, then whatever comes until the peer has closed. While an answer leaves, the
// end belongs to Send, which judges it. Before one, it is the register's abort; a register that has ended
// its sending side alone still reads why.
func (c *carrier) read() {
	data, surplus, err := c.request()
	begun := err == nil
	if begun {
		c.Came <- data
		err = c.drain(surplus)
	}
	c.mu.Lock()
	c.last = err
	answering := c.answering
	c.mu.Unlock()
	close(c.gone)
	if !answering {
		if errors.Is(err, io.EOF) && len(data) > 0 && c.conn.SetWriteDeadline(time.Now().Add(leaveWithin)) == nil {
			_, _ = c.conn.Write(caisseap.Left(data, c.cfg, begun))
		}
		_ = c.End(err)
	}
}

// request reads until a request has ended; the bytes behind it are surplus. Beside an error data is what
// had come.
func (c *carrier) request() (data, surplus []byte, err error) {
	buf := make([]byte, caisseap.MaxRequest)
	until := time.Now().Add(firstWithin)
	for began := (time.Time{}); ; {
		state, fields := caisseap.Scan(data)
		switch {
		case len(data) == 0:
		case state == caisseap.Strange:
			return nil, nil, ecr.ErrStrange
		case state == caisseap.Ended, len(data) >= caisseap.MaxRequest:
			return data[:fields], data[fields:], nil
		case state == caisseap.Whole:
			until = earlier(time.Now().Add(quiet), began.Add(wholeWithin))
		default:
			until = began.Add(wholeWithin)
		}
		if err := c.conn.SetReadDeadline(until); err != nil {
			return nil, nil, err
		}
		n, err := c.conn.Read(buf[:caisseap.MaxRequest-len(data)])
		if n > 0 && len(data) == 0 {
			began = time.Now()
		}
		data = append(data, buf[:n]...)
		switch {
		case n > 0:
		case errors.Is(err, os.ErrDeadlineExceeded) && len(data) > 0:
			return data, nil, nil // a request, or what the dialogue cannot read
		case err != nil:
			return data, nil, err
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// drain reads what comes behind the request, so that closing resets nothing, and hands the first of
// it over where it is more than the end of a line.
func (c *carrier) drain(surplus []byte) error {
	_ = c.conn.SetReadDeadline(time.Time{}) // reading tells how a connection ended; a pipe whose peer closed has no deadline
	buf := make([]byte, 512)
	for total, handed := 0, false; total < maxSurplus; {
		if !handed && strings.Trim(string(surplus), "\r\n\x00 ") != "" {
			handed = true
			c.Came <- []byte(strings.Clone(string(surplus)))
		}
		n, err := c.conn.Read(buf)
		total += n
		surplus = buf[:n]
		if err != nil && n == 0 {
			return err
		}
	}
	return ecr.ErrStrange
}
