package session

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/zvt/frame"
)

func withPassword(o *setup) { o.zvt.Password = "123456" }

const (
	rightPassword = "06 00 06 12 34 56 00 09 78"
	wrongPassword = "06 00 06 11 11 11 00 09 78"
)

// TestField_L3NothingWithoutThePassword: where a password is set, no command of a connection is
// done before the connection has shown it, whatever other connections have shown.
func TestField_L3NothingWithoutThePassword(t *testing.T) {
	d := desk.New()
	address, s := serveTCP(t, d, withPassword)
	till, stranger := dial(t, address), dial(t, address)
	till.register(rightPassword)
	till.begin(payOpen)
	for _, command := range []string{
		"06 B0 00", "06 01 07 04 00 00 00 00 12 50", "06 02 00", "06 18 00", "06 70 00", "05 01 00", "06 20 00", "06 20 02 03 01", "06 10 00", "06 50 00",
		"06 30 03 87 00 01", "06 31 07 04 00 00 00 00 12 50", "06 93 00", "06 00 00", "06 C0 00",
	} {
		stranger.send(command)
		stranger.expect("84 37 00")
	}
	require.Zero(t, s.Stats().WrongPasswords)
	d.Mu.Lock()
	require.True(t, d.Sales[0].Open, "not aborted")
	require.Zero(t, d.Closed)
	d.Mu.Unlock()
	for _, carried := range []string{"05 01 05 12 34 56 03 02", "06 20 05 12 34 56 03 03"} { // each shows it, too
		other := dial(t, address)
		other.send(carried)
		other.expect("80 00 00")
	}
	back := dial(t, address)
	back.send("05 01 05 12 34 56 03 02")
	back.expect("80 00 00", "06 0F 01 9C")
	back.send("80 00 00")
	back.send("06 B0 00")
	back.expect("80 00 00")
	till.expect("04 0F 07 27 6C")
}

// TestField2_D2WrongPasswordsCostTime: the wrong passwords of a line are counted together, from whatever address and however many
// connections they come: twenty are answered at once, then one each 20 s, and that ends its connection. The right one is taken at once from
// a connection that offers it first, and from no other.
func TestField2_D2WrongPasswordsCostTime(t *testing.T) {
	each := need.Size(300, 10_000)
	var text bytes.Buffer
	var mu sync.Mutex
	synctest.Test(t, func(t *testing.T) {
		o := set("tcp", desk.New())
		o.zvt.Password = "123456"
		o.Log = slog.New(slog.NewTextHandler(writer{&mu, &text}, nil))
		s := o.session()
		wrong, right := unhexed(t, wrongPassword), unhexed(t, rightPassword)
		var closed atomic.Int64
		open := func(n int) *dialog {
			x := s.dialog(false, nil)
			x.from, x.closeLine = netip.AddrFrom4([4]byte{127, byte(n >> 16), byte(n >> 8), byte(n)}), func() { closed.Add(1) }
			return x
		}
		offer := func(x *dialog, data []byte) (took time.Duration) {
			began := time.Now()
			require.NoError(t, x.judge(t.Context(), s.o.Protocol.Claim(data)))
			return time.Since(began)
		}
		n := 0
		for range tries {
			n++
			require.Zero(t, offer(open(n), wrong))
		}
		require.Zero(t, closed.Load())
		twice := open(n)
		require.Equal(t, tryEvery, offer(twice, wrong))
		require.Equal(t, tryEvery, offer(twice, right), "a connection that has tried a wrong one waits with the right one, too")
		require.True(t, twice.shown)
		require.Zero(t, offer(open(n), right), "the register of the shop")

		began, answered := time.Now(), atomic.Int64{}
		strangers, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for range 10 {
			for range each {
				n++
				x := open(n)
				done.Go(func() {
					if x.judge(strangers, s.o.Protocol.Claim(wrong)) == nil {
						answered.Add(1)
					}
				})
			}
			synctest.Wait()
			require.Zero(t, offer(open(n), right))
			time.Sleep(6 * time.Minute)
		}
		stop()
		done.Wait()
		require.Equal(t, time.Hour, time.Since(began))
		require.NotZero(t, answered.Load())
		require.LessOrEqual(t, answered.Load(), int64(200))
		time.Sleep(time.Hour)
		require.Zero(t, offer(open(n), wrong), "forgotten")
		require.NotZero(t, closed.Load())
	})
	require.Contains(t, text.String(), "wrong password")
	require.Contains(t, text.String(), "from=127.0.0.1")
	require.NotContains(t, text.String(), "111111")
	require.LessOrEqual(t, strings.Count(text.String(), "\n"), 80, "at most one line a minute")
}

