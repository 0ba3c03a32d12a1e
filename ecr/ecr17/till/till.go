package till

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Conn is a connection, or a serial line.
type Conn interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Options are how a till is set up.
type Options struct {
	Terminal string        // the terminal's id, eight digits; "" = 12345678
	ID       string        // the till's own id, eight characters
	Fold     byte          // what the scope of check bytes adds: 0 std, 1 stx, 3 noext, 2 stx_noext
	Cable    bool          // Conn is a serial line: what lies in its buffer is thrown away before each request
	Wait     time.Duration // for a result; 0 = 60 s
	AckWait  time.Duration // for an ACK; 0 = 2 s
}

// Till is one register. Its methods are not safe for concurrent use.
type Till struct {
	conn Conn
	o    Options
	in   []byte // has come and is not read yet
}

// New returns a register on a connection, which it owns.
func New(conn Conn, o Options) *Till {
	o.Terminal, o.Wait, o.AckWait = cmp.Or(o.Terminal, "12345678"), cmp.Or(o.Wait, 60*time.Second), cmp.Or(o.AckWait, 2*time.Second)
	return &Till{conn: conn, o: o}
}

// Errors of Ask.
var (
	ErrNAK    = errors.New("four NAKs: not executed")
	ErrSilent = errors.New("no ACK")
)

const (
	sends = 4
	pause = 200 * time.Millisecond // before a request is sent again
)

func (z *Till) head(code string) string { return z.o.Terminal + "0" + code }

// Sale is a payment of so many cents; code is P, or X for an extended one.
func (z *Till) Sale(code string, cents int64) string {
	return z.head(code) + z.o.ID + "00000" + fmt.Sprintf("%08d", cents) + strings.Repeat(" ", 128) + "00000000"
}

// Reversal takes the last payment back; number is its STAN, 0 = whichever it is.
func (z *Till) Reversal(number int) string {
	return z.head("S") + z.o.ID + fmt.Sprintf("%06d", number) + "00"
}

// Last asks for the last result.
func (z *Till) Last() string { return z.head("G") + z.o.ID + "0000" }

// Close ends the day, Totals asks for its sum so far.
func (z *Till) Close() string { return z.head("C") + z.o.ID + "00000000" }

// Totals asks for the sum of the day so far.
func (z *Till) Totals() string { return z.head("T") + z.o.ID + "00000000" }

// Status asks how the terminal is.
func (z *Till) Status() string { return z.head("s") }

// Frame is a message with its check byte.
func Frame(fold byte, payload string) string {
	lrc := 0x7F ^ fold
	for i := range len(payload) {
		lrc ^= payload[i]
	}
	return "\x02" + payload + "\x03" + string([]byte{lrc})
}

func (z *Till) more(until time.Time) error {
	if err := z.conn.SetReadDeadline(until); err != nil {
		return err
	}
	buf := make([]byte, 256)
	n, err := z.conn.Read(buf)
	z.in = append(z.in, buf[:n]...)
	if n == 0 && err == nil {
		err = os.ErrDeadlineExceeded
	}
	return err
}

// packet is the next thing that the terminal says: "ack", "nak", or a message. Progress is skipped.
func (z *Till) packet(until time.Time) (string, error) {
	for {
		if word, ok, err := z.cut(); ok || err != nil {
			return word, err
		}
		if err := z.more(until); err != nil {
			return "", err
		}
	}
}

// cut takes one thing off what has come; ok is false where there is none yet.
func (z *Till) cut() (word string, ok bool, err error) {
	for len(z.in) > 0 {
		switch z.in[0] {
		case 0x06, 0x15:
			if len(z.in) < 3 {
				return "", false, nil
			}
			word = map[byte]string{0x06: "ack", 0x15: "nak"}[z.in[0]]
			z.in = z.in[3:]
			return word, true, nil
		case 0x01:
			if len(z.in) < 22 {
				return "", false, nil
			}
			z.in = z.in[22:]
		case 0x02:
			end := bytes.IndexByte(z.in, 0x03)
			if end < 0 || len(z.in) == end+1 {
				return "", false, nil
			}
			payload, lrc := string(z.in[1:end]), z.in[end+1]
			z.in = z.in[end+2:]
			if frame := Frame(z.o.Fold, payload); frame[len(frame)-1] != lrc {
				return "", false, errors.New("wrong check byte")
			}
			return payload, true, nil
		default:
			z.in = z.in[1:]
		}
	}
	return "", false, nil
}

func (z *Till) write(text string) error {
	if err := z.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err := io.WriteString(z.conn, text)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil // the cable is out
	}
	return err
}

// Begin sends a request until it is acknowledged. early is a message that came before the ACK, which
// is the result then. Errors: ErrNAK, ErrSilent, and those of the line.
func (z *Till) Begin(payload string) (early string, err error) {
	for z.o.Cable && z.more(time.Now().Add(100*time.Millisecond)) == nil {
	}
	if z.o.Cable {
		z.in = nil
	}
	naks := 0
	for range sends {
		if err := z.write(Frame(z.o.Fold, payload)); err != nil {
			return "", err
		}
		said, err := z.packet(time.Now().Add(z.o.AckWait))
		switch {
		case err == nil && said == "ack":
			return "", nil
		case err == nil && said != "nak":
			return said, nil
		case err == nil:
			naks++
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return "", err
		}
		<-time.After(pause)
	}
	if naks == sends {
		return "", ErrNAK
	}
	return "", ErrSilent
}

// Result waits for the result of a request, and acknowledges it.
func (z *Till) Result() (string, error) {
	until := time.Now().Add(z.o.Wait)
	for {
		said, err := z.packet(until)
		if err != nil {
			return "", err
		}
		if said != "ack" && said != "nak" {
			return said, z.Ack()
		}
	}
}

// Ack acknowledges a message.
func (z *Till) Ack() error { return z.write(string([]byte{0x06, 0x03, 0x7F ^ 0x06 ^ z.o.Fold})) }

// Ask sends a request and returns its result, which it has acknowledged.
func (z *Till) Ask(payload string) (string, error) {
	early, err := z.Begin(payload)
	switch {
	case err != nil:
		return "", err
	case early != "":
		return early, z.Ack()
	}
	return z.Result()
}

// Hang closes the line.
func (z *Till) Hang() error { return z.conn.Close() }

// Swallow reads bytes and does nothing with them.
func (z *Till) Swallow(p []byte) (int, error) {
	if err := z.conn.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	return z.conn.Read(p)
}
