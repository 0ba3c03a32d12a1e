package ecr

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// Protocol is a register protocol as a session needs it. Each protocol has a folder of its own,
// which makes one.
type Protocol struct {
	// Dialogue begins the terminal's side of one connection.
	Dialogue func(Start) Dialogue
	// Serial carries messages over an open serial line, which it owns; nil = the protocol does not
	// run on one.
	Serial func(Conn) Transport
	// TCP carries messages over a connection, which it owns; nil = the protocol does not run on
	// TCP.
	TCP func(net.Conn) Transport
	// Claim reads what a message says of who sends it; nil = the protocol has neither passwords nor
	// registrations.
	Claim func(data []byte) Claim
	// Outline names a message for a person's log, with how it ended. It tells nothing that the
	// message carries: no amount, no card, no password, no text. nil = messages have no names.
	Outline func(data []byte) string
}

// Claim is what a message says of its sender.
type Claim struct {
	Password bool // it carries a password,
	Right    bool // which is the line's
	Register bool // it registers: what sends it is a register, and no stranger that knocks
}

// Conn is an open serial line. Read may return os.ErrDeadlineExceeded; 0 bytes without an error
// count as that too.
type Conn = interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// Transport carries whole messages. Send and Receive may be called from different goroutines.
type Transport interface {
	// Send sends one message. nil: the peer has it, as far as the protocol lets the terminal know.
	// Errors: ErrClosed (wrapping the cause), ctx.Err(), and the protocol's own.
	Send(ctx context.Context, data []byte) error
	// Receive takes the next message. Errors: ErrClosed (wrapping the cause; ErrStrange is one),
	// ctx.Err().
	Receive(ctx context.Context) ([]byte, error)
	// While returns a context that ends with ctx, or when the connection is gone.
	While(ctx context.Context) context.Context
	// Stats is what happened since the line was opened.
	Stats() Counters
	// Close ends the connection and releases its goroutines.
	Close() error
}

// Errors of a Transport.
var (
	ErrClosed  = errors.New("line closed")
	ErrStrange = errors.New("the peer speaks another protocol") // a byte came that begins no message
)

// Counters count what happened on a serial line since it was opened. A protocol fills in what it
// knows.
type Counters struct {
	Received, Sent   int // messages delivered and acknowledged
	Repeated         int // messages we sent again
	Duplicates       int // repeated messages of the peer, not delivered
	Bad              int // damaged messages
	Naks             int // negative acknowledgements received
	Noise            int // bytes outside messages
	Overflow         int // messages not acknowledged because the queue was full
	TransmitFailures int
}

// Plus is the sum of what two openings of a line counted.
func (c Counters) Plus(o Counters) Counters {
	return Counters{
		Received: c.Received + o.Received, Sent: c.Sent + o.Sent, Repeated: c.Repeated + o.Repeated,
		Duplicates: c.Duplicates + o.Duplicates, Bad: c.Bad + o.Bad, Naks: c.Naks + o.Naks, Noise: c.Noise + o.Noise,
		Overflow: c.Overflow + o.Overflow, TransmitFailures: c.TransmitFailures + o.TransmitFailures,
	}
}
