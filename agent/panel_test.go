package agent_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad"
	"posagent/device/keypad/entry"
	"posagent/device/printer"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/protocol"
	"posagent/store/storetest"
)

// glass is a screen that remembers what it shows.
type glass struct {
	mu sync.Mutex
	v  display.View
}

func (g *glass) Show(v display.View) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.v = v
	return nil
}

func (g *glass) shows() display.View {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.v
}

// keys is a pad whose keys come from a channel.
type keys chan entry.Key

func (k keys) Status() keypad.Status { return keypad.Status{Open: true} }

func (k keys) Run(ctx context.Context, press func(entry.Key), _ func(keypad.Status)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case one := <-k:
			press(one)
		}
	}
}

// roll is a printer's paper.
type roll chan printer.Document

func (roll) Check(context.Context) error { return nil }
func (r roll) Print(_ context.Context, d printer.Document) error {
	r <- d
	return nil
}
func (roll) Stats() printer.Stats { return printer.Stats{} }
func (roll) Close() error         { return nil }

// TestARegisterUsesScreenKeysAndPrinter: ZVT's 06 E0, 06 E1, 06 E2 and 06 D1 reach the devices of the
// terminal.
func TestARegisterUsesScreenKeysAndPrinter(t *testing.T) {
	line, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g, pad, paper := &glass{}, make(keys), make(roll, 1)
	ready, born := make(chan struct{}), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.New(agent.Options{
		DB: storetest.Open(t, agent.Schema()...), Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour,
		Screen: g, Keypad: pad, Printer: paper,
		Registers: []agent.Line{{Name: "tcp", TCP: line, Protocol: protocol.New(protocol.Options{ZVT: zvt.Config{TerminalID: "52500038", Prints: true}})}},
		Now:       time.Now, Boot: func() time.Duration { return time.Since(born) }, BootID: "boot", Up: func() { close(ready) }, Log: slog.New(slog.DiscardHandler),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	<-ready
	need.Until(t, "no sale is on the screen", func() bool { return g.shows().Kind == scene.NotReady })

	conn, err := net.Dial("tcp", line.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	send := func(text string) {
		data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		require.NoError(t, err)
		_, err = conn.Write(data)
		require.NoError(t, err)
	}
	hears := func(text string) {
		want, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		require.NoError(t, err)
		got := make([]byte, len(want))
		require.NoError(t, conn.SetReadDeadline(need.Deadline()))
		for n := 0; n < len(got); {
			m, err := conn.Read(got[n:])
			require.NoError(t, err)
			n += m
		}
		require.True(t, bytes.Equal(want, got), "want % X, got % X", want, got)
	}
	shown := func(title string) {
		need.Until(t, "the screen shows "+title, func() bool { return g.shows().Title == title })
	}

	send("06 E0 08 F0 00 F1 F0 F3 41 42 43")
	hears("80 00 00")
	shown("ABC")
	send("06 E0 00")
	hears("80 00 00")
	need.Until(t, "no sale is on the screen again", func() bool { return g.shows().Kind == scene.NotReady })

	send("06 E1 08 F0 3C F1 F0 F3 41 42 44")
	shown("ABD")
	pad <- entry.Confirm
	hears("80 00 01 0D")

	send("06 E2 08 F0 3C F1 F0 F3 41 42 45")
	need.Until(t, "the screen asks for ABE", func() bool { return g.shows().Entry.Label == "ABE" })
	for _, k := range []entry.Key{entry.Digit(0), entry.Digit(7), entry.Confirm} {
		pad <- k
	}
	hears("80 00 02 30 37")

	send("06 D1 04 81 41 42 43")
	hears("80 00 00")
	d := <-paper
	require.Equal(t, "ABC", d.Lines[0].Text)
}
