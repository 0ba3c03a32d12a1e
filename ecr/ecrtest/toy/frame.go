package toy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/ecr/life"
)

const (
	longest = 64              // bytes of a line
	within  = 5 * time.Second // from its first byte to its end
)

// lines carries one message a line. A line ends with a full stop, because half an amount is an
// amount too, and begins with an empty one, which ends what was lost of another. On a cable what is
// no line is passed over; a connection ends with it.
type lines struct {
	life.Life
	conn  ecr.Conn
	cable bool
	send  sync.Mutex
}

func frame(conn ecr.Conn, cable bool) *lines {
	l := &lines{conn: conn, cable: cable}
	l.Begin(conn, 0)
	l.Go(l.read)
	return l
}

// Send implements ecr.Transport.
func (l *lines) Send(ctx context.Context, data []byte) error {
	l.send.Lock()
	defer l.send.Unlock()
	release := context.AfterFunc(ctx, func() { l.End(ctx.Err()) })
	defer release()
	if _, err := fmt.Fprintf(l.conn, "\n%s.\n", data); err != nil {
		return l.End(err)
	}
	return nil
}

func (l *lines) read() {
	var pending []byte
	buf := make([]byte, 512)
	for {
		var until time.Time
		if len(pending) > 0 {
			until = time.Now().Add(within)
		}
		if err := l.conn.SetReadDeadline(until); err != nil {
			_ = l.End(err)
			return
		}
		n, err := l.conn.Read(buf)
		pending = append(pending, buf[:n]...)
		for len(pending) > 0 && l.Done.Err() == nil {
			line, rest, whole := bytes.Cut(pending, []byte("\n"))
			if len(line) > longest || bytes.ContainsFunc(line, strange) {
				if !l.cable {
					_ = l.End(ecr.ErrStrange)
					return
				}
				line = nil
				if !whole {
					pending = nil
				}
			}
			if !whole {
				break
			}
			pending = rest
			if line, whole = bytes.CutSuffix(line, []byte(".")); whole {
				select {
				case l.Came <- bytes.Clone(line):
				case <-l.Done.Done():
				}
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && l.cable:
			pending = nil
		case err != nil:
			_ = l.End(err)
			return
		}
	}
}

// strange is what stands in no line.
func strange(r rune) bool { return r < ' ' || r > 'z' }
