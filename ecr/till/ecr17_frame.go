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

// ECR17Conn is a connection, or a serial line.
type ECR17Conn interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// ECR17Options are how a register of ECR17 is set up. Its methods are the texts of its requests.
type ECR17Options struct {
	Terminal string        // the terminal's id, eight digits; "" = 12345678
	ID       string        // the till's own id, eight characters
	Fold     byte          // what the scope of check bytes adds: 0 std, 1 stx, 3 noext, 2 stx_noext
	Cable    bool          // Conn is a serial line: what lies in its buffer is thrown away before each request
	Wait     time.Duration // for a result; 0 = 60 s
	AckWait  time.Duration // for an ACK; 0 = 2 s
}

// ECR17 is a register that speaks ECR17. It behaves as the public libraries do: it sends a request four times at most, waits for its
// result, and takes whatever lies in its socket for the answer. Its methods are not safe for concurrent use.
type ECR17 struct {
	ECR17Options
	conn    ECR17Conn
	in      []byte // has come and is not read yet
	form    *form
	running func()
}

// NewECR17 returns a register on a connection, which it owns.
func NewECR17(conn ECR17Conn, o ECR17Options) *ECR17 {
	return &ECR17{ECR17Options: o, conn: conn}
}

// ErrNAK is what Begin says of a request that the terminal does not execute.
var ErrNAK = errors.New("four NAKs: not executed")

const (
	sends = 4
	pause = 200 * time.Millisecond // before a request is sent again
)

func (o ECR17Options) head(code string) string { return cmp.Or(o.Terminal, "12345678") + "0" + code }

// Sale is a payment of so many cents; code is P, or X for an extended one.
func (o ECR17Options) Sale(code string, cents int64) string {
	return o.head(code) + o.ID + "00000" + fmt.Sprintf("%08d", cents) + strings.Repeat(" ", 128) + "00000000"
}

// Reversal takes the last payment back; number is its STAN, 0 = whichever it is.
func (o ECR17Options) Reversal(number int) string {
	return o.head("S") + o.ID + fmt.Sprintf("%06d", number) + "00"
}

// Last asks for the last result.
func (o ECR17Options) Last() string { return o.head("G") + o.ID + "0000" }

// DayEnd closes the day.
func (o ECR17Options) DayEnd() string { return o.head("C") + o.ID + "00000000" }

// Sums asks for the sum of the day so far.
func (o ECR17Options) Sums() string { return o.head("T") + o.ID + "00000000" }

// Status asks how the terminal is.
func (o ECR17Options) Status() string { return o.head("s") }

// ECR17Frame is a message with its check byte.
func ECR17Frame(fold byte, payload string) string {
	lrc := 0x7F ^ fold
	for i := range len(payload) {
		lrc ^= payload[i]
	}
	return "\x02" + payload + "\x03" + string([]byte{lrc})
}

func (z *ECR17) more(until time.Time) error {
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
func (z *ECR17) packet(until time.Time) (string, error) {
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
func (z *ECR17) cut() (word string, ok bool, err error) {
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
			if frame := ECR17Frame(z.Fold, payload); frame[len(frame)-1] != lrc {
				return "", false, errors.New("wrong check byte")
			}
			return payload, true, nil
		default:
			z.in = z.in[1:]
		}
	}
	return "", false, nil
}

func (z *ECR17) write(text string) error {
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
func (z *ECR17) Begin(payload string) (early string, err error) {
	for z.Cable && z.more(time.Now().Add(100*time.Millisecond)) == nil {
	}
	if z.Cable {
		z.in = nil
	}
	naks := 0
	for range sends {
		if err := z.write(ECR17Frame(z.Fold, payload)); err != nil {
			return "", err
		}
		said, err := z.packet(time.Now().Add(cmp.Or(z.AckWait, 2*time.Second)))
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
	return "", fmt.Errorf("%w: no ACK", ErrSilent)
}

// Result waits for the result of a request, and acknowledges it.
func (z *ECR17) Result() (string, error) {
	until := time.Now().Add(cmp.Or(z.Wait, 60*time.Second))
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
func (z *ECR17) Ack() error { return z.write(string([]byte{0x06, 0x03, 0x7F ^ 0x06 ^ z.Fold})) }

// Ask sends a request and returns its result, which it has acknowledged.
func (z *ECR17) Ask(payload string) (string, error) { return z.ask(payload, nil) }

// Close implements Till.
func (z *ECR17) Close() error { return z.conn.Close() }
