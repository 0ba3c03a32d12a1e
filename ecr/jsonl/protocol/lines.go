package protocol

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"posagent/ecr"
	"posagent/ecr/jsonl"
	"posagent/ecr/life"
)

// longest bounds a line in bytes.
const longest = 64 << 10

// times are the bounds of a line.
type times struct {
	cable bool
	gap   time.Duration // between two bytes of a line, 0 = no bound
	whole time.Duration // from its first byte to its newline
	write time.Duration // of a line of ours, 0 = the line's own
}

var (
	tcpTimes   = times{whole: 5 * time.Second, write: 5 * time.Second}
	cableTimes = times{cable: true, gap: 2 * time.Second, whole: 90 * time.Second} // 64 KiB at 9600 baud take 68 s
)

// complainEvery bounds how often a line says "damaged" while nothing readable comes: noise is not
// answered with noise.
const complainEvery = time.Second

// errSlow is the cause of a connection that ended because a line was begun and not finished.
var errSlow = errors.New("jsonl: incomplete line")

// errLong is the cause of a connection that ended because of a line beyond the limit.
var errLong = errors.New("jsonl: line too long")

// lines carries one object a line.
type lines struct {
	life.Life
	conn    ecr.Conn
	t       times
	marked  bool          // a byte order mark can come no more
	checked bool          // a line must have a checksum
	sending chan struct{} // holds one token while a line is being sent
	sealing atomic.Bool   // our lines have a checksum

	complained time.Time // the reader's
	complaints chan string
}

var _ ecr.Transport = (*lines)(nil)

func newLines(conn ecr.Conn, t times, checked bool) *lines {
	l := &lines{conn: conn, t: t, checked: checked, complaints: make(chan string, 1), sending: make(chan struct{}, 1)}
	l.sealing.Store(checked)
	l.Begin(conn, 16)
	l.Go(l.read)
	l.Go(l.answer)
	return l
}

// Send implements ecr.Transport.
func (l *lines) Send(ctx context.Context, data []byte) error {
	select {
	case l.sending <- struct{}{}:
		defer func() { <-l.sending }()
	case <-l.Done.Done():
		return context.Cause(l.Done)
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.Done.Err() != nil {
		return context.Cause(l.Done)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c, ok := l.conn.(interface{ SetWriteDeadline(time.Time) error }); ok && l.t.write > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(l.t.write)); err != nil {
			return l.End(err)
		}
	}
	if l.sealing.Load() {
		data = seal(data)
	}
	// Half a line cannot be taken back. On a cable its checksum does not match.
	release := context.AfterFunc(ctx, func() { _ = l.End(ctx.Err()) })
	defer release()
	if _, err := l.conn.Write(append(bytes.Clone(data), '\n')); err != nil {
		return l.End(err)
	}
	l.Count(func(s *ecr.Counters) { s.Sent++ })
	return nil
}

func (l *lines) read() {
	var pending []byte  // of a line that has begun
	var began time.Time // when its first byte came
	buf := make([]byte, 4096)
	for {
		var until time.Time
		if len(pending) > 0 {
			until = began.Add(l.t.whole)
			if gap := time.Now().Add(l.t.gap); l.t.gap > 0 && gap.Before(until) {
				until = gap
			}
		}
		if err := l.conn.SetReadDeadline(until); err != nil {
			_ = l.End(err)
			return
		}
		n, err := l.conn.Read(buf)
		late := err == nil || errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case n > 0:
			if len(pending) == 0 {
				began = time.Now()
			}
			begun := len(pending) > 0
			pending = append(pending, buf[:n]...)
			if begun && len(pending) <= longest && bytes.IndexByte(buf[:n], '\n') < 0 {
				break // nothing to cut off yet
			}
			var ok bool
			if pending, ok = l.cut(pending); !ok {
				return
			}
			if len(pending) > 0 && len(pending) <= n {
				began = time.Now() // of the line that this piece has begun
			}
		case late && (until.IsZero() || time.Now().Before(until)):
		case late && l.t.cable:
			pending = nil
			l.complain("the line ends in the middle")
		case late:
			_ = l.End(errSlow)
			return
		}
		if !late {
			_ = l.End(err)
			return
		}
	}
}

// mark is what some libraries begin a stream of UTF-8 with. No browser can begin a request so.
const mark = "\xef\xbb\xbf"

// unmarked takes a byte order mark off the very beginning of a connection.
func (l *lines) unmarked(pending []byte) []byte {
	if l.marked || len(pending) < len(mark) && strings.HasPrefix(mark, string(pending)) {
		return pending
	}
	l.marked = true
	return bytes.TrimPrefix(pending, []byte(mark))
}

// cut takes whole lines off what has come, and returns the rest; ok is false where the line has
// ended.
func (l *lines) cut(pending []byte) (rest []byte, ok bool) {
	for {
		pending = bytes.TrimLeft(l.unmarked(pending), " \t\r\n")
		if len(pending) == 0 {
			return nil, true
		}
		if !l.marked && len(pending) > 0 && pending[0] == mark[0] {
			return pending, true // its rest has to come
		}
		if pending[0] != '{' && !l.t.cable {
			_ = l.End(ecr.ErrStrange)
			return nil, false
		}
		line, rest, whole := bytes.Cut(pending, []byte("\n"))
		if len(line) > longest {
			if !l.t.cable {
				_ = l.End(errLong)
				return nil, false
			}
			l.Count(func(s *ecr.Counters) { s.Noise += len(line) })
			pending = rest // what is left of it is damaged too
			if !whole {
				l.complain("the line is longer than 64 KiB")
			}
			continue
		}
		if !whole {
			return bytes.Clone(pending), true
		}
		if pending = rest; !l.take(line) {
			return nil, false
		}
	}
}

// take delivers a line, or answers that it is damaged.
func (l *lines) take(line []byte) bool {
	object, s := split(line)
	switch {
	case s == damaged:
		l.complain("the checksum does not match: say the line again")
		return true
	case s == bare && l.checked:
		l.complain("the line has no checksum: {…}*XXXX, CRC-16/CCITT-FALSE in hexadecimal")
		return true
	case l.t.cable && jsonl.Ours(object):
		l.Count(func(s *ecr.Counters) { s.Noise += len(line) })
		return true
	}
	if l.complained = (time.Time{}); !l.checked {
		l.sealing.Store(s == right)
	}
	l.Count(func(s *ecr.Counters) { s.Received++ })
	select {
	case l.Came <- bytes.Clone(object):
		return true
	case <-l.Done.Done():
		return false
	}
}

// complain says that a line was damaged, unless it has just said so.
func (l *lines) complain(text string) {
	l.Count(func(s *ecr.Counters) { s.Bad++ })
	now := time.Now()
	if now.Sub(l.complained) < complainEvery {
		return
	}
	l.complained = now
	select {
	case l.complaints <- text:
	default:
	}
}

// answer sends complaints, so that a register that reads nothing does not keep the terminal from
// reading.
func (l *lines) answer() {
	for {
		select {
		case text := <-l.complaints:
			_ = l.Send(l.Done, jsonl.Damaged(text))
		case <-l.Done.Done():
			return
		}
	}
}
