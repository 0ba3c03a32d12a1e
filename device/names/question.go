package names

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

const (
	header    = 12   // octets
	truncated = 0x02 // in octet 2
	typeA     = 1
	typeAAAA  = 28
	optLength = 11 // of an EDNS record without options, as Go's resolver sends it
)

// withoutEDNS is a question without the EDNS record at its end; ok = it had one.
func withoutEDNS(asked []byte) (plain []byte, ok bool) {
	at := len(asked) - optLength
	if at < header || binary.BigEndian.Uint16(asked[10:]) != 1 || !bytes.Equal(asked[at:at+3], []byte{0, 0, 41}) {
		return asked, false
	}
	plain = bytes.Clone(asked[:at])
	binary.BigEndian.PutUint16(plain[10:], 0)
	return plain, true
}

// kindOf is what a question without EDNS asks for.
func kindOf(plain []byte) uint16 {
	if len(plain) < header+5 {
		return 0
	}
	return binary.BigEndian.Uint16(plain[len(plain)-4:])
}

// said is a reply without records, as a name server would send it.
func said(plain []byte, code byte) []byte {
	reply := bytes.Clone(plain)
	reply[2], reply[3] = 0x81, 0x80|code // a reply; recursion desired, and available
	return reply
}

// question is the way to one server for one question. The resolver writes it, and reads its answer.
type question struct {
	net.Conn
	of     *lookup
	server string

	plain    []byte // as it was asked, without EDNS
	kind     uint16
	edns     bool      // it was asked with EDNS
	again    bool      // it was asked without
	other    uint16    // the id of the question without
	repeat   time.Time // when that is asked, if nothing has come
	deadline time.Time // the resolver's
	refused  int       // the code of a refusal that was heard, -1 = none
}

// ReadFrom makes it a packet connection, which it is.
func (q *question) ReadFrom(p []byte) (int, net.Addr, error) {
	n, err := q.Read(p)
	return n, q.RemoteAddr(), err
}

// WriteTo is ReadFrom's other half.
func (q *question) WriteTo(p []byte, _ net.Addr) (int, error) { return q.Write(p) }

func (q *question) SetDeadline(t time.Time) error {
	if soon := time.Now().Add(second); q.of.of.shunned(q.server) && t.After(soon) {
		t = soon
	}
	q.deadline = t
	return q.Conn.SetDeadline(t)
}

func (q *question) Write(p []byte) (int, error) {
	q.refused = -1
	q.plain, q.edns = withoutEDNS(p)
	q.kind = kindOf(q.plain)
	if q.kind == typeAAAA {
		q.of.mu.Lock()
		q.of.waiting[q] = true
		q.of.mu.Unlock()
	}
	if !q.edns || q.of.of.wantsPlain(q.server) {
		q.edns = false
		return len(p), q.askPlain()
	}
	q.repeat = time.Now().Add(second)
	return q.Conn.Write(p)
}

// askPlain asks without EDNS, under another id: its answer is known by that.
func (q *question) askPlain() error {
	q.again, q.other = true, uint16(rand.Uint32())
	ask := bytes.Clone(q.plain)
	binary.BigEndian.PutUint16(ask, q.other)
	_, err := q.Conn.Write(ask)
	return err
}

func (q *question) Read(p []byte) (int, error) {
	for {
		if q.gaveUp() {
			return copy(p, said(q.plain, 0)), nil
		}
		n, err := q.Conn.Read(p)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			now := time.Now()
			switch {
			case q.edns && !q.again && !now.Before(q.repeat):
				if err := q.askPlain(); err != nil {
					return 0, err
				}
				continue
			case q.deadline.IsZero() || now.Before(q.deadline):
				continue // it was woken for the other addresses
			case q.refused >= 0:
				return copy(p, said(q.plain, byte(q.refused))), nil
			}
			q.of.of.unanswered(q.server)
			return 0, err
		case err != nil:
			return 0, err
		}
		if done, err := q.heard(p[:n]); err != nil {
			return 0, err
		} else if done {
			if code := p[3] & 0xf; code != 0 {
				return copy(p, said(q.plain, code)), nil
			}
			return n, nil
		}
	}
}

// gaveUp says that IPv6 addresses are not waited for any longer. Else it sets how long the next reply is.
func (q *question) gaveUp() bool {
	l := q.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.enough(q.kind) {
		return true
	}
	until := q.deadline
	sooner := func(t time.Time) {
		if until.IsZero() || t.Before(until) {
			until = t
		}
	}
	if q.edns && !q.again {
		sooner(q.repeat)
	}
	if q.kind == typeAAAA && !l.found.IsZero() {
		sooner(l.found.Add(second))
	}
	_ = q.Conn.SetReadDeadline(until)
	return false
}

// heard judges a reply. done: it is the one that the resolver gets, with its id.
func (q *question) heard(reply []byte) (done bool, err error) {
	if len(reply) < header || reply[2]&0x80 == 0 {
		return false, nil
	}
	id, code := binary.BigEndian.Uint16(reply), reply[3]&0xf
	switch own := binary.BigEndian.Uint16(q.plain); {
	case q.again && id == q.other:
		binary.BigEndian.PutUint16(reply, own)
		q.of.of.answered(q.server, q.edns && code == 0)
	case id == own && code == 0:
		q.of.of.answered(q.server, false)
	case id == own && q.edns && !q.again: // a refusal may mean the record alone
		q.refused = int(code)
		return false, q.askPlain()
	default:
		return false, nil
	}
	if code == 0 {
		q.of.take(q.kind, reply)
	}
	return true, nil
}

// Close ends the question.
func (q *question) Close() error {
	q.of.mu.Lock()
	delete(q.of.waiting, q)
	q.of.mu.Unlock()
	return q.Conn.Close()
}

// plainStream is a TCP connection to a server that knows no EDNS.
type plainStream struct{ net.Conn }

func (s plainStream) Write(p []byte) (int, error) {
	if len(p) < 2 {
		return s.Conn.Write(p)
	}
	plain, _ := withoutEDNS(p[2:])
	if _, err := s.Conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(plain))), plain...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cutAnswer stands for the TCP connection of a server that takes none: it gives the answer that was cut.
type cutAnswer struct {
	of   *lookup
	left bytes.Reader
}

func (c *cutAnswer) Write(p []byte) (int, error) {
	if len(p) < 2 {
		return 0, io.ErrShortWrite
	}
	plain, _ := withoutEDNS(p[2:])
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	reply := c.of.cut[kindOf(plain)]
	if reply == nil {
		return 0, io.ErrClosedPipe
	}
	c.left.Reset(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return len(p), nil
}

func (c *cutAnswer) Read(p []byte) (int, error)       { return c.left.Read(p) }
func (c *cutAnswer) Close() error                     { return nil }
func (c *cutAnswer) LocalAddr() net.Addr              { return nil }
func (c *cutAnswer) RemoteAddr() net.Addr             { return nil }
func (c *cutAnswer) SetDeadline(time.Time) error      { return nil }
func (c *cutAnswer) SetReadDeadline(time.Time) error  { return nil }
func (c *cutAnswer) SetWriteDeadline(time.Time) error { return nil }
