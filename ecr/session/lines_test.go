package session

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// peer is a register that sends what it likes.
type peer struct {
	t    *testing.T
	conn net.Conn
	buf  []byte
}

func dial(t *testing.T, address string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{t: t, conn: conn}
}

func (p *peer) send(hexBytes string) {
	p.t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(hexBytes, " ", ""))
	require.NoError(p.t, err)
	_, err = p.conn.Write(b)
	require.NoError(p.t, err)
}

// next is the next APDU, its first bytes at least; "" at the end of the connection.
func (p *peer) next() string {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(5 * need.Limit())) // virtual time has minutes in which nothing comes
	for {
		if one, rest, missing := apdu.Next(p.buf); missing == 0 {
			p.buf = rest
			return strings.ToUpper(hex.EncodeToString(one))
		}
		b := make([]byte, 512)
		n, err := p.conn.Read(b)
		p.buf = append(p.buf, b[:n]...)
		if err != nil {
			return ""
		}
	}
}

func (p *peer) expect(want ...string) {
	p.t.Helper()
	for _, w := range want {
		w = strings.ReplaceAll(w, " ", "")
		got := p.next()
		require.True(p.t, strings.HasPrefix(got, w), "got %s, want %s...", got, w)
	}
}

func (p *peer) expectApproval() {
	p.t.Helper()
	got := p.next()
	require.True(p.t, strings.HasPrefix(got, "040F") && strings.HasPrefix(got[6:], "2700"), got)
}

// What a register says first: noPrint takes no receipt, withStatus wants intermediate status.
const (
	noPrint    = "06 00 06 12 34 56 00 09 78"
	withStatus = "06 00 06 12 34 56 08 09 78"
)

// register registers.
func (p *peer) register(as string) {
	p.t.Helper()
	p.asks(as, "80 00 00", "06 0F")
	p.send("80 00 00")
}

const (
	payOpen = "06 01 07 04 00 00 00 00 99 00"
	pay     = "06 01 07 04 00 00 00 00 12 50"
)

// begin asks for a sale, and hears that it runs.
func (p *peer) begin(sale string) {
	p.t.Helper()
	p.asks(sale, "80 00 00")
}

func (p *peer) asks(command string, want ...string) {
	p.t.Helper()
	p.send(command)
	p.expect(want...)
}

// TestAnotherConnection: while one connection runs a sale, another gets clear answers and can abort
// it.
func TestAnotherConnection(t *testing.T) {
	d := desk.New()
	address, s := serveTCP(t, d, nil)
	a, b := dial(t, address), dial(t, address)
	a.begin(payOpen)
	for _, c := range []struct{ send, want string }{
		{pay, "84 A0 00"},
		{"06 31 0D 12 34 56 04 00 00 00 00 05 00 87 00 07", "84 A0 00"},
		{"06 50 03 12 34 56", "84 A0 00"},
		{"06 70 00", "84 A0 00"},
		{"06 C0 00", "84 83 00"},
	} {
		b.send(c.send)
		b.expect(c.want)
	}
	b.send("05 01 05 12 34 56 03 02")
	b.expect("80 00 00", "06 0F 01 9C")
	b.send("80 00 00")
	b.send("06 00 06 12 34 56 0E 09 78")
	b.expect("80 00 00", "06 0F 0A")
	b.send("80 00 00")
	b.send("06 B0 00")
	b.expect("80 00 00")
	a.expect("04 0F 07 27 6C")
	a.send("80 00 00")
	a.expect("06 1E 01 6C")
	a.send("80 00 00")
	require.NoError(t, d.Until(t.Context(), "told", func() bool { return len(d.Deliveries) == 1 }))
	b.send("06 B0 00")
	b.expect("84 83 00")
	require.Equal(t, 2, s.Stats().Connections)
	require.Equal(t, []string{"told s1"}, d.Recorded())
}

// TestTakeOver: 06 20 on a new connection continues the sale once the connection that had it is
// gone.
func TestTakeOver(t *testing.T) {
	d := desk.New()
	address, _ := serveTCP(t, d, nil)
	a, b := dial(t, address), dial(t, address)
	a.begin(payOpen)
	b.send("06 20 05 12 34 56 03 03")
	b.expect("80 00 00")
	require.NoError(t, a.conn.Close())
	require.NoError(t, d.Until(t.Context(), "joined", func() bool { return d.Sales[0].Held == 1 }))
	d.Approve()
	b.expectApproval()
	b.send("80 00 00")
	b.expect("06 0F 00")
	require.NoError(t, d.Until(t.Context(), "both recorded", func() bool { return len(d.Deliveries) == 2 }))
	got := d.Recorded()
	slices.Sort(got)
	require.Equal(t, []string{"lost s1", "told s1"}, got, "the first connection was not told")
}

