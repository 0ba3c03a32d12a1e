package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/till"
)

// guesses is a stranger of this machine who tries passwords on a line from every address of loopback. Some of its connections
// wait for their answer, most go on to the next guess at once.
type guesses struct {
	line, message string
	left          *atomic.Int64
	stop          chan struct{}
	made          atomic.Int64
	answered      atomic.Int64
	all           sync.WaitGroup
}

func (g *guesses) begin() {
	for i := range 96 {
		patience := 50 * time.Millisecond
		if i < 32 {
			patience = time.Hour
		}
		g.all.Go(func() {
			for g.left.Add(-1) >= 0 {
				select {
				case <-g.stop: // the test has failed, and nothing listens any more
					return
				default:
					g.guess(patience)
				}
			}
		})
	}
}

// guess makes one guess by a connection of its own.
func (g *guesses) guess(patience time.Duration) {
	from := &net.TCPAddr{IP: net.IPv4(127, byte(rand.N(256)), byte(rand.N(256)), byte(1+rand.N(254)))}
	conn, err := (&net.Dialer{LocalAddr: from}).Dial("tcp", g.line)
	if err != nil {
		g.left.Add(1) // it was no guess
		return
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-g.stop:
		case <-ended:
		}
		_ = conn.Close()
	}()
	if _, err := conn.Write([]byte(g.message)); err != nil {
		return // it was closed before the guess was heard
	}
	g.made.Add(1)
	if conn.SetReadDeadline(time.Now().Add(patience)) != nil {
		return
	}
	if n, _ := conn.Read(make([]byte, 512)); n > 0 { // no answer is what a guess is to have
		g.answered.Add(1)
	}
}

// A stranger makes GUESSES wrong guesses at the passwords of two lines, from all of loopback, with and without patience: of the
// connections that have not shown the right one some twenty have an answer at once, and then one each 20 s, which is less
// than 200 an hour. The register of the shop sells over each of the lines all the while.
func TestField2_D2GuessesFromAllOfLoopback(t *testing.T) {
	const (
		password = "482917"
		every    = 20 * time.Second // one wrong password is answered, once some twenty were
	)
	number := need.Size(1500, 10_000)
	if text := os.Getenv("GUESSES"); text != "" {
		var err error
		number, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	p := runProgram(t, fmt.Sprintf("[port]\nlisten = \"127.0.0.1:0\"\n[[ecr]]\ntcp = \"127.0.0.1:0\"\npassword = %q\n[[ecr]]\nprotocol = \"jsonl\"\ntcp = \"127.0.0.1:0\"\npassword = %[1]q\n%s",
		password, quick+"wallet_delay = \"50ms\"\n"))
	wrong, err := hex.DecodeString("060006111111000978")
	require.NoError(t, err)
	began := time.Now()
	var left atomic.Int64
	left.Store(int64(number))
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	t.Cleanup(end)
	lines := []*guesses{
		{line: p.registers[0], message: string(wrong), left: &left, stop: stop},
		{line: p.registers[1], message: `{"op":"hello","password":"111111"}` + "\n", left: &left, stop: stop},
	}
	for _, g := range lines {
		g.begin()
	}
	sales, again, slowest := 0, 0, time.Duration(0)
	sell := func() {
		start := time.Now()
		// A connection that has not shown the password yet may lose its place to the next one: a register makes another.
		need.Until(t, "a sale over ZVT", func() bool {
			var out, no bytes.Buffer
			code := execute(t.Context(), []string{"register", "pay", "1.00", "--line", "tcp:" + p.registers[0], "--password", password,
				"--config", filepath.Join(p.dir, "c.toml"), "--state", filepath.Join(p.dir, "s")}, std{strings.NewReader(""), &out, &no})
			if code == exitOK {
				require.Contains(t, out.String(), "approved")
				return true
			}
			require.NotContains(t, no.String(), "terminal: ", "it had begun")
			require.Contains(t, no.String(), "line closed")
			again++
			return false
		})
		var one *till.JSONL
		need.Until(t, "a hello over JSON lines", func() bool {
			conn, err := net.Dial("tcp", p.registers[1])
			require.NoError(t, err)
			one = till.NewJSONL(conn, till.JSONLOptions{Wait: need.Limit()})
			if _, _, err = one.Ask(t.Context(), map[string]any{"op": "hello", "password": password}); err != nil {
				_ = one.Close()
				again++
			}
			return err == nil
		})
		defer one.Close()
		l, _, err := one.Ask(t.Context(), map[string]any{"op": "sale", "id": fmt.Sprint("order-", sales), "amount": 1250, "currency": "EUR"})
		require.NoError(t, err)
		require.Equal(t, "approved", l.Outcome)
		sales += 2
		slowest = max(slowest, time.Since(start))
		t.Logf("%d guesses left after %.0f s; two sales took %.1f s", left.Load(), time.Since(began).Seconds(), time.Since(start).Seconds())
	}
	for sell(); left.Load() > 0; {
		sell()
	}
	took := time.Since(began)
	end()
	for _, g := range lines {
		g.all.Wait()
		n := g.answered.Load()
		require.Positive(t, g.made.Load(), "nothing was guessed at %s", g.line)
		require.LessOrEqual(t, n, 20+int64(took/every)+1, "%s in %s", g.line, took)
	}
	t.Logf("%d guesses in %.0f s: %d and %d had an answer; %d sales meanwhile, two of them took at most %.1f s, and %d connections were made again",
		number, took.Seconds(), lines[0].answered.Load(), lines[1].answered.Load(), sales, slowest.Seconds(), again)
	require.Equal(t, sales, strings.Count(p.verb("sale", "list", "--limit", "1000000"), "approved"))
}