// TestField2_D2AGuessKeepsNoPlace: where a line has no place left, a connection that has offered a wrong password is closed for the next
// one at once, also while it waits for its answer: a crowd of them keeps no register waiting at the door. One that has shown
// the right password keeps its place from its first word on, before its turn.
func TestField2_D2AGuessKeepsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := set("tcp", desk.New())
		o.zvt.Password, o.MaxConns = "123456", 4
		s := o.session()
		comes := func(says string) *dialog {
			require.True(t, s.makeRoom(t.Context()))
			for d := range s.dialogs {
				if d.lost {
					delete(s.dialogs, d)
				}
			}
			d := s.dialog(false, func(context.Context, []byte) error { return nil })
			d.from = netip.MustParseAddr("127.0.0.1")
			d.knocks(s.o.Protocol.Claim(unhexed(t, says)))
			return d
		}
		began := time.Now()
		for range 8 {
			comes(wrongPassword)
		}
		till := comes(rightPassword)
		for range 8 {
			comes(wrongPassword)
		}
		require.False(t, till.lost)
		require.Zero(t, time.Since(began), "a place of a guess is given away at once")
	})
}

func unhexed(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return data
}

type writer struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (w writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// TestField_L3WrongPasswordIsAnswered: it begins nothing, whatever command carries it.
func TestField_L3WrongPasswordIsAnswered(t *testing.T) {
	for _, command := range []string{wrongPassword, "05 01 03 00 00 00", "06 20 05 00 00 00 03 03", "06 10 03 00 00 00", "06 50 03 00 00 00",
		"06 30 06 00 00 00 87 00 01", "06 31 0A 00 00 00 04 00 00 00 00 12 50", "06 93 03 00 00 00"} {
		d := desk.New()
		refused := make(chan string, 1)
		address, s := serveTCP(t, d, func(o *setup) { withPassword(o); o.Refused = func(from string) { refused <- from } })
		p := dial(t, address)
		p.send(command)
		p.expect("84 37 00")
		require.Equal(t, "127.0.0.1", <-refused, "for the audit log")
		require.EqualValues(t, 1, s.Stats().WrongPasswords, command)
		require.Empty(t, d.Begun)
		require.Zero(t, d.Closed)
	}
}

// TestField_L3OnlyAllowedAddresses: a connection from elsewhere is closed before anything is read.
func TestField_L3OnlyAllowedAddresses(t *testing.T) {
	address, s := serveTCP(t, desk.New(), func(o *setup) {
		o.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32"), netip.MustParsePrefix("192.168.1.0/24")}
	})
	p := dial(t, address)
	require.Empty(t, p.next())
	require.EqualValues(t, 1, s.Stats().Turned)
	address, _ = serveTCP(t, desk.New(), func(o *setup) { o.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	p = dial(t, address)
	p.send("05 01 05 12 34 56 03 02")
	p.expect("80 00 00")
}

// TestField_L3ACableKeepsItsRegistration: on a serial line the registration that showed the
// password holds after a restart of the terminal; one that was made without a password does not.
func TestField_L3ACableKeepsItsRegistration(t *testing.T) {
	d := desk.New()
	sale := []byte{0x06, 0x01, 0x07, 0x04, 0, 0, 0, 0, 0x12, 0x50}
	run := func(password string, send []byte) []byte {
		end, path := cablePair(t)
		p := newTTYs(path)
		o := set("serial", d)
		o.zvt.Password = password
		s := o.session()
		serve(t, func(ctx context.Context) error { return s.ServeSerial(ctx, p) })
		<-p.opened
		line := frame.New(end, frame.Config{})
		t.Cleanup(func() { _ = line.Close() })
		require.NoError(t, line.Send(t.Context(), send))
		got, err := line.Receive(t.Context())
		require.NoError(t, err)
		if send[1] == 0 && got[0] == 0x80 { // until it is stored
			_, err = line.Receive(t.Context())
			require.NoError(t, err)
		}
		return got
	}
	require.Equal(t, []byte{0x84, 0x37, 0}, run("123456", sale))
	require.Equal(t, []byte{0x80, 0, 0}, run("", unhexed(t, rightPassword)))
	require.Equal(t, []byte{0x84, 0x37, 0}, run("123456", sale))
	require.Equal(t, []byte{0x80, 0, 0}, run("123456", unhexed(t, rightPassword)))
	require.Equal(t, []byte{0x80, 0, 0}, run("123456", sale))
}

// TestField_L3AGuessThatIsGoneIsNotKept: a connection that closes, or is closed for another, leaves
// nothing behind that waits for the turn of its password.
func TestField_L3AGuessThatIsGoneIsNotKept(t *testing.T) {
	t.Parallel()
	address, s := serveTCP(t, desk.New(), withPassword)
	s.guard.free = time.Now().Add(2 * tries * tryEvery)
	for range 60 {
		p := dial(t, address)
		p.send(wrongPassword)
		require.NoError(t, p.conn.Close())
	}
	need.Until(t, "no connection is left", func() bool { return s.Stats().Connections == 0 })
}