// TestLostConnection: the sale runs on, its outcome is lost, and 06 20 on the next connection tells
// it.
func TestLostConnection(t *testing.T) {
	d := desk.New()
	address, s := serveTCP(t, d, nil)
	a := dial(t, address)
	a.begin(payOpen)
	require.NoError(t, a.conn.Close())
	b := dial(t, address)
	b.send("05 01 00")
	b.expect("80 00 00")
	require.Contains(t, b.next(), "9C")
	b.send("80 00 00")
	b.send(pay)
	b.expect("84 A0 00")
	need.Until(t, "the dialogue has no owner", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.owner == nil })
	d.Approve()
	require.NoError(t, d.Until(t.Context(), "lost", func() bool { return len(d.Deliveries) == 1 }))
	b.send("06 20 05 12 34 56 03 03")
	b.expect("80 00 00")
	b.expectApproval()
	b.send("80 00 00")
	b.expect("06 0F 00")
	require.Equal(t, []string{"lost s1", "told s1"}, d.Recorded())
	need.Until(t, "one connection is left", func() bool { return s.Stats().Connections == 1 })
}

// TestConnectionLimit: the oldest connection without a dialogue makes room.
func TestConnectionLimit(t *testing.T) {
	d := desk.New()
	address, _ := serveTCP(t, d, func(o *setup) { o.MaxConns = 2 })
	busy := dial(t, address)
	busy.begin(payOpen)
	old := dial(t, address)
	old.send("06 18 00")
	old.expect("84 A0 00")
	fresh := dial(t, address)
	fresh.send("06 B0 00")
	fresh.expect("80 00 00")
	require.Empty(t, old.next())
	busy.expect("04 0F")
}

// TestGarbageOnTCP: what is no dialogue ends the connection or is refused, and the terminal goes on
// (security E).
func TestGarbageOnTCP(t *testing.T) {
	d := desk.New()
	address, _ := serveTCP(t, d, func(o *setup) { o.t3 = 50 * time.Millisecond })
	for name, c := range map[string]struct {
		send   []byte
		closed bool
	}{
		"half an APDU":               {[]byte{0x06, 0x01, 0x07, 0x04, 0x00}, true},
		"length 65535 and silence":   {[]byte{0x06, 0x01, 0xFF, 0xFF, 0xFF, 1, 2, 3}, true},
		"another register protocol":  {[]byte{0x15}, true},
		"a web browser":              {[]byte("GET / HTTP/1.1\r\nHost: terminal\r\n\r\n"), true},
		"an unknown class":           {[]byte{0x15, 0x03, 0x00}, true},
		"noise":                      {bytes.Repeat([]byte{0xFF}, 4096), true},
		"amount with letters":        {[]byte{0x06, 0x01, 0x07, 0x04, 0, 0, 0, 0, 0x1A, 0x50}, false},
		"thirteen digits":            {[]byte{0x06, 0x01, 0x08, 0x04, 0, 0, 0, 0, 0, 0x12, 0x50}, false},
		"text instead of an amount":  {append([]byte{0x06, 0x01, 0x07, 0x04}, "-12,50"...), false},
		"length inside shorter":      {[]byte{0x06, 0x01, 0x03, 0x06, 0x05, 0x1F}, false},
		"answers nobody waits for":   {bytes.Repeat([]byte{0x80, 0x00, 0x00}, 100), false},
		"a terminal's own messages":  {[]byte{0x06, 0x0F, 0x00, 0x06, 0x1E, 0x01, 0x6C}, false},
		"a flood of status requests": {bytes.Repeat([]byte{0x05, 0x01, 0x00}, 500), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := dial(t, address)
			go func() { _, _ = p.conn.Write(c.send) }()
			if c.closed {
				_ = p.conn.SetReadDeadline(need.Deadline())
				_, err := io.Copy(io.Discard, p.conn)
				require.True(t, err == nil || !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err), "closed, not hanging: %v", err)
			}
			q := dial(t, address)
			q.send("05 01 05 12 34 56 03 02")
			q.expect("80 00 00", "06 0F 01 00")
		})
	}
	require.Empty(t, d.Begun)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// TestSerialDeviceComesBack: the adapter drops out in the middle of a sale; the register gets its
// 04 0F all the same.
func TestSerialDeviceComesBack(t *testing.T) {
	t.Parallel()
	d := desk.New()
	first, path1 := cablePair(t)
	second, path2 := cablePair(t)
	p := newTTYs(path1)
	s := serveSerial(t, d, p, frame.Config{})
	<-p.opened
	line := frame.New(first, frame.Config{})
	require.NoError(t, line.Send(t.Context(), []byte{0x06, 0x01, 0x07, 0x04, 0, 0, 0, 0, 0x99, 0x00}))
	got, err := line.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, []byte{0x80, 0, 0}, got)
	require.NoError(t, line.Close())
	d.Approve()
	p.paths <- "" // once it cannot be opened
	p.paths <- path2
	<-p.opened
	line = frame.New(second, frame.Config{})
	defer func() { _ = line.Close() }()
	got, err = line.Receive(t.Context())
	require.NoError(t, err)
	if got[0] == 0x80 { // the line was lost before the link had acknowledged it
		got, err = line.Receive(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []byte{0x04, 0x0F}, got[:2])
	require.NoError(t, line.Send(t.Context(), []byte{0x80, 0, 0}))
	require.NoError(t, d.Until(t.Context(), "told", func() bool { return len(d.Deliveries) == 1 }))
	require.Equal(t, []string{"told s1"}, d.Recorded())
	require.EqualValues(t, 1, s.Stats().OpenErrors)
}

// TestGarbageOnTheSerialLine: bad blocks begin nothing, and after each the next good one is
// understood (security E).
func TestGarbageOnTheSerialLine(t *testing.T) {
	d := desk.New()
	end, path := cablePair(t)
	p := newTTYs(path)
	serveSerial(t, d, p, frame.Config{T1: 20 * time.Millisecond, T2: 100 * time.Millisecond})
	<-p.opened
	line := frame.New(end, frame.Config{T2: 100 * time.Millisecond, Repeats: 9})
	defer func() { _ = line.Close() }()
	sale := frame.EncodeBlock([]byte{0x06, 0x01, 0x07, 0x04, 0, 0, 0, 0, 0x12, 0x50})
	swapped := bytes.Replace(sale, []byte{0x12, 0x50}, []byte{0x21, 0x50}, 1)
	for i, garbage := range [][]byte{
		bytes.Repeat([]byte{0x00, 0xFF, 0x55}, 300), {0x10, 0x02, 0x10, 0x02, 0x06}, sale[:len(sale)-4], swapped,
		append(bytes.Clone(sale[:len(sale)-1]), sale[len(sale)-1]^1), {0x10, 0x10, 0x10, 0x03, 0x00}, bytes.Repeat([]byte{0x15}, 100),
		bytes.Repeat([]byte{0x06}, 100), {0x10}, []byte("posagent"),
	} {
		_, err := end.Write(garbage)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
		require.NoError(t, line.Send(ctx, []byte{0x06, 0xC0 + byte(i), 0x00}), "% x", garbage)
		got, err := line.Receive(ctx)
		require.NoError(t, err, "% x", garbage)
		require.Equal(t, []byte{0x84, 0x83, 0}, got)
		cancel()
	}
	require.Empty(t, d.Begun)
}

// TestTapSeesBothWays: the demo's trace.
func TestTapSeesBothWays(t *testing.T) {
	d := desk.New()
	seen := make(chan string, 64)
	address, _ := serveTCP(t, d, func(o *setup) {
		o.Tap = func(dir Direction, data []byte) { seen <- dir.String() + " " + hex.EncodeToString(data[:2]) }
	})
	r, err := zvt.Dial(t.Context(), "tcp:"+address, zvt.Options{Habit: zvt.BlockPrint()})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	_, err = r.Pay(t.Context(), 1250, "", zvt.PayOptions{})
	require.NoError(t, err)
	require.Equal(t, "register 0601", <-seen)
	require.Equal(t, "terminal 8000", <-seen)
	require.Equal(t, "terminal 040f", <-seen)
	require.Equal(t, "register 8000", <-seen)
}

// TestNextCommandOnANewConnection: the completion that is not yet answered holds nobody up.
func TestNextCommandOnANewConnection(t *testing.T) {
	address, _ := serveTCP(t, desk.New(), nil)
	a, b := dial(t, address), dial(t, address)
	a.send("06 18 00")
	a.expect("80 00 00", "06 0F 00")
	b.begin(payOpen)
	a.send("80 00 00")
	a.send("06 B0 00")
	a.expect("80 00 00")
}
